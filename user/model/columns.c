// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Memory of a session's events, and decoding one. */
#include "model/big.h"
#include "model/builder.h"

/* Each column's pointer with the size of its elements. */
#define EACH_COLUMN(c, do) \
	do((c)->when) do((c)->span) do((c)->time) do((c)->overhead) do((c)->blocked) do((c)->spread_low) \
	do((c)->spread_high) do((c)->parent) do((c)->subtree) do((c)->children) do((c)->detail) do((c)->flags)

int columns_alloc(struct columns *c, uint32_t nr, uint32_t nr_metrics)
{
	size_t n = (size_t)nr + 1;	/* prefix sums */
	bool failed = false;

	c->nr = nr;
	c->nr_metrics = nr_metrics;
#define ALLOC(column) failed |= !(column = big_alloc(n * sizeof(*column)));
	EACH_COLUMN(c, ALLOC)
	if (nr_metrics)
		failed |= !(c->metrics = big_alloc(n * nr_metrics * sizeof(*c->metrics)));
	return failed ? -ENOMEM : 0;
}

void columns_free(struct columns *c)
{
	size_t n = (size_t)c->nr + 1;

#define FREE(column) big_free(column, n * sizeof(*column));
	EACH_COLUMN(c, FREE)
	big_free(c->metrics, n * c->nr_metrics * sizeof(*c->metrics));
	free(c->hits);
}

size_t columns_memory(const struct columns *c)
{
	size_t each = 0;

#define ADD(column) each += sizeof(*column);
	EACH_COLUMN(c, ADD)
	return (size_t)c->nr * (each + c->nr_metrics * sizeof(*c->metrics)) + c->nr_hits * sizeof(*c->hits);
}

uint32_t columns_counted_hits(const struct columns *c, uint32_t at)
{
	size_t low = 0, high = c->nr_hits;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (c->hits[middle].position == at)
			return c->hits[middle].hits;
		if (c->hits[middle].position < at)
			low = middle + 1;
		else
			high = middle;
	}
	return 1;
}

static void view_sums(const struct columns *c, uint32_t at, struct event_view *ret)
{
	uint32_t end = at + c->subtree[at];

	ret->time_ns = c->time[at + 1] - c->time[at];
	ret->overhead_ns = c->overhead[at + 1] - c->overhead[at];
	ret->blocked_ns = c->blocked[at + 1] - c->blocked[at];
	ret->agg_time_ns = c->time[end] - c->time[at];
	ret->agg_overhead_ns = c->overhead[end] - c->overhead[at];
	ret->agg_blocked_ns = c->blocked[end] - c->blocked[at];
	/* more than the whole time is no statement */
	ret->uncertainty_ns = min_u64((column_spread(c, end) - column_spread(c, at)) & TIME_MAX,
				      ret->agg_time_ns + ret->agg_overhead_ns);
}

bool session_event(const struct session *s, uint32_t id, struct event_view *ret)
{
	const struct columns *c = &s->columns;
	uint32_t at = id - 1;	/* wraps for 0 */

	if (at >= c->nr)
		return false;
	ret->id = id;
	ret->parent = c->parent[at];
	ret->subtree = c->subtree[at];
	ret->child_count = ret->subtree == 1 ? 0 : c->children[at];
	ret->hits = column_hits(c, at);
	ret->thread = column_thread(c, at);
	ret->probe = column_probe(c, at);
	ret->type = s->tables.types[ret->probe];
	ret->flags = c->flags[at];
	ret->start_ns = column_start(c, at);
	ret->end_ns = column_end(c, at);
	view_sums(c, at, ret);
	ret->detail = &s->details[c->detail[at]];
	ret->metrics = NULL;
	if (c->metrics && c->metrics[(size_t)at * s->tables.info.nr_metrics] != UINT64_MAX)
		ret->metrics = &c->metrics[(size_t)at * s->tables.info.nr_metrics];
	return true;
}
