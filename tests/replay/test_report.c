// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Reports: the figures, the tables and the JSON, from a recording file to the command's output. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>
#include <jansson.h>
#include "capture/recording_file.h"
#include "cli/report_stats.h"
#include "replay/replay.h"

#define MS 1000000ull

static int reflow, layout, paint, mark;

static struct replay some(void)
{
	struct replay r = { 0 };

	reflow = replay_probe(&r, "Reflow", EVENT_REFLOW);
	layout = replay_probe(&r, "Layout", EVENT_LAYOUT);
	paint = replay_probe(&r, "Paint", EVENT_PAINT);
	mark = replay_probe(&r, "Mark", EVENT_GENERIC);
	r.probes[mark].kind = PROBE_KIND_MARK;
	r.probes[paint].attached = false;
	r.probes[paint].refused = "two functions fit";
	r.probes[layout].module = "/opt/b/browser";
	r.probes[layout].build_id = "00ff";
	replay_process(&r, REPLAY_PID, "browser", 0);
	return r;
}

/* A reflow of 100 ms with a layout of 60 in it, in that a reflow of 20; 10 of the layout's own were waited for. */
static void fill(struct replay *r)
{
	replay_begin(r, 1, 100 * MS, reflow);
	stream_text(&r->stream, FIELD_URL, "http://one.test/");
	replay_begin(r, 1, 120 * MS, layout);
	replay_call(r, 1, 130 * MS, 150 * MS, reflow);
	replay_end(r, 1, 180 * MS)->off_cpu_ns = 10 * MS;
	replay_end(r, 1, 200 * MS);
	replay_call(r, 1, 300 * MS, 303 * MS, layout);
	r->info.end_ns = REPLAY_BEGIN_NS + 1000 * MS;
}

static void test_sums(void **state)
{
	struct replay r = some();
	struct report_stats st;
	struct session *s;

	(void)state;
	fill(&r);
	replay_aggregate(&r, 1, 400 * MS, 500 * MS, layout, 40, 8 * MS);
	s = replay_session(&r);
	assert_int_equal(report_stats_gather(s, 3, &st), 0);

	assert_int_equal(st.types[EVENT_REFLOW].events, 2);
	/* the inner one is in the outer one's total already */
	assert_int_equal(st.types[EVENT_REFLOW].total_ns, 90 * MS);
	assert_int_equal(st.types[EVENT_REFLOW].self_ns, 60 * MS);
	assert_int_equal(st.types[EVENT_REFLOW].blocked_ns, 0);
	assert_int_equal(st.types[EVENT_REFLOW].longest_ns, 100 * MS);
	assert_int_equal(st.types[EVENT_LAYOUT].events, 3);
	assert_int_equal(st.types[EVENT_LAYOUT].hits, 42);
	assert_int_equal(st.types[EVENT_LAYOUT].total_ns, (50 + 3 + 8) * MS);
	assert_int_equal(st.types[EVENT_LAYOUT].self_ns, (30 + 3 + 8) * MS);
	assert_int_equal(st.types[EVENT_LAYOUT].blocked_ns, 10 * MS);
	/* 40 calls that lie 100 ms apart are no call of 100 ms */
	assert_int_equal(st.types[EVENT_LAYOUT].longest_ns, 60 * MS);
	assert_int_equal(st.probes[layout].hits, 42);
	assert_int_equal(st.probes[reflow].total_ns, 90 * MS);
	assert_int_equal(st.all.events, 5);
	assert_int_equal(st.all.total_ns, (90 + 3 + 8) * MS);
	assert_int_equal(st.refused, 1);

	assert_int_equal(st.nr_slowest, 3);
	assert_int_equal(st.slowest[0].end_ns - st.slowest[0].start_ns, 100 * MS);
	assert_int_equal(st.slowest[1].end_ns - st.slowest[1].start_ns, 60 * MS);
	assert_int_equal(st.slowest[2].end_ns - st.slowest[2].start_ns, 20 * MS);
	report_stats_release(&st);
	session_free(s);
}

/* Writes the recording, runs the command on it, returns its output (to be freed) and its exit code. */
static char *run_command(struct replay *r, const char *name, const char *options, int *ret_code)
{
	static const struct recording_info info = {
		.target_pid = REPLAY_PID, .begin_ns = REPLAY_BEGIN_NS, .tool = "test",
		.overhead_source = "calibrated at start",
	};
	char path[] = "/tmp/framescope-report-XXXXXX", command[512], *out = calloc(1, 1 << 20);
	const char *binary = getenv("FRAMESCOPE") ? getenv("FRAMESCOPE") : "build/framescope";
	struct recording_info last = info;
	struct recording_writer *w;
	struct error err;
	size_t n;
	FILE *f;

	assert_true(mkdtemp(path) && out);
	snprintf(command, sizeof(command), "%s/a.fscope", path);
	assert_int_equal(recording_writer_create(command, &w, &err), 0);
	for (size_t i = 0; i < r->nr_processes; i++)
		assert_int_equal(recording_write_process(w, &r->processes[i]), 0);
	for (const struct rec_header *h = stream_next(&r->stream, NULL); h; h = stream_next(&r->stream, h))
		assert_int_equal(recording_write_record(w, h), 0);
	last.end_ns = r->info.end_ns;
	last.only_under = r->info.only_under;
	last.min_duration_ns = r->info.min_duration_ns;
	assert_int_equal(recording_writer_finish(w, &last, r->probes, r->nr_probes, &err), 0);
	stream_free(&r->stream);

	snprintf(command, sizeof(command), "%s %s %s/a.fscope %s 2>&1", binary, name, path, options);
	f = popen(command, "r");
	assert_non_null(f);
	n = fread(out, 1, (1 << 20) - 1, f);
	out[n] = 0;
	*ret_code = WEXITSTATUS(pclose(f));
	snprintf(command, sizeof(command), "rm -rf %s", path);
	assert_int_equal(system(command), 0);
	return out;
}

static char *run(struct replay *r, const char *options, int *ret_code)
{
	return run_command(r, "report", options, ret_code);
}

static void expect_line(const char *text, const char *line)
{
	const char *at = strstr(text, line);

	if (!at || (at != text && at[-1] != '\n') || at[strlen(line)] != '\n')
		fail_msg("no line '%s' in:\n%s", line, text);
}

/* A line that begins and ends so. */
static void expect_row(const char *text, const char *begin, const char *end)
{
	for (const char *at = strstr(text, begin); at; at = strstr(at + 1, begin)) {
		size_t n = strcspn(at, "\n");

		if ((at == text || at[-1] == '\n') && n >= strlen(end) && !strncmp(at + n - strlen(end), end, strlen(end)))
			return;
	}
	fail_msg("no line '%s…%s' in:\n%s", begin, end, text);
}

static void test_text(void **state)
{
	struct replay r = some();
	char *text;
	int code;

	(void)state;
	fill(&r);
	replay_mark(&r, 1, 600 * MS, mark);
	r.probes[mark].stats.calls = 1234;
	text = run(&r, "-n 2", &code);
	assert_int_equal(code, 0);
	expect_line(text, "4 events in 1 process; 3 of 3 attached probes were hit; 0 records lost");
	expect_line(text, "type    hits  total ms  self ms  overhead ms  blocked ms  longest ms");
	expect_line(text, "REFLOW     2    90.000   60.000        0.000       0.000     100.000");
	expect_line(text, "LAYOUT     2    53.000   33.000        0.000      10.000      60.000");
	expect_row(text, "Mark    1,234 ", " (mark)");
	expect_line(text, "id    at ms  wall ms  self ms  blocked ms  pid  timeline  event   about");
	expect_line(text, " 1  100.000  100.000   40.000       0.000  100         1  Reflow  http://one.test/");
	expect_line(text, "Paint  two functions fit");
	expect_line(text, "00ff      /opt/b/browser");
	assert_null(strstr(text, "Irregular"));
	assert_null(strstr(text, "Lost"));
	assert_null(strstr(text, "eft out"));
	free(text);
}

/* Probes with the same label are told apart, and those whose calls are no events say what they are instead of times. */
static void test_no_events(void **state)
{
	int fired, arrow, code;
	struct replay r;
	json_t *j, *p;
	char *text;

	(void)state;
	for (int json = 0; json <= 1; json++) {
		r = some();
		fired = replay_role(&r, "Timer::Fired", PROBE_KIND_SPAN, ROLE_SCRIPT_CALLER);
		arrow = replay_role(&r, "Timer::Fired-arrow", PROBE_KIND_FLOW_END, ROLE_NONE);
		r.probes[fired].label = r.probes[arrow].label = "TimerFire";
		r.probes[fired].stats.calls = r.probes[arrow].stats.calls = 3;
		replay_call(&r, 1, 10 * MS, 20 * MS, layout);
		text = run(&r, json ? "--json" : "", &code);
		assert_int_equal(code, 0);
		if (!json) {
			expect_row(text, "TimerFire     3 ", " Timer::Fired (script-caller)");
			expect_row(text, "TimerFire     3 ", " Timer::Fired-arrow (flow-end)");
			expect_row(text, "Layout        1 ", "10.000");
		} else {
			j = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
			p = json_array_get(json_object_get(j, "probes"), fired);
			assert_string_equal(json_string_value(json_object_get(p, "role")), "script-caller");
			p = json_array_get(json_object_get(j, "probes"), arrow);
			assert_string_equal(json_string_value(json_object_get(p, "kind")), "flow-end");
			assert_true(json_is_null(json_object_get(p, "role")));
			json_decref(j);
		}
		free(text);
	}
}

/* What each column means stands below, ± only where there is one. */
static void test_columns(void **state)
{
	static const char meaning[] = "± is how far total may be off, since costs vary: for each call in it, half the distance between "
				      "the quartiles of";
	struct replay r = some();
	char *text;
	int code;

	(void)state;
	fill(&r);
	text = run(&r, "", &code);
	assert_int_equal(code, 0);
	assert_null(strstr(text, "±"));
	free(text);
	r = some();
	replay_cost(&r, 0, 1000, 2000, 500);
	fill(&r);
	text = run(&r, "", &code);
	assert_int_equal(code, 0);
	expect_line(text, meaning);
	free(text);
}

/* Where no call of a probe has an argument, whose calls those were. */
static void test_unread(void **state)
{
	struct replay r = some();
	char *text;
	int code;

	(void)state;
	fill(&r);
	r.probes[reflow].stats = (struct probe_stats){ .calls = 2, .unread[FIELD_URL] = 1 };
	text = run(&r, "", &code);
	assert_int_equal(code, 0);
	expect_line(text, "Arguments that could not be read");
	assert_null(strstr(text, "may not fit"));
	free(text);
	r = some();
	fill(&r);
	r.probes[reflow].stats = (struct probe_stats){ .calls = 2, .unread[FIELD_URL] = 1 };
	r.probes[layout].stats = (struct probe_stats){ .calls = 2, .unread[FIELD_FRAME] = 2 };
	text = run(&r, "", &code);
	assert_int_equal(code, 0);
	expect_line(text, "Layout: none of its 2 calls has its frame; they are of process 100 (browser).");
	assert_non_null(strstr(text, "may not fit"));
	assert_null(strstr(text, "Reflow: none"));
	free(text);
}

static void test_irregular(void **state)
{
	struct replay r = some();
	char *text;
	int code;

	(void)state;
	replay_begin(&r, 1, 100, reflow);
	stream_unwind(&r.stream, 1, REPLAY_BEGIN_NS + 200);
	replay_begin(&r, 1, 300, reflow);
	replay_stop(&r, 400);
	stream_loss(&r.stream, REPLAY_BEGIN_NS, REPLAY_BEGIN_NS + 300, layout, 5, 6);
	r.probes[layout].stats = (struct probe_stats){ .calls = 20, .lost_begins = 5, .lost_ends = 6 };
	/* what a page may put into a note or a name */
	stream_note(&r.stream, REPLAY_BEGIN_NS + 350, ~0u, "\033]0;owned\007\nnext");
	text = run(&r, "--strict", &code);
	assert_int_equal(code, ERR_LOSS);
	expect_line(text, "1  event ended by an exception or a longjmp");
	expect_line(text, "1  event still open when recording stopped or the thread ended");
	expect_line(text, "     5     6      0        20    0.000  0.000  Layout");
	assert_null(strchr(text, '\033'));
	assert_null(strchr(text, '\007'));
	assert_non_null(strstr(text, "11 records LOST\n"));
	expect_line(text, "! 1 note on what is missing: see Notes below.");
	free(text);
}

/* Of what the kernel's counters don't tell, as in a recording that ended early, the records do: marks, losses, sums. */
static void test_without_counters(void **state)
{
	struct replay r = some();
	char *text;
	int code;

	(void)state;
	replay_mark(&r, 1, 10 * MS, mark);
	replay_mark(&r, 1, 20 * MS, mark);
	stream_loss(&r.stream, REPLAY_BEGIN_NS, REPLAY_BEGIN_NS + 300, layout, 5, 5);
	stream_aggregate(&r.stream, 1, REPLAY_BEGIN_NS + 30 * MS, REPLAY_BEGIN_NS + 40 * MS, reflow, 7, MS);
	text = run(&r, "", &code);
	assert_int_equal(code, 0);
	expect_line(text, "1 event for 7 calls in 1 process; 3 of 3 attached probes were hit; 10 records LOST");
	expect_row(text, "Mark       2 ", " (mark)");
	/* none of the calls that were summed up has a longest time */
	expect_line(text, "REFLOW     7     1.000    1.000        0.000       0.000");
	assert_null(strstr(text, "No hits"));
	assert_null(strstr(text, "None of"));
	free(text);

	r = some();
	text = run(&r, "", &code);
	expect_line(text, "0 events in 1 process; 0 of 3 attached probes were hit; 0 records lost");
	expect_line(text, "None of the probed functions was called: use the page while it is recorded.");
	assert_non_null(strstr(text, "\nNo hits (not called, or inlined into all callers): "));
	free(text);
}

/* Calls that were left out in the kernel were made: neither "no hits" nor untold. */
static void test_left_out(void **state)
{
	static const struct {
		uint32_t only_under;
		uint64_t min_duration_ns;
		const char *head, *called;
	} cases[] = {
		{ EVENT_LAYOUT, 0, "Left out in the kernel: calls not under LAYOUT: 7 of 9 calls", "Called, but left out by --only-under: Mark" },
		{ 0, 20000, "Left out in the kernel: calls under 0.02 ms: 7 of 9 calls", "Called, but left out by --min-duration: Mark" },
		{ EVENT_LAYOUT, 20000, "Left out in the kernel: calls not under LAYOUT; calls under 0.02 ms: 7 of 9 calls",
		  "Called, but left out by --only-under or --min-duration: Mark" },
	};
	int code;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct replay r = some();
		char *text;

		replay_probe(&r, "Idle", EVENT_PAINT);
		fill(&r);
		r.info.only_under = cases[i].only_under;
		r.info.min_duration_ns = cases[i].min_duration_ns;
		r.probes[mark].stats.hidden = 4;
		r.probes[layout].stats = (struct probe_stats){ .calls = 2, .hidden = 3 };
		text = run(&r, "", &code);
		assert_int_equal(code, 0);
		expect_line(text, cases[i].head);
		expect_line(text, cases[i].called);
		expect_line(text, "No hits (not called, or inlined into all callers): Idle");
		expect_line(text, "4 events in 1 process; 2 of 4 attached probes were hit, 1 more only by calls that are left out; 0 records lost");
		free(text);
	}
}

/* The exports whose viewers show the recording's facts tell it, too; without the options they say nothing. */
static void test_left_out_exported(void **state)
{
	static const char *const cases[][2] = {
		{ "-f chrome -o -", "\"leftOut\":\"calls under 0.02 ms: 3 of 5 calls\"" },
		{ "-f devtools -o -", "\"leftOut\":\"calls under 0.02 ms: 3 of 5 calls\"" },
		{ "-f metrics -o -", "\"leftOut\":\"calls under 0.02 ms: 3 of 5 calls\"" },
		{ "-f html -o -", "\"leftOut\":\"calls under 0.02 ms: 3 of 5 calls\"" },
		{ "-f jsonl -o -", "\"left_out\":\"calls under 0.02 ms: 3 of 5 calls\"" },
	};

	(void)state;
	for (size_t i = 0; i < 2 * sizeof(cases) / sizeof(cases[0]); i++) {
		struct replay r = some();
		char *text;
		int code;

		fill(&r);
		r.info.min_duration_ns = i % 2 ? 20000 : 0;
		r.probes[layout].stats = (struct probe_stats){ .calls = 2, .hidden = 3 };
		text = run_command(&r, "export", cases[i / 2][0], &code);
		assert_int_equal(code, 0);
		if (!strstr(text, cases[i / 2][1]) != !(i % 2))
			fail_msg("'%s' %s %s", cases[i / 2][0], i % 2 ? "lacks" : "has", cases[i / 2][1]);
		free(text);
	}
}

/* All calls may be left out: that nothing was called would be wrong then. */
static void test_all_left_out(void **state)
{
	struct replay r = some();
	json_t *j, *info;
	char *text;
	int code;

	(void)state;
	r.info.only_under = EVENT_LAYOUT;
	r.probes[mark].stats.hidden = 4;
	text = run(&r, "", &code);
	assert_int_equal(code, 0);
	expect_line(text, "Left out in the kernel: calls not under LAYOUT: 4 of 4 calls");
	assert_null(strstr(text, "None of"));
	free(text);

	r = some();
	r.info.only_under = EVENT_LAYOUT;
	r.info.min_duration_ns = 20000;
	r.probes[mark].stats.hidden = 4;
	text = run(&r, "--json", &code);
	j = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	info = json_object_get(j, "info");
	assert_string_equal(json_string_value(json_object_get(info, "only_under")), "LAYOUT");
	assert_int_equal(json_integer_value(json_object_get(info, "min_duration_ns")), 20000);
	assert_int_equal(json_integer_value(json_object_get(info, "left_out_calls")), 4);
	json_decref(j);
	free(text);
}

static json_t *get(json_t *j, const char *array, size_t i)
{
	json_t *item = json_array_get(json_object_get(j, array), i);

	assert_non_null(item);
	return item;
}

static void test_json(void **state)
{
	struct replay r = some();
	json_error_t error;
	json_t *j, *item;
	char *text;
	int code;

	(void)state;
	fill(&r);
	replay_call(&r, 1, 700 * MS, 701 * MS, layout);
	r.probes[layout].evidence = "quote \" and \\ and \001";
	text = run(&r, "--json -n 1", &code);
	assert_int_equal(code, 0);
	j = json_loads(text, JSON_REJECT_DUPLICATES, &error);
	assert_non_null(j);
	item = get(j, "types", 0);
	assert_string_equal(json_string_value(json_object_get(item, "type")), "REFLOW");
	assert_int_equal(json_integer_value(json_object_get(item, "total_ns")), 90 * MS);
	assert_int_equal(json_integer_value(json_object_get(item, "self_ns")), 60 * MS);
	item = get(j, "types", 1);
	assert_int_equal(json_integer_value(json_object_get(item, "hits")), 3);
	assert_int_equal(json_array_size(json_object_get(j, "slowest")), 1);
	assert_string_equal(json_string_value(json_object_get(get(j, "slowest", 0), "url")), "http://one.test/");
	assert_int_equal(json_integer_value(json_object_get(get(j, "slowest", 0), "timeline")), 1);
	assert_int_equal(json_array_size(json_object_get(j, "probes")), 4);
	assert_string_equal(json_string_value(json_object_get(get(j, "probes", 1), "evidence")), r.probes[layout].evidence);
	assert_string_equal(json_string_value(json_object_get(get(j, "probes", 2), "refused")), "two functions fit");
	assert_true(json_is_null(json_object_get(get(j, "probes", 1), "refused")));
	assert_string_equal(json_string_value(json_object_get(get(j, "processes", 0), "name")), "browser");
	assert_string_equal(json_string_value(json_object_get(get(j, "modules", 0), "build_id")), "00ff");
	assert_true(json_is_false(json_object_get(json_object_get(j, "info"), "truncated")));
	assert_true(json_is_null(json_object_get(json_object_get(j, "info"), "only_under")));
	json_decref(j);
	free(text);
}

/* Nothing happened: that is no error, and still strict JSON. */
static void test_empty(void **state)
{
	struct replay r = { 0 };
	char *text;
	json_t *j;
	int code;

	(void)state;
	text = run(&r, "--strict", &code);
	assert_int_equal(code, 0);
	expect_line(text, "0 events in 1 process; 0 of 0 attached probes were hit; 0 records lost");
	free(text);
	text = run(&r, "--json", &code);
	j = json_loads(text, 0, NULL);
	assert_non_null(j);
	json_decref(j);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sums),
		cmocka_unit_test(test_text), cmocka_unit_test(test_columns), cmocka_unit_test(test_no_events),
		cmocka_unit_test(test_unread),
		cmocka_unit_test(test_irregular),
		cmocka_unit_test(test_without_counters), cmocka_unit_test(test_left_out), cmocka_unit_test(test_all_left_out),
		cmocka_unit_test(test_left_out_exported),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
