// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* JSON lines: one object per line for everything that a recording holds, times in nanoseconds. */
#include <errno.h>
#include <stdlib.h>
#include "export/emit.h"
#include "export/input.h"
#include "export/shown.h"

struct exporter {
	struct export_input in;
	struct emit out;
};

static void free_state(struct exporter *x)
{
	emit_close(&x->out);
	free(x);
}

static void member_url(struct exporter *x, const char *url)
{
	if (!url)
		return;
	emit_text(&x->out, ",\"url\":");
	emit_json_n(&x->out, url, shown_url(&x->in.opt, url));
}

static int begin(const struct session *s, const struct export_options *opt, struct outfile *f, struct exporter **ret)
{
	struct exporter *x = calloc(1, sizeof(*x));
	const struct recording_info *info = session_info(s);

	if (!x)
		return -ENOMEM;
	export_input_open(&x->in, s, opt);
	if (emit_open(&x->out, f)) {
		free_state(x);
		return -ENOMEM;
	}
	emit_text(&x->out, "{\"kind\":\"recording\"");
	emit_member(&x->out, "tool", info->tool);
	emit_member(&x->out, "kernel", info->kernel);
	emit_member(&x->out, "machine", info->machine);
	emit_member_u64(&x->out, "target_pid", info->target_pid);
	shown_left_out(&x->out, s, "left_out");
	emit_member_u64(&x->out, "end_ns", shown_end_ns(s));
	emit_member_i64(&x->out, "begin_monotonic_ns", info->begin_ns);
	emit_member_i64(&x->out, "begin_realtime_ns", info->begin_realtime_ns);
	emit_text(&x->out, "}\n");
	*ret = x;
	return x->out.error;
}

static int process(struct exporter *x, uint32_t index, const struct recording_process *p)
{
	(void)index;
	emit_text(&x->out, "{\"kind\":\"process\"");
	emit_member_u64(&x->out, "pid", p->pid);
	emit_member_u64(&x->out, "inner_pid", p->inner_pid);
	emit_member_u64(&x->out, "parent", p->parent);
	emit_member(&x->out, "name", p->name);
	emit_member(&x->out, "engine", p->engine);
	emit_text(&x->out, "}\n");
	return x->out.error;
}

static int thread(struct exporter *x, uint32_t index, const struct recording_thread *t)
{
	(void)index;
	emit_text(&x->out, "{\"kind\":\"thread\"");
	emit_member_u64(&x->out, "pid", t->pid);
	emit_member_u64(&x->out, "tid", t->tid);
	emit_member(&x->out, "name", t->name);
	emit_text(&x->out, "}\n");
	return x->out.error;
}

static int frame(struct exporter *x, const struct timeline *t)
{
	emit_text(&x->out, "{\"kind\":\"timeline\"");
	emit_member_u64(&x->out, "id", t->id);
	emit_member_u64(&x->out, "frame", t->frame_id);
	emit_member_u64(&x->out, "parent_frame", t->parent_frame_id);
	emit_member_u64(&x->out, "pid", t->process < x->in.nr_procs ? x->in.procs[t->process].pid : 0);
	emit_member_u64(&x->out, "main", t->main);
	emit_member_u64(&x->out, "events", t->nr_events);
	member_url(x, t->url);
	emit_text(&x->out, "}\n");
	return x->out.error;
}

static void members_of_probe(struct exporter *x, uint16_t probe)
{
	const struct recording_probe *p = input_probe(&x->in, probe);

	emit_member(&x->out, "name", p->label);
	emit_member(&x->out, "probe", p->name);
}

static void members_of_thread(struct exporter *x, uint32_t thread)
{
	emit_member_u64(&x->out, "pid", input_pid(&x->in, thread));
	emit_member_u64(&x->out, "tid", input_tid(&x->in, thread));
}

static void members_of_detail(struct exporter *x, const struct event_detail *d)
{
	const char *key;
	int32_t value;

	member_url(x, d->url);
	emit_member(&x->out, "selector", shown_text(&x->in.opt, d->selector));
	emit_member(&x->out, "event", d->event_name);
	emit_member(&x->out, "label", shown_text(&x->in.opt, d->label));
	for (int i = 0; i < SHOWN_AREA; i++)
		if (shown_area(d, i, &key, &value))
			emit_member_i64(&x->out, key, value);
	if (d->has & 1u << FIELD_LINE)
		emit_member_u64(&x->out, "line", d->line);
	if (d->has & 1u << FIELD_COLUMN)
		emit_member_u64(&x->out, "column", d->column);
	emit_member(&x->out, "thread_type", shown_thread_type(d->thread_type));
	emit_member(&x->out, "script_type", shown_script_type(d->script_type));
}

static int event(struct exporter *x, const struct export_event *e)
{
	const struct event_view *v = &e->view;
	char words[128];

	emit_text(&x->out, "{\"kind\":\"event\"");
	emit_member_u64(&x->out, "id", v->id);
	emit_member_u64(&x->out, "parent", v->parent);
	emit_member_u64(&x->out, "timeline", e->timeline->id);
	emit_member_u64(&x->out, "depth", e->depth);
	members_of_thread(x, v->thread);
	emit_member(&x->out, "type", event_type_name(v->type));
	members_of_probe(x, v->probe);
	emit_member_u64(&x->out, "start_ns", v->start_ns);
	emit_member_u64(&x->out, "end_ns", v->end_ns);
	emit_member_u64(&x->out, "time_ns", v->time_ns);
	emit_member_u64(&x->out, "overhead_ns", v->overhead_ns);
	emit_member_u64(&x->out, "blocked_ns", v->blocked_ns);
	emit_member_u64(&x->out, "aggregated_time_ns", v->agg_time_ns);
	emit_member_u64(&x->out, "aggregated_overhead_ns", v->agg_overhead_ns);
	emit_member_u64(&x->out, "hits", v->hits);
	emit_member_u64(&x->out, "child_count", v->child_count);
	members_of_detail(x, v->detail);
	shown_metrics(&x->out, &x->in, v);
	if (*shown_flags(v->flags, words, sizeof(words)))
		emit_member(&x->out, "flags", words);
	emit_text(&x->out, "}\n");
	return x->out.error;
}

static int mark(struct exporter *x, const struct session_mark *m)
{
	emit_text(&x->out, "{\"kind\":\"mark\"");
	emit_member_u64(&x->out, "ts_ns", m->ts_ns);
	members_of_thread(x, m->thread);
	members_of_probe(x, m->probe);
	emit_member_u64(&x->out, "enclosing", m->enclosing);
	members_of_detail(x, m->detail);
	emit_text(&x->out, "}\n");
	return x->out.error;
}

static int counter(struct exporter *x, const char *name, uint32_t index, uint64_t ts_ns, const char *const *series,
		   const double *values, size_t nr)
{
	emit_text(&x->out, "{\"kind\":\"counter\"");
	emit_member(&x->out, "name", name);
	emit_member_u64(&x->out, "pid", index < x->in.nr_procs ? x->in.procs[index].pid : x->in.info->target_pid);
	emit_member_u64(&x->out, "ts_ns", ts_ns);
	emit_text(&x->out, ",\"values\":{");
	for (size_t i = 0; i < nr; i++) {
		if (i)
			emit_text(&x->out, ",");
		emit_json(&x->out, series[i]);
		emit_text(&x->out, ":");
		emit_double(&x->out, values[i]);
	}
	emit_text(&x->out, "}}\n");
	return x->out.error;
}

static int loss(struct exporter *x, const struct session_loss *l)
{
	emit_text(&x->out, "{\"kind\":\"loss\"");
	members_of_probe(x, l->probe);
	emit_member_u64(&x->out, "since_ns", l->since_ns);
	emit_member_u64(&x->out, "ts_ns", l->ts_ns);
	emit_member_u64(&x->out, "begins", l->begins);
	emit_member_u64(&x->out, "ends", l->ends);
	emit_member_u64(&x->out, "marks", l->marks);
	emit_text(&x->out, "}\n");
	return x->out.error;
}

static int note(struct exporter *x, const struct session_note *n)
{
	emit_text(&x->out, "{\"kind\":\"note\"");
	emit_member_u64(&x->out, "ts_ns", n->ts_ns);
	emit_member(&x->out, "text", n->text);
	emit_text(&x->out, "}\n");
	return x->out.error;
}

static int end(struct exporter *x, uint64_t too_deep, uint64_t clamped)
{
	const struct session_counts *c = session_get_counts(x->in.s);

	emit_text(&x->out, "{\"kind\":\"end\"");
	emit_member_u64(&x->out, "events", c->events);
	emit_member_u64(&x->out, "lost", c->lost);
	emit_member_u64(&x->out, "too_deep", c->too_deep + too_deep);
	emit_member_u64(&x->out, "cut", clamped);
	shown_incomplete(&x->out, x->in.s, "incomplete");
	emit_text(&x->out, "}\n");
	return emit_flush(&x->out);
}

const struct export_format export_jsonl = {
	.name = "jsonl",
	.extension = ".jsonl",
	.summary = "one JSON object per line: events and all else, for jq and scripts",
	.begin = begin,
	.process = process,
	.thread = thread,
	.frame = frame,
	.event = event,
	.mark = mark,
	.counter = counter,
	.loss = loss,
	.note = note,
	.end = end,
	.free = free_state,
};
