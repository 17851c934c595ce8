// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Record streams in, trees out: pairing of begins and ends under every kind of loss. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "replay/replay.h"

static int A, B, C, D;

static struct replay begin(void)
{
	struct replay r = { 0 };

	A = replay_probe(&r, "A", EVENT_REFLOW);
	B = replay_probe(&r, "B", EVENT_STYLE_RECALCULATION);
	C = replay_probe(&r, "C", EVENT_LAYOUT);
	D = replay_probe(&r, "D", EVENT_PAINT);
	return r;
}

/* Builds the session and compares the first timeline. */
static struct session *expect(struct replay *r, const char *tree)
{
	struct session *m = replay_session(r);
	char text[4096];
	size_t nr;

	replay_describe(m, &session_timelines(m, &nr)[0], text, sizeof(text));
	assert_string_equal(text, tree);
	return m;
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
	session_free(expect(&r, "A[10-90](B[20-60](C[25-30]) C[60-80])\nD[95-99]"));
}

static void test_lost_begin(void **state)
{
	struct replay r = begin();

	(void)state;
	replay_begin(&r, 1, 10, A);
	stream_lose(&r.stream);
	replay_begin(&r, 1, 20, B);
	replay_call(&r, 1, 25, 30, C);
	replay_end(&r, 1, 60);
	replay_call(&r, 1, 60, 80, C);
	replay_end(&r, 1, 90);
	session_free(expect(&r, "A[10-90](B[20-60]b(C[25-30]) C[60-80])"));
}

static void test_lost_end(void **state)
{
	struct replay r = begin();

	(void)state;
	replay_begin(&r, 1, 10, A);
	replay_begin(&r, 1, 20, B);
	stream_lose(&r.stream);
	replay_end(&r, 1, 60);
	replay_call(&r, 1, 70, 80, C);
	replay_begin(&r, 1, 82, B);
	stream_lose(&r.stream);
	replay_end(&r, 1, 84);
	replay_end(&r, 1, 90);
	session_free(expect(&r, "A[10-90](B[20-70]e C[70-80] B[82-90]e)"));
}

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
	session_free(expect(&r, "A[10-90](C[25-30] D[35-40] C[70-80])"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nested),
		cmocka_unit_test(test_lost_begin),
		cmocka_unit_test(test_lost_end),
		cmocka_unit_test(test_lost_both),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
