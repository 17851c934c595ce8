// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What people and programs read: tables on terminals and elsewhere, JSON under every nesting. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>
#include <cmocka.h>
#include <jansson.h>
#include "base/jsonout.h"
#include "cli/table.h"

static void write_json(const char *path, int inline_depth)
{
	struct outfile *f;
	struct error err;
	struct jsonout j;

	assert_int_equal(outfile_open(path, &f, &err), 0);
	jsonout_init(&j, f, inline_depth);
	jsonout_object(&j, NULL);
	jsonout_array(&j, "empty");
	jsonout_close(&j);
	jsonout_object(&j, "nothing");
	jsonout_close(&j);
	jsonout_array(&j, "list");
	for (int i = 0; i < 3; i++) {
		jsonout_object(&j, NULL);
		jsonout_u64(&j, "u", UINT64_MAX >> 1);
		jsonout_i64(&j, "i", INT64_MIN);
		jsonout_bool(&j, "b", i);
		jsonout_array(&j, "a");
		jsonout_i64(&j, NULL, -i);
		jsonout_text(&j, NULL, "x\"\\\n\xff");
		jsonout_close(&j);
		jsonout_close(&j);
	}
	jsonout_close(&j);
	jsonout_ms(&j, "ms", 1500001);
	jsonout_text(&j, "null", NULL);
	jsonout_close(&j);
	assert_int_equal(outfile_commit(f, &err), 0);
}

static void test_json(void **unused)
{
	char path[] = "/tmp/framescope-json-XXXXXX";
	int fd = mkstemp(path);
	json_t *j, *item;

	(void)unused;
	close(fd);
	for (int depth = 0; depth <= 5; depth++) {
		write_json(path, depth);
		j = json_load_file(path, JSON_REJECT_DUPLICATES, NULL);
		assert_non_null(j);
		assert_int_equal(json_object_size(j), 5);
		assert_int_equal(json_array_size(json_object_get(j, "empty")), 0);
		assert_true(json_is_null(json_object_get(j, "null")));
		assert_true(json_real_value(json_object_get(j, "ms")) == 1.500001);
		assert_int_equal(json_array_size(json_object_get(j, "list")), 3);
		item = json_array_get(json_object_get(j, "list"), 2);
		assert_true(json_integer_value(json_object_get(item, "u")) == INT64_MAX);
		assert_true(json_integer_value(json_object_get(item, "i")) == INT64_MIN);
		assert_true(json_is_true(json_object_get(item, "b")));
		item = json_object_get(item, "a");
		assert_int_equal(json_integer_value(json_array_get(item, 0)), -2);
		assert_string_equal(json_string_value(json_array_get(item, 1)), "x\"\\\n\xef\xbf\xbd");
		json_decref(j);
	}
	unlink(path);
}

static struct table *some_table(void)
{
	static const char *const titles[] = { "name", ">n", "unused", ">ms", "about" };
	struct table *t = table_new(titles, 5);

	table_text(t, "a\033[31m");
	table_count(t, 1234567);
	table_text(t, NULL);
	table_ms(t, 1234567890);
	table_text(t, "http://a.test/some/long/path/that/does/not/fit/file.js");
	table_text(t, "grün漢");
	table_count(t, 7);
	table_text(t, "");
	table_ms(t, 499);
	table_text(t, "");
	return t;
}

static void test_table(void **unused)
{
	char *text = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);

	(void)unused;
	assert_int_equal(table_finish(some_table(), f, 1), 0);
	fclose(f);
	assert_string_equal(text,
		"name            n         ms  about\n"
		"a?[31m  1,234,567  1,234.568  http://a.test/some/long/path/that/does/not/fit/file.js\n"
		"grün漢          7      0.000\n");
	free(text);
	f = open_memstream(&text, &n);
	assert_int_equal(table_finish(some_table(), f, 0), 0);
	assert_true(table_finish(NULL, f, 1) < 0);
	fclose(f);
	assert_int_equal(n, 0);
	free(text);
}

/* On a terminal the last column keeps its beginning and its end. */
static void test_terminal(void **unused)
{
	struct winsize size = { .ws_row = 24, .ws_col = 60 };
	int fd = posix_openpt(O_RDWR | O_NOCTTY), slave;
	char text[4096], *line;
	size_t got = 0, lines = 0;
	FILE *f;

	(void)unused;
	assert_true(fd >= 0);
	assert_int_equal(grantpt(fd) || unlockpt(fd), 0);
	slave = open(ptsname(fd), O_RDWR | O_NOCTTY);
	assert_true(slave >= 0);
	assert_int_equal(ioctl(slave, TIOCSWINSZ, &size), 0);
	f = fdopen(slave, "w");
	assert_int_equal(table_finish(some_table(), f, 1), 0);
	fflush(f);
	/* it comes in pieces of any size: until both rows are here */
	while (got < sizeof(text) - 1 && lines < 3) {
		assert_int_equal(read(fd, text + got, 1), 1);
		lines += text[got++] == '\n';
	}
	text[got] = 0;
	line = strchr(text, '\n');
	assert_non_null(line);
	line++;
	line[strcspn(line, "\r\n")] = 0;
	/* 30 columns are left: two thirds of 29 from the beginning, the rest from the end */
	assert_string_equal(line, "a?[31m  1,234,567  1,234.568  http://a.test/some/…it/file.js");
	fclose(f);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_terminal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
