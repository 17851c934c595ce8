// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The profile of the Chrome trace format that the DevTools Performance panel takes for a page's own trace: frame tree,
 * Main track, its native names, tasks. In that mode it draws no other names, so other calls go to tracks of ours, by
 * the way that pages have for theirs (user timing with a `devtools` detail).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include "export/devtools.h"
#include "export/shown.h"

/* The calls that the panel draws; its instants and markers are not among them. */
static const char *const native_names[] = {
	"RunTask", "FunctionCall", "EvaluateScript", "v8.compile", "v8.compileModule", "V8.CompileCode",
	"V8.OptimizeCode", "v8.evaluateModule", "v8.produceCache", "v8.produceModuleCache",
	"v8.parseOnBackground", "EventDispatch", "TimerFire", "TimerInstall", "TimerRemove",
	"FireAnimationFrame", "RequestAnimationFrame", "CancelAnimationFrame", "FireIdleCallback",
	"RequestIdleCallback", "RunMicrotasks", "RunPostTaskCallback", "MinorGC", "MajorGC", "GCEvent", "ParseHTML",
	"ParseAuthorStyleSheet", "UpdateLayoutTree", "Layout", "PrePaint", "Paint", "Layerize", "Commit",
	"UpdateLayerTree", "CompositeLayers", "RasterTask", "HitTest", "ScrollLayer", "XHRReadyStateChange", "XHRLoad",
	"IntersectionObserverController::computeIntersections", "HandlePostMessage",
};

static const char *native_label(const char *label)
{
	for (size_t i = 0; i < sizeof(native_names) / sizeof(native_names[0]); i++)
		if (!strcmp(native_names[i], label))
			return native_names[i];
	return NULL;
}

/* For calls whose own name the panel doesn't know: what it calls the same kind of work. */
static const char *native_type(int type)
{
	switch (type) {
	case EVENT_DOCUMENT_PARSING: return "ParseHTML";
	case EVENT_CSS_PARSING: return "ParseAuthorStyleSheet";
	case EVENT_SCRIPT_COMPILATION: return "v8.compile";
	case EVENT_SCRIPT_THREAD_EVALUATION: return "EvaluateScript";
	case EVENT_REFLOW: return "Layout";
	case EVENT_STYLE_RECALCULATION: return "UpdateLayoutTree";
	case EVENT_LAYOUT: return "Layout";
	case EVENT_PAINT: return "Paint";
	default: return NULL;
	}
}

static const char *native_of(const struct exporter *x, const struct event_view *v)
{
	const struct devtools_profile *profile = x->profile;
	const char *name = v->probe < x->in.nr_probes ? profile->native[v->probe] : NULL;

	if (name && v->type == EVENT_SCRIPT_THREAD_EVALUATION && !native_label(x->in.probes[v->probe].label)) {
		if (v->detail->thread_type == THREAD_TYPE_TIMEOUT)
			return "TimerFire";
		if (v->detail->thread_type == THREAD_TYPE_EVENT)
			return "EventDispatch";
	}
	return name;
}

static int devtools_begin(const struct session *s, const struct export_options *opt, struct outfile *f,
			  struct exporter **ret)
{
	struct export_options options = *opt;
	struct devtools_profile *profile;
	struct exporter *x;
	int rc;

	/* the panel pairs B and E of all threads on one stack: never here */
	options.begin_end = false;
	rc = chrome_begin(s, &options, f, &x);
	if (rc)
		return rc;
	profile = calloc(1, sizeof(*profile) + x->in.nr_probes * sizeof(profile->native[0]));
	if (!profile) {
		chrome_free(x);
		return -ENOMEM;
	}
	x->profile = profile;
	x->instant = 'I';
	x->main_frame = devtools_main_frame(s);
	for (size_t i = 0; i < x->in.nr_probes; i++) {
		profile->native[i] = native_label(x->in.probes[i].label);
		if (!profile->native[i])
			profile->native[i] = native_type(x->in.probes[i].type);
	}
	devtools_frame_tree(x);
	*ret = x;
	return x->out.error;
}

static int devtools_thread(struct exporter *x, uint32_t index, const struct recording_thread *t)
{
	/* the name by which the panel knows a page's main thread, whatever engine it is */
	chrome_meta_string(x, "thread_name", t->pid, t->tid, t->main ? "CrRendererMain" : t->name, "name");
	chrome_meta_number(x, "thread_sort_index", t->pid, t->tid, t->main ? -1 : (int64_t)index);
	return x->out.error;
}

/* A text as a property of a track's entry; bounded, since the whole stands as a string inside a string. */
static void property(struct emit *out, const char *key, const char *text, size_t n)
{
	if (n > 512)
		for (n = 512; n > 508 && ((unsigned char)text[n] & 0xc0) == 0x80;)
			n--;
	emit_text(out, ",[");
	emit_json(out, key);
	emit_text(out, ",");
	emit_json_n(out, text, n);
	emit_text(out, "]");
}

static void metric_properties(struct exporter *x, struct emit *out, const uint64_t *metrics)
{
	const struct recording_info *info = x->in.info;
	char text[64];

	for (uint32_t i = 0; metrics && i < info->nr_metrics; i++) {
		const char *unit = info->metric_units[i];
		bool plain = !strcmp(unit, "count");

		snprintf(text, sizeof(text), "%llu%s%.24s", (unsigned long long)metrics[i], plain ? "" : " ", plain ? "" : unit);
		property(out, info->metric_names[i], text, strlen(text));
	}
}

static void properties(struct exporter *x, struct emit *out, const struct event_view *v)
{
	const struct event_detail *d = v->detail;
	const char *selector = shown_text(&x->in.opt, d->selector), *label = shown_text(&x->in.opt, d->label);

	emit_text(out, "\"properties\":[[\"event type\",");
	emit_json(out, event_type_name(v->type));
	emit_text(out, "]");
	if (d->url)
		property(out, "URL", d->url, shown_url(&x->in.opt, d->url));
	if (selector)
		property(out, "selector", selector, strlen(selector));
	if (d->event_name)
		property(out, "event", d->event_name, strlen(d->event_name));
	if (label)
		property(out, "label", label, strlen(label));
	metric_properties(x, out, v->metrics);
	emit_text(out, "]");
}

/* The panel draws one track per name; threads of the same name share it, since it nests what overlaps. */
static void track_detail(struct exporter *x, const struct export_event *e)
{
	struct emit *out = &x->scratch;
	const struct recording_thread *t = &x->in.threads[e->view.thread];

	out->nr = 0;
	emit_text(out, "{\"devtools\":{\"dataType\":\"track-entry\",\"track\":");
	if (e->view.type == EVENT_CSS_SELECTOR_MATCHING)
		emit_json(out, "Selector matching");
	else
		emit_json_n(out, t->name, strnlen(t->name, 64));
	emit_text(out, ",\"trackGroup\":\"framescope\",\"color\":");
	emit_json(out, e->view.type == EVENT_CSS_SELECTOR_MATCHING ? "tertiary" : "secondary");
	emit_text(out, ",");
	properties(x, out, &e->view);
	emit_text(out, "}}");
}

static void track_entry(struct exporter *x, const struct export_event *e, uint64_t dur_ns)
{
	struct devtools_profile *profile = x->profile;
	const char *label = input_probe(&x->in, e->view.probe)->label;

	profile->next_id++;
	for (int end = 0; end < 2; end++) {
		uint64_t ns = end ? e->start_ns + dur_ns : e->start_ns;

		chrome_item(x, end ? 'e' : 'b', ns, e->view.thread);
		emit_text(&x->out, ",\"id2\":{\"local\":\"0x");
		emit_hex(&x->out, profile->next_id, 8);
		emit_text(&x->out, "\"}");
		chrome_call(x, e, dur_ns, end);
		chrome_name(x, label, "blink.user_timing");
		if (!end) {
			emit_text(&x->out, "\"startTime\":");
			emit_ms(&x->out, ns);
			track_detail(x, e);
			emit_text(&x->out, ",\"detail\":");
			emit_json_n(&x->out, x->scratch.data, x->scratch.nr);
			emit_text(&x->out, ",");
			chrome_data(x, &x->out, label, e->view.detail, e->timeline, e->view.type, e->view.flags, false);
			shown_metrics(&x->out, &x->in, &e->view);
		}
		emit_text(&x->out, "}}");
	}
}

/* A top-level call of a main thread was run by a task, which took at least as long. */
static void task(struct exporter *x, const struct export_event *e, uint64_t dur_ns)
{
	chrome_item(x, 'X', e->start_ns, e->view.thread);
	emit_text(&x->out, ",\"dur\":");
	emit_us(&x->out, dur_ns);
	chrome_name(x, "RunTask", "disabled-by-default-devtools.timeline");
	emit_text(&x->out, "}}");
}

static int devtools_event(struct exporter *x, const struct export_event *e)
{
	const char *name = native_of(x, &e->view);
	uint64_t dur_ns;

	if (chrome_in_statistics(x, &e->view))
		return 0;
	if (e->overlapping) {
		track_entry(x, e, e->end_ns - e->start_ns);
		return x->out.error;
	}
	dur_ns = chrome_duration(x, e);
	if (!name) {
		track_entry(x, e, dur_ns);
		return x->out.error;
	}
	if (!e->thread_depth && x->in.threads[e->view.thread].main && strcmp(name, "RunTask"))
		task(x, e, dur_ns);
	chrome_complete(x, e, dur_ns);
	chrome_tail(x, e, name, strcmp(name, "RunTask") ? "devtools.timeline" : "disabled-by-default-devtools.timeline");
	if (!strcmp(name, "UpdateLayoutTree"))
		chrome_selector_stats(x, e);
	return x->out.error;
}

/* A line across the tracks, in the panel's marker form. */
static void marker(struct exporter *x, uint64_t ts_ns, uint32_t thread, const char *name, const char *color,
		   const char *text)
{
	struct emit *out = &x->scratch;

	out->nr = 0;
	emit_text(out, "{\"devtools\":{\"dataType\":\"marker\",\"color\":");
	emit_json(out, color);
	emit_member(out, "tooltipText", text);
	emit_text(out, "}}");
	if (thread == UINT32_MAX)
		chrome_process_item(x, 'I', ts_ns, UINT32_MAX);
	else
		chrome_item(x, 'I', ts_ns, thread);
	emit_text(&x->out, ",\"s\":\"t\"");
	chrome_name(x, name, "blink.user_timing");
	emit_text(&x->out, "\"data\":{\"startTime\":");
	emit_ms(&x->out, ts_ns);
	emit_text(&x->out, ",\"detail\":");
	emit_json_n(&x->out, out->data, out->nr);
	emit_text(&x->out, "}}}");
}

/* The panel counts a navigation for the frame that it names; without one it is the main frame's. */
static void navigation(struct exporter *x, const struct session_mark *m)
{
	struct devtools_profile *profile = x->profile;
	size_t nr;
	const struct timeline *t = session_timelines(x->in.s, &nr);
	const struct timeline *frame = m->timeline < nr && t[m->timeline].frame ? &t[m->timeline] : x->main_frame;
	char id[33];

	if (!frame)
		return;
	frame = chrome_viewers_frame(x, frame);
	chrome_process_item(x, 'R', m->ts_ns, frame->process);
	chrome_name(x, "navigationStart", "blink.user_timing");
	shown_frame_id(frame, id);
	emit_text(&x->out, "\"frame\":");
	emit_json(&x->out, id);
	emit_text(&x->out, ",\"data\":{\"documentLoaderURL\":");
	emit_json_n(&x->out, m->detail->url, shown_url(&x->in.opt, m->detail->url));
	emit_text(&x->out, ",\"isLoadingMainFrame\":");
	emit_string(&x->out, frame == x->main_frame ? "true" : "false");
	emit_text(&x->out, ",\"isOutermostMainFrame\":");
	emit_string(&x->out, frame == x->main_frame ? "true" : "false");
	emit_text(&x->out, ",\"navigationId\":\"");
	emit_hex(&x->out, ++profile->next_id, 32);
	emit_text(&x->out, "\"}}}");
}

static int devtools_mark(struct exporter *x, const struct session_mark *m)
{
	const struct recording_probe *p;

	if (m->probe >= x->in.nr_probes)
		return 0;
	p = &x->in.probes[m->probe];
	if (p->role == ROLE_NAVIGATION && devtools_url_parses(m->detail->url))
		navigation(x, m);
	return chrome_mark(x, m);
}

static int devtools_loss(struct exporter *x, const struct session_loss *l)
{
	const char *probe = input_probe(&x->in, l->probe)->label;
	char text[256];

	snprintf(text, sizeof(text), "%.100s: %u begins, %u ends, %u marks lost in the %llu us before", probe, l->begins,
		 l->ends, l->marks, (unsigned long long)(l->ts_ns - l->since_ns) / 1000);
	marker(x, l->ts_ns, UINT32_MAX, "Records lost", "error", text);
	return chrome_loss(x, l);
}

static int devtools_note(struct exporter *x, const struct session_note *n)
{
	char text[256];

	snprintf(text, sizeof(text), "%.250s", n->text);
	marker(x, n->ts_ns, UINT32_MAX, "Note", "warning", text);
	return chrome_note(x, n);
}

const struct export_format export_devtools = {
	.name = "devtools",
	.extension = ".devtools.json",
	.summary = "a page's trace as the DevTools Performance panel records it itself",
	.begin = devtools_begin,
	.process = chrome_process,
	.thread = devtools_thread,
	.frame = chrome_frame,
	.event = devtools_event,
	.mark = devtools_mark,
	.counter = chrome_counter,
	.loss = devtools_loss,
	.note = devtools_note,
	.end = chrome_end,
	.free = chrome_free,
};
