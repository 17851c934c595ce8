// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Paths from a register to a value, packed into numbers. */
#include <stdlib.h>
#include <string.h>
#include "calibrate/path.h"

#define STEP_BITS 12
#define ADD_SHIFT 96	/* of what is added at the end: 16 bits, signed */

path_t path_step(path_t p, bool caged, int off)
{
	size_t nr = path_steps(p);
	uint64_t step = (uint64_t)(off + WINDOW_BELOW) / 4 << 1 | caged;

	return ((p & ~(path_t)0xe0) | (path_t)(nr + 1) << 5) | (path_t)step << (8 + STEP_BITS * nr);
}

size_t path_steps(path_t p)
{
	return p >> 5 & 7;
}

path_t path_add(path_t p, int add)
{
	return p | (path_t)(uint16_t)add << ADD_SHIFT;
}

int path_added(path_t p)
{
	return (int16_t)(p >> ADD_SHIFT);
}

int path_step_at(path_t p, size_t i, bool *ret_caged)
{
	uint64_t step = p >> (8 + STEP_BITS * i) & ((1 << STEP_BITS) - 1);

	*ret_caged = step & 1;
	return (int)(step >> 1) * 4 - WINDOW_BELOW;
}

path_t path_parent(path_t p)
{
	size_t nr = path_steps(p);

	if (!nr)
		return p & 0xff;
	p &= ((path_t)1 << (8 + STEP_BITS * (nr - 1))) - 1;
	return (p & ~(path_t)0xe0) | (path_t)(nr - 1) << 5;
}

unsigned int path_reach(path_t p)
{
	unsigned int reach = 0;
	bool caged;

	for (size_t i = 0; i < path_steps(p); i++)
		reach += abs(path_step_at(p, i, &caged));
	return reach;
}

/* What speaks against a path. An argument may be part of an object, right behind what leads on. */
static unsigned int path_doubts(path_t p, uint32_t stack_regs)
{
	unsigned int doubts = 2 * path_steps(p) + (p & 31) + (stack_regs >> (p & 31) & 1 ? 3 : 0);
	bool caged;

	for (size_t i = 0; i < path_steps(p); i++)
		doubts += path_step_at(p, i, &caged) < -(int)sizeof(uint64_t);
	return doubts;
}

bool path_is_better(path_t a, path_t b, uint32_t stack_regs)
{
	unsigned int doubts_a = path_doubts(a, stack_regs), doubts_b = path_doubts(b, stack_regs);
	unsigned int reach_a = path_reach(a), reach_b = path_reach(b);

	if (doubts_a != doubts_b)
		return doubts_a < doubts_b;
	if (reach_a != reach_b)
		return reach_a < reach_b;
	return a < b;
}

bool path_is_straight(path_t p, uint32_t stack_regs)
{
	bool caged;

	if (stack_regs >> (p & 31) & 1 && path_steps(p) && path_step_at(p, 0, &caged))
		return false;
	for (size_t i = 0; i < path_steps(p); i++)
		if (path_step_at(p, i, &caged) < 0)
			return false;
	return true;
}

int path_last(path_t p)
{
	size_t nr = path_steps(p);
	bool caged;
	int off = nr ? path_step_at(p, nr - 1, &caged) : -1;

	return nr && !caged ? off : -1;
}

bool path_ends_alike(path_t a, path_t b, size_t steps)
{
	size_t na = path_steps(a), nb = path_steps(b);
	bool caged;

	for (size_t i = 1; i <= steps; i++)
		if (i > na || i > nb || path_step_at(a, na - i, &caged) != path_step_at(b, nb - i, &caged))
			return false;
	return path_added(a) == path_added(b);
}

bool path_begins(path_t a, path_t b, size_t steps)
{
	path_t mask = (((path_t)1 << (8 + STEP_BITS * steps)) - 1) & ~(path_t)0xe0;

	return path_steps(a) >= steps && path_steps(b) >= steps && !((a ^ b) & mask);
}

void path_spec(path_t p, uint8_t field, uint8_t kind, struct arg_spec *ret)
{
	bool caged;

	memset(ret, 0, sizeof(*ret));
	ret->field = field;
	ret->kind = kind;
	ret->reg = p & 31;
	ret->nr_steps = path_steps(p);
	for (size_t i = 0; i < ret->nr_steps; i++) {
		ret->steps[i].off = path_step_at(p, i, &caged);
		ret->steps[i].op = caged ? STEP_CAGE : STEP_LOAD64;
	}
	if (path_added(p))
		ret->steps[ret->nr_steps++] = (struct arg_step){ .op = STEP_ADD, .off = path_added(p) };
}

void path_spec_half(path_t p, int off, uint8_t field, struct arg_spec *ret)
{
	int added = path_added(p);

	path_spec(p & (((path_t)1 << ADD_SHIFT) - 1), field, KIND_INT, ret);
	ret->steps[ret->nr_steps++] = (struct arg_step){ .op = STEP_LOADS32, .off = added + off };
}
