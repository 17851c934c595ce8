// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Finds what anchors mean: strings, references to them, and what the climb from there leads to. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "target/climb.h"
#include "target/strings.h"

#define MAX_MATCHES 64		/* functions that one text may mean; more say nothing */

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
	struct climb climb;
};

bool anchor_set_add(struct anchor_set *set, const struct anchor_match *m)
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

const struct anchor_match *anchor_set_find(const struct anchor_set *set, uint64_t start)
{
	for (size_t i = 0; i < set->nr; i++)
		if (set->matches[i].function.start == start)
			return &set->matches[i];
	return NULL;
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
				if (!strcmp(f->terms[t].term->text, f->terms[f->hits[h].text].term->text))
					climb_start(&f->climb, t, &fn, at);
			}
		}
	}
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
			keep &= !anchor_set_find(&f->terms[first_term + t].set, first->matches[i].function.start) ==
				a->terms[t].negated;
		if (keep && !anchor_set_add(set, &first->matches[i]))
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
	f->climb = (struct climb){ .map = &f->map, .terms = f->terms };
	start_from_refs(f);
	rc = climb_run(&f->climb);
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
	climb_free(&f->climb);
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
