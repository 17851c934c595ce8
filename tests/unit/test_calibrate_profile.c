// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Reading what Gecko's profiler writes: markers of all processes in CLOCK_MONOTONIC, whatever the order of its columns; and
 * profiles that are damaged, cut off anywhere, or made to do harm. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include <sys/mman.h>
#include "calibrate/report.h"

#define MS 1000000ull
#define SCHEMA "\"schema\":{\"name\":0,\"startTime\":1,\"endTime\":2,\"phase\":3,\"category\":4,\"data\":5}"
#define META(ns) "\"meta\":{\"startTime\":1796028268449.1,\"startTimeAsClockMonotonicNanosecondsSinceBoot\":" ns "}"
#define STRINGS "\"stringTable\":[\"other\",\"Styles\",\"Reflow (interruptible)\",\"Reflow (sync)\"]"
#define THREAD(tid, rows) "{\"name\":\"GeckoMain\",\"pid\":7,\"tid\":" tid ",\"markers\":{" SCHEMA ",\"data\":[" rows "]}," STRINGS "}"
#define PROFILE(threads) "{" META("5000000") ",\"threads\":[" threads "],\"processes\":[]}"

static int read_bytes(const char *text, size_t n, struct report *r)
{
	int fd = memfd_create("profile", MFD_CLOEXEC), rc;

	memset(r, 0, sizeof(*r));
	assert_int_equal(report_want(r, "Styles"), 0);
	assert_int_equal(report_want(r, "Reflow (sync)"), 1);
	assert_int_equal(write(fd, text, n), n);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	rc = reporter_gecko.read(fd, r);
	close(fd);
	return rc;
}

static int read_text(const char *text, struct report *r)
{
	return read_bytes(text, strlen(text), r);
}

static void expect(const struct report *r, size_t i, uint32_t tid, uint32_t name, uint64_t begin_ns, uint64_t end_ns)
{
	assert_true(i < r->nr);
	assert_int_equal(r->v[i].pid, 7);
	assert_int_equal(r->v[i].tid, tid);
	assert_int_equal(r->v[i].name, name);
	assert_int_equal(r->v[i].begin_ns, begin_ns);
	assert_int_equal(r->v[i].end_ns, end_ns);
}

static void test_markers(void **state)
{
	struct report r;

	(void)state;
	assert_int_equal(read_text(PROFILE(THREAD("8", "[1,10.5,11,1,0,{\"a\":[1]}],[0,1,2,1,0],[2,20,null,0,0],[3,30,40.000001,1,0,null]") ","
					   THREAD("\"9\"", "[1,50,null,2,0],[1,51,null,2,0],[1,null,52,3,0],[1,null,53,3,0],[1,null,54,3,0]")), &r), 0);
	assert_int_equal(r.nr, 5);
	expect(&r, 0, 8, 0, 15500000, 16 * MS);
	/* two names of the same */
	expect(&r, 1, 8, 1, 25 * MS, 25 * MS);
	expect(&r, 2, 8, 1, 35 * MS, 45 * MS + 1);
	/* begins and ends, from the inside out; an end too many is none */
	expect(&r, 3, 9, 0, 56 * MS, 57 * MS);
	expect(&r, 4, 9, 0, 55 * MS, 58 * MS);
	report_free(&r);
}

/* Other processes have clocks of their own; columns may stand in another order, and names behind their markers or before. */
static void test_processes(void **state)
{
	struct report r;

	(void)state;
	assert_int_equal(read_text("{\"processes\":[{\"threads\":[{\"stringTable\":[\"Styles\"],\"tid\":4,\"markers\":{\"data\":[[1,3,2,0]],"
				   "\"schema\":{\"phase\":0,\"endTime\":1,\"startTime\":2,\"name\":3}},\"pid\":7}]," META("9000000") "}],"
				   "\"threads\":[]," META("5000000") "}", &r), 0);
	assert_int_equal(r.nr, 1);
	expect(&r, 0, 4, 0, 11 * MS, 12 * MS);
	report_free(&r);
}

/* A row that makes no sense is none; the others count. */
static void test_strange_rows(void **state)
{
	struct report r;

	(void)state;
	assert_int_equal(read_text(PROFILE(THREAD("8", "[],[1],[99,1,2,1],[-1,1,2,1],[1e300,1,2,1],[\"x\",1,2,1],[null,1,2,1],[1,-1,2,1],[1,1e300,2,1],"
						  "[1,\"a\",2,1],[1,1,null,1],[1,2,1,1],[1,1,2],[1,1,2,null],[1,[1],2,1],[1,1,2,1,0,{},0,0,0,0,0,0,0,0,0,0,0,0]")),
				   &r), 0);
	assert_int_equal(r.nr, 1);
	report_free(&r);
}

static void test_damaged(void **state)
{
	static const char *const damaged[] = {
		"", "null", "[]", "{}", "\x7f" "ELF", "{" META("1") "}", "{\"threads\":[]}", "{\"meta\":{},\"threads\":[]}", "{" META("null") ",\"threads\":[]}",
		"{" META("-1") ",\"threads\":[]}", "{" META("1e30") ",\"threads\":[]}", "{" META("1") ",\"threads\":{}}", PROFILE("1"), PROFILE("{}"),
		PROFILE("{\"pid\":7,\"tid\":8,\"markers\":{},\"stringTable\":[]}"),
		PROFILE("{\"pid\":7,\"tid\":8,\"markers\":{\"schema\":{},\"data\":[]},\"stringTable\":[]}"),
		PROFILE("{\"pid\":7,\"tid\":8,\"markers\":{\"schema\":{\"name\":99,\"startTime\":1,\"endTime\":2,\"phase\":3},\"data\":[]},\"stringTable\":[]}"),
		PROFILE("{\"pid\":7,\"tid\":8,\"markers\":{" SCHEMA ",\"data\":{}},\"stringTable\":[]}"),
		PROFILE("{\"pid\":7,\"tid\":8,\"markers\":{" SCHEMA ",\"data\":[]},\"stringTable\":{}}"),
		PROFILE(THREAD("8", "[1 2 3]")), PROFILE(THREAD("8", "7")), PROFILE("") "x",
	};
	struct report r;

	(void)state;
	for (size_t i = 0; i < sizeof(damaged) / sizeof(damaged[0]); i++) {
		int rc = read_text(damaged[i], &r);

		if (rc != -EINVAL)
			fail_msg("%d of '%s'", rc, damaged[i]);
		report_free(&r);
	}
}

/* What lacks its end would make calls look like too many. */
static void test_cut_off(void **state)
{
	static const char whole[] = PROFILE(THREAD("8", "[1,10.5,11,1,0,{\"a\":[\"\\\"\"]}],[3,30,40,1,0,null]"));
	struct report r;

	(void)state;
	for (size_t n = 0; n + 1 < sizeof(whole); n++) {
		if (read_bytes(whole, n, &r) != -EINVAL)
			fail_msg("cut off at %zu", n);
		report_free(&r);
	}
	assert_int_equal(read_text(whole, &r), 0);
	assert_int_equal(r.nr, 2);
	report_free(&r);
}

/* Profiles in profiles in profiles; more begins than anything has; bytes that are no text. */
static void test_hostile(void **state)
{
	static const char one[] = "{" META("1") ",\"threads\":[],\"processes\":[", begin[] = "[1,1,null,2,0],", end[] = "[1,null,2,3,0],";
	size_t n = 200000, most = n * (sizeof(one) + 2) + 4096;
	char *text = calloc(1, most), *p = text;
	struct report r;

	(void)state;
	for (size_t i = 0; i < n; i++)
		p = stpcpy(p, one);
	for (size_t i = 0; i < n; i++)
		p = stpcpy(p, "]}");
	assert_int_equal(read_text(text, &r), -EINVAL);
	report_free(&r);

	p = stpcpy(text, "{" META("1") ",\"threads\":[{\"pid\":7,\"tid\":8," STRINGS ",\"markers\":{" SCHEMA ",\"data\":[");
	for (size_t i = 0; i < n; i++)
		p = stpcpy(p, i < n / 2 ? begin : end);
	stpcpy(p - 1, "]}}]}");
	assert_int_equal(read_text(text, &r), 0);
	assert_int_equal(r.nr, REPORT_MAX_OPEN);
	report_free(&r);

	for (int byte = 0; byte < 256; byte++) {
		memset(text, byte, 1000);
		assert_int_equal(read_bytes(text, 1000, &r), -EINVAL);
		report_free(&r);
	}
	free(text);
}

/* Where each function of gecko.engine is reported, if it is. */
static void test_names(void **state)
{
	struct engine_probe p = { .name = "RestyleManager::ProcessPendingRestyles" }, none = { .name = "css::Loader::ParseSheet" };
	enum compare_how how = COMPARE_INSIDE;
	char name[64];

	(void)state;
	assert_true(reporter_gecko.name_of(&p, name, sizeof(name), &how));
	assert_string_equal(name, "Styles");
	assert_int_equal(how, COMPARE_AROUND);
	assert_false(reporter_gecko.name_of(&p, name, 3, &how));
	assert_false(reporter_gecko.name_of(&none, name, sizeof(name), &how));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_markers), cmocka_unit_test(test_processes), cmocka_unit_test(test_strange_rows),
		cmocka_unit_test(test_damaged), cmocka_unit_test(test_cut_off), cmocka_unit_test(test_hostile), cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
