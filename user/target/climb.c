// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The climb from the code that refers to a text to the functions that are meant: past cold parts and what only reports. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "target/climb.h"
#include "target/fragments.h"

/* A function that reports for another is made for one place, sometimes copied with it into a few. With more callers it
 * is a function in its own right. */
#define HELPER_MAX_CALLERS 4
#define MAX_SEEN 256		/* functions that one text leads by; more say nothing */
#define MAX_CALLS 4096		/* calls of one function; what is called from everywhere leads nowhere */

static void push(struct climb *cl, const struct climber *c)
{
	struct climbers *l = &cl->later;

	if (l->nr == l->cap) {
		size_t cap = l->cap ? 2 * l->cap : 256;
		struct climber *p = realloc(l->v, cap * sizeof(*p));

		if (!p) {
			cl->failed = true;
			return;
		}
		l->v = p;
		l->cap = cap;
	}
	l->v[l->nr++] = *c;
}

/* True the first time that this term comes by this function. */
static bool first_visit(struct climb *cl, struct term_state *t, uint64_t start)
{
	uint64_t *p;

	for (size_t i = 0; i < t->nr_seen; i++)
		if (t->seen[i] == start)
			return false;
	if (t->nr_seen >= MAX_SEEN)
		return false;
	p = realloc(t->seen, (t->nr_seen + 1) * sizeof(*p));
	if (!p) {
		cl->failed = true;
		return false;
	}
	t->seen = p;
	t->seen[t->nr_seen++] = start;
	return true;
}

static void arrive(struct climb *cl, const struct climber *c, uint64_t at)
{
	if (cl->nr_arrivals == cl->cap_arrivals) {
		size_t cap = cl->cap_arrivals ? 2 * cl->cap_arrivals : 256;
		struct arrival *p = realloc(cl->arrivals, cap * sizeof(*p));

		if (!p) {
			cl->failed = true;
			return;
		}
		cl->arrivals = p;
		cl->cap_arrivals = cap;
	}
	cl->arrivals[cl->nr_arrivals++] = (struct arrival){ *c, at };
}

/* Is the function meant that was reached through the instruction at `at`, or does the climb go on? */
static void judge(struct climb *cl, struct climber *c, uint64_t at)
{
	struct term_state *t = &cl->terms[c->term];

	c->helper = t->term->up && c->helper && !function_can_avoid(cl->map, &c->match.function, at);
	if (!first_visit(cl, t, c->match.function.start))
		return;
	if (!c->helper && !c->left) {
		if (!anchor_set_add(&t->set, &c->match))
			cl->failed = true;
	} else {
		push(cl, c);
	}
}

static struct fragment *find_fragment(struct fragment *v, size_t nr, uint64_t start)
{
	for (size_t i = 0; i < nr; i++)
		if (v[i].part.start == start)
			return &v[i];
	return NULL;
}

/* Puts functions in the place of their cold parts and judges all that have arrived. */
static int judge_arrivals(struct climb *cl)
{
	struct fragment *parts = calloc(cl->nr_arrivals + 1, sizeof(*parts));
	size_t nr = 0;
	int rc;

	if (!parts)
		return -ENOMEM;
	for (size_t i = 0; i < cl->nr_arrivals; i++) {
		const struct function *fn = &cl->arrivals[i].climber.match.function;

		if (fn->proof == PROOF_FDE && !find_fragment(parts, nr, fn->start))
			parts[nr++].part = *fn;
	}
	rc = fragments_resolve(cl->map, parts, nr);
	for (size_t i = 0; i < cl->nr_arrivals && !rc; i++) {
		struct climber *c = &cl->arrivals[i].climber;
		const struct fragment *part = find_fragment(parts, nr, c->match.function.start);

		if (part && part->verdict == FRAGMENT_LOST)
			continue;
		if (part && part->verdict == FRAGMENT_OWNED) {
			c->match.function = part->owner;
			c->match.cold = true;
			c->helper = false;	/* what is unlikely can be gone around */
			judge(cl, c, part->from);
		} else {
			judge(cl, c, cl->arrivals[i].at);
		}
	}
	cl->nr_arrivals = 0;
	free(parts);
	return rc;
}

struct caller {
	uint64_t at, target;
};

struct caller_list {
	struct caller *v;
	size_t nr, cap;
	bool failed;
};

static void collect_caller(void *ctx, uint64_t at, uint64_t target)
{
	struct caller_list *l = ctx;

	if (l->nr == l->cap) {
		size_t cap = l->cap ? 2 * l->cap : 256;
		struct caller *p = realloc(l->v, cap * sizeof(*p));

		if (!p) {
			l->failed = true;
			return;
		}
		l->v = p;
		l->cap = cap;
	}
	l->v[l->nr++] = (struct caller){ at, target };
}

static int by_target(const void *a, const void *b)
{
	const struct caller *x = a, *y = b;

	if (x->target != y->target)
		return x->target < y->target ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

static bool is_call_to(const struct code_map *map, const struct caller *c, struct function *ret)
{
	struct insn insn;

	return function_at(map, c->at, ret) && ret->start != c->target && function_has_insn(map, ret, c->at, &insn) &&
	       insn.has_target && insn.target == c->target;
}

/* Sorts the calls by target and keeps those that stand where the code of a function has a call; that function goes into
 * fns. */
static size_t verify_callers(const struct code_map *map, struct caller_list *l, struct function *fns)
{
	size_t n = 0, end;

	if (l->nr)
		qsort(l->v, l->nr, sizeof(*l->v), by_target);
	for (size_t i = 0; i < l->nr; i = end) {
		for (end = i; end < l->nr && l->v[end].target == l->v[i].target; end++)
			;
		for (size_t k = i; k < end && end - i <= MAX_CALLS; k++)
			if (is_call_to(map, &l->v[k], &fns[n]))
				l->v[n++] = l->v[k];
	}
	return n;
}

static unsigned int count_functions(const struct caller_list *l, const struct function *fns, size_t n,
				    uint64_t target)
{
	unsigned int nr = 0;
	uint64_t last = 0;

	for (size_t i = 0; i < n; i++)
		if (l->v[i].target == target && fns[i].start != last) {
			last = fns[i].start;
			nr++;
		}
	return nr;
}

/* One climber goes up to each of its callers. */
static void climb_one(struct climb *cl, struct climber *c, const struct caller_list *l,
		      const struct function *fns, size_t n)
{
	unsigned int nr = count_functions(l, fns, n, c->match.function.start);

	if (c->helper && (nr == 0 || nr > HELPER_MAX_CALLERS)) {
		/* not made for one place: it is what is reported about */
		c->helper = false;
		if (!c->left) {
			if (!anchor_set_add(&cl->terms[c->term].set, &c->match))
				cl->failed = true;
			return;
		}
	}
	for (size_t i = 0; i < n; i++) {
		struct climber up = *c;

		if (l->v[i].target != c->match.function.start)
			continue;
		up.match.function = fns[i];
		if (c->helper)
			up.match.helpers++;
		else
			up.left--;
		arrive(cl, &up, l->v[i].at);
	}
}

static int climb_level(struct climb *cl)
{
	struct caller_list l = { 0 };
	struct addr_set targets;
	struct function *fns = NULL;
	uint64_t *starts = calloc(cl->now.nr, sizeof(*starts));
	int rc = -ENOMEM;

	if (!starts)
		return rc;
	for (size_t i = 0; i < cl->now.nr; i++)
		starts[i] = cl->now.v[i].match.function.start;
	if (!addr_set_init(&targets, starts, cl->now.nr)) {
		scan_callers(cl->map->scan, &targets, collect_caller, &l);
		addr_set_free(&targets);
		fns = calloc(l.nr + 1, sizeof(*fns));
	}
	if (fns && !l.failed) {
		size_t n = verify_callers(cl->map, &l, fns);

		for (size_t i = 0; i < cl->now.nr; i++)
			climb_one(cl, &cl->now.v[i], &l, fns, n);
		rc = judge_arrivals(cl);
	}
	free(starts);
	free(fns);
	free(l.v);
	return rc;
}

int climb_run(struct climb *cl)
{
	int rc = judge_arrivals(cl);

	/* each level of helpers and each ^ takes one round */
	for (int level = 0; level < 2 * ANCHOR_MAX_UP && cl->later.nr && !cl->failed && !rc; level++) {
		struct climbers swap = cl->now;

		cl->now = cl->later;
		cl->later = swap;
		cl->later.nr = 0;
		rc = climb_level(cl);
	}
	return cl->failed ? -ENOMEM : rc;
}

void climb_start(struct climb *cl, size_t term, const struct function *fn, uint64_t at)
{
	unsigned int up = cl->terms[term].term->up;
	struct climber c = { .term = term, .helper = true, .left = up ? up - 1 : 0,
			     .match = { .function = *fn, .ref = at } };

	arrive(cl, &c, at);
}

void climb_free(struct climb *cl)
{
	free(cl->now.v);
	free(cl->later.v);
	free(cl->arrivals);
}
