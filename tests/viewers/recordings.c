// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Recordings for the exporters' tests, made without a browser. usage: recordings SCENARIO OUT [NUMBER]
 * empty, one, losses: just that; page: a page load with all that an engine can tell; hostile: texts and intervals that
 * break naive writers; deep: NUMBER nested calls; many: NUMBER events; random: a lossy stream from seed NUMBER;
 * spaced: the same with no two records at one time; metrics: calls that carry more than time, and some that don't;
 * reloads: documents that take each other's place in frames of their own.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "capture/recording_file.h"
#include "replay/stream.h"

#define BEGIN_NS 5000000000000ull
#define MS 1000000ull
#define US 1000ull
#define BROWSER 5000000		/* above 2^22: what kernel.pid_max allows is not what old tools expect */
#define RENDERER 5000100
#define COMPOSITOR 5000103
#define WORKER 5000104
#define OTHER 5000200
#define MAIN_FRAME 0x1a2b00010ull
#define CHILD_FRAME 0x1a2b00020ull
#define DOCUMENT 0x1a2b10000ull

enum probe { NAVIGATION, PARSE, CSS, COMPILE, EVALUATE, CALL, TIMER_FIRE, REFLOW, LAYOUT, STYLE, SELECTOR, PAINT, PREPAINT,
	     COMMIT, CUSTOM, TIMER_SET, TIMER_RUN, LOAD_BEGIN, LOAD_STEP, LOAD_END, DOC_CREATED, DOC_REMOVED,
	     FRAME_CREATED, FRAME_REMOVED, INVALIDATE, SUMMED, NR_PROBES };

#define PROBE(n, l, t, k, r, g) { .name = n, .label = l, .category = "blink", .engine = "blink", .group = g, .function = n, \
	.module = "/usr/lib/chromium/chromium", .build_id = "b68ec8627d12f84a", .source = "anchor", \
	.evidence = "two anchors agree", .refused = "", .offset = 0x1000, .type = t, .kind = k, .role = r, \
	.cost_class = COST_EMULATED, .attached = true }

static struct recording_probe probes[NR_PROBES] = {
	[NAVIGATION] = PROBE("NavigationRequest::BeginNavigation", "Navigation", EVENT_GENERIC, PROBE_KIND_MARK,
			     ROLE_NAVIGATION, ""),
	[PARSE] = PROBE("HTMLDocumentParser::PumpTokenizer", "ParseHTML", EVENT_DOCUMENT_PARSING, PROBE_KIND_SPAN, 0, ""),
	[CSS] = PROBE("ParseAuthorStyleSheet", "ParseAuthorStyleSheet", EVENT_CSS_PARSING, PROBE_KIND_SPAN, 0, ""),
	[COMPILE] = PROBE("CompileScript", "v8.compile", EVENT_SCRIPT_COMPILATION, PROBE_KIND_SPAN, 0, ""),
	[EVALUATE] = PROBE("EvaluateScript", "EvaluateScript", EVENT_SCRIPT_THREAD_EVALUATION, PROBE_KIND_SPAN, 0, ""),
	[CALL] = PROBE("CallFunction", "FunctionCall", EVENT_SCRIPT_THREAD_EVALUATION, PROBE_KIND_SPAN, 0, ""),
	[TIMER_FIRE] = PROBE("DOMTimer::Fired", "TimerFire", EVENT_GENERIC, PROBE_KIND_SPAN, 0, ""),
	[REFLOW] = PROBE("LocalFrameView::UpdateLayout", "Layout", EVENT_REFLOW, PROBE_KIND_SPAN, 0, ""),
	[LAYOUT] = PROBE("performLayout", "performLayout", EVENT_LAYOUT, PROBE_KIND_SPAN, 0, ""),
	[STYLE] = PROBE("Document::updateStyle", "UpdateLayoutTree", EVENT_STYLE_RECALCULATION, PROBE_KIND_SPAN, 0, ""),
	[SELECTOR] = PROBE("SelectorChecker::Match", "Match", EVENT_CSS_SELECTOR_MATCHING, PROBE_KIND_AGGREGATE, 0, ""),
	[PAINT] = PROBE("RunPaintLifecyclePhase", "Paint", EVENT_PAINT, PROBE_KIND_SPAN, 0, ""),
	[PREPAINT] = PROBE("RunPrePaintLifecyclePhase", "PrePaint", EVENT_GENERIC, PROBE_KIND_SPAN, 0, ""),
	[COMMIT] = PROBE("Commit", "Commit", EVENT_GENERIC, PROBE_KIND_SPAN, 0, ""),
	[CUSTOM] = PROBE("engine::Work", "engine::Work", EVENT_GENERIC, PROBE_KIND_SPAN, 0, ""),
	[TIMER_SET] = PROBE("setTimeout", "Timer set", EVENT_GENERIC, PROBE_KIND_FLOW_BEGIN, 0, "timer"),
	[TIMER_RUN] = PROBE("runTimer", "Timer runs", EVENT_GENERIC, PROBE_KIND_FLOW_END, 0, "timer"),
	[LOAD_BEGIN] = PROBE("loadBegin", "Load begins", EVENT_GENERIC, PROBE_KIND_ASYNC_BEGIN, 0, "Document load"),
	[LOAD_STEP] = PROBE("loadStep", "Headers received", EVENT_GENERIC, PROBE_KIND_MARK, 0, "Document load"),
	[LOAD_END] = PROBE("loadEnd", "Load ends", EVENT_GENERIC, PROBE_KIND_ASYNC_END, 0, "Document load"),
	[DOC_CREATED] = PROBE("Document::Document", "Document created", EVENT_GENERIC, PROBE_KIND_MARK,
			      ROLE_DOCUMENT_CREATED, ""),
	[DOC_REMOVED] = PROBE("Document::~Document", "Document removed", EVENT_GENERIC, PROBE_KIND_MARK,
			      ROLE_DOCUMENT_REMOVED, ""),
	[FRAME_CREATED] = PROBE("Frame::Frame", "Frame created", EVENT_GENERIC, PROBE_KIND_MARK, ROLE_FRAME_CREATED, ""),
	[FRAME_REMOVED] = PROBE("Frame::~Frame", "Frame removed", EVENT_GENERIC, PROBE_KIND_MARK, ROLE_FRAME_REMOVED, ""),
	[INVALIDATE] = PROBE("Node::SetNeedsStyleRecalc", "Invalidate", EVENT_GENERIC, PROBE_KIND_MARK, 0, ""),
	[SUMMED] = PROBE("hot::Leaf", "hot::Leaf", EVENT_GENERIC, PROBE_KIND_AGGREGATE, 0, ""),
};

static const struct recording_process procs[] = {
	{ .pid = BROWSER, .inner_pid = BROWSER, .parent = 1, .name = "chromium", .cmdline = "/usr/lib/chromium/chromium",
	  .engine = "blink" },
	{ .pid = RENDERER, .inner_pid = 7, .parent = BROWSER, .name = "chromium (renderer)",
	  .cmdline = "/usr/lib/chromium/chromium --type=renderer", .engine = "blink" },
	{ .pid = OTHER, .inner_pid = OTHER, .parent = BROWSER, .name = "chromium (utility)", .cmdline = "", .engine = "" },
};

static const struct recording_thread threads[] = {
	{ .tid = BROWSER, .pid = BROWSER, .name = "CrBrowserMain", .main = true },
	{ .tid = RENDERER, .pid = RENDERER, .name = "CrRendererMain", .main = true },
	{ .tid = COMPOSITOR, .pid = RENDERER, .name = "Compositor" },
	{ .tid = WORKER, .pid = RENDERER, .name = "DedicatedWorker thread" },
	{ .tid = OTHER, .pid = OTHER, .name = "chromium", .main = true },
};

static struct recording_info info = {
	.version = 1, .target_pid = BROWSER, .begin_ns = BEGIN_NS, .end_ns = BEGIN_NS + 1000 * MS,
	.begin_realtime_ns = 1796000000123456789ll, .tool = "framescope test", .kernel = "6.18.0", .machine = "x86_64",
	.rung = "uprobe.session", .overhead_source = "rolling calibration",
};

static uint64_t at(uint64_t us)
{
	return BEGIN_NS + us * US;
}

static void begin(struct stream *s, uint32_t tid, uint64_t us, enum probe probe, uint64_t frame, const char *url)
{
	stream_begin(s, tid, at(us), probe, 0x7ffe0000 - 64 * stream_thread(s, tid)->depth);
	if (frame)
		stream_int(s, FIELD_FRAME, frame);
	if (url)
		stream_text(s, FIELD_URL, url);
}

static void selector(struct stream *s, uint64_t us, const char *text, uint64_t hits, uint64_t ns)
{
	stream_aggregate(s, RENDERER, at(us), at(us + 400), SELECTOR, hits, ns);
	stream_text(s, FIELD_SELECTOR, text);
	stream_text(s, FIELD_URL, "http://127.0.0.1:8000/a.css");
}

static void mark(struct stream *s, uint32_t tid, uint64_t us, enum probe probe, uint64_t id)
{
	stream_mark(s, tid, at(us), probe, 0x7ffd0000);
	if (id)
		stream_int(s, FIELD_ID, id);
}

static void style(struct stream *s, uint64_t us, uint64_t frame, const char *url)
{
	begin(s, RENDERER, us, STYLE, frame, url);
	selector(s, us + 20, ".row > span.a:nth-child(57)", 400, 353 * US);
	selector(s, us + 40, "div p a[href^=\"http\"]", 120, 151 * US + 250);
	selector(s, us + 30, "*", 30, 27 * US);
	stream_end(s, RENDERER, at(us + 900))->off_cpu_ns = 100 * US;
}

/* One frame of animation from 20 ms on: timer, script, style, layout, paint, commit; 9 ms of every 16. */
static void animate(struct stream *s, uint64_t us, unsigned int n)
{
	static const char url[] = "http://127.0.0.1:8000/index.html";

	begin(s, RENDERER, us, TIMER_FIRE, MAIN_FRAME, NULL);
	mark(s, RENDERER, us + 10, TIMER_RUN, 40 + n);
	begin(s, RENDERER, us + 50, CALL, MAIN_FRAME, "http://127.0.0.1:8000/one.js");
	stream_int(s, FIELD_THREAD_TYPE, n % 2 ? THREAD_TYPE_TIMEOUT : THREAD_TYPE_EVENT);
	stream_text(s, FIELD_EVENT_NAME, "click");
	stream_int(s, FIELD_LINE, 12);
	stream_int(s, FIELD_COLUMN, 3);
	mark(s, RENDERER, us + 100, TIMER_SET, 41 + n);
	begin(s, RENDERER, us + 200, REFLOW, MAIN_FRAME, url);
	begin(s, RENDERER, us + 300, LAYOUT, 0, NULL);
	stream_end(s, RENDERER, at(us + 1200));
	stream_end(s, RENDERER, at(us + 1300));
	stream_end(s, RENDERER, at(us + 2000));
	stream_end(s, RENDERER, at(us + 2100));
	style(s, us + 2200, MAIN_FRAME, url);
	begin(s, RENDERER, us + 3200, REFLOW, MAIN_FRAME, url);
	/* the child frame is laid out inside: an event of another timeline */
	begin(s, RENDERER, us + 3300, REFLOW, CHILD_FRAME, "http://127.0.0.1:8000/frame.html");
	stream_end(s, RENDERER, at(us + 3900));
	stream_end(s, RENDERER, at(us + 4000));
	begin(s, RENDERER, us + 4000, PREPAINT, MAIN_FRAME, url);
	stream_aggregate(s, RENDERER, at(us + 4010), at(us + 4090), SUMMED, 50, 30 * US);
	stream_end(s, RENDERER, at(us + 4100));
	begin(s, RENDERER, us + 4100, PAINT, MAIN_FRAME, url);
	stream_int(s, FIELD_X, -10);
	stream_int(s, FIELD_Y, 20);
	stream_int(s, FIELD_W, 640);
	stream_int(s, FIELD_H, 480);
	stream_end(s, RENDERER, at(us + 5000));
	begin(s, RENDERER, us + 5000, COMMIT, 0, NULL);
	stream_end(s, RENDERER, at(us + 5300) + 7)->off_cpu_ns = 250 * US;
	begin(s, COMPOSITOR, us + 5100, CUSTOM, 0, NULL);
	stream_end(s, COMPOSITOR, at(us + 8000));
}

static void page(struct stream *s)
{
	static const char url[] = "http://127.0.0.1:8000/index.html";

	stream_process(s, COMPOSITOR, RENDERER);
	stream_process(s, WORKER, RENDERER);
	stream_cost(s, at(1), COST_EMULATED, 800, 700);
	stream_cpu(s, BROWSER, at(1), 50 * MS, false);
	stream_cpu(s, RENDERER, at(1), 10 * MS, false);
	mark(s, BROWSER, 500, NAVIGATION, 0);
	stream_text(s, FIELD_URL, url);
	mark(s, RENDERER, 1000, FRAME_CREATED, 0);
	stream_int(s, FIELD_FRAME, MAIN_FRAME);
	mark(s, RENDERER, 1500, LOAD_BEGIN, 1);
	mark(s, RENDERER, 1600, LOAD_BEGIN, 2);
	mark(s, RENDERER, 1700, DOC_CREATED, 0);
	stream_int(s, FIELD_DOCUMENT, DOCUMENT);
	stream_int(s, FIELD_FRAME, MAIN_FRAME);
	stream_text(s, FIELD_URL, url);
	mark(s, RENDERER, 1800, FRAME_CREATED, 0);
	stream_int(s, FIELD_FRAME, CHILD_FRAME);
	stream_int(s, FIELD_PARENT_FRAME, MAIN_FRAME);
	mark(s, RENDERER, 1900, LOAD_STEP, 1);
	begin(s, RENDERER, 2000, PARSE, MAIN_FRAME, url);
	begin(s, RENDERER, 2500, CSS, MAIN_FRAME, "http://127.0.0.1:8000/a.css");
	stream_end(s, RENDERER, at(4000));
	begin(s, RENDERER, 5000, EVALUATE, MAIN_FRAME, "http://127.0.0.1:8000/one.js");
	stream_int(s, FIELD_THREAD_TYPE, THREAD_TYPE_COMMON);
	begin(s, RENDERER, 5100, COMPILE, MAIN_FRAME, "http://127.0.0.1:8000/one.js");
	stream_int(s, FIELD_SCRIPT_TYPE, SCRIPT_TYPE_LINKED);
	stream_end(s, RENDERER, at(6000) + 123);
	mark(s, RENDERER, 6500, TIMER_SET, 40);
	stream_end(s, RENDERER, at(8000) + 1);
	stream_end(s, RENDERER, at(9999))->off_cpu_ns = 500 * US;
	mark(s, RENDERER, 10000, LOAD_END, 1);
	mark(s, RENDERER, 10100, INVALIDATE, 0);
	begin(s, WORKER, 11000, CUSTOM, 0, NULL);
	begin(s, WORKER, 11500, EVALUATE, 0, "http://127.0.0.1:8000/worker.js");
	stream_unwind(s, WORKER, at(30000));
	stream_end(s, WORKER, at(150000));
	for (unsigned int i = 0; i < 20; i++) {
		animate(s, 20000 + 16000 * i, i);
		stream_cpu(s, RENDERER, at(29000 + 16000 * i), (20 + 9 * i) * MS, false);
	}
	begin(s, OTHER, 400000, CUSTOM, 0, NULL);
	stream_end(s, OTHER, at(460000));
	stream_lose(s);
	begin(s, RENDERER, 500000, PAINT, MAIN_FRAME, url);
	stream_end(s, RENDERER, at(501000));
	begin(s, RENDERER, 502000, PAINT, MAIN_FRAME, url);
	stream_lose(s);
	stream_end(s, RENDERER, at(503000));
	stream_loss(s, at(500000), at(504000), PAINT, 1, 1);
	stream_note(s, at(505000), ~0u, "probe 'Paint' was switched off to stay within the budget");
	mark(s, RENDERER, 600000, DOC_REMOVED, 0);
	stream_int(s, FIELD_DOCUMENT, DOCUMENT);
	mark(s, RENDERER, 600100, FRAME_REMOVED, 0);
	stream_int(s, FIELD_FRAME, CHILD_FRAME);
	begin(s, RENDERER, 900000, EVALUATE, MAIN_FRAME, "http://127.0.0.1:8000/one.js");
	stream_end(s, RENDERER, at(1000000))->flags = REC_F_CLIPPED;
	stream_cpu(s, RENDERER, at(1000000), 400 * MS, true);
	stream_cpu(s, BROWSER, at(1000000), 80 * MS, true);
}

static void hostile(struct stream *s)
{
	static const char *const texts[] = {
		"\x01\x02\"\\\n", "\xc3\x28", "\xed\xa0\x80", "</script><script>alert(1)</script>", "<!--", "]]>",
		"a;b;c 17", "=cmd|' /C calc'!A0", "\xe2\x80\xa8\xe2\x80\xa9", "enhancedTraceVersion", "",
	};
	static const char lone[] = { 0x3d, (char)0xd8, 'x', 0 };	/* a high surrogate, then x */
	static char big[RECORD_MAX_STRING];
	uint64_t us = 1000;

	memset(big, 'S', sizeof(big));
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++, us += 1000) {
		begin(s, RENDERER, us, PAINT, MAIN_FRAME, texts[i]);
		stream_text(s, FIELD_SELECTOR, texts[i]);
		stream_end(s, RENDERER, at(us + 500));
	}
	begin(s, RENDERER, us, CUSTOM, 0, NULL);
	stream_arg(s, FIELD_LABEL, ENC_UTF16, lone, sizeof(lone));
	begin(s, RENDERER, us, CUSTOM, 0, NULL);	/* same start */
	stream_arg(s, FIELD_SELECTOR, ENC_UTF8 | ENC_TRUNCATED, big, sizeof(big));
	stream_end(s, RENDERER, at(us));		/* no length at all */
	begin(s, RENDERER, us, CUSTOM, 0, NULL);
	stream_end(s, RENDERER, at(us + 900));
	stream_end(s, RENDERER, at(us + 900));		/* same end */
	begin(s, RENDERER, us + 900, CUSTOM, 0, NULL);	/* touching */
	stream_end(s, RENDERER, at(us + 900) + 1);
	stream_note(s, at(us + 1000), ~0u, "\x1b[31mred\xff");
}

/* Three documents, each in a frame of its own, as Chromium has them; its browser process tells of no frame. */
static void reloads(struct stream *s)
{
	static const char url[] = "http://127.0.0.1:8000/index.html";

	for (uint64_t i = 0, us = 1000; i < 3; i++, us += 100000) {
		uint64_t frame = MAIN_FRAME + 0x100 * i;

		mark(s, BROWSER, us, NAVIGATION, 0);
		stream_text(s, FIELD_URL, url);
		begin(s, RENDERER, us + 1000, PARSE, frame, url);
		stream_end(s, RENDERER, at(us + 9000 + 1000 * (i == 1)));
		if (i == 1) {
			begin(s, RENDERER, us + 11000, PARSE, CHILD_FRAME, "http://127.0.0.1:8000/frame.html");
			stream_end(s, RENDERER, at(us + 12000));
		}
		for (int k = 0; k < 2; k++) {
			style(s, us + 20000 + 9000 * k, frame, url);
			begin(s, RENDERER, us + 22000 + 9000 * k, PAINT, frame, url);
			stream_end(s, RENDERER, at(us + 23000 + 9000 * k));
		}
	}
}

/* An end with three metrics: what the call had, its children's included. */
static void end_with(struct stream *s, uint64_t us, uint64_t faults, uint64_t clock_ns, uint64_t odd)
{
	stream_end(s, RENDERER, at(us));
	stream_metric(s, faults);
	stream_metric(s, clock_ns);
	stream_metric(s, odd);
}

static void metrics(struct stream *s)
{
	static const char url[] = "http://127.0.0.1:8000/index.html";

	info.metric_names[0] = "page-faults";
	info.metric_units[0] = "count";
	info.metric_names[1] = "cpu-clock";
	info.metric_units[1] = "ns";
	/* an imported profile may name them as it likes */
	info.metric_names[2] = "</script>\"hits\", a=b";
	info.metric_units[2] = "bytes";
	info.nr_metrics = 3;
	mark(s, RENDERER, 500, NAVIGATION, 0);
	stream_text(s, FIELD_URL, url);
	for (unsigned int i = 0; i < 3; i++) {
		uint64_t us = 1000 + 10000 * i;

		begin(s, RENDERER, us, REFLOW, MAIN_FRAME, url);
		begin(s, RENDERER, us + 100, LAYOUT, 0, NULL);
		begin(s, RENDERER, us + 200, CUSTOM, 0, NULL);
		stream_aggregate(s, RENDERER, at(us + 210), at(us + 250), SUMMED, 5, 3 * US);
		end_with(s, us + 900, 2 + i, 650 * US + 7, 0);
		end_with(s, us + 1900, 5 + i, 1700 * US, 4096);
		end_with(s, us + 2000, 5 + i, 1900 * US + 13, (1ull << 53) - 1);
		/* the same call in another frame: a timeline of its own */
		begin(s, RENDERER, us + 3000, LAYOUT, CHILD_FRAME, NULL);
		end_with(s, us + 3500, i, 0, 1);
	}
	/* one whose end was lost has none, nor has one that was open at the end */
	begin(s, RENDERER, 40000, PAINT, MAIN_FRAME, url);
	stream_lose(s);
	stream_end(s, RENDERER, at(41000));
	stream_loss(s, at(40000), at(42000), PAINT, 0, 1);
	stream_note(s, at(43000), ~0u, "a note");
	begin(s, RENDERER, 50000, CUSTOM, 0, NULL);
}

static void deep(struct stream *s, unsigned int nr)
{
	for (unsigned int i = 0; i < nr && i < RECORD_MAX_DEPTH; i++)
		begin(s, RENDERER, 1000 + i, CUSTOM, 0, NULL);
	for (unsigned int i = nr < RECORD_MAX_DEPTH ? nr : RECORD_MAX_DEPTH; i; i--)
		stream_end(s, RENDERER, at(10000 - i));
}

static uint64_t rnd_state;

static uint64_t rnd(uint64_t below)
{
	rnd_state ^= rnd_state << 13;
	rnd_state ^= rnd_state >> 7;
	rnd_state ^= rnd_state << 17;
	return rnd_state % below;
}

static void random_record(struct stream *s, uint64_t ns, unsigned int loss)
{
	static const uint32_t tids[] = { BROWSER, RENDERER, COMPOSITOR, WORKER };
	static const uint64_t frames[] = { 0, MAIN_FRAME, CHILD_FRAME };
	static const enum probe kinds[] = { PARSE, STYLE, LAYOUT, CUSTOM, PAINT, CALL };
	uint32_t tid = tids[rnd(4)];

	if (rnd(100) < loss)
		stream_lose(s);
	if (stream_thread(s, tid)->depth && (rnd(2) || stream_thread(s, tid)->depth > 100)) {
		struct rec_end *e = rnd(20) ? stream_end(s, tid, ns) : stream_unwind(s, tid, ns);

		e->off_cpu_ns = rnd(4) ? 0 : rnd(ns - e->begin_ns + 1);
	} else if (!rnd(12)) {
		mark(s, tid, (ns - BEGIN_NS) / US, rnd(2) ? TIMER_SET + rnd(2) : LOAD_BEGIN + rnd(3), rnd(6));
	} else if (!rnd(12)) {
		stream_aggregate(s, tid, ns - rnd(5000), ns, rnd(2) ? SELECTOR : SUMMED, 1 + rnd(90), rnd(9000));
		stream_text(s, FIELD_SELECTOR, rnd(2) ? ".a" : "#b");
	} else {
		begin(s, tid, 0, kinds[rnd(6)], 0, NULL);
		struct stream_thread *t = stream_thread(s, tid);
		struct rec_begin *b = (struct rec_begin *)(s->bytes + s->last);

		b->hdr.ts_ns = t->open[t->depth - 1].begin_ns = ns;
		stream_int(s, FIELD_FRAME, frames[rnd(3)]);
	}
}

static void randomly(struct stream *s, uint64_t seed, bool spaced)
{
	uint64_t ns = BEGIN_NS + rnd(3) * 1000;
	unsigned int loss = rnd(3) * 20;

	rnd_state = seed * 0x9e3779b97f4a7c15ull + 1;
	stream_process(s, COMPOSITOR, RENDERER);
	stream_process(s, WORKER, RENDERER);
	loss = rnd(3) * 20;
	for (unsigned int i = 0; i < 2000; i++) {
		random_record(s, ns, loss);
		/* often no time passes at all */
		ns += spaced ? 1 + rnd(40000) : rnd(3) ? rnd(40000) : 0;
	}
}

/* Written record by record: it need not fit into memory. */
static int many(struct recording_writer *w, uint64_t nr)
{
	struct stream s = { 0 };
	uint64_t us = 1000, shown = 0;
	int rc = 0;

	stream_process(&s, COMPOSITOR, RENDERER);
	for (unsigned int i = 0; !rc && shown < nr; i++, us += 10000) {
		animate(&s, us, i);
		shown += 14;
		for (const struct rec_header *r = stream_next(&s, NULL); !rc && r; r = stream_next(&s, r))
			rc = recording_write_record(w, r);
		s.size = 0;
	}
	info.end_ns = at(us);
	stream_free(&s);
	return rc;
}

static int make(const char *scenario, uint64_t number, struct recording_writer *w)
{
	struct stream s = { 0 };
	int rc = 0;

	if (!strcmp(scenario, "many"))
		return many(w, number);
	if (!strcmp(scenario, "one")) {
		begin(&s, RENDERER, 0, PAINT, MAIN_FRAME, NULL);
		stream_end(&s, RENDERER, at(1) + 236);
	} else if (!strcmp(scenario, "losses")) {
		stream_loss(&s, at(10), at(20), PAINT, 3, 4);
		stream_loss(&s, at(20), at(500), STYLE, 5, 6)->lost_marks = 7;
	} else if (!strcmp(scenario, "page")) {
		page(&s);
	} else if (!strcmp(scenario, "reloads")) {
		reloads(&s);
	} else if (!strcmp(scenario, "hostile")) {
		hostile(&s);
	} else if (!strcmp(scenario, "metrics")) {
		metrics(&s);
	} else if (!strcmp(scenario, "deep")) {
		deep(&s, number);
	} else if (!strcmp(scenario, "random") || !strcmp(scenario, "spaced")) {
		randomly(&s, number, *scenario == 's');
		info.end_ns = BEGIN_NS + 100 * MS;
	} else if (strcmp(scenario, "empty")) {
		return -EINVAL;
	}
	for (const struct rec_header *r = stream_next(&s, NULL); !rc && r; r = stream_next(&s, r))
		rc = recording_write_record(w, r);
	stream_free(&s);
	return rc;
}

int main(int argc, char **argv)
{
	struct error err = { 0 };
	struct recording_writer *w;
	int rc;

	if (argc < 3)
		return 2;
	if (recording_writer_create(argv[2], &w, &err))
		goto fail;
	rc = recording_write_probes(w, probes, NR_PROBES);
	for (size_t i = 0; !rc && i < sizeof(procs) / sizeof(procs[0]); i++)
		rc = recording_write_process(w, &procs[i]);
	for (size_t i = 0; !rc && i < sizeof(threads) / sizeof(threads[0]); i++)
		rc = recording_write_thread(w, &threads[i]);
	if (!rc)
		rc = make(argv[1], argc > 3 ? strtoull(argv[3], NULL, 10) : 0, w);
	if (rc) {
		recording_writer_abort(w);
		fprintf(stderr, "recordings: %s\n", strerror(-rc));
		return 1;
	}
	if (!recording_writer_finish(w, &info, probes, NR_PROBES, &err))
		return 0;
fail:
	fprintf(stderr, "recordings: %s\n", err.text);
	return 1;
}
