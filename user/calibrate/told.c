// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Weighs the ways to events' names and to areas. */
#include <errno.h>
#include <stdlib.h>
#include "calibrate/candidates.h"
#include "calibrate/entry.h"
#include "calibrate/told.h"
#include "calibrate/wants.h"

#define MIN_NAMES 3	/* or areas, that a way must have led to, */
#define MIN_PHASES 2	/* on so many pages */
#define END_STEPS 2	/* from an object to what keeps its area */

static bool is_right(const struct candidate *c, uint64_t wanted, const struct choose_texts *t)
{
	int phases = 0;

	for (size_t i = 0; i < LOG_PHASES; i++)
		phases += (c->seen & t->of_phase[i]) != 0;
	return !c->wrong && !(c->seen & ~wanted) && phases >= MIN_PHASES && bits_count(c->seen) >= MIN_NAMES;
}

int told_name(const struct call_log *log, const struct choose_texts *t, struct site_entry *e)
{
	const struct candidate *best = NULL;
	struct candidates all;

	if (!wants_name(log->site->probe))
		return 0;
	if (candidates_collect(log, t, &all))
		return -ENOMEM;
	for (size_t i = 0; i < all.nr; i++) {
		const struct candidate *c = &all.c[i];

		if (is_right(c, t->events, t) && (!best || c->right > best->right || (c->right == best->right &&
						  path_is_better(c->path, best->path, log->stack_regs))))
			best = c;
	}
	if (best) {
		entry_add(e, best->path, FIELD_EVENT_NAME, best->kind);
		entry_note(e, "; %d event names right at %zu", bits_count(best->seen), best->right);
	}
	candidates_free(&all);
	return 0;
}

/* --- areas --- */

struct function {
	const struct frame_facts *facts;
	struct candidates all;
};

static bool is_better(const struct candidate *a, const struct candidate *b, const struct frame_facts *f)
{
	size_t frame_steps = path_steps(f->frame);
	bool frame_a = f->has_frame && path_begins(a->path, f->frame, frame_steps);
	bool frame_b = f->has_frame && path_begins(b->path, f->frame, frame_steps);

	if (a->right != b->right)
		return a->right > b->right;
	if (path_steps(a->path) != path_steps(b->path))
		return path_steps(a->path) < path_steps(b->path);
	return frame_a != frame_b ? frame_a : path_is_better(a->path, b->path, f->log->stack_regs);
}

/* Of the ways that end like this one, the best; NULL. */
static const struct candidate *best_ending(const struct function *f, path_t end, const struct choose_texts *t)
{
	const struct candidate *best = NULL;

	for (size_t i = 0; i < f->all.nr; i++)
		if (is_right(&f->all.c[i], t->areas, t) && path_ends_alike(f->all.c[i].path, end, END_STEPS) &&
		    (!best || is_better(&f->all.c[i], best, f->facts)))
			best = &f->all.c[i];
	return best;
}

/* The end that most functions have ways with, and of several the one that is right at most of their calls. Its path, or 0. */
static path_t most_shared(const struct function *f, size_t nr, const struct choose_texts *t)
{
	size_t most = 0, calls = 0;
	path_t ret = 0;

	for (size_t i = 0; i < nr; i++) {
		for (size_t k = 0; k < f[i].all.nr; k++) {
			const struct candidate *c = &f[i].all.c[k];
			size_t sharing = 0, right = 0;

			if (!is_right(c, t->areas, t) || path_steps(c->path) < END_STEPS)
				continue;
			for (size_t o = 0; o < nr; o++) {
				const struct candidate *best = best_ending(&f[o], c->path, t);

				sharing += best != NULL;
				right += best ? best->right : 0;
			}
			if (sharing > most || (sharing == most && right > calls)) {
				most = sharing;
				calls = right;
				ret = c->path;
			}
		}
	}
	return ret;
}

int told_areas(const struct frame_facts *facts, size_t nr, const struct choose_texts *t, struct site_entry *ret)
{
	struct function *f = calloc(nr + 1, sizeof(*f));
	int rc = f ? 0 : -ENOMEM;
	path_t end;

	for (size_t i = 0; i < nr && !rc; i++) {
		f[i].facts = &facts[i];
		if (wants_area(facts[i].log->site->probe))
			rc = candidates_collect(facts[i].log, t, &f[i].all);
	}
	end = rc ? 0 : most_shared(f, nr, t);
	for (size_t i = 0; i < nr && end; i++) {
		const struct candidate *best = best_ending(&f[i], end, t);

		if (!best)
			continue;
		entry_add_area(&ret[i], best->path);
		entry_note(&ret[i], "; %d areas right at %zu", bits_count(best->seen), best->right);
	}
	for (size_t i = 0; f && i < nr; i++)
		candidates_free(&f[i].all);
	free(f);
	return rc;
}
