/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Totals per event type as `report` has them, gathered while a session is walked. */
#ifndef FRAMESCOPE_EXPORT_HTML_TOTALS_H
#define FRAMESCOPE_EXPORT_HTML_TOTALS_H

#include "export/emit.h"
#include "export/export.h"

struct html_total {
	uint64_t events, hits, total_ns, self_ns, overhead_ns, blocked_ns, longest_ns;
};

struct html_totals {
	struct html_total types[EVENT_TYPE_END];
	/* per thread and depth: the open event, and a bit for its type and those of its timeline's events around it */
	struct html_open { struct html_around { uint32_t id, types; } *around; uint32_t cap; } *open;
	size_t nr_threads;
};

int html_totals_init(struct html_totals *t, const struct session *s);	/* -ENOMEM */
void html_totals_free(struct html_totals *t);
int html_totals_add(struct html_totals *t, const struct export_event *e);	/* -ENOMEM */
/* A JSON array: [type, events, hits, total_ns, self_ns, overhead_ns, blocked_ns, longest_ns] for each type that occurs. */
void html_totals_write(const struct html_totals *t, struct emit *out);

#endif
