// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The table of what one probed call costs over time. */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include "model/cost.h"

/* A cost beyond this is no measurement; it also keeps the sums over all events inside 64 bits. */
#define COST_MAX_NS 100000000ull

#define AROUND 5	/* measurements before and after one that have a say in it */

void cost_table_free(struct cost_table *t)
{
	for (int i = 0; i < COST_CLASSES; i++)
		free(t->class[i].items);
}

int cost_table_add(struct cost_table *t, int64_t ts_ns, const struct rec_cost *rec)
{
	struct cost cost = {
		.ts_ns = ts_ns,
		.inner_ns = min_u64(rec->inner_ns, COST_MAX_NS),
		.outer_ns = min_u64(rec->outer_ns, COST_MAX_NS),
		.spread_ns = min_u64(rec->spread_ns, COST_MAX_NS),
	};

	if (rec->cost_class >= COST_CLASSES)
		return 0;
	return VEC_PUSH(&t->class[rec->cost_class], cost);
}

static int by_time(const void *a, const void *b)
{
	const struct cost *x = a, *y = b;

	return x->ts_ns < y->ts_ns ? -1 : x->ts_ns > y->ts_ns;
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* The median of one of its figures over the measurements from `first` on. */
static uint64_t median(const struct cost *first, size_t nr, size_t figure)
{
	uint64_t v[2 * AROUND + 1];

	for (size_t i = 0; i < nr; i++)
		memcpy(&v[i], (const char *)&first[i] + figure, sizeof(v[i]));
	qsort(v, nr, sizeof(*v), by_value);
	return v[nr / 2];
}

/* Half the distance of the quartiles of what they say a call costs. */
static uint64_t scatter(const struct cost *first, size_t nr)
{
	uint64_t v[2 * AROUND + 1];

	for (size_t i = 0; i < nr; i++)
		v[i] = first[i].inner_ns + first[i].outer_ns;
	qsort(v, nr, sizeof(*v), by_value);
	return (v[nr * 3 / 4] - v[nr / 4]) / 2;
}

/* A single burst may be out by a lot: each figure becomes the median of those around it. */
static int smooth(struct cost *items, size_t nr)
{
	struct cost *copy = malloc(nr * sizeof(*copy));

	if (!copy)
		return -ENOMEM;
	memcpy(copy, items, nr * sizeof(*copy));
	for (size_t i = 0; i < nr; i++) {
		/* as many before as after, or a slope would be bent */
		size_t each = min_u64(AROUND, min_u64(i, nr - 1 - i)), from = i - each, to = i + each + 1;

		items[i].inner_ns = median(copy + from, to - from, offsetof(struct cost, inner_ns));
		items[i].outer_ns = median(copy + from, to - from, offsetof(struct cost, outer_ns));
		/* calls within a burst are more alike than bursts */
		items[i].spread_ns = max_u64(items[i].spread_ns, scatter(copy + from, to - from));
	}
	free(copy);
	return 0;
}

int cost_table_sort(struct cost_table *t)
{
	int rc = 0;

	for (int i = 0; i < COST_CLASSES && !rc; i++) {
		if (!t->class[i].nr)
			continue;
		qsort(t->class[i].items, t->class[i].nr, sizeof(struct cost), by_time);
		rc = smooth(t->class[i].items, t->class[i].nr);
	}
	return rc;
}

/* Up to which time the measurement before `at` is nearer than that one. */
static uint64_t border(const struct cost *items, size_t at)
{
	int64_t middle = items[at - 1].ts_ns + (items[at].ts_ns - items[at - 1].ts_ns) / 2;

	return middle < 0 ? 0 : (uint64_t)middle + 1;
}

void cost_seek(struct cost_cursor *c, unsigned int class, uint64_t start_ns)
{
	struct cost_now *now = &c->now[class];
	const struct cost *items = c->table->class[class].items;
	size_t nr = c->table->class[class].nr, at = now->at;

	while (at > 0 && border(items, at) > start_ns)
		at--;
	while (at + 1 < nr && border(items, at + 1) <= start_ns)
		at++;
	now->at = at;
	now->from_ns = at ? border(items, at) : 0;
	now->until_ns = at + 1 < nr ? border(items, at + 1) : UINT64_MAX;
	if (nr)
		now->cost = items[at];
}
