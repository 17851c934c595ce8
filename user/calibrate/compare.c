// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Pairs calls with events, chooses between candidates, and says what is equal and what is not. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "calibrate/compare.h"

#define NONE SIZE_MAX

/* Some sites' calls and one name's events, and who has whom. */
struct pairing {
	struct comparison *c;
	struct compared_call *calls;	/* by thread and begin */
	size_t nr_calls;
	const struct compared_event *events;	/* the same order */
	size_t nr_events;
	size_t *event_of;	/* per call; NONE */
	size_t *active;		/* calls that have begun and not ended, for the sweep */
	size_t missing;		/* events of the window in no call */
};

/* How one site fared in a pairing. */
struct fared {
	uint32_t calls, events;	/* in the window */
	uint64_t total_ns;	/* of its calls */
};

static int by_begin(const void *a, const void *b)
{
	const struct compared_call *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	if (x->begin_ns != y->begin_ns)
		return x->begin_ns < y->begin_ns ? -1 : 1;
	return x->end_ns > y->end_ns ? -1 : x->end_ns < y->end_ns;
}

static int by_name(const void *a, const void *b)
{
	const struct compared_event *x = a, *y = b;

	if (x->name != y->name)
		return x->name < y->name ? -1 : 1;
	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	if (x->begin_ns != y->begin_ns)
		return x->begin_ns < y->begin_ns ? -1 : 1;
	return x->end_ns > y->end_ns ? -1 : x->end_ns < y->end_ns;
}

static bool in_window(const struct comparison *c, uint64_t begin_ns, uint64_t end_ns)
{
	return begin_ns >= c->begin_ns && end_ns <= c->end_ns;
}

/* Of the active calls, the unused one that holds the event, the closest around it: recursion pairs from the outside in, but
 * an event belongs to the innermost function. */
static size_t closest(const struct pairing *p, size_t nr_active, const struct compared_event *e)
{
	uint64_t grain = p->c->grain_ns, least = UINT64_MAX;
	size_t best = NONE;

	for (size_t i = 0; i < nr_active; i++) {
		const struct compared_call *call = &p->calls[p->active[i]];
		uint64_t size = call->end_ns - call->begin_ns;

		if (call->end_ns + grain >= e->end_ns && size < least) {
			least = size;
			best = p->active[i];
		}
	}
	return best;
}

static void pair(struct pairing *p)
{
	uint64_t grain = p->c->grain_ns;
	size_t next = 0, nr_active = 0;

	for (size_t i = 0; i < p->nr_calls; i++)
		p->event_of[i] = NONE;
	p->missing = 0;
	for (size_t i = 0; i < p->nr_events; i++) {
		const struct compared_event *e = &p->events[i];
		size_t kept = 0, best;

		if (!i || e[-1].tid != e->tid) {
			nr_active = 0;
			while (next < p->nr_calls && p->calls[next].tid < e->tid)
				next++;
		}
		while (next < p->nr_calls && p->calls[next].tid == e->tid && p->calls[next].begin_ns <= e->begin_ns + grain)
			p->active[nr_active++] = next++;
		for (size_t k = 0; k < nr_active; k++)
			if (p->event_of[p->active[k]] == NONE && p->calls[p->active[k]].end_ns + grain >= e->begin_ns)
				p->active[kept++] = p->active[k];
		nr_active = kept;
		best = closest(p, nr_active, e);
		if (best != NONE)
			p->event_of[best] = i;
		else
			p->missing += in_window(p->c, e->begin_ns, e->end_ns);
	}
}

static int pairing_begin(struct pairing *p, struct comparison *c)
{
	*p = (struct pairing){ .c = c, .calls = calloc(c->nr_calls + 1, sizeof(*p->calls)),
			       .event_of = calloc(c->nr_calls + 1, sizeof(*p->event_of)),
			       .active = calloc(c->nr_calls + 1, sizeof(*p->active)) };
	return p->calls && p->event_of && p->active ? 0 : -ENOMEM;
}

static void pairing_end(struct pairing *p)
{
	free(p->calls);
	free(p->event_of);
	free(p->active);
}

/* Calls of the sites that are chosen. */
static void take_calls(struct pairing *p, const bool *chosen)
{
	p->nr_calls = 0;
	for (size_t i = 0; i < p->c->nr_calls; i++)
		if (chosen[p->c->calls[i].site])
			p->calls[p->nr_calls++] = p->c->calls[i];
}

static void take_events(struct pairing *p, uint32_t name)
{
	size_t first = 0;

	while (first < p->c->nr_events && p->c->events[first].name < name)
		first++;
	p->events = p->c->events + first;
	for (p->nr_events = 0; first + p->nr_events < p->c->nr_events && p->events[p->nr_events].name == name;)
		p->nr_events++;
}

static struct fared fared(const struct pairing *p, uint32_t site)
{
	struct fared f = { 0 };

	for (size_t i = 0; i < p->nr_calls; i++) {
		const struct compared_call *call = &p->calls[i];

		if (call->site != site || !in_window(p->c, call->begin_ns, call->end_ns))
			continue;
		f.calls++;
		f.events += p->event_of[i] != NONE;
		f.total_ns += call->end_ns - call->begin_ns;
	}
	return f;
}

/* The one of a probe's candidates whose calls hold an event each, with the fewest events left over, and of those the
 * closest around them: whatever calls the function holds them, too. Its index, or NONE. */
static size_t choose(struct pairing *p, uint32_t probe, bool *chosen)
{
	const struct comparison *c = p->c;
	size_t best = NONE, least = 0;
	uint64_t total = 0;

	for (size_t i = 0; i < c->nr_sites; i++) {
		struct fared f;

		if (c->sites[i].probe != probe || c->sites[i].idle)
			continue;
		memset(chosen, 0, c->nr_sites * sizeof(*chosen));
		chosen[i] = true;
		take_calls(p, chosen);
		pair(p);
		f = fared(p, i);
		if (!f.calls || f.calls != f.events)
			continue;
		if (best == NONE || p->missing < least || (p->missing == least && f.total_ns < total)) {
			best = i;
			least = p->missing;
			total = f.total_ns;
		}
	}
	return best;
}

static size_t candidates(const struct comparison *c, uint32_t probe)
{
	size_t nr = 0;

	for (size_t i = 0; i < c->nr_sites; i++)
		nr += c->sites[i].probe == probe;
	return nr;
}

/* Candidates of one probe become one, where one of them is right. */
static void settle_candidates(struct pairing *p, uint32_t name, bool *chosen)
{
	struct comparison *c = p->c;

	for (size_t i = 0; i < c->nr_sites; i++) {
		struct compared_site *s = &c->sites[i];
		bool first = s->name == name;
		size_t best, nr;

		for (size_t k = 0; k < i && first; k++)
			first = c->sites[k].probe != s->probe;
		nr = first ? candidates(c, s->probe) : 0;
		if (nr < 2)
			continue;
		best = choose(p, s->probe, chosen);
		for (size_t k = i; k < c->nr_sites && best != NONE; k++)
			if (c->sites[k].probe == s->probe && k != best) {
				c->sites[k].verdict = COMPARE_OTHER;
				snprintf(c->sites[k].text, sizeof(c->sites[k].text), "another of %zu candidates is the one", nr);
			}
	}
}

static bool is_open(const struct comparison *c, uint32_t name)
{
	return c->open_names && c->open_names[name];
}

static void judge(struct comparison *c, const struct pairing *p, size_t site, size_t nr_sharing)
{
	struct compared_site *s = &c->sites[site];
	struct fared f = fared(p, site);
	size_t missing = is_open(c, s->name) ? 0 : p->missing;

	s->calls = f.calls;
	s->events = f.events;
	if (!f.calls && !(missing && nr_sharing == 1)) {
		snprintf(s->text, sizeof(s->text), "not compared: the pages did not call it");
		return;
	}
	s->verdict = f.calls != f.events || missing || s->idle ? COMPARE_DROPPED : COMPARE_EQUAL;
	if (s->idle && f.calls)
		snprintf(s->text, sizeof(s->text), "%u calls, but none at all without the %s", f.calls, c->what);
	else if (!f.calls)
		snprintf(s->text, sizeof(s->text), "no calls, but %zu events in the %s", missing, c->what);
	else if (f.calls != f.events)
		snprintf(s->text, sizeof(s->text), "%u calls, %u of them outside any event of the %s", f.calls, f.calls - f.events, c->what);
	else if (missing)
		snprintf(s->text, sizeof(s->text), "%u calls, but %zu events of the %s are in none", f.calls, missing, c->what);
	else
		snprintf(s->text, sizeof(s->text), "calls %u = %s %u", f.calls, c->what, f.events);
}

static void compare_name(struct pairing *p, uint32_t name, bool *chosen)
{
	struct comparison *c = p->c;
	size_t nr = 0;

	take_events(p, name);
	if (!p->nr_events) {
		for (size_t i = 0; i < c->nr_sites; i++)
			if (c->sites[i].name == name)
				snprintf(c->sites[i].text, sizeof(c->sites[i].text), "not compared: the %s has no such event", c->what);
		return;
	}
	settle_candidates(p, name, chosen);
	for (size_t i = 0; i < c->nr_sites; i++) {
		chosen[i] = c->sites[i].name == name && c->sites[i].verdict != COMPARE_OTHER;
		nr += chosen[i];
	}
	take_calls(p, chosen);
	pair(p);
	for (size_t i = 0; i < c->nr_sites; i++)
		if (chosen[i])
			judge(c, p, i, nr);
}

int compare_calls(struct comparison *c)
{
	bool *chosen = calloc(c->nr_sites + 1, sizeof(*chosen));
	struct pairing p;
	int rc = pairing_begin(&p, c);

	if (!chosen)
		rc = -ENOMEM;
	if (c->nr_calls)
		qsort(c->calls, c->nr_calls, sizeof(*c->calls), by_begin);
	if (c->nr_events)
		qsort(c->events, c->nr_events, sizeof(*c->events), by_name);
	for (size_t i = 0; i < c->nr_sites; i++) {
		c->sites[i].verdict = COMPARE_NOT;
		snprintf(c->sites[i].text, sizeof(c->sites[i].text), "not compared: the browser does not report it");
	}
	for (size_t i = 0; i < c->nr_sites && !rc; i++) {
		bool first = c->sites[i].name != COMPARE_NO_NAME;

		for (size_t k = 0; k < i && first; k++)
			first = c->sites[k].name != c->sites[i].name;
		if (first)
			compare_name(&p, c->sites[i].name, chosen);
	}
	pairing_end(&p);
	free(chosen);
	return rc;
}
