// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Finds where a function begins and ends, from the unwind table or from what compilers and linkers leave around it. */
#include <string.h>
#include "target/functions.h"

void code_map_init(struct code_map *map, const struct scan *scan)
{
	map->image = scan->image;
	map->scan = scan;
	fde_table_open(scan->image, &map->fdes);
}

const char *function_proof_name(enum function_proof proof)
{
	switch (proof) {
	case PROOF_FDE:
		return "unwind table";
	case PROOF_PROLOGUE:
		return "padding or end before it, frame set up";
	case PROOF_TARGET:
		return "padding before it, called or address taken";
	case PROOF_SYMBOL:
		return "symbol";
	}
	return "?";
}

/* Is there a function's start at vaddr (on the grid)? 0, PROOF_PROLOGUE or PROOF_TARGET. */
static int grid_start(const struct code_map *map, uint64_t vaddr)
{
	const struct arch *arch = map->image->arch;
	bool target, prologue, padded;
	const uint8_t *p;
	size_t avail;

	p = image_at(map->image, vaddr, 1, &avail);
	if (!p)
		return 0;
	prologue = arch->prologue(p, avail);
	target = scan_is_called(map->scan, vaddr) || scan_is_taken(map->scan, vaddr);
	if (!prologue && !target)
		return 0;
	if (arch->padding(*p))
		return 0;
	p = image_at(map->image, vaddr - 1, 1, NULL);
	padded = !p || arch->padding(*p);
	if (prologue && (padded || target))
		return PROOF_PROLOGUE;
	return target && padded ? PROOF_TARGET : 0;
}

/* The next start on the grid behind vaddr, or `limit`. */
static uint64_t next_start(const struct code_map *map, uint64_t vaddr, uint64_t limit)
{
	for (uint64_t a = (vaddr | (SCAN_GRID - 1)) + 1; a < limit; a += SCAN_GRID)
		if (grid_start(map, a))
			return a;
	return limit;
}

static uint64_t limit_of(const struct code_map *map, uint64_t vaddr, uint64_t start)
{
	uint64_t limit = start + FUNCTION_MAX, next = fde_next(&map->fdes, vaddr);
	size_t avail = 0;

	image_at(map->image, start, 1, &avail);
	if (limit - start > avail)
		limit = start + avail;
	return next < limit ? next : limit;
}

uint64_t function_walk(const struct code_map *map, const struct function *f,
		       bool (*each)(void *ctx, uint64_t vaddr, const struct insn *insn), void *ctx)
{
	size_t avail;
	const uint8_t *p = image_at(map->image, f->start, 1, &avail);
	uint64_t vaddr = f->start;

	if (!p || f->end < f->start)
		return f->start;
	if (avail > f->end - f->start)
		avail = f->end - f->start;
	while (avail) {
		struct insn insn;

		map->image->arch->decode(p, avail, vaddr, &insn);
		if (insn.cls == INSN_INVALID || !each(ctx, vaddr, &insn))
			break;
		p += insn.length;
		avail -= insn.length;
		vaddr += insn.length;
	}
	return vaddr;
}

struct trim {
	const struct code_map *map;
	bool padding;		/* the last instruction looks like padding */
};

/* Padding up to the grid, and code behind it: another function, whether its start is known or not. A trap within a function
 * is followed by other traps, or not by the grid. */
static bool until_padding(void *ctx, uint64_t vaddr, const struct insn *insn)
{
	struct trim *t = ctx;
	const uint8_t *p = image_at(t->map->image, vaddr, 1, NULL);

	if (t->padding && vaddr % SCAN_GRID == 0 && insn->cls != INSN_STOP)
		return false;
	t->padding = insn->length == 1 && p && t->map->image->arch->padding(*p);
	return true;
}

bool function_at(const struct code_map *map, uint64_t vaddr, struct function *ret)
{
	uint64_t first;

	if (vaddr - map->scan->base >= map->scan->size)
		return false;
	if (fde_range(map->image, &map->fdes, vaddr, &ret->start, &ret->end)) {
		ret->proof = PROOF_FDE;
		return ret->end - ret->start <= FUNCTION_MAX;
	}
	first = vaddr - map->scan->base > FUNCTION_MAX ? vaddr - FUNCTION_MAX : map->scan->base;
	for (uint64_t a = vaddr & ~(uint64_t)(SCAN_GRID - 1); a >= first && a <= vaddr; a -= SCAN_GRID) {
		struct trim trim = { .map = map };
		uint64_t fde_start, fde_end, end;
		int proof = grid_start(map, a);

		/* what an unwind table covers between there and here is another function */
		if (fde_range(map->image, &map->fdes, a, &fde_start, &fde_end))
			return false;
		if (!proof)
			continue;
		ret->start = a;
		ret->end = next_start(map, vaddr, limit_of(map, vaddr, a));
		ret->proof = proof;
		end = function_walk(map, ret, until_padding, &trim);
		if (end < ret->end)
			ret->end = end;
		return vaddr < ret->end;
	}
	return false;
}

struct seek {
	uint64_t vaddr;
	bool found;
	struct insn insn;
};

static bool seek_insn(void *ctx, uint64_t vaddr, const struct insn *insn)
{
	struct seek *s = ctx;

	if (vaddr < s->vaddr)
		return true;
	if (vaddr == s->vaddr) {
		s->found = true;
		s->insn = *insn;
	}
	return false;
}

bool function_has_insn(const struct code_map *map, const struct function *f, uint64_t vaddr, struct insn *ret)
{
	struct seek s = { .vaddr = vaddr };

	function_walk(map, f, seek_insn, &s);
	if (s.found && ret)
		*ret = s.insn;
	return s.found;
}
