// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Gathers the figures of a report. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cli/report_stats.h"

/* The open events around the one that is looked at: where the same type or probe is open, totals count once. */
struct nesting {
	struct open_event { uint32_t end; uint16_t probe; uint8_t type; } *open;
	size_t nr, room;
	uint32_t types[EVENT_TYPE_END];
	uint32_t *probes;
};

static void leave(struct nesting *n, uint32_t id)
{
	while (n->nr && n->open[n->nr - 1].end <= id) {
		n->nr--;
		n->types[n->open[n->nr].type]--;
		n->probes[n->open[n->nr].probe]--;
	}
}

static int enter(struct nesting *n, const struct event_view *e, uint16_t probe, uint8_t type)
{
	if (n->nr == n->room) {
		size_t room = n->room ? 2 * n->room : 256;
		struct open_event *open = realloc(n->open, room * sizeof(*open));

		if (!open)
			return -ENOMEM;
		n->open = open;
		n->room = room;
	}
	n->open[n->nr++] = (struct open_event){ .end = e->id + e->subtree, .probe = probe, .type = type };
	n->types[type]++;
	n->probes[probe]++;
	return 0;
}

static void add_event(struct event_sums *sum, const struct event_view *e, bool outermost, uint32_t nr_metrics)
{
	uint64_t wall = e->end_ns - e->start_ns;

	sum->events++;
	sum->hits += e->hits;
	sum->self_ns += e->time_ns;
	sum->overhead_ns += e->overhead_ns;
	sum->blocked_ns += e->blocked_ns;
	sum->subtracted += !!(e->flags & EV_OVERHEAD_HIGH);
	sum->unwound += !!(e->flags & EV_UNWOUND);
	sum->clipped += !!(e->flags & EV_CLIPPED);
	/* the interval of calls that were summed up spans what lay between them */
	sum->single += !(e->flags & EV_AGGREGATE);
	sum->measured += !!e->metrics;
	if (!(e->flags & EV_AGGREGATE) && wall > sum->longest_ns)
		sum->longest_ns = wall;
	if (!outermost)
		return;
	sum->total_ns += e->agg_time_ns;
	sum->uncertainty_ns += e->uncertainty_ns;
	for (uint32_t i = 0; e->metrics && i < nr_metrics; i++)
		sum->metrics[i] += e->metrics[i];
}

static bool slower(const struct event_view *a, const struct event_view *b)
{
	uint64_t wall_a = a->end_ns - a->start_ns, wall_b = b->end_ns - b->start_ns;

	return wall_a != wall_b ? wall_a > wall_b : a->id < b->id;
}

static void note_slow(struct report_stats *r, const struct event_view *e)
{
	uint32_t at = r->nr_slowest;

	if (!r->max_slowest || e->flags & EV_AGGREGATE)
		return;
	if (at == r->max_slowest) {
		if (!slower(e, &r->slowest[at - 1]))
			return;
		at--;
	} else {
		r->nr_slowest++;
	}
	for (; at && slower(e, &r->slowest[at - 1]); at--)
		r->slowest[at] = r->slowest[at - 1];
	r->slowest[at] = *e;
}

static int gather_timeline(const struct session *s, const struct timeline *t, size_t nr_probes, size_t nr_processes,
			   struct nesting *n, struct event_sums *timeline, struct report_stats *r)
{
	uint32_t nr_metrics = session_info(s)->nr_metrics;
	struct event_view e;
	int rc = 0;

	for (uint32_t id = t->first_id; id - t->first_id < t->nr_events && !rc; id++) {
		uint8_t type;
		uint16_t probe;

		if (!session_event(s, id, &e))
			continue;
		type = e.type < EVENT_TYPE_END ? e.type : EVENT_GENERIC;
		probe = e.probe < nr_probes ? e.probe : nr_probes;
		leave(n, id);
		add_event(&r->types[type], &e, !n->types[type], nr_metrics);
		add_event(&r->probes[probe], &e, !n->probes[probe], nr_metrics);
		add_event(timeline, &e, !n->nr, nr_metrics);
		add_event(&r->all, &e, !n->nr, nr_metrics);
		note_slow(r, &e);
		if (t->process < nr_processes)
			r->process_events[t->process]++;
		/* those without children are never around another */
		if (e.subtree > 1)
			rc = enter(n, &e, probe, type);
	}
	leave(n, UINT32_MAX);
	return rc;
}

/* The gaps say when, and the kernel's counters how much in the end; a recording that ended early has only the gaps. */
static void gather_losses(const struct session *s, const struct recording_probe *probes, size_t nr_probes,
			  struct loss_sums *losses)
{
	const struct session_loss *l;
	size_t nr;

	l = session_losses(s, &nr);
	for (size_t i = 0; i < nr; i++) {
		struct loss_sums *sum = &losses[l[i].probe < nr_probes ? l[i].probe : nr_probes];

		if (!sum->until_ns || l[i].since_ns < sum->since_ns)
			sum->since_ns = l[i].since_ns;
		if (l[i].ts_ns > sum->until_ns)
			sum->until_ns = l[i].ts_ns;
		sum->begins += l[i].begins;
		sum->ends += l[i].ends;
		sum->marks += l[i].marks;
	}
	for (size_t i = 0; i < nr_probes; i++) {
		const struct probe_stats *st = &probes[i].stats;

		if (st->lost_begins > losses[i].begins + losses[i].marks)
			losses[i].begins = st->lost_begins - losses[i].marks;
		if (st->lost_ends > losses[i].ends)
			losses[i].ends = st->lost_ends;
	}
}

static void gather_marks(const struct session *s, size_t nr_probes, uint64_t *marks)
{
	const struct session_mark *m;
	size_t nr;

	m = session_marks(s, &nr);
	for (size_t i = 0; i < nr; i++)
		if (m[i].probe < nr_probes)
			marks[m[i].probe]++;
}

uint64_t report_hits(const struct report_stats *r, const struct recording_probe *probes, size_t probe)
{
	const struct loss_sums *l = &r->losses[probe];
	uint64_t seen = r->marks[probe] + l->begins + l->marks;

	/* the kernel's count comes with the end of a recording, which one that ended early lacks */
	if (probes[probe].stats.calls > seen)
		return probes[probe].stats.calls;
	return seen ? seen : l->ends;
}

bool report_was_hit(const struct report_stats *r, const struct recording_probe *probes, size_t probe)
{
	return r->probes[probe].events || report_hits(r, probes, probe);
}

bool report_is_left_out(const struct report_stats *r, const struct recording_probe *probes, size_t probe)
{
	return probes[probe].stats.hidden && !report_was_hit(r, probes, probe);
}

int report_stats_gather(const struct session *s, uint32_t max_slowest, struct report_stats *ret)
{
	size_t nr_timelines, nr_probes, nr_processes;
	const struct timeline *timelines = session_timelines(s, &nr_timelines);
	const struct recording_probe *probes = session_probes(s, &nr_probes);
	struct nesting n = { 0 };
	int rc = -ENOMEM;

	session_processes(s, &nr_processes);
	memset(ret, 0, sizeof(*ret));
	/* one more for events of a probe that is not in the table */
	n.probes = calloc(nr_probes + 1, sizeof(*n.probes));
	ret->probes = calloc(nr_probes + 1, sizeof(*ret->probes));
	ret->losses = calloc(nr_probes + 1, sizeof(*ret->losses));
	ret->marks = calloc(nr_probes + 1, sizeof(*ret->marks));
	ret->timelines = calloc(nr_timelines + 1, sizeof(*ret->timelines));
	ret->process_events = calloc(nr_processes + 1, sizeof(*ret->process_events));
	ret->slowest = calloc(max_slowest + 1, sizeof(*ret->slowest));
	ret->max_slowest = max_slowest;
	if (n.probes && ret->probes && ret->losses && ret->marks && ret->timelines && ret->process_events && ret->slowest)
		rc = 0;
	for (size_t i = 0; i < nr_timelines && !rc; i++)
		rc = gather_timeline(s, &timelines[i], nr_probes, nr_processes, &n, &ret->timelines[i], ret);
	if (!rc) {
		gather_losses(s, probes, nr_probes, ret->losses);
		gather_marks(s, nr_probes, ret->marks);
	}
	for (size_t i = 0; i < nr_probes && !rc; i++) {
		ret->refused += !probes[i].attached;
		ret->hit += probes[i].attached && report_was_hit(ret, probes, i);
		ret->left_out += probes[i].attached && report_is_left_out(ret, probes, i);
	}
	free(n.open);
	free(n.probes);
	if (rc)
		report_stats_release(ret);
	return rc;
}

void report_stats_release(struct report_stats *r)
{
	free(r->probes);
	free(r->losses);
	free(r->marks);
	free(r->timelines);
	free(r->process_events);
	free(r->slowest);
}

const char *report_detail(const struct event_detail *d, char *ret, size_t size)
{
	const char *what[] = { d->event_name, d->selector, d->label, d->url };
	size_t n = 0;

	ret[0] = 0;
	for (size_t i = 0; i < sizeof(what) / sizeof(what[0]) && n + 1 < size; i++) {
		if (!what[i] || !*what[i])
			continue;
		n += snprintf(ret + n, size - n, "%s%s", n ? "  " : "", what[i]);
	}
	if (d->url && d->has & 1u << FIELD_LINE && n + 1 < size)
		n += snprintf(ret + n, size - n, ":%u", d->line);
	if (d->has & 1u << FIELD_W && d->has & 1u << FIELD_H && n + 1 < size)
		snprintf(ret + n, size - n, "%s%d×%d at %d,%d", n ? "  " : "", d->w, d->h, d->x, d->y);
	return ret;
}

bool report_is_first_of_module(const struct recording_probe *probes, size_t index)
{
	const struct recording_probe *p = &probes[index];

	if (!*p->module)
		return false;
	for (size_t i = 0; i < index; i++)
		if (!strcmp(probes[i].module, p->module) && !strcmp(probes[i].build_id, p->build_id))
			return false;
	return true;
}
