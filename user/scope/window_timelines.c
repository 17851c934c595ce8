// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Which timelines of a session are a window's, and in which order a client gets them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "scope/events.h"

/* When the session's first navigation began. UINT64_MAX: there was none. */
static uint64_t first_navigation(const struct session *s)
{
	const struct recording_probe *probes;
	const struct session_mark *marks;
	uint64_t first = UINT64_MAX;
	size_t nr_marks, nr_probes;

	marks = session_marks(s, &nr_marks);
	probes = session_probes(s, &nr_probes);
	for (size_t i = 0; i < nr_marks; i++)
		if (marks[i].probe < nr_probes && probes[marks[i].probe].role == ROLE_NAVIGATION && marks[i].ts_ns < first)
			first = marks[i].ts_ns;
	return first;
}

/* When a process's first event began. UINT64_MAX: it has none. */
static uint64_t first_event(const struct session *s, const struct timeline *t, size_t nr, uint32_t process)
{
	uint64_t first = UINT64_MAX;
	struct event_view e;

	for (size_t i = 0; i < nr; i++)
		if (t[i].process == process && t[i].nr_events && session_event(s, t[i].first_id, &e) && e.start_ns < first)
			first = e.start_ns;
	return first;
}

/* How fit a timeline is to be the first: clients take that for the main frame's, and some show no other. */
static unsigned int rank(const struct timeline *t)
{
	return (t->main && t->nr_events ? 4 : 0) + (t->main ? 2 : 0) + (t->nr_events ? 1 : 0);
}

/* Among equals the busiest: a page that was left does less than the one that came. */
static bool is_better(const struct timeline *a, const struct timeline *b)
{
	return rank(a) > rank(b) || (rank(a) == rank(b) && a->nr_events > b->nr_events);
}

static void put_best_first(struct window_timelines *w)
{
	size_t best = 0;
	const struct timeline *t;

	for (size_t i = 1; i < w->nr; i++)
		if (is_better(w->timelines[i], w->timelines[best]))
			best = i;
	t = w->timelines[best];
	memmove(w->timelines + 1, w->timelines, best * sizeof(*w->timelines));
	w->timelines[0] = t;
}

int window_timelines_find(const struct session *s, uint32_t pid, struct window_timelines *ret)
{
	const struct recording_process *procs;
	const struct timeline *t;
	uint64_t navigation = first_navigation(s);
	size_t n, nr_procs;

	t = session_timelines(s, &n);
	procs = session_processes(s, &nr_procs);
	*ret = (struct window_timelines){ .timelines = calloc(n + 1, sizeof(*ret->timelines)) };
	if (!ret->timelines)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		uint64_t first;

		if (pid && (t[i].process >= nr_procs || procs[t[i].process].pid != pid)) {
			first = first_event(s, t, n, t[i].process);
			if (first == UINT64_MAX || first < navigation)
				continue;
		}
		ret->timelines[ret->nr++] = &t[i];
	}
	if (ret->nr) {
		if (pid)	/* else the session's own order is the right one */
			put_best_first(ret);
		return 0;
	}
	for (size_t i = 0; i < n; i++)
		if (t[i].id > ret->empty_id)
			ret->empty_id = t[i].id;
	ret->empty_id++;
	return 0;
}

void window_timelines_free(struct window_timelines *w)
{
	free(w->timelines);
}
