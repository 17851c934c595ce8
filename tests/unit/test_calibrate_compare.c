// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Calibration's comparison: calls that hold an event each are equal, any other number is a reason to drop the function, of
 * several candidates one is chosen; and reading a trace that is cut off, hostile or of begins and ends. */
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
#include "calibrate/compare.h"
#include "calibrate/keep.h"

#define MS 1000000ull
#define MAX 64

struct fixture {
	struct compared_span calls[MAX];
	struct compared_span events[MAX];
	struct compared_site sites[8];
	struct comparison c;
};

static void set_up(struct fixture *f)
{
	memset(f, 0, sizeof(*f));
	f->c = (struct comparison){ .calls = f->calls, .events = f->events, .sites = f->sites, .what = "trace",
				    .begin_ns = 100 * MS, .end_ns = 1000 * MS, .grain_ns = 2000 };
}

static uint32_t site(struct fixture *f, uint32_t probe, uint32_t name)
{
	f->sites[f->c.nr_sites] = (struct compared_site){ .probe = probe, .name = name, .told_by = COMPARE_NO_NAME };
	return f->c.nr_sites++;
}

/* Times in milliseconds. */
static void call(struct fixture *f, uint32_t where, uint32_t tid, double begin, double end)
{
	f->calls[f->c.nr_calls++] = (struct compared_span){ begin * MS, end * MS, tid, where, 0 };
}

static void event(struct fixture *f, uint32_t name, uint32_t tid, double begin, double end)
{
	f->events[f->c.nr_events++] = (struct compared_span){ begin * MS, end * MS, tid, name, 0 };
}

static void expect_at(struct fixture *f, uint32_t where, enum compare_verdict verdict, const char *text, int line)
{
	if (f->sites[where].verdict != verdict || strcmp(f->sites[where].text, text))
		fail_msg("line %d: site %u is %d, '%s'", line, where, f->sites[where].verdict, f->sites[where].text);
}

#define EXPECT(where, verdict, text) expect_at(&f, where, verdict, text, __LINE__)

static void test_equal(void **state)
{
	struct fixture f;
	uint32_t a, b;

	(void)state;
	set_up(&f);
	a = site(&f, 0, 0);
	b = site(&f, 1, COMPARE_NO_NAME);
	/* in any order, one within the other, on two threads; times of the trace are cut to microseconds */
	call(&f, a, 2, 400, 420);
	call(&f, a, 1, 205, 206);
	call(&f, a, 1, 200, 210);
	call(&f, b, 1, 300, 310);
	event(&f, 0, 1, 205.1, 205.9);
	event(&f, 0, 2, 399.9985, 419);
	event(&f, 0, 1, 200.1, 209.9);
	/* what isn't wholly in the window says nothing */
	call(&f, a, 1, 50, 60);
	call(&f, a, 1, 999, 1001);
	event(&f, 0, 1, 80, 90);
	assert_int_equal(compare_calls(&f.c), 0);
	EXPECT(a, COMPARE_EQUAL, "calls 3 = trace 3");
	EXPECT(b, COMPARE_NOT, "not compared: the browser does not report it");
	assert_int_equal(f.sites[a].calls, 3);
	assert_int_equal(f.sites[a].events, 3);
}

static void test_dropped(void **state)
{
	struct fixture f;
	uint32_t s[6];

	(void)state;
	set_up(&f);
	for (uint32_t i = 0; i < 6; i++)
		s[i] = site(&f, i, i);
	/* a call without an event */
	call(&f, s[0], 1, 200, 210);
	call(&f, s[0], 1, 220, 230);
	event(&f, 0, 1, 201, 209);
	/* an event without a call: the call is another thread's */
	call(&f, s[1], 1, 200, 210);
	event(&f, 1, 1, 201, 209);
	event(&f, 1, 2, 201, 209);
	/* two events in a call */
	call(&f, s[2], 1, 300, 310);
	event(&f, 2, 1, 301, 302);
	event(&f, 2, 1, 303, 304);
	/* the event sticks out at the end, or begins before */
	call(&f, s[3], 1, 400, 410);
	event(&f, 3, 1, 401, 411);
	call(&f, s[4], 1, 400, 410);
	event(&f, 4, 1, 399, 409);
	/* no call at all */
	event(&f, 5, 1, 500, 501);
	assert_int_equal(compare_calls(&f.c), 0);
	EXPECT(s[0], COMPARE_DROPPED, "2 calls, 1 of them outside any event of the trace");
	EXPECT(s[1], COMPARE_DROPPED, "1 calls, but 1 events of the trace are in none");
	EXPECT(s[2], COMPARE_DROPPED, "1 calls, but 1 events of the trace are in none");
	EXPECT(s[3], COMPARE_DROPPED, "1 calls, 1 of them outside any event of the trace");
	EXPECT(s[4], COMPARE_DROPPED, "1 calls, 1 of them outside any event of the trace");
	EXPECT(s[5], COMPARE_DROPPED, "no calls, but 1 events in the trace");
}

static void test_not_compared(void **state)
{
	struct fixture f;
	uint32_t a, b;

	(void)state;
	set_up(&f);
	a = site(&f, 0, 0);
	b = site(&f, 1, 1);
	call(&f, a, 1, 200, 210);
	event(&f, 1, 1, 50, 60);
	assert_int_equal(compare_calls(&f.c), 0);
	EXPECT(a, COMPARE_NOT, "not compared: the trace has no such event");
	EXPECT(b, COMPARE_NOT, "not compared: the pages did not call it");
}

/* Two functions report under one name: each has its own events, and together they have all. */
static void test_shared_name(void **state)
{
	static const uint8_t open_names[] = { 1 };
	struct fixture f;
	uint32_t a, b;

	(void)state;
	set_up(&f);
	a = site(&f, 0, 0);
	b = site(&f, 1, 0);
	call(&f, a, 1, 200, 220);
	call(&f, b, 1, 205, 210);
	call(&f, b, 1, 300, 310);
	event(&f, 0, 1, 201, 219);
	event(&f, 0, 1, 206, 209);
	event(&f, 0, 1, 301, 309);
	assert_int_equal(compare_calls(&f.c), 0);
	EXPECT(a, COMPARE_EQUAL, "calls 1 = trace 1");
	EXPECT(b, COMPARE_EQUAL, "calls 2 = trace 2");
	/* one more event is nobody's: unless there is a third function that wasn't found */
	event(&f, 0, 1, 400, 401);
	assert_int_equal(compare_calls(&f.c), 0);
	EXPECT(a, COMPARE_DROPPED, "1 calls, but 1 events of the trace are in none");
	f.c.open_names = open_names;
	assert_int_equal(compare_calls(&f.c), 0);
	EXPECT(b, COMPARE_EQUAL, "calls 2 = trace 2");
}

/* An event around each call, as its caller reports it. */
static void test_around(void **state)
{
	struct fixture f;
	uint32_t a, b, d;

	(void)state;
	set_up(&f);
	a = site(&f, 0, 0);
	b = site(&f, 1, 1);
	d = site(&f, 2, 2);
	f.sites[a].how = f.sites[b].how = f.sites[d].how = COMPARE_AROUND;
	/* recursion: each event has its own call */
	event(&f, 0, 1, 200, 220);
	call(&f, a, 1, 201, 219);
	event(&f, 0, 1, 205, 210);
	call(&f, a, 1, 206, 209);
	/* two calls in an event; an event without a call; another thread's call */
	event(&f, 1, 1, 300, 310);
	call(&f, b, 1, 301, 302);
	call(&f, b, 1, 303, 304);
	event(&f, 2, 1, 400, 410);
	event(&f, 2, 1, 420, 430);
	call(&f, d, 1, 401, 402);
	assert_int_equal(compare_calls(&f.c), 0);
	EXPECT(a, COMPARE_EQUAL, "calls 2 = trace 2");
	EXPECT(b, COMPARE_DROPPED, "2 calls, 1 of them not within any event of the trace");
	EXPECT(d, COMPARE_DROPPED, "1 calls, but 1 events of the trace are around none");
	call(&f, d, 2, 421, 422);
	assert_int_equal(compare_calls(&f.c), 0);
	EXPECT(d, COMPARE_DROPPED, "2 calls, 1 of them not within any event of the trace");
}

/* A function that reports what it has to do, not that it was called: the events have to be in calls, that is all. */
static void test_some(void **state)
{
	struct fixture f;
	uint32_t a, b;

	(void)state;
	set_up(&f);
	a = site(&f, 0, 0);
	b = site(&f, 1, 1);
	f.sites[a].how = f.sites[b].how = COMPARE_SOME;
	call(&f, a, 1, 200, 210);
	call(&f, a, 1, 220, 230);
	event(&f, 0, 1, 201, 202);
	event(&f, 0, 1, 203, 204);
	event(&f, 0, 1, 205, 206);
	call(&f, b, 1, 200, 210);
	event(&f, 1, 1, 201, 202);
	event(&f, 1, 1, 211, 212);
	assert_int_equal(compare_calls(&f.c), 0);
	EXPECT(a, COMPARE_NOT, "not one to one: calls 2, each of the trace's 3 in one of them");
	EXPECT(b, COMPARE_DROPPED, "1 calls, but 1 events of the trace are in none");
}

static void test_candidates(void **state)
{
	struct fixture f;
	uint32_t helper, outer, right, idle;

	(void)state;
	set_up(&f);
	helper = site(&f, 0, 0);
	outer = site(&f, 0, 0);
	right = site(&f, 0, 0);
	idle = site(&f, 0, 0);
	f.sites[idle].idle = true;
	for (int i = 0; i < 3; i++) {
		call(&f, outer, 1, 200 + 20 * i, 210 + 20 * i);
		call(&f, right, 1, 201 + 20 * i, 209 + 20 * i);
		call(&f, idle, 1, 201.5 + 20 * i, 208.5 + 20 * i);
		call(&f, helper, 1, 202 + 20 * i, 202.1 + 20 * i);
		event(&f, 0, 1, 202 + 20 * i, 208 + 20 * i);
	}
	assert_int_equal(compare_calls(&f.c), 0);
	EXPECT(right, COMPARE_EQUAL, "calls 3 = trace 3");
	EXPECT(helper, COMPARE_OTHER, "another of 4 candidates is the one");
	EXPECT(outer, COMPARE_OTHER, "another of 4 candidates is the one");
	EXPECT(idle, COMPARE_OTHER, "another of 4 candidates is the one");
	/* none is right: an event more than any of them has calls */
	event(&f, 0, 1, 900, 901);
	f.c.nr_sites = 1;
	f.c.nr_calls = 0;
	call(&f, helper, 1, 202, 202.1);
	assert_int_equal(compare_calls(&f.c), 0);
	EXPECT(helper, COMPARE_DROPPED, "1 calls, 1 of them outside any event of the trace");
}

/* What is only called while the browser reports serves the reporting. */
static void test_idle(void **state)
{
	struct fixture f;

	(void)state;
	set_up(&f);
	f.sites[site(&f, 0, 0)].idle = true;
	call(&f, 0, 1, 200, 210);
	event(&f, 0, 1, 201, 209);
	assert_int_equal(compare_calls(&f.c), 0);
	EXPECT(0, COMPARE_DROPPED, "1 calls, but none at all without the trace");
}

/* What a probe read is compared with what the event of its call says, or the first one inside. */
static void test_told(void **state)
{
	struct fixture f;
	uint32_t own, outer;

	(void)state;
	set_up(&f);
	own = site(&f, 0, 0);
	outer = site(&f, 1, 1);
	f.sites[own].told_by = f.sites[outer].told_by = 0;
	for (int i = 0; i < 4; i++) {
		call(&f, outer, 1, 200 + 20 * i, 219 + 20 * i);
		f.calls[f.c.nr_calls - 1].told = i == 3 ? 8 : 7;
		event(&f, 1, 1, 201 + 20 * i, 218 + 20 * i);
		for (int k = 0; k < 2; k++) {
			call(&f, own, 1, 202 + 20 * i + 6 * k, 207 + 20 * i + 6 * k);
			f.calls[f.c.nr_calls - 1].told = i == 2 ? 0 : 7 + k;
			event(&f, 0, 1, 203 + 20 * i + 6 * k, 206 + 20 * i + 6 * k);
			f.events[f.c.nr_events - 1].told = i == 1 && k ? 0 : 7 + k;
		}
	}
	/* no event inside, or one of another thread, says nothing */
	call(&f, outer, 1, 500, 510);
	event(&f, 1, 1, 501, 509);
	call(&f, outer, 1, 600, 610);
	event(&f, 1, 1, 601, 609);
	call(&f, own, 2, 601, 605);
	event(&f, 0, 2, 602, 604);
	assert_int_equal(compare_calls(&f.c), 0);
	EXPECT(own, COMPARE_EQUAL, "calls 9 = trace 9");
	EXPECT(outer, COMPARE_EQUAL, "calls 6 = trace 6");
	/* one event of eight tells nothing; two calls read nothing, which is not wrong */
	assert_int_equal(f.sites[own].told, 7);
	assert_int_equal(f.sites[own].told_right, 5);
	assert_int_equal(f.sites[own].told_wrong, 0);
	assert_int_equal(f.sites[outer].told, 4);
	assert_int_equal(f.sites[outer].told_right, 3);
	assert_int_equal(f.sites[outer].told_wrong, 1);
}

/* --- what is written of it --- */

static void test_kept(void **state)
{
	struct engine_probe probes[4] = { { .name = "a" }, { .name = "b" }, { .name = "c" }, { .name = "d" } };
	struct site sites[7] = { { .probe = &probes[0] }, { .probe = &probes[1] }, { .probe = &probes[1] }, { .probe = &probes[2] },
				 { .probe = &probes[2] }, { .probe = &probes[3] }, { .probe = &probes[3] } };
	struct calls_verdict v[7] = {
		{ .verdict = COMPARE_DROPPED, .calls = 84, .events = 81, .text = "84 calls, 3 of them outside any event of the trace" },
		{ .verdict = COMPARE_OTHER, .calls = 9 },
		{ .verdict = COMPARE_EQUAL, .calls = 5, .events = 5, .text = "calls 5 = trace 5" },
		{ .verdict = COMPARE_DROPPED, .calls = 7, .events = 6, .text = "one" },
		{ .verdict = COMPARE_DROPPED, .calls = 8, .events = 6, .text = "two" },
		{ .text = "not compared: why" }, { .text = "not compared: why" },
	};
	struct call_log *logs = calloc(7, sizeof(*logs));
	struct site_entry e[7] = { 0 };

	(void)state;
	assert_non_null(logs);
	for (int i = 0; i < 7; i++) {
		logs[i].site = e[i].site = &sites[i];
		logs[i].calls = i == 6 ? 0 : 3;
		e[i].nr_args = 2;
		strcpy(e[i].evidence, "3 of 3 looked into");
	}
	assert_int_equal(keep_entries(e, logs, v, 7), 4);
	assert_ptr_equal(e[0].site, &sites[0]);
	assert_string_equal(e[0].dropped, v[0].text);
	assert_int_equal(e[0].nr_args, 0);
	assert_ptr_equal(e[1].site, &sites[2]);
	assert_string_equal(e[1].evidence, "calls 5 = trace 5, alone of several candidates; 3 of 3 looked into");
	assert_int_equal(e[1].nr_args, 2);
	assert_true(e[1].compared && e[1].calls == 5 && e[1].reported == 5 && !e[1].dropped[0]);
	assert_ptr_equal(e[2].site, &sites[3]);
	assert_string_equal(e[2].dropped, "none of several candidates is right, one has one");
	assert_ptr_equal(e[3].site, &sites[5]);
	assert_string_equal(e[3].evidence, "not compared: why; 3 of 3 looked into");
	assert_false(e[3].compared);
	free(logs);
}

static void test_told_kept(void **state)
{
	struct engine_probe probes[3] = { { .name = "a" }, { .name = "b" }, { .name = "c" } };
	struct site sites[3] = { { .probe = &probes[0] }, { .probe = &probes[1] }, { .probe = &probes[2] } };
	struct calls_verdict v[3] = {
		{ .verdict = COMPARE_EQUAL, .told = 9, .told_right = 9, .text = "calls 9 = trace 9" },
		{ .verdict = COMPARE_EQUAL, .told = 9, .told_right = 8, .told_wrong = 1, .text = "calls 9 = trace 9" },
		{ .verdict = COMPARE_EQUAL, .told = 9, .told_right = 9, .no_urls = 2, .text = "calls 9 = trace 9" },
	};
	struct site_entry e[3] = { 0 };
	struct call_log *logs = calloc(3, sizeof(*logs));

	(void)state;
	assert_non_null(logs);
	for (int i = 0; i < 3; i++) {
		logs[i].site = e[i].site = &sites[i];
		e[i].args[0].field = FIELD_URL;
		e[i].args[1].field = FIELD_EVENT_NAME;
		e[i].args[2].field = FIELD_FRAME;
		e[i].nr_args = 3;
		strcpy(e[i].evidence, "3 names");
	}
	assert_int_equal(keep_entries(e, logs, v, 3), 3);
	assert_string_equal(e[0].evidence, "calls 9 = trace 9; 3 names, 9 of 9 reported");
	assert_int_equal(e[0].nr_args, 3);
	assert_string_equal(e[1].evidence, "calls 9 = trace 9; 3 names, but not at 1 of 9 reported");
	assert_int_equal(e[1].nr_args, 2);
	assert_int_equal(e[1].args[1].field, FIELD_FRAME);
	assert_string_equal(e[2].evidence, "calls 9 = trace 9; 3 names, but no URL at 2 when recorded, 9 of 9 reported");
	assert_int_equal(e[2].nr_args, 2);
	assert_int_equal(e[2].args[0].field, FIELD_EVENT_NAME);
	free(logs);
}

/* --- reading a Chrome trace --- */

static int read_text_as(const struct reporter *reporter, const char *text, struct report *r)
{
	int fd = memfd_create("trace", MFD_CLOEXEC), rc;

	memset(r, 0, sizeof(*r));
	report_want(r, "Layout");
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	rc = reporter->read(fd, r);
	close(fd);
	return rc;
}

static int read_text(const char *text, struct report *r)
{
	return read_text_as(&reporter_chrome, text, r);
}

static void test_trace(void **state)
{
	struct report r;

	(void)state;
	assert_int_equal(read_text("{\"traceEvents\":[{\"name\":\"Layout\",\"ph\":\"X\",\"pid\":2,\"tid\":3,\"ts\":5,\"dur\":7},"
				   "{\"name\":\"Other\",\"ph\":\"X\",\"pid\":2,\"tid\":3,\"ts\":5,\"dur\":7},"
				   "{\"name\":\"Layout\",\"ph\":\"s\",\"pid\":2,\"tid\":3,\"ts\":5},"
				   "{\"name\":\"Layout\",\"ph\":\"B\",\"pid\":2,\"tid\":3,\"ts\":20},"
				   "{\"name\":\"Layout\",\"ph\":\"B\",\"pid\":2,\"tid\":3,\"ts\":21},"
				   "{\"name\":\"Layout\",\"ph\":\"E\",\"pid\":2,\"tid\":3,\"ts\":22},"
				   "{\"name\":\"Layout\",\"ph\":\"E\",\"pid\":2,\"tid\":4,\"ts\":23},"
				   "{\"name\":\"Layout\",\"ph\":\"E\",\"pid\":2,\"tid\":3,\"ts\":24}]}", &r), 0);
	assert_int_equal(r.nr, 3);
	assert_int_equal(r.v[0].begin_ns, 5000);
	assert_int_equal(r.v[0].end_ns, 12000);
	assert_int_equal(r.v[1].begin_ns, 21000);
	assert_int_equal(r.v[1].end_ns, 22000);
	assert_int_equal(r.v[2].begin_ns, 20000);
	assert_int_equal(r.v[2].end_ns, 24000);
	report_free(&r);
}

/* Of two kinds of events it is read what they say of a call's arguments. */
static void test_told_by_trace(void **state)
{
	static const char *const clips[] = { "0,0,7,0,7,9,0", "0,0,7,0,7,9,0,0.5", "0,0,1e99,0,1e99,9,0,9", "0,0,7,0,7,[],0,9" };
	struct report r;
	char text[256];

	(void)state;
	assert_int_equal(read_text("[{\"name\":\"Layout\",\"ph\":\"X\",\"ts\":1,\"args\":{\"data\":{\"type\":\"click\"}}},"
				   "{\"name\":\"Layout\",\"ph\":\"X\",\"ts\":1,\"args\":{\"data\":{\"clip\":[-4,5,7,5,7,9,-4,9]}}},"
				   "{\"name\":\"Layout\",\"ph\":\"X\",\"ts\":1,\"args\":{\"data\":[]}}]", &r), 0);
	assert_int_equal(r.nr, 3);
	assert_int_equal(r.v[0].told, report_told_name("click"));
	assert_int_equal(r.v[1].told, report_told_area(-4, 5, 11, 4));
	assert_int_equal(r.v[2].told, 0);
	assert_int_not_equal(report_told_name("clicks"), report_told_name("click"));
	assert_int_not_equal(report_told_area(-4, 5, 4, 11), report_told_area(-4, 5, 11, 4));
	report_free(&r);
	for (size_t i = 0; i < sizeof(clips) / sizeof(clips[0]); i++) {
		snprintf(text, sizeof(text), "[{\"name\":\"Layout\",\"ph\":\"X\",\"ts\":1,\"args\":{\"data\":{\"clip\":[%s]}}}]", clips[i]);
		assert_int_equal(read_text(text, &r), 0);
		assert_int_equal(r.v[0].told, 0);
		report_free(&r);
	}
}

/* What lacks its end would make calls look like too many. */
static void test_damaged_trace(void **state)
{
	static const char *const damaged[] = {
		"", "{", "[", "{\"traceEvents\":[{\"name\":\"Layout\",\"ph\":\"X\",\"ts\":5}", "\x7f" "ELF", "null",
		"[{\"name\":\"Layout\"}{\"name\":\"Layout\"}]",
	};
	struct report r;

	(void)state;
	for (size_t i = 0; i < sizeof(damaged) / sizeof(damaged[0]); i++) {
		assert_int_equal(read_text(damaged[i], &r), -EINVAL);
		report_free(&r);
	}
	/* members of other kinds than they should have, times that are none */
	assert_int_equal(read_text("[{\"name\":7,\"ph\":\"X\",\"ts\":1},{\"name\":\"Layout\",\"ph\":[],\"ts\":1},{\"name\":\"Layout\",\"ph\":\"X\"},"
				   "{\"name\":\"Layout\",\"ph\":\"X\",\"ts\":-1},{\"name\":\"Layout\",\"ph\":\"X\",\"ts\":1e300},"
				   "{\"name\":\"Layout\",\"ph\":\"\",\"ts\":1},{\"name\":\"Layout\",\"ph\":\"X\",\"ts\":\"1\"},1,[],null]", &r), 0);
	assert_int_equal(r.nr, 0);
	report_free(&r);
}

static void test_timeline(void **state)
{
	struct report r;

	(void)state;
	assert_int_equal(read_text_as(&reporter_webkit,
		"{\"received\":3000000000,\"record\":{\"type\":\"RenderingFrame\",\"startTime\":0.5,\"endTime\":0.9,\"children\":["
		"{\"type\":\"Layout\",\"startTime\":0.6,\"endTime\":0.7},{\"type\":\"Layout\",\"startTime\":0.8},"
		"{\"type\":\"Layout\",\"startTime\":0.8,\"endTime\":0.7},{\"type\":\"Layout\",\"startTime\":-1,\"endTime\":1}]}}\n"
		"{\"received\":3000000000,\"record\":{\"type\":\"Layout\",\"startTime\":1,\"endTime\":1.5,\"children\":7}}\n"
		"{\"whole\": true}\n", &r), 0);
	assert_int_equal(r.nr, 2);
	assert_int_equal(r.v[0].begin_ns, 600000000);
	assert_int_equal(r.v[0].end_ns, 700000000);
	assert_int_equal(r.v[1].end_ns, 1500000000);
	assert_int_equal(r.latest_ns, 1500000000);
	report_free(&r);
	/* cut off, and no JSON at all */
	assert_int_equal(read_text_as(&reporter_webkit, "{\"received\":1,\"record\":{\"type\":\"Layout\"}}\n", &r), -EINVAL);
	report_free(&r);
	assert_int_equal(read_text_as(&reporter_webkit, "{\"received\":1,\"rec", &r), -EINVAL);
	report_free(&r);
	assert_int_equal(read_text_as(&reporter_webkit, "", &r), -EINVAL);
	report_free(&r);
}

/* Records in records without end would exhaust the stack. */
static void test_deep_timeline(void **state)
{
	static char text[4096] = "{\"record\":";
	struct report r;

	(void)state;
	for (int i = 0; i < 100; i++)
		strcat(text, "{\"children\":[");
	strcat(text, "1");
	for (int i = 0; i < 100; i++)
		strcat(text, "]}");
	strcat(text, "}\n{\"whole\":true}\n");
	assert_int_equal(read_text_as(&reporter_webkit, text, &r), -EINVAL);
	report_free(&r);
}

/* Events that began to count 250 ms after the calls' clock did. */
static void test_shift(void **state)
{
	struct fixture f;
	int64_t shift;
	int rc;

	(void)state;
	set_up(&f);
	site(&f, 0, 0);
	site(&f, 1, 1);
	for (int i = 0; i < 10; i++) {
		call(&f, 0, 0, 300 + 25 * i + i * i, 301 + 25 * i + i * i);
		event(&f, 0, 0, 50.1 + 25 * i + i * i, 50.9 + 25 * i + i * i);
	}
	call(&f, 1, 0, 410, 410.2);
	event(&f, 1, 0, 160.05, 160.15);
	/* and one that is in no call */
	event(&f, 1, 0, 170, 170.1);
	assert_true(compare_shift(&f.c, 260 * MS, 50 * MS, &shift, &rc));
	assert_int_equal(rc, 0);
	assert_in_range(shift, 249.9 * MS, 250.1 * MS);
	/* it can't be later than that, nor so much earlier */
	assert_false(compare_shift(&f.c, 200 * MS, MS, &shift, &rc));
	f.c.nr_events = 0;
	assert_false(compare_shift(&f.c, 260 * MS, 50 * MS, &shift, &rc));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_equal), cmocka_unit_test(test_dropped), cmocka_unit_test(test_not_compared),
		cmocka_unit_test(test_shared_name), cmocka_unit_test(test_around), cmocka_unit_test(test_some),
		cmocka_unit_test(test_candidates), cmocka_unit_test(test_idle),
		cmocka_unit_test(test_told), cmocka_unit_test(test_told_kept), cmocka_unit_test(test_told_by_trace),
		cmocka_unit_test(test_kept), cmocka_unit_test(test_trace), cmocka_unit_test(test_damaged_trace),
		cmocka_unit_test(test_timeline), cmocka_unit_test(test_deep_timeline), cmocka_unit_test(test_shift),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
