// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Reads Chrome trace events, one at a time: of ours back to what they were, of others what a recording has a place for. */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/trace_events.h"
#include "export/import_build.h"
#include "export/shown.h"

#define MAX_SELECTORS 100000	/* of one SelectorStats event */

/* An open B, waiting for its E. */
struct open_begin { uint32_t item, thread; };

struct chrome {
	struct import *im;
	struct import_counts *counts;
	struct open_begin *open;
	size_t nr_open, cap_open;
	uint32_t last_recalculation;	/* item; SelectorStats belong to it */
	uint64_t start_ns, stop_ns;	/* as our own marks say; 0: they don't */
	char *frames[1024];	/* names of frames; their number is the index plus one */
	size_t nr_frames;
	struct import_args args;
};

static const char *string_of(const json_t *o, const char *key)
{
	return json_string_value(json_object_get(o, key));
}

/* Microseconds as nanoseconds; false if the member is no sensible number. */
static bool time_of(const json_t *o, const char *key, uint64_t *ret_ns)
{
	const json_t *v = json_object_get(o, key);
	double us = json_number_value(v);

	if (!json_is_number(v) || !isfinite(us) || us < 0 || us > 1e15)
		return false;
	if (json_is_integer(v))
		*ret_ns = (uint64_t)json_integer_value(v) * 1000;
	else
		*ret_ns = llround(us * 1000);
	return true;
}

static uint64_t count_of(const json_t *o, const char *key)
{
	json_int_t v = json_integer_value(json_object_get(o, key));

	return v < 0 ? 0 : v;
}

static uint64_t id_of(const json_t *v)
{
	const char *s = json_string_value(v);

	if (json_is_object(v)) {
		const json_t *local = json_object_get(v, "local");

		return id_of(local ? local : json_object_get(v, "global"));
	}
	return s ? strtoull(s, NULL, 0) : (uint64_t)json_integer_value(v);
}

/* A number for the frame's name, from 1; 0: none. */
static uint64_t frame_number(struct chrome *c, const char *name)
{
	if (!name || !*name)
		return 0;
	for (size_t i = 0; i < c->nr_frames; i++)
		if (!strcmp(c->frames[i], name))
			return i + 1;
	if (c->nr_frames == sizeof(c->frames) / sizeof(c->frames[0]))
		return 0;
	c->frames[c->nr_frames] = strndup(name, 64);
	return c->frames[c->nr_frames] ? ++c->nr_frames : 0;
}

/* What the names that DevTools knows mean, for traces that don't say it themselves. */
static int type_of(const char *name, const json_t *data)
{
	static const struct { const char *name; int type; } known[] = {
		{ "ParseHTML", EVENT_DOCUMENT_PARSING }, { "ParseAuthorStyleSheet", EVENT_CSS_PARSING },
		{ "v8.compile", EVENT_SCRIPT_COMPILATION }, { "v8.compileModule", EVENT_SCRIPT_COMPILATION },
		{ "V8.CompileCode", EVENT_SCRIPT_COMPILATION }, { "EvaluateScript", EVENT_SCRIPT_THREAD_EVALUATION },
		{ "FunctionCall", EVENT_SCRIPT_THREAD_EVALUATION }, { "v8.evaluateModule", EVENT_SCRIPT_THREAD_EVALUATION },
		{ "UpdateLayoutTree", EVENT_STYLE_RECALCULATION }, { "Layout", EVENT_LAYOUT }, { "Paint", EVENT_PAINT },
	};
	const char *given = string_of(data, "eventType");
	int type = given ? event_type_parse(given) : 0;

	for (size_t i = 0; !type && i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(known[i].name, name))
			type = known[i].type;
	return type ? type : EVENT_GENERIC;
}

static int enum_of(const char *(*name_of)(int), int end, const char *name)
{
	for (int i = 1; name && i < end; i++)
		if (name_of(i) && !strcmp(name_of(i), name))
			return i;
	return 0;
}

static void int_arg(struct chrome *c, const json_t *data, const char *key, int field)
{
	const json_t *v = json_object_get(data, key);

	if (json_is_integer(v))
		import_arg_int(&c->args, field, json_integer_value(v));
}

/* The arguments that a recording knows, from args.data or args.beginData. */
static uint32_t keep_args(struct chrome *c, const json_t *data, const json_t *begin, uint64_t id)
{
	const char *url = string_of(data, "url"), *frame = string_of(data, "frame");
	int thread_type = enum_of(shown_thread_type, THREAD_TYPE_END, string_of(data, "threadType"));
	int script_type = enum_of(shown_script_type, SCRIPT_TYPE_END, string_of(data, "scriptType"));

	c->args.nr = 0;
	if (!url)
		url = string_of(data, "styleSheetUrl");
	import_arg_text(&c->args, FIELD_URL, url ? url : string_of(begin, "url"));
	import_arg_text(&c->args, FIELD_SELECTOR, string_of(data, "selector"));
	import_arg_text(&c->args, FIELD_EVENT_NAME, string_of(data, "type"));
	import_arg_text(&c->args, FIELD_LABEL, string_of(data, "label"));
	int_arg(c, data, "x", FIELD_X);
	int_arg(c, data, "y", FIELD_Y);
	int_arg(c, data, "w", FIELD_W);
	int_arg(c, data, "h", FIELD_H);
	int_arg(c, data, "ox", FIELD_OX);
	int_arg(c, data, "oy", FIELD_OY);
	int_arg(c, data, "lineNumber", FIELD_LINE);
	int_arg(c, data, "columnNumber", FIELD_COLUMN);
	if (thread_type)
		import_arg_int(&c->args, FIELD_THREAD_TYPE, thread_type);
	if (script_type)
		import_arg_int(&c->args, FIELD_SCRIPT_TYPE, script_type);
	if (frame_number(c, frame ? frame : string_of(begin, "frame")))
		import_arg_int(&c->args, FIELD_FRAME, frame_number(c, frame ? frame : string_of(begin, "frame")));
	if (id)
		import_arg_int(&c->args, FIELD_ID, id);
	return import_keep_args(c->im, &c->args);
}

struct event {
	const json_t *o, *args, *data;
	const char *name, *cat;
	uint64_t ts_ns;
	uint32_t thread;
	char phase;
};

static uint8_t flags_of(const json_t *data)
{
	const char *flags = string_of(data, "flags");

	if (!flags)
		return 0;
	return (strstr(flags, "unwound") ? REC_F_UNWOUND : 0) | (strstr(flags, "clipped") ? REC_F_CLIPPED : 0);
}

static uint32_t add_span(struct chrome *c, const struct event *e)
{
	struct import_item item = {
		.kind = IMPORT_SPAN, .start_ns = e->ts_ns, .end_ns = e->ts_ns, .cpu_ns = UINT64_MAX, .self_ns = UINT64_MAX,
		.thread = e->thread, .parent = IMPORT_NONE, .flags = flags_of(e->data),
	};
	int type = type_of(e->name, e->data);
	uint64_t dur;

	item.probe = import_probe(c->im, e->name, e->cat, type, PROBE_KIND_SPAN, ROLE_NONE, "");
	item.args = keep_args(c, e->data, json_object_get(e->args, "beginData"), 0);
	if (time_of(e->o, "dur", &dur))
		item.end_ns += dur;
	time_of(e->o, "tdur", &item.cpu_ns);
	time_of(e->o, "self", &item.self_ns);
	uint32_t index = import_add(c->im, &item);

	if (type == EVENT_STYLE_RECALCULATION)
		c->last_recalculation = index;
	return index;
}

static bool add_begin(struct chrome *c, const struct event *e)
{
	uint32_t item = add_span(c, e);

	if (item == IMPORT_NONE)
		return false;
	if (c->nr_open == c->cap_open) {
		size_t cap = c->cap_open ? 2 * c->cap_open : 256;
		struct open_begin *open = reallocarray(c->open, cap, sizeof(*open));

		if (!open)
			return false;
		c->open = open;
		c->cap_open = cap;
	}
	c->open[c->nr_open++] = (struct open_begin){ .item = item, .thread = e->thread };
	return true;
}

/* Ends the thread's last begin. */
static bool add_end(struct chrome *c, const struct event *e)
{
	for (size_t i = c->nr_open; i--;) {
		struct import_item *item = import_item(c->im, c->open[i].item);

		if (c->open[i].thread != e->thread)
			continue;
		memmove(&c->open[i], &c->open[i + 1], (c->nr_open - i - 1) * sizeof(*c->open));
		c->nr_open--;
		if (item->end_ns < e->ts_ns)
			item->end_ns = e->ts_ns;
		return true;
	}
	c->counts->skipped++;
	return true;
}

static bool add_mark(struct chrome *c, const struct event *e, int kind, int role, const char *group, uint64_t id)
{
	struct import_item item = { .kind = IMPORT_MARK, .start_ns = e->ts_ns, .end_ns = e->ts_ns, .thread = e->thread,
				    .parent = IMPORT_NONE };

	item.probe = import_probe(c->im, e->name, e->cat, type_of(e->name, e->data), kind, role, group);
	item.args = keep_args(c, e->data, NULL, id);
	return import_add(c->im, &item) != IMPORT_NONE;
}

static bool add_selector_stats(struct chrome *c, const struct event *e)
{
	const json_t *timings = json_object_get(json_object_get(e->args, "selector_stats"), "selector_timings"), *t;
	struct import_item *parent = import_item(c->im, c->last_recalculation);
	struct import_item item = { .kind = IMPORT_SUM, .start_ns = e->ts_ns, .end_ns = e->ts_ns, .thread = e->thread,
				    .parent = c->last_recalculation };
	size_t i;

	if (parent && parent->thread == e->thread) {
		item.start_ns = parent->start_ns;
		item.end_ns = parent->end_ns;
	} else {
		item.parent = IMPORT_NONE;
	}
	item.probe = import_probe(c->im, "Match", e->cat, EVENT_CSS_SELECTOR_MATCHING, PROBE_KIND_AGGREGATE, ROLE_NONE, "");
	json_array_foreach(timings, i, t) {
		const char *selector = string_of(t, "selector"), *sheet = string_of(t, "style_sheet_id");

		if (i == MAX_SELECTORS)
			break;
		c->args.nr = 0;
		import_arg_text(&c->args, FIELD_SELECTOR, selector);
		import_arg_text(&c->args, FIELD_URL, sheet && *sheet ? sheet : NULL);
		item.args = import_keep_args(c->im, &c->args);
		item.hits = count_of(t, "match_attempts") > UINT32_MAX ? UINT32_MAX : count_of(t, "match_attempts");
		item.cpu_ns = 0;
		time_of(t, "elapsed (us)", &item.cpu_ns);
		if (item.hits && import_add(c->im, &item) == IMPORT_NONE)
			return false;
	}
	return true;
}

static bool add_loss(struct chrome *c, const struct event *e)
{
	const char *probe = string_of(e->data, "label");
	struct import_item item = { .kind = IMPORT_LOSS, .start_ns = e->ts_ns, .end_ns = e->ts_ns, .thread = e->thread };

	time_of(e->data, "since", &item.start_ns);
	if (item.start_ns > item.end_ns)
		item.start_ns = item.end_ns;
	item.hits = count_of(e->data, "begins");
	item.ends = count_of(e->data, "ends");
	item.marks = count_of(e->data, "marks");
	item.probe = import_probe(c->im, probe ? probe : "?", "", EVENT_GENERIC, PROBE_KIND_SPAN, ROLE_NONE, "");
	return import_add(c->im, &item) != IMPORT_NONE;
}

static bool add_instant(struct chrome *c, const struct event *e)
{
	bool ours = !strcmp(e->cat, "framescope");

	if (!strcmp(e->name, "SelectorStats"))
		return add_selector_stats(c, e);
	if (ours && !strcmp(e->name, "Recording started"))
		c->start_ns = e->ts_ns;
	else if (ours && !strcmp(e->name, "Recording stopped"))
		c->stop_ns = e->ts_ns;
	else if (ours && !strcmp(e->name, "Records lost"))
		return add_loss(c, e);
	else
		return add_mark(c, e, PROBE_KIND_MARK, ROLE_NONE, "", 0);
	return true;
}

/* A frame's life: ours as objects, named by the number that the frame's name ends in. */
static bool add_frame(struct chrome *c, const struct event *e)
{
	const json_t *snapshot = json_object_get(e->args, "snapshot");
	struct import_item item = { .kind = IMPORT_FRAME, .start_ns = e->ts_ns, .end_ns = e->ts_ns, .thread = e->thread,
				    .parent = IMPORT_NONE };
	bool gone = e->phase == 'D';
	char name[40];

	if (e->phase == 'N' || (!gone && !snapshot))
		return true;
	snprintf(name, sizeof(name), "%032llx", (unsigned long long)id_of(json_object_get(e->o, "id")));
	c->args.nr = 0;
	import_arg_int(&c->args, FIELD_FRAME, frame_number(c, name));
	if (!gone) {
		const char *url = string_of(snapshot, "url");
		uint64_t parent = id_of(json_object_get(snapshot, "parent"));

		import_arg_text(&c->args, FIELD_URL, url && *url ? url : NULL);
		snprintf(name, sizeof(name), "%032llx", (unsigned long long)parent);
		if (parent)
			import_arg_int(&c->args, FIELD_PARENT_FRAME, frame_number(c, name));
	}
	item.args = import_keep_args(c->im, &c->args);
	item.probe = import_probe(c->im, gone ? "Frame removed" : "Frame created", e->cat, EVENT_GENERIC, PROBE_KIND_MARK,
				  gone ? ROLE_FRAME_REMOVED : ROLE_FRAME_CREATED, "");
	return import_add(c->im, &item) != IMPORT_NONE;
}

/* One of our calls that couldn't be a slice: a sum of calls, or what a viewer's own tracks have no name for. */
static bool add_call(struct chrome *c, const struct event *e)
{
	struct import_item item = { .kind = IMPORT_SUM, .start_ns = e->ts_ns, .end_ns = e->ts_ns, .thread = e->thread,
				    .parent = IMPORT_NONE, .hits = count_of(e->o, "hits"), .self_ns = UINT64_MAX };
	uint64_t lasts;

	if (e->phase != 'b')
		return true;
	if (!item.hits)
		item.kind = IMPORT_SPAN;
	if (time_of(e->o, "lasts", &lasts))
		item.end_ns += lasts;
	time_of(e->o, "self", &item.self_ns);
	if (item.kind == IMPORT_SPAN)
		item.cpu_ns = UINT64_MAX;
	else if (item.self_ns != UINT64_MAX)
		item.cpu_ns = item.self_ns;
	item.flags = flags_of(e->data);
	item.probe = import_probe(c->im, e->name, e->cat, type_of(e->name, e->data),
				  item.hits ? PROBE_KIND_AGGREGATE : PROBE_KIND_SPAN, ROLE_NONE, "");
	item.args = keep_args(c, e->data, NULL, 0);
	return import_add(c->im, &item) != IMPORT_NONE;
}

static bool add_async(struct chrome *c, const struct event *e)
{
	uint64_t id = id_of(json_object_get(e->o, json_object_get(e->o, "id2") ? "id2" : "id"));

	if (json_is_true(json_object_get(e->o, "call")))
		return add_call(c, e);
	return add_mark(c, e, e->phase == 'b' ? PROBE_KIND_ASYNC_BEGIN : e->phase == 'e' ? PROBE_KIND_ASYNC_END : PROBE_KIND_MARK,
			ROLE_NONE, e->name, id);
}

static bool add_event(struct chrome *c, const struct event *e)
{
	switch (e->phase) {
	case 'X':
		/* the tasks that we put around calls for DevTools weren't recorded */
		if (c->start_ns && !strcmp(e->name, "RunTask") && !json_object_get(e->o, "self"))
			return true;
		return add_span(c, e) != IMPORT_NONE;
	case 'B':
		return add_begin(c, e);
	case 'E':
		return add_end(c, e);
	case 'i': case 'I': case 'R':
		return add_instant(c, e);
	case 'b': case 'n': case 'e':
		return add_async(c, e);
	case 's': case 't':
		return add_mark(c, e, PROBE_KIND_FLOW_BEGIN, ROLE_NONE, e->name, id_of(json_object_get(e->o, "id")));
	case 'f':
		return add_mark(c, e, PROBE_KIND_FLOW_END, ROLE_NONE, e->name, id_of(json_object_get(e->o, "id")));
	case 'N': case 'O': case 'D':
		if (!strcmp(e->name, "Frame") && !strcmp(e->cat, "frame"))
			return add_frame(c, e);
	}
	c->counts->skipped++;
	return true;
}

static bool add_metadata(struct chrome *c, const json_t *o, uint64_t pid, uint64_t tid)
{
	const char *what = string_of(o, "name"), *name = string_of(json_object_get(o, "args"), "name");

	if (what && !strcmp(what, "process_name"))
		return import_process(c->im, pid, name ? name : "") != IMPORT_NONE;
	if (what && !strcmp(what, "thread_name"))
		return import_thread(c->im, pid, tid, name ? name : "") != IMPORT_NONE;
	return true;
}

/* false: no memory, or a limit was reached. */
static bool read_event(struct chrome *c, const json_t *o)
{
	const char *phase = string_of(o, "ph"), *name = string_of(o, "name"), *cat = string_of(o, "cat");
	uint64_t pid = count_of(o, "pid"), tid = count_of(o, "tid");
	struct event e = { .o = o, .args = json_object_get(o, "args"), .name = name ? name : "?", .cat = cat ? cat : "" };

	if (!phase || !*phase)
		return c->counts->skipped++, true;
	if (*phase == 'M')
		return add_metadata(c, o, pid, tid);
	e.phase = *phase;
	e.data = json_object_get(e.args, "data");
	if (!time_of(o, "ts", &e.ts_ns))
		return c->counts->skipped++, true;
	e.thread = import_thread(c->im, pid, tid, NULL);
	return e.thread != IMPORT_NONE && add_event(c, &e);
}

static int read_events(struct chrome *c, struct trace_events *events, struct error *err)
{
	json_t *o;
	int rc;

	while ((rc = trace_events_next(events, &o)) > 0) {
		bool ok = o ? read_event(c, o) : (c->counts->skipped++, true);

		json_decref(o);
		if (!ok)
			return error_set(err, ERR_INPUT, -E2BIG, "the trace has more events, threads or processes than fit into "
					 "memory or into one recording; import a part of it");
	}
	/* a trace that was cut off: what stands before is whole */
	c->counts->truncated |= events->truncated;
	if (rc == -EINVAL)
		return error_set(err, ERR_INPUT, rc, "the trace is damaged: there is neither ',' nor ']' behind an event");
	return rc;
}

int import_chrome(struct import *im, char *text, size_t n, struct import_counts *counts, struct import_range *ret_range,
		  struct error *err)
{
	struct chrome *c = calloc(1, sizeof(*c));
	struct trace_events events;
	uint64_t last_ns = 0;
	int rc;

	if (!c)
		return -ENOMEM;
	c->im = im;
	c->counts = counts;
	c->last_recalculation = IMPORT_NONE;
	trace_events_of_text(&events, text, n);
	rc = read_events(c, &events, err);
	trace_events_free(&events);
	for (size_t i = 0; import_item(im, i); i++)
		if (import_item(im, i)->end_ns > last_ns)
			last_ns = import_item(im, i)->end_ns;
	if (c->stop_ns > last_ns)
		last_ns = c->stop_ns;
	/* what never ended was open at the end */
	for (size_t i = 0; i < c->nr_open; i++) {
		import_item(im, c->open[i].item)->end_ns = last_ns;
		import_item(im, c->open[i].item)->flags |= REC_F_CLIPPED;
	}
	if (c->start_ns)
		ret_range->base_ns = c->start_ns;
	ret_range->end_ns = c->stop_ns;
	for (size_t i = 0; i < c->nr_frames; i++)
		free(c->frames[i]);
	free(c->open);
	free(c);
	return rc;
}
