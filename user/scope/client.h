/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Inside scope/: one connection, and what the services keep for it. */
#ifndef FRAMESCOPE_SCOPE_CLIENT_H
#define FRAMESCOPE_SCOPE_CLIENT_H

#include <event2/bufferevent.h>
#include <event2/event.h>
#include <sys/queue.h>
#include "scope/codec.h"
#include "scope/host.h"
#include "scope/service.h"

struct client;
struct endpoints;
struct job;
struct jobs;

struct scope_host {
	struct event_base *base;
	struct scope_backend backend;
	struct scope_limits limits;
	uint32_t offered;		/* bit per SERVICE_* */
	uint32_t max_clients;
	char *agent;
	char *greeting;			/* the *services message's text */
	void (*log)(void *arg, const char *text);
	void *log_arg;
	struct endpoints *endpoints;
	struct jobs *jobs;
	TAILQ_HEAD(, client) clients;
	size_t nr_clients;
};

/* A profiling session of this client. */
struct owned_session {
	uint32_t id, window;
	uint32_t pid;			/* scope_window.pid when it began */
	enum { SESSION_RUNNING, SESSION_STOPPING, SESSION_STOPPED } state;
	struct pending_stop *pending;	/* while stopping */
	uint32_t *timelines;		/* ids of its window's timelines, once stopped; at least one */
	size_t nr_timelines;
	bool empty;			/* the one timeline is a stand-in without events: nothing of the window was seen */
};

/* What a client was told of a window. */
struct known_window {
	uint32_t id;
	uint64_t hash;
};

/* What the deadline is for. */
enum client_wait { WAIT_NOTHING, WAIT_HANDSHAKE, WAIT_FRAME, WAIT_CONNECT, WAIT_FLUSH };

struct client {
	TAILQ_ENTRY(client) entry;
	struct scope_host *host;
	struct bufferevent *bev;
	struct event *deadline, *again;
	enum { CLIENT_HANDSHAKE, CLIENT_FRAMES } state;
	enum client_wait waiting;
	bool closing;			/* freed as soon as nobody holds it any more */
	struct job *job;		/* an answer is being made on another thread: the next command waits (jobs.c) */
	bool paused;			/* not read from until it has taken what it was sent */
	bool dialled;			/* by the host: dialled again when it ends */
	uint64_t last_used_ms;

	bool connected;
	enum stp_format event_format;
	uint32_t enabled;		/* bit per SERVICE_* */

	struct owned_session *sessions;	/* service_profiler.c */
	size_t nr_sessions;

	struct known_window *windows;	/* service_windows.c: sorted as the backend lists them */
	size_t nr_windows;
	uint32_t active_window;
	uint32_t hidden_types;		/* bit per window type */
	bool windows_stale;		/* changed while paused */
};

/* client.c: takes fd over. */
int client_new(struct scope_host *h, int fd, bool dialled, struct client **ret);
void client_run(struct client *c);	/* reads commands; may free c */
void client_continue(struct client *c);	/* the same, at the next turn of the loop */
void client_kill(struct client *c);	/* closes it, but not before the next turn of the loop */
void client_kill_flushed(struct client *c);	/* the same, after what it is to be sent */
void client_free(struct client *c);
/* What Connect, Disconnect and the end of the connection have in common: nothing is enabled any more. */
void client_reset(struct client *c);
size_t client_unsent(const struct client *c);
uint64_t client_now_ms(void);

/* dispatch.c */
void client_dispatch(struct client *c, uint64_t type, const Transport__TransportMessage *m);
void client_enable(struct client *c, int service);
void client_disable(struct client *c, int service);	/* nothing if it isn't enabled */

/* reply.c. An answer that is too large becomes an error by itself. */
void client_reply(struct client *c, const struct request *r, const ProtobufCMessage *m);
void client_send(struct client *c, const struct request *r, struct bytes *payload);	/* takes what is in payload */
void client_reply_default(struct client *c, const struct request *r);	/* a message without fields */
void client_fail(struct client *c, const struct request *r, enum stp_status status, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
void client_fail_error(struct client *c, const struct request *r, const struct error *err);
/* For commands that nothing is known of. `text` in valid UTF-8. */
void client_fail_raw(struct client *c, const Transport__TransportMessage *command, enum stp_status status,
		     const char *text);
void client_event(struct client *c, const struct service *s, uint32_t id, const ProtobufCMessage *m);

/* service_windows.c */
void windows_sync(struct client *c);	/* tells of what has changed since the client was told last */
const struct scope_window *windows_find(struct scope_host *h, uint32_t id);	/* valid until the next backend call */

/* service_scope.c */
void scope_quit(struct client *c);	/* OnQuit at once, if it can be had without waiting */
void scope_error(struct client *c, const char *text);	/* OnError */

/* host.c */
void host_log(struct scope_host *h, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void host_client_gone(struct scope_host *h, bool dialled);

/* endpoints.c: sockets that clients come from, or that the host dials. */
int endpoints_new(struct scope_host *h, const struct scope_host_options *opt, struct endpoints **ret, struct error *err);
void endpoints_free(struct endpoints *e);
void endpoints_redial(struct endpoints *e);
uint16_t endpoints_port(const struct endpoints *e);
/* host.c: a new connection, or a reason why not in the log. */
void host_accept(struct scope_host *h, int fd, bool dialled);

#endif
