// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* WebKit's timeline, as its remote inspector tells it: records with children, in seconds since some moment. */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "calibrate/report.h"

#define MAX_DEPTH 64	/* of records in records */
#define MAX_SECONDS 1e6

static const char *const none[] = { NULL };

/*
 * Which type its records of a function have. Those of modules and of callbacks that are no listeners have the same type as what we
 * have probes for; JavaScriptCore's functions, which aren't looked into, stand for them.
 */
static const struct {
	const char *probe, *type;
} types[] = {
	{ "ScriptElement::executeClassicScript", "EvaluateScript" }, { "JSC::evaluate", "EvaluateScript" },
	{ "JSEventListener::handleEvent", "FunctionCall" }, { "JSC::profiledCall", "FunctionCall" },
	{ "Document::resolveStyle", "RecalculateStyles" }, { "LocalFrameViewLayoutContext::performLayout", "Layout" },
	{ "RenderLayerBacking::paintContents", "Paint" },
};

static bool name_of(const struct engine_probe *p, char *ret, size_t size, enum compare_how *ret_how)
{
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (!strcmp(types[i].probe, p->name)) {
			*ret_how = COMPARE_INSIDE;
			return (size_t)snprintf(ret, size, "%s", types[i].type) < size;
		}
	return false;
}

static bool time_ns(const json_t *record, const char *key, uint64_t *ret)
{
	double s = json_number_value(json_object_get(record, key));

	if (!json_is_number(json_object_get(record, key)) || !(s >= 0 && s < MAX_SECONDS))
		return false;
	*ret = llround(s * 1e9);
	return true;
}

static int add_record(struct report *r, const json_t *record, int depth)
{
	const char *type = json_string_value(json_object_get(record, "type"));
	struct reported_event e = { .name = type ? report_name(r, type) : UINT32_MAX };
	bool timed = time_ns(record, "startTime", &e.begin_ns) && time_ns(record, "endTime", &e.end_ns) && e.begin_ns <= e.end_ns;
	int rc = e.name != UINT32_MAX && timed ? report_add(r, &e) : 0;
	const json_t *child;
	size_t i;

	if (depth == MAX_DEPTH)
		return -EINVAL;
	json_array_foreach(json_object_get(record, "children"), i, child) {
		rc = rc ?: add_record(r, child, depth + 1);
	}
	return rc;
}

static int add_line(struct report *r, const json_t *line, bool *ret_whole)
{
	json_t *record = json_object_get(line, "record");
	int64_t received = json_integer_value(json_object_get(line, "received"));
	uint64_t end = 0;

	*ret_whole |= json_is_true(json_object_get(line, "whole"));
	/* it came later than it ended */
	if (record && time_ns(record, "endTime", &end) && (!r->latest_ns || received - (int64_t)end < r->latest_ns))
		r->latest_ns = received - (int64_t)end;
	return record ? add_record(r, record, 0) : 0;
}

static int read_timeline(int fd, struct report *r)
{
	int copy = dup(fd), rc = copy < 0 ? -errno : 0;
	FILE *f = copy < 0 ? NULL : fdopen(copy, "re");
	bool whole = false;

	if (!f) {
		if (copy >= 0)
			close(copy);
		return rc ?: -ENOMEM;
	}
	while (!rc) {
		json_error_t why;
		json_t *line = json_loadf(f, JSON_DISABLE_EOF_CHECK, &why);

		if (!line)
			break;
		rc = add_line(r, line, &whole);
		json_decref(line);
	}
	fclose(f);
	return rc ?: whole ? 0 : -EINVAL;
}

const struct reporter reporter_webkit = {
	.what = "timeline", .grain_ns = 2000, .args = none, .env = none, .inspector = "WEBKIT_INSPECTOR_SERVER", .own_clock = true,
	.name_of = name_of, .read = read_timeline,
};
