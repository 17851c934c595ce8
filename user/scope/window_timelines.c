// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Which timelines of a session are a window's. A session holds those of all of the target's processes; a window's are
 * those of its own process. Browsers move a page to another process when it goes to another site, so a process belongs,
 * too, if it began to work after a navigation was seen and parsed a document.
 */
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

static bool has_parsed(const struct session *s, const struct timeline *t)
{
	static const uint32_t parsing = EVENT_DOCUMENT_PARSING;
	struct query q = { .timeline_id = t->id, .mode = MODE_REDUCE_UNIQUE_TYPES, .nr_types = 1, .types = &parsing };
	struct query_result r = { 0 };
	bool found;

	if (query_events(s, &q, &r, NULL))
		return false;
	found = r.nr;
	query_result_free(&r);
	return found;
}

static bool was_navigated_into(const struct session *s, uint32_t process, uint64_t navigation)
{
	const struct timeline *t;
	bool parsed = false;
	size_t n;

	t = session_timelines(s, &n);
	for (size_t i = 0; i < n; i++) {
		struct event_view e;

		if (t[i].process != process || !t[i].nr_events || !session_event(s, t[i].first_id, &e))
			continue;
		if (e.start_ns < navigation)
			return false;
		parsed = parsed || has_parsed(s, &t[i]);
	}
	return parsed;
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

static void put_best_first(const struct timeline *t, uint32_t *indices, size_t nr)
{
	size_t best = 0;
	uint32_t index;

	for (size_t i = 1; i < nr; i++)
		if (is_better(&t[indices[i]], &t[indices[best]]))
			best = i;
	index = indices[best];
	memmove(indices + 1, indices, best * sizeof(*indices));
	indices[0] = index;
}

int window_timelines(const struct session *s, uint32_t pid, uint32_t **ret, size_t *ret_nr)
{
	const struct recording_process *procs;
	uint64_t navigation = pid ? first_navigation(s) : 0;
	const struct timeline *t;
	size_t n, nr_procs, nr = 0;
	uint32_t *indices;

	t = session_timelines(s, &n);
	procs = session_processes(s, &nr_procs);
	indices = calloc(n + 1, sizeof(*indices));
	if (!indices)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		if (!pid || (t[i].process < nr_procs && procs[t[i].process].pid == pid) ||
		    was_navigated_into(s, t[i].process, navigation))
			indices[nr++] = i;
	if (pid && nr)	/* of all processes, the session's own order is the right one */
		put_best_first(t, indices, nr);
	*ret = indices;
	*ret_nr = nr;
	return 0;
}
