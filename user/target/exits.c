// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A function's ways out: returns, tail jumps, and whether there may be others. */
#include <string.h>
#include "target/functions.h"

#define TABLE_REACH 96	/* bytes between a switch's table address and its jump */
#define MAX_PARTS 4	/* a function and its cold parts */

struct exits {
	const struct code_map *map;
	const struct function *f;
	struct function parts[MAX_PARTS];	/* the first is the function itself */
	size_t nr_parts;
	uint64_t *out;
	size_t cap, nr;
	bool complete;
	uint64_t table_at;	/* vaddr of the last instruction that formed the address of a jump table */
	uint32_t sums;		/* registers that were added to since: a table's address plus one of its entries */
};

static bool inside(const struct exits *e, uint64_t vaddr)
{
	for (size_t i = 0; i < e->nr_parts; i++)
		if (vaddr >= e->parts[i].start && vaddr < e->parts[i].end)
			return true;
	return false;
}

/* Is there a table of 32-bit offsets, relative to itself, whose first entry leads into the function? */
static bool is_switch_table(const struct exits *e, uint64_t vaddr)
{
	const uint8_t *p = image_at(e->map->image, vaddr, 4, NULL);
	int32_t offset;

	if (!p || vaddr % 4)
		return false;
	memcpy(&offset, p, sizeof(offset));
	return inside(e, vaddr + offset);
}

static void add_exit(struct exits *e, uint64_t vaddr)
{
	if (e->nr < e->cap)
		e->out[e->nr] = vaddr;
	e->nr++;
}

/* What a piece of code does that a branch leads to. */
struct piece {
	const struct function *part, *f;	/* the piece, and whose part it may be */
	bool back;			/* it jumps back into the middle of it */
	bool out;			/* it may return or go elsewhere */
};

static bool look_at_piece(void *ctx, uint64_t vaddr, const struct insn *insn)
{
	struct piece *p = ctx;
	bool jump = insn->cls == INSN_JUMP || insn->cls == INSN_BRANCH;

	(void)vaddr;
	p->back |= jump && insn->target > p->f->start && insn->target < p->f->end;
	p->out |= insn->cls == INSN_RET || insn->cls == INSN_JUMP_INDIRECT ||
		  (jump && (insn->target < p->part->start || insn->target >= p->part->end));
	return true;
}

bool function_has_part(const struct code_map *map, const struct function *f, uint64_t target,
		       struct function *ret)
{
	struct piece piece = { .part = ret, .f = f };

	ret->proof = PROOF_FDE;
	if (!fde_range(map->image, &map->fdes, target, &ret->start, &ret->end) ||
	    ret->end - ret->start > FUNCTION_MAX || ret->start == f->start)
		return false;
	function_walk(map, ret, look_at_piece, &piece);
	return target != ret->start || piece.back || !piece.out;
}

static bool is_own_part(struct exits *e, uint64_t target)
{
	struct function part;

	if (!function_has_part(e->map, e->f, target, &part))
		return false;
	if (e->nr_parts == MAX_PARTS)
		e->complete = false;
	else
		e->parts[e->nr_parts++] = part;
	return true;
}

/*
 * A switch adds an entry to its table's address and jumps there. A tail call jumps to what it loaded, and may stand near
 * a switch: whatever a register was set to otherwise is none of the table's, and sums don't outlive the place where the
 * code doesn't go on.
 */
static void follow_sums(struct exits *e, uint64_t vaddr, const struct insn *insn)
{
	if (!e->table_at || vaddr - e->table_at > TABLE_REACH || insn->cls == INSN_RET || insn->cls == INSN_STOP ||
	    insn->cls == INSN_JUMP || insn->cls == INSN_JUMP_INDIRECT)
		e->sums = 0;
	else if (insn->reg >= 0 && insn->sum)
		e->sums |= 1u << insn->reg;
	else if (insn->reg >= 0)
		e->sums &= ~(1u << insn->reg);
}

/* Through a register, or an index: by a table that leads back into the function, or to who knows where? */
static bool is_switch(const struct exits *e, uint64_t vaddr, const struct insn *insn)
{
	return insn->reg >= 0 && (e->sums & 1u << insn->reg) && vaddr - e->table_at <= TABLE_REACH;
}

static bool look(void *ctx, uint64_t vaddr, const struct insn *insn)
{
	struct exits *e = ctx;

	switch (insn->cls) {
	case INSN_RET:
		add_exit(e, vaddr);
		break;
	case INSN_JUMP:
		if (!inside(e, insn->target) && !is_own_part(e, insn->target))
			add_exit(e, vaddr);
		break;
	case INSN_BRANCH:
		if (!inside(e, insn->target) && !is_own_part(e, insn->target))
			e->complete = false;
		break;
	case INSN_ADDRESS:
		if (is_switch_table(e, insn->target))
			e->table_at = vaddr;
		break;
	case INSN_JUMP_INDIRECT:
		if (insn->memory)
			add_exit(e, vaddr);	/* through a vtable or the GOT */
		else if (!is_switch(e, vaddr, insn))
			e->complete = false;
		break;
	}
	follow_sums(e, vaddr, insn);
	return true;
}

size_t function_exits(const struct code_map *map, const struct function *f, uint64_t *ret, size_t cap,
		      bool *ret_complete)
{
	struct exits e = { .map = map, .f = f, .parts = { *f }, .nr_parts = 1, .out = ret, .cap = cap, .complete = true };

	/* looking at one part may bring up another */
	for (size_t i = 0; i < e.nr_parts; i++) {
		e.table_at = 0;
		e.sums = 0;
		/* what can't be decoded may hide a way out */
		if (function_walk(map, &e.parts[i], look, &e) < e.parts[i].end)
			e.complete = false;
	}
	*ret_complete = e.complete && e.nr <= cap;
	return e.nr;
}
