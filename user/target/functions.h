/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Functions of stripped code: where one begins and ends, its instructions, its ways out. */
#ifndef FRAMESCOPE_TARGET_FUNCTIONS_H
#define FRAMESCOPE_TARGET_FUNCTIONS_H

#include "target/fde.h"
#include "target/scan.h"

#define FUNCTION_MAX (1u << 20)	/* bytes of one function; what seems longer is not understood */

/* How a function's first byte is known. */
enum function_proof {
	PROOF_FDE = 1,		/* the unwind table has it */
	PROOF_PROLOGUE,		/* on the grid, behind padding or another function's end, and sets up a frame */
	PROOF_TARGET,		/* on the grid, behind padding, and called or its address taken */
	PROOF_SYMBOL,		/* given by a symbol */
};

struct function {
	uint64_t start, end;	/* vaddrs; end is behind its last instruction, perhaps with some padding */
	enum function_proof proof;
};

struct code_map {
	const struct image *image;
	const struct scan *scan;
	struct fde_table fdes;
};

/* `scan` may be NULL: then functions can't be found, but known ones can be looked into. */
void code_map_init(struct code_map *map, const struct image *image, const struct scan *scan);

/* On the grid, behind padding, and sets up a frame: a function's start, whether or not anything leads to it. */
bool function_starts_at(const struct image *image, uint64_t vaddr);

/* The function that contains vaddr. False if its start can't be told. */
bool function_at(const struct code_map *map, uint64_t vaddr, struct function *ret);

/* Decodes [f->start, f->end) in a line and calls `each`, until it returns false. Returns where it stopped: f->end or
 * behind it at the end, else the address of what `each` refused or what is no instruction. */
uint64_t function_walk(const struct code_map *map, const struct function *f,
		       bool (*each)(void *ctx, uint64_t vaddr, const struct insn *insn), void *ctx);

/* Does linear decoding from the start meet an instruction exactly at vaddr? ret may be NULL. */
bool function_has_insn(const struct code_map *map, const struct function *f, uint64_t vaddr, struct insn *ret);

/* Are there ways from the start to a return that pass by `at`? True too if the code isn't understood. */
bool function_can_avoid(const struct code_map *map, const struct function *f, uint64_t at);

/*
 * Compilers move unlikely code away, into a part that has an unwind entry of its own. It is entered in its middle, or goes
 * back into the middle of its function, or only fails. Is that so for what the function's branch to `target` leads to?
 */
bool function_has_part(const struct code_map *map, const struct function *f, uint64_t target, struct function *ret);

/* Vaddrs of the function's ways out; returns how many there are (perhaps more than cap). *ret_complete: no conditional
 * or indirect jump may leave it besides. */
size_t function_exits(const struct code_map *map, const struct function *f, uint64_t *ret, size_t cap,
		      bool *ret_complete);

const char *function_proof_name(enum function_proof proof);

#endif
