// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tells cold parts from functions, and finds the functions that they belong to. */
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "target/fragments.h"
#include "target/relocs.h"

struct search {
	const struct code_map *map;
	struct fragment *v;
	size_t nr;
};

/* What the first pass already knows: calls and pointers to the grid. Pointers of a program that is linked to fixed
 * addresses have no relocations, so that nothing can be said about its functions on the grid. */
static bool is_plain_function(const struct code_map *map, const struct function *f)
{
	Elf64_Ehdr eh;

	memcpy(&eh, map->image->bytes, sizeof(eh));
	return f->proof != PROOF_FDE || scan_is_called(map->scan, f->start) || scan_is_taken(map->scan, f->start) ||
	       (eh.e_type == ET_EXEC && f->start % SCAN_GRID == 0);
}

static void clear_called(void *ctx, uint64_t at, uint64_t target)
{
	struct search *s = ctx;
	struct function caller;
	struct insn insn;

	for (size_t i = 0; i < s->nr; i++) {
		if (s->v[i].part.start != target || s->v[i].verdict == FRAGMENT_NO)
			continue;
		/* a jump from elsewhere says nothing: that is how parts are entered */
		if (function_at(s->map, at, &caller) && function_has_insn(s->map, &caller, at, &insn) &&
		    insn.cls == INSN_CALL)
			s->v[i].verdict = FRAGMENT_NO;
	}
}

static void clear_pointed(void *ctx, uint64_t slot, uint64_t target)
{
	struct search *s = ctx;

	(void)slot;
	for (size_t i = 0; i < s->nr; i++)
		if (s->v[i].part.start == target)
			s->v[i].verdict = FRAGMENT_NO;
}

static size_t open_questions(const struct search *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->nr; i++)
		n += s->v[i].verdict != FRAGMENT_NO;
	return n;
}

static int check_calls(struct search *s)
{
	uint64_t *starts = calloc(s->nr, sizeof(*starts));
	struct addr_set set;
	int rc;

	if (!starts)
		return -ENOMEM;
	for (size_t i = 0; i < s->nr; i++)
		starts[i] = s->v[i].verdict != FRAGMENT_NO ? s->v[i].part.start : 0;
	rc = addr_set_init(&set, starts, s->nr);
	free(starts);
	if (rc)
		return rc;
	scan_callers(s->map->scan, &set, clear_called, s);
	addr_set_free(&set);
	relocs_each(s->map->image, clear_pointed, s);
	exports_each(s->map->image, clear_pointed, s);
	return 0;
}

/* A branch from another function leads into the piece. */
static void enter_from(struct search *s, struct fragment *f, const struct function *from, uint64_t at,
		       const struct insn *insn)
{
	struct function part;

	if (f->from && f->owner.start != from->start) {
		f->verdict = FRAGMENT_LOST;	/* shared, or a function that several end in */
		return;
	}
	f->owner = *from;
	f->from = at;
	if (f->part.start % SCAN_GRID || function_has_part(s->map, from, insn->target, &part))
		f->verdict = FRAGMENT_OWNED;
	else if (insn->cls == INSN_JUMP)
		f->verdict = FRAGMENT_NO;	/* a tail call */
}

/* A branch, jump or address at `at` leads into one of the pieces. */
static void enter(struct search *s, uint64_t at, uint64_t target)
{
	struct function from;
	struct insn insn;

	for (size_t i = 0; i < s->nr; i++) {
		struct fragment *f = &s->v[i];
		bool outside = at < f->part.start || at >= f->part.end;

		if (f->verdict == FRAGMENT_NO || target < f->part.start || target >= f->part.end || !outside)
			continue;
		if (!function_at(s->map, at, &from) || !function_has_insn(s->map, &from, at, &insn) ||
		    !insn.has_target || insn.target != target)
			continue;
		if (insn.cls == INSN_ADDRESS && target == f->part.start)
			f->verdict = FRAGMENT_NO;	/* its address is taken */
		else if (insn.cls == INSN_JUMP || insn.cls == INSN_BRANCH)
			enter_from(s, f, &from, at, &insn);
	}
}

static int by_start(const void *a, const void *b)
{
	const struct addr_range *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static int find_owners(struct search *s)
{
	struct addr_range *ranges = calloc(s->nr, sizeof(*ranges));
	struct scan_ref *refs;
	size_t nr = 0, nr_refs;
	int rc;

	if (!ranges)
		return -ENOMEM;
	for (size_t i = 0; i < s->nr; i++)
		if (s->v[i].verdict != FRAGMENT_NO)
			ranges[nr++] = (struct addr_range){ s->v[i].part.start, s->v[i].part.end };
	qsort(ranges, nr, sizeof(*ranges), by_start);
	rc = scan_branches(s->map->scan, ranges, nr, &refs, &nr_refs);
	free(ranges);
	if (rc)
		return rc;
	for (size_t i = 0; i < nr_refs; i++)
		enter(s, refs[i].at, refs[i].target);
	free(refs);
	return 0;
}

int fragments_resolve(const struct code_map *map, struct fragment *v, size_t nr)
{
	struct search s = { .map = map, .v = v, .nr = nr };
	int rc;

	for (size_t i = 0; i < nr; i++) {
		v[i].verdict = is_plain_function(map, &v[i].part) ? FRAGMENT_NO : FRAGMENT_LOST;
		v[i].from = 0;
	}
	if (!open_questions(&s))
		return 0;
	rc = check_calls(&s);
	if (!rc && open_questions(&s))
		rc = find_owners(&s);
	return rc;
}
