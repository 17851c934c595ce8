/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* All events of a session in order of time, each placed on its thread. */
#ifndef FRAMESCOPE_EXPORT_WALK_H
#define FRAMESCOPE_EXPORT_WALK_H

#include "export/export.h"

struct walk_ops {
	int (*enter)(void *arg, const struct export_event *e);
	int (*leave)(void *arg, const struct export_event *e);	/* may be NULL, which saves time */
};

struct walk_counts {
	uint64_t events;	/* shown */
	uint64_t too_deep;	/* below EXPORT_MAX_DEPTH: left out */
	uint64_t clamped;	/* reached out of the event around them */
};

/*
 * Starts ascending, then the longest first, then as in the timeline; a sum of calls comes right behind its last sibling
 * before it in the timeline. With by_thread, thread after thread. Memory: four
 * bytes per top-level event, and the open events. Returns 0, -ENOMEM or what a callback returned.
 */
int walk_session(const struct session *s, bool by_thread, const struct walk_ops *ops, void *arg,
		 struct walk_counts *ret);

#endif
