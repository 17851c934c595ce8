// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What Gecko's own profiler writes when the browser ends: one JSON text with the markers of all threads of all processes. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/jsonspan.h"
#include "calibrate/report.h"

#define PROFILE_MAX (128u << 20)	/* bytes */
#define MAX_DEPTH 4		/* of profiles within the profile: a browser's has those of its children */
#define MAX_COLUMNS 16
#define NS_PER_MS 1e6

/* Main threads only, where all of these are from, and no samples: less to write. */
static const char *const env[] = {
	"MOZ_PROFILER_STARTUP=1", "MOZ_PROFILER_STARTUP_FEATURES=nostacksampling,nomarkerstacks",
	"MOZ_PROFILER_STARTUP_FILTERS=GeckoMain", "MOZ_PROFILER_STARTUP_ENTRIES=8000000", "MOZ_PROFILER_SHUTDOWN=", NULL,
};

static const char *const no_args[] = { NULL };

/* The markers of gecko.engine's functions, as Gecko's source has them. */
static const struct {
	const char *probe, *marker;
	enum compare_how how;
} reported[] = {
	{ "nsDOMNavigationTiming::NotifyNavigationStart", "Navigation::Start", COMPARE_INSIDE },
	{ "nsHtml5TreeOpExecutor::RunFlushLoop", "HTMLParserTreeOps", COMPARE_SOME },
	{ "ScriptLoader::CompileMainThread", "ScriptCompileMainThread", COMPARE_INSIDE },
	{ "ScriptLoader::EvaluateScript", "ScriptExecution", COMPARE_INSIDE },
	{ "ModuleLoaderBase::EvaluateModuleInContext", "ModuleEvaluation", COMPARE_INSIDE },
	{ "nsGlobalWindowInner::RunTimeoutHandler", "setTimeout callback", COMPARE_INSIDE },
	{ "nsRefreshDriver::RunFrameRequestCallbacks", "requestAnimationFrame callbacks", COMPARE_SOME },
	{ "EventDispatcher::Dispatch", "DOMEvent", COMPARE_SOME },
	{ "PresShell::DoFlushPendingNotifications", "DoFlushPendingNotifications", COMPARE_INSIDE },
	{ "RestyleManager::ProcessPendingRestyles", "Styles", COMPARE_AROUND },
	{ "PresShell::DoReflow", "Reflow (sync)", COMPARE_INSIDE },
	{ "nsRefreshDriver::PaintIfNeeded", "ViewManagerFlush", COMPARE_INSIDE },
};

/* Other names of the same. */
static const struct {
	const char *name, *of;
} other_names[] = {
	{ "Reflow (interruptible)", "Reflow (sync)" },
};

static bool name_of(const struct engine_probe *p, char *ret, size_t size, enum compare_how *ret_how)
{
	for (size_t i = 0; i < sizeof(reported) / sizeof(reported[0]); i++) {
		if (strcmp(reported[i].probe, p->name))
			continue;
		*ret_how = reported[i].how;
		return (size_t)snprintf(ret, size, "%s", reported[i].marker) < size;
	}
	return false;
}

enum column { COLUMN_NAME, COLUMN_START, COLUMN_END, COLUMN_PHASE, NR_COLUMNS };

static const char *const column_names[NR_COLUMNS] = { "name", "startTime", "endTime", "phase" };

/* As a marker's phase says. */
enum phase { PHASE_INSTANT, PHASE_INTERVAL, PHASE_BEGIN, PHASE_END };

/* A thread, or what is known of one so far. */
struct thread {
	struct report *report;
	double origin_ns;		/* CLOCK_MONOTONIC when its process's times are 0 */
	uint32_t pid, tid;
	struct jsonspan strings;	/* the texts that names are indices of */
	uint32_t *names;		/* of each of those, the report's; UINT32_MAX */
	size_t nr_names;
	unsigned int column[NR_COLUMNS];
};

static uint32_t wanted_name(const struct report *r, struct jsonspan text)
{
	char name[REPORT_NAME_MAX + 1];

	if (!jsonspan_text(text, name, sizeof(name)))
		return UINT32_MAX;
	for (size_t i = 0; i < sizeof(other_names) / sizeof(other_names[0]); i++)
		if (!strcmp(other_names[i].name, name))
			return report_name(r, other_names[i].of);
	return report_name(r, name);
}

static int read_names(struct thread *t)
{
	struct jsonspan_walk w = jsonspan_walk(t->strings, '[');
	size_t cap = 0;
	struct jsonspan text;

	while (jsonspan_next(&w, NULL, &text)) {
		uint32_t *more;

		if (t->nr_names == cap) {
			cap = cap ? 2 * cap : 1024;
			more = reallocarray(t->names, cap, sizeof(*more));
			if (!more)
				return -ENOMEM;
			t->names = more;
		}
		t->names[t->nr_names++] = wanted_name(t->report, text);
	}
	return w.failed ? -EINVAL : 0;
}

static int read_schema(struct thread *t, struct jsonspan schema)
{
	struct jsonspan_walk w = jsonspan_walk(schema, '{');
	struct jsonspan key, value;

	for (int i = 0; i < NR_COLUMNS; i++)
		t->column[i] = MAX_COLUMNS;
	while (jsonspan_next(&w, &key, &value)) {
		double at;

		for (int i = 0; i < NR_COLUMNS; i++)
			if (jsonspan_is(key, column_names[i]) && jsonspan_number(value, &at) && at >= 0 && at < MAX_COLUMNS)
				t->column[i] = at;
	}
	for (int i = 0; i < NR_COLUMNS; i++)
		if (t->column[i] == MAX_COLUMNS)
			return -EINVAL;
	return w.failed ? -EINVAL : 0;
}

/* Of a time of the profile. False: it is none. */
static bool read_time(const struct thread *t, struct jsonspan value, uint64_t *ret_ns)
{
	double ms;

	if (!jsonspan_number(value, &ms) || !(ms >= 0 && ms < 1e12))
		return false;
	*ret_ns = (uint64_t)t->origin_ns + llround(ms * NS_PER_MS);
	return true;
}

static int add_marker(struct thread *t, struct jsonspan row)
{
	struct jsonspan_walk w = jsonspan_walk(row, '[');
	struct jsonspan field[MAX_COLUMNS] = { { 0 } };
	struct reported_event e = { .pid = t->pid, .tid = t->tid };
	double name, phase;
	uint64_t end_ns = 0;

	for (size_t i = 0; i < MAX_COLUMNS && jsonspan_next(&w, NULL, &field[i]); i++)
		/* most are of no interest: the rest of those isn't looked at */
		if (i == t->column[COLUMN_NAME] && (!jsonspan_number(field[i], &name) || !(name >= 0 && name < t->nr_names) ||
						    t->names[(size_t)name] == UINT32_MAX))
			return 0;
	if (w.failed || !jsonspan_number(field[t->column[COLUMN_NAME]], &name) ||
	    !jsonspan_number(field[t->column[COLUMN_PHASE]], &phase))
		return w.failed ? -EINVAL : 0;
	e.name = t->names[(size_t)name];
	if (phase != PHASE_END && !read_time(t, field[t->column[COLUMN_START]], &e.begin_ns))
		return 0;
	if (phase != PHASE_INSTANT && phase != PHASE_BEGIN && !read_time(t, field[t->column[COLUMN_END]], &end_ns))
		return 0;
	if (phase == PHASE_BEGIN)
		return report_begin(t->report, &e);
	if (phase == PHASE_END)
		return report_end(t->report, &e, end_ns);
	e.end_ns = phase == PHASE_INSTANT ? e.begin_ns : end_ns;
	return e.end_ns < e.begin_ns ? 0 : report_add(t->report, &e);
}

static int add_markers(struct thread *t, struct jsonspan markers)
{
	struct jsonspan schema = { 0 }, rows = { 0 }, row;
	struct jsonspan_walk w;
	int rc;

	if (!jsonspan_member(markers, "schema", &schema) || !jsonspan_member(markers, "data", &rows))
		return -EINVAL;
	rc = read_schema(t, schema);
	w = jsonspan_walk(rows, '[');
	while (!rc && jsonspan_next(&w, NULL, &row))
		rc = add_marker(t, row);
	return rc ?: w.failed ? -EINVAL : 0;
}

static int add_thread(struct report *r, double origin_ns, struct jsonspan thread)
{
	struct thread t = { .report = r, .origin_ns = origin_ns };
	struct jsonspan pid, tid, markers;
	double number;
	int rc;

	if (!jsonspan_member(thread, "pid", &pid) || !jsonspan_member(thread, "tid", &tid) ||
	    !jsonspan_member(thread, "markers", &markers) || !jsonspan_member(thread, "stringTable", &t.strings))
		return -EINVAL;
	/* neither is ever 0 */
	t.pid = jsonspan_number(pid, &number) && number > 0 && number <= UINT32_MAX ? number : 0;
	t.tid = jsonspan_number(tid, &number) && number > 0 && number <= UINT32_MAX ? number : 0;
	rc = read_names(&t);
	if (!rc)
		rc = add_markers(&t, markers);
	free(t.names);
	return rc;
}

static int add_process(struct report *r, struct jsonspan profile, int depth)
{
	struct jsonspan meta, origin, threads, processes, one;
	struct jsonspan_walk w;
	double origin_ns;
	int rc = 0;

	if (depth > MAX_DEPTH || !jsonspan_member(profile, "meta", &meta) || !jsonspan_member(profile, "threads", &threads) ||
	    !jsonspan_member(meta, "startTimeAsClockMonotonicNanosecondsSinceBoot", &origin) ||
	    !jsonspan_number(origin, &origin_ns) || !(origin_ns >= 0 && origin_ns < 1e18))
		return -EINVAL;
	w = jsonspan_walk(threads, '[');
	while (!rc && jsonspan_next(&w, NULL, &one))
		rc = add_thread(r, origin_ns, one);
	if (rc || w.failed)
		return rc ?: -EINVAL;
	if (!jsonspan_member(profile, "processes", &processes))
		return 0;
	w = jsonspan_walk(processes, '[');
	while (!rc && jsonspan_next(&w, NULL, &one))
		rc = add_process(r, one, depth + 1);
	return rc ?: w.failed ? -EINVAL : 0;
}

static int read_all(int fd, char **ret, size_t *ret_nr)
{
	size_t cap = 1 << 20, nr = 0;
	char *text = NULL;
	ssize_t n;

	do {
		char *more = cap <= PROFILE_MAX ? realloc(text, cap) : NULL;

		if (!more) {
			free(text);
			return cap <= PROFILE_MAX ? -ENOMEM : -EFBIG;
		}
		text = more;
		n = read(fd, text + nr, cap - nr);
		if (n > 0)
			nr += n;
		if (nr == cap)
			cap *= 2;
	} while (n > 0 || (n < 0 && errno == EINTR));
	*ret = text;
	*ret_nr = nr;
	if (n < 0)
		free(text);
	return n < 0 ? -errno : 0;
}

static int read_profile(int fd, struct report *r)
{
	struct jsonspan whole;
	size_t nr;
	char *text;
	int rc = read_all(fd, &text, &nr);

	if (rc)
		return rc;
	rc = jsonspan_whole(text, nr, &whole) ? add_process(r, whole, 0) : -EINVAL;
	free(text);
	return rc;
}

const struct reporter reporter_gecko = {
	.what = "profile", .grain_ns = 2000, .args = no_args, .env = env, .name_of = name_of, .read = read_profile,
};
