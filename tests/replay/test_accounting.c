// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Where each nanosecond goes: self, overhead, blocked, children; worked out by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "replay/invariants.h"
#include "replay/replay.h"

static int A, B, C;

static struct replay begin(void)
{
	struct replay r = { 0 };

	A = replay_probe(&r, "A", EVENT_REFLOW);
	B = replay_probe(&r, "B", EVENT_STYLE_RECALCULATION);
	C = replay_probe(&r, "C", EVENT_LAYOUT);
	return r;
}

struct expected {
	uint64_t time, overhead, blocked, agg_time, agg_overhead, agg_blocked, uncertainty;
};

/* The events in the order of their ids. */
static void expect(struct replay *r, const struct expected *want, uint32_t nr)
{
	const struct invariants inv = { .hidden = true };
	struct session *m = replay_session(r);
	struct event_view e;

	assert_null(invariants_check(m, &inv));
	assert_int_equal(session_get_counts(m)->events, nr);
	for (uint32_t i = 0; i < nr; i++) {
		assert_true(session_event(m, i + 1, &e));
		assert_int_equal(e.time_ns, want[i].time);
		assert_int_equal(e.overhead_ns, want[i].overhead);
		assert_int_equal(e.blocked_ns, want[i].blocked);
		assert_int_equal(e.agg_time_ns, want[i].agg_time);
		assert_int_equal(e.agg_overhead_ns, want[i].agg_overhead);
		assert_int_equal(e.agg_blocked_ns, want[i].agg_blocked);
		assert_int_equal(e.uncertainty_ns, want[i].uncertainty);
	}
	session_free(m);
}

#define EXPECT(r, ...) do { \
	static const struct expected want[] = { __VA_ARGS__ }; \
	expect(r, want, sizeof(want) / sizeof(want[0])); \
} while (0)

/* inner 10 falls to the call, outer 20 to its caller. */
static void test_costs(void **state)
{
	struct replay r = begin();

	(void)state;
	replay_cost(&r, 0, 10, 20, 3);
	replay_begin(&r, 1, 100, A);
	replay_call(&r, 1, 200, 500, B)->off_cpu_ns = 100;
	replay_end(&r, 1, 1100)->off_cpu_ns = 150;
	EXPECT(&r, { 620, 30, 50, 810, 40, 150, 6 }, { 190, 10, 100, 190, 10, 100, 3 });
}

static void test_no_calibration(void **state)
{
	struct replay r = begin();

	(void)state;
	replay_begin(&r, 1, 100, A);
	replay_call(&r, 1, 200, 500, B);
	replay_end(&r, 1, 1100);
	EXPECT(&r, { 700, 0, 0, 1000, 0, 0, 0 }, { 300, 0, 0, 300, 0, 0, 0 });
}

/* An estimate that is larger than what there is: time 0, never less. */
static void test_clamped(void **state)
{
	struct replay r = begin();

	(void)state;
	replay_cost(&r, 0, 10, 20, 3);
	replay_begin(&r, 1, 100, A);
	replay_call(&r, 1, 101, 106, B);		/* 5 < 10 */
	replay_call(&r, 1, 107, 127, B);
	replay_end(&r, 1, 130)->off_cpu_ns = 4;		/* 5 are left: 4 blocked, 1 of 50 overhead */
	EXPECT(&r, { 0, 1, 4, 5, 21, 4, 7 }, { 0, 5, 0, 0, 5, 0, 3 }, { 5, 15, 0, 5, 15, 0, 3 });
}

/* What a call was too short for is taken from the next one of its caller's; of many together no more than one costs. */
static void test_short_siblings(void **state)
{
	struct replay r = begin();

	(void)state;
	replay_cost(&r, 0, 10, 0, 0);
	replay_begin(&r, 1, 100, A);
	replay_call(&r, 1, 200, 208, B);
	replay_call(&r, 1, 300, 315, B);
	replay_call(&r, 1, 400, 400, B);
	replay_call(&r, 1, 500, 500, B);
	replay_call(&r, 1, 600, 700, B);
	replay_end(&r, 1, 1100);
	EXPECT(&r, { 867, 10, 0, 950, 50, 0, 0 }, { 0, 8, 0, 0, 8, 0, 0 }, { 3, 12, 0, 3, 12, 0, 0 }, { 0 }, { 0 },
	       { 80, 20, 0, 80, 20, 0, 0 });
}

/* The nearest measurement counts, of two as near the earlier one; one from before the recording will do. */
static void test_nearest(void **state)
{
	struct replay r = begin();

	(void)state;
	stream_cost(&r.stream, REPLAY_BEGIN_NS - 1000, COST_EMULATED, 1, 0);
	replay_cost(&r, 2000, 30, 0, 0);
	replay_cost(&r, 1000, 10, 0, 0);	/* late */
	stream_cost(&r.stream, REPLAY_BEGIN_NS + 1001, COST_STEPPED, 99, 99);
	replay_call(&r, 1, 0, 100, A);
	replay_call(&r, 1, 1500, 1600, A);
	replay_call(&r, 1, 1601, 1700, A);
	replay_call(&r, 1, 90000, 90100, A);
	EXPECT(&r, { 99, 1, 0, 99, 1, 0, 0 }, { 90, 10, 0, 90, 10, 0, 14 }, { 69, 30, 0, 69, 30, 0, 0 },
	       { 70, 30, 0, 70, 30, 0, 0 });
}

static void test_classes(void **state)
{
	struct replay r = begin();

	(void)state;
	r.probes[B].cost_class = COST_STEPPED;
	r.probes[C].cost_class = COST_NOP5;	/* never measured */
	stream_cost(&r.stream, REPLAY_BEGIN_NS, COST_EMULATED, 1, 2);
	stream_cost(&r.stream, REPLAY_BEGIN_NS, COST_STEPPED, 10, 20);
	replay_begin(&r, 1, 0, A);
	replay_call(&r, 1, 100, 200, B);
	replay_call(&r, 1, 200, 300, C);
	replay_end(&r, 1, 1000);
	EXPECT(&r, { 779, 21, 0, 969, 31, 0, 0 }, { 90, 10, 0, 90, 10, 0, 0 }, { 100, 0, 0, 100, 0, 0, 0 });
}

/* Asleep for 5 of 6 ms, half of it in a child. */
static void test_blocked(void **state)
{
	struct replay r = begin();

	(void)state;
	replay_begin(&r, 1, 0, A);
	replay_call(&r, 1, 1000, 4000, B)->off_cpu_ns = 2500;
	replay_end(&r, 1, 6000)->off_cpu_ns = 5000;
	EXPECT(&r, { 500, 0, 2500, 1000, 0, 5000, 0 }, { 500, 0, 2500, 500, 0, 2500, 0 });
}

/* More off the CPU than there was time; less than the children. */
static void test_blocked_clamped(void **state)
{
	struct replay r = begin();

	(void)state;
	replay_begin(&r, 1, 0, A);
	replay_call(&r, 1, 10, 40, B)->off_cpu_ns = 1000000;
	replay_end(&r, 1, 100)->off_cpu_ns = 5;
	EXPECT(&r, { 70, 0, 0, 70, 0, 30, 0 }, { 0, 0, 30, 0, 0, 30, 0 });
}

/* Without an end nothing is known of waiting but what the children say. */
static void test_blocked_unknown(void **state)
{
	struct replay r = begin();

	(void)state;
	replay_begin(&r, 1, 0, A);
	replay_begin(&r, 1, 10, B);
	replay_call(&r, 1, 20, 40, C)->off_cpu_ns = 15;
	stream_lose(&r.stream);
	replay_end(&r, 1, 50);
	replay_end(&r, 1, 100)->off_cpu_ns = 45;
	EXPECT(&r, { 0, 0, 10, 75, 0, 25, 0 }, { 70, 0, 0, 75, 0, 15, 0 }, { 5, 0, 15, 5, 0, 15, 0 });
}

/* Ten calls in one record cost ten times. */
static void test_aggregate(void **state)
{
	struct replay r = begin();

	(void)state;
	replay_cost(&r, 0, 10, 20, 3);
	replay_begin(&r, 1, 0, A);
	replay_aggregate(&r, 1, 100, 900, B, 10, 300);
	replay_end(&r, 1, 1000);
	EXPECT(&r, { 490, 210, 0, 690, 310, 0, 33 }, { 200, 100, 0, 200, 100, 0, 30 });
}

/* More time than its interval has, or than its caller has left. */
static void test_aggregate_clamped(void **state)
{
	struct replay r = begin();

	(void)state;
	replay_begin(&r, 1, 0, A);
	replay_call(&r, 1, 100, 700, C);
	replay_aggregate(&r, 1, 100, 900, B, 10, 5000);
	replay_aggregate(&r, 1, 100, 110, B, 10, 5000);
	replay_end(&r, 1, 1000);
	EXPECT(&r, { 0, 0, 0, 1000, 0, 0, 0 }, { 600, 0, 0, 600, 0, 0, 0 }, { 400, 0, 0, 400, 0, 0, 0 },
	       { 0, 0, 0, 0, 0, 0, 0 });
}

/* Calls that the kernel side dropped: their time is their caller's own, what they cost isn't. */
static void test_hidden(void **state)
{
	struct replay r = begin();
	struct rec_end *e;

	(void)state;
	replay_cost(&r, 0, 10, 20, 3);
	replay_begin(&r, 1, 0, A);
	e = replay_end(&r, 1, 1000);
	e->flags = REC_F_HIDDEN;
	e->hidden_hits = 3;
	e->hidden_ns = 15;	/* of it all three times 10 can't have been cost */
	EXPECT(&r, { 1000 - 10 - 15 - 60, 85, 0, 915, 85, 0, 12 });
}

/* Another profiler's overhead is what it says, not what our calls cost. */
static void test_known_overhead(void **state)
{
	struct replay r = begin();
	struct rec_end *e;

	(void)state;
	replay_begin(&r, 1, 0, A);
	replay_call(&r, 1, 100, 300, B);
	e = replay_end(&r, 1, 1000);
	e->flags = REC_F_OVERHEAD;
	e->hidden_ns = 50;
	e = replay_call(&r, 1, 1000, 1100, C);
	e->flags = REC_F_OVERHEAD;
	e->hidden_ns = 5000;	/* more than there is */
	EXPECT(&r, { 750, 50, 0, 950, 50, 0, 0 }, { 200, 0, 0, 200, 0, 0, 0 }, { 0, 100, 0, 0, 100, 0, 0 });
}

/* The same of sums of calls, with arguments and without; one that is cut off before it says so is like any other. */
static void test_known_overhead_summed(void **state)
{
	struct replay r = begin();
	struct rec_aggregate *cut;
	struct rec_end *e;

	(void)state;
	replay_cost(&r, 0, 10, 20, 0);
	replay_begin(&r, 1, 0, A);
	replay_aggregate(&r, 1, 100, 900, B, 10, 300);
	stream_text(&r.stream, FIELD_SELECTOR, ".a");
	stream_overhead(&r.stream, 120);
	replay_aggregate(&r, 1, 200, 900, B, 10, 200);
	stream_overhead(&r.stream, 5000);	/* more than there is */
	cut = replay_aggregate(&r, 1, 300, 900, B, 3, 100);
	cut->flags = REC_F_OVERHEAD;
	e = replay_end(&r, 1, 1000);
	e->flags = REC_F_OVERHEAD;
	e->hidden_ns = 50;
	EXPECT(&r, { 350, 50, 0, 600, 400, 0, 0 }, { 180, 120, 0, 180, 120, 0, 0 }, { 0, 200, 0, 0, 200, 0, 0 },
	       { 70, 30, 0, 70, 30, 0, 0 });
}

/* How long reading took is the caller's overhead, on top of what calls cost else; without a caller it is nobody's. */
static void test_reading(void **state)
{
	struct replay r = begin();
	int mark = replay_role(&r, "mark", PROBE_KIND_MARK, ROLE_NONE);

	(void)state;
	r.probes[mark].cost_class = COST_EMULATED;
	replay_cost(&r, 0, 10, 20, 3);
	replay_begin(&r, 1, 100, A)->read_ns = 77;
	replay_begin(&r, 1, 200, B)->read_ns = 50;
	replay_call(&r, 1, 300, 400, C);
	replay_end(&r, 1, 500);
	replay_mark(&r, 1, 600, mark)->read_ns = 30;
	replay_begin(&r, 1, 700, C)->read_ns = 40;
	replay_end(&r, 1, 800)->off_cpu_ns = 15;
	replay_end(&r, 1, 1100)->off_cpu_ns = 35;
	/* A: 1000 - 300 - 100 - 20 blocked; own 10, three times 20 and what was read */
	EXPECT(&r, { 580 - 10 - 60 - 120, 10 + 60 + 120, 20, 390 + 260 + 75, 190 + 40 + 10, 35, 12 },
	       { 170, 30, 0, 260, 40, 0, 6 }, { 90, 10, 0, 90, 10, 0, 3 }, { 75, 10, 15, 75, 10, 15, 3 });
}

/* More than the caller has left: no time of its own, and still no nanosecond too many. */
static void test_reading_clamped(void **state)
{
	struct replay r = begin();

	(void)state;
	replay_begin(&r, 1, 100, A);
	replay_begin(&r, 1, 200, B)->read_ns = UINT32_MAX;
	replay_end(&r, 1, 500);
	replay_end(&r, 1, 1100)->off_cpu_ns = 200;
	EXPECT(&r, { 0, 500, 200, 300, 500, 200, 0 }, { 300, 0, 0, 300, 0, 0, 0 });
}

/* Below a caller that isn't shown, it is the next one's; so is what was read of calls that the kernel side dropped. */
static void test_reading_hidden(void **state)
{
	struct replay r = begin();
	int caller = replay_role(&r, "caller", PROBE_KIND_SPAN, ROLE_SCRIPT_CALLER);
	struct rec_end *e;

	(void)state;
	replay_begin(&r, 1, 0, A);
	replay_begin(&r, 1, 100, caller)->read_ns = 7;
	replay_begin(&r, 1, 200, B)->read_ns = 30;
	replay_end(&r, 1, 300);
	replay_end(&r, 1, 400);
	e = replay_end(&r, 1, 1000);
	e->flags = REC_F_HIDDEN;
	e->hidden_hits = 3;
	e->hidden_ns = 15;
	e->measured_ns = 200;
	EXPECT(&r, { 900 - 237, 237, 0, 1000 - 237, 237, 0, 0 }, { 100, 0, 0, 100, 0, 0, 0 });
}

/* Sums below a call: it tells what was read for them. Where another profiler says what all of it cost, that counts. */
static void test_reading_summed(void **state)
{
	struct replay r = begin();
	struct rec_end *e;

	(void)state;
	replay_cost(&r, 0, 10, 20, 0);
	replay_begin(&r, 1, 0, A);
	replay_aggregate(&r, 1, 100, 900, B, 10, 300);
	replay_end(&r, 1, 1000)->measured_ns = 40;
	e = replay_call(&r, 1, 1000, 1100, C);
	e->measured_ns = 40;
	e->flags = REC_F_OVERHEAD;
	e->hidden_ns = 5;
	EXPECT(&r, { 450, 250, 0, 650, 350, 0, 0 }, { 200, 100, 0, 200, 100, 0, 0 }, { 95, 5, 0, 95, 5, 0, 0 });
}

/* An end alone knows nothing of it; a begin alone does. */
static void test_reading_lost(void **state)
{
	struct replay r = begin();

	(void)state;
	replay_begin(&r, 1, 0, A);
	stream_lose(&r.stream);
	replay_begin(&r, 1, 100, B)->read_ns = 50;
	replay_end(&r, 1, 200);
	replay_begin(&r, 1, 300, B)->read_ns = 60;
	stream_lose(&r.stream);
	replay_end(&r, 1, 400);
	replay_end(&r, 1, 1000);
	EXPECT(&r, { 200 - 60, 60, 0, 940, 60, 0, 0 }, { 100, 0, 0, 100, 0, 0, 0 }, { 700, 0, 0, 700, 0, 0, 0 });
}

/* The flag counts them, too: without them this one shows 190 of 200. */
static void test_hidden_flag(void **state)
{
	struct replay r = begin();
	struct session *m;
	struct event_view e;
	struct rec_end *end;

	(void)state;
	replay_cost(&r, 0, 10, 20, 3);
	replay_begin(&r, 1, 0, A);
	end = replay_end(&r, 1, 200);
	end->flags = REC_F_HIDDEN;
	end->hidden_hits = 3;
	end->hidden_ns = 15;
	m = replay_session(&r);
	assert_true(session_event(m, 1, &e));
	assert_int_equal(e.time_ns, 115);
	assert_true(e.flags & EV_OVERHEAD_HIGH);
	session_free(m);
}

/* A script's caller isn't shown; its time is its own caller's, so is what it costs. */
static void test_script_caller(void **state)
{
	struct replay r = begin();
	int caller = replay_role(&r, "caller", PROBE_KIND_SPAN, ROLE_SCRIPT_CALLER);

	(void)state;
	r.probes[caller].cost_class = COST_EMULATED;
	replay_cost(&r, 0, 10, 20, 3);
	replay_begin(&r, 1, 0, A);
	replay_begin(&r, 1, 10, caller);
	replay_call(&r, 1, 20, 70, B)->off_cpu_ns = 5;
	replay_end(&r, 1, 110)->off_cpu_ns = 25;
	replay_end(&r, 1, 200)->off_cpu_ns = 40;
	/* blocked: 40 - 5; overhead: own 10, caller 10 + 20, B 20 */
	EXPECT(&r, { 150 - 35 - 60, 60, 35, 150 - 35 - 60 + 35, 70, 40, 6 }, { 35, 10, 5, 35, 10, 5, 3 });
}

static void test_overhead_flag(void **state)
{
	struct replay r = begin();
	struct session *m;
	struct event_view e;

	(void)state;
	replay_cost(&r, 0, 10, 0, 0);
	replay_call(&r, 1, 0, 30, A);	/* shown 20, subtracted 10: half */
	replay_call(&r, 1, 30, 59, A);	/* shown 19 */
	m = replay_session(&r);
	assert_true(session_event(m, 1, &e));
	assert_false(e.flags & EV_OVERHEAD_HIGH);
	assert_true(session_event(m, 2, &e));
	assert_true(e.flags & EV_OVERHEAD_HIGH);
	session_free(m);
}

/* --- hits and metrics --- */

static void test_hits(void **state)
{
	struct replay r = begin();
	struct session *m;
	struct event_view e;
	static const uint32_t hits[] = { 5, 1, 9, 0, 1 };

	(void)state;
	replay_begin(&r, 1, 0, A);
	stream_int(&r.stream, FIELD_COUNT, 5);	/* one that has a child */
	replay_call(&r, 1, 10, 20, B);
	replay_end(&r, 1, 30);
	replay_begin(&r, 1, 40, A);
	stream_int(&r.stream, FIELD_COUNT, 9);
	replay_end(&r, 1, 50);
	replay_begin(&r, 1, 60, A);
	stream_int(&r.stream, FIELD_COUNT, -3);
	replay_call(&r, 1, 61, 62, B);
	replay_end(&r, 1, 70);
	m = replay_session(&r);
	for (uint32_t i = 0; i < 5; i++) {
		assert_true(session_event(m, i + 1, &e));
		assert_int_equal(e.hits, hits[i]);
	}
	session_free(m);
}

static void test_metrics(void **state)
{
	struct replay r = begin();
	struct session *m;
	struct event_view e;

	(void)state;
	r.info.nr_metrics = 2;
	replay_begin(&r, 1, 0, A);
	replay_call(&r, 1, 10, 20, B);
	stream_metric(&r.stream, 7);
	stream_metric(&r.stream, 8);
	stream_lose(&r.stream);
	replay_end(&r, 1, 30);
	replay_call(&r, 1, 40, 50, C);
	stream_metric(&r.stream, 9);	/* one of two: not to be trusted */
	m = replay_session(&r);
	assert_true(session_event(m, 1, &e));
	assert_null(e.metrics);
	assert_true(session_event(m, 2, &e));
	assert_int_equal(e.metrics[0], 7);
	assert_int_equal(e.metrics[1], 8);
	assert_true(session_event(m, 3, &e));
	assert_null(e.metrics);
	session_free(m);
}

/* --- the process's clock --- */

static bool cpu_of(struct replay *r, uint32_t pid, uint64_t *ret)
{
	struct session *m = replay_session(r);
	const struct recording_process *p;
	bool known = false;
	size_t nr;

	p = session_processes(m, &nr);
	for (size_t i = 0; i < nr; i++)
		if (p[i].pid == pid)
			known = session_process_cpu_ns(m, i, ret);
	assert_false(session_process_cpu_ns(m, nr, ret));
	session_free(m);
	return known;
}

static void test_cpu(void **state)
{
	struct replay r = begin();
	uint64_t ns;

	(void)state;
	stream_cpu(&r.stream, REPLAY_PID, REPLAY_BEGIN_NS, 1000, false);
	stream_cpu(&r.stream, REPLAY_PID + 1, REPLAY_BEGIN_NS, 5, false);
	stream_cpu(&r.stream, REPLAY_PID, REPLAY_BEGIN_NS + 50, 1200, false);
	stream_cpu(&r.stream, REPLAY_PID, REPLAY_BEGIN_NS + 90, 1250, true);
	assert_true(cpu_of(&r, REPLAY_PID, &ns));
	assert_int_equal(ns, 250);
}

/* Absent, not 0, where one reading is all there is; a process that began meanwhile counts from 0. */
static void test_cpu_unknown(void **state)
{
	struct replay r = begin();
	uint64_t ns;

	(void)state;
	stream_cpu(&r.stream, REPLAY_PID, REPLAY_BEGIN_NS + 10, 1000, false);
	assert_false(cpu_of(&r, REPLAY_PID, &ns));
	r = begin();
	replay_call(&r, 1, 10, 20, A);
	assert_false(cpu_of(&r, REPLAY_PID, &ns));
	r = begin();
	replay_process(&r, 200, "child", 40);
	stream_cpu(&r.stream, 200, REPLAY_BEGIN_NS + 90, 30, true);
	assert_true(cpu_of(&r, 200, &ns));
	assert_int_equal(ns, 30);
	r = begin();
	replay_call(&r, 1, 10, 20, A);
	stream_task(&r.stream, REC_FORK, 1, REPLAY_BEGIN_NS + 40, 300, "fork");
	stream_cpu(&r.stream, 300, REPLAY_BEGIN_NS + 50, 7, false);
	stream_cpu(&r.stream, 300, REPLAY_BEGIN_NS + 90, 44, true);
	assert_true(cpu_of(&r, 300, &ns));
	assert_int_equal(ns, 44);
}

/* A process that began while a server waited for the session has a past that isn't part of it. */
static void test_cpu_before(void **state)
{
	struct replay r = begin();
	uint64_t ns;

	(void)state;
	replay_process(&r, 200, "child", 0);
	r.processes[r.nr_processes - 1].start_ns = REPLAY_BEGIN_NS - 40;
	stream_cpu(&r.stream, 200, REPLAY_BEGIN_NS, 30, false);
	stream_cpu(&r.stream, 200, REPLAY_BEGIN_NS + 90, 33, true);
	assert_true(cpu_of(&r, 200, &ns));
	assert_int_equal(ns, 3);
	r = begin();
	replay_process(&r, 200, "child", 0);
	r.processes[r.nr_processes - 1].start_ns = REPLAY_BEGIN_NS - 40;
	stream_cpu(&r.stream, 200, REPLAY_BEGIN_NS + 90, 33, true);
	assert_false(cpu_of(&r, 200, &ns));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_costs), cmocka_unit_test(test_no_calibration), cmocka_unit_test(test_clamped), cmocka_unit_test(test_short_siblings),
		cmocka_unit_test(test_nearest), cmocka_unit_test(test_classes), cmocka_unit_test(test_blocked),
		cmocka_unit_test(test_blocked_clamped), cmocka_unit_test(test_blocked_unknown),
		cmocka_unit_test(test_aggregate), cmocka_unit_test(test_aggregate_clamped), cmocka_unit_test(test_hidden), cmocka_unit_test(test_hidden_flag),
		cmocka_unit_test(test_known_overhead), cmocka_unit_test(test_known_overhead_summed),
		cmocka_unit_test(test_reading), cmocka_unit_test(test_reading_clamped), cmocka_unit_test(test_reading_hidden),
		cmocka_unit_test(test_reading_summed), cmocka_unit_test(test_reading_lost),
		cmocka_unit_test(test_script_caller), cmocka_unit_test(test_overhead_flag), cmocka_unit_test(test_hits),
		cmocka_unit_test(test_metrics), cmocka_unit_test(test_cpu), cmocka_unit_test(test_cpu_unknown), cmocka_unit_test(test_cpu_before),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
