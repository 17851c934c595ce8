// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Finds what anchors mean: strings, references to them, and the climb from what reports to what is reported about. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "target/anchors.h"
#include "target/fragments.h"
#include "target/strings.h"

/* A function that reports for another is made for one place, sometimes copied with it into a few. With more callers it
 * is a function in its own right. */
#define HELPER_MAX_CALLERS 4
#define MAX_MATCHES 64		/* functions that one text may mean; more say nothing */

/* A function on the way up, for one term. */
struct climber {
	size_t term;
	struct anchor_match match;
	unsigned int left;	/* plain steps up that remain once the function reported about is reached */
	bool helper;		/* match.function only reports */
	unsigned int callers;
};

struct climbers {
	struct climber *v;
	size_t nr, cap;
};

/* A climber that has come to a function through the instruction at `at`; yet to be looked at. */
struct arrival {
	struct climber climber;
	uint64_t at;
};

struct term_state {
	const struct anchor_term *term;
	struct anchor_set set;
	uint64_t *seen;		/* functions passed on the way: no going in circles */
	size_t nr_seen;
};

struct anchor_finder {
	const struct image *image;
	struct scan *scan;
	struct code_map map;
	struct term_state *terms;
	size_t nr_terms;
	struct string_hit *hits;
	size_t nr_hits;
	const struct anchor *anchors;
	size_t nr_anchors;
	struct anchor_set *sets;	/* of whole anchors */
	struct climbers now, later;
	struct arrival *arrivals;
	size_t nr_arrivals, cap_arrivals;
	bool failed;
};

static bool set_add(struct anchor_set *set, const struct anchor_match *m)
{
	size_t i;

	if (!set->matches) {
		set->matches = calloc(MAX_MATCHES, sizeof(*set->matches));
		if (!set->matches)
			return false;
	}
	for (i = 0; i < set->nr && set->matches[i].function.start < m->function.start; i++)
		;
	if ((i < set->nr && set->matches[i].function.start == m->function.start) || set->nr == MAX_MATCHES)
		return true;
	memmove(&set->matches[i + 1], &set->matches[i], (set->nr - i) * sizeof(*m));
	set->matches[i] = *m;
	set->nr++;
	return true;
}

static const struct anchor_match *set_find(const struct anchor_set *set, uint64_t start)
{
	for (size_t i = 0; i < set->nr; i++)
		if (set->matches[i].function.start == start)
			return &set->matches[i];
	return NULL;
}

static void push(struct anchor_finder *f, const struct climber *c)
{
	struct climbers *l = &f->later;

	if (l->nr == l->cap) {
		size_t cap = l->cap ? 2 * l->cap : 256;
		struct climber *p = realloc(l->v, cap * sizeof(*p));

		if (!p) {
			f->failed = true;
			return;
		}
		l->v = p;
		l->cap = cap;
	}
	l->v[l->nr++] = *c;
}

/* True the first time that this term comes by this function. */
static bool first_visit(struct anchor_finder *f, struct term_state *t, uint64_t start)
{
	uint64_t *p;

	for (size_t i = 0; i < t->nr_seen; i++)
		if (t->seen[i] == start)
			return false;
	if (t->nr_seen >= 4 * MAX_MATCHES)
		return false;
	p = realloc(t->seen, (t->nr_seen + 1) * sizeof(*p));
	if (!p) {
		f->failed = true;
		return false;
	}
	t->seen = p;
	t->seen[t->nr_seen++] = start;
	return true;
}

static void arrive(struct anchor_finder *f, const struct climber *c, uint64_t at)
{
	if (f->nr_arrivals == f->cap_arrivals) {
		size_t cap = f->cap_arrivals ? 2 * f->cap_arrivals : 256;
		struct arrival *p = realloc(f->arrivals, cap * sizeof(*p));

		if (!p) {
			f->failed = true;
			return;
		}
		f->arrivals = p;
		f->cap_arrivals = cap;
	}
	f->arrivals[f->nr_arrivals++] = (struct arrival){ *c, at };
}

/* Is the function meant that was reached through the instruction at `at`, or does the climb go on? */
static void judge(struct anchor_finder *f, struct climber *c, uint64_t at)
{
	struct term_state *t = &f->terms[c->term];

	c->helper = t->term->up && c->helper && !function_can_avoid(&f->map, &c->match.function, at);
	if (!first_visit(f, t, c->match.function.start))
		return;
	if (!c->helper && !c->left) {
		if (!set_add(&t->set, &c->match))
			f->failed = true;
	} else {
		push(f, c);
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
static int judge_arrivals(struct anchor_finder *f)
{
	struct fragment *parts = calloc(f->nr_arrivals + 1, sizeof(*parts));
	size_t nr = 0;
	int rc;

	if (!parts)
		return -ENOMEM;
	for (size_t i = 0; i < f->nr_arrivals; i++) {
		const struct function *fn = &f->arrivals[i].climber.match.function;

		if (fn->proof == PROOF_FDE && !find_fragment(parts, nr, fn->start))
			parts[nr++].part = *fn;
	}
	rc = fragments_resolve(&f->map, parts, nr);
	for (size_t i = 0; i < f->nr_arrivals && !rc; i++) {
		struct climber *c = &f->arrivals[i].climber;
		const struct fragment *part = find_fragment(parts, nr, c->match.function.start);

		if (part && part->verdict == FRAGMENT_LOST)
			continue;
		if (part && part->verdict == FRAGMENT_OWNED) {
			c->match.function = part->owner;
			c->match.cold = true;
			c->helper = false;	/* what is unlikely can be gone around */
			judge(f, c, part->from);
		} else {
			judge(f, c, f->arrivals[i].at);
		}
	}
	f->nr_arrivals = 0;
	free(parts);
	return rc;
}

/* The address of the instruction at `at` that refers to target; 0 if there is none. */
static uint64_t reference_at(const struct code_map *map, const struct function *fn, uint64_t at, uint64_t target)
{
	struct insn insn;

	/* the pass reports the byte where a REX prefix would be; without one the instruction is the next */
	for (uint64_t a = at; a <= at + 1; a++)
		if (function_has_insn(map, fn, a, &insn) && insn.has_target && insn.target == target)
			return a;
	return 0;
}

static void start_from_refs(struct anchor_finder *f)
{
	for (size_t i = 0; i < f->scan->nr_refs; i++) {
		const struct scan_ref *r = &f->scan->refs[i];
		struct function fn;
		uint64_t at;

		if (!function_at(&f->map, r->at, &fn))
			continue;
		at = reference_at(&f->map, &fn, r->at, r->target);
		if (!at)
			continue;
		for (size_t h = 0; h < f->nr_hits; h++) {
			if (f->hits[h].vaddr != r->target)
				continue;
			for (size_t t = 0; t < f->nr_terms; t++) {
				struct climber c = { .term = t, .helper = true,
						     .left = f->terms[t].term->up ? f->terms[t].term->up - 1 : 0 };

				if (strcmp(f->terms[t].term->text, f->terms[f->hits[h].text].term->text))
					continue;
				c.match = (struct anchor_match){ .function = fn, .ref = at };
				arrive(f, &c, at);
			}
		}
	}
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

/* Keeps of the calls those that stand where the code of a function has a call; puts the function in place of `at`
 * into fns. */
static size_t verify_callers(const struct code_map *map, struct caller_list *l, struct function *fns)
{
	size_t n = 0;

	for (size_t i = 0; i < l->nr; i++) {
		struct insn insn;
		struct function fn;

		if (!function_at(map, l->v[i].at, &fn) || fn.start == l->v[i].target ||
		    !function_has_insn(map, &fn, l->v[i].at, &insn) || !insn.has_target ||
		    insn.target != l->v[i].target)
			continue;
		l->v[n] = l->v[i];
		fns[n++] = fn;
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
static void climb_one(struct anchor_finder *f, struct climber *c, const struct caller_list *l,
		      const struct function *fns, size_t n)
{
	unsigned int nr = count_functions(l, fns, n, c->match.function.start);

	if (c->helper && (nr == 0 || nr > HELPER_MAX_CALLERS)) {
		/* not made for one place: it is what is reported about */
		c->helper = false;
		if (!c->left) {
			if (!set_add(&f->terms[c->term].set, &c->match))
				f->failed = true;
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
		arrive(f, &up, l->v[i].at);
	}
}

static int climb_level(struct anchor_finder *f)
{
	struct caller_list l = { 0 };
	struct addr_set targets;
	struct function *fns = NULL;
	uint64_t *starts = calloc(f->now.nr, sizeof(*starts));
	int rc = -ENOMEM;

	if (!starts)
		return rc;
	for (size_t i = 0; i < f->now.nr; i++)
		starts[i] = f->now.v[i].match.function.start;
	if (!addr_set_init(&targets, starts, f->now.nr)) {
		scan_callers(f->scan, &targets, collect_caller, &l);
		addr_set_free(&targets);
		fns = calloc(l.nr + 1, sizeof(*fns));
	}
	if (fns && !l.failed) {
		size_t n = verify_callers(&f->map, &l, fns);

		for (size_t i = 0; i < f->now.nr; i++)
			climb_one(f, &f->now.v[i], &l, fns, n);
		rc = judge_arrivals(f);
	}
	free(starts);
	free(fns);
	free(l.v);
	return rc;
}

static int climb(struct anchor_finder *f)
{
	/* each level of helpers and each ^ takes one round */
	for (int level = 0; level < 2 * ANCHOR_MAX_UP && f->later.nr && !f->failed; level++) {
		struct climbers swap = f->now;
		int rc;

		f->now = f->later;
		f->later = swap;
		f->later.nr = 0;
		rc = climb_level(f);
		if (rc)
			return rc;
	}
	return f->failed ? -ENOMEM : 0;
}

/* Intersects the terms of one anchor. */
static int combine(struct anchor_finder *f, size_t anchor, size_t first_term)
{
	const struct anchor *a = &f->anchors[anchor];
	struct anchor_set *set = &f->sets[anchor];
	const struct anchor_set *first = &f->terms[first_term].set;

	for (size_t t = 0; t < a->nr_terms; t++)
		if (!a->terms[t].negated) {
			set->no_string |= f->terms[first_term + t].set.no_string;
			set->no_reference |= f->terms[first_term + t].set.no_reference;
			set->no_function |= f->terms[first_term + t].set.no_function;
		}
	for (size_t i = 0; i < first->nr; i++) {
		bool keep = true;

		for (size_t t = 1; t < a->nr_terms; t++)
			keep &= !set_find(&f->terms[first_term + t].set, first->matches[i].function.start) ==
				a->terms[t].negated;
		if (keep && !set_add(set, &first->matches[i]))
			return -ENOMEM;
	}
	return 0;
}

static int find_strings(struct anchor_finder *f)
{
	const char **texts = calloc(f->nr_terms + 1, sizeof(*texts));
	size_t n = 0;
	int rc;

	if (!texts)
		return -ENOMEM;
	/* every text once; hits name the first term that has it */
	for (size_t t = 0; t < f->nr_terms; t++) {
		bool again = false;

		for (size_t k = 0; k < t && !again; k++)
			again = !strcmp(f->terms[k].term->text, f->terms[t].term->text);
		texts[n++] = again ? "" : f->terms[t].term->text;
	}
	rc = strings_find(f->image, texts, n, &f->hits, &f->nr_hits);
	free(texts);
	return rc;
}

static int run_scan(struct anchor_finder *f, struct error *err)
{
	uint64_t *wanted = calloc(f->nr_hits + 1, sizeof(*wanted));
	int rc;

	if (!wanted)
		return error_set(err, ERR_OTHER, -ENOMEM, "out of memory");
	for (size_t i = 0; i < f->nr_hits; i++)
		wanted[i] = f->hits[i].vaddr;
	rc = scan_run(f->image, wanted, f->nr_hits, &f->scan, err);
	free(wanted);
	return rc;
}

static bool is_referred_to(const struct anchor_finder *f, uint64_t vaddr)
{
	for (size_t i = 0; i < f->scan->nr_refs; i++)
		if (f->scan->refs[i].target == vaddr)
			return true;
	return false;
}

/* Why a term means nothing, for messages. */
static void note_absence(struct anchor_finder *f)
{
	for (size_t t = 0; t < f->nr_terms; t++) {
		struct term_state *s = &f->terms[t];

		if (s->nr_seen)
			continue;
		s->set.no_string = s->set.no_reference = true;
		for (size_t h = 0; h < f->nr_hits; h++) {
			if (strcmp(s->term->text, f->terms[f->hits[h].text].term->text))
				continue;
			s->set.no_string = false;
			s->set.no_reference &= !is_referred_to(f, f->hits[h].vaddr);
		}
		s->set.no_function = !s->set.no_reference;
	}
}

static int finder_run(struct anchor_finder *f, struct error *err)
{
	size_t t = 0;
	int rc;

	rc = find_strings(f);
	if (rc)
		return error_set(err, ERR_OTHER, rc, "out of memory");
	rc = run_scan(f, err);
	if (rc)
		return rc;
	code_map_init(&f->map, f->image, f->scan);
	start_from_refs(f);
	rc = judge_arrivals(f);
	if (!rc)
		rc = climb(f);
	note_absence(f);
	for (size_t a = 0; a < f->nr_anchors && !rc; t += f->anchors[a].nr_terms, a++)
		rc = combine(f, a, t);
	return rc ? error_set(err, ERR_OTHER, rc, "out of memory") : 0;
}

int anchor_finder_new(const struct image *image, const struct anchor *anchors, size_t nr_anchors,
		      struct anchor_finder **ret, struct error *err)
{
	struct anchor_finder *f = calloc(1, sizeof(*f));
	size_t nr_terms = 0;
	int rc;

	*ret = NULL;
	for (size_t i = 0; i < nr_anchors; i++)
		nr_terms += anchors[i].nr_terms;
	if (f) {
		f->image = image;
		f->anchors = anchors;
		f->nr_anchors = nr_anchors;
		f->terms = calloc(nr_terms + 1, sizeof(*f->terms));
		f->sets = calloc(nr_anchors + 1, sizeof(*f->sets));
	}
	if (!f || !f->terms || !f->sets) {
		anchor_finder_free(f);
		return error_set(err, ERR_OTHER, -ENOMEM, "out of memory");
	}
	for (size_t i = 0; i < nr_anchors; i++)
		for (size_t t = 0; t < anchors[i].nr_terms; t++)
			f->terms[f->nr_terms++].term = &anchors[i].terms[t];
	rc = finder_run(f, err);
	if (rc) {
		anchor_finder_free(f);
		return rc;
	}
	*ret = f;
	return 0;
}

void anchor_finder_free(struct anchor_finder *f)
{
	if (!f)
		return;
	for (size_t t = 0; f->terms && t < f->nr_terms; t++) {
		free(f->terms[t].set.matches);
		free(f->terms[t].seen);
	}
	for (size_t i = 0; f->sets && i < f->nr_anchors; i++)
		free(f->sets[i].matches);
	free(f->terms);
	free(f->sets);
	free(f->hits);
	free(f->now.v);
	free(f->later.v);
	free(f->arrivals);
	scan_free(f->scan);
	free(f);
}

const struct code_map *anchor_finder_map(const struct anchor_finder *f)
{
	return &f->map;
}

const struct anchor_set *anchor_finder_set(const struct anchor_finder *f, size_t i)
{
	return &f->sets[i];
}
