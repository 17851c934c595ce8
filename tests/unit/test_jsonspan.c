// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* JSON walked value by value: what is there, and what is damaged, cut off at any place or deep without end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "base/jsonspan.h"

/* All elements or members, "!" behind them if it ended in the middle. */
static const char *walk(const char *text, size_t n, char open)
{
	static char all[256];
	struct jsonspan whole = { text, text + n }, key, value;
	struct jsonspan_walk w = jsonspan_walk(whole, open);

	all[0] = '\0';
	while (jsonspan_next(&w, &key, &value)) {
		if (open == '{')
			sprintf(all + strlen(all), "%.*s=", (int)(key.end - key.p), key.p);
		sprintf(all + strlen(all), "%.*s;", (int)(value.end - value.p), value.p);
	}
	if (w.failed)
		strcat(all, "!");
	return all;
}

#define WALK(text, open) walk(text, strlen(text), open)

static void test_walk(void **state)
{
	(void)state;
	assert_string_equal(WALK("[]", '['), "");
	assert_string_equal(WALK("[ 1 , \"a]\\\"\" ,[2,[3]], {\"b\":[]},null ]", '['), "1;\"a]\\\"\";[2,[3]];{\"b\":[]};null;");
	assert_string_equal(WALK("{ }", '{'), "");
	assert_string_equal(WALK("{\"a\":1 , \"b\\\"\" : {\"c\":2},\"\":\"\"}", '{'), "\"a\"=1;\"b\\\"\"={\"c\":2};\"\"=\"\";");
	/* what follows isn't looked at */
	assert_string_equal(WALK("[1]]", '['), "1;");
}

static void test_damaged(void **state)
{
	static const char *const arrays[] = { "", "1", "{}", "[", "[1", "[1,", "[1,]", "[,1]", "[1 2]", "[1,,2]", "[\"a]", "[[1]", "[1}" };
	static const char *const objects[] = { "", "[]", "{", "{\"a\"", "{\"a\"}", "{\"a\":", "{\"a\":}", "{\"a\":1", "{\"a\":1,", "{\"a\":1,}",
					       "{a:1}", "{1:1}", "{\"a\" 1}", "{\"a\":1 \"b\":2}", "{\"a:1}", "{\"a\":{}" };
	const char whole[] = "{\"a\":[1,{\"b\":\"c\"}],\"d\":null}";

	(void)state;
	for (size_t i = 0; i < sizeof(arrays) / sizeof(arrays[0]); i++)
		assert_non_null(strchr(WALK(arrays[i], '['), '!'));
	for (size_t i = 0; i < sizeof(objects) / sizeof(objects[0]); i++)
		assert_non_null(strchr(WALK(objects[i], '{'), '!'));
	for (size_t n = 0; n + 1 < sizeof(whole); n++) {
		/* in memory of its own, so that a sanitizer sees who reads on */
		char *cut = malloc(n + 1);

		memcpy(cut, whole, n);
		cut = realloc(cut, n ? n : 1);
		if (n + 2 < sizeof(whole) && strchr(walk(cut, n, '{'), '!') == NULL)
			fail_msg("cut off at %zu", n);
		free(cut);
	}
}

/* Brackets cost no stack. */
static void test_deep(void **state)
{
	size_t n = 10u << 20;
	char *text = malloc(n);
	struct jsonspan whole;

	(void)state;
	memset(text, '[', n);
	assert_false(jsonspan_whole(text, n, &whole));
	memset(text + n / 2, ']', n / 2);
	assert_true(jsonspan_whole(text, n, &whole));
	free(text);
}

static struct jsonspan span(const char *text)
{
	return (struct jsonspan){ text, text + strlen(text) };
}

static void test_values(void **state)
{
	struct jsonspan s;
	char text[4];
	double v;

	(void)state;
	assert_true(jsonspan_whole(" {} \n", 5, &s));
	assert_false(jsonspan_whole("{} {}", 5, &s));
	assert_true(jsonspan_member(span("{\"x\":{\"a\":1},\"a\":2,\"a\":3}"), "a", &s));
	assert_true(jsonspan_number(s, &v) && v == 2);
	assert_false(jsonspan_member(span("{\"x\":1}"), "a", &s));
	assert_false(jsonspan_member(span("[\"a\",1]"), "a", &s));
	assert_true(jsonspan_is(span("\"abc\""), "abc"));
	assert_false(jsonspan_is(span("\"abcd\""), "abc"));
	assert_false(jsonspan_is(span("'abc'"), "abc"));
	assert_true(jsonspan_text(span("\"abc\""), text, sizeof(text)));
	assert_string_equal(text, "abc");
	assert_false(jsonspan_text(span("\"abcd\""), text, sizeof(text)));
	assert_false(jsonspan_text(span("abc"), text, sizeof(text)));
	assert_true(jsonspan_number(span("-1.5e3"), &v) && v == -1500);
	assert_true(jsonspan_number(span("\"12\""), &v) && v == 12);
}

static void test_no_numbers(void **state)
{
	static const char *const none[] = { "", "null", "true", "[1]", "{}", "1e999", "-1e999", "nan", "inf", "0x10", "1 2", "1,2", "\"\"", "\"a\"",
					    "--1", "e", "1111111111111111111111111111111111111111111111111111111111111111" };
	double v;

	(void)state;
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		if (jsonspan_number(span(none[i]), &v))
			fail_msg("'%s' is %g", none[i], v);
	/* of what isn't there */
	assert_false(jsonspan_number((struct jsonspan){ NULL, NULL }, &v));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_walk), cmocka_unit_test(test_damaged), cmocka_unit_test(test_deep),
		cmocka_unit_test(test_values), cmocka_unit_test(test_no_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
