// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The multi-metric profile of JS Self-Profiling (issue 16 there): metricTypes, stacks as a trie, and for each call a
 * sample with one value per metric type. The field is `metric`, as in its examples. Written as it comes: samples first,
 * then the stacks and frames that they refer to, which are kept in bounded memory.
 */
#include <errno.h>
#include <stdlib.h>
#include "export/emit.h"
#include "export/input.h"
#include "export/shown.h"
#include "export/stacks.h"

struct exporter {
	struct export_input in;
	struct emit out;
	struct stacks stacks;
	bool any;
};

static void free_state(struct exporter *x)
{
	stacks_free(&x->stacks);
	emit_close(&x->out);
	free(x);
}

static void metric_type(struct exporter *x, const char *metric, const char *unit)
{
	emit_text(&x->out, "{\"metric\":");
	emit_json(&x->out, metric);
	emit_member(&x->out, "unit", unit);
	emit_text(&x->out, "}");
}

static int begin(const struct session *s, const struct export_options *opt, struct outfile *f, struct exporter **ret)
{
	struct exporter *x = calloc(1, sizeof(*x));
	int rc;

	if (!x)
		return -ENOMEM;
	export_input_open(&x->in, s, opt);
	rc = emit_open(&x->out, f);
	if (!rc)
		rc = stacks_init(&x->stacks, s);
	if (rc) {
		free_state(x);
		return rc;
	}
	emit_text(&x->out, "{\"metricTypes\":[");
	metric_type(x, "samples", "count");
	emit_text(&x->out, ",");
	metric_type(x, "time", "ms");
	emit_text(&x->out, ",");
	metric_type(x, "CPU time", "ms");
	emit_text(&x->out, ",");
	metric_type(x, "overhead", "ms");
	for (uint32_t i = 0; i < x->in.info->nr_metrics; i++) {
		emit_text(&x->out, ",");
		metric_type(x, x->in.info->metric_names[i], x->in.info->metric_units[i]);
	}
	emit_text(&x->out, "],\n\"samples\":[");
	*ret = x;
	return x->out.error;
}

/* What the call itself had of metric i: children's out, as with the other values. */
static uint64_t own_metric(struct exporter *x, const struct event_view *v, uint32_t i)
{
	uint64_t own = v->metrics ? v->metrics[i] : 0;
	struct event_view child;

	for (uint32_t id = v->id + 1; id < v->id + v->subtree && session_event(x->in.s, id, &child);
	     id += child.subtree ? child.subtree : 1) {
		uint64_t part = child.metrics ? child.metrics[i] : 0;

		own -= part < own ? part : own;
	}
	return own;
}

static int event(struct exporter *x, const struct export_event *e)
{
	const struct event_view *v = &e->view;
	uint32_t node;
	int rc = stacks_enter(&x->stacks, e, &node);

	if (rc)
		return rc;
	if (x->any)
		emit_text(&x->out, ",\n{\"timestamp\":");
	else
		emit_text(&x->out, "\n{\"timestamp\":");
	x->any = true;
	emit_ms(&x->out, v->start_ns);
	if (node != TRIE_NONE)
		emit_member_u64(&x->out, "stackId", node);
	emit_text(&x->out, ",\"marker\":\"");
	emit_string(&x->out, shown_marker(v->type));
	/* no part of the format: which thread it was */
	emit_text(&x->out, "\",\"pid\":");
	emit_u64(&x->out, x->in.threads[v->thread].pid);
	emit_member_u64(&x->out, "tid", x->in.threads[v->thread].tid);
	/* it stands for several calls, from the first to the last of them */
	if (e->overlapping)
		emit_text(&x->out, ",\"sum\":true");
	emit_text(&x->out, ",\"metric\":[");
	emit_u64(&x->out, v->hits);
	emit_text(&x->out, ",");
	emit_ms(&x->out, v->time_ns + v->blocked_ns);
	emit_text(&x->out, ",");
	emit_ms(&x->out, v->time_ns);
	emit_text(&x->out, ",");
	emit_ms(&x->out, v->overhead_ns);
	for (uint32_t i = 0; i < x->in.info->nr_metrics; i++) {
		emit_text(&x->out, ",");
		emit_u64(&x->out, own_metric(x, v, i));
	}
	emit_text(&x->out, "]}");
	return x->out.error;
}

static void write_stacks(struct exporter *x)
{
	const struct trie *t = &x->stacks.trie;

	emit_text(&x->out, "\n],\n\"stacks\":[");
	for (uint32_t i = 0; i < t->nr_nodes; i++) {
		if (i)
			emit_text(&x->out, ",");
		emit_text(&x->out, "\n{\"frameId\":");
		emit_u64(&x->out, t->nodes[i].frame);
		if (t->nodes[i].parent != TRIE_NONE)
			emit_member_u64(&x->out, "parentId", t->nodes[i].parent);
		emit_text(&x->out, "}");
	}
}

static void write_frames(struct exporter *x)
{
	const struct trie *t = &x->stacks.trie;

	emit_text(&x->out, "\n],\n\"frames\":[");
	for (uint32_t i = 0; i < t->nr_frames; i++) {
		const struct trie_frame *f = &t->frames[i];
		const struct event_detail *d = f->detail;
		const struct recording_probe *p = input_probe(&x->in, f->probe);

		if (i)
			emit_text(&x->out, ",");
		emit_text(&x->out, "\n{\"name\":");
		emit_json(&x->out, p->label);
		emit_member(&x->out, "type", p->type ? event_type_name(p->type) : NULL);
		if (d && d->url) {
			emit_text(&x->out, ",\"uri\":");
			emit_json_n(&x->out, d->url, shown_url(&x->in.opt, d->url));
		}
		if (d && d->has & 1u << FIELD_LINE)
			emit_member_u64(&x->out, "line", d->line);
		if (d && d->has & 1u << FIELD_COLUMN)
			emit_member_u64(&x->out, "column", d->column);
		if (d) {
			emit_member(&x->out, "selector", shown_text(&x->in.opt, d->selector));
			emit_member(&x->out, "event", d->event_name);
			emit_member(&x->out, "label", shown_text(&x->in.opt, d->label));
		}
		emit_text(&x->out, "}");
	}
	emit_text(&x->out, "\n]");
}

static int end(struct exporter *x, uint64_t too_deep, uint64_t clamped)
{
	const struct session_counts *c = session_get_counts(x->in.s);

	(void)clamped;
	write_stacks(x);
	write_frames(x);
	emit_text(&x->out, ",\n\"lost\":");
	emit_u64(&x->out, c->lost);
	emit_member_u64(&x->out, "tooDeep", c->too_deep + too_deep);
	shown_incomplete(&x->out, x->in.s, "incomplete");
	shown_left_out(&x->out, x->in.s, "leftOut");
	emit_text(&x->out, "}\n");
	return emit_flush(&x->out);
}

const struct export_format export_metrics = {
	.name = "metrics",
	.extension = ".metrics.json",
	.summary = "JS Self-Profiling's profile with several metrics: stacks as a trie, a sample per call",
	.begin = begin,
	.event = event,
	.end = end,
	.free = free_state,
};
