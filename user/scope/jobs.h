/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Inside scope/: answers that take long, made on another thread, one at a time, while the event loop serves the others.
 * A client has at most one; its next commands wait for it, so that answers keep their order and its share is bounded.
 */
#ifndef FRAMESCOPE_SCOPE_JOBS_H
#define FRAMESCOPE_SCOPE_JOBS_H

#include "scope/client.h"

struct jobs;

int jobs_new(struct scope_host *h, struct jobs **ret);	/* -errno */
void jobs_free(struct jobs *jobs);	/* waits for the one that is being made; no client may be left. NULL is fine */

/* Answers GetEvents later. `s` is the client's session `id` and stays valid until then (jobs_reads()). q is copied. */
int jobs_add(struct client *c, const struct request *r, uint32_t id, const struct session *s, const struct query *q);
/* Is this session of the client being read? Then it is discarded by the job when that is done, not before. */
bool jobs_reads(struct client *c, uint32_t id);
/* The client goes: nobody waits for the answer any more. */
void jobs_leave(struct client *c);

#endif
