// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Pairs calls with events, chooses between candidates, and says what is equal and what is not. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "calibrate/compare.h"

#define NONE SIZE_MAX

struct spans {
	const struct compared_span *v;	/* by thread and begin, what begins at the same time by end, the last first */
	size_t nr;
};

/* Some sites' calls and one name's events, and which calls have an event. */
struct pairing {
	struct comparison *c;
	struct compared_span *own;	/* room for the calls */
	struct spans calls, events;
	bool *paired;		/* per call */
	bool *used;		/* per call or event, whichever holds the other */
	size_t *with;		/* per one of the others, the one that holds it; NONE */
	size_t *active;		/* those of them that have begun and not ended, for the sweep */
	size_t missing;		/* events of the window without a call */
};

/* How one site fared in a pairing. */
struct fared {
	uint32_t calls, events;	/* in the window */
	uint64_t total_ns;	/* of its calls */
};

static int by_begin(const void *a, const void *b)
{
	const struct compared_span *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	if (x->begin_ns != y->begin_ns)
		return x->begin_ns < y->begin_ns ? -1 : 1;
	return x->end_ns > y->end_ns ? -1 : x->end_ns < y->end_ns;
}

static int by_name(const void *a, const void *b)
{
	const struct compared_span *x = a, *y = b;

	return x->of != y->of ? (x->of < y->of ? -1 : 1) : by_begin(a, b);
}

static bool in_window(const struct comparison *c, const struct compared_span *s)
{
	return s->begin_ns >= c->begin_ns && s->end_ns <= c->end_ns;
}

/* Of the active ones, the one that holds the span, the closest around it: recursion pairs from the outside in, but an
 * event belongs to the innermost function. */
static size_t closest(const struct pairing *p, const struct spans *outer, size_t nr_active, const struct compared_span *inner)
{
	uint64_t grain = p->c->grain_ns, least = UINT64_MAX;
	size_t best = NONE;

	for (size_t i = 0; i < nr_active; i++) {
		const struct compared_span *o = &outer->v[p->active[i]];
		uint64_t size = o->end_ns - o->begin_ns;

		if (o->end_ns + grain >= inner->end_ns && size < least) {
			least = size;
			best = p->active[i];
		}
	}
	return best;
}

/* Gives each span of `inner` one of `outer`, if not `shared` one for itself, marks that as used, and in `has`, if not NULL,
 * those that have one. Returns how many of the window have none. */
static size_t sweep(const struct pairing *p, const struct spans *outer, const struct spans *inner, bool shared, bool *has)
{
	uint64_t grain = p->c->grain_ns;
	size_t next = 0, nr_active = 0, without = 0;

	memset(p->used, 0, outer->nr * sizeof(*p->used));
	for (size_t i = 0; i < inner->nr; i++) {
		const struct compared_span *s = &inner->v[i];
		size_t kept = 0, best;

		if (!i || s[-1].tid != s->tid) {
			nr_active = 0;
			while (next < outer->nr && outer->v[next].tid < s->tid)
				next++;
		}
		while (next < outer->nr && outer->v[next].tid == s->tid && outer->v[next].begin_ns <= s->begin_ns + grain)
			p->active[nr_active++] = next++;
		for (size_t k = 0; k < nr_active; k++)
			if ((shared || !p->used[p->active[k]]) && outer->v[p->active[k]].end_ns + grain >= s->begin_ns)
				p->active[kept++] = p->active[k];
		nr_active = kept;
		best = closest(p, outer, nr_active, s);
		p->with[i] = best;
		if (best != NONE)
			p->used[best] = true;
		if (has)
			has[i] = best != NONE;
		without += best == NONE && in_window(p->c, s);
	}
	return without;
}

static void pair(struct pairing *p, enum compare_how how)
{
	if (how != COMPARE_AROUND) {
		p->missing = sweep(p, &p->calls, &p->events, how == COMPARE_SOME, NULL);
		memcpy(p->paired, p->used, p->calls.nr * sizeof(*p->paired));
		return;
	}
	sweep(p, &p->events, &p->calls, false, p->paired);
	p->missing = 0;
	for (size_t i = 0; i < p->events.nr; i++)
		p->missing += !p->used[i] && in_window(p->c, &p->events.v[i]);
}

static int pairing_begin(struct pairing *p, struct comparison *c)
{
	size_t most = (c->nr_calls > c->nr_events ? c->nr_calls : c->nr_events) + 1;

	*p = (struct pairing){ .c = c, .own = calloc(c->nr_calls + 1, sizeof(*p->own)), .paired = calloc(most, sizeof(*p->paired)),
			       .used = calloc(most, sizeof(*p->used)), .with = calloc(most, sizeof(*p->with)),
			       .active = calloc(most, sizeof(*p->active)) };
	return p->own && p->paired && p->used && p->with && p->active ? 0 : -ENOMEM;
}

static void pairing_end(struct pairing *p)
{
	free(p->own);
	free(p->paired);
	free(p->used);
	free(p->with);
	free(p->active);
}

/* Calls of the sites that are chosen. */
static void take_calls(struct pairing *p, const bool *chosen)
{
	p->calls = (struct spans){ .v = p->own };
	for (size_t i = 0; i < p->c->nr_calls; i++)
		if (chosen[p->c->calls[i].of])
			p->own[p->calls.nr++] = p->c->calls[i];
}

static void take_events(struct pairing *p, uint32_t name)
{
	size_t first = 0, nr = 0;

	while (first < p->c->nr_events && p->c->events[first].of < name)
		first++;
	while (first + nr < p->c->nr_events && p->c->events[first + nr].of == name)
		nr++;
	p->events = (struct spans){ p->c->events + first, nr };
}

static struct fared fared(const struct pairing *p, uint32_t site)
{
	struct fared f = { 0 };

	for (size_t i = 0; i < p->calls.nr; i++) {
		const struct compared_span *call = &p->calls.v[i];

		if (call->of != site || !in_window(p->c, call))
			continue;
		f.calls++;
		f.events += p->paired[i];
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
		pair(p, c->sites[i].how);
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

/* What is wrong with the calls, as far as all are reported; false: nothing. */
static bool find_fault(const struct comparison *c, struct compared_site *s, size_t missing)
{
	const char *where = s->how == COMPARE_AROUND ? "around" : "in";

	if (s->idle && s->calls)
		snprintf(s->text, sizeof(s->text), "%u calls, but none at all without the %s", s->calls, c->what);
	else if (!s->calls)
		snprintf(s->text, sizeof(s->text), "no calls, but %zu events in the %s", missing, c->what);
	else if (s->how != COMPARE_SOME && s->calls != s->events)
		snprintf(s->text, sizeof(s->text), "%u calls, %u of them %s any event of the %s", s->calls, s->calls - s->events,
			 s->how == COMPARE_AROUND ? "not within" : "outside", c->what);
	else if (missing)
		snprintf(s->text, sizeof(s->text), "%u calls, but %zu events of the %s are %s none", s->calls, missing, c->what, where);
	else
		return false;
	return true;
}

static uint32_t events_in_window(const struct pairing *p)
{
	uint32_t nr = 0;

	for (size_t i = 0; i < p->events.nr; i++)
		nr += in_window(p->c, &p->events.v[i]);
	return nr;
}

static void note_told(struct compared_site *s, const struct compared_span *call, const struct compared_span *e)
{
	if (!e || !e->told)
		return;
	s->told++;
	s->told_right += call->told == e->told;
	s->told_wrong += call->told && call->told != e->told;
}

/* Where each call's own event tells. */
static void judge_own(struct comparison *c, const struct pairing *p, size_t site)
{
	for (size_t i = 0; i < p->events.nr && c->sites[site].how != COMPARE_AROUND; i++) {
		const struct compared_span *call = p->with[i] == NONE ? NULL : &p->calls.v[p->with[i]];

		if (call && call->of == site && in_window(c, call))
			note_told(&c->sites[site], call, &p->events.v[i]);
	}
}

static void judge(struct comparison *c, const struct pairing *p, size_t site, size_t nr_sharing)
{
	struct compared_site *s = &c->sites[site];
	struct fared f = fared(p, site);
	size_t missing = is_open(c, s->name) ? 0 : p->missing;

	if (s->told_by == s->name)
		judge_own(c, p, site);

	s->calls = f.calls;
	s->events = f.events;
	if (!f.calls && !(missing && nr_sharing == 1)) {
		snprintf(s->text, sizeof(s->text), "not compared: the pages did not call it");
	} else if (find_fault(c, s, missing)) {
		s->verdict = COMPARE_DROPPED;
	} else if (s->how == COMPARE_SOME) {
		s->events = events_in_window(p);
		snprintf(s->text, sizeof(s->text), "not one to one: calls %u, each of the %s's %u in one of them", f.calls, c->what, s->events);
	} else {
		s->verdict = COMPARE_EQUAL;
		snprintf(s->text, sizeof(s->text), "calls %u = %s %u", f.calls, c->what, f.events);
	}
}

static void compare_name(struct pairing *p, uint32_t name, bool *chosen)
{
	struct comparison *c = p->c;
	enum compare_how how = COMPARE_INSIDE;
	size_t nr = 0;

	take_events(p, name);
	if (!p->events.nr) {
		for (size_t i = 0; i < c->nr_sites; i++)
			if (c->sites[i].name == name)
				snprintf(c->sites[i].text, sizeof(c->sites[i].text), "not compared: the %s has no such event", c->what);
		return;
	}
	settle_candidates(p, name, chosen);
	for (size_t i = 0; i < c->nr_sites; i++) {
		chosen[i] = c->sites[i].name == name && c->sites[i].verdict != COMPARE_OTHER;
		how = chosen[i] ? c->sites[i].how : how;
		nr += chosen[i];
	}
	take_calls(p, chosen);
	pair(p, how);
	for (size_t i = 0; i < c->nr_sites; i++)
		if (chosen[i])
			judge(c, p, i, nr);
}

/* The first event of that name inside of a call; NULL. */
static const struct compared_span *first_inside(const struct comparison *c, const struct compared_span *call, uint32_t name)
{
	struct compared_span key = { .begin_ns = call->begin_ns, .end_ns = UINT64_MAX, .tid = call->tid, .of = name };
	size_t lo = 0, hi = c->nr_events;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (by_name(&c->events[mid], &key) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < c->nr_events && c->events[lo].of == name && c->events[lo].tid == call->tid &&
	       c->events[lo].end_ns <= call->end_ns + c->grain_ns ? &c->events[lo] : NULL;
}

static void judge_inner(struct comparison *c)
{
	for (size_t i = 0; i < c->nr_calls; i++) {
		const struct compared_span *call = &c->calls[i];
		struct compared_site *s = &c->sites[call->of];

		if (s->told_by != s->name && s->told_by != COMPARE_NO_NAME && in_window(c, call))
			note_told(s, call, first_inside(c, call, s->told_by));
	}
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
	if (!rc)
		judge_inner(c);
	pairing_end(&p);
	free(chosen);
	return rc;
}
