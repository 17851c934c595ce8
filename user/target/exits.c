// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A function's ways out: returns, tail jumps, and whether there may be others. */
#include <string.h>
#include "target/functions.h"

#define MAX_TABLES 64
#define TABLE_REACH 96	/* bytes between a switch's table address and its jump */

struct exits {
	const struct code_map *map;
	const struct function *f;
	uint64_t *out;
	size_t cap, nr;
	bool complete;
	uint64_t table_at;	/* vaddr of the last instruction that formed the address of a jump table */
};

/* Is there a table of 32-bit offsets, relative to itself, whose first entry leads into the function? */
static bool is_switch_table(const struct exits *e, uint64_t vaddr)
{
	const uint8_t *p = image_at(e->map->image, vaddr, 4, NULL);
	uint64_t first;
	int32_t offset;

	if (!p || vaddr % 4)
		return false;
	memcpy(&offset, p, sizeof(offset));
	first = vaddr + offset;
	return first >= e->f->start && first < e->f->end;
}

static void add_exit(struct exits *e, uint64_t vaddr)
{
	if (e->nr < e->cap)
		e->out[e->nr] = vaddr;
	e->nr++;
}

static bool inside(const struct function *f, uint64_t vaddr)
{
	return vaddr >= f->start && vaddr < f->end;
}

static bool look(void *ctx, uint64_t vaddr, const struct insn *insn)
{
	struct exits *e = ctx;

	switch (insn->cls) {
	case INSN_RET:
		add_exit(e, vaddr);
		break;
	case INSN_JUMP:
		if (!inside(e->f, insn->target))
			add_exit(e, vaddr);
		break;
	case INSN_BRANCH:
		if (!inside(e->f, insn->target))
			e->complete = false;
		break;
	case INSN_ADDRESS:
		if (is_switch_table(e, insn->target))
			e->table_at = vaddr;
		break;
	case INSN_JUMP_INDIRECT:
		if (insn->memory)
			add_exit(e, vaddr);	/* through a vtable or the GOT */
		else if (!e->table_at || vaddr - e->table_at > TABLE_REACH)
			e->complete = false;
		break;
	}
	return true;
}

size_t function_exits(const struct code_map *map, const struct function *f, uint64_t *ret, size_t cap,
		      bool *ret_complete)
{
	struct exits e = { .map = map, .f = f, .out = ret, .cap = cap, .complete = true };
	uint64_t end = function_walk(map, f, look, &e);

	/* what can't be decoded may hide a way out; filling behind the last instruction can't */
	*ret_complete = e.complete && end >= f->end && e.nr <= cap;
	return e.nr;
}
