// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Finds how the clock of reported events is set against ours. */
#include <errno.h>
#include <stdlib.h>
#include "base/vec.h"
#include "calibrate/compare.h"

/* Where the number of events that fit changes. */
struct edge {
	int64_t at;
	int change;
};

struct edges {
	struct edge *v;
	size_t nr, cap;
};

static int by_place(const void *a, const void *b)
{
	const struct edge *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return y->change - x->change;	/* both ends belong to an interval */
}

/* The shifts that put this event into this call. */
static int add_interval(struct edges *l, const struct comparison *c, const struct compared_span *e,
			const struct compared_span *call, int64_t earliest, int64_t latest)
{
	int64_t low = (int64_t)(call->begin_ns - e->begin_ns - c->grain_ns), high = (int64_t)(call->end_ns - e->end_ns + c->grain_ns);

	low = low < earliest ? earliest : low;
	high = high > latest ? latest : high;
	if (low > high)
		return 0;
	for (int end = 0; end < 2; end++) {
		if (vec_grow(&l->v, l->nr, &l->cap, sizeof(*l->v)))
			return -ENOMEM;
		l->v[l->nr++] = end ? (struct edge){ high, -1 } : (struct edge){ low, 1 };
	}
	return 0;
}

bool compare_shift(const struct comparison *c, int64_t latest, uint64_t within, int64_t *ret, int *ret_rc)
{
	struct edges l = { 0 };
	int open = 0, most = 0;
	int rc = 0;

	for (size_t i = 0; i < c->nr_events && !rc; i++)
		for (size_t k = 0; k < c->nr_calls && !rc; k++)
			if (c->sites[c->calls[k].of].name == c->events[i].of)
				rc = add_interval(&l, c, &c->events[i], &c->calls[k], latest - (int64_t)within, latest);
	if (l.nr)
		qsort(l.v, l.nr, sizeof(*l.v), by_place);
	for (size_t i = 0; i < l.nr; i++) {
		open += l.v[i].change;
		if (open <= most)
			continue;
		most = open;
		/* in the middle of where so many fit */
		*ret = l.v[i].at + (l.v[i + 1].at - l.v[i].at) / 2;
	}
	free(l.v);
	*ret_rc = rc;
	return !rc && most;
}
