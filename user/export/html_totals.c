// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Totals per type; what lies in another event of its type is not counted again in total_ns. */
#include <errno.h>
#include <stdlib.h>
#include "export/html_totals.h"

int html_totals_init(struct html_totals *t, const struct session *s)
{
	*t = (struct html_totals){ 0 };
	session_threads(s, &t->nr_threads);
	t->open = calloc(t->nr_threads + 1, sizeof(*t->open));
	return t->open ? 0 : -ENOMEM;
}

void html_totals_free(struct html_totals *t)
{
	for (size_t i = 0; t->open && i < t->nr_threads; i++)
		free(t->open[i].around);
	free(t->open);
	*t = (struct html_totals){ 0 };
}

static int make_room(struct html_open *o, uint32_t depth)
{
	uint32_t cap = o->cap ? o->cap : 16;
	struct html_around *around;

	while (cap <= depth)
		cap *= 2;
	if (cap == o->cap)
		return 0;
	around = reallocarray(o->around, cap, sizeof(*around));
	if (!around)
		return -ENOMEM;
	o->around = around;
	o->cap = cap;
	return 0;
}

int html_totals_add(struct html_totals *t, const struct export_event *e)
{
	const struct event_view *v = &e->view;
	struct html_total *total = &t->types[v->type < EVENT_TYPE_END ? v->type : 0];
	struct html_open *o = &t->open[v->thread];
	uint32_t around = 0;

	if (make_room(o, e->thread_depth))
		return -ENOMEM;
	for (uint32_t i = e->thread_depth; v->parent && i; i--)
		if (o->around[i - 1].id == v->parent) {
			around = o->around[i - 1].types;
			break;
		}
	if (!e->overlapping)
		o->around[e->thread_depth] = (struct html_around){ .id = v->id, .types = around | 1u << v->type };
	total->events++;
	total->hits += v->hits;
	if (!(around & 1u << v->type))
		total->total_ns += v->agg_time_ns;
	total->self_ns += v->time_ns;
	total->overhead_ns += v->overhead_ns;
	total->blocked_ns += v->blocked_ns;
	if (!e->overlapping && v->end_ns - v->start_ns > total->longest_ns)
		total->longest_ns = v->end_ns - v->start_ns;
	return 0;
}

void html_totals_write(const struct html_totals *t, struct emit *out)
{
	bool any = false;

	emit_text(out, "[");
	for (int type = 1; type < EVENT_TYPE_END; type++) {
		const struct html_total *total = &t->types[type];
		const uint64_t values[] = { total->events, total->hits, total->total_ns, total->self_ns,
					    total->overhead_ns, total->blocked_ns, total->longest_ns };

		if (!total->events)
			continue;
		emit_string(out, any ? ",[" : "[");
		any = true;
		emit_u64(out, type);
		for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
			emit_text(out, ",");
			emit_u64(out, values[i]);
		}
		emit_text(out, "]");
	}
	emit_text(out, "]");
}
