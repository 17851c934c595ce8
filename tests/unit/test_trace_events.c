// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Chrome traces cut into events: the same from memory and from a stream of any grain; cut off and hostile ones end. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "base/trace_events.h"

struct source {
	const char *text;
	size_t nr, at, grain;
	int fails;	/* at the end, instead of ending */
};

static ssize_t read_some(void *arg, char *dst, size_t n)
{
	struct source *s = arg;

	n = n > s->grain ? s->grain : n;
	n = n > s->nr - s->at ? s->nr - s->at : n;
	memcpy(dst, s->text + s->at, n);
	s->at += n;
	return !n && s->fails ? s->fails : (ssize_t)n;
}

/* Names of all events, and how it ended: "a b !" is a cut-off trace, "-" an element that is no event, "E22" -EINVAL. */
static const char *names(struct trace_events *t)
{
	static char all[256];
	json_t *o;
	int rc;

	all[0] = '\0';
	while ((rc = trace_events_next(t, &o)) > 0) {
		strncat(all, json_string_value(json_object_get(o, "name")) ?: "-", sizeof(all) - strlen(all) - 1);
		strncat(all, " ", sizeof(all) - strlen(all) - 1);
		json_decref(o);
	}
	if (rc)
		snprintf(all + strlen(all), 16, "E%d", -rc);
	else if (t->truncated)
		strcat(all, "!");
	trace_events_free(t);
	return all;
}

static void expect_n(const char *text, size_t n, const char *want, int line)
{
	static const size_t grains[] = { 1, 2, 7, 1 << 20 };
	struct trace_events t;
	const char *got;

	trace_events_of_text(&t, text, n);
	got = names(&t);
	if (strcmp(got, want))
		fail_msg("line %d: from memory '%s'", line, got);
	for (size_t i = 0; i < sizeof(grains) / sizeof(grains[0]); i++) {
		struct source s = { text, n, 0, grains[i], 0 };

		trace_events_of_stream(&t, read_some, &s);
		got = names(&t);
		if (strcmp(got, want))
			fail_msg("line %d: in pieces of %zu '%s'", line, grains[i], got);
	}
}

#define EXPECT(text, want) expect_n(text, strlen(text), want, __LINE__)

static void test_whole(void **state)
{
	(void)state;
	EXPECT("[]", "");
	EXPECT(" [ {\"name\":\"a\"} , {\"name\":\"b\"} ] ", "a b ");
	EXPECT("{\"traceEvents\":[{\"name\":\"a\"},{\"name\":\"b\"}],\"metadata\":{}}", "a b ");
	EXPECT("{\"metadata\":{\"traceEvents\":[{\"name\":\"no\"}],\"x\":\"]}\\\"\"},\"n\":-1.5e3 , \"traceEvents\" : [{\"name\":\"a\"}]}", "a ");
	EXPECT("{\"traceEvents\":null,\"traceEvents\":[{\"name\":\"a\",\"args\":{\"s\":\"]},{\\\\\"}}]}", "a ");
	EXPECT("[1,\"x\",null,{\"name\":\"a\"},[{}],{\"name\":}]", "- - - a - - ");
}

/* Numbers that fit into no integer of jansson's cost nothing but themselves. */
static void test_numbers(void **state)
{
	static const char text[] = "[{\"name\":\"a\",\"tid\":7,\"ts\":12.5,\"args\":{\"id\":18446744073709551615,\"n\":[3,-4]}}]";
	struct trace_events t;
	json_t *o, *args;

	(void)state;
	trace_events_of_text(&t, text, strlen(text));
	assert_int_equal(trace_events_next(&t, &o), 1);
	args = json_object_get(o, "args");
	assert_string_equal(json_string_value(json_object_get(o, "name")), "a");
	assert_true(json_is_integer(json_object_get(o, "tid")));
	assert_int_equal(json_integer_value(json_object_get(o, "tid")), 7);
	assert_true(json_number_value(json_object_get(o, "ts")) == 12.5);
	assert_true(json_number_value(json_object_get(args, "id")) > 1e19);
	assert_int_equal(json_integer_value(json_array_get(json_object_get(args, "n"), 1)), -4);
	json_decref(o);
	assert_int_equal(trace_events_next(&t, &o), 0);
	trace_events_free(&t);
}

static void test_cut_off(void **state)
{
	static const char text[] = "{\"metadata\":{\"a\":[1,2]},\"traceEvents\":[{\"name\":\"a\",\"ts\":1},{\"name\":\"b\",\"args\":{\"s\":\"\\\"]\"}}]}";
	size_t a = strstr(text, "1}") + 2 - text, b = strstr(text, "}}]") + 2 - text;

	(void)state;
	for (size_t n = 0; n < sizeof(text); n++)
		expect_n(text, n, n < a ? "!" : n < b ? "a !" : n == b ? "a b !" : "a b ", (int)n);
}

static void test_damaged(void **state)
{
	(void)state;
	EXPECT("", "!");
	EXPECT("\x7f" "ELF", "!");
	EXPECT("{}", "!");
	EXPECT("{\"traceEvents\":{}}", "!");
	EXPECT("{\"traceEvents\"[{\"name\":\"a\"}]}", "!");
	EXPECT("[{\"name\":\"a\"}{\"name\":\"b\"}]", "E22");
	EXPECT("[{\"name\":\"a\"}}", "E22");
	EXPECT("[{\"name\":\"\xff\xfe\"},{\"name\":\"b\"}]", "\?\? b ");
}

/* More than one buffer holds; one event that never ends is given up before it takes all memory. */
static void test_long(void **state)
{
	size_t cap = 3u * TRACE_EVENT_MAX, n = 1;
	char *text = malloc(cap);
	struct source s = { .text = text, .grain = 65536 };
	struct trace_events t;
	size_t events = 0;
	json_t *o;

	(void)state;
	assert_non_null(text);
	text[0] = '[';
	while (n < 5u << 20) {
		n += sprintf(text + n, "{\"name\":\"%zu\"},", events++);
		if (events % 1000 == 0)
			n += sprintf(text + n, "%*s", 3000, "");
	}
	text[n - 1] = ']';
	s.nr = n;
	trace_events_of_stream(&t, read_some, &s);
	for (size_t i = 0; i < events; i++) {
		char want[24];

		sprintf(want, "%zu", i);
		assert_int_equal(trace_events_next(&t, &o), 1);
		assert_string_equal(json_string_value(json_object_get(o, "name")), want);
		json_decref(o);
	}
	assert_int_equal(trace_events_next(&t, &o), 0);
	assert_false(t.truncated);
	trace_events_free(&t);

	memset(text, '[', cap);
	s = (struct source){ .text = text, .nr = cap, .grain = 1 << 20 };
	trace_events_of_stream(&t, read_some, &s);
	assert_int_equal(trace_events_next(&t, &o), -EFBIG);
	assert_true(s.at <= 2u * TRACE_EVENT_MAX + 1);
	trace_events_free(&t);

	s = (struct source){ .text = "[{\"name\":\"a\"},{", .nr = 15, .grain = 4, .fails = -EIO };
	trace_events_of_stream(&t, read_some, &s);
	assert_string_equal(names(&t), "a E5");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole), cmocka_unit_test(test_numbers), cmocka_unit_test(test_cut_off), cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
