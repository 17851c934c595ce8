// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Record streams in, trees out: pairing of begins and ends under every kind of loss. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "replay/invariants.h"
#include "replay/replay.h"

static int A, B, C, D, MARK;

static struct replay begin(void)
{
	struct replay r = { 0 };

	A = replay_probe(&r, "A", EVENT_REFLOW);
	B = replay_probe(&r, "B", EVENT_STYLE_RECALCULATION);
	C = replay_probe(&r, "C", EVENT_LAYOUT);
	D = replay_probe(&r, "D", EVENT_PAINT);
	MARK = replay_role(&r, "MARK", PROBE_KIND_MARK, ROLE_NONE);
	return r;
}

static void expect_tree(const struct session *m, const char *tree)
{
	const struct invariants inv = { .moved = true };
	char text[4096];
	size_t nr;

	replay_describe(m, &session_timelines(m, &nr)[0], text, sizeof(text));
	assert_string_equal(text, tree);
	assert_null(invariants_check(m, &inv));
}

/* Builds the session and compares the first timeline. */
static void expect(struct replay *r, const char *tree)
{
	struct session *m = replay_session(r);

	expect_tree(m, tree);
	session_free(m);
}

static void test_nested(void **state)
{
	struct replay r = begin();

	(void)state;
	replay_begin(&r, 1, 10, A);
	replay_begin(&r, 1, 20, B);
	replay_call(&r, 1, 25, 30, C);
	replay_end(&r, 1, 60);
	replay_call(&r, 1, 60, 80, C);
	replay_end(&r, 1, 90);
	replay_call(&r, 1, 95, 99, D);
	expect(&r, "A[10-90](B[20-60](C[25-30]) C[60-80])\nD[95-99]");
}

/* Equal times and no time at all: the ids tell what is inside of what. */
static void test_zero_length(void **state)
{
	struct replay r = begin();

	(void)state;
	replay_begin(&r, 1, 10, A);
	replay_call(&r, 1, 10, 10, B);
	replay_begin(&r, 1, 10, C);
	replay_call(&r, 1, 10, 10, D);
	replay_end(&r, 1, 10);
	replay_call(&r, 1, 20, 20, B);
	replay_end(&r, 1, 20);
	replay_call(&r, 1, 20, 20, D);
	expect(&r, "A[10-20](B[10-10] C[10-10](D[10-10]) B[20-20])\nD[20-20]");
}

static void test_recursion(void **state)
{
	struct replay r = begin();
	struct session *m;
	struct event_view e;
	uint64_t sum = 0;

	(void)state;
	replay_begin(&r, 1, 0, C);
	replay_begin(&r, 1, 2, C);
	replay_begin(&r, 1, 5, C);
	replay_end(&r, 1, 6);
	replay_end(&r, 1, 9);
	replay_end(&r, 1, 10);
	m = replay_session(&r);
	expect_tree(m, "C[0-10](C[2-9](C[5-6]))");
	for (uint32_t id = 1; session_event(m, id, &e); id++)
		sum += e.time_ns;
	assert_int_equal(sum, 10);
	session_free(m);
}

static void test_deep(void **state)
{
	struct replay r = begin();
	struct session *m;
	struct event_view e;

	(void)state;
	for (int i = 0; i < RECORD_MAX_DEPTH; i++)
		replay_begin(&r, 1, i, A);
	replay_end(&r, 1, 600)->flags = REC_F_DEEP;
	for (int i = 1; i < RECORD_MAX_DEPTH; i++)
		replay_end(&r, 1, 600 + i);
	m = replay_session(&r);
	assert_true(session_event(m, RECORD_MAX_DEPTH, &e));
	assert_int_equal(e.parent, RECORD_MAX_DEPTH - 1);
	assert_int_equal(e.flags, EV_DEEP);
	assert_int_equal(e.subtree, 1);
	assert_true(session_event(m, 1, &e));
	assert_int_equal(e.subtree, RECORD_MAX_DEPTH);
	session_free(m);
}

/* --- lost records --- */

static void test_lost_begin(void **state)
{
	struct replay r = begin();
	struct session *m;
	struct event_view e;

	(void)state;
	replay_begin(&r, 1, 10, A);
	stream_lose(&r.stream);
	replay_begin(&r, 1, 20, B);
	stream_text(&r.stream, FIELD_URL, "http://lost/");
	replay_call(&r, 1, 25, 30, C);
	replay_end(&r, 1, 60);
	replay_call(&r, 1, 60, 80, C);
	replay_end(&r, 1, 90);
	m = replay_session(&r);
	expect_tree(m, "A[10-90](B[20-60]b(C[25-30]) C[60-80])");
	assert_true(session_event(m, 2, &e));
	assert_null(e.detail->url);
	assert_int_equal(session_get_counts(m)->no_begin, 1);
	session_free(m);
}

static void test_lost_begins_all(void **state)
{
	struct replay r = begin();

	(void)state;
	for (int i = 0; i < 3; i++) {
		stream_lose(&r.stream);
		replay_begin(&r, 1, 10 + i, i ? B : A);
	}
	for (int i = 0; i < 3; i++)
		replay_end(&r, 1, 20 + i);
	expect(&r, "A[10-22]b(B[11-21]b(B[12-20]b))");
}

/* Closed where the next record of the thread shows that it had ended. */
static void test_lost_end(void **state)
{
	struct replay r = begin();
	struct session *m;

	(void)state;
	replay_begin(&r, 1, 10, A);
	replay_begin(&r, 1, 20, B);
	stream_lose(&r.stream);
	replay_end(&r, 1, 60);
	replay_call(&r, 1, 70, 80, C);	/* a sibling begins */
	replay_begin(&r, 1, 82, B);
	stream_lose(&r.stream);
	replay_end(&r, 1, 84);
	replay_end(&r, 1, 90);		/* the parent ends */
	m = replay_session(&r);
	expect_tree(m, "A[10-90](B[20-70]e C[70-80] B[82-90]e)");
	assert_int_equal(session_get_counts(m)->no_end, 2);
	session_free(m);
}

static void test_lost_end_mark(void **state)
{
	struct replay r = begin();

	(void)state;
	replay_begin(&r, 1, 10, A);
	replay_begin(&r, 1, 20, B);
	stream_lose(&r.stream);
	replay_end(&r, 1, 30);
	replay_mark(&r, 1, 40, MARK);	/* hit below A: B is over */
	replay_end(&r, 1, 90);
	expect(&r, "A[10-90](B[20-40]e)");
}

/* What shows the end may be an end alone. */
static void test_lost_end_then_begin(void **state)
{
	struct replay r = begin();

	(void)state;
	replay_begin(&r, 1, 10, A);
	replay_begin(&r, 1, 20, B);
	stream_lose(&r.stream);
	replay_end(&r, 1, 30);
	stream_lose(&r.stream);
	replay_begin(&r, 1, 50, C);
	replay_end(&r, 1, 60);
	replay_end(&r, 1, 90);
	expect(&r, "A[10-90](B[20-50]e C[50-60]b)");
}

/* The caller left no trace: its children fall to the nearest known caller. */
static void test_lost_both(void **state)
{
	struct replay r = begin();

	(void)state;
	replay_begin(&r, 1, 10, A);
	stream_lose(&r.stream);
	replay_begin(&r, 1, 20, B);
	replay_call(&r, 1, 25, 30, C);
	replay_call(&r, 1, 35, 40, D);
	stream_lose(&r.stream);
	replay_end(&r, 1, 60);
	replay_call(&r, 1, 70, 80, C);
	replay_end(&r, 1, 90);
	expect(&r, "A[10-90](C[25-30] D[35-40] C[70-80])");
}

static void test_lost_both_on_top(void **state)
{
	struct replay r = begin();

	(void)state;
	replay_call(&r, 1, 1, 2, A);
	stream_lose(&r.stream);
	replay_begin(&r, 1, 10, A);
	replay_call(&r, 1, 25, 30, C);
	stream_lose(&r.stream);
	replay_end(&r, 1, 60);
	expect(&r, "A[1-2]\nC[25-30]");
}

/* A's end is lost and so is all of B: C was B's child and must not become A's. */
static void test_lost_end_and_both(void **state)
{
	struct replay r = begin();

	(void)state;
	replay_begin(&r, 1, 10, A);
	stream_lose(&r.stream);
	replay_end(&r, 1, 15);
	stream_lose(&r.stream);
	replay_begin(&r, 1, 20, B);
	replay_call(&r, 1, 25, 30, C);
	stream_lose(&r.stream);
	replay_end(&r, 1, 40);
	expect(&r, "A[10-25]e\nC[25-30]");
}

static void test_lost_everything_but_ends(void **state)
{
	struct replay r = begin();

	(void)state;
	stream_lose(&r.stream);
	replay_begin(&r, 1, 10, A);
	stream_lose(&r.stream);
	replay_begin(&r, 1, 20, B);
	stream_lose(&r.stream);
	replay_end(&r, 1, 30);
	stream_lose(&r.stream);
	replay_begin(&r, 1, 40, C);
	replay_end(&r, 1, 50);
	replay_end(&r, 1, 60);
	expect(&r, "A[10-60]b(C[40-50]b)");
}

/* One lost record never shifts its neighbours: drop each one in turn and look at all the others. */
static void test_each_record_lost(void **state)
{
	static const char *const trees[] = {
		"A[10-90]b(B[20-40](C[25-30]) B[50-60])\nD[95-99]",
		"A[10-90](B[20-40]b(C[25-30]) B[50-60])\nD[95-99]",
		"A[10-90](B[20-40](C[25-30]b) B[50-60])\nD[95-99]",
		"A[10-90](B[20-40](C[25-40]e) B[50-60])\nD[95-99]",
		"A[10-90](B[20-50]e(C[25-30]) B[50-60])\nD[95-99]",
		"A[10-90](B[20-40](C[25-30]) B[50-60]b)\nD[95-99]",
		"A[10-90](B[20-40](C[25-30]) B[50-90]e)\nD[95-99]",
		"A[10-95]e(B[20-40](C[25-30]) B[50-60])\nD[95-99]",
		"A[10-90](B[20-40](C[25-30]) B[50-60])\nD[95-99]b",
		"A[10-90](B[20-40](C[25-30]) B[50-60])\nD[95-100]c",
	};
	static const struct { int probe; uint64_t ts; } records[] = {	/* probe < 0: an end */
		{ 0, 10 }, { 1, 20 }, { 2, 25 }, { -1, 30 }, { -1, 40 }, { 1, 50 }, { -1, 60 }, { -1, 90 }, { 3, 95 }, { -1, 99 },
	};

	(void)state;
	for (size_t lost = 0; lost < 10; lost++) {
		struct replay r = begin();

		for (size_t i = 0; i < 10; i++) {
			if (i == lost)
				stream_lose(&r.stream);
			if (records[i].probe >= 0)
				replay_begin(&r, 1, records[i].ts, records[i].probe);
			else
				replay_end(&r, 1, records[i].ts);
		}
		r.info.end_ns = REPLAY_BEGIN_NS + 100;
		expect(&r, trees[lost]);
	}
}

/* A return that never fires: the next call at the same place shows it, and the depth doesn't grow. */
static void test_return_never_fires(void **state)
{
	struct replay r = begin();

	(void)state;
	replay_begin(&r, 1, 10, A);
	stream_lose(&r.stream);
	replay_end(&r, 1, 15);
	replay_begin(&r, 1, 20, A);
	stream_lose(&r.stream);
	replay_end(&r, 1, 25);
	replay_call(&r, 1, 30, 40, A);
	expect(&r, "A[10-20]e\nA[20-30]e\nA[30-40]");
}

/* --- calls that end in other ways --- */

static void test_unwound(void **state)
{
	struct replay r = begin();
	struct session *m;

	(void)state;
	replay_begin(&r, 1, 10, A);
	replay_begin(&r, 1, 20, B);
	replay_begin(&r, 1, 30, C);
	stream_unwind(&r.stream, 1, REPLAY_BEGIN_NS + 50);
	stream_unwind(&r.stream, 1, REPLAY_BEGIN_NS + 50);
	replay_call(&r, 1, 50, 60, D);
	replay_end(&r, 1, 90);
	m = replay_session(&r);
	expect_tree(m, "A[10-90](B[20-50]u(C[30-50]u) D[50-60])");
	assert_int_equal(session_get_counts(m)->unwound, 2);
	session_free(m);
}

static void test_no_return_probe_left(void **state)
{
	struct replay r = begin();

	(void)state;
	replay_begin(&r, 1, 10, A);
	replay_begin(&r, 1, 20, B);
	replay_end(&r, 1, 40)->flags = REC_F_NO_RETURN;
	replay_end(&r, 1, 50);
	expect(&r, "A[10-50](B[20-40]e)");
}

static void test_clipped(void **state)
{
	struct replay r = begin();
	struct session *m;

	(void)state;
	replay_begin(&r, 1, 10, A);
	replay_begin(&r, 1, 20, B);
	replay_begin(&r, 2, 30, C);
	replay_stop(&r, 100);
	m = replay_session(&r);
	expect_tree(m, "A[10-100]c(B[20-100]c)\nC[30-100]c");
	assert_int_equal(session_get_counts(m)->clipped, 3);
	session_free(m);
}

/* The recording broke off: nobody closed anything. */
static void test_cut_off(void **state)
{
	struct replay r = begin();

	(void)state;
	replay_begin(&r, 1, 10, A);
	replay_begin(&r, 1, 20, B);
	replay_call(&r, 2, 30, 70, C);
	expect(&r, "A[10-70]c(B[20-70]c)\nC[30-70]");
}

/* The end of a clipped call was lost inside one whose end came. */
static void test_clipped_and_lost(void **state)
{
	struct replay r = begin();

	(void)state;
	replay_begin(&r, 1, 10, A);
	replay_begin(&r, 1, 20, B);
	stream_lose(&r.stream);
	replay_end(&r, 1, 100);
	replay_end(&r, 1, 100)->flags = REC_F_CLIPPED;
	expect(&r, "A[10-100]c(B[20-100]c)");
}

static void test_exit_and_exec(void **state)
{
	struct replay r = begin();

	(void)state;
	replay_begin(&r, 1, 10, A);
	replay_begin(&r, 1, 20, B);
	stream_task(&r.stream, REC_EXEC, 1, REPLAY_BEGIN_NS + 50, 0, "new");
	stream_thread(&r.stream, 1)->depth = 0;
	replay_begin(&r, 1, 60, C);
	stream_task(&r.stream, REC_EXIT, 1, REPLAY_BEGIN_NS + 80, 0, "new");
	r.info.end_ns = REPLAY_BEGIN_NS + 500;
	expect(&r, "A[10-50]c(B[20-50]c)\nC[60-80]c");
}

/* A jump: B is entered with A's stack pointer and is A's child all the same. */
static void test_tail_call(void **state)
{
	struct replay r = begin();
	uint64_t sp;

	(void)state;
	sp = replay_begin(&r, 1, 10, A)->sp;
	stream_begin(&r.stream, 1, REPLAY_BEGIN_NS + 20, B, sp)->flags = REC_F_TAIL;
	replay_end(&r, 1, 50);
	replay_end(&r, 1, 50);
	expect(&r, "A[10-50](B[20-50])");
}

/* --- other stacks: the kernel side finds callers by stack pointer and says which begin is elsewhere --- */

static struct rec_begin *on_stack(struct replay *r, uint64_t ts, int probe, uint64_t id, uint64_t parent, uint16_t depth)
{
	struct rec_begin *b = stream_add(&r->stream, REC_BEGIN, sizeof(*b), 1, REPLAY_BEGIN_NS + ts);

	b->call_id = id;
	b->parent_id = parent;
	b->probe = probe;
	b->tgid = REPLAY_PID;
	b->depth = depth;
	b->sp = 0x10000 * (depth + 1);
	return b;
}

static void off_stack(struct replay *r, uint64_t begin_ns, uint64_t ts, int probe, uint64_t id, uint64_t parent, uint16_t depth)
{
	struct rec_end *e = stream_add(&r->stream, REC_END, sizeof(*e), 1, REPLAY_BEGIN_NS + ts);

	e->begin_ns = REPLAY_BEGIN_NS + begin_ns;
	e->call_id = id;
	e->parent_id = parent;
	e->probe = probe;
	e->tgid = REPLAY_PID;
	e->depth = depth;
}

/* B runs on a coroutine's stack while A is open; neither is the other's caller. C is A's, though B is on top. */
static void test_coroutine(void **state)
{
	struct replay r = begin();
	struct session *m;
	struct event_view e;

	(void)state;
	on_stack(&r, 10, A, 1, 0, 0);
	on_stack(&r, 20, B, 2, 0, 0)->flags = REC_F_STACK_SWITCH;
	on_stack(&r, 30, C, 3, 1, 1)->flags = REC_F_STACK_SWITCH;
	off_stack(&r, 30, 40, C, 3, 1, 1);
	on_stack(&r, 50, D, 4, 2, 1);
	off_stack(&r, 50, 60, D, 4, 2, 1);
	off_stack(&r, 20, 70, B, 2, 0, 0);
	off_stack(&r, 10, 90, A, 1, 0, 0);
	m = replay_session(&r);
	expect_tree(m, "A[10-90](C[30-40])\nB[20-70](D[50-60])");
	assert_int_equal(session_get_counts(m)->stack_switches, 2);
	/* B interrupted A, C interrupted B: no moment counts twice */
	assert_true(session_event(m, 1, &e));
	assert_int_equal(e.time_ns, 80 - 50);
	assert_true(session_event(m, 3, &e));
	assert_int_equal(e.time_ns, 50 - 10 - 10);
	session_free(m);
}

/* The coroutine outlives what resumed it first. */
static void test_coroutine_outlives(void **state)
{
	struct replay r = begin();

	(void)state;
	on_stack(&r, 10, A, 1, 0, 0);
	on_stack(&r, 20, B, 2, 0, 0)->flags = REC_F_STACK_SWITCH;
	off_stack(&r, 10, 30, A, 1, 0, 0);
	on_stack(&r, 40, C, 3, 0, 0)->flags = REC_F_STACK_SWITCH;
	off_stack(&r, 40, 50, C, 3, 0, 0);
	off_stack(&r, 20, 60, B, 2, 0, 0);
	expect(&r, "A[10-30]\nB[20-30]e\nC[40-50]");
}

/* --- aggregates and marks --- */

static void test_aggregate(void **state)
{
	struct replay r = begin();
	struct session *m;
	struct event_view e;

	(void)state;
	replay_begin(&r, 1, 10, A);
	replay_call(&r, 1, 20, 30, B);
	replay_aggregate(&r, 1, 15, 80, D, 400, 25);
	stream_text(&r.stream, FIELD_SELECTOR, "#x");
	replay_end(&r, 1, 90);
	m = replay_session(&r);
	expect_tree(m, "A[10-90](B[20-30] D[15-80]x400)");
	assert_true(session_event(m, 3, &e));
	assert_int_equal(e.hits, 400);
	assert_int_equal(e.child_count, 0);
	assert_int_equal(e.time_ns, 25);
	assert_int_equal(e.flags & EV_AGGREGATE, EV_AGGREGATE);
	assert_string_equal(e.detail->selector, "#x");
	assert_true(session_event(m, 1, &e));
	assert_int_equal(e.time_ns, 80 - 10 - 25);
	session_free(m);
}

/* In the order of their first calls, whatever the order that they come in. */
static void test_aggregates_sorted(void **state)
{
	struct replay r = begin();

	(void)state;
	replay_begin(&r, 1, 10, A);
	replay_aggregate(&r, 1, 40, 50, D, 4, 1);
	replay_aggregate(&r, 1, 20, 80, D, 2, 1);
	replay_aggregate(&r, 1, 30, 35, D, 3, 1);
	replay_aggregate(&r, 1, 20, 30, D, 5, 1);
	replay_end(&r, 1, 90);
	expect(&r, "A[10-90](D[20-80]x2 D[20-30]x5 D[30-35]x3 D[40-50]x4)");
}

static void test_aggregate_without_parent(void **state)
{
	struct replay r = begin();

	(void)state;
	replay_begin(&r, 1, 10, A);
	stream_lose(&r.stream);
	replay_begin(&r, 1, 20, B);
	replay_aggregate(&r, 1, 25, 30, D, 7, 4);
	stream_lose(&r.stream);
	replay_end(&r, 1, 40);
	replay_end(&r, 1, 90);
	replay_aggregate(&r, 1, 95, 99, D, 2, 1);
	expect(&r, "A[10-90](D[25-30]x7)\nD[95-99]x2");
}

static void test_marks(void **state)
{
	struct replay r = begin();
	const struct session_mark *marks;
	struct session *m;
	size_t nr;

	(void)state;
	replay_mark(&r, 1, 5, MARK);
	replay_begin(&r, 1, 10, A);
	replay_begin(&r, 1, 20, B);
	replay_mark(&r, 1, 25, MARK);
	stream_int(&r.stream, FIELD_ID, 42);
	replay_end(&r, 1, 30);
	replay_mark(&r, 1, 35, MARK);
	replay_end(&r, 1, 40);
	m = replay_session(&r);
	marks = session_marks(m, &nr);
	assert_int_equal(nr, 3);
	assert_int_equal(marks[0].enclosing, 0);
	assert_int_equal(marks[1].enclosing, 2);
	assert_int_equal(marks[1].id, 42);
	assert_int_equal(marks[1].ts_ns, 25);
	assert_int_equal(marks[2].enclosing, 1);
	assert_int_equal(marks[0].timeline, 0);
	session_free(m);
}

/* --- what no kernel writes --- */

static void test_duplicates(void **state)
{
	struct replay r = begin();
	struct session *m;

	(void)state;
	replay_begin(&r, 1, 10, A);
	replay_end(&r, 1, 20);
	off_stack(&r, 10, 25, A, 1, 0, 0);	/* ended twice */
	off_stack(&r, 30, 40, B, 99, 0, 0);
	off_stack(&r, 30, 40, B, 99, 0, 0);	/* without a begin, twice */
	m = replay_session(&r);
	expect_tree(m, "A[10-20]\nB[30-40]b");
	assert_int_equal(session_get_counts(m)->orphan_ends, 2);
	session_free(m);
}

static void test_times_run_backwards(void **state)
{
	struct replay r = begin();

	(void)state;
	replay_begin(&r, 1, 100, A);
	replay_begin(&r, 1, 50, B);
	replay_end(&r, 1, 20);
	replay_end(&r, 1, 90);
	replay_call(&r, 1, 10, 5, C);
	expect(&r, "A[100-100](B[100-100])\nC[100-100]");
}

static void test_before_the_beginning(void **state)
{
	struct replay r = begin();
	struct rec_begin *b;

	(void)state;
	b = replay_begin(&r, 1, 0, A);
	b->hdr.ts_ns = 5;	/* long before info.begin_ns */
	replay_end(&r, 1, 20);
	expect(&r, "A[0-20]");
}

static void test_cycle(void **state)
{
	struct replay r = begin();

	(void)state;
	on_stack(&r, 10, A, 1, 2, 1);
	on_stack(&r, 20, B, 2, 1, 1);
	on_stack(&r, 30, C, 3, 3, 0);
	off_stack(&r, 30, 35, C, 3, 3, 0);
	off_stack(&r, 20, 40, B, 2, 1, 1);
	off_stack(&r, 10, 50, A, 1, 2, 1);
	expect(&r, "A[10-30]e(B[20-30]e)\nC[30-35]");
}

static void test_odd_records(void **state)
{
	struct replay r = begin();
	struct session *m;

	(void)state;
	stream_add(&r.stream, 77, 32, 1, REPLAY_BEGIN_NS);			/* unknown type */
	stream_add(&r.stream, REC_BEGIN, 24, 1, REPLAY_BEGIN_NS);		/* too short */
	replay_begin(&r, 1, 10, A)->probe = 12345;				/* no such probe */
	replay_call(&r, 1, 20, 30, B);
	replay_end(&r, 1, 40)->probe = 12345;
	m = replay_session(&r);
	expect_tree(m, "B[20-30]");
	assert_int_equal(session_get_counts(m)->unknown_records, 4);
	assert_int_equal(session_get_counts(m)->records, 6);
	session_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nested), cmocka_unit_test(test_zero_length), cmocka_unit_test(test_recursion),
		cmocka_unit_test(test_deep), cmocka_unit_test(test_lost_begin), cmocka_unit_test(test_lost_begins_all),
		cmocka_unit_test(test_lost_end), cmocka_unit_test(test_lost_end_mark),
		cmocka_unit_test(test_lost_end_then_begin), cmocka_unit_test(test_lost_both),
		cmocka_unit_test(test_lost_both_on_top), cmocka_unit_test(test_lost_end_and_both),
		cmocka_unit_test(test_lost_everything_but_ends), cmocka_unit_test(test_each_record_lost),
		cmocka_unit_test(test_return_never_fires), cmocka_unit_test(test_unwound),
		cmocka_unit_test(test_no_return_probe_left), cmocka_unit_test(test_clipped), cmocka_unit_test(test_cut_off),
		cmocka_unit_test(test_clipped_and_lost), cmocka_unit_test(test_exit_and_exec), cmocka_unit_test(test_tail_call),
		cmocka_unit_test(test_coroutine), cmocka_unit_test(test_coroutine_outlives), cmocka_unit_test(test_aggregate),
		cmocka_unit_test(test_aggregates_sorted), cmocka_unit_test(test_aggregate_without_parent), cmocka_unit_test(test_marks),
		cmocka_unit_test(test_duplicates), cmocka_unit_test(test_times_run_backwards),
		cmocka_unit_test(test_before_the_beginning), cmocka_unit_test(test_cycle), cmocka_unit_test(test_odd_records),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
