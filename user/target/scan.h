/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One fast pass over all code of an image. It looks at bytes, not at instructions: what it reports holds only after
 * functions.h has decoded from the function's start to the place. Everything about speed is decided here.
 */
#ifndef FRAMESCOPE_TARGET_SCAN_H
#define FRAMESCOPE_TARGET_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/error.h"
#include "target/image.h"

#define SCAN_GRID 16	/* bytes: compilers align functions to this where no unwind table covers them */

/* A small set of addresses, asked millions of times. Open addressing; 0 is no member. */
struct addr_set {
	uint64_t *slots;
	unsigned int bits;	/* log2 of the number of slots */
	uint64_t min, max;	/* of its members */
};

int addr_set_init(struct addr_set *set, const uint64_t *addrs, size_t nr);
void addr_set_free(struct addr_set *set);

static inline bool addr_set_has(const struct addr_set *set, uint64_t addr)
{
	uint64_t i;

	if (addr < set->min || addr > set->max)
		return false;
	for (i = addr * 0x9e3779b97f4a7c15ull >> (64 - set->bits); set->slots[i];
	     i = (i + 1) & ((1ull << set->bits) - 1))
		if (set->slots[i] == addr)
			return true;
	return false;
}

/* An instruction at `at` forms or reaches `target`; both are offsets from the code's base. */
struct scan_call {
	uint32_t at, target;
};

struct scan_ref {
	uint64_t at, target;	/* vaddrs */
};

struct addr_range {
	uint64_t start, end;
};

/* Where a pass puts what it finds; one per thread. */
struct code_sink {
	uint64_t base, size;	/* of all code of the image: [base, base + size) */
	const struct addr_set *wanted;
	const struct addr_range *ranges;	/* of arch.branches: targets of interest */
	size_t nr_ranges;
	struct scan_ref *refs;
	size_t nr_refs, cap_refs;
	struct scan_call *calls;
	size_t nr_calls, cap_calls;
	uint8_t *called, *jumped, *taken;	/* bitmaps over the grid: targets of direct calls, of jumps; addresses taken */
	bool failed;			/* out of memory */
};

bool code_sink_grow_calls(struct code_sink *sink);
void code_sink_add_ref(struct code_sink *sink, uint64_t at, uint64_t target);

static inline void code_sink_mark(uint8_t *map, uint64_t offset)
{
	if (offset % SCAN_GRID == 0)
		map[offset / SCAN_GRID / 8] |= 1 << (offset / SCAN_GRID % 8);
}

/* A call (or, with `jump`, an unconditional jump) at `at` to `target`. Jumps count only where they can leave the
 * function: those to the grid. */
static inline void code_sink_call(struct code_sink *sink, uint64_t at, uint64_t target, bool jump)
{
	uint64_t offset = target - sink->base;

	if (offset >= sink->size || (jump && offset % SCAN_GRID))
		return;
	if (sink->nr_calls == sink->cap_calls && !code_sink_grow_calls(sink))
		return;
	sink->calls[sink->nr_calls++] = (struct scan_call){ at - sink->base, offset };
	code_sink_mark(jump ? sink->jumped : sink->called, offset);
}

static inline void code_sink_address(struct code_sink *sink, uint64_t at, uint64_t target)
{
	if (target - sink->base < sink->size)
		code_sink_mark(sink->taken, target - sink->base);
	/* constants may stand between the functions, where the linker has one segment for both */
	if (addr_set_has(sink->wanted, target))
		code_sink_add_ref(sink, at, target);
}

/* A branch, jump or address at `at`: counts if it leads into one of the ranges. */
static inline void code_sink_branch(struct code_sink *sink, uint64_t at, uint64_t target)
{
	if (target < sink->ranges[0].start || target >= sink->ranges[sink->nr_ranges - 1].end)
		return;
	for (size_t i = 0; i < sink->nr_ranges; i++)
		if (target >= sink->ranges[i].start && target < sink->ranges[i].end)
			code_sink_add_ref(sink, at, target);
}

struct scan {
	const struct image *image;
	uint64_t base, size;	/* the code: from the first to the end of the last executable segment */
	struct scan_ref *refs;	/* to wanted addresses, by address of the instruction */
	size_t nr_refs;
	struct scan_call *calls;	/* by address of the instruction */
	size_t nr_calls;
	uint8_t *called, *jumped, *taken;
};

/* Passes over the code once, on two threads. `wanted`: addresses to report references to.
 * Needs memory: 8 bytes per call, 1/20 of the code. */
int scan_run(const struct image *image, const uint64_t *wanted, size_t nr_wanted, struct scan **ret,
	     struct error *err);
void scan_free(struct scan *scan);

/* Bitmap questions for a vaddr on the grid. */
bool scan_is_called(const struct scan *scan, uint64_t vaddr);
bool scan_is_jumped_to(const struct scan *scan, uint64_t vaddr);	/* from near or far */
bool scan_is_taken(const struct scan *scan, uint64_t vaddr);	/* by an instruction or a relocation */

/* Calls `each` for every call to a member of `targets` (vaddrs). */
void scan_callers(const struct scan *scan, const struct addr_set *targets,
		  void (*each)(void *ctx, uint64_t at, uint64_t target), void *ctx);

/* A second pass: all direct branches, jumps and addresses that lead into the ranges (ascending, at least one). *ret is to
 * be freed; by address of the instruction, for each range in turn where they overlap. 0 or -ENOMEM. */
int scan_branches(const struct scan *scan, const struct addr_range *ranges, size_t nr_ranges, struct scan_ref **ret,
		  size_t *ret_nr);

#endif
