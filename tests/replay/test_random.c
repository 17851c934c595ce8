// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Random streams under random losses, and streams that no kernel would write: what must hold always, holds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "replay/invariants.h"
#include "replay/replay.h"

#define THREADS 3
#define STEPS 400
#define ROUNDS 1500

enum { REFLOW, STYLE, LAYOUT, PAINT, LEAF, CALLER, MARK };

static uint64_t random_state;

static uint32_t any(uint32_t below)
{
	random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
	return (random_state >> 33) % below;
}

struct mix {
	uint32_t loss;		/* percent of the records */
	bool frames, callers, aggregates, costs, off_cpu, stacks;
};

static void begin(struct replay *r, uint32_t tid, uint64_t now, const struct mix *m)
{
	int probe = m->callers && any(8) == 0 ? CALLER : any(PAINT + 1);

	if (any(100) < m->loss)
		stream_lose(&r->stream);
	replay_begin(r, tid, now, probe)->read_ns = m->costs && any(3) ? any(40) : 0;
	if (m->frames && any(3) == 0)
		stream_int(&r->stream, FIELD_FRAME, 1 + any(3));
	if (m->frames && any(3) == 0)
		stream_int(&r->stream, FIELD_DOCUMENT, 1 + any(4));
	if (m->stacks && any(10) == 0)
		((struct rec_begin *)(r->stream.bytes + r->stream.last))->flags |= REC_F_STACK_SWITCH;
}

/* Time off the CPU: no more than there was, and no less than the children's, as the kernel counts it. */
static uint64_t off_cpu[THREADS + 1];

static void end(struct replay *r, uint32_t tid, uint64_t now, const struct mix *m, const uint64_t *off_begin)
{
	struct stream_thread *t = stream_thread(&r->stream, tid);
	struct rec_end *e;

	if (any(100) < m->loss)
		stream_lose(&r->stream);
	e = replay_end(r, tid, now);
	e->off_cpu_ns = m->off_cpu ? off_cpu[tid] - off_begin[t->depth] : 0;
	if (any(20) == 0)
		e->flags |= REC_F_UNWOUND;
	if (any(10) == 0) {
		e->hidden_hits = any(5);
		e->hidden_ns = any(50);
		e->measured_ns = any(50);
	}
}

static void step(struct replay *r, uint32_t tid, uint64_t now, const struct mix *m, uint64_t off_begin[][512])
{
	struct stream_thread *t = replay_thread(r, tid, 0);
	uint32_t what = any(100);

	if (what < 45 && t->depth < 40) {
		off_begin[tid][t->depth] = off_cpu[tid];
		begin(r, tid, now, m);
	} else if (what < 85 && t->depth) {
		end(r, tid, now, m, off_begin[tid]);
	} else if (what < 90 && m->aggregates && now > 40) {
		if (any(100) < m->loss)
			stream_lose(&r->stream);
		replay_aggregate(r, tid, now - any(40), now, LEAF, 1 + any(9), any(30));
	} else if (what < 95) {
		if (any(100) < m->loss)
			stream_lose(&r->stream);
		replay_mark(r, tid, now, MARK)->read_ns = any(9);
	} else if (m->costs) {
		replay_cost(r, now, any(30), any(30), any(5));
	}
}

static struct session *make(const struct mix *m)
{
	static uint64_t off_begin[THREADS + 1][512];
	struct replay r = { 0 };
	uint64_t now = 0;

	replay_probe(&r, "REFLOW", EVENT_REFLOW);
	replay_probe(&r, "STYLE", EVENT_STYLE_RECALCULATION);
	replay_probe(&r, "LAYOUT", EVENT_LAYOUT);
	replay_probe(&r, "PAINT", EVENT_PAINT);
	r.probes[replay_probe(&r, "LEAF", EVENT_CSS_SELECTOR_MATCHING)].kind = PROBE_KIND_AGGREGATE;
	replay_role(&r, "CALLER", PROBE_KIND_SPAN, ROLE_SCRIPT_CALLER);
	replay_role(&r, "MARK", PROBE_KIND_MARK, ROLE_NONE);
	for (int i = 0; i < STEPS; i++) {
		uint32_t tid = 1 + any(THREADS), passed = any(4) ? any(60) : 0;

		now += passed;
		for (uint32_t other = 1; other <= THREADS; other++)
			off_cpu[other] += any(3) ? 0 : passed;
		step(&r, tid, now, m, off_begin);
	}
	if (any(2))
		replay_stop(&r, now);
	return replay_session(&r);
}

static void check(const struct mix *m, uint64_t seed)
{
	struct invariants inv = { .moved = m->frames || m->stacks, .hidden = m->callers };
	struct session *s;
	const char *wrong;

	random_state = seed;
	for (uint32_t i = 0; i <= THREADS; i++)
		off_cpu[i] = 0;
	s = make(m);
	wrong = invariants_check(s, &inv);
	if (wrong)
		fail_msg("seed %llu: %s", (unsigned long long)seed, wrong);
	session_free(s);
}

static void run(const struct mix *m)
{
	for (uint64_t seed = 1; seed <= ROUNDS / 5; seed++)
		check(m, seed);
}

static void test_lossless(void **state)
{
	(void)state;
	run(&(struct mix){ 0 });
	run(&(struct mix){ .costs = true, .off_cpu = true });
}

static void test_losses(void **state)
{
	static const uint32_t percent[] = { 1, 10, 50, 90 };

	(void)state;
	for (size_t i = 0; i < 4; i++)
		run(&(struct mix){ .loss = percent[i], .costs = true, .off_cpu = true });
}

static void test_aggregates(void **state)
{
	(void)state;
	run(&(struct mix){ .aggregates = true, .costs = true, .off_cpu = true });
	run(&(struct mix){ .aggregates = true, .costs = true, .loss = 20 });
}

static void test_frames(void **state)
{
	(void)state;
	run(&(struct mix){ .frames = true, .costs = true, .off_cpu = true });
	run(&(struct mix){ .frames = true, .aggregates = true, .loss = 20, .off_cpu = true });
}

static void test_everything(void **state)
{
	(void)state;
	run(&(struct mix){ .frames = true, .callers = true, .aggregates = true, .costs = true, .off_cpu = true, .stacks = true });
	run(&(struct mix){ .frames = true, .callers = true, .aggregates = true, .costs = true, .loss = 30, .stacks = true });
}

/* --- records that nobody wrote --- */

static void garbage_record(struct session_builder *b)
{
	static const uint16_t sizes[] = { 16, 24, 32, 40, 48, 56, 72, 88, 96, 128 };
	uint64_t words[32];
	struct rec_header *h = (struct rec_header *)words;

	/* small numbers, so that ids, depths and times meet; now and then a huge one */
	for (size_t i = 0; i < 32; i++)
		words[i] = any(12) ? (uint64_t)any(20) | (uint64_t)any(6) << 32 : (uint64_t)any(UINT32_MAX) << any(33);
	h->type = any(20) ? 1 + any(4) : any(16);
	h->size = sizes[any(10)];
	h->tid = any(3);
	assert_int_equal(session_builder_add(b, h), 0);
}

static void test_garbage(void **state)
{
	struct recording_probe probes[6] = { 0 };
	struct recording_info info = { .nr_metrics = 1 };
	struct invariants inv = { .moved = true, .hidden = true };

	(void)state;
	for (int i = 0; i < 6; i++) {
		probes[i].type = EVENT_REFLOW + i;
		probes[i].cost_class = i & 3;
		probes[i].role = i == 5 ? ROLE_SCRIPT_CALLER : i == 4 ? ROLE_DOCUMENT_CREATED : ROLE_NONE;
	}
	for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
		struct session_builder *b;
		struct session *s;
		const char *wrong;

		random_state = seed;
		assert_int_equal(session_builder_new(&b), 0);
		assert_int_equal(session_builder_tables(b, &info, probes, 6, NULL, 0, NULL, 0), 0);
		for (int i = 0; i < 300; i++)
			garbage_record(b);
		assert_int_equal(session_builder_finish(b, &s), 0);
		wrong = invariants_check(s, &inv);
		if (wrong)
			fail_msg("seed %llu: %s", (unsigned long long)seed, wrong);
		session_free(s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lossless), cmocka_unit_test(test_losses), cmocka_unit_test(test_aggregates),
		cmocka_unit_test(test_frames), cmocka_unit_test(test_everything), cmocka_unit_test(test_garbage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
