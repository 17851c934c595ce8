// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Which timelines of a session are a window's. A session holds those of all of the target's processes; a window's are
 * those of its own process. Browsers move a page to another process when it goes to another site, so a process belongs,
 * too, if it began to work after a navigation was seen and parsed a document, while the window's own process worked on no
 * more: else it is another window that was opened meanwhile.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "scope/events.h"

/* A page that is left may still run its last handlers, and on a busy machine they come late. */
#define LEAVING_NS 1000000000u

/* The first navigation of the session, or NULL. Frames of the page that it is to navigate after it. */
static const struct session_mark *first_navigation(const struct session *s)
{
	const struct recording_probe *probes;
	const struct session_mark *marks, *first = NULL;
	size_t nr_marks, nr_probes;

	marks = session_marks(s, &nr_marks);
	probes = session_probes(s, &nr_probes);
	for (size_t i = 0; i < nr_marks; i++)
		if (marks[i].probe < nr_probes && probes[marks[i].probe].role == ROLE_NAVIGATION &&
		    (!first || marks[i].ts_ns < first->ts_ns))
			first = &marks[i];
	return first;
}

/* When a document was first parsed in a timeline; UINT64_MAX: none was. Where this build's URLs can be read, documents
 * without one don't count: nobody navigated to them. */
static uint64_t first_parsing(const struct session *s, const struct timeline *t, bool urls_known)
{
	static const uint32_t parsing = EVENT_DOCUMENT_PARSING;
	struct query q = { .timeline_id = t->id, .mode = MODE_REDUCE_UNIQUE_TYPES, .nr_types = 1, .types = &parsing };
	struct query_result r = { 0 };
	uint64_t first;

	if ((urls_known && !t->url) || query_events(s, &q, &r, NULL))
		return UINT64_MAX;
	first = r.nr ? r.start_ns : UINT64_MAX;
	query_result_free(&r);
	return first;
}

static uint64_t first_start(const struct session *s, const struct timeline *t)
{
	struct event_view e;

	return t->nr_events && session_event(s, t->first_id, &e) ? e.start_ns : 0;
}

/* The start of the last event on the top level. */
static uint64_t last_start(const struct session *s, const struct timeline *t)
{
	uint64_t last = 0;
	struct event_view e;

	for (uint32_t id = t->first_id; id < t->first_id + t->nr_events && session_event(s, id, &e); id += e.subtree)
		last = e.start_ns > last ? e.start_ns : last;
	return last;
}

static bool is_process(const struct session *s, const struct timeline *t, uint32_t pid)
{
	const struct recording_process *procs;
	size_t nr;

	procs = session_processes(s, &nr);
	return t->process < nr && procs[t->process].pid == pid;
}

/* Of all processes, what is needed to tell where a window's page went. */
struct whereabouts {
	bool urls_known;
	uint64_t own_last_ns;	/* when the window's own process began its last event */
	uint64_t navigated_ns;
};

static bool was_navigated_into(const struct session *s, uint32_t process, const struct whereabouts *w)
{
	uint64_t parsed = UINT64_MAX;
	const struct timeline *t;
	size_t n;

	t = session_timelines(s, &n);
	for (size_t i = 0; i < n; i++) {
		uint64_t first;

		if (t[i].process != process || !t[i].nr_events)
			continue;
		if (first_start(s, &t[i]) < w->navigated_ns)
			return false;
		first = first_parsing(s, &t[i], w->urls_known);
		parsed = first < parsed ? first : parsed;
	}
	return parsed != UINT64_MAX && w->own_last_ns < parsed + LEAVING_NS;
}

static struct whereabouts find_whereabouts(const struct session *s, uint32_t pid, const struct session_mark *navigation)
{
	struct whereabouts w = { .navigated_ns = navigation->ts_ns };
	const struct timeline *t;
	size_t n;

	t = session_timelines(s, &n);
	for (size_t i = 0; i < n; i++) {
		uint64_t last = is_process(s, &t[i], pid) ? last_start(s, &t[i]) : 0;

		w.urls_known = w.urls_known || t[i].url;
		w.own_last_ns = last > w.own_last_ns ? last : w.own_last_ns;
	}
	return w;
}

static bool is_there(const struct timeline *t, const char *destination)
{
	return destination && t->url && t->nr_events && !strcmp(t->url, destination);
}

/* Clients take the first one for the main frame's, and some show no other. The document that was navigated to counts most,
 * of several such the latest: browsers may put it into a new frame, of which nobody says that it is the main one. */
static bool is_better(const struct session *s, const struct timeline *a, const struct timeline *b, const char *destination)
{
	bool x = is_there(a, destination), y = is_there(b, destination);

	if (x && y)
		return first_start(s, a) > first_start(s, b);
	return x != y ? x : timeline_better(a, b);
}

static void put_best_first(const struct session *s, const struct timeline *t, uint32_t *indices, size_t nr,
			   const char *destination)
{
	size_t best = 0;
	uint32_t index;

	for (size_t i = 1; i < nr; i++)
		if (is_better(s, &t[indices[i]], &t[indices[best]], destination))
			best = i;
	index = indices[best];
	memmove(indices + 1, indices, best * sizeof(*indices));
	indices[0] = index;
}

int window_timelines(const struct session *s, uint32_t pid, uint32_t **ret, size_t *ret_nr)
{
	const struct session_mark *navigation = first_navigation(s);
	struct whereabouts w = { 0 };
	const struct timeline *t;
	size_t n, nr = 0;
	uint32_t *indices;

	t = session_timelines(s, &n);
	indices = calloc(n + 1, sizeof(*indices));
	if (!indices)
		return -ENOMEM;
	if (navigation)
		w = find_whereabouts(s, pid, navigation);
	for (size_t i = 0; i < n; i++)
		if (!pid || is_process(s, &t[i], pid) || (navigation && was_navigated_into(s, t[i].process, &w)))
			indices[nr++] = i;
	if (pid && nr)	/* of all processes, the session's own order is the right one */
		put_best_first(s, t, indices, nr, navigation ? navigation->detail->url : NULL);
	*ret = indices;
	*ret_nr = nr;
	return 0;
}
