// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * One HTML file with the recording inside: a page (report.html) that needs no network, and its data as JSON in a script
 * element. Totals are computed here, over all events; the events drawn are the longest when there are too many.
 */
#include <errno.h>
#include <stdlib.h>
#include "export/formats.h"
#include "export/html.h"

#define DRAWN_MAX 1000000	/* events that a browser shows well */

extern const char html_page[], html_page_end[];	/* report.html; see html_page.c */

static void free_state(struct exporter *x)
{
	trie_free(&x->details);
	selector_table_free(&x->selectors);
	html_totals_free(&x->totals);
	emit_close(&x->out);
	emit_close(&x->scratch);
	free(x);
}

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
	html_info(x);
	*ret = x;
	return x->out.error;
}

/* Eleven numbers each and the metrics' (null: it has none), starts as differences. */
static int event(struct exporter *x, const struct export_event *e)
{
	const struct event_view *v = &e->view;
	size_t nr;
	const struct timeline *first = session_timelines(x->in.s, &nr);
	uint32_t detail;
	int rc = html_totals_add(&x->totals, e);

	if (!rc && v->type == EVENT_CSS_SELECTOR_MATCHING)
		rc = selector_table_add(&x->selectors, v);
	if (rc)
		return rc;
	if (e->end_ns - e->start_ns < x->shortest_ns || x->drawn == DRAWN_MAX) {
		x->left_out++;
		return 0;
	}
	if (!x->drawn)
		html_threads_and_frames(x);
	emit_string(&x->out, x->drawn ? (x->drawn % 8 ? "," : ",\n") : "\n");
	x->drawn++;
	/* signed: a clamped event may begin a little before the one told before it */
	emit_i64(&x->out, (int64_t)(e->start_ns - x->last_ns));
	x->last_ns = e->start_ns;
	html_number(x, e->end_ns - e->start_ns);
	html_number(x, v->time_ns);
	html_number(x, v->overhead_ns);
	html_number(x, e->depth);
	html_number(x, v->flags);
	html_number(x, v->probe);
	html_number(x, v->thread);
	html_number(x, e->timeline - first);
	detail = trie_frame(&x->details, 0, v->detail);
	/* 0: no more details fit */
	html_number(x, detail == TRIE_NONE ? 0 : detail + 1);
	html_number(x, v->hits);
	for (uint32_t i = 0; i < x->in.info->nr_metrics; i++)
		if (v->metrics)
			html_number(x, v->metrics[i]);
		else
			emit_text(&x->out, ",null");
	return x->out.error;
}

static int end(struct exporter *x, uint64_t too_deep, uint64_t clamped)
{
	if (!x->drawn)
		html_threads_and_frames(x);
	html_rest(x);
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
	.process = html_process,
	.event = event,
	.end = end,
	.free = free_state,
};
