/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The Scope host: what it needs from the program around it. No capture, no model building in scope/. */
#ifndef FRAMESCOPE_SCOPE_HOST_H
#define FRAMESCOPE_SCOPE_HOST_H

#include "query/events.h"

struct scope_window {
	uint32_t id;		/* never 0, never reused */
	const char *title;	/* never NULL */
	const char *type;	/* "normal" */
	uint32_t opener;	/* 0: none */
	uint32_t pid;		/* its timelines are those of this process; 0: of all processes */
};

/*
 * All functions are called on the host's event-loop thread. Errors: ERR_USAGE becomes BAD_REQUEST, -ENOMEM
 * OUT_OF_MEMORY, anything else INTERNAL_ERROR. Which client may use a session is the host's business: one that it
 * started itself, until it releases it, disables the service, connects anew or goes.
 */
struct scope_backend {
	void *arg;
	/* *ret is valid until the next call; never empty while the target lives. */
	size_t (*windows)(void *arg, const struct scope_window **ret, uint32_t *ret_active);
	/* Starts recording. URL mode: waits for the navigation. *ret_id is the new session's, never 0, never reused.
	 * ERR_USAGE if one runs already. */
	int (*start)(void *arg, int mode, uint32_t window, uint32_t *ret_id, struct error *err);
	/* Ends recording at once; `done` is called later, once, on the event-loop thread, when the timelines are ready
	 * (s) or can't be had (NULL and *err). The session belongs to the backend until discard(). */
	int (*stop)(void *arg, uint32_t id, void (*done)(void *ctx, const struct session *s, const struct error *err),
		    void *ctx, struct error *err);
	/* A stopped session, or NULL. */
	const struct session *(*session)(void *arg, uint32_t id);
	/* Ends that session if it runs, and drops it; a `done` that is still to come is not called any more. */
	void (*discard)(void *arg, uint32_t id);
};

struct event_base;

/* How long and how much, per client unless said otherwise. 0: the default. */
struct scope_limits {
	uint32_t handshake_ms;	/* from connecting to "*enable stp-1": 10 s */
	uint32_t connect_ms;	/* without scope.Connect: 600 s */
	uint32_t idle_ms;	/* so long without a command, a client gives way to a new one: 600 s */
	uint32_t frame_ms;	/* from a frame's first byte to its last: 30 s */
	uint32_t write_ms;	/* without the client taking a byte: 30 s */
	size_t high_water;	/* unsent bytes at which no more commands are read: 1 MiB */
	size_t max_reply;	/* bytes of one answer: 256 MiB */
	size_t max_unsent;	/* bytes of all clients together: 512 MiB */
	uint32_t inline_events;	/* a query that looks at more is answered on another thread: 16384 */
};

struct scope_host_options {
	const char *unix_path;	/* NULL: none */
	const char *listen;	/* "127.0.0.1:PORT"; NULL: none */
	const char *dial;	/* "HOST:PORT"; NULL: none. Tried again every two seconds */
	bool insecure_bind;	/* lets `listen` and `dial` be other than loopback */
	bool no_stubs;		/* without the services that Dragonfly insists on */
	uint32_t max_clients;	/* 0: 16 */
	const char *agent;	/* HostInfo.userAgent; NULL: "framescope" */
	struct scope_limits limits;
	void (*log)(void *arg, const char *text);	/* one line for a person; NULL */
	void *log_arg;
};

struct scope_host;

/* The process must ignore SIGPIPE. Strings in `opt` are copied. */
int scope_host_new(struct event_base *base, const struct scope_host_options *opt, const struct scope_backend *backend,
		   struct scope_host **ret, struct error *err);
/* Serves a connected stream socket, which it takes over. For sockets that somebody else accepted, and for tests. */
int scope_host_add_client(struct scope_host *h, int fd, struct error *err);
size_t scope_host_clients(const struct scope_host *h);
/* Where `listen` ended up, for port 0. 0: nowhere. */
uint16_t scope_host_port(const struct scope_host *h);
void scope_host_windows_changed(struct scope_host *h);	/* sends OnWindowUpdated and the like */
void scope_host_free(struct scope_host *h);	/* sends OnQuit to connected clients; NULL is fine */

#endif
