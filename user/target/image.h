/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One ELF file, mapped read-only, every access bounded. A hostile file gives an error, never a crash. */
#ifndef FRAMESCOPE_TARGET_IMAGE_H
#define FRAMESCOPE_TARGET_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#include "base/error.h"
#include "target/arch.h"

struct image_segment {
	uint64_t vaddr, offset, file_size, mem_size;
	bool exec, write;
};

struct image {
	int fd;
	char *path;		/* for messages */
	const uint8_t *bytes;
	size_t size;
	const struct arch *arch;
	char build_id[2 * 64 + 1];	/* hex; "" if the file has none */
	struct image_segment *segments;	/* PT_LOAD, sorted by vaddr */
	size_t nr_segments;
	uint64_t dev, inode;
	struct timespec modified;	/* when it was opened */
	int guard;		/* base/mapped.h */
	unsigned faults;
};

/* Opens `path` (through /proc/PID/root or /proc/PID/map_files for a process's own view). ERR_INPUT if it is not an
 * ELF64 file of a supported machine or is malformed; the sentence says what. */
int image_open(const char *path, struct image **ret, struct error *err);
void image_close(struct image *img);

/* ERR_CHANGED if the file was written to or cut since it was opened: bytes read from it may be zeros or of two versions,
 * and nothing found in them is to be believed. */
int image_check(const struct image *img, struct error *err);

/* File offset <-> address, through PT_LOAD. false if not covered by file bytes. */
bool image_offset_of(const struct image *img, uint64_t vaddr, uint64_t *ret_offset);
bool image_vaddr_of(const struct image *img, uint64_t offset, uint64_t *ret_vaddr);

/* `n` file bytes at `vaddr`, or NULL. *ret_avail (may be NULL) is how many follow in the segment. */
const uint8_t *image_at(const struct image *img, uint64_t vaddr, size_t n, size_t *ret_avail);

#endif
