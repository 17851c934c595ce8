// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Argument expressions: text -> steps -> text, and the column of each mistake. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "target/engine.h"

/* Each is printed back as the second, or as itself. */
static const char *const good[][2] = {
	{ "rdi", NULL }, { "arg0", "rdi" }, { "  arg5  ", "r9" }, { "rsp *8", NULL }, { "rdi *0x188 : wtf-blink", NULL },
	{ "rdi*0x188:wtf-blink(64)", "rdi *0x188 : wtf-blink(64)" }, { "rdi ~0x78 ~0x1e8 *0xb8 : wtf-blink", NULL },
	{ "rdi *-8 *0xd0 *0xa8 : wtf-webkit", NULL }, { "rdx * *8 *0x30 +0x38 : ns-cstring", "rdx *0 *8 *0x30 +0x38 : ns-cstring" },
	{ "rsi *0x18.u32", NULL }, { "rsi *.s16", "rsi *0.s16" }, { "rsi *1.u8 >>4 &0xf", NULL }, { "rsi *4.u16", NULL },
	{ "rsi *4.s32 -16", "rsi *4.s32 -0x10" }, { "rdi *8 ? *0x10 : cstr", NULL }, { "rdi ?&1 -1 *0", NULL }, { "rdi & -8", "rdi &-8" },
	{ "rsi : chars8[rdx](256)", NULL }, { "rsi : chars8 [rdx]", "!" }, { "rsi *0 : chars16[rsi *8.u32 >>1]", NULL },
	{ "rdi : std-string", NULL }, { "rdi : libcxx-string", NULL }, { "rdi : ns-string", NULL }, { "rdi : v8-string", NULL },
	{ "rdi : cstr16", NULL }, { "rdi : int", "rdi" }, { "5", NULL }, { "-0x10", "-16" }, { "0x7fffffffffffffff", "9223372036854775807" },
	{ "rdi *8.u64", "rdi *8" }, { "rdi : cstr ( 7 )", "rdi : cstr(7)" },
	{ "rsi neg", NULL }, { "rdi ~0x78<<1", NULL }, { "rdi *8 [24.u32=0] *8 : cstr", "rdi *8 [0x18.u32=0] *8 : cstr" },
	{ "rdi [ -8 != 3 ]", "rdi [-8.u64!=3]" },
	{ "rsi ~0 +0x18 : blink-selector[rsi *4.u32 &0x1fff]{--t*#.:e-aa 17 18 0x18}", NULL },
	{ "arg1 : libcss-selector(64)", "rsi : libcss-selector(64)" },
	{ "rsi : blink-selector[rdx]{- 0  0 0}(64)", "rsi : blink-selector[rdx]{- 0 0 0}(64)" },
};

static void there_and_back(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		struct arg_spec spec = { .field = FIELD_URL };
		struct error err = { 0 };
		char text[256];
		int rc = expr_parse(good[i][0], &arch_x86_64, &spec, NULL, NULL, &err);

		if (good[i][1] && good[i][1][0] == '!') {
			assert_true(rc < 0);
			continue;
		}
		if (rc)
			fail_msg("%s: %s", good[i][0], err.text);
		assert_int_equal(spec.field, FIELD_URL);
		expr_print(&spec, &arch_x86_64, text, sizeof(text));
		assert_string_equal(text, good[i][1] ?: good[i][0]);
	}
}

static void steps(void **state)
{
	struct arg_spec s = { 0 };
	struct error err;

	(void)state;
	assert_int_equal(expr_parse("rsi ~-4 *8.s32 ?&0x10 : chars8[r8 *2.u16 +1](9)", &arch_x86_64, &s, NULL, NULL, &err), 0);
	assert_int_equal(s.kind, KIND_PTR_LEN8);
	assert_int_equal(s.reg, 1);
	assert_int_equal(s.nr_steps, 3);
	assert_int_equal(s.steps[0].op, STEP_CAGE);
	assert_int_equal(s.steps[0].off, -4);
	assert_int_equal(s.steps[1].op, STEP_LOADS32);
	assert_int_equal(s.steps[2].op, STEP_MASK_TEST);
	assert_int_equal(s.steps[2].off, 0x10);
	assert_int_equal(s.len_reg, 4);
	assert_int_equal(s.nr_len_steps, 2);
	assert_int_equal(s.len_steps[0].op, STEP_LOADU16);
	assert_int_equal(s.len_steps[1].off, 1);
	assert_int_equal(s.max_bytes, 9);
}

static void members(void **state)
{
	struct arg_spec s = { 0 };
	struct error err = { 0 };
	char *member = NULL;
	size_t column = 0;

	(void)state;
	assert_int_equal(expr_parse("arg0->doc.base->url *8 : cstr", &arch_x86_64, &s, &member, NULL, &err), 0);
	assert_string_equal(member, "->doc.base->url");
	assert_int_equal(s.nr_steps, 1);
	assert_int_equal(s.kind, KIND_CSTR);
	free(member);
	member = NULL;
	assert_true(expr_parse("arg0->doc", &arch_x86_64, &s, NULL, &column, &err) < 0);
	assert_int_equal(column, 5);
	assert_true(expr_parse("arg0->doc. : cstr", &arch_x86_64, &s, &member, &column, &err) < 0);
	assert_int_equal(column, 11);
	assert_null(member);
	/* what was found is freed when what follows is wrong */
	assert_true(expr_parse("arg0->doc : what", &arch_x86_64, &s, &member, &column, &err) < 0);
	assert_null(member);
}

static const struct { const char *text; size_t column; const char *what; } bad[] = {
	{ "", 1, "a register is expected" }, { "*8", 1, "a register is expected" }, { "eax", 1, "'eax' is no register" },
	{ "rdi x", 5, "neither a step" }, { "rdi *0x", 7, "no digit" }, { "rdi *12ab", 8, "no digit" }, { "rdi *070", 6, "octal" },
	{ "rdi *0x80000000", 6, "out of range" }, { "rdi *99999999999999999999", 6, "out of range" }, { "rdi +", 6, "a number" },
	{ "rdi & : int", 7, "a number" }, { "rdi > 4", 5, "'>>N'" }, { "rdi >>0", 7, "out of range" }, { "rdi >>64", 7, "out of range" },
	{ "rdi *8.u31", 8, "'u31' is no width" }, { "rdi ~8.u32", 7, "compressed" }, { "rdi :", 6, "no kind" },
	{ "rdi : string", 7, "'string' is no kind" }, { "rdi : cstr x", 12, "neither" }, { "rdi : cstr(0)", 12, "out of range" },
	{ "rdi : cstr(4097)", 12, "out of range" }, { "rdi : cstr(4", 13, "')'" }, { "rdi : int(4)", 10, "no text" },
	{ "rdi : chars8", 13, "'['" }, { "rdi : chars8[]", 14, "a register" }, { "rdi : chars8[rsi", 17, "']'" },
	{ "rdi : cstr[rsi]", 11, "'['" }, { "rdi *0 *0 *0 *0 *0 *0 *0 *0 *0 *0 *0", 35, "at most 10 steps" },
	{ "rdi : chars8[rsi +1 +1 +1 +1 +1]", 30, "at most 4 steps" }, { "12 34", 4, "neither" },
	{ "rdi [8]", 7, "'='" }, { "rdi [8=256]", 8, "out of range" }, { "rdi [8=1", 9, "']'" }, { "rdi []", 6, "a number" },
	{ "rdi ~8<<9", 9, "out of range" }, { "rdi negate", 5, "neither" }, { "rdi : chars8[rsi->n]", 17, "offset" },
	{ "rdi : libcss-selector[rsi]", 22, "'['" }, { "rdi : blink-selector", 21, "'['" }, { "rdi : blink-selector[rsi]", 26, "layout" },
	{ "rdi : blink-selector[rsi]{-x 1 1 8}", 28, "layout" }, { "rdi : blink-selector[rsi]{- 32 1 8}", 29, "layout" },
	{ "rdi : blink-selector[rsi]{- 1 1 9}", 34, "layout" }, { "rdi : blink-selector[rsi]{- 1 1 8", 34, "layout" },
	{ "rdi : blink-selector[rsi]{-----------------", 43, "layout" },
};

static void mistakes(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct arg_spec spec = { 0 };
		struct error err = { 0 };
		char *member = NULL;
		size_t column = 0;

		if (!expr_parse(bad[i].text, &arch_x86_64, &spec, &member, &column, &err))
			fail_msg("taken: %s", bad[i].text);
		if (column != bad[i].column || !strstr(err.text, bad[i].what))
			fail_msg("%s: column %zu, not %zu: %s", bad[i].text, column, bad[i].column, err.text);
	}
}

static void print_is_bounded(void **state)
{
	struct arg_spec spec = { 0 };
	struct error err;
	char text[8] = "1234567";

	(void)state;
	assert_int_equal(expr_parse("rdi *0x188 *0x10 : wtf-blink(64)", &arch_x86_64, &spec, NULL, NULL, &err), 0);
	assert_int_equal(expr_print(&spec, &arch_x86_64, text, sizeof(text)), strlen("rdi *0x188 *0x10 : wtf-blink(64)"));
	assert_string_equal(text, "rdi *0x");
	/* a spec out of a hostile file */
	memset(&spec, 0xff, sizeof(spec));
	spec.nr_steps = RECORD_MAX_STEPS;
	spec.nr_len_steps = 4;
	expr_print(&spec, &arch_x86_64, text, sizeof(text));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(there_and_back), cmocka_unit_test(steps), cmocka_unit_test(members), cmocka_unit_test(mistakes),
		cmocka_unit_test(print_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
