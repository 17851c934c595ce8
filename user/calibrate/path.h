/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A path: from a register, step by step through pointers, to what calibration looks for. */
#ifndef FRAMESCOPE_CALIBRATE_PATH_H
#define FRAMESCOPE_CALIBRATE_PATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "record.h"

#define PATH_MAX_STEPS 7
#define WINDOW_BELOW 0x80	/* bytes before an object's address that a step may read from */

/* A register, up to PATH_MAX_STEPS steps and what is added at the end in one number: equal paths are equal numbers. */
__extension__ typedef unsigned __int128 path_t;

/* The path and one more step: a pointer, compressed if `caged`, at the offset, a multiple of 4 not below -WINDOW_BELOW. */
path_t path_step(path_t p, bool caged, int off);
/* What is added at the end, of 16 bits. */
path_t path_add(path_t p, int add);
int path_added(path_t p);
/* Offset of a step. */
int path_step_at(path_t p, size_t i, bool *ret_caged);
size_t path_steps(path_t path);
/* Of two paths that lead to the same: few steps, from an early register that does not point into the stack (where what
 * callers have left may stand for a while), not to what lies before an object, and not far into it. */
bool path_is_better(path_t a, path_t b, uint32_t stack_regs);
/* The sum of its offsets, their signs left aside. */
unsigned int path_reach(path_t p);
/* Offset of the last step that reads a pointer; -1: there is none. */
int path_last(path_t path);
/* Are the last steps the same, and what is added? */
bool path_ends_alike(path_t a, path_t b, size_t steps);
/* Are the register and so many first steps the same? */
bool path_begins(path_t a, path_t b, size_t steps);
/* Does every step read from the object that the one before led to, not from what lies before that, or beside it on the stack? */
bool path_is_straight(path_t path, uint32_t stack_regs);
path_t path_parent(path_t path);	/* without its last step */
/* The 32 bits, with a sign, that stand `off` bytes behind what the path leads to with all that is added. */
void path_spec_half(path_t path, int off, uint8_t field, struct arg_spec *ret);
void path_spec(path_t path, uint8_t field, uint8_t kind, struct arg_spec *ret);

#endif
