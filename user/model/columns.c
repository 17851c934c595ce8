// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Memory of a session's events, and decoding one. */
#include <string.h>
#include "model/builder.h"

int columns_alloc(struct columns *c, uint32_t nr, uint32_t nr_metrics)
{
	size_t n = (size_t)nr + 1;	/* prefix sums; and malloc(0) is no error */

	c->nr = nr;
	c->when = malloc(n * sizeof(*c->when));
	c->span = malloc(n * sizeof(*c->span));
	c->time = malloc(n * sizeof(*c->time));
	c->overhead = malloc(n * sizeof(*c->overhead));
	c->blocked = malloc(n * sizeof(*c->blocked));
	c->spread_low = malloc(n * sizeof(*c->spread_low));
	c->spread_high = malloc(n * sizeof(*c->spread_high));
	c->parent = malloc(n * sizeof(*c->parent));
	c->subtree = malloc(n * sizeof(*c->subtree));
	c->children = malloc(n * sizeof(*c->children));
	c->detail = malloc(n * sizeof(*c->detail));
	c->flags = malloc(n * sizeof(*c->flags));
	if (nr_metrics)
		c->metrics = malloc(n * nr_metrics * sizeof(*c->metrics));
	if (!c->when || !c->span || !c->time || !c->overhead || !c->blocked || !c->spread_low || !c->spread_high ||
	    !c->parent || !c->subtree || !c->children || !c->detail || !c->flags || (nr_metrics && !c->metrics))
		return -ENOMEM;
	return 0;
}

void columns_free(struct columns *c)
{
	free(c->when);
	free(c->span);
	free(c->time);
	free(c->overhead);
	free(c->blocked);
	free(c->spread_low);
	free(c->spread_high);
	free(c->parent);
	free(c->subtree);
	free(c->children);
	free(c->detail);
	free(c->flags);
	free(c->hits);
	free(c->metrics);
}

size_t columns_memory(const struct columns *c, uint32_t nr_metrics)
{
	size_t each = sizeof(*c->when) + sizeof(*c->span) + sizeof(*c->time) + sizeof(*c->overhead) +
		      sizeof(*c->blocked) + sizeof(*c->spread_low) + sizeof(*c->spread_high) + sizeof(*c->parent) +
		      sizeof(*c->subtree) + sizeof(*c->children) + sizeof(*c->detail) + sizeof(*c->flags);

	return (size_t)c->nr * (each + (c->metrics ? nr_metrics * sizeof(*c->metrics) : 0)) +
	       c->nr_hits * sizeof(*c->hits);
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
