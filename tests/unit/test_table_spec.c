// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What the BPF side learns of a probe's arguments: an identity of 0 is none while there is another way to it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "capture/table.h"

static const struct engine_probe probe = { .name = "made", .type = EVENT_LAYOUT };

static struct site made_site(const struct arg_spec *args, size_t nr)
{
	struct site s = { .probe = &probe, .nr_args = nr };

	memcpy(s.args, args, nr * sizeof(*args));
	return s;
}

static struct arg_spec way(int field, int kind, size_t nr_steps)
{
	struct arg_spec a = { .field = field, .kind = kind, .nr_steps = nr_steps };

	for (size_t i = 0; i < nr_steps; i++)
		a.steps[i] = (struct arg_step){ .op = STEP_LOAD64, .off = 8 };
	return a;
}

static struct probe_spec described(const struct arg_spec *args, size_t nr)
{
	const struct capture_options opt = { .string_bytes = 64 };
	struct site s = made_site(args, nr);
	struct probe_spec spec = { 0 };

	table_fill_spec(&spec, &s, ATTACH_RETURN, &opt);
	assert_int_equal(spec.nr_args, nr);
	return spec;
}

static size_t tests_for_zero(const struct arg_spec *a)
{
	size_t nr = 0;

	for (size_t i = 0; i < a->nr_steps; i++)
		nr += a->steps[i].op == STEP_NONZERO;
	return nr;
}

/* Every way to the same identity but the last is passed over when it ends at 0, and once is enough. */
static void test_several_ways(void **state)
{
	static const int identities[] = { FIELD_FRAME, FIELD_PARENT_FRAME, FIELD_DOCUMENT, FIELD_WINDOW };

	(void)state;
	for (size_t i = 0; i < sizeof(identities) / sizeof(identities[0]); i++) {
		struct arg_spec args[] = { way(identities[i], KIND_INT, 2), way(FIELD_URL, KIND_CSTR, 1),
					   way(identities[i], KIND_INT, 0), way(identities[i], KIND_INT, 1) };
		struct probe_spec spec;

		args[2].steps[args[2].nr_steps++] = (struct arg_step){ .op = STEP_NONZERO };
		spec = described(args, 4);
		assert_int_equal(spec.args[0].nr_steps, 3);
		assert_int_equal(spec.args[0].steps[2].op, STEP_NONZERO);
		assert_int_equal(spec.args[2].nr_steps, 1);
		assert_memory_equal(&spec.args[3].steps, &args[3].steps, sizeof(args[3].steps));
		assert_int_equal(spec.args[3].nr_steps, 1);
	}
}

/* What is no identity may be 0, what has no second way needs no test, and a way that fills all steps stays as it is. */
static void test_left_alone(void **state)
{
	struct arg_spec args[] = { way(FIELD_X, KIND_INT, 1), way(FIELD_X, KIND_INT, 2), way(FIELD_URL, KIND_CSTR, 1),
				   way(FIELD_URL, KIND_CSTR, 2), way(FIELD_DOCUMENT, KIND_INT, 1),
				   way(FIELD_FRAME, KIND_INT, RECORD_MAX_STEPS), way(FIELD_FRAME, KIND_INT, 1) };
	size_t nr = sizeof(args) / sizeof(args[0]);
	struct probe_spec spec = described(args, nr);

	(void)state;
	for (size_t i = 0; i < nr; i++) {
		assert_int_equal(spec.args[i].nr_steps, args[i].nr_steps);
		assert_int_equal(tests_for_zero(&spec.args[i]), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_several_ways),
		cmocka_unit_test(test_left_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
