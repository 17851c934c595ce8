/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Inside scope/: which timelines are a window's, and GetEvents from its argument to its answer. */
#ifndef FRAMESCOPE_SCOPE_EVENTS_H
#define FRAMESCOPE_SCOPE_EVENTS_H

#include "scope/client.h"
#include "scope/profiler.pb-c.h"

/*
 * The timelines of one window. A session holds those of all of the target's processes; a window's are those of its own
 * process (pid 0: of any) and of processes that began to work after a navigation was seen: browsers move a page to
 * another process when it goes to another site.
 */
struct window_timelines {
	const struct timeline **timelines;	/* the main frame's first; NULL if there are none */
	size_t nr;
	uint32_t empty_id;	/* if there are none: the id of a timeline without events that stands in for them */
};

/* -ENOMEM. */
int window_timelines_find(const struct session *s, uint32_t pid, struct window_timelines *ret);
void window_timelines_free(struct window_timelines *w);

/* Answers GetEvents. */
void events_reply(struct client *c, const struct request *r, const struct session *s, uint32_t pid,
		  const Profiler__GetEventsArg *arg);

#endif
