// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Service profiler 1.1: sessions. A session belongs to the client that started it and ends with it, with Disable or
 * with Connect; the backend sees to it that one runs at a time. GetEvents stands in service_events.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "scope/client.h"
#include "scope/events.h"
#include "scope/jobs.h"
#include "scope/profiler.pb-c.h"

#define MAX_SESSIONS 1024	/* of one client; the memory of stopped ones is bounded by the backend */

/* A StopProfiler whose answer is to come. Owned by its session until then. */
struct pending_stop {
	struct client *client;
	uint32_t session;
	struct request request;
};

static struct owned_session *find_session(struct client *c, uint32_t id)
{
	for (size_t i = 0; i < c->nr_sessions; i++)
		if (c->sessions[i].id == id)
			return &c->sessions[i];
	return NULL;
}

static void drop_session(struct client *c, struct owned_session *s)
{
	const struct scope_backend *b = &c->host->backend;

	if (!jobs_reads(c, s->id))
		b->discard(b->arg, s->id);
	free(s->pending);
	free(s->timelines);
	*s = c->sessions[--c->nr_sessions];
}

/* Who waits for a session that goes is told so. Not where a client begins anew with Connect: it is connected no more. */
static void disabled(struct client *c)
{
	while (c->nr_sessions) {
		struct owned_session *s = &c->sessions[c->nr_sessions - 1];

		if (s->pending && c->connected)
			client_fail(c, &s->pending->request, STATUS_SERVICE_NOT_ENABLED,
				    "The service was disabled before the session was ready");
		drop_session(c, s);
	}
	free(c->sessions);
	c->sessions = NULL;
}

static struct owned_session *reserve_session(struct client *c)
{
	struct owned_session *s;

	if (c->nr_sessions >= MAX_SESSIONS)
		return NULL;
	s = realloc(c->sessions, (c->nr_sessions + 1) * sizeof(*s));
	if (!s)
		return NULL;
	c->sessions = s;
	memset(&s[c->nr_sessions], 0, sizeof(*s));
	return &s[c->nr_sessions];
}

static void run_start(struct client *c, const struct request *r, const ProtobufCMessage *arg)
{
	const Profiler__StartProfilerArg *a = (const Profiler__StartProfilerArg *)arg;
	const struct scope_backend *b = &c->host->backend;
	Profiler__SessionID reply = PROFILER__SESSION_ID__INIT;
	const struct scope_window *w;
	struct error err = { 0 };
	struct owned_session *s;

	if ((int)a->startmode != START_IMMEDIATE && (int)a->startmode != START_URL) {
		client_fail(c, r, STATUS_BAD_REQUEST, "The start mode can be IMMEDIATE (1) or URL (2)");
		return;
	}
	w = windows_find(c->host, a->windowid);
	if (!w) {
		client_fail(c, r, STATUS_BAD_REQUEST, "There is no window %u; window-manager.ListWindows lists them", a->windowid);
		return;
	}
	s = reserve_session(c);
	if (!s) {
		client_fail(c, r, STATUS_OUT_OF_MEMORY, "Too many sessions: release some with ReleaseSession");
		return;
	}
	s->window = w->id;
	s->pid = w->pid;
	if (b->start(b->arg, a->startmode, a->windowid, &s->id, &err)) {
		client_fail_error(c, r, &err);
		return;
	}
	s->state = SESSION_RUNNING;
	c->nr_sessions++;
	reply.sessionid = s->id;
	client_reply(c, r, &reply.base);
}

/* Which of the session's timelines the client may ask for. -ENOMEM. */
static int take_timelines(struct owned_session *owned, const struct session *s)
{
	const struct timeline *t;
	size_t n;
	int rc = window_timelines(s, owned->pid, &owned->timelines, &owned->nr_timelines);

	if (rc)
		return rc;
	t = session_timelines(s, &n);
	for (size_t i = 0; i < owned->nr_timelines; i++)
		owned->timelines[i] = t[owned->timelines[i]].id;
	if (owned->nr_timelines)
		return 0;
	/* never empty: clients take the first one for the main frame's without looking */
	owned->empty = true;
	owned->nr_timelines = 1;
	for (size_t i = 0; i < n; i++)
		if (t[i].id > owned->timelines[0])
			owned->timelines[0] = t[i].id;
	owned->timelines[0]++;
	return 0;
}

/* The answer to StopProfiler. */
static void reply_session(struct client *c, const struct request *r, const struct owned_session *owned,
			  const struct session *s)
{
	Profiler__Session reply = PROFILER__SESSION__INIT;
	Profiler__Timeline *timelines = calloc(owned->nr_timelines, sizeof(*timelines));

	reply.timelinelist = calloc(owned->nr_timelines, sizeof(*reply.timelinelist));
	if (!timelines || !reply.timelinelist) {
		client_fail(c, r, STATUS_OUT_OF_MEMORY, "No memory for the answer");
		goto out;
	}
	reply.sessionid = owned->id;
	reply.has_windowid = 1;
	reply.windowid = owned->window;
	for (; reply.n_timelinelist < owned->nr_timelines; reply.n_timelinelist++) {
		Profiler__Timeline *out = &timelines[reply.n_timelinelist];
		const struct timeline *t = session_timeline_by_id(s, owned->timelines[reply.n_timelinelist]);

		profiler__timeline__init(out);
		out->timelineid = owned->timelines[reply.n_timelinelist];
		out->has_frameid = t && t->frame_id;
		out->frameid = out->has_frameid ? t->frame_id : 0;
		reply.timelinelist[reply.n_timelinelist] = out;
	}
	client_reply(c, r, &reply.base);
out:
	free(reply.timelinelist);
	free(timelines);
}

static void stop_done(void *ctx, const struct session *s, const struct error *err)
{
	struct pending_stop *pending = ctx;
	struct client *c = pending->client;
	struct owned_session *owned = find_session(c, pending->session);
	struct error no_memory = { ERR_OTHER, -ENOMEM, "No memory for the session" };

	owned->pending = NULL;
	owned->state = SESSION_STOPPED;
	if (s && !take_timelines(owned, s)) {
		reply_session(c, &pending->request, owned, s);
	} else {
		client_fail_error(c, &pending->request, s ? &no_memory : err);
		drop_session(c, owned);
	}
	free(pending);
}

static void run_stop(struct client *c, const struct request *r, const ProtobufCMessage *arg)
{
	struct owned_session *s = find_session(c, ((const Profiler__StopProfilerArg *)arg)->sessionid);
	const struct scope_backend *b = &c->host->backend;
	struct error err = { 0 };

	if (!s || s->state != SESSION_RUNNING) {
		client_fail(c, r, STATUS_BAD_REQUEST, "That session is not running");
		return;
	}
	s->pending = malloc(sizeof(*s->pending));
	if (!s->pending) {
		client_fail(c, r, STATUS_OUT_OF_MEMORY, "No memory for the answer");
		return;
	}
	*s->pending = (struct pending_stop){ .client = c, .session = s->id, .request = *r };
	s->state = SESSION_STOPPING;
	if (b->stop(b->arg, s->id, stop_done, s->pending, &err)) {
		client_fail_error(c, r, &err);
		drop_session(c, s);
	}
}

static void run_get_events(struct client *c, const struct request *r, const ProtobufCMessage *arg)
{
	const Profiler__GetEventsArg *a = (const Profiler__GetEventsArg *)arg;
	const struct scope_backend *b = &c->host->backend;
	struct owned_session *owned = find_session(c, a->sessionid);
	const struct session *s;

	if (!owned) {
		client_fail(c, r, STATUS_BAD_REQUEST, "There is no session %u of this client", a->sessionid);
		return;
	}
	s = owned->state == SESSION_STOPPED ? b->session(b->arg, owned->id) : NULL;
	if (!s) {
		client_fail(c, r, STATUS_BAD_REQUEST, "The session is not stopped yet");
		return;
	}
	events_reply(c, r, s, owned, a);
}

static void run_release(struct client *c, const struct request *r, const ProtobufCMessage *arg)
{
	const Profiler__ReleaseSessionArg *a = (const Profiler__ReleaseSessionArg *)arg;
	struct owned_session *s = a->has_sessionid ? find_session(c, a->sessionid) : NULL;

	if (a->has_sessionid && !s) {
		client_fail(c, r, STATUS_BAD_REQUEST, "There is no session %u of this client", a->sessionid);
		return;
	}
	if (s && s->state != SESSION_STOPPED) {
		client_fail(c, r, STATUS_BAD_REQUEST, "Only stopped sessions can be released");
		return;
	}
	if (s)
		drop_session(c, s);
	for (size_t i = c->nr_sessions; !a->has_sessionid && i-- > 0; )
		if (c->sessions[i].state == SESSION_STOPPED)
			drop_session(c, &c->sessions[i]);
	client_reply_default(c, r);
}

static const struct command commands[] = {
	{ "StartProfiler", 1, &profiler__start_profiler_arg__descriptor, &profiler__session_id__descriptor, run_start },
	{ "StopProfiler", 2, &profiler__stop_profiler_arg__descriptor, &profiler__session__descriptor, run_stop },
	{ "GetEvents", 3, &profiler__get_events_arg__descriptor, &profiler__events__descriptor, run_get_events },
	{ "ReleaseSession", 4, &profiler__release_session_arg__descriptor, &profiler__default__descriptor, run_release },
};

const struct service service_profiler = {
	.name = "profiler", .version = "1.1",
	.commands = commands, .nr_commands = sizeof(commands) / sizeof(commands[0]),
	.disabled = disabled,
};
