// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* GetEvents: one entry for all modes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "query/message.h"
#include "query/reduce.h"

/* MODE_ALL: each event as it is. */
static void fill_event(const struct session *s, uint32_t id, struct result_event *ret)
{
	struct event_view e;

	session_event(s, id, &e);
	*ret = (struct result_event){
		.type = e.type,
		.time_ns = e.time_ns, .overhead_ns = e.overhead_ns, .blocked_ns = e.blocked_ns,
		.hits = e.hits,
		.has_interval = true, .start_ns = e.start_ns, .end_ns = e.end_ns,
		.has_tree = true, .id = e.id, .parent = e.parent, .child_count = e.child_count,
		.agg_time_ns = e.agg_time_ns, .agg_overhead_ns = e.agg_overhead_ns,
		.has_detail = message_present(e.type, e.detail), .detail = e.detail,
		.probe = e.probe,
	};
}

/* Counted first: growing an array of many millions would copy more than the counting costs. */
static int list_events(const struct selection *sel, size_t max, struct query_result *ret)
{
	struct select_walk count = { .at = sel->from }, w = count;
	size_t nr = 0;
	uint32_t at;

	while (select_next(sel, &count, &at))
		nr += select_matches(sel, at);
	if (max && nr > max)
		return -ENOMEM;
	if (!nr)
		return 0;
	ret->events = malloc(nr * sizeof(*ret->events));
	if (!ret->events)
		return -ENOMEM;
	while (select_next(sel, &w, &at))
		if (select_matches(sel, at))
			fill_event(sel->session, at + 1, &ret->events[ret->nr++]);
	return 0;
}

/* Not a tree event: the process's CPU clock over the whole recording, whatever was selected. */
static void add_process(const struct selection *sel, struct query_result *ret)
{
	const struct recording_info *info = session_info(sel->session);
	struct result_event *e = &ret->events[ret->nr];
	uint64_t cpu_ns;
	uint32_t nr;

	if (!(sel->types >> EVENT_PROCESS & 1) ||
	    !session_process_cpu_ns(sel->session, sel->timeline->process, &cpu_ns))
		return;
	*e = (struct result_event){
		.type = EVENT_PROCESS, .time_ns = cpu_ns, .hits = 1, .has_interval = true,
		.end_ns = info->end_ns > info->begin_ns ? info->end_ns - info->begin_ns : 0,
		.detail = session_details(sel->session, &nr),
	};
	ret->nr++;
}

/* Increasing starts; equal ones parents first, reduced ones by type. */
static int by_start(const void *a, const void *b)
{
	const struct result_event *x = a, *y = b;

	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	if (!x->has_tree && x->type != y->type)
		return x->type < y->type ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

static void finish(struct query_result *ret)
{
	bool sorted = true;

	for (size_t i = 1; i < ret->nr && sorted; i++)
		sorted = by_start(&ret->events[i - 1], &ret->events[i]) <= 0;
	if (!sorted)
		qsort(ret->events, ret->nr, sizeof(*ret->events), by_start);
	for (size_t i = 0; i < ret->nr; i++) {
		struct result_event *e = &ret->events[i];

		e->time_ms = e->time_ns / 1e6;
		e->overhead_ms = e->overhead_ns / 1e6;
		if (!e->has_tree)
			e->id = 0;
		ret->start_ns = !i || e->start_ns < ret->start_ns ? e->start_ns : ret->start_ns;
		ret->end_ns = e->end_ns > ret->end_ns ? e->end_ns : ret->end_ns;
	}
	ret->has_interval = ret->nr;
}

int query_events(const struct session *s, const struct query *q, struct query_result *ret, struct error *err)
{
	struct query_result result = { 0 };
	struct selection sel;
	int rc = select_prepare(s, q, &sel, err);

	if (rc)
		return rc;
	switch (q->mode) {
	case MODE_REDUCE_UNIQUE_TYPES:
		rc = reduce_types(&sel, &result);
		break;
	case MODE_REDUCE_UNIQUE_EVENTS:
		rc = reduce_events(&sel, &result);
		break;
	case MODE_REDUCE_ALL:
		rc = reduce_all(&sel, &result);
		if (!rc && !q->has_event && !q->no_process)
			add_process(&sel, &result);
		break;
	default:
		rc = list_events(&sel, q->max_events, &result);
	}
	if (rc) {
		query_result_free(&result);
		return error_set(err, ERR_OTHER, rc, "not enough memory for the answer; ask for fewer events");
	}
	finish(&result);
	*ret = result;
	return 0;
}

void query_result_free(struct query_result *r)
{
	free(r->events);
	memset(r, 0, sizeof(*r));
}
