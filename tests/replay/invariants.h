/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What holds for every session, whatever records it was made of. Returns NULL, or what doesn't. */
#ifndef FRAMESCOPE_TESTS_REPLAY_INVARIANTS_H
#define FRAMESCOPE_TESTS_REPLAY_INVARIANTS_H

#include <stdlib.h>
#include "model/session.h"

/* What the stream had beside calls: then less can be said. */
struct invariants {
	bool moved;	/* events of several frames on one thread, or several stacks: not all time stands in the tree */
	bool hidden;	/* script callers: their own time is nobody's */
};

struct thread_event {
	struct event_view e;
	uint64_t own;	/* self + overhead + blocked */
};

static int by_nesting(const void *a, const void *b)
{
	const struct event_view *x = &((const struct thread_event *)a)->e, *y = &((const struct thread_event *)b)->e;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	if (x->end_ns != y->end_ns)
		return x->end_ns > y->end_ns ? -1 : 1;
	return x->id < y->id ? -1 : 1;
}

/* Intervals of one thread are nested or disjoint, and what its events have themselves covers them. */
static const char *check_threads(struct thread_event *v, size_t nr, const struct invariants *inv)
{
	uint64_t *ends = malloc((nr + 1) * sizeof(*ends)), covered = 0, own = 0;
	const char *wrong = NULL;
	bool aggregates = false;
	size_t depth = 0;

	qsort(v, nr, sizeof(*v), by_nesting);
	for (size_t i = 0; i < nr && !wrong; i++) {
		const struct event_view *e = &v[i].e;

		if (i && e->thread != v[i - 1].e.thread)
			depth = 0;
		own += v[i].own;
		if (!(e->flags & EV_AGGREGATE)) {
			while (depth && ends[depth - 1] <= e->start_ns)
				depth--;
			if (depth && e->end_ns > ends[depth - 1])
				wrong = "intervals of a thread overlap";
			if (!depth)
				covered += e->end_ns - e->start_ns;
			ends[depth++] = e->end_ns;
		}
		aggregates |= e->flags & EV_AGGREGATE;
		if (i + 1 == nr || v[i + 1].e.thread != e->thread) {
			/* aggregates without any caller come on top */
			if (!inv->hidden && (own < covered || (own > covered && !aggregates)))
				wrong = "a thread's times don't add up to its intervals";
			covered = own = 0;
			aggregates = false;
		}
	}
	free(ends);
	return wrong;
}

static const char *check_event(const struct session *s, const struct timeline *t, const struct event_view *e,
			       const struct invariants *inv, struct thread_event *ret)
{
	uint64_t wall = e->end_ns - e->start_ns, children = 0, time = e->time_ns, overhead = e->overhead_ns;
	uint32_t nr = 0, end = e->id + e->subtree;
	struct event_view c;

	ret->e = *e;
	ret->own = e->time_ns + e->overhead_ns + e->blocked_ns;
	if (e->end_ns < e->start_ns)
		return "an event ends before it starts";
	if (e->time_ns > wall || e->overhead_ns > wall || e->blocked_ns > wall || ret->own > wall)
		return "an event has more time than its interval";
	if (!e->subtree || end - t->first_id > t->nr_events)
		return "a subtree reaches beyond its timeline";
	for (uint32_t id = e->id + 1; id < end; id += c.subtree) {
		if (!session_event(s, id, &c) || !c.subtree || c.parent != e->id)
			return "a child has another parent";
		if (c.start_ns < e->start_ns || c.end_ns > e->end_ns)
			return "a child lies outside of its parent";
		children += c.agg_time_ns + c.agg_overhead_ns + c.agg_blocked_ns;
		time += c.agg_time_ns;
		overhead += c.agg_overhead_ns;
		nr++;
	}
	if (nr != e->child_count)
		return "childCount is wrong";
	if (time != e->agg_time_ns || overhead != e->agg_overhead_ns)
		return "an aggregate is not the sum";
	if (ret->own + children > wall)
		return "self, overhead, blocked and children are more than the interval";
	if (!inv->moved && !(e->flags & EV_AGGREGATE) && ret->own + children != wall)
		return "self, overhead, blocked and children are not the interval";
	return NULL;
}

static const char *invariants_check(const struct session *s, const struct invariants *inv)
{
	const struct timeline *t;
	const char *wrong = NULL;
	struct thread_event *all;
	uint32_t next = 1;
	size_t nr, used = 0, nr_threads, nr_probes;

	session_threads(s, &nr_threads);
	session_probes(s, &nr_probes);
	t = session_timelines(s, &nr);
	all = malloc((session_get_counts(s)->events + 1) * sizeof(*all));
	if (!nr)
		return "there is no timeline";
	for (size_t i = 0; i < nr && !wrong; i++) {
		if (!t[i].id || t[i].first_id != next)
			wrong = "ids are not in the order of the timelines";
		next = t[i].first_id + t[i].nr_events;
		for (uint32_t id = t[i].first_id; id < next && !wrong; id++) {
			struct event_view e;

			if (!session_event(s, id, &e) || e.id != id || e.thread >= nr_threads ||
			    e.probe >= nr_probes || !e.detail)
				wrong = "an event can't be read";
			else
				wrong = check_event(s, &t[i], &e, inv, &all[used++]);
		}
	}
	if (!wrong && used != session_get_counts(s)->events)
		wrong = "events are missing from the timelines";
	if (!wrong)
		wrong = check_threads(all, used, inv);
	free(all);
	return wrong;
}

#endif
