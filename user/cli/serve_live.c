// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * framescope serve -p PID: a live capture behind the Scope host. The recorder's thread records, a builder's thread makes
 * the timelines, and the event loop, on which all of this file runs, keeps answering.
 */
#include <errno.h>
#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include "cli/serve.h"
#include "cli/serve_build.h"
#include "cli/serve_recorder.h"
#include "cli/windows.h"

/* Of all the memory, what must be left for a new session. */
#define NEEDED_PART 8

/* A window must have worked so much more than the active one to become it. */
#define ACTIVE_NS 20000000

struct live_session {
	struct live_session *next;
	uint32_t id;
	enum { LIVE_RUNNING, LIVE_STOPPING, LIVE_BUILDING, LIVE_STOPPED } state;
	struct recorder_result early;	/* it ended by itself, before anybody stopped it */
	bool has_early;
	uint64_t expected;	/* bytes that it will take, until it is built */
	struct build *build;
	struct session *session;
	void (*done)(void *ctx, const struct session *s, const struct error *err);
	void *ctx;
};

struct live_window {
	uint32_t id, pid;
	uint64_t start_ticks;	/* tells a process from one that had its number before */
	char title[WINDOW_TITLE_SIZE];
};

struct live {
	struct serve_backend base;
	struct serve_events events;
	struct recorder *recorder;
	struct event *news;
	int event_fd;
	size_t max_bytes;
	struct live_session *sessions;
	uint32_t last_id;
	struct live_window *known;	/* the windows that there are; ids are kept while they live */
	struct scope_window *windows;
	size_t nr_windows;
	uint32_t last_window, active;
	bool ended;
};

static struct live_session *find_session(struct live *l, uint32_t id)
{
	struct live_session *s = l->sessions;

	while (s && s->id != id)
		s = s->next;
	return s;
}

/* By the sessions that there are and those that are being made. */
static size_t used_bytes(const struct live *l)
{
	size_t n = recorder_settle(l->recorder);

	for (const struct live_session *s = l->sessions; s; s = s->next)
		n += s->session ? session_memory(s->session) : s->has_early ? s->early.bytes : s->expected;
	return n;
}

static void remove_session(struct live *l, struct live_session *s)
{
	struct live_session **at = &l->sessions;

	while (*at != s)
		at = &(*at)->next;
	*at = s->next;
	if (s->has_early && s->early.fd >= 0)
		close(s->early.fd);
	build_drop(s->build);
	session_free(s->session);
	free(s);
}

/* --- windows --- */

static uint32_t known_id(const struct live *l, const struct process *p)
{
	for (size_t i = 0; i < l->nr_windows; i++)
		if (l->known[i].pid == (uint32_t)p->pid && l->known[i].start_ticks == p->start_ticks)
			return l->known[i].id;
	return 0;
}

static void describe(struct live *l, struct live_window *w, const struct process *p)
{
	w->id = known_id(l, p);
	if (!w->id)
		w->id = ++l->last_window;
	w->pid = p->pid;
	w->start_ticks = p->start_ticks;
	window_title(p, w->title);
}

/* The one that was navigated last; else the one that works most; when none does, the one that has been it. */
static uint32_t choose_active(const struct live *l, const struct watched_window *found)
{
	uint32_t navigated = recorder_last_navigated(l->recorder);
	size_t best = 0, old = l->nr_windows;

	for (size_t i = 0; i < l->nr_windows; i++) {
		if (navigated && l->known[i].pid == navigated)
			return l->known[i].id;
		if (l->known[i].id == l->active)
			old = i;
		if (found[i].activity_ns > found[best].activity_ns ||
		    (found[i].activity_ns == found[best].activity_ns && found[i].seen.cpu_ns > found[best].seen.cpu_ns))
			best = i;
	}
	if (old < l->nr_windows && found[best].activity_ns < 2 * found[old].activity_ns + ACTIVE_NS)
		best = old;
	return l->nr_windows ? l->known[best].id : 0;
}

static void update_windows(struct live *l)
{
	struct watched_window *found;
	struct live_window *known;
	struct scope_window *windows;
	size_t nr;

	if (recorder_windows(l->recorder, &found, &nr))
		return;
	known = calloc(nr + 1, sizeof(*known));
	windows = calloc(nr + 1, sizeof(*windows));
	if (!known || !windows) {	/* the old ones have to do */
		free(known);
		free(windows);
		free(found);
		return;
	}
	for (size_t i = 0; i < nr; i++) {
		describe(l, &known[i], &found[i].seen.process);
		windows[i] = (struct scope_window){ .id = known[i].id, .title = known[i].title, .type = "normal",
						    .pid = known[i].pid };
	}
	free(l->known);
	free(l->windows);
	l->known = known;
	l->windows = windows;
	l->nr_windows = nr;
	l->active = choose_active(l, found);
	free(found);
}

static size_t live_windows(void *arg, const struct scope_window **ret, uint32_t *ret_active)
{
	struct live *l = arg;

	update_windows(l);
	*ret = l->windows;
	*ret_active = l->active;
	return l->nr_windows;
}

/* --- sessions --- */

static void give(struct live_session *s, const struct error *err)
{
	s->state = LIVE_STOPPED;
	s->expected = 0;
	s->done(s->ctx, s->session, err);	/* may discard it */
}

/* The recording is there: makes the timelines of it. */
static void build(struct live *l, struct live_session *s, const struct recorder_result *r)
{
	struct error err = r->err;

	s->state = LIVE_BUILDING;
	s->expected = r->bytes;
	if (r->fd < 0 || build_start(r->fd, r->begin_ns, l->event_fd, &s->build, &err)) {
		s->build = NULL;
		give(s, &err);
	}
}

static void collect_recordings(struct live *l)
{
	struct recorder_result r;

	while (recorder_take(l->recorder, &r)) {
		struct live_session *s = find_session(l, r.id);

		if (r.full)
			l->events.note(l->events.arg, "the recording was ended since it took all the memory that it may have; "
				       "--memory allows more");
		if (s && s->state == LIVE_STOPPING) {
			build(l, s, &r);
		} else if (s && s->state == LIVE_RUNNING && !s->has_early) {
			s->early = r;
			s->has_early = true;
		} else if (r.fd >= 0) {
			close(r.fd);
		}
	}
}

/* Answers whoever waits for a session that can be had now. */
static void collect_sessions(struct live *l)
{
	for (bool more = true; more; ) {
		more = false;
		for (struct live_session *s = l->sessions; s && !more; s = s->next) {
			struct error err = { 0 };

			if (s->state == LIVE_STOPPING && s->has_early) {
				s->has_early = false;
				build(l, s, &s->early);
				more = true;
				continue;
			}

			if (s->state != LIVE_BUILDING || !build_take(s->build, &s->session, &err))
				continue;
			s->build = NULL;
			give(s, &err);
			more = true;	/* the list may have changed */
		}
	}
}

static void on_news(evutil_socket_t fd, short what, void *arg)
{
	struct live *l = arg;
	uint64_t count;

	(void)what;
	if (read(fd, &count, sizeof(count)) < 0)
		return;
	collect_recordings(l);
	collect_sessions(l);
	l->events.windows_changed(l->events.arg);
	if (!l->ended && recorder_target_ended(l->recorder)) {
		l->ended = true;
		l->events.target_ended(l->events.arg);
	}
}

static int live_start(void *arg, int mode, uint32_t window, uint32_t *ret_id, struct error *err)
{
	struct live *l = arg;
	struct live_session *s;
	uint32_t pid = 0;
	size_t used;
	int rc;

	for (s = l->sessions; s; s = s->next)
		if (s->state == LIVE_RUNNING)
			return error_set(err, ERR_USAGE, -EBUSY, "The profiler is running already");
	used = used_bytes(l);
	if (used > l->max_bytes - l->max_bytes / NEEDED_PART)
		return error_set(err, ERR_OTHER, -ENOMEM, "The sessions take all of the memory that they may have: release some "
				 "with ReleaseSession, or allow more with --memory");
	for (size_t i = 0; i < l->nr_windows; i++)
		if (l->windows[i].id == window)
			pid = l->windows[i].pid;
	s = calloc(1, sizeof(*s));
	if (!s)
		return error_set(err, ERR_OTHER, -ENOMEM, "No memory for a session");
	s->id = l->last_id + 1;
	rc = recorder_start(l->recorder, mode, s->id, pid, l->max_bytes - used, err);
	if (rc) {
		free(s);
		return rc;
	}
	l->last_id = s->id;
	s->next = l->sessions;
	l->sessions = s;
	*ret_id = s->id;
	return 0;
}

static int live_stop(void *arg, uint32_t id, void (*done)(void *ctx, const struct session *s, const struct error *err),
		     void *ctx, struct error *err)
{
	struct live *l = arg;
	struct live_session *s = find_session(l, id);

	if (!s || s->state != LIVE_RUNNING)
		return error_set(err, ERR_USAGE, -EINVAL, "That session is not running");
	s->done = done;
	s->ctx = ctx;
	s->state = LIVE_STOPPING;
	/* one that ended by itself is waiting already */
	if (!s->has_early)
		recorder_stop(l->recorder);
	else if (eventfd_write(l->event_fd, 1))
		return error_set(err, ERR_OTHER, -errno, "Can't wake the event loop: %s", strerror(errno));
	return 0;
}

static const struct session *live_session_of(void *arg, uint32_t id)
{
	struct live_session *s = find_session(arg, id);

	return s && s->state == LIVE_STOPPED ? s->session : NULL;
}

static void live_discard(void *arg, uint32_t id)
{
	struct live *l = arg;
	struct live_session *s = find_session(l, id);

	if (!s)
		return;
	if (s->state == LIVE_RUNNING && !s->has_early)
		recorder_abort(l->recorder);
	remove_session(l, s);
}

static void live_free(struct serve_backend *b)
{
	struct live *l = (struct live *)b;

	while (l->sessions)
		remove_session(l, l->sessions);
	recorder_free(l->recorder);
	if (l->news)
		event_free(l->news);
	if (l->event_fd >= 0)
		close(l->event_fd);
	free(l->known);
	free(l->windows);
	free(l);
}

int serve_live_new(struct event_base *base, const struct capture_options *opt, size_t max_bytes,
		   const struct serve_events *events, struct serve_backend **ret, struct error *err)
{
	struct live *l = calloc(1, sizeof(*l));
	struct recorder_options ro = { .capture = opt };
	int rc = 0;

	if (!l)
		return error_set(err, ERR_OTHER, -ENOMEM, "out of memory");
	l->base.free = live_free;
	l->base.scope = (struct scope_backend){ l, live_windows, live_start, live_stop, live_session_of, live_discard };
	l->events = *events;
	l->max_bytes = max_bytes;
	l->event_fd = ro.event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (l->event_fd >= 0)
		l->news = event_new(base, l->event_fd, EV_READ | EV_PERSIST, on_news, l);
	if (!l->news || event_add(l->news, NULL))
		rc = error_set(err, ERR_OTHER, -ENOMEM, "out of memory");
	if (!rc)
		rc = recorder_new(&ro, &l->recorder, err);
	if (rc) {
		live_free(&l->base);
		return rc;
	}
	*ret = &l->base;
	return 0;
}
