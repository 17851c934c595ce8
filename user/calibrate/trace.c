// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Chromium's own tracing from its start to its end, as a Chrome trace. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/trace_events.h"
#include "calibrate/choose.h"
#include "calibrate/report.h"
#include "calibrate/wants.h"
#include "target/anchors.h"

/* Those that the functions of blink.engine report in, and no others: writing a trace takes long. */
static const char *const args[] = {
	"--trace-startup=blink,cc,devtools.timeline,v8,disabled-by-default-v8.compile,navigation",
	"--trace-startup-format=json", "--trace-startup-duration=0", "--trace-startup-record-mode=record-as-much-as-possible",
	"--trace-startup-file=", NULL,
};

static const char *const no_env[] = { NULL };

/* The first anchor is the name of what the function reports: blink.engine says so. */
static bool name_of(const struct engine_probe *p, char *ret, size_t size, enum compare_how *ret_how)
{
	struct anchor a;
	struct error err;

	if (!p->nr_anchors || anchor_parse(p->anchors[0], &a, &err) || a.terms[0].negated)
		return false;
	/* those that are off stand for parts of what others report */
	*ret_how = p->off ? COMPARE_SOME : COMPARE_INSIDE;
	return (size_t)snprintf(ret, size, "%s", a.terms[0].text) < size;
}

static const char *told_by(const struct engine_probe *p)
{
	/* all is painted when the area is told, and its events are over */
	if (p->role == ROLE_PAINT_AREA)
		return NULL;
	return wants_area(p) ? "Paint" : wants_name(p) ? "EventDispatch" : NULL;
}

/* The type of an event that is dispatched; the corners of what is painted, from the upper left one clockwise. */
static uint64_t told(const json_t *o)
{
	const json_t *data = json_object_get(json_object_get(o, "args"), "data"), *clip = json_object_get(data, "clip");
	const char *type = json_string_value(json_object_get(data, "type"));
	int32_t v[8];

	if (json_array_size(clip) != 8)
		return type ? report_told_name(type) : 0;
	for (size_t i = 0; i < 8; i++) {
		const json_t *corner = json_array_get(clip, i);
		double d = json_number_value(corner);

		if (!json_is_number(corner) || !(d >= INT32_MIN / 2 && d <= INT32_MAX / 2) || d != (int32_t)d)
			return 0;
		v[i] = d;
	}
	return report_told_area(v[0], v[1], v[2] - v[0], v[5] - v[1]);
}

static int add_event(struct report *r, const json_t *o)
{
	const char *name = json_string_value(json_object_get(o, "name")), *ph = json_string_value(json_object_get(o, "ph"));
	struct reported_event e = { .pid = json_integer_value(json_object_get(o, "pid")),
				    .tid = json_integer_value(json_object_get(o, "tid")),
				    .name = name ? report_name(r, name) : UINT32_MAX };
	uint64_t dur = 0;

	if (e.name == UINT32_MAX || !ph || !trace_event_time(o, "ts", &e.begin_ns))
		return 0;
	e.end_ns = e.begin_ns;
	e.told = told(o);
	if (*ph == 'E')
		return report_end(r, &e, e.begin_ns);
	if (*ph == 'B')
		return report_begin(r, &e);
	if (*ph != 'X')
		return 0;
	trace_event_time(o, "dur", &dur);
	e.end_ns += dur;
	return report_add(r, &e);
}

static ssize_t read_fd(void *arg, char *dst, size_t n)
{
	ssize_t got = read(*(int *)arg, dst, n);

	return got < 0 ? -errno : got;
}

static int read_trace(int fd, struct report *r)
{
	struct trace_events t;
	json_t *o;
	int rc, got;

	trace_events_of_stream(&t, read_fd, &fd);
	for (rc = 0; !rc && (got = trace_events_next(&t, &o)) != 0;) {
		rc = got < 0 ? got : o ? add_event(r, o) : 0;
		json_decref(o);
	}
	/* one that was cut off lacks events: calls would seem to be too many */
	if (!rc && t.truncated)
		rc = -EINVAL;
	trace_events_free(&t);
	return rc;
}

const struct reporter reporter_chrome = {
	.what = "trace", .grain_ns = 2000, .args = args, .env = no_env, .name_of = name_of, .told_by = told_by, .read = read_trace,
};
