// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What a burst's times are taken to mean. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "capture/burst.h"

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
		cmocka_unit_test(typical),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
