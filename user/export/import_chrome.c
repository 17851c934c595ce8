// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Reads Chrome trace events, one at a time: of ours back to what they were, of others what a recording has a place for. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/trace_events.h"
#include "export/import_chrome.h"
#include "export/import_state.h"

#define MAX_SELECTORS 100000	/* of one SelectorStats event */

struct event {
	const json_t *o, *args, *data;
	const char *name, *cat;
	uint64_t ts_ns;
	uint32_t thread;
	char phase;
};

/* Only our traces tell these. */
static void read_self(const struct event *e, struct import_item *item)
{
	if (trace_event_time(e->o, "self", &item->self_ns))
		trace_event_time(e->o, "overhead", &item->overhead_ns);
}

static uint32_t add_span(struct chrome *c, const struct event *e)
{
	struct import_item item = {
		.kind = IMPORT_SPAN, .start_ns = e->ts_ns, .end_ns = e->ts_ns, .cpu_ns = UINT64_MAX, .self_ns = UINT64_MAX,
		.thread = e->thread, .parent = IMPORT_NONE, .flags = chrome_flags_of(e->data),
	};
	int type = chrome_type_of(e->name, e->data);
	uint64_t dur;

	item.probe = import_probe(c->im, e->name, e->cat, type, PROBE_KIND_SPAN, ROLE_NONE, "");
	item.args = chrome_keep_args(c, e->data, json_object_get(e->args, "beginData"), 0);
	if (trace_event_time(e->o, "dur", &dur))
		item.end_ns += dur;
	trace_event_time(e->o, "tdur", &item.cpu_ns);
	read_self(e, &item);
	uint32_t index = import_add(c->im, &item);

	if (type == EVENT_STYLE_RECALCULATION)
		c->last_recalculation = index;
	return index;
}

/* Begins wait in a list per thread, linked by the items' parents, which calls have no other use for. */
static bool add_begin(struct chrome *c, const struct event *e)
{
	uint32_t item = add_span(c, e);

	if (item == IMPORT_NONE)
		return false;
	import_item(c->im, item)->parent = c->open[e->thread] - 1;	/* of none: IMPORT_NONE */
	c->open[e->thread] = item + 1;
	return true;
}

/* Ends the thread's last begin. */
static void add_end(struct chrome *c, const struct event *e)
{
	struct import_item *item = import_item(c->im, c->open[e->thread] - 1);

	if (!item) {
		c->counts->skipped++;
		return;
	}
	c->open[e->thread] = item->parent + 1;
	if (item->end_ns < e->ts_ns)
		item->end_ns = e->ts_ns;
}

static bool add_mark(struct chrome *c, const struct event *e, int kind, int role, const char *group, uint64_t id)
{
	struct import_item item = { .kind = IMPORT_MARK, .start_ns = e->ts_ns, .end_ns = e->ts_ns, .thread = e->thread,
				    .parent = IMPORT_NONE };

	item.probe = import_probe(c->im, e->name, e->cat, chrome_type_of(e->name, e->data), kind, role, group);
	item.args = chrome_keep_args(c, e->data, NULL, id);
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
		const char *selector = chrome_string_of(t, "selector"), *sheet = chrome_string_of(t, "style_sheet_id");
		uint32_t slices = chrome_count32_of(t, "slices");

		if (i == MAX_SELECTORS)
			break;
		c->args.nr = 0;
		import_arg_text(&c->args, FIELD_SELECTOR, selector);
		import_arg_text(&c->args, FIELD_URL, sheet && *sheet ? sheet : NULL);
		item.args = import_keep_args(c->im, &c->args);
		item.hits = chrome_count32_of(t, "match_attempts");
		item.hits -= slices < item.hits ? slices : item.hits;
		item.cpu_ns = 0;
		trace_event_time(t, "elapsed (us)", &item.cpu_ns);
		item.overhead_ns = 0;
		trace_event_time(t, "overhead (us)", &item.overhead_ns);
		if (item.hits && import_add(c->im, &item) == IMPORT_NONE)
			return false;
	}
	return true;
}

static bool add_loss(struct chrome *c, const struct event *e)
{
	const char *probe = chrome_string_of(e->data, "label");
	struct import_item item = { .kind = IMPORT_LOSS, .start_ns = e->ts_ns, .end_ns = e->ts_ns, .thread = e->thread };

	trace_event_time(e->data, "since", &item.start_ns);
	if (item.start_ns > item.end_ns)
		item.start_ns = item.end_ns;
	item.hits = chrome_count32_of(e->data, "begins");
	item.ends = chrome_count32_of(e->data, "ends");
	item.marks = chrome_count32_of(e->data, "marks");
	item.probe = import_probe(c->im, probe ? probe : "?", "", EVENT_GENERIC, PROBE_KIND_SPAN, ROLE_NONE, "");
	return import_add(c->im, &item) != IMPORT_NONE;
}

static bool add_instant(struct chrome *c, const struct event *e)
{
	bool ours = !strcmp(e->cat, "framescope");

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
	snprintf(name, sizeof(name), "%032llx", (unsigned long long)chrome_id_of(json_object_get(e->o, "id")));
	c->args.nr = 0;
	import_arg_int(&c->args, FIELD_FRAME, chrome_frame_number(c, name));
	if (!gone) {
		const char *url = chrome_string_of(snapshot, "url");
		uint64_t parent = chrome_id_of(json_object_get(snapshot, "parent"));

		import_arg_text(&c->args, FIELD_URL, url && *url ? url : NULL);
		/* one that is created without a parent is a main frame: any other one has some, if none that is known */
		if (parent)
			snprintf(name, sizeof(name), "%032llx", (unsigned long long)parent);
		else
			snprintf(name, sizeof(name), "unknown parent");
		if (parent || json_is_false(json_object_get(snapshot, "main")))
			import_arg_int(&c->args, FIELD_PARENT_FRAME, chrome_frame_number(c, name));
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
				    .parent = IMPORT_NONE, .hits = chrome_count32_of(e->o, "hits"), .self_ns = UINT64_MAX };
	uint64_t lasts;

	if (e->phase != 'b')
		return true;
	if (!item.hits)
		item.kind = IMPORT_SPAN;
	if (trace_event_time(e->o, "lasts", &lasts))
		item.end_ns += lasts;
	read_self(e, &item);
	if (item.kind == IMPORT_SPAN)
		item.cpu_ns = UINT64_MAX;
	else if (item.self_ns != UINT64_MAX)
		item.cpu_ns = item.self_ns;
	item.flags = chrome_flags_of(e->data);
	item.probe = import_probe(c->im, e->name, e->cat, chrome_type_of(e->name, e->data),
				  item.hits ? PROBE_KIND_AGGREGATE : PROBE_KIND_SPAN, ROLE_NONE, "");
	item.args = chrome_keep_args(c, e->data, NULL, 0);
	return import_add(c->im, &item) != IMPORT_NONE;
}

/* The place of the operation that the event belongs to: category and id say which. */
static struct operation *operation_of(struct chrome *c, const struct event *e, uint64_t id, uint64_t *ret_key)
{
	uint64_t key = 14695981039346656037ull;

	for (const char *p = e->cat; *p; p++)
		key = (key ^ (unsigned char)*p) * 1099511628211ull;
	key = (key ^ id) * 0x9e3779b97f4a7c15ull;
	*ret_key = key;
	return &c->operations[key >> 40 & (OPERATIONS - 1)];
}

static bool add_async(struct chrome *c, const struct event *e)
{
	uint64_t id = chrome_id_of(json_object_get(e->o, json_object_get(e->o, "id2") ? "id2" : "id")), key;
	struct operation *operation = operation_of(c, e, id, &key);

	if (json_is_true(json_object_get(e->o, "call")))
		return add_call(c, e);
	if (e->phase == 'b') {
		operation->key = key;
		snprintf(operation->group, sizeof(operation->group), "%s", e->name);
		return add_mark(c, e, PROBE_KIND_ASYNC_BEGIN, ROLE_NONE, e->name, id);
	}
	if (e->phase == 'e')
		return add_mark(c, e, PROBE_KIND_ASYNC_END, ROLE_NONE, e->name, id);
	return add_mark(c, e, PROBE_KIND_MARK, ROLE_NONE, operation->key == key ? operation->group : e->name, id);
}

static bool add_event(struct chrome *c, const struct event *e)
{
	/* Chromium's own has a duration, but no call lies in it: it stands behind the one that it is about */
	if (!strcmp(e->name, "SelectorStats") && strchr("XiI", e->phase))
		return add_selector_stats(c, e);
	switch (e->phase) {
	case 'X':
		/* the tasks that we put around calls for DevTools weren't recorded */
		if (c->start_ns && !strcmp(e->name, "RunTask") && !json_object_get(e->o, "self"))
			return true;
		return add_span(c, e) != IMPORT_NONE;
	case 'B':
		return add_begin(c, e);
	case 'E':
		add_end(c, e);
		return true;
	case 'i': case 'I': case 'R':
		return add_instant(c, e);
	case 'b': case 'n': case 'e':
		return add_async(c, e);
	case 's': case 't':
		return add_mark(c, e, PROBE_KIND_FLOW_BEGIN, ROLE_NONE, e->name, chrome_id_of(json_object_get(e->o, "id")));
	case 'f':
		return add_mark(c, e, PROBE_KIND_FLOW_END, ROLE_NONE, e->name, chrome_id_of(json_object_get(e->o, "id")));
	case 'N': case 'O': case 'D':
		if (!strcmp(e->name, "Frame") && !strcmp(e->cat, "frame"))
			return add_frame(c, e);
	}
	c->counts->skipped++;
	return true;
}

static bool add_metadata(struct chrome *c, const json_t *o)
{
	uint64_t pid = chrome_task_of(json_object_get(o, "pid")), tid = chrome_task_of(json_object_get(o, "tid"));
	const char *what = chrome_string_of(o, "name"), *name = chrome_string_of(json_object_get(o, "args"), "name");

	if (what && !strcmp(what, "process_name"))
		return import_process(c->im, pid, name ? name : "") != IMPORT_NONE;
	if (what && !strcmp(what, "thread_name"))
		return import_thread(c->im, pid, tid, name ? name : "") != IMPORT_NONE;
	return true;
}

/* The thread of an event; one that is known by a text is named by it. */
static uint32_t thread_of(struct chrome *c, const json_t *o)
{
	const json_t *pid = json_object_get(o, "pid"), *tid = json_object_get(o, "tid");
	size_t nr_procs = c->im->procs.nr, nr_threads = c->im->threads.nr;
	uint64_t p = chrome_task_of(pid), t = chrome_task_of(tid);
	uint32_t thread = import_thread(c->im, p, t, NULL);

	if (c->im->procs.nr > nr_procs && json_is_string(pid))
		import_process(c->im, p, json_string_value(pid));
	if (c->im->threads.nr > nr_threads && json_is_string(tid))
		import_thread(c->im, p, t, json_string_value(tid));
	return thread;
}

/* false: no memory, or a limit was reached. */
static bool read_event(struct chrome *c, const json_t *o)
{
	const char *phase = chrome_string_of(o, "ph"), *name = chrome_string_of(o, "name"), *cat = chrome_string_of(o, "cat");
	struct event e = { .o = o, .args = json_object_get(o, "args"), .name = name ? name : "?", .cat = cat ? cat : "" };

	if (!phase || !*phase)
		return c->counts->skipped++, true;
	if (*phase == 'M')
		return add_metadata(c, o);
	e.phase = *phase;
	e.data = json_object_get(e.args, "data");
	if (!trace_event_time(o, "ts", &e.ts_ns))
		return c->counts->skipped++, true;
	e.thread = thread_of(c, o);
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

/* What never ended was open at the end. */
static void close_open(struct chrome *c, uint64_t ns)
{
	struct import_item *item;

	for (size_t i = 0; i < IMPORT_MAX_TASKS; i++)
		for (; (item = import_item(c->im, c->open[i] - 1)); c->open[i] = item->parent + 1) {
			item->end_ns = ns;
			item->flags |= REC_F_CLIPPED;
		}
}

int import_chrome(struct import *im, char *text, size_t n, struct import_counts *counts, struct import_range *ret_range,
		  struct error *err)
{
	struct chrome *c = calloc(1, sizeof(*c));
	struct trace_events events;
	uint64_t last_ns = 0;
	int rc;

	if (!c || !(c->open = calloc(IMPORT_MAX_TASKS, sizeof(*c->open)))) {
		free(c);
		return -ENOMEM;
	}
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
	close_open(c, last_ns);
	if (c->start_ns)
		ret_range->base_ns = c->start_ns;
	ret_range->end_ns = c->stop_ns;
	for (size_t i = 0; i < FRAME_SLOTS; i++)
		free(c->frames[i].name);
	free(c->open);
	free(c);
	return rc;
}
