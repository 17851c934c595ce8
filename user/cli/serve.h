/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What framescope serve puts behind the Scope host: a live capture, or a recording. */
#ifndef FRAMESCOPE_CLI_SERVE_H
#define FRAMESCOPE_CLI_SERVE_H

#include "capture/capture.h"
#include "scope/host.h"

/* What changes by itself is told on the event-loop thread. */
struct serve_events {
	void (*windows_changed)(void *arg);
	void (*target_ended)(void *arg);
	void (*note)(void *arg, const char *text);	/* for a person */
	void *arg;
};

struct serve_backend {
	struct scope_backend scope;
	void (*free)(struct serve_backend *b);	/* after the host: no `done` is called any more */
};

/* serve_replay.c: every session shows this recording. */
int serve_replay_new(struct event_base *base, const char *path, struct serve_backend **ret, struct error *err);

/* serve_live.c: attaches. `max_bytes` bounds the memory of all sessions together. */
int serve_live_new(struct event_base *base, const struct capture_options *opt, size_t max_bytes,
		   const struct serve_events *events, struct serve_backend **ret, struct error *err);

#endif
