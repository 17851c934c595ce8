// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * framescope serve --replay: a recording served as if it had just been made. Its windows are the processes that have
 * timelines in it.
 */
#include <errno.h>
#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cli/command.h"
#include "cli/serve.h"

#define MAX_SESSIONS 65536	/* they cost next to nothing */

enum replay_state { REPLAY_NONE = 0, REPLAY_RUNNING, REPLAY_STOPPING, REPLAY_STOPPED };

struct replay {
	struct serve_backend base;
	struct session *session;
	struct scope_window *windows;
	size_t nr_windows;
	uint32_t active;
	uint8_t *states;	/* by id */
	uint32_t last_id, running;
	/* the one that is stopping */
	struct event *soon;
	uint32_t stopping;
	void (*done)(void *ctx, const struct session *s, const struct error *err);
	void *ctx;
};

static size_t replay_windows(void *arg, const struct scope_window **ret, uint32_t *ret_active)
{
	struct replay *r = arg;

	*ret = r->windows;
	*ret_active = r->active;
	return r->nr_windows;
}

static int replay_start(void *arg, int mode, uint32_t window, uint32_t *ret_id, struct error *err)
{
	struct replay *r = arg;

	(void)mode;
	(void)window;
	if (r->running)
		return error_set(err, ERR_USAGE, -EBUSY, "The profiler is running already");
	if (r->last_id + 1 >= MAX_SESSIONS)
		return error_set(err, ERR_OTHER, -ENOMEM, "Too many sessions: start framescope serve again");
	r->running = ++r->last_id;
	r->states[r->running] = REPLAY_RUNNING;
	*ret_id = r->running;
	return 0;
}

static void on_soon(evutil_socket_t fd, short what, void *arg)
{
	struct replay *r = arg;
	uint32_t id = r->stopping;

	(void)fd;
	(void)what;
	r->stopping = 0;
	r->states[id] = REPLAY_STOPPED;
	r->done(r->ctx, r->session, NULL);
}

static int replay_stop(void *arg, uint32_t id, void (*done)(void *ctx, const struct session *s, const struct error *err),
		       void *ctx, struct error *err)
{
	struct replay *r = arg;

	if (id != r->running || r->stopping)
		return error_set(err, ERR_USAGE, -EINVAL, "That session is not running");
	r->running = 0;
	r->stopping = id;
	r->states[id] = REPLAY_STOPPING;
	r->done = done;
	r->ctx = ctx;
	event_add(r->soon, &(struct timeval){ 0, 0 });
	return 0;
}

static const struct session *replay_session(void *arg, uint32_t id)
{
	struct replay *r = arg;

	return id < MAX_SESSIONS && r->states[id] == REPLAY_STOPPED ? r->session : NULL;
}

static void replay_discard(void *arg, uint32_t id)
{
	struct replay *r = arg;

	if (id >= MAX_SESSIONS)
		return;
	if (r->running == id)
		r->running = 0;
	if (r->stopping == id) {
		r->stopping = 0;
		event_del(r->soon);
	}
	r->states[id] = REPLAY_NONE;
}

static void replay_free(struct serve_backend *b)
{
	struct replay *r = (struct replay *)b;

	for (size_t i = 0; i < r->nr_windows; i++)
		free((char *)r->windows[i].title);
	if (r->soon)
		event_free(r->soon);
	session_free(r->session);
	free(r->windows);
	free(r->states);
	free(r);
}

/* The URL of the process's page, or NULL. */
static const char *find_url(const struct session *s, uint32_t process)
{
	const struct timeline *t, *best = NULL;
	size_t n;

	t = session_timelines(s, &n);
	for (size_t i = 0; i < n; i++)
		if (t[i].process == process && t[i].url && (!best || timeline_better(&t[i], best)))
			best = &t[i];
	return best ? best->url : NULL;
}

static int add_window(struct replay *r, const struct recording_process *procs, uint32_t process)
{
	struct scope_window *w = &r->windows[r->nr_windows];
	const char *url = find_url(r->session, process);
	char *title = NULL;

	/* number 0 means all processes to the host, and a process of that number is no process */
	if (asprintf(&title, url ? "%s %u: %s" : "%s %u", procs[process].name, procs[process].pid, url) < 0)
		return -ENOMEM;
	*w = (struct scope_window){ .id = ++r->nr_windows, .title = title, .type = "normal", .pid = procs[process].pid };
	return 0;
}

/* One per process that has timelines; the first timeline's is the active one. */
static int find_windows(struct replay *r)
{
	const struct recording_process *procs;
	const struct timeline *t;
	size_t n, nr_procs;
	int rc = 0;

	t = session_timelines(r->session, &n);
	procs = session_processes(r->session, &nr_procs);
	r->windows = calloc(n + 1, sizeof(*r->windows));
	if (!r->windows)
		return -ENOMEM;
	for (size_t i = 0; i < n && !rc; i++) {
		bool known = t[i].process >= nr_procs;

		for (size_t k = 0; k < r->nr_windows && !known; k++)
			known = r->windows[k].pid == procs[t[i].process].pid;
		if (!known)
			rc = add_window(r, procs, t[i].process);
	}
	r->active = 1;
	return rc;
}

int serve_replay_new(struct event_base *base, const char *path, struct serve_backend **ret, struct error *err)
{
	struct replay *r = calloc(1, sizeof(*r));
	int rc;

	if (!r)
		return error_set(err, ERR_OTHER, -ENOMEM, "out of memory");
	r->base.free = replay_free;
	r->base.scope = (struct scope_backend){ r, replay_windows, replay_start, replay_stop, replay_session, replay_discard };
	r->states = calloc(MAX_SESSIONS, 1);
	r->soon = evtimer_new(base, on_soon, r);
	rc = command_load(path, &r->session, err);
	if (!rc && (!r->states || !r->soon || find_windows(r)))
		rc = error_set(err, ERR_OTHER, -ENOMEM, "out of memory while reading %s", path);
	if (rc) {
		replay_free(&r->base);
		return rc;
	}
	*ret = &r->base;
	return 0;
}
