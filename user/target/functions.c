// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Finds where a function begins and ends, from the unwind table or from what compilers and linkers leave around it. */
#include <string.h>
#include "target/functions.h"

void code_map_init(struct code_map *map, const struct image *image, const struct scan *scan)
{
	map->image = image;
	map->scan = scan;
	fde_table_open(image, &map->fdes);
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

bool function_starts_at(const struct image *image, uint64_t vaddr)
{
	size_t avail;
	const uint8_t *p = image_at(image, vaddr, 1, &avail), *before = image_at(image, vaddr - 1, 1, NULL);

	return p && before && vaddr % SCAN_GRID == 0 && image->arch->padding(*before) && image->arch->prologue(p, avail);
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

/* A decoder's walk from a known start that notices where the next function begins, if nothing but that shows it. */
struct border {
	const struct code_map *map;
	const struct function *f;
	uint64_t reach;		/* the farthest place in front that a branch leads to */
	bool ended;		/* the last instruction but nops doesn't go on to the next, */
	bool called;		/* or is a call, which may not return */
	bool indirect;		/* there are jumps to who knows where */
	bool padding;		/* the last instruction looks like what linkers fill gaps with */
	bool known;		/* where the walk stopped, a function begins for certain */
};

struct jump_search {
	uint64_t target, until;
	bool found;
};

static bool look_for_jump(void *ctx, uint64_t vaddr, const struct insn *insn)
{
	struct jump_search *s = ctx;

	s->found = (insn->cls == INSN_JUMP || insn->cls == INSN_BRANCH) && insn->target == s->target;
	return !s->found && vaddr < s->until;
}

/*
 * Is a frame set up at vaddr, where nothing of this function leads to from in front? A function sets up its frame once,
 * at its start or, if it often has an early way out, behind a branch there.
 */
static bool is_another_frame(const struct border *b, uint64_t vaddr, const uint8_t *p, size_t avail)
{
	struct jump_search s = { .target = vaddr, .until = vaddr };

	if (!b->map->image->arch->prologue(p, avail))
		return false;
	function_walk(b->map, b->f, look_for_jump, &s);
	return !s.found;
}

/*
 * Does something else begin on the grid at vaddr? Calls lead to functions only. Where no branch leads to this place or
 * past it, the function is over: what jumps or pointers lead to is another one. A trap within a function is followed by
 * other traps, or not by the grid.
 */
static bool is_border(struct border *b, uint64_t vaddr, const struct insn *insn, const uint8_t *p, size_t avail)
{
	const struct scan *scan = b->map->scan;
	bool over = b->ended && b->reach < vaddr && !b->indirect;
	bool pointed = scan_is_taken(scan, vaddr) || scan_is_jumped_to(scan, vaddr);

	if (vaddr == b->f->start || vaddr % SCAN_GRID || insn->cls == INSN_STOP || !(b->ended || b->called))
		return false;
	b->known = scan_is_called(scan, vaddr) ||
		   (pointed && (over || is_another_frame(b, vaddr, p, avail)));
	return b->known || over || (b->ended && (b->padding || scan_is_taken(scan, vaddr)));
}

static bool until_border(void *ctx, uint64_t vaddr, const struct insn *insn)
{
	struct border *b = ctx;
	const struct arch *arch = b->map->image->arch;
	size_t avail = 0;
	const uint8_t *p = image_at(b->map->image, vaddr, 1, &avail);
	bool jump = insn->cls == INSN_JUMP || insn->cls == INSN_BRANCH;

	if (!p || is_border(b, vaddr, insn, p, avail))
		return false;
	b->padding = insn->length == 1 && arch->padding(*p);
	if (jump && insn->target > b->reach && insn->target < b->f->end)
		b->reach = insn->target;
	b->indirect |= insn->cls == INSN_JUMP_INDIRECT && !insn->memory;
	if (!arch->nop(p, avail)) {
		b->called = insn->cls == INSN_CALL;
		b->ended = insn->cls == INSN_RET || insn->cls == INSN_JUMP || insn->cls == INSN_JUMP_INDIRECT ||
			   insn->cls == INSN_STOP;
	}
	return true;
}

/* Goes from the start before vaddr to the one that vaddr belongs to. False if it can't be told. */
static bool settle(const struct code_map *map, uint64_t vaddr, struct function *f)
{
	for (;;) {
		struct border b = { .map = map, .f = f };
		uint64_t end = function_walk(map, f, until_border, &b);

		if (end >= f->end)
			return vaddr < f->end;
		if (vaddr < end) {
			f->end = end;
			return true;
		}
		if (!b.known)
			return false;
		f->start = end;
		f->proof = PROOF_TARGET;
	}
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
		uint64_t fde_start, fde_end;
		int proof = grid_start(map, a);

		/* what an unwind table covers between there and here is another function */
		if (fde_range(map->image, &map->fdes, a, &fde_start, &fde_end))
			return false;
		if (!proof)
			continue;
		ret->start = a;
		ret->end = next_start(map, vaddr, limit_of(map, vaddr, a));
		ret->proof = proof;
		return settle(map, vaddr, ret);
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
