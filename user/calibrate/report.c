// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Collects what a browser reports, and knows which kind reports in which way. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/vec.h"
#include "calibrate/report.h"

uint32_t report_name(const struct report *r, const char *name)
{
	for (size_t i = 0; i < r->nr_names; i++)
		if (!strcmp(r->names[i], name))
			return i;
	return UINT32_MAX;
}

uint32_t report_want(struct report *r, const char *name)
{
	uint32_t known = report_name(r, name);

	if (known != UINT32_MAX || strlen(name) > REPORT_NAME_MAX)
		return known;
	if (vec_grow(&r->names, r->nr_names, &r->cap_names, sizeof(*r->names)))
		return UINT32_MAX;
	strcpy(r->names[r->nr_names], name);
	return r->nr_names++;
}

int report_add(struct report *r, const struct reported_event *e)
{
	if (r->nr == REPORT_MAX_EVENTS)
		return -E2BIG;
	if (vec_grow(&r->v, r->nr, &r->cap, sizeof(*r->v)))
		return -ENOMEM;
	r->v[r->nr++] = *e;
	return 0;
}

int report_begin(struct report *r, const struct reported_event *begin)
{
	if (r->nr_open == REPORT_MAX_OPEN)
		return 0;
	if (vec_grow(&r->open, r->nr_open, &r->cap_open, sizeof(*r->open)))
		return -ENOMEM;
	r->open[r->nr_open++] = *begin;
	return 0;
}

int report_end(struct report *r, const struct reported_event *end, uint64_t end_ns)
{
	for (size_t i = r->nr_open; i--;) {
		struct reported_event e = r->open[i];

		if (e.pid != end->pid || e.tid != end->tid || e.name != end->name)
			continue;
		memmove(&r->open[i], &r->open[i + 1], (--r->nr_open - i) * sizeof(e));
		e.end_ns = end_ns;
		return e.end_ns < e.begin_ns ? 0 : report_add(r, &e);
	}
	return 0;
}

void report_free(struct report *r)
{
	free(r->names);
	free(r->v);
	free(r->open);
	memset(r, 0, sizeof(*r));
}

static uint64_t told(const void *bytes, size_t n)
{
	uint64_t h = 0xcbf29ce484222325ull;

	for (size_t i = 0; i < n; i++)
		h = (h ^ ((const uint8_t *)bytes)[i]) * 0x100000001b3ull;
	return h | 1;
}

uint64_t report_told_name(const char *name)
{
	return told(name, strlen(name));
}

uint64_t report_told_area(int32_t x, int32_t y, int32_t w, int32_t h)
{
	const int32_t v[] = { x, y, w, h };

	return told(v, sizeof(v));
}

const struct reporter *reporter_of(const struct engine *e)
{
	static const struct { const char *engine; const struct reporter *reporter; } all[] = {
		{ "blink", &reporter_chrome }, { "gecko", &reporter_gecko }, { "webkit", &reporter_webkit },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (!strcmp(e->name, all[i].engine))
			return all[i].reporter;
	return NULL;
}
