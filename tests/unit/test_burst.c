// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What a burst's times are taken to mean. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "capture/burst.h"

#define CALL 2200
#define SEND 1500

static uint64_t ns[BURST_LONG_CALLS];
static bool sends[BURST_LONG_CALLS];

/* Every 64th call sends what the calls have left in the buffer. */
static void calls(void)
{
	for (unsigned int i = 0; i < BURST_LONG_CALLS; i++) {
		sends[i] = i % 64 == 30;
		ns[i] = CALL + i % 7 * 10 + (sends[i] ? SEND : 0);
	}
}

static void sending(void **state)
{
	(void)state;
	calls();
	assert_in_range(burst_sending(ns, sends, BURST_LONG_CALLS), SEND - 60, SEND + 60);
}

/* Interrupts take ten times as long as sending does; as one of them falls into most long bursts, the longest call is theirs. */
static void interrupted(void **state)
{
	(void)state;
	calls();
	ns[100] = ns[120] = ns[180] = 30000;
	assert_in_range(burst_sending(ns, sends, BURST_LONG_CALLS), SEND - 60, SEND + 60);
	calls();
	ns[94] = 30000;		/* one that sends */
	assert_in_range(burst_sending(ns, sends, BURST_LONG_CALLS), SEND - 60, 30000);
}

/* What sends is not in the caches yet. */
static void first(void **state)
{
	(void)state;
	calls();
	ns[30] = 20000;
	assert_in_range(burst_sending(ns, sends, BURST_LONG_CALLS), SEND - 60, SEND + 60);
	assert_int_equal(burst_sending(ns, sends, 60), 0);	/* no other one */
}

static void nothing(void **state)
{
	(void)state;
	calls();
	memset(sends, 0, sizeof(sends));
	assert_int_equal(burst_sending(ns, sends, BURST_LONG_CALLS), 0);
	assert_int_equal(burst_sending(ns, sends, 0), 0);
	memset(sends, true, sizeof(sends));
	assert_int_equal(burst_sending(ns, sends, BURST_LONG_CALLS), 0);
	/* a machine that became faster meanwhile */
	calls();
	ns[94] = ns[158] = CALL / 2;
	assert_int_equal(burst_sending(ns, sends, BURST_LONG_CALLS), 0);
}

/* The mean, since it is sums that are to be right, but without a call during which something else ran. */
static void typical(void **state)
{
	uint64_t v[] = { 2000, 2100, 2200, 2300, 4400, 400000 };

	(void)state;
	assert_int_equal(burst_typical(v, 5), 2600);
	assert_int_equal(burst_typical(v, 6), 2600);
	assert_int_equal(burst_typical(v, 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sending), cmocka_unit_test(interrupted), cmocka_unit_test(first), cmocka_unit_test(nothing),
		cmocka_unit_test(typical),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
