/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which events a query selects: the filters, and a walk over the events of a timeline that obeys them. */
#ifndef FRAMESCOPE_QUERY_SELECT_H
#define FRAMESCOPE_QUERY_SELECT_H

#include "model/columns.h"
#include "query/events.h"

#define SELECT_MAX_DEPTH 1025	/* no tree is deeper (model/raw.h); a larger maxDepth is none */

struct selection {
	const struct session *session;
	const struct columns *columns;
	const uint8_t *probe_types;
	const struct timeline *timeline;
	uint32_t from, to;	/* positions in pre-order */
	uint32_t max_depth;	/* 0: any */
	uint32_t types;		/* bit per event type */
	bool everything;	/* neither types nor interval select */
	uint64_t start_ns, end_ns;	/* closed */
};

/* Checks a query. ERR_USAGE. */
int select_prepare(const struct session *s, const struct query *q, struct selection *ret, struct error *err);

/* Filters select, they don't prune: a parent that is left out doesn't hide its children. */
static inline bool select_matches(const struct selection *sel, uint32_t at)
{
	const struct columns *c = sel->columns;

	if (sel->everything)
		return true;
	return sel->types >> sel->probe_types[column_probe(c, at)] & 1 && column_start(c, at) <= sel->end_ns &&
	       column_end(c, at) >= sel->start_ns;
}

struct select_walk {
	uint32_t at, depth;	/* depth: of the events around `at` within the depth limit */
	uint32_t ends[SELECT_MAX_DEPTH];
};

/* The next event in pre-order, down to the depth limit, or false. Start from *w = { .at = sel->from }. */
static inline bool select_next(const struct selection *sel, struct select_walk *w, uint32_t *ret)
{
	uint32_t subtree;

	if (w->at >= sel->to)
		return false;
	*ret = w->at;
	if (!sel->max_depth) {
		w->at++;
		return true;
	}
	while (w->depth && w->ends[w->depth - 1] <= w->at)
		w->depth--;
	subtree = sel->columns->subtree[w->at];
	if (w->depth + 1 >= sel->max_depth || subtree == 1) {
		w->at += subtree;
	} else {
		w->ends[w->depth++] = w->at + subtree;
		w->at++;
	}
	return true;
}

#endif
