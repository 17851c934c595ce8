// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tables of an HTML report's data: what its events refer to, and lists of what isn't an event. */
#include <stdlib.h>
#include "export/html.h"
#include "export/shown.h"

#define SELECTORS_SHOWN 500
#define MARKS_SHOWN 20000

/* JSON that may stand in a script element: no '<' could end it or begin a comment. */
static void safe_json(struct exporter *x, const char *s, size_t n)
{
	const char *p, *end;

	x->scratch.nr = 0;
	emit_json_n(&x->scratch, s, n);
	if (x->scratch.error)
		x->out.error = x->scratch.error;
	p = x->scratch.data;
	end = p + x->scratch.nr;
	while (p < end) {
		const char *bad = memchr(p, '<', end - p);

		emit_bytes(&x->out, p, (bad ? bad : end) - p);
		if (!bad)
			return;
		emit_text(&x->out, "\\u003c");
		p = bad + 1;
	}
}

static void text(struct exporter *x, const char *s)
{
	safe_json(x, s, strnlen(s, EXPORT_MAX_TEXT + 1));
}

/* "key":"text", with a comma in front where `more` says so */
static void member_n(struct exporter *x, bool *more, const char *key, const char *s, size_t n)
{
	if (*more)
		emit_text(&x->out, ",");
	*more = true;
	emit_text(&x->out, "\"");
	emit_string(&x->out, key);
	emit_text(&x->out, "\":");
	safe_json(x, s, n);
}

static void member(struct exporter *x, bool *more, const char *key, const char *s)
{
	if (s)
		member_n(x, more, key, s, strnlen(s, EXPORT_MAX_TEXT + 1));
}

static void member_i64(struct exporter *x, bool *more, const char *key, int64_t v)
{
	if (*more)
		emit_text(&x->out, ",");
	*more = true;
	emit_text(&x->out, "\"");
	emit_string(&x->out, key);
	emit_text(&x->out, "\":");
	emit_i64(&x->out, v);
}

void html_number(struct exporter *x, uint64_t v)
{
	emit_text(&x->out, ",");
	emit_u64(&x->out, v);
}

void html_info(struct exporter *x)
{
	const struct recording_info *info = x->in.info;
	const struct session_counts *c = session_get_counts(x->in.s);
	char what[INCOMPLETE_TEXT], left_out[LEFT_OUT_TEXT];
	bool more = false;

	emit_text(&x->out, "{\"info\":{");
	member(x, &more, "tool", info->tool);
	member(x, &more, "kernel", info->kernel);
	member(x, &more, "machine", info->machine);
	member(x, &more, "rung", info->rung);
	member(x, &more, "overhead", info->overhead_source);
	member_i64(x, &more, "target", info->target_pid);
	member_i64(x, &more, "end", shown_end_ns(x->in.s));
	/* milliseconds: what a Date takes */
	member_i64(x, &more, "began", info->begin_realtime_ns / 1000000);
	member_i64(x, &more, "events", c->events);
	member_i64(x, &more, "lost", c->lost);
	member_i64(x, &more, "unwound", c->unwound);
	member_i64(x, &more, "clipped", c->clipped);
	member(x, &more, "incomplete", session_incomplete(x->in.s, what, sizeof(what)));
	member(x, &more, "leftOut", session_left_out(x->in.s, left_out, sizeof(left_out)));
	emit_text(&x->out, "},\n\"metrics\":[");
	for (uint32_t i = 0; i < info->nr_metrics; i++) {
		emit_string(&x->out, i ? ",[" : "[");
		text(x, info->metric_names[i]);
		emit_text(&x->out, ",");
		text(x, info->metric_units[i]);
		emit_text(&x->out, "]");
	}
	emit_text(&x->out, "],\n\"types\":[null");
	for (int type = 1; type < EVENT_TYPE_END; type++) {
		emit_text(&x->out, ",");
		text(x, event_type_name(type));
	}
	emit_text(&x->out, "],\n\"probes\":[");
	for (size_t i = 0; i < x->in.nr_probes; i++) {
		emit_string(&x->out, i ? ",[" : "[");
		text(x, x->in.probes[i].label);
		html_number(x, x->in.probes[i].type);
		emit_text(&x->out, ",");
		text(x, x->in.probes[i].name);
		emit_text(&x->out, "]");
	}
	emit_text(&x->out, "],\n\"processes\":[");
}

int html_process(struct exporter *x, uint32_t index, const struct recording_process *p)
{
	uint64_t cpu;
	bool more = false;

	emit_string(&x->out, index ? ",{" : "{");
	member(x, &more, "name", p->name);
	member_i64(x, &more, "pid", p->pid);
	if (session_process_cpu_ns(x->in.s, index, &cpu))
		member_i64(x, &more, "cpu", cpu);
	emit_text(&x->out, "}");
	return x->out.error;
}

void html_threads_and_frames(struct exporter *x)
{
	size_t nr;
	const struct timeline *t = session_timelines(x->in.s, &nr);

	emit_text(&x->out, "],\n\"threads\":[");
	for (size_t i = 0; i < x->in.nr_threads; i++) {
		emit_string(&x->out, i ? ",[" : "[");
		text(x, x->in.threads[i].name);
		html_number(x, x->in.threads[i].tid);
		html_number(x, x->in.threads[i].pid);
		emit_text(&x->out, "]");
	}
	emit_text(&x->out, "],\n\"timelines\":[");
	for (size_t i = 0; i < nr; i++) {
		bool more = false;

		emit_string(&x->out, i ? ",{" : "{");
		member_i64(x, &more, "id", t[i].id);
		member_i64(x, &more, "frame", t[i].frame_id);
		member_i64(x, &more, "main", t[i].main);
		member_i64(x, &more, "process", t[i].process);
		if (t[i].url)
			member_n(x, &more, "url", t[i].url, shown_url(&x->in.opt, t[i].url));
		emit_text(&x->out, "}");
	}
	emit_text(&x->out, "],\n\"events\":[");
}

static void write_detail(struct exporter *x, const struct event_detail *d)
{
	const char *key;
	int32_t value;
	bool more = false;

	emit_text(&x->out, "{");
	if (d->url)
		member_n(x, &more, "url", d->url, shown_url(&x->in.opt, d->url));
	member(x, &more, "selector", shown_text(&x->in.opt, d->selector));
	member(x, &more, "event", d->event_name);
	member(x, &more, "label", shown_text(&x->in.opt, d->label));
	member(x, &more, "thread", shown_thread_type(d->thread_type));
	member(x, &more, "script", shown_script_type(d->script_type));
	for (int i = 0; i < SHOWN_AREA; i++)
		if (shown_area(d, i, &key, &value))
			member_i64(x, &more, key, value);
	if (d->has & 1u << FIELD_LINE)
		member_i64(x, &more, "line", d->line);
	if (d->has & 1u << FIELD_COLUMN)
		member_i64(x, &more, "column", d->column);
	emit_text(&x->out, "}");
}

static int by_time(const void *a, const void *b)
{
	const struct selector_sum *p = a, *q = b;

	if (p->time_ns != q->time_ns)
		return p->time_ns < q->time_ns ? 1 : -1;
	return p->hits < q->hits ? 1 : p->hits > q->hits ? -1 : 0;
}

static void write_selectors(struct exporter *x)
{
	/* the table isn't looked up any more: its order is free */
	if (x->selectors.nr)
		qsort(x->selectors.sums, x->selectors.nr, sizeof(*x->selectors.sums), by_time);
	emit_text(&x->out, "],\n\"selectors\":[");
	for (size_t i = 0; i < x->selectors.nr && i < SELECTORS_SHOWN; i++) {
		const struct selector_sum *sum = &x->selectors.sums[i];
		const char *selector = shown_text(&x->in.opt, sum->detail->selector), *url = sum->detail->url;

		emit_string(&x->out, i ? ",\n[" : "\n[");
		text(x, selector ? selector : "(unknown)");
		emit_text(&x->out, ",");
		safe_json(x, url ? url : "", url ? shown_url(&x->in.opt, url) : 0);
		html_number(x, sum->hits);
		html_number(x, sum->time_ns);
		emit_text(&x->out, "]");
	}
	emit_text(&x->out, "],\n\"selectorCount\":");
	emit_u64(&x->out, x->selectors.nr);
}

static void write_marks(struct exporter *x)
{
	size_t nr, nr_losses, nr_notes;
	const struct session_mark *m = session_marks(x->in.s, &nr);
	const struct session_loss *l = session_losses(x->in.s, &nr_losses);
	const struct session_note *n = session_notes(x->in.s, &nr_notes);

	emit_text(&x->out, ",\n\"marks\":[");
	for (size_t i = 0; i < nr && i < MARKS_SHOWN; i++) {
		const char *url = m[i].detail->url;

		emit_string(&x->out, i ? ",[" : "[");
		emit_u64(&x->out, m[i].ts_ns);
		html_number(x, m[i].probe);
		html_number(x, m[i].thread);
		emit_text(&x->out, ",");
		safe_json(x, url ? url : "", url ? shown_url(&x->in.opt, url) : 0);
		emit_text(&x->out, "]");
	}
	emit_text(&x->out, "],\n\"losses\":[");
	for (size_t i = 0; i < nr_losses && i < MARKS_SHOWN; i++) {
		emit_string(&x->out, i ? ",[" : "[");
		emit_u64(&x->out, l[i].since_ns);
		html_number(x, l[i].ts_ns);
		html_number(x, l[i].probe);
		html_number(x, l[i].begins);
		html_number(x, l[i].ends);
		html_number(x, l[i].marks);
		emit_text(&x->out, "]");
	}
	emit_text(&x->out, "],\n\"notes\":[");
	for (size_t i = 0; i < nr_notes && i < MARKS_SHOWN; i++) {
		emit_string(&x->out, i ? ",[" : "[");
		emit_u64(&x->out, n[i].ts_ns);
		emit_text(&x->out, ",");
		text(x, n[i].text);
		emit_text(&x->out, "]");
	}
	emit_text(&x->out, "]");
}

void html_rest(struct exporter *x)
{
	emit_text(&x->out, "],\n\"details\":[");
	for (uint32_t i = 0; i < x->details.nr_frames; i++) {
		emit_string(&x->out, i ? ",\n" : "\n");
		write_detail(x, x->details.frames[i].detail);
	}
	write_selectors(x);
	emit_text(&x->out, ",\n\"totals\":");
	html_totals_write(&x->totals, &x->out);
	write_marks(x);
}
