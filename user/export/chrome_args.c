// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Names, categories and arguments of Chrome trace events, with a cache: most calls look like one before. */
#include <stdlib.h>
#include "export/chrome.h"
#include "export/shown.h"

/* A tail that is longer isn't kept: 4096 of these are 8 MiB. */
#define TAIL_MAX 2048

/* What DevTools expects to find in args.beginData instead of args.data; it fails without it. */
static bool wants_begin_data(const char *name)
{
	return !strcmp(name, "ParseHTML") || !strcmp(name, "UpdateLayoutTree") || !strcmp(name, "Layout");
}

/*
 * What the panel reads of its own events when it shows their details, and fails without. We don't know these values, and
 * where a text does as well as a number, it says so.
 */
static const char *wanted_data(const char *name)
{
	static const struct { const char *name, *members; } wanted[] = {
		{ "TimerFire", ",\"timerId\":\"not recorded\"" },
		{ "TimerRemove", ",\"timerId\":\"not recorded\"" },
		{ "TimerInstall", ",\"timerId\":\"not recorded\",\"timeout\":0,\"singleShot\":true" },
		{ "FireAnimationFrame", ",\"id\":\"not recorded\"" },
		{ "RunPostTaskCallback", ",\"delay\":0,\"priority\":\"not recorded\"" },
	};

	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		if (!strcmp(wanted[i].name, name))
			return wanted[i].members;
	return "";
}

static void url_member(struct exporter *x, struct emit *out, const char *key, const char *url)
{
	if (!url)
		return;
	emit_text(out, ",\"");
	emit_string(out, key);
	emit_text(out, "\":");
	emit_json_n(out, url, shown_url(&x->in.opt, url));
}

/* One line that says what the event is about, for viewers that show no more. */
static void detail_text(struct exporter *x, struct emit *out, const struct event_detail *d)
{
	if (d->url)
		url_member(x, out, "detail", d->url);
	else if (d->selector)
		emit_member(out, "detail", shown_text(&x->in.opt, d->selector));
	else if (d->event_name)
		emit_member(out, "detail", d->event_name);
	else
		emit_member(out, "detail", shown_text(&x->in.opt, d->label));
}

void chrome_data(struct exporter *x, struct emit *out, const char *name, const struct event_detail *d,
		 const struct timeline *t, int type, unsigned int flags, bool detail)
{
	char frame[33], words[128];
	const char *key;
	int32_t value;

	emit_text(out, "\"data\":{\"eventType\":");
	emit_json(out, event_type_name(type));
	if (t && t->frame) {
		shown_frame_id(t, frame);
		emit_member(out, "frame", frame);
	}
	url_member(x, out, "url", d->url);
	emit_member(out, "selector", shown_text(&x->in.opt, d->selector));
	/* where DevTools looks for the name of an event and of a style sheet */
	emit_member(out, "type", d->event_name || strcmp(name, "EventDispatch") ? d->event_name : "unknown");
	if (!strcmp(name, "ParseAuthorStyleSheet"))
		url_member(x, out, "styleSheetUrl", d->url);
	emit_string(out, wanted_data(name));
	emit_member(out, "label", shown_text(&x->in.opt, d->label));
	for (int i = 0; i < SHOWN_AREA; i++)
		if (shown_area(d, i, &key, &value))
			emit_member_i64(out, key, value);
	if (d->has & 1u << FIELD_LINE)
		emit_member_u64(out, "lineNumber", d->line);
	if (d->has & 1u << FIELD_COLUMN)
		emit_member_u64(out, "columnNumber", d->column);
	emit_member(out, "threadType", shown_thread_type(d->thread_type));
	emit_member(out, "scriptType", shown_script_type(d->script_type));
	if (*shown_flags(flags, words, sizeof(words)))
		emit_member(out, "flags", words);
	emit_text(out, "}");
	if (detail)
		detail_text(x, out, d);
}

const struct timeline *chrome_viewers_frame(const struct exporter *x, const struct timeline *t)
{
	const struct timeline *m = x->main_frame;
	bool follows = m && m->page_frame_id && t->process == m->process && t->page_frame_id == m->page_frame_id;

	return follows ? m : t;
}

static void begin_data(struct exporter *x, struct emit *out, const char *name, const struct export_event *e)
{
	char frame[33];

	emit_text(out, "\"beginData\":{");
	if (!strcmp(name, "Layout"))
		emit_text(out, "\"dirtyObjects\":\"?\",\"totalObjects\":\"?\"");
	else
		emit_text(out, "\"startLine\":0");
	if (e->timeline->frame) {
		shown_frame_id(chrome_viewers_frame(x, e->timeline), frame);
		emit_member(out, "frame", frame);
	}
	url_member(x, out, "url", e->view.detail->url);
	emit_text(out, "},");
}

static void write_tail(struct exporter *x, const struct export_event *e, const char *name, const char *cat)
{
	struct emit *out = &x->scratch;

	out->nr = 0;
	emit_member(out, "name", *name ? name : "?");
	emit_member(out, "cat", *cat ? cat : "framescope");
	emit_text(out, ",\"args\":{");
	if (wants_begin_data(name))
		begin_data(x, out, name, e);
	/* the panel fails to show the event's details without it, and takes a text as well as a number */
	if (!strcmp(name, "UpdateLayoutTree"))
		emit_text(out, "\"elementCount\":\"not recorded\",");
	chrome_data(x, out, name, e->view.detail, e->timeline, e->view.type, e->view.flags, true);
	if (out->error)
		x->out.error = out->error;
}

static size_t slot_of(const struct export_event *e)
{
	uint64_t h = (uintptr_t)e->view.detail >> 3;

	h ^= (uint64_t)e->view.probe << 20 ^ (uint64_t)e->timeline->id << 40;
	return h * 0x9e3779b97f4a7c15ull >> 40 & (CHROME_TAILS - 1);
}

static void cached_tail(struct exporter *x, const struct export_event *e, const char *name, const char *cat)
{
	struct chrome_tail *slot = &x->tails[slot_of(e)];
	uint32_t probe_flags = (uint32_t)e->view.probe << 8 | e->view.flags;

	if (!slot->text || slot->detail != e->view.detail || slot->timeline != e->timeline ||
	    slot->probe_flags != probe_flags) {
		char *text;

		write_tail(x, e, name, cat);
		if (x->scratch.nr > TAIL_MAX) {
			emit_bytes(&x->out, x->scratch.data, x->scratch.nr);
			return;
		}
		text = realloc(slot->text, x->scratch.nr + 1);
		if (!text) {
			emit_bytes(&x->out, x->scratch.data, x->scratch.nr);
			return;
		}
		memcpy(text, x->scratch.data, x->scratch.nr);
		*slot = (struct chrome_tail){ .detail = e->view.detail, .timeline = e->timeline,
					      .probe_flags = probe_flags, .nr = x->scratch.nr, .text = text };
	}
	emit_bytes(&x->out, slot->text, slot->nr);
}

void chrome_tail(struct exporter *x, const struct export_event *e, const char *name, const char *cat)
{
	cached_tail(x, e, name, cat);
	shown_metrics(&x->out, &x->in, &e->view);
	emit_text(&x->out, "}}");
}

/*
 * The six keys that DevTools' Selector Stats read. A probe counts calls, so attempts are hits; that they matched is
 * all that is known of them, and no fast rejection is ever seen. For our import alone: what measuring cost, and how many
 * of the hits stand in the trace as slices, too.
 */
static void selector_timing(struct exporter *x, const struct selector_sum *sum)
{
	const struct event_detail *d = sum->detail;

	emit_text(&x->out, "{\"elapsed (us)\":");
	emit_us(&x->out, sum->time_ns);
	if (sum->overhead_ns) {
		emit_text(&x->out, ",\"overhead (us)\":");
		emit_us(&x->out, sum->overhead_ns);
	}
	if (sum->single && !x->profile)
		emit_member_u64(&x->out, "slices", sum->single);
	emit_text(&x->out, ",\"fast_reject_count\":0");
	emit_member_u64(&x->out, "match_attempts", sum->hits);
	emit_member_u64(&x->out, "match_count", sum->hits);
	emit_member(&x->out, "selector", d->selector ? shown_text(&x->in.opt, d->selector) : "(unknown)");
	emit_text(&x->out, ",\"style_sheet_id\":");
	if (d->url)
		emit_json_n(&x->out, d->url, shown_url(&x->in.opt, d->url));
	else
		emit_text(&x->out, "\"\"");
	emit_text(&x->out, "}");
}

bool chrome_selector_stats(struct exporter *x, const struct export_event *e)
{
	int rc = selector_table_collect(&x->selectors, x->in.s, e->view.id);

	if (rc)
		x->out.error = rc;
	if (rc || !x->selectors.nr)
		return false;
	/* right behind its recalculation: DevTools gives it to the last one seen in the file */
	chrome_item(x, x->instant, e->end_ns, e->view.thread);
	emit_text(&x->out, ",\"s\":\"t\"");
	chrome_name(x, "SelectorStats", "disabled-by-default-blink.debug");
	emit_text(&x->out, "\"selector_stats\":{\"selector_timings\":[");
	for (size_t i = 0; i < x->selectors.nr; i++) {
		if (i)
			emit_text(&x->out, ",");
		selector_timing(x, &x->selectors.sums[i]);
	}
	emit_text(&x->out, "]}}}");
	return true;
}
