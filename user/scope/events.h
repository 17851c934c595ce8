/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Inside scope/: which timelines are a window's, and GetEvents from its argument to its answer. */
#ifndef FRAMESCOPE_SCOPE_EVENTS_H
#define FRAMESCOPE_SCOPE_EVENTS_H

#include <stdatomic.h>
#include "scope/client.h"
#include "scope/profiler.pb-c.h"

/* The window's timelines as indices into session_timelines(), the main frame's first; *ret is to be freed. *ret_nr can
 * be 0: nothing of the window was seen. -ENOMEM. */
int window_timelines(const struct session *s, uint32_t pid, uint32_t **ret, size_t *ret_nr);

/* The query and its answer's payload, with nothing that is the event loop's: runs on any thread. Ends early when
 * *cancelled becomes true. Sets err->kind on failure. */
void events_encode(const struct session *s, const struct query *q, enum stp_format format, const atomic_bool *cancelled,
		   struct bytes *payload, struct error *err);

/* Answers GetEvents, now or later. */
void events_reply(struct client *c, const struct request *r, const struct session *s, const struct owned_session *owned,
		  const Profiler__GetEventsArg *arg);

#endif
