/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* GetEvents of Profiler 1.1: selecting and reducing events of one timeline (semantics: design §7, scope facts §7). */
#ifndef FRAMESCOPE_QUERY_EVENTS_H
#define FRAMESCOPE_QUERY_EVENTS_H

#include "model/session.h"

struct query {
	uint32_t timeline_id;
	int mode;		/* enum query_mode; 0 means the default, MODE_ALL */
	bool has_event, has_depth, has_start, has_end;
	uint32_t event_id;
	uint32_t max_depth;
	double start_ms, end_ms;	/* closed interval, since the session began */
	uint32_t nr_types;	/* 0: all */
	const uint32_t *types;	/* unknown ones match nothing */
	size_t max_events;	/* MODE_ALL: if there are more, -ENOMEM and nothing; 0: no limit */
	bool no_process;	/* MODE_REDUCE_ALL without the PROCESS event */
};

struct result_event {
	int type;
	double time_ms, overhead_ms;
	uint64_t time_ns, overhead_ns, blocked_ns;
	uint32_t hits;
	bool has_interval;
	uint64_t start_ns, end_ns;
	bool has_tree;		/* MODE_ALL: the five below */
	uint32_t id, parent, child_count;
	uint64_t agg_time_ns, agg_overhead_ns;
	bool has_detail;	/* type-specific message is to be sent: all that it requires is known */
	const struct event_detail *detail;	/* never NULL */
	uint16_t probe;		/* MODE_ALL */
};

struct query_result {
	bool has_interval;
	uint64_t start_ns, end_ns;
	size_t nr;
	struct result_event *events;
};

/*
 * A time of an event for a message Events. Of a very short call all may be subtracted as overhead, but it ran, and 0 means
 * to Dragonfly that it did not: it draws events with time > 0 only, and none at all if all have 0. Such an event has the
 * least that the clock can tell, 1 ns: too little to be seen in any sum. Reductions are sums and stay what they are.
 */
static inline uint64_t message_ns(const struct result_event *e, uint64_t ns)
{
	return e->has_tree && !ns ? 1 : ns;
}

/* ERR_USAGE for what Scope answers with BAD_REQUEST (unknown timeline, event of another timeline, depth 0, inverted
 * interval, NaN, unknown mode). */
int query_events(const struct session *s, const struct query *q, struct query_result *ret, struct error *err);
void query_result_free(struct query_result *r);

#endif
