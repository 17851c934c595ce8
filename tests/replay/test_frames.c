// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Which timeline an event belongs to, in which order they come, and what an event learns from its frame and caller. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "replay/invariants.h"
#include "replay/replay.h"

static int A, B, PARSE, CSS, COMPILE, EVALUATE, FRAME_CREATED, FRAME_REMOVED, DOC_CREATED, DOC_REMOVED, CALLER;

static struct replay begin(void)
{
	struct replay r = { 0 };

	A = replay_probe(&r, "A", EVENT_REFLOW);
	B = replay_probe(&r, "B", EVENT_LAYOUT);
	PARSE = replay_probe(&r, "PARSE", EVENT_DOCUMENT_PARSING);
	CSS = replay_probe(&r, "CSS", EVENT_CSS_PARSING);
	COMPILE = replay_probe(&r, "COMPILE", EVENT_SCRIPT_COMPILATION);
	EVALUATE = replay_probe(&r, "EVALUATE", EVENT_SCRIPT_THREAD_EVALUATION);
	FRAME_CREATED = replay_role(&r, "FRAME_CREATED", PROBE_KIND_MARK, ROLE_FRAME_CREATED);
	FRAME_REMOVED = replay_role(&r, "FRAME_REMOVED", PROBE_KIND_MARK, ROLE_FRAME_REMOVED);
	DOC_CREATED = replay_role(&r, "DOC_CREATED", PROBE_KIND_MARK, ROLE_DOCUMENT_CREATED);
	DOC_REMOVED = replay_role(&r, "DOC_REMOVED", PROBE_KIND_MARK, ROLE_DOCUMENT_REMOVED);
	CALLER = replay_role(&r, "CALLER", PROBE_KIND_SPAN, ROLE_SCRIPT_CALLER);
	return r;
}

#define INT(field, value) stream_int(&r.stream, field, value)
#define TEXT(field, value) stream_text(&r.stream, field, value)

/* All timelines: "frame_id/parent main url: tree" each on its line(s). */
static struct session *expect(struct replay *r, const char *want)
{
	const struct invariants inv = { .moved = true, .hidden = true };
	struct session *m = replay_session(r);
	char text[4096] = "", tree[2048];
	const struct timeline *t;
	size_t nr, used = 0;

	t = session_timelines(m, &nr);
	for (size_t i = 0; i < nr; i++) {
		assert_int_equal(t[i].id, i + 1);
		replay_describe(m, &t[i], tree, sizeof(tree));
		used += snprintf(text + used, sizeof(text) - used, "%u/%u%s%s%s: %s\n", t[i].frame_id, t[i].parent_frame_id,
				 t[i].main ? " main" : "", t[i].url ? " " : "", t[i].url ? t[i].url : "", tree);
	}
	assert_string_equal(text, want);
	assert_null(invariants_check(m, &inv));
	return m;
}

#define EXPECT(want) session_free(expect(&r, want))

static void test_own_then_parent_then_process(void **state)
{
	struct replay r = begin();

	(void)state;
	replay_begin(&r, 1, 10, A);
	INT(FIELD_FRAME, 0xf1);
	replay_call(&r, 1, 20, 30, B);	/* the parent's */
	replay_end(&r, 1, 40);
	replay_call(&r, 1, 50, 60, B);	/* the process's */
	EXPECT("1/0 main: A[10-40](B[20-30])\n"
	       "0/0: B[50-60]\n");
}

/* At the top of its own timeline, and its time isn't the caller's. */
static void test_moved(void **state)
{
	struct replay r = begin();
	struct session *m;
	struct event_view e;

	(void)state;
	replay_begin(&r, 1, 10, A);
	INT(FIELD_FRAME, 0xf1);
	replay_begin(&r, 1, 20, B);
	INT(FIELD_FRAME, 0xf2);
	replay_begin(&r, 1, 25, A);
	INT(FIELD_FRAME, 0xf1);
	replay_call(&r, 1, 26, 27, B);
	replay_end(&r, 1, 28);
	replay_call(&r, 1, 28, 29, B);
	replay_end(&r, 1, 30);
	replay_end(&r, 1, 40);
	m = expect(&r, "1/0 main: A[10-40]\nA[25-28]m(B[26-27])\n"
		       "2/0: B[20-30]m(B[28-29])\n");
	assert_true(session_event(m, 1, &e));
	assert_int_equal(e.time_ns, 20);
	assert_int_equal(e.child_count, 0);
	assert_true(session_event(m, 4, &e));
	assert_int_equal(e.time_ns, 10 - 3 - 1);
	assert_int_equal(e.agg_time_ns, 10 - 3);
	session_free(m);
}

static void test_out_of_no_frame(void **state)
{
	struct replay r = begin();

	(void)state;
	replay_begin(&r, 1, 10, A);
	replay_call(&r, 1, 20, 30, B);
	replay_begin(&r, 1, 31, B);
	INT(FIELD_FRAME, 0xf1);
	replay_end(&r, 1, 35);
	replay_end(&r, 1, 40);
	EXPECT("1/0 main: B[31-35]m\n"
	       "0/0: A[10-40](B[20-30])\n");
}

/* A document stands for its frame: since it was created there, or since an event named both. */
static void test_documents(void **state)
{
	struct replay r = begin();

	(void)state;
	replay_mark(&r, 1, 5, DOC_CREATED);
	INT(FIELD_DOCUMENT, 0xd1);
	INT(FIELD_FRAME, 0xf1);
	TEXT(FIELD_URL, "http://x/1");
	replay_begin(&r, 1, 10, A);
	INT(FIELD_DOCUMENT, 0xd1);
	replay_end(&r, 1, 20);
	replay_begin(&r, 1, 30, A);
	INT(FIELD_DOCUMENT, 0xd2);
	INT(FIELD_FRAME, 0xf2);
	replay_end(&r, 1, 40);
	replay_begin(&r, 1, 50, B);
	INT(FIELD_DOCUMENT, 0xd2);
	replay_end(&r, 1, 60);
	EXPECT("1/0 main http://x/1: A[10-20]\n"
	       "2/0: A[30-40]\nB[50-60]\n");
}

/* Not known yet: the parent's frame if it has one, else what is learnt later, else none. */
static void test_document_unknown(void **state)
{
	struct replay r = begin();

	(void)state;
	replay_begin(&r, 1, 10, A);
	INT(FIELD_FRAME, 0xf1);
	replay_begin(&r, 1, 12, B);
	INT(FIELD_DOCUMENT, 0xd2);
	replay_end(&r, 1, 14);
	replay_end(&r, 1, 20);
	replay_begin(&r, 1, 22, B);
	INT(FIELD_DOCUMENT, 0xd2);
	replay_end(&r, 1, 24);
	replay_begin(&r, 1, 26, B);
	INT(FIELD_DOCUMENT, 0xd3);
	replay_end(&r, 1, 28);
	replay_begin(&r, 1, 30, B);
	INT(FIELD_DOCUMENT, 0xd2);
	INT(FIELD_FRAME, 0xf2);
	replay_end(&r, 1, 32);
	EXPECT("1/0 main: A[10-20](B[12-14])\n"
	       "2/0: B[22-24]\nB[30-32]\n"
	       "0/0: B[26-28]\n");
}

/* An address is used again: another document, another frame. */
static void test_reuse(void **state)
{
	struct replay r = begin();

	(void)state;
	replay_mark(&r, 1, 1, FRAME_CREATED);
	INT(FIELD_FRAME, 0xf1);
	replay_mark(&r, 1, 2, DOC_CREATED);
	INT(FIELD_DOCUMENT, 0xd1);
	INT(FIELD_FRAME, 0xf1);
	replay_begin(&r, 1, 10, A);
	INT(FIELD_DOCUMENT, 0xd1);
	replay_end(&r, 1, 20);
	replay_mark(&r, 1, 21, DOC_REMOVED);
	INT(FIELD_DOCUMENT, 0xd1);
	replay_mark(&r, 1, 22, FRAME_REMOVED);
	INT(FIELD_FRAME, 0xf1);
	replay_begin(&r, 1, 23, A);	/* while it is taken down */
	INT(FIELD_FRAME, 0xf1);
	replay_end(&r, 1, 24);
	replay_mark(&r, 1, 30, FRAME_CREATED);
	INT(FIELD_FRAME, 0xf1);
	INT(FIELD_PARENT_FRAME, 0xf9);
	replay_mark(&r, 1, 32, DOC_CREATED);
	INT(FIELD_DOCUMENT, 0xd1);
	INT(FIELD_FRAME, 0xf1);
	replay_begin(&r, 1, 40, B);
	INT(FIELD_DOCUMENT, 0xd1);
	replay_end(&r, 1, 50);
	struct session *m = expect(&r, "1/0 main: A[10-20]\nA[23-24]\n"
				       "2/0: B[40-50]\n");
	size_t nr;
	const struct timeline *t = session_timelines(m, &nr);

	assert_int_equal(t[0].created_ns, 1);
	assert_int_equal(t[0].removed_ns, 22);
	assert_int_equal(t[1].created_ns, 30);
	assert_int_equal(t[1].removed_ns, UINT64_MAX);
	session_free(m);
}

/* Several documents in one frame share its timeline. */
static void test_reload(void **state)
{
	struct replay r = begin();

	(void)state;
	for (int i = 0; i < 2; i++) {
		replay_mark(&r, 1, 10 + 100 * i, DOC_CREATED);
		INT(FIELD_DOCUMENT, 0xd1 + i);
		INT(FIELD_FRAME, 0xf1);
		TEXT(FIELD_URL, i ? "http://x/2" : "http://x/1");
		replay_begin(&r, 1, 20 + 100 * i, PARSE);
		INT(FIELD_DOCUMENT, 0xd1 + i);
		replay_end(&r, 1, 30 + 100 * i);
	}
	struct session *m = expect(&r, "1/0 main http://x/2: PARSE[20-30]\nPARSE[120-130]\n");
	struct event_view e;

	assert_true(session_event(m, 1, &e));
	assert_string_equal(e.detail->url, "http://x/1");
	assert_true(session_event(m, 2, &e));
	assert_string_equal(e.detail->url, "http://x/2");
	session_free(m);
}

/* The same address in two processes is two frames. */
static void test_processes(void **state)
{
	struct replay r = begin();

	(void)state;
	replay_thread(&r, 7, 200);
	replay_begin(&r, 7, 5, A);
	INT(FIELD_FRAME, 0xf1);
	replay_end(&r, 7, 8);
	replay_begin(&r, 1, 10, A);
	INT(FIELD_FRAME, 0xf1);
	replay_end(&r, 1, 20);
	/* the target's comes first, though the other was there before; both are main in their windows */
	struct session *m = expect(&r, "2/0 main: A[10-20]\n"
				       "1/0 main: A[5-8]\n");
	const struct recording_process *p;
	const struct timeline *t;
	size_t nr;

	t = session_timelines(m, &nr);
	p = session_processes(m, &nr);
	assert_int_equal(p[t[0].process].pid, REPLAY_PID);
	assert_int_equal(p[t[1].process].pid, 200);
	session_free(m);
}

/* --- order --- */

static void test_main_first(void **state)
{
	struct replay r = begin();

	(void)state;
	replay_begin(&r, 1, 10, A);
	INT(FIELD_FRAME, 0xc1);
	INT(FIELD_PARENT_FRAME, 0xf1);
	replay_end(&r, 1, 20);
	replay_begin(&r, 1, 30, A);
	INT(FIELD_FRAME, 0xf1);
	INT(FIELD_PARENT_FRAME, 0);
	replay_end(&r, 1, 40);
	EXPECT("2/0 main: A[30-40]\n"
	       "1/2: A[10-20]\n");
}

/* A browser's own pages come after those that somebody made, however early and busy they are; about: is nobody's. */
static void test_own_pages(void **state)
{
	static const char *const own[] = {
		"chrome://omnibox-popup.top-chrome/", "chrome-extension://abcdef/background.html", "devtools://devtools/bundled/x.html",
		"moz-extension://abcdef/popup.html", "resource://pdf.js/web/viewer.html", "about:newtab",
	};
	static const char *const pages[] = { "http://x/", "https://x/", "file:///x.html", "data:text/html,x", "blob:http://x/1", "app://x/" };

	(void)state;
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
		struct replay r = begin();
		char want[256];

		for (int own_page = 1; own_page >= 0; own_page--)
			for (int k = 0; k < (own_page ? 3 : 1); k++) {
				uint64_t at = 10 + 20 * k + (own_page ? 0 : 100);

				replay_begin(&r, 1, at, A);
				INT(FIELD_FRAME, 0xf2 - own_page);
				INT(FIELD_PARENT_FRAME, 0);
				TEXT(FIELD_URL, own_page ? own[i] : pages[i]);
				replay_end(&r, 1, at + 10);
			}
		snprintf(want, sizeof(want), "2/0 main %s: A[110-120]\n1/0 main %s: A[10-20]\nA[30-40]\nA[50-60]\n", pages[i], own[i]);
		EXPECT(want);
	}
}

/* A call of a frame's, and its document's URL if that is told. */
static void framed(struct replay *r, uint32_t tid, int probe, uint64_t at, uint64_t end, uint64_t frame, const char *url)
{
	replay_begin(r, tid, at, probe);
	stream_int(&r->stream, FIELD_FRAME, frame);
	if (url)
		stream_text(&r->stream, FIELD_URL, url);
	replay_end(r, tid, end);
}

/* Behind the first: frames of pages as they came up, the browser's own, what is of no frame. */
static void test_own_pages_last(void **state)
{
	static const char *const urls[] = { "chrome://toolbar/", "http://x/frame", "chrome://popup/", "http://x/", "about:blank" };
	struct replay r = begin();

	(void)state;
	replay_call(&r, 1, 1, 2, B);
	for (int i = 0; i < 5; i++)
		framed(&r, 1, A, 10 + 10 * i, 15 + 10 * i, 0xf1 + i, urls[i]);
	framed(&r, 1, A, 90, 95, 0xf4, NULL);
	EXPECT("4/0 main http://x/: A[40-45]\nA[90-95]\n"
	       "2/0 http://x/frame: A[20-25]\n"
	       "5/0 about:blank: A[50-55]\n"
	       "1/0 chrome://toolbar/: A[10-15]\n"
	       "3/0 chrome://popup/: A[30-35]\n"
	       "0/0: B[1-2]\n");
}

/* Of no frame a parent is known. Blink paints a page in its main frame, however busy one inside it is. */
static void test_main_paints(void **state)
{
	struct replay r = begin();
	int paint = replay_probe(&r, "PAINT", EVENT_PAINT);

	(void)state;
	for (int i = 0; i < 4; i++)
		framed(&r, 1, A, 10 + 20 * i, 25 + 20 * i, 0xf1, "http://x/busy");
	framed(&r, 1, A, 100, 105, 0xf2, "http://x/");
	framed(&r, 1, paint, 110, 111, 0xf2, NULL);
	EXPECT("2/0 main http://x/: A[100-105]\nPAINT[110-111]\n"
	       "1/0 http://x/busy: A[10-25]\nA[30-45]\nA[50-65]\nA[70-85]\n");
}

/* Not even paints make one the main frame that a parent is told for. */
static void test_child_is_not_main(void **state)
{
	struct replay r = begin();
	int paint = replay_probe(&r, "PAINT", EVENT_PAINT);

	(void)state;
	replay_begin(&r, 1, 10, paint);
	INT(FIELD_FRAME, 0xc1);
	INT(FIELD_PARENT_FRAME, 0xf1);
	replay_end(&r, 1, 20);
	framed(&r, 1, A, 30, 31, 0xf1, NULL);
	EXPECT("2/0 main: A[30-31]\n"
	       "1/2: PAINT[10-20]\n");
}

/*
 * Chromium makes a new frame for each navigation: those that paint one after the other are all main. The old document still
 * runs while the next one's frame is made. A frame inside doesn't paint, or inside of the time in which its page does.
 */
static void test_main_after_main(void **state)
{
	struct replay r = begin();
	int paint = replay_probe(&r, "PAINT", EVENT_PAINT);

	(void)state;
	for (int i = 0; i < 3; i++) {
		uint64_t at = 100 + 100 * i, frame = 0xf1 + i;

		framed(&r, 1, A, at, at + 10 + 20 * (i == 1), frame, "http://x/");
		framed(&r, 1, paint, at + 40, at + 50, frame, NULL);
		if (i == 1) {
			framed(&r, 1, A, at + 52, at + 54, 0xc1, "http://x/inside");
			framed(&r, 1, A, at + 56, at + 58, 0xc2, "http://x/paints");
			framed(&r, 1, paint, at + 60, at + 65, 0xc2, NULL);
			framed(&r, 1, paint, at + 70, at + 75, frame, NULL);
		}
		if (i < 2)
			framed(&r, 1, B, at + 98, at + 99, frame + 1, NULL);
		framed(&r, 1, B, at + 99, at + 100, frame, NULL);
	}
	framed(&r, 1, A, 500, 501, 0xc3, "http://x/after");
	framed(&r, 1, paint, 510, 520, 0xf5, "about:blank");
	struct session *m = expect(&r, "2/0 main http://x/: B[198-199]\nA[200-230]\nPAINT[240-250]\nPAINT[270-275]\nB[299-300]\n"
				   "1/0 main http://x/: A[100-110]\nPAINT[140-150]\nB[199-200]\n"
				   "3/0 http://x/inside: A[252-254]\n"
				   "4/0 http://x/paints: A[256-258]\nPAINT[260-265]\n"
				   "5/0 main http://x/: B[298-299]\nA[300-310]\nPAINT[340-350]\nB[399-400]\n"
				   "6/0 http://x/after: A[500-501]\n"
				   "7/0 about:blank: PAINT[510-520]\n");
	const struct timeline *t;
	size_t nr;

	t = session_timelines(m, &nr);
	for (size_t i = 0; i < nr; i++)
		assert_int_equal(t[i].page_frame_id, t[i].main ? 2 : 0);
	session_free(m);
}

/* Of pages that paint by turns, as those of two tabs do, the best is main alone; touching is no overlap. */
static void test_tabs(void **state)
{
	(void)state;
	for (int by_turns = 0; by_turns <= 1; by_turns++) {
		struct replay r = begin();
		int paint = replay_probe(&r, "PAINT", EVENT_PAINT);

		framed(&r, 1, paint, 10, 20, 0xf1, "http://x/1");
		framed(&r, 1, paint, 20, 40, 0xf2, "http://x/2");
		if (by_turns)
			framed(&r, 1, paint, 40, 41, 0xf1, NULL);
		EXPECT(by_turns ? "2/0 main http://x/2: PAINT[20-40]\n1/0 http://x/1: PAINT[10-20]\nPAINT[40-41]\n" :
				  "2/0 main http://x/2: PAINT[20-40]\n1/0 main http://x/1: PAINT[10-20]\n");
	}
}

/* A process in which nothing paints has one main frame. */
static void test_main_without_paints(void **state)
{
	struct replay r = begin();

	(void)state;
	framed(&r, 1, A, 10, 20, 0xf1, "http://x/1");
	framed(&r, 1, A, 30, 50, 0xf2, "http://x/1");
	EXPECT("2/0 main http://x/1: A[30-50]\n1/0 http://x/1: A[10-20]\n");
}

/* Many after one another, the busiest somewhere in the middle: each that paints in nobody else's time, whatever the order. */
static void test_many_mains(void **state)
{
	struct replay r = begin();
	int paint = replay_probe(&r, "PAINT", EVENT_PAINT);
	const struct timeline *t;
	struct session *m;
	size_t nr;

	(void)state;
	for (int i = 0; i < 500; i++) {
		uint64_t at = 1000 * i, own = 1 + (i * 7919) % 211;

		framed(&r, 1, paint, at, at + own, 2 * i + 2, "http://x/");
		framed(&r, 1, paint, at + 300, at + 301, 2 * i + 3, "http://x/tab");
		framed(&r, 1, paint, at + 400, at + 400 + own, 2 * i + 2, NULL);
	}
	m = replay_session(&r);
	t = session_timelines(m, &nr);
	assert_int_equal(nr, 1000);
	for (size_t i = 0; i < nr; i++)
		assert_int_equal(t[i].main, !strcmp(t[i].url, "http://x/"));
	session_free(m);
}

/* Busy is what takes time, with or without events below; sums of calls count as well. */
static void test_time_before_number(void **state)
{
	(void)state;
	for (int summed = 0; summed <= 1; summed++) {
		struct replay r = begin();

		for (int i = 0; i < 3; i++)
			framed(&r, 1, A, 10 + 10 * i, 12 + 10 * i, 0xf1, NULL);
		if (summed)
			stream_aggregate(&r.stream, 1, REPLAY_BEGIN_NS + 50, REPLAY_BEGIN_NS + 90, CSS, 2, 30);
		else
			replay_begin(&r, 1, 50, B);
		INT(FIELD_FRAME, 0xf2);
		if (!summed)
			replay_end(&r, 1, 90);
		EXPECT(summed ? "2/0 main: CSS[50-90]x2\n1/0: A[10-12]\nA[20-22]\nA[30-32]\n" :
				"2/0 main: B[50-90]\n1/0: A[10-12]\nA[20-22]\nA[30-32]\n");
	}
}

/* Nobody saw the URL of a toolbar: a process that shows none at all comes behind those that show a page. */
static void test_no_url_last(void **state)
{
	struct replay r = begin();

	(void)state;
	replay_thread(&r, 7, 200);
	replay_thread(&r, 8, 300);
	framed(&r, 7, A, 5, 8, 0xf1, NULL);
	framed(&r, 1, A, 10, 20, 0xf1, "http://x/1");
	framed(&r, 8, A, 30, 35, 0xf1, "http://x/2");
	EXPECT("2/0 main http://x/1: A[10-20]\n"
	       "3/0 main http://x/2: A[30-35]\n"
	       "1/0 main: A[5-8]\n");
}

/* Without any URL in the recording, the definition still told whose pages a process shows. */
static void test_toolbar_last(void **state)
{
	(void)state;
	for (int own = 0; own <= 1; own++) {
		struct replay r = begin();

		replay_process(&r, 200, "chromium", 0);
		r.processes[0].own_pages = own;
		replay_thread(&r, 7, 200);
		replay_thread(&r, 8, 300);
		framed(&r, 7, A, 5, 50, 0xf1, NULL);
		framed(&r, 8, A, 30, 35, 0xf1, NULL);
		EXPECT(own ? "2/0 main: A[30-35]\n1/0 main: A[5-50]\n" : "1/0 main: A[5-50]\n2/0 main: A[30-35]\n");
	}
}

/* What belongs to no frame is headed by a document only if it is about one. */
static void test_documents_of_no_frame(void **state)
{
	(void)state;
	for (int several = 0; several <= 1; several++) {
		struct replay r = begin();

		for (int i = 0; i < 2; i++) {
			replay_begin(&r, 1, 10 + 10 * i, PARSE);
			TEXT(FIELD_URL, i && several ? "http://x/2" : "http://x/1");
			replay_end(&r, 1, 15 + 10 * i);
		}
		EXPECT(several ? "0/0 main: PARSE[10-15]\nPARSE[20-25]\n" : "0/0 main http://x/1: PARSE[10-15]\nPARSE[20-25]\n");
	}
}

static void test_frame_without_events(void **state)
{
	struct replay r = begin();

	(void)state;
	replay_mark(&r, 1, 1, FRAME_CREATED);
	INT(FIELD_FRAME, 0xf1);
	replay_mark(&r, 1, 2, FRAME_CREATED);
	INT(FIELD_FRAME, 0xc1);
	INT(FIELD_PARENT_FRAME, 0xf1);
	replay_call(&r, 1, 10, 20, A);
	/* they existed and have timelines; the main frame's comes first even so */
	EXPECT("1/0 main: \n"
	       "2/1: \n"
	       "0/0: A[10-20]\n");
}

static void test_nothing(void **state)
{
	struct replay r = begin();

	(void)state;
	EXPECT("0/0 main: \n");
}

/* --- URLs --- */

static void check_url(const struct session *m, uint32_t id, const char *url)
{
	struct event_view e;

	assert_true(session_event(m, id, &e));
	if (!url)
		assert_null(e.detail->url);
	else
		assert_string_equal(e.detail->url, url);
}

/* A sheet or script without a URL of its own is in the document. */
static void test_inherited_url(void **state)
{
	struct replay r = begin();
	struct session *m;

	(void)state;
	replay_begin(&r, 1, 10, PARSE);
	INT(FIELD_FRAME, 0xf1);
	TEXT(FIELD_URL, "http://x/1");
	replay_call(&r, 1, 11, 12, CSS);
	replay_begin(&r, 1, 13, CSS);
	TEXT(FIELD_URL, "http://x/s.css");
	replay_end(&r, 1, 14);
	replay_begin(&r, 1, 15, CSS);
	TEXT(FIELD_URL, "");
	replay_end(&r, 1, 16);
	replay_begin(&r, 1, 17, COMPILE);
	INT(FIELD_SCRIPT_TYPE, SCRIPT_TYPE_INLINE);
	replay_end(&r, 1, 18);
	replay_begin(&r, 1, 19, COMPILE);
	INT(FIELD_SCRIPT_TYPE, SCRIPT_TYPE_EVAL);
	replay_end(&r, 1, 20);
	replay_call(&r, 1, 21, 22, A);
	replay_end(&r, 1, 30);
	replay_begin(&r, 1, 40, PARSE);
	INT(FIELD_FRAME, 0xf1);
	TEXT(FIELD_URL, "http://x/2");
	replay_call(&r, 1, 41, 42, CSS);
	replay_end(&r, 1, 50);
	replay_call(&r, 1, 60, 61, CSS);	/* of no frame */
	m = replay_session(&r);
	check_url(m, 2, "http://x/1");
	check_url(m, 3, "http://x/s.css");
	check_url(m, 4, "http://x/1");
	check_url(m, 5, "http://x/1");
	check_url(m, 6, NULL);
	check_url(m, 7, NULL);
	check_url(m, 9, "http://x/2");
	check_url(m, 10, NULL);
	session_free(m);
}

/* --- scripts and their callers --- */

static void check_thread(const struct session *m, uint32_t id, int type, const char *name)
{
	struct event_view e;

	assert_true(session_event(m, id, &e));
	assert_int_equal(e.type, EVENT_SCRIPT_THREAD_EVALUATION);
	assert_int_equal(e.detail->thread_type, type);
	if (name)
		assert_string_equal(e.detail->event_name, name);
	else
		assert_null(e.detail->event_name);
}

static void test_script_callers(void **state)
{
	struct replay r = begin();
	struct session *m;

	(void)state;
	replay_begin(&r, 1, 10, A);
	replay_begin(&r, 1, 11, CALLER);
	INT(FIELD_THREAD_TYPE, THREAD_TYPE_TIMEOUT);
	replay_begin(&r, 1, 12, EVALUATE);
	replay_begin(&r, 1, 13, CALLER);
	TEXT(FIELD_EVENT_NAME, "click");
	replay_begin(&r, 1, 14, B);
	replay_call(&r, 1, 15, 16, EVALUATE);
	replay_end(&r, 1, 17);
	replay_end(&r, 1, 18);
	replay_call(&r, 1, 19, 20, EVALUATE);
	replay_begin(&r, 1, 21, EVALUATE);
	INT(FIELD_THREAD_TYPE, THREAD_TYPE_INLINE_SCRIPT);	/* knows itself */
	replay_end(&r, 1, 22);
	replay_end(&r, 1, 23);
	replay_end(&r, 1, 24);
	replay_call(&r, 1, 25, 26, EVALUATE);
	replay_end(&r, 1, 30);
	m = expect(&r, "0/0 main: A[10-30](EVALUATE[12-23](B[14-17](EVALUATE[15-16]) EVALUATE[19-20] EVALUATE[21-22]) "
		       "EVALUATE[25-26])\n");
	check_thread(m, 2, THREAD_TYPE_TIMEOUT, NULL);
	check_thread(m, 4, THREAD_TYPE_EVENT, "click");
	check_thread(m, 5, THREAD_TYPE_TIMEOUT, NULL);
	check_thread(m, 6, THREAD_TYPE_INLINE_SCRIPT, NULL);
	check_thread(m, 7, THREAD_TYPE_UNKNOWN, NULL);
	session_free(m);
}

/* --- details --- */

static void test_details(void **state)
{
	static const char latin1[] = { 'a', (char)0xe9 };
	static const char bad[] = { 'x', (char)0xc3, '(' };
	struct replay r = begin();
	struct session *m;
	struct event_view e, f;

	(void)state;
	for (int i = 0; i < 2; i++) {
		replay_begin(&r, 1, 10 + 10 * i, A);
		stream_arg(&r.stream, FIELD_LABEL, ENC_LATIN1, latin1, 2);
		stream_arg(&r.stream, FIELD_SELECTOR, ENC_UTF8 | ENC_TRUNCATED, bad, 3);
		INT(FIELD_X, -5);
		INT(FIELD_Y, 1ll << 40);
		INT(FIELD_X1, 5);
		INT(FIELD_LINE, 7);
		INT(FIELD_FRAME, 0xf1 + i);	/* no part of the details */
		replay_end(&r, 1, 15 + 10 * i);
	}
	m = replay_session(&r);
	assert_true(session_event(m, 1, &e));
	assert_true(session_event(m, 2, &f));
	assert_ptr_equal(e.detail, f.detail);
	assert_string_equal(e.detail->label, "a\xc3\xa9");
	assert_string_equal(e.detail->selector, "x\xef\xbf\xbd(");
	assert_int_equal(e.detail->x, -5);
	assert_int_equal(e.detail->y, INT32_MAX);
	assert_int_equal(e.detail->w, 10);
	assert_int_equal(e.detail->line, 7);
	assert_int_equal(e.detail->has, 1u << FIELD_LABEL | 1u << FIELD_SELECTOR | 1u << FIELD_X | 1u << FIELD_Y |
			 1u << FIELD_W | 1u << FIELD_LINE);
	session_free(m);
}

/* Two arguments that end where the record does, and one that claims more. */
static void test_bad_arguments(void **state)
{
	struct replay r = begin();
	struct session *m;
	struct event_view e;

	(void)state;
	replay_begin(&r, 1, 10, A);
	TEXT(FIELD_LABEL, "good");
	TEXT(FIELD_SELECTOR, "longer");
	((struct rec_begin *)(r.stream.bytes + r.stream.last))->arg_bytes -= 6;
	replay_end(&r, 1, 15);
	replay_begin(&r, 1, 20, A)->arg_bytes = 60000;
	replay_end(&r, 1, 25);
	replay_begin(&r, 1, 30, A);
	stream_arg(&r.stream, 200, ENC_UTF8, "unknown", 7);
	stream_arg(&r.stream, FIELD_X, ENC_INT, "abcd", 4);	/* not 8 bytes */
	TEXT(FIELD_LABEL, "after");
	replay_end(&r, 1, 35);
	m = replay_session(&r);
	assert_true(session_event(m, 1, &e));
	assert_string_equal(e.detail->label, "good");
	assert_null(e.detail->selector);
	assert_true(session_event(m, 2, &e));
	assert_int_equal(e.detail->has, 0);
	assert_true(session_event(m, 3, &e));
	assert_string_equal(e.detail->label, "after");
	assert_int_equal(e.detail->has, 1u << FIELD_LABEL);
	session_free(m);
}

static void test_threads(void **state)
{
	struct replay r = begin();
	const struct recording_thread *t;
	struct session *m;
	size_t nr;

	(void)state;
	replay_thread(&r, REPLAY_PID, 0);
	stream_task(&r.stream, REC_THREAD, REPLAY_PID, REPLAY_BEGIN_NS, 0, "chromium");
	replay_thread(&r, 5, 0);
	stream_task(&r.stream, REC_THREAD, 5, REPLAY_BEGIN_NS, 0, "chromium");
	stream_task(&r.stream, REC_THREAD, 5, REPLAY_BEGIN_NS + 5, 0, "Compositor");
	replay_call(&r, 5, 10, 20, A);
	m = replay_session(&r);
	t = session_threads(m, &nr);
	assert_int_equal(nr, 2);
	assert_true(t[0].main && !t[1].main);
	assert_string_equal(t[0].name, "chromium");
	assert_string_equal(t[1].name, "Compositor");
	assert_int_equal(t[1].pid, REPLAY_PID);
	session_free(m);
}

static void test_notes_and_losses(void **state)
{
	struct replay r = begin();
	const struct session_loss *l;
	const struct session_note *n;
	struct session *m;
	size_t nr;

	(void)state;
	stream_note(&r.stream, REPLAY_BEGIN_NS + 5, ~0u, "probe A switched off\x01");
	stream_loss(&r.stream, REPLAY_BEGIN_NS + 6, REPLAY_BEGIN_NS + 9, B, 3, 4);
	stream_loss(&r.stream, REPLAY_BEGIN_NS, REPLAY_BEGIN_NS, 999, 3, 4);
	m = replay_session(&r);
	n = session_notes(m, &nr);
	assert_int_equal(nr, 1);
	assert_string_equal(n[0].text, "probe A switched off\x01");
	l = session_losses(m, &nr);
	assert_int_equal(nr, 1);
	assert_int_equal(l[0].since_ns, 6);
	assert_int_equal(l[0].ts_ns, 9);
	assert_int_equal(l[0].probe, B);
	assert_int_equal(l[0].begins, 3);
	assert_int_equal(session_get_counts(m)->lost, 7);
	session_free(m);
}

static void check_area(struct session *m, uint32_t id, int x, int y, int w, int h)
{
	struct event_view e;

	assert_true(session_event(m, id, &e));
	assert_int_equal(e.detail->x, x);
	assert_int_equal(e.detail->y, y);
	assert_int_equal(e.detail->w, w);
	assert_int_equal(e.detail->h, h);
	assert_int_equal(e.detail->has >> FIELD_W & 1, w != 0);
}

/* What was painted is told by a call or mark inside of the one that paints, which may come late. */
static void test_paint_area(void **state)
{
	struct replay r = begin();
	int paint = replay_probe(&r, "PAINT", EVENT_PAINT);
	int layerize = replay_role(&r, "LAYERIZE", PROBE_KIND_SPAN, ROLE_PAINT_AREA);
	int mark = replay_role(&r, "MARK", PROBE_KIND_MARK, ROLE_PAINT_AREA);
	struct session *m;

	(void)state;
	replay_begin(&r, 1, 10, paint);
	replay_call(&r, 1, 11, 12, A);
	replay_begin(&r, 1, 13, layerize);
	INT(FIELD_X, -1), INT(FIELD_Y, 2), INT(FIELD_W, 30), INT(FIELD_H, 40);
	replay_end(&r, 1, 14);
	/* the first one counts */
	replay_begin(&r, 1, 15, layerize);
	INT(FIELD_X, 0), INT(FIELD_Y, 0), INT(FIELD_W, 1), INT(FIELD_H, 1);
	replay_end(&r, 1, 16);
	replay_end(&r, 1, 20);
	/* its own area stays, and half of one isn't any */
	replay_begin(&r, 1, 30, paint);
	INT(FIELD_X, 5), INT(FIELD_Y, 6), INT(FIELD_W, 7), INT(FIELD_H, 8);
	replay_call(&r, 1, 31, 32, layerize);
	replay_end(&r, 1, 40);
	replay_begin(&r, 1, 50, paint);
	replay_begin(&r, 1, 51, layerize);
	INT(FIELD_X, 5), INT(FIELD_W, 7);
	replay_end(&r, 1, 52);
	replay_end(&r, 1, 60);
	/* a mark, below another call; and outside of any painting */
	replay_begin(&r, 1, 70, paint);
	replay_begin(&r, 1, 71, B);
	replay_mark(&r, 1, 72, mark);
	INT(FIELD_X, 1), INT(FIELD_Y, 1), INT(FIELD_W, 2), INT(FIELD_H, 2);
	replay_end(&r, 1, 73);
	replay_end(&r, 1, 80);
	replay_begin(&r, 1, 90, layerize);
	INT(FIELD_X, 1), INT(FIELD_Y, 1), INT(FIELD_W, 2), INT(FIELD_H, 2);
	replay_end(&r, 1, 95);
	m = expect(&r, "0/0 main: PAINT[10-20](A[11-12] LAYERIZE[13-14] LAYERIZE[15-16])\n"
		   "PAINT[30-40](LAYERIZE[31-32])\n"
		   "PAINT[50-60](LAYERIZE[51-52])\n"
		   "PAINT[70-80](B[71-73])\n"
		   "LAYERIZE[90-95]\n");
	check_area(m, 1, -1, 2, 30, 40);
	check_area(m, 3, 0, 0, 0, 0);	/* it is the other's now */
	check_area(m, 4, 0, 0, 1, 1);
	check_area(m, 5, 5, 6, 7, 8);
	check_area(m, 7, 0, 0, 0, 0);
	check_area(m, 9, 1, 1, 2, 2);
	check_area(m, 10, 0, 0, 0, 0);
	check_area(m, 11, 1, 1, 2, 2);
	session_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_own_then_parent_then_process), cmocka_unit_test(test_moved),
		cmocka_unit_test(test_out_of_no_frame), cmocka_unit_test(test_documents),
		cmocka_unit_test(test_document_unknown), cmocka_unit_test(test_reuse), cmocka_unit_test(test_reload),
		cmocka_unit_test(test_processes), cmocka_unit_test(test_main_first), cmocka_unit_test(test_own_pages),
		cmocka_unit_test(test_main_paints), cmocka_unit_test(test_main_after_main),
		cmocka_unit_test(test_tabs), cmocka_unit_test(test_main_without_paints), cmocka_unit_test(test_many_mains),
		cmocka_unit_test(test_child_is_not_main),
		cmocka_unit_test(test_time_before_number), cmocka_unit_test(test_no_url_last),
		cmocka_unit_test(test_toolbar_last),
		cmocka_unit_test(test_own_pages_last), cmocka_unit_test(test_documents_of_no_frame),
		cmocka_unit_test(test_frame_without_events), cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_inherited_url), cmocka_unit_test(test_script_callers), cmocka_unit_test(test_paint_area), cmocka_unit_test(test_details),
		cmocka_unit_test(test_bad_arguments), cmocka_unit_test(test_threads), cmocka_unit_test(test_notes_and_losses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
