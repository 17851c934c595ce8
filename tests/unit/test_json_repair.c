// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What careless writers take for JSON becomes JSON, byte by byte in its place; what is JSON stays as it is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "base/json_repair.h"

static void expect(const char *text, const char *want, int line)
{
	char buf[256] = { 0 };

	memcpy(buf, text, strlen(text));
	json_repair(buf, strlen(text));
	if (strcmp(buf, want))
		fail_msg("line %d: '%s'", line, buf);
}
#define EXPECT(text, want) expect(text, want, __LINE__)

static void test_json_stays(void **state)
{
	static const char *const texts[] = {
		"", "{}", "[1,-2.5e3,true,null,\"\"]", "{\"a\\\"b\":\"\\u00e9 \\ud83d\\ude00 \xf0\x9f\x98\x80 \\\\\"}",
		"[\"NaN\",\"-Infinity\"]", "\n\t{\r}", "[\"\\u12\"]", "[\"\\",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		expect(texts[i], texts[i], (int)i);
}

static void test_repaired(void **state)
{
	(void)state;
	EXPECT("\"a\xff\xc3z\"", "\"a\?\?z\"");
	EXPECT("\"a\tb\x01\"", "\"a b \"");
	EXPECT("[\"\\ud800\",\"\\udfff\\ud83d\\ude00\",\"\\uD83Dx\",\"\\u0000\"]",
	       "[\"\\ufffd\",\"\\ufffd\\ud83d\\ude00\",\"\\ufffdx\",\"\\ufffd\"]");
	EXPECT("\"\\ud800", "\"\\ufffd");
	EXPECT("[NaN,Infinity,-Infinity]", "[\"\" ,\"\"      ,\"\"       ]");
	EXPECT("\"\\ud800\\ud83d\\ude00\"", "\"\\ufffd\\ud83d\\ude00\"");
}

/* Integers that strtoll() has no room for, and what strtod() makes infinite. */
static void test_numbers(void **state)
{
	(void)state;
	EXPECT("[9223372036854775807,-9223372036854775807,1e307,0.5,-0]", "[9223372036854775807,-9223372036854775807,1e307,0.5,-0]");
	EXPECT("[9223372036854775808,-18446744073709551615]", "[92233720368547758e2,-184467440737095516e2]");
	EXPECT("{\"a\":123456789012345678901234567890}", "{\"a\":1234567890123456789012345678e2}");
	EXPECT("[12345678901234567890.5,12345678901234567890e1]", "[12345678901234567890.5,12345678901234567890e1]");
	EXPECT("[1e400,-1.5E+999999999999,1e-400]", "[\"\"   ,\"\"                ,1e-400]");
	EXPECT("1e4", "1e4");
	EXPECT("-", "-");
	EXPECT("\"9223372036854775808\"", "\"9223372036854775808\"");
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_json_stays), cmocka_unit_test(test_repaired), cmocka_unit_test(test_numbers) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
