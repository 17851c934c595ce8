/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The Scope host: what it needs from the program around it. No capture, no model building in scope/. */
#ifndef FRAMESCOPE_SCOPE_HOST_H
#define FRAMESCOPE_SCOPE_HOST_H

#include "query/events.h"

struct scope_window {
	uint32_t id;		/* never 0 */
	const char *title;	/* never NULL */
	const char *type;	/* "normal" */
	uint32_t opener;	/* 0: none */
};

/*
 * All functions are called on the host's event-loop thread. Errors: ERR_USAGE becomes BAD_REQUEST, -ENOMEM
 * OUT_OF_MEMORY, anything else INTERNAL_ERROR.
 */
struct scope_backend {
	void *arg;
	/* *ret is valid until the next call; never empty while the target lives. */
	size_t (*windows)(void *arg, const struct scope_window **ret, uint32_t *ret_active);
	/* Starts recording. URL mode: waits for the navigation. *ret_id is the new session's. */
	int (*start)(void *arg, int mode, uint32_t window, uint32_t *ret_id, struct error *err);
	/* Ends recording at once; `done` is called later, once, on the event-loop thread, when the timelines are ready.
	 * The session belongs to the backend until release(). */
	int (*stop)(void *arg, uint32_t id, void (*done)(void *ctx, int rc, const struct session *s, uint32_t window),
		    void *ctx, struct error *err);
	/* A stopped session, or NULL. */
	const struct session *(*session)(void *arg, uint32_t id);
	/* id 0: all stopped ones. ERR_USAGE for a running or unknown one. */
	int (*release)(void *arg, uint32_t id, struct error *err);
	/* The profiler service was disabled or the client has gone: end what runs, drop everything. */
	void (*reset)(void *arg);
};

struct event_base;

struct scope_host_options {
	const char *unix_path;	/* NULL: none */
	const char *listen;	/* "127.0.0.1:PORT"; NULL: none */
	const char *dial;	/* "HOST:PORT"; NULL: none */
	bool insecure_bind;	/* lets `listen` be other than loopback */
	bool no_stubs;		/* without the services that Dragonfly insists on */
	uint32_t max_clients;	/* 0: 16 */
	uint32_t idle_seconds;	/* 0: 600 for clients that have not finished the handshake: 10 */
};

struct scope_host;

int scope_host_new(struct event_base *base, const struct scope_host_options *opt, const struct scope_backend *backend,
		   struct scope_host **ret, struct error *err);
void scope_host_windows_changed(struct scope_host *h);	/* sends OnWindowUpdated and the like */
void scope_host_free(struct scope_host *h);	/* sends OnQuit to connected clients */

#endif
