// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * One HTML file with the recording inside: a page (report.html) that needs no network, and its data as JSON in a script
 * element. Totals are computed here, over all events; the events drawn are the longest when there are too many.
 */
#include <errno.h>
#include <stdlib.h>
#include "export/emit.h"
#include "export/input.h"
#include "export/html_totals.h"
#include "export/selectors.h"
#include "export/shown.h"
#include "export/trie.h"

#define DRAWN_MAX 1000000	/* events that a browser shows well */
#define SELECTORS_SHOWN 500
#define MARKS_SHOWN 20000

extern const char html_page[], html_page_end[];	/* report.html; see html_page.c */

struct exporter {
	struct export_input in;
	struct emit out, scratch;
	struct trie details;	/* only its frames are used, for their details */
	struct selector_table selectors;
	struct html_totals totals;
	const char *page_rest;	/* behind the place for the data */
	uint64_t last_ns, shortest_ns, drawn, left_out;
};

static void free_state(struct exporter *x)
{
	trie_free(&x->details);
	selector_table_free(&x->selectors);
	html_totals_free(&x->totals);
	emit_close(&x->out);
	emit_close(&x->scratch);
	free(x);
}

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

static void number(struct exporter *x, uint64_t v)
{
	emit_text(&x->out, ",");
	emit_u64(&x->out, v);
}

/* --- what stands before the events --- */

static size_t bucket_of(uint64_t ns)
{
	int top = ns ? 63 - __builtin_clzll(ns) : 0;

	/* sixteen to the power of two */
	return ns < 16 ? ns : (size_t)top * 16 + (ns >> (top - 4) & 15);
}

/* The duration below which events are left out, so that no more than DRAWN_MAX remain. */
static uint64_t shortest_drawn(const struct session *s)
{
	uint64_t counts[64 * 16 + 16] = { 0 }, kept = 0;
	size_t nr, b;
	const struct timeline *t = session_timelines(s, &nr);
	struct event_view v;

	if (session_get_counts(s)->events <= DRAWN_MAX)
		return 0;
	for (size_t i = 0; i < nr; i++)
		for (uint32_t id = t[i].first_id; id < t[i].first_id + t[i].nr_events; id++)
			if (session_event(s, id, &v))
				counts[bucket_of(v.end_ns - v.start_ns)]++;
	for (b = 64 * 16 + 15; b && kept + counts[b] <= DRAWN_MAX; b--)
		kept += counts[b];
	/* many of one length: some of them, as they come */
	if (kept > DRAWN_MAX / 4)
		b++;
	if (b < 16)
		return b;
	/* below 64 ns the buckets are sparse: their power of two begins at top * 16 */
	return b / 16 < 4 ? 16 : (16 | (b & 15)) << (b / 16 - 4);
}

static void write_info(struct exporter *x)
{
	const struct recording_info *info = x->in.info;
	const struct session_counts *c = session_get_counts(x->in.s);
	char what[INCOMPLETE_TEXT];
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
	emit_text(&x->out, "},\n\"types\":[null");
	for (int type = 1; type < EVENT_TYPE_END; type++) {
		emit_text(&x->out, ",");
		text(x, event_type_name(type));
	}
	emit_text(&x->out, "],\n\"probes\":[");
	for (size_t i = 0; i < x->in.nr_probes; i++) {
		emit_string(&x->out, i ? ",[" : "[");
		text(x, x->in.probes[i].label);
		number(x, x->in.probes[i].type);
		emit_text(&x->out, ",");
		text(x, x->in.probes[i].name);
		emit_text(&x->out, "]");
	}
	emit_text(&x->out, "],\n\"processes\":[");
}

static int begin(const struct session *s, const struct export_options *opt, struct outfile *f, struct exporter **ret)
{
	static const char place[] = "@DATA@";
	struct exporter *x = calloc(1, sizeof(*x));
	const char *split = memmem(html_page, html_page_end - html_page, place, sizeof(place) - 1);
	int rc;

	if (!x)
		return -ENOMEM;
	export_input_open(&x->in, s, opt);
	rc = emit_open(&x->out, f);
	if (!rc)
		rc = emit_open(&x->scratch, NULL);
	if (!rc)
		rc = trie_init(&x->details);
	if (!rc)
		rc = html_totals_init(&x->totals, s);
	if (rc || !split) {
		free_state(x);
		return rc ? rc : -EINVAL;
	}
	x->page_rest = split + sizeof(place) - 1;
	x->shortest_ns = shortest_drawn(s);
	emit_bytes(&x->out, html_page, split - html_page);
	write_info(x);
	*ret = x;
	return x->out.error;
}

static int process(struct exporter *x, uint32_t index, const struct recording_process *p)
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

static void write_threads_and_frames(struct exporter *x)
{
	size_t nr;
	const struct timeline *t = session_timelines(x->in.s, &nr);

	emit_text(&x->out, "],\n\"threads\":[");
	for (size_t i = 0; i < x->in.nr_threads; i++) {
		emit_string(&x->out, i ? ",[" : "[");
		text(x, x->in.threads[i].name);
		number(x, x->in.threads[i].tid);
		number(x, x->in.threads[i].pid);
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

/* --- events: eleven numbers each, starts as differences --- */

static int event(struct exporter *x, const struct export_event *e)
{
	const struct event_view *v = &e->view;
	size_t nr;
	const struct timeline *first = session_timelines(x->in.s, &nr);
	uint32_t detail;
	int rc = html_totals_add(&x->totals, e);

	if (!rc && v->type == EVENT_CSS_SELECTOR_MATCHING)
		rc = selector_table_add(&x->selectors, v->detail, v->hits, v->time_ns);
	if (rc)
		return rc;
	if (e->end_ns - e->start_ns < x->shortest_ns || x->drawn == DRAWN_MAX) {
		x->left_out++;
		return 0;
	}
	if (!x->drawn)
		write_threads_and_frames(x);
	emit_string(&x->out, x->drawn ? (x->drawn % 8 ? "," : ",\n") : "\n");
	x->drawn++;
	/* signed: a clamped event may begin a little before the one told before it */
	emit_i64(&x->out, (int64_t)(e->start_ns - x->last_ns));
	x->last_ns = e->start_ns;
	number(x, e->end_ns - e->start_ns);
	number(x, v->time_ns);
	number(x, v->overhead_ns);
	number(x, e->depth);
	number(x, v->flags);
	number(x, v->probe);
	number(x, v->thread);
	number(x, e->timeline - first);
	detail = trie_frame(&x->details, 0, v->detail);
	/* 0: no more details fit */
	number(x, detail == TRIE_NONE ? 0 : detail + 1);
	number(x, v->hits);
	return x->out.error;
}

/* --- what stands behind them --- */

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
		number(x, sum->hits);
		number(x, sum->time_ns);
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
		number(x, m[i].probe);
		number(x, m[i].thread);
		emit_text(&x->out, ",");
		safe_json(x, url ? url : "", url ? shown_url(&x->in.opt, url) : 0);
		emit_text(&x->out, "]");
	}
	emit_text(&x->out, "],\n\"losses\":[");
	for (size_t i = 0; i < nr_losses && i < MARKS_SHOWN; i++) {
		emit_string(&x->out, i ? ",[" : "[");
		emit_u64(&x->out, l[i].since_ns);
		number(x, l[i].ts_ns);
		number(x, l[i].probe);
		number(x, l[i].begins);
		number(x, l[i].ends);
		number(x, l[i].marks);
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

static int end(struct exporter *x, uint64_t too_deep, uint64_t clamped)
{
	if (!x->drawn)
		write_threads_and_frames(x);
	emit_text(&x->out, "],\n\"details\":[");
	for (uint32_t i = 0; i < x->details.nr_frames; i++) {
		emit_string(&x->out, i ? ",\n" : "\n");
		write_detail(x, x->details.frames[i].detail);
	}
	write_selectors(x);
	emit_text(&x->out, ",\n\"totals\":");
	html_totals_write(&x->totals, &x->out);
	write_marks(x);
	emit_text(&x->out, ",\n\"leftOut\":");
	emit_u64(&x->out, x->left_out);
	emit_text(&x->out, ",\"shortest\":");
	emit_u64(&x->out, x->shortest_ns);
	emit_text(&x->out, ",\"tooDeep\":");
	emit_u64(&x->out, session_get_counts(x->in.s)->too_deep + too_deep);
	emit_text(&x->out, ",\"cut\":");
	emit_u64(&x->out, clamped);
	emit_text(&x->out, "}");
	emit_bytes(&x->out, x->page_rest, html_page_end - x->page_rest);
	return emit_flush(&x->out);
}

const struct export_format export_html = {
	.name = "html",
	.extension = ".html",
	.summary = "one page to look at in any browser, without network",
	.begin = begin,
	.process = process,
	.event = event,
	.end = end,
	.free = free_state,
};
