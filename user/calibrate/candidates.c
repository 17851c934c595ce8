// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Sums up, path by path, what was met at a function's calls. */
#include <errno.h>
#include <stdlib.h>
#include "calibrate/candidates.h"

static int by_path(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (x->path != y->path)
		return x->path < y->path ? -1 : 1;
	return (int)x->kind - (int)y->kind;
}

int candidates_collect(const struct call_log *log, const struct choose_texts *t, struct candidates *ret)
{
	size_t total = 0, nr = 0;

	for (size_t i = 0; i < log->nr_hits; i++)
		total += log->hits[i].nr_texts;
	ret->c = calloc(total + 1, sizeof(*ret->c));
	if (!ret->c)
		return -ENOMEM;
	for (size_t i = 0; i < log->nr_hits; i++) {
		for (size_t k = 0; k < log->hits[i].nr_texts; k++) {
			const struct found_text *f = &log->hits[i].texts[k];
			unsigned int phase = log->hits[i].phase;
			uint64_t bit = 1ull << f->text;
			bool right = (t->of_phase[phase] | t->blank) & bit;

			/* the page before is still there when the next one begins: that says nothing */
			if (right || !phase || !(t->of_phase[phase - 1] & bit))
				ret->c[nr++] = (struct candidate){ f->path, f->kind, bit, right, !right, 0 };
		}
	}
	if (nr)
		qsort(ret->c, nr, sizeof(*ret->c), by_path);
	ret->nr = 0;
	for (size_t i = 0; i < nr; i++) {
		struct candidate *last = ret->nr ? &ret->c[ret->nr - 1] : NULL;

		if (last && !by_path(last, &ret->c[i])) {
			last->again += (last->seen & ret->c[i].seen & ~t->documents) != 0;
			last->seen |= ret->c[i].seen;
			last->right += ret->c[i].right;
			last->wrong += ret->c[i].wrong;
		} else {
			ret->c[ret->nr++] = ret->c[i];
		}
	}
	return 0;
}

void candidates_free(struct candidates *c)
{
	free(c->c);
	c->c = NULL;
	c->nr = 0;
}

int bits_count(uint64_t bits)
{
	return __builtin_popcountll(bits);
}
