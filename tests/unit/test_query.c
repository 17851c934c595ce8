// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* GetEvents: for every mode and option a small session with the answer worked out by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "query/events.h"
#include "replay/replay.h"

#define MS 1000000ull
#define MAIN_FRAME 0xf00
#define CHILD_FRAME 0xc00

/*
 * Timeline 1, the main frame's. Times in ms; n = the event's name in the table, [start-end]; no costs, no blocking.
 *
 *	1 PARSE [0-10] doc a            2 CSS [2-5] sheet s
 *	3 REFLOW [20-60]                4 STYLE [20-40]
 *	                                    5 MATCH [22-26] ".a"   x10
 *	                                    6 MATCH [26-29] "#b"   x5
 *	                                    7 MATCH [29-30] ".a"   x7
 *	                                8 LAYOUT [40-60]
 *	                                    9 LAYOUT [45-55]
 *	                                        10 LAYOUT [50-52]
 *	11 PAINT [60-60]  area 1,2 3x4 at 0,0      (zero length, touches REFLOW's end)
 *	12 THREAD [70-80] event "click"
 *	13 PARSE [80-90] doc b
 *
 * Self times: 1: 7  2: 3  3: 0  4: 12  5: 4  6: 3  7: 1  8: 10  9: 8  10: 2  11: 0  12: 10  13: 10; sum 70.
 * Timeline 2, a child frame's: 14 STYLE [100-110].
 */
enum { PARSE, CSS, REFLOW, STYLE, MATCH, LAYOUT, PAINT, THREAD };

static struct session *session;

static void call(struct replay *r, uint64_t begin_ms, int probe)
{
	replay_begin(r, 1, begin_ms * MS, probe);
	stream_int(&r->stream, FIELD_FRAME, MAIN_FRAME);
}

static void match(struct replay *r, uint64_t begin_ms, uint64_t end_ms, const char *selector, int count)
{
	replay_begin(r, 1, begin_ms * MS, MATCH);
	stream_text(&r->stream, FIELD_SELECTOR, selector);
	stream_int(&r->stream, FIELD_COUNT, count);
	replay_end(r, 1, end_ms * MS);
}

static void end(struct replay *r, uint64_t end_ms)
{
	replay_end(r, 1, end_ms * MS);
}

static void reflow(struct replay *r)
{
	call(r, 20, REFLOW);
	call(r, 20, STYLE);
	match(r, 22, 26, ".a", 10);
	match(r, 26, 29, "#b", 5);
	match(r, 29, 30, ".a", 7);
	end(r, 40);
	call(r, 40, LAYOUT);
	call(r, 45, LAYOUT);
	call(r, 50, LAYOUT);
	end(r, 52);
	end(r, 55);
	end(r, 60);
	end(r, 60);
}

static int setup(void **state)
{
	static const struct { const char *name; enum event_type type; } probes[] = {
		{ "PARSE", EVENT_DOCUMENT_PARSING }, { "CSS", EVENT_CSS_PARSING }, { "REFLOW", EVENT_REFLOW },
		{ "STYLE", EVENT_STYLE_RECALCULATION }, { "MATCH", EVENT_CSS_SELECTOR_MATCHING },
		{ "LAYOUT", EVENT_LAYOUT }, { "PAINT", EVENT_PAINT }, { "THREAD", EVENT_SCRIPT_THREAD_EVALUATION },
	};
	struct replay r = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(probes) / sizeof(probes[0]); i++)
		replay_probe(&r, probes[i].name, probes[i].type);
	stream_cpu(&r.stream, REPLAY_PID, REPLAY_BEGIN_NS, 500 * MS, false);
	call(&r, 0, PARSE);
	stream_text(&r.stream, FIELD_URL, "http://x/a");
	call(&r, 2, CSS);
	stream_text(&r.stream, FIELD_URL, "http://x/s.css");
	end(&r, 5);
	end(&r, 10);
	reflow(&r);
	call(&r, 60, PAINT);
	for (int i = 0; i < 4; i++)
		stream_int(&r.stream, FIELD_X + i, i + 1);
	end(&r, 60);
	call(&r, 70, THREAD);
	stream_int(&r.stream, FIELD_THREAD_TYPE, THREAD_TYPE_EVENT);
	stream_text(&r.stream, FIELD_EVENT_NAME, "click");
	end(&r, 80);
	call(&r, 80, PARSE);
	stream_text(&r.stream, FIELD_URL, "http://x/b");
	end(&r, 90);
	replay_begin(&r, 1, 100 * MS, STYLE);
	stream_int(&r.stream, FIELD_FRAME, CHILD_FRAME);
	stream_int(&r.stream, FIELD_PARENT_FRAME, MAIN_FRAME);
	replay_end(&r, 1, 110 * MS);
	stream_cpu(&r.stream, REPLAY_PID, REPLAY_BEGIN_NS + 120 * MS, 583 * MS, false);
	replay_stop(&r, 120 * MS);
	session = replay_session(&r);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	session_free(session);
	return 0;
}

/* One entry of an answer as text: MODE_ALL "id", reduced "TYPE time x hits [start-end] detail". */
static int describe(const struct result_event *e, char *out, size_t size)
{
	const char *detail = "";

	if (e->has_tree)
		return snprintf(out, size, "%u ", e->id);
	if (e->has_detail)
		detail = e->detail->selector ? e->detail->selector : e->detail->url ? e->detail->url :
			 e->detail->event_name ? e->detail->event_name : "area";
	return snprintf(out, size, "%s %g x%u [%g-%g]%s%s\n", event_type_name(e->type), e->time_ms, e->hits, e->start_ns / 1e6,
			e->end_ns / 1e6, *detail ? " " : "", detail);
}

struct row {
	struct query q;
	uint32_t types[4];
	double hull[2];		/* hull[1] < 0: no interval, nothing is listed */
	const char *list;
};

static void check(const struct row *row)
{
	struct query q = row->q;
	struct query_result r;
	struct error err = { 0 };
	char text[2048] = "";
	size_t used = 0;

	q.timeline_id = q.timeline_id ? q.timeline_id : 1;
	q.types = row->types;
	while (q.nr_types < 4 && row->types[q.nr_types])
		q.nr_types++;
	assert_int_equal(query_events(session, &q, &r, &err), 0);
	for (size_t i = 0; i < r.nr; i++) {
		used += describe(&r.events[i], text + used, sizeof(text) - used);
		assert_true(r.events[i].has_interval);
	}
	assert_string_equal(text, row->list);
	assert_int_equal(r.has_interval, row->hull[1] >= 0);
	if (r.has_interval) {
		assert_int_equal(r.start_ns, (uint64_t)(row->hull[0] * MS));
		assert_int_equal(r.end_ns, (uint64_t)(row->hull[1] * MS));
	}
	query_result_free(&r);
}

#define CHECK(...) do { \
	static const struct row rows[] = { __VA_ARGS__ }; \
	for (size_t row = 0; row < sizeof(rows) / sizeof(rows[0]); row++) \
		check(&rows[row]); \
} while (0)

#define NOTHING .hull = { 0, -1 }, .list = ""
#define EVENT(n) .has_event = true, .event_id = (n)
#define DEPTH(n) .has_depth = true, .max_depth = (n)
#define FROM(ms) .has_start = true, .start_ms = (ms)
#define TO(ms) .has_end = true, .end_ms = (ms)

/* --- MODE_ALL --- */

static void test_all(void **state)
{
	(void)state;
	CHECK({ .hull = { 0, 90 }, .list = "1 2 3 4 5 6 7 8 9 10 11 12 13 " },
	      { { .mode = MODE_ALL }, .hull = { 0, 90 }, .list = "1 2 3 4 5 6 7 8 9 10 11 12 13 " },
	      { { .timeline_id = 2 }, .hull = { 100, 110 }, .list = "14 " });
}

static void test_all_event(void **state)
{
	(void)state;
	CHECK({ { EVENT(3) }, .hull = { 20, 60 }, .list = "4 5 6 7 8 9 10 " },
	      { { EVENT(8) }, .hull = { 45, 55 }, .list = "9 10 " },
	      { { EVENT(10) }, NOTHING },	/* a leaf */
	      { { EVENT(13) }, NOTHING });	/* the last one */
}

static void test_all_depth(void **state)
{
	(void)state;
	CHECK({ { DEPTH(1) }, .hull = { 0, 90 }, .list = "1 3 11 12 13 " },
	      { { DEPTH(2) }, .hull = { 0, 90 }, .list = "1 2 3 4 8 11 12 13 " },
	      { { DEPTH(3) }, .hull = { 0, 90 }, .list = "1 2 3 4 5 6 7 8 9 11 12 13 " },
	      { { DEPTH(4) }, .hull = { 0, 90 }, .list = "1 2 3 4 5 6 7 8 9 10 11 12 13 " },
	      { { DEPTH(UINT32_MAX) }, .hull = { 0, 90 }, .list = "1 2 3 4 5 6 7 8 9 10 11 12 13 " },
	      { { EVENT(3), DEPTH(1) }, .hull = { 20, 60 }, .list = "4 8 " },
	      { { EVENT(3), DEPTH(2) }, .hull = { 20, 60 }, .list = "4 5 6 7 8 9 " });
}

/* The filter selects; it neither prunes below what it leaves out nor counts depths anew. */
static void test_all_types(void **state)
{
	(void)state;
	CHECK({ .types = { EVENT_CSS_SELECTOR_MATCHING }, .hull = { 22, 30 }, .list = "5 6 7 " },
	      { .types = { EVENT_LAYOUT, EVENT_CSS_PARSING }, .hull = { 2, 60 }, .list = "2 8 9 10 " },
	      { { DEPTH(2) }, .types = { EVENT_CSS_SELECTOR_MATCHING }, NOTHING },
	      { { DEPTH(3) }, .types = { EVENT_LAYOUT }, .hull = { 40, 60 }, .list = "8 9 " },
	      { { EVENT(4) }, .types = { EVENT_LAYOUT }, NOTHING },
	      { .types = { EVENT_PROCESS }, NOTHING },	/* never in this mode */
	      { .types = { 99 }, NOTHING },
	      { .types = { 99, EVENT_CSS_PARSING }, .hull = { 2, 5 }, .list = "2 " });
}

/* Closed, compared with the whole Interval, each event by itself; times aren't clipped. */
static void test_all_interval(void **state)
{
	(void)state;
	CHECK({ { FROM(60), TO(60) }, .hull = { 20, 60 }, .list = "3 8 11 " },	/* touches at one point */
	      { { FROM(10.000001), TO(19.999999) }, NOTHING },
	      { { FROM(10), TO(20) }, .hull = { 0, 60 }, .list = "1 3 4 " },
	      { { FROM(80) }, .hull = { 70, 90 }, .list = "12 13 " },
	      { { TO(2) }, .hull = { 0, 10 }, .list = "1 2 " },
	      { { FROM(26), TO(27) }, .hull = { 20, 60 }, .list = "3 4 5 6 " },
	      { { FROM(-50), TO(-1) }, NOTHING },
	      { { FROM(-50), TO(0) }, .hull = { 0, 10 }, .list = "1 " },
	      { { FROM(1e300) }, NOTHING },
	      { { TO(1e300) }, .hull = { 0, 90 }, .list = "1 2 3 4 5 6 7 8 9 10 11 12 13 " },
	      { { EVENT(3), FROM(42), TO(44) }, .hull = { 40, 60 }, .list = "8 " },
	      { { EVENT(3), DEPTH(1), FROM(28), TO(29) }, .hull = { 20, 40 }, .list = "4 " },
	      { { EVENT(3), DEPTH(2), FROM(22), TO(25) }, .types = { EVENT_CSS_SELECTOR_MATCHING, 99 }, .hull = { 22, 26 },
		.list = "5 " },
	      /* the parent (REFLOW, LAYOUT 8 and 9) is filtered out, the child isn't */
	      { { DEPTH(4), FROM(51), TO(51) }, .types = { EVENT_LAYOUT }, .hull = { 40, 60 }, .list = "8 9 10 " });
}

/* What each event says of itself is the tree's, whatever the filters left. */
static void test_all_fields(void **state)
{
	static const struct { uint32_t id, parent, children, hits; double time, agg; } rows[] = {
		{ 1, 0, 1, 1, 7, 10 }, { 2, 1, 0, 1, 3, 3 }, { 3, 0, 2, 1, 0, 40 }, { 4, 3, 3, 1, 12, 20 },
		{ 5, 4, 0, 10, 4, 4 }, { 6, 4, 0, 5, 3, 3 }, { 7, 4, 0, 7, 1, 1 }, { 8, 3, 1, 1, 10, 20 },
		{ 9, 8, 1, 1, 8, 10 }, { 10, 9, 0, 1, 2, 2 }, { 11, 0, 0, 1, 0, 0 }, { 12, 0, 0, 1, 10, 10 },
		{ 13, 0, 0, 1, 10, 10 },
	};
	struct query q = { .timeline_id = 1 };
	struct query_result r;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint32_t type;
		struct event_view e;

		/* asked for alone: by its type, with all others left out */
		assert_true(session_event(session, rows[i].id, &e));
		type = e.type;
		q.types = &type;
		q.nr_types = 1;
		assert_int_equal(query_events(session, &q, &r, NULL), 0);
		for (size_t j = 0; j < r.nr; j++) {
			if (r.events[j].id != rows[i].id)
				continue;
			assert_true(r.events[j].has_tree);
			assert_int_equal(r.events[j].parent, rows[i].parent);
			assert_int_equal(r.events[j].child_count, rows[i].children);
			assert_int_equal(r.events[j].hits, rows[i].hits);
			assert_true(r.events[j].time_ms == rows[i].time);
			assert_true(r.events[j].agg_time_ns == rows[i].agg * MS);
			assert_true(r.events[j].overhead_ms == 0);
		}
		query_result_free(&r);
	}
}

/* --- the reductions --- */

static void test_types(void **state)
{
	(void)state;
	CHECK({ { .mode = MODE_REDUCE_UNIQUE_TYPES }, .hull = { 0, 90 }, .list =
		"DOCUMENT_PARSING 17 x2 [0-90]\n"
		"CSS_PARSING 3 x1 [2-5]\n"
		"REFLOW 0 x1 [20-60]\n"		/* equal starts: by type */
		"STYLE_RECALCULATION 12 x1 [20-40]\n"
		"CSS_SELECTOR_MATCHING 8 x22 [22-30]\n"
		"LAYOUT 20 x3 [40-60]\n"	/* recursion: each moment once */
		"PAINT 0 x1 [60-60]\n"
		"SCRIPT_THREAD_EVALUATION 10 x1 [70-80]\n" },
	      { { .mode = MODE_REDUCE_UNIQUE_TYPES, .timeline_id = 2 }, .hull = { 100, 110 }, .list =
		"STYLE_RECALCULATION 10 x1 [100-110]\n" },
	      { { .mode = MODE_REDUCE_UNIQUE_TYPES, EVENT(4) }, .hull = { 22, 30 }, .list =
		"CSS_SELECTOR_MATCHING 8 x22 [22-30]\n" },
	      { { .mode = MODE_REDUCE_UNIQUE_TYPES, DEPTH(1) }, .hull = { 0, 90 }, .list =
		"DOCUMENT_PARSING 17 x2 [0-90]\n"	/* two documents of one frame */
		"REFLOW 0 x1 [20-60]\n"
		"PAINT 0 x1 [60-60]\n"
		"SCRIPT_THREAD_EVALUATION 10 x1 [70-80]\n" },
	      { { .mode = MODE_REDUCE_UNIQUE_TYPES }, .types = { EVENT_LAYOUT }, .hull = { 40, 60 }, .list =
		"LAYOUT 20 x3 [40-60]\n" },
	      { { .mode = MODE_REDUCE_UNIQUE_TYPES, FROM(60), TO(60) }, .hull = { 20, 60 }, .list =
		"REFLOW 0 x1 [20-60]\n"		/* touched at one point */
		"LAYOUT 10 x1 [40-60]\n"
		"PAINT 0 x1 [60-60]\n" },
	      { { .mode = MODE_REDUCE_UNIQUE_TYPES, EVENT(3), DEPTH(1) }, .hull = { 20, 60 }, .list =
		"STYLE_RECALCULATION 12 x1 [20-40]\n"
		"LAYOUT 10 x1 [40-60]\n" },
	      { { .mode = MODE_REDUCE_UNIQUE_TYPES, DEPTH(2) }, .types = { EVENT_LAYOUT }, .hull = { 40, 60 }, .list =
		"LAYOUT 10 x1 [40-60]\n" },
	      { { .mode = MODE_REDUCE_UNIQUE_TYPES, FROM(53), TO(54) }, .hull = { 20, 60 }, .list =
		"REFLOW 0 x1 [20-60]\n"
		"LAYOUT 18 x2 [40-60]\n" },	/* not clipped */
	      { { .mode = MODE_REDUCE_UNIQUE_TYPES, EVENT(8), FROM(51), TO(51) }, .types = { EVENT_LAYOUT, 99 },
		.hull = { 45, 55 }, .list = "LAYOUT 10 x2 [45-55]\n" },
	      { { .mode = MODE_REDUCE_UNIQUE_TYPES, EVENT(10) }, NOTHING },
	      { { .mode = MODE_REDUCE_UNIQUE_TYPES }, .types = { EVENT_PROCESS, 77 }, NOTHING },
	      { { .mode = MODE_REDUCE_UNIQUE_TYPES, FROM(11), TO(12) }, NOTHING });
}

static void test_events(void **state)
{
	(void)state;
	CHECK({ { .mode = MODE_REDUCE_UNIQUE_EVENTS }, .hull = { 0, 90 }, .list =
		"DOCUMENT_PARSING 7 x1 [0-10] http://x/a\n"
		"CSS_PARSING 3 x1 [2-5] http://x/s.css\n"
		"REFLOW 0 x1 [20-60]\n"
		"STYLE_RECALCULATION 12 x1 [20-40]\n"
		"CSS_SELECTOR_MATCHING 5 x17 [22-30] .a\n"
		"CSS_SELECTOR_MATCHING 3 x5 [26-29] #b\n"
		"LAYOUT 20 x3 [40-60]\n"
		"PAINT 0 x1 [60-60] area\n"
		"SCRIPT_THREAD_EVALUATION 10 x1 [70-80] click\n"
		"DOCUMENT_PARSING 10 x1 [80-90] http://x/b\n" },
	      /* what Dragonfly asks for when a style recalculation is clicked */
	      { { .mode = MODE_REDUCE_UNIQUE_EVENTS, EVENT(4), FROM(0), TO(90) }, .types = { EVENT_CSS_SELECTOR_MATCHING },
		.hull = { 22, 30 }, .list =
		"CSS_SELECTOR_MATCHING 5 x17 [22-30] .a\n"
		"CSS_SELECTOR_MATCHING 3 x5 [26-29] #b\n" },
	      /* and for the whole timeline, with a part of it in sight */
	      { { .mode = MODE_REDUCE_UNIQUE_EVENTS, FROM(27), TO(28) }, .types = { EVENT_CSS_SELECTOR_MATCHING },
		.hull = { 26, 29 }, .list = "CSS_SELECTOR_MATCHING 3 x5 [26-29] #b\n" },
	      { { .mode = MODE_REDUCE_UNIQUE_EVENTS, EVENT(3), DEPTH(1) }, .types = { EVENT_CSS_SELECTOR_MATCHING }, NOTHING },
	      { { .mode = MODE_REDUCE_UNIQUE_EVENTS, EVENT(3), DEPTH(2) }, .types = { EVENT_CSS_SELECTOR_MATCHING },
		.hull = { 22, 30 }, .list =
		"CSS_SELECTOR_MATCHING 5 x17 [22-30] .a\n"
		"CSS_SELECTOR_MATCHING 3 x5 [26-29] #b\n" },
	      { { .mode = MODE_REDUCE_UNIQUE_EVENTS, .timeline_id = 2 }, .hull = { 100, 110 }, .list =
		"STYLE_RECALCULATION 10 x1 [100-110]\n" },
	      { { .mode = MODE_REDUCE_UNIQUE_EVENTS, EVENT(8) }, .hull = { 45, 55 }, .list = "LAYOUT 10 x2 [45-55]\n" },
	      { { .mode = MODE_REDUCE_UNIQUE_EVENTS, DEPTH(1) }, .hull = { 0, 90 }, .list =
		"DOCUMENT_PARSING 7 x1 [0-10] http://x/a\n"
		"REFLOW 0 x1 [20-60]\n"
		"PAINT 0 x1 [60-60] area\n"
		"SCRIPT_THREAD_EVALUATION 10 x1 [70-80] click\n"
		"DOCUMENT_PARSING 10 x1 [80-90] http://x/b\n" },
	      { { .mode = MODE_REDUCE_UNIQUE_EVENTS }, .types = { EVENT_DOCUMENT_PARSING, 99 }, .hull = { 0, 90 }, .list =
		"DOCUMENT_PARSING 7 x1 [0-10] http://x/a\n"
		"DOCUMENT_PARSING 10 x1 [80-90] http://x/b\n" },
	      { { .mode = MODE_REDUCE_UNIQUE_EVENTS, FROM(60), TO(60) }, .hull = { 20, 60 }, .list =
		"REFLOW 0 x1 [20-60]\n"
		"LAYOUT 10 x1 [40-60]\n"
		"PAINT 0 x1 [60-60] area\n" },
	      /* all four options: what holds the events (REFLOW, LAYOUT 8) is filtered out */
	      { { .mode = MODE_REDUCE_UNIQUE_EVENTS, EVENT(3), DEPTH(2), FROM(55), TO(59) }, .types = { EVENT_LAYOUT },
		.hull = { 40, 60 }, .list = "LAYOUT 18 x2 [40-60]\n" },
	      { { .mode = MODE_REDUCE_UNIQUE_EVENTS, EVENT(3), DEPTH(2), FROM(22), TO(25) },
		.types = { EVENT_CSS_SELECTOR_MATCHING }, .hull = { 22, 26 }, .list = "CSS_SELECTOR_MATCHING 4 x10 [22-26] .a\n" },
	      { { .mode = MODE_REDUCE_UNIQUE_EVENTS, FROM(11), TO(12) }, NOTHING },
	      { { .mode = MODE_REDUCE_UNIQUE_EVENTS, EVENT(2) }, NOTHING },
	      { { .mode = MODE_REDUCE_UNIQUE_EVENTS }, .types = { 99 }, NOTHING });
}

/* The list of types filters what is summed up; the sum is GENERIC. PROCESS: all of the session, or nothing. */
static void test_reduce_all(void **state)
{
	(void)state;
	CHECK({ { .mode = MODE_REDUCE_ALL }, .hull = { 0, 120 }, .list =
		"GENERIC 70 x32 [0-90]\n"
		"PROCESS 83 x1 [0-120]\n" },
	      { { .mode = MODE_REDUCE_ALL, .no_process = true }, .hull = { 0, 90 }, .list = "GENERIC 70 x32 [0-90]\n" },
	      { { .mode = MODE_REDUCE_ALL, EVENT(3) }, .hull = { 20, 60 }, .list = "GENERIC 40 x26 [20-60]\n" },
	      { { .mode = MODE_REDUCE_ALL, DEPTH(1) }, .hull = { 0, 120 }, .list =
		"GENERIC 27 x5 [0-90]\n"
		"PROCESS 83 x1 [0-120]\n" },
	      { { .mode = MODE_REDUCE_ALL }, .types = { EVENT_LAYOUT }, .hull = { 40, 60 }, .list = "GENERIC 20 x3 [40-60]\n" },
	      { { .mode = MODE_REDUCE_ALL }, .types = { EVENT_LAYOUT, EVENT_PROCESS }, .hull = { 0, 120 }, .list =
		"PROCESS 83 x1 [0-120]\n"
		"GENERIC 20 x3 [40-60]\n" },
	      { { .mode = MODE_REDUCE_ALL }, .types = { EVENT_PROCESS }, .hull = { 0, 120 }, .list = "PROCESS 83 x1 [0-120]\n" },
	      { { .mode = MODE_REDUCE_ALL, FROM(75), TO(75) }, .hull = { 0, 120 }, .list =
		"PROCESS 83 x1 [0-120]\n"
		"GENERIC 10 x1 [70-80]\n" },
	      { { .mode = MODE_REDUCE_ALL, EVENT(3), DEPTH(1), FROM(41) }, .types = { EVENT_LAYOUT, EVENT_PAINT },
		.hull = { 40, 60 }, .list = "GENERIC 10 x1 [40-60]\n" },
	      { { .mode = MODE_REDUCE_ALL, .timeline_id = 2 }, .hull = { 0, 120 }, .list =
		"PROCESS 83 x1 [0-120]\n"
		"GENERIC 10 x1 [100-110]\n" },
	      { { .mode = MODE_REDUCE_ALL, EVENT(3), DEPTH(2) }, .hull = { 20, 60 }, .list = "GENERIC 38 x25 [20-60]\n" },
	      { { .mode = MODE_REDUCE_ALL, FROM(60), TO(60) }, .hull = { 0, 120 }, .list =
		"PROCESS 83 x1 [0-120]\n"
		"GENERIC 10 x3 [20-60]\n" },
	      { { .mode = MODE_REDUCE_ALL, FROM(11), TO(12) }, .hull = { 0, 120 }, .list = "PROCESS 83 x1 [0-120]\n" },
	      { { .mode = MODE_REDUCE_ALL, FROM(11), TO(12), .no_process = true }, NOTHING },
	      { { .mode = MODE_REDUCE_ALL }, .types = { 99 }, NOTHING },
	      { { .mode = MODE_REDUCE_ALL }, .types = { EVENT_GENERIC }, NOTHING },
	      { { .mode = MODE_REDUCE_ALL, EVENT(13) }, NOTHING });
}

static void test_reduced_fields(void **state)
{
	static const int modes[] = { MODE_REDUCE_UNIQUE_TYPES, MODE_REDUCE_UNIQUE_EVENTS, MODE_REDUCE_ALL };
	struct query_result r;

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct query q = { .timeline_id = 1, .mode = modes[i] };

		assert_int_equal(query_events(session, &q, &r, NULL), 0);
		for (size_t j = 0; j < r.nr; j++) {
			assert_false(r.events[j].has_tree);
			assert_int_equal(r.events[j].id, 0);
			assert_int_equal(r.events[j].parent, 0);
			assert_int_equal(r.events[j].child_count, 0);
			assert_non_null(r.events[j].detail);
			if (modes[i] != MODE_REDUCE_UNIQUE_EVENTS)
				assert_false(r.events[j].has_detail);
		}
		query_result_free(&r);
	}
}

/* --- what Scope answers with BAD_REQUEST --- */

static void test_refused(void **state)
{
	static const struct query rows[] = {
		{ .timeline_id = 0 },
		{ .timeline_id = 3 },
		{ .timeline_id = UINT32_MAX },
		{ .timeline_id = 1, .mode = 5 },
		{ .timeline_id = 1, .mode = -1 },
		{ .timeline_id = 1, DEPTH(0) },
		{ .timeline_id = 1, EVENT(3), DEPTH(0) },
		{ .timeline_id = 1, EVENT(0) },
		{ .timeline_id = 1, EVENT(14) },	/* of timeline 2 */
		{ .timeline_id = 2, EVENT(13) },
		{ .timeline_id = 1, EVENT(15) },	/* there is none */
		{ .timeline_id = 1, EVENT(UINT32_MAX) },
		{ .timeline_id = 1, FROM(2), TO(1) },
		{ .timeline_id = 1, FROM(NAN) },
		{ .timeline_id = 1, TO(NAN) },
		{ .timeline_id = 1, FROM(INFINITY), TO(0) },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		for (int mode = MODE_ALL; mode <= MODE_REDUCE_ALL; mode++) {
			struct query q = rows[i];
			struct query_result r = { .nr = 77 };
			struct error err = { 0 };

			q.mode = q.mode ? q.mode : mode;
			assert_true(query_events(session, &q, &r, &err) < 0);
			assert_int_equal(err.kind, ERR_USAGE);
			assert_true(*err.text);
			assert_int_equal(r.nr, 77);
		}
	}
}

/* --- sessions of their own --- */

static void test_empty_session(void **state)
{
	struct replay r = { 0 };
	struct session *m = replay_session(&r), *kept = session;
	size_t nr;

	(void)state;
	session = m;
	assert_int_equal((session_timelines(m, &nr), nr), 1);
	CHECK({ NOTHING }, { { DEPTH(1) }, NOTHING }, { { .mode = MODE_REDUCE_UNIQUE_TYPES }, NOTHING },
	      { { .mode = MODE_REDUCE_UNIQUE_EVENTS }, NOTHING },
	      { { .mode = MODE_REDUCE_ALL }, NOTHING });	/* the CPU clock wasn't read: absent, not 0 */
	session = kept;
	session_free(m);
}

static void script(struct replay *r, uint64_t begin, int probe, int type, const char *url, int line)
{
	replay_begin(r, 1, begin * MS, probe);
	stream_int(&r->stream, FIELD_SCRIPT_TYPE, type);
	if (url)
		stream_text(&r->stream, FIELD_URL, url);
	stream_int(&r->stream, FIELD_LINE, line);
	replay_end(r, 1, (begin + 1) * MS);
}

static void area(struct replay *r, uint64_t begin, int probe, int ox)
{
	replay_begin(r, 1, begin * MS, probe);
	for (int i = 0; i < 4; i++)
		stream_int(&r->stream, FIELD_X + i, i + 1);
	if (ox >= 0)
		stream_int(&r->stream, FIELD_OX, ox);
	replay_end(r, 1, (begin + 1) * MS);
}

/* Equal is what has an equal message: absent fields count, offsets count, lines and labels don't. */
static void test_equality(void **state)
{
	struct replay r = { 0 };
	int compile = replay_probe(&r, "COMPILE", EVENT_SCRIPT_COMPILATION), paint = replay_probe(&r, "PAINT", EVENT_PAINT);
	int generic = replay_probe(&r, "GENERIC", EVENT_GENERIC);
	struct session *kept = session;

	(void)state;
	script(&r, 0, compile, SCRIPT_TYPE_LINKED, "http://x/1.js", 1);
	script(&r, 1, compile, SCRIPT_TYPE_LINKED, "http://x/1.js", 2);
	script(&r, 2, compile, SCRIPT_TYPE_EVAL, "http://x/1.js", 1);
	script(&r, 3, compile, SCRIPT_TYPE_EVAL, NULL, 1);
	script(&r, 4, compile, SCRIPT_TYPE_EVAL, NULL, 9);
	area(&r, 10, paint, -1);
	area(&r, 11, paint, 0);
	area(&r, 12, paint, 5);
	replay_call(&r, 1, 20 * MS, 21 * MS, paint);	/* no area */
	replay_begin(&r, 1, 30 * MS, generic);
	stream_text(&r.stream, FIELD_LABEL, "one");
	replay_end(&r, 1, 31 * MS);
	replay_begin(&r, 1, 31 * MS, generic);
	stream_text(&r.stream, FIELD_LABEL, "two");
	replay_end(&r, 1, 32 * MS);
	session = replay_session(&r);
	CHECK({ { .mode = MODE_REDUCE_UNIQUE_EVENTS }, .hull = { 0, 32 }, .list =
		"SCRIPT_COMPILATION 2 x2 [0-2] http://x/1.js\n"
		"SCRIPT_COMPILATION 1 x1 [2-3] http://x/1.js\n"
		"SCRIPT_COMPILATION 2 x2 [3-5] area\n"	/* a message without a URL */
		"PAINT 2 x2 [10-12] area\n"
		"PAINT 1 x1 [12-13] area\n"
		"PAINT 1 x1 [20-21]\n"
		"GENERIC 2 x2 [30-32]\n" });
	session_free(session);
	session = kept;
}

/* Two threads of one frame: the list is in order of time, though a tree stands together in ids. */
static void test_order(void **state)
{
	struct replay r = { 0 };
	int a = replay_probe(&r, "A", EVENT_REFLOW), b = replay_probe(&r, "B", EVENT_LAYOUT);
	struct session *kept = session;

	(void)state;
	replay_begin(&r, 1, 0, a);
	replay_begin(&r, 2, 10 * MS, a);
	replay_call(&r, 1, 20 * MS, 30 * MS, b);
	replay_call(&r, 2, 20 * MS, 40 * MS, b);
	replay_end(&r, 1, 100 * MS);
	replay_end(&r, 2, 50 * MS);
	session = replay_session(&r);
	CHECK({ .hull = { 0, 100 }, .list = "1 3 2 4 " },
	      { { DEPTH(1) }, .hull = { 0, 100 }, .list = "1 3 " },
	      { { EVENT(3) }, .hull = { 20, 40 }, .list = "4 " });
	session_free(session);
	session = kept;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all), cmocka_unit_test(test_all_event), cmocka_unit_test(test_all_depth),
		cmocka_unit_test(test_all_types), cmocka_unit_test(test_all_interval), cmocka_unit_test(test_all_fields),
		cmocka_unit_test(test_types), cmocka_unit_test(test_events), cmocka_unit_test(test_reduce_all),
		cmocka_unit_test(test_reduced_fields), cmocka_unit_test(test_refused), cmocka_unit_test(test_empty_session),
		cmocka_unit_test(test_equality), cmocka_unit_test(test_order),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
