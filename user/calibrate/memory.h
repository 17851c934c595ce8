/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The memory of a process that stands still, read once a page: a search looks at the same places again and again. */
#ifndef FRAMESCOPE_CALIBRATE_MEMORY_H
#define FRAMESCOPE_CALIBRATE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "target/image.h"

#define CAGE_SHIFT 3		/* of compressed pointers: objects stand at multiples of 8 */
#define NR_ARG_REGS 6		/* registers with arguments: the first of the table on every machine */
#define STACK_BYTES (1u << 20)	/* behind the stack pointer that count as stack */

struct memory;

/* Of processes that run `image`, which must outlive it. NULL without memory. Nothing is read yet. */
struct memory *memory_new(const struct image *image);
void memory_free(struct memory *m);

/* Forgets everything and reads the map of the process, which must stand still until the next call. 0 or -errno. */
int memory_begin(struct memory *m, pid_t pid);

/* Is there readable, writable memory of the process's own at this address? */
bool memory_mapped(const struct memory *m, uint64_t addr);
/* All n bytes, or false. */
bool memory_read(struct memory *m, uint64_t addr, void *dst, size_t n);
/* The same of memory that may not be written to, where constants are, too; it takes longer. */
bool memory_read_any(struct memory *m, uint64_t addr, void *dst, size_t n);
/* Those of the n bytes that can be read, the others zero; false if none can. */
bool memory_window(struct memory *m, uint64_t addr, void *dst, size_t n);

/*
 * Looks through the writable segments of the module for the base of a pointer cage: a value with all of its low bits set
 * (34 at least) whose high bits are those of memory that the process has. Returns how many different ones there are;
 * *ret_vaddr is the first one's address in the module.
 */
size_t memory_find_cage(struct memory *m, uint64_t *ret_vaddr);
/* The base that stands there in this process; 0: none. */
uint64_t memory_cage(struct memory *m, uint64_t vaddr);
/* The pointer that 32 bits stand for below that base. */
static inline uint64_t memory_decompress(uint64_t base, int32_t half)
{
	return (uint64_t)((int64_t)half * (1 << CAGE_SHIFT)) & base;
}

#endif
