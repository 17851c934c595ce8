/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * For tests of the Scope host: a backend whose sessions come from a stream written by hand, and a client at the other
 * end of a socketpair. Both run in the test's own thread: pump() turns the host's loop.
 */
#ifndef FRAMESCOPE_TESTS_SCOPE_PEER_H
#define FRAMESCOPE_TESTS_SCOPE_PEER_H

#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>
#include "replay/stream.h"
#include "scope/frame.h"
#include "scope/host.h"

/* --- a session: REFLOW > STYLE_RECALCULATION > two selectors, then PAINT, in process 7 --- */

enum { FAKE_REFLOW, FAKE_STYLE, FAKE_SELECTOR, FAKE_PAINT, FAKE_PROBES };

static inline struct session *fake_session(void)
{
	static const int types[] = { EVENT_REFLOW, EVENT_STYLE_RECALCULATION, EVENT_CSS_SELECTOR_MATCHING, EVENT_PAINT };
	struct recording_probe probes[FAKE_PROBES];
	struct recording_process proc = { .pid = 7, .inner_pid = 7, .name = "fake", .cmdline = "fake", .engine = "fake" };
	struct recording_thread thread = { .tid = 7, .pid = 7, .name = "main", .main = true };
	struct recording_info info = { .version = 1, .target_pid = 7, .begin_ns = 1000000, .end_ns = 21000000, .tool = "test",
		.kernel = "", .machine = "", .rung = "", .overhead_source = "none" };
	struct stream s = { 0 };
	struct session_builder *b;
	struct session *ret;

	for (int i = 0; i < FAKE_PROBES; i++)
		probes[i] = (struct recording_probe){ .name = "p", .label = "p", .category = "fake", .engine = "fake",
			.group = "", .function = "f", .module = "/fake", .build_id = "", .source = "symbol", .evidence = "",
			.refused = "", .type = types[i], .kind = PROBE_KIND_SPAN, .attached = true };
	stream_begin(&s, 7, 2000000, FAKE_REFLOW, 0x7000);
	stream_begin(&s, 7, 3000000, FAKE_STYLE, 0x6f00);
	stream_begin(&s, 7, 4000000, FAKE_SELECTOR, 0x6e00);
	stream_text(&s, FIELD_SELECTOR, "#foo .bar");
	stream_end(&s, 7, 5000000);
	stream_begin(&s, 7, 6000000, FAKE_SELECTOR, 0x6e00);
	stream_text(&s, FIELD_SELECTOR, "#foo .bar");
	stream_end(&s, 7, 7000000);
	stream_end(&s, 7, 9000000);
	stream_end(&s, 7, 10000000);
	stream_begin(&s, 7, 12000000, FAKE_PAINT, 0x7000);
	stream_int(&s, FIELD_X, 1);
	stream_int(&s, FIELD_Y, 2);
	stream_int(&s, FIELD_W, 30);
	stream_int(&s, FIELD_H, 40);
	stream_end(&s, 7, 12500000);
	assert_int_equal(session_builder_new(&b), 0);
	assert_int_equal(session_builder_tables(b, &info, probes, FAKE_PROBES, &proc, 1, &thread, 1), 0);
	for (const struct rec_header *r = stream_next(&s, NULL); r; r = stream_next(&s, r))
		assert_int_equal(session_builder_add(b, r), 0);
	assert_int_equal(session_builder_finish(b, &ret), 0);
	stream_free(&s);
	return ret;
}

/* --- the backend --- */

#define FAKE_SESSIONS 64

struct fake {
	struct scope_backend backend;
	struct scope_window windows[4];
	size_t nr_windows;
	uint32_t active;
	uint32_t last_id, running;	/* 0: nothing runs */
	uint32_t stopping;		/* its `done` is to come with fake_finish() */
	void (*done)(void *ctx, const struct session *s, const struct error *err);
	void *ctx;
	struct session *session;	/* every stopped one shows this */
	bool stopped[FAKE_SESSIONS];	/* by id modulo that */
	bool late;			/* the timelines take their time: until fake_finish() */
	bool fail;			/* they can't be built */
	int discards;
};

static inline size_t fake_windows(void *arg, const struct scope_window **ret, uint32_t *ret_active)
{
	struct fake *f = arg;

	*ret = f->windows;
	*ret_active = f->active;
	return f->nr_windows;
}

static inline int fake_start(void *arg, int mode, uint32_t window, uint32_t *ret_id, struct error *err)
{
	struct fake *f = arg;

	(void)mode;
	(void)window;
	if (f->running)
		return error_set(err, ERR_USAGE, -EBUSY, "The profiler is running already");
	*ret_id = f->running = ++f->last_id;
	return 0;
}

static inline void fake_finish(struct fake *f)
{
	struct error err = { ERR_OTHER, -EIO, "The recording is broken" };
	uint32_t id = f->stopping;

	f->stopping = 0;
	if (!id)
		return;
	f->stopped[id % FAKE_SESSIONS] = !f->fail;
	f->done(f->ctx, f->fail ? NULL : f->session, &err);
}

static inline int fake_stop(void *arg, uint32_t id, void (*done)(void *ctx, const struct session *s, const struct error *err),
			    void *ctx, struct error *err)
{
	struct fake *f = arg;

	(void)err;
	assert_int_equal(id, f->running);
	assert_int_equal(f->stopping, 0);
	f->running = 0;
	f->stopping = id;
	f->done = done;
	f->ctx = ctx;
	return 0;
}

static inline const struct session *fake_get_session(void *arg, uint32_t id)
{
	struct fake *f = arg;

	return f->stopped[id % FAKE_SESSIONS] ? f->session : NULL;
}

static inline void fake_discard(void *arg, uint32_t id)
{
	struct fake *f = arg;

	f->discards++;
	if (f->running == id)
		f->running = 0;
	if (f->stopping == id)
		f->stopping = 0;
	f->stopped[id % FAKE_SESSIONS] = false;
}

static inline void fake_init(struct fake *f)
{
	memset(f, 0, sizeof(*f));
	f->backend = (struct scope_backend){ f, fake_windows, fake_start, fake_stop, fake_get_session, fake_discard };
	f->windows[0] = (struct scope_window){ .id = 1, .title = "One", .type = "normal", .pid = 7 };
	f->windows[1] = (struct scope_window){ .id = 2, .title = "Two", .type = "normal", .pid = 8 };
	f->nr_windows = 2;
	f->active = 1;
	f->session = fake_session();
}

/* --- the client --- */

struct peer {
	int fd;
	uint8_t *in;
	size_t nr_in, room;
	bool eof;
};

struct answer {
	uint64_t type;
	Transport__TransportMessage *m;	/* NULL: none came */
};

static inline uint64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* One turn of the loop. */
static inline void pump(struct event_base *base, struct fake *f)
{
	event_base_loop(base, EVLOOP_ONCE | EVLOOP_NONBLOCK);
	if (f && f->stopping && !f->late)
		fake_finish(f);
}

/* Takes what has come in, up to max bytes. */
static inline void peer_read(struct peer *p, size_t max)
{
	ssize_t n;

	if (p->room - p->nr_in < 65536) {
		p->room = p->room * 2 + 65536;
		p->in = realloc(p->in, p->room);
		assert_non_null(p->in);
	}
	if (max > p->room - p->nr_in)
		max = p->room - p->nr_in;
	n = read(p->fd, p->in + p->nr_in, max);
	if (n > 0)
		p->nr_in += n;
	else if (!n || (errno != EAGAIN && errno != EINTR))
		p->eof = true;
}

static inline void peer_drop(struct peer *p, size_t n)
{
	p->nr_in -= n;
	memmove(p->in, p->in + n, p->nr_in);
}

/* A frame that has come in completely, or {0, NULL}. */
static inline struct answer peer_take(struct peer *p)
{
	struct answer a = { 0, NULL };
	uint8_t version;
	uint32_t size;
	size_t head;

	if (!p->nr_in || stp1_head(p->in, p->nr_in, &version, &head, &size) <= 0 || p->nr_in < head + size)
		return a;
	assert_int_equal(version, 1);
	assert_int_equal(stp1_body(p->in + head, size, &a.type, &a.m), 0);
	peer_drop(p, head + size);
	return a;
}

static inline void answer_free(struct answer *a)
{
	transport__transport_message__free_unpacked(a->m, NULL);
	a->m = NULL;
}

static inline void peer_write(struct peer *p, const void *data, size_t n)
{
	while (n) {
		ssize_t k = send(p->fd, data, n, MSG_NOSIGNAL);

		if (k <= 0)
			return;
		data = (const char *)data + k;
		n -= k;
	}
}

/* The bytes of a command. */
static inline struct bytes make_command(const char *service, uint32_t id, int format, uint32_t tag, const void *payload,
					size_t n)
{
	Transport__TransportMessage m = TRANSPORT__TRANSPORT_MESSAGE__INIT;
	struct bytes b = { .max = 1 << 20 };

	m.service = (char *)service;
	m.commandid = id;
	m.format = format;
	m.has_tag = 1;
	m.tag = tag;
	stp1_write(&b, STP_COMMAND, &m, n);
	bytes_add(&b, payload, n);
	return b;
}

static inline void peer_command(struct peer *p, const char *service, uint32_t id, int format, uint32_t tag,
				const void *payload, size_t n)
{
	struct bytes b = make_command(service, id, format, tag, payload, n);

	peer_write(p, b.p, b.n);
	bytes_free(&b);
}

/* --- a host with its loop, and conversations with it --- */

struct world {
	struct event_base *base;
	struct scope_host *host;
	struct fake fake;
	char log[4096];
};

static inline void world_log(void *arg, const char *text)
{
	struct world *w = arg;
	size_t n = strlen(w->log);

	snprintf(w->log + n, sizeof(w->log) - n, "%s\n", text);
}

static inline void world_open(struct world *w, const struct scope_host_options *opt)
{
	struct scope_host_options o = opt ? *opt : (struct scope_host_options){ 0 };
	struct error err = { 0 };

	signal(SIGPIPE, SIG_IGN);
	memset(w, 0, sizeof(*w));
	fake_init(&w->fake);
	w->base = event_base_new();
	o.log = world_log;
	o.log_arg = w;
	if (scope_host_new(w->base, &o, &w->fake.backend, &w->host, &err))
		fail_msg("%s", err.text);
}

static inline void world_close(struct world *w)
{
	scope_host_free(w->host);
	event_base_free(w->base);
	session_free(w->fake.session);
}

static inline void peer_adopt(struct peer *p, int fd)
{
	memset(p, 0, sizeof(*p));
	p->fd = fd;
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

static inline void peer_open(struct world *w, struct peer *p)
{
	struct error err = { 0 };
	int fd[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fd), 0);
	peer_adopt(p, fd[0]);
	if (scope_host_add_client(w->host, fd[1], &err))
		fail_msg("%s", err.text);
}

static inline void peer_close(struct peer *p)
{
	close(p->fd);
	free(p->in);
}

/* Turns the loop until the condition holds; gives up after a time that is far beyond need. */
#define WAIT_FOR(w, p, condition) do { \
	uint64_t since_ = now_ms(); \
	while (!(condition)) { \
		if (now_ms() - since_ > 20000) \
			fail_msg("waited too long for: %s", #condition); \
		pump((w)->base, &(w)->fake); \
		peer_read(p, SIZE_MAX); \
	} \
} while (0)

static const uint8_t enable_stp1[] = {
	0, '1', 0, '3', 0, ' ', 0, '*', 0, 'e', 0, 'n', 0, 'a', 0, 'b', 0, 'l', 0, 'e', 0, ' ', 0, 's', 0, 't', 0, 'p', 0, '-',
	0, '1',
};

/* The greeting, as text. */
static inline void peer_greeting(struct world *w, struct peer *p, char text[STP0_MAX_UNITS + 1])
{
	int n = 0;

	WAIT_FOR(w, p, p->nr_in && (n = stp0_parse(p->in, p->nr_in, text)) != 0);
	assert_true(n > 0);
	peer_drop(p, n);
}

static inline void peer_handshake(struct world *w, struct peer *p)
{
	char text[STP0_MAX_UNITS + 1];

	peer_greeting(w, p, text);
	peer_write(p, enable_stp1, sizeof(enable_stp1));
	WAIT_FOR(w, p, p->nr_in >= 6);
	assert_memory_equal(p->in, "STP/1\n", 6);
	peer_drop(p, 6);
}

/* The next message, whatever it is. */
static inline struct answer peer_next(struct world *w, struct peer *p)
{
	struct answer a;

	WAIT_FOR(w, p, (a = peer_take(p)).m);
	return a;
}

/* One command in JSON and what comes next, which must be its answer. */
static inline struct answer ask(struct world *w, struct peer *p, const char *service, uint32_t id, const char *json)
{
	struct answer a;

	peer_command(p, service, id, FORMAT_JSON, 77, json, strlen(json));
	a = peer_next(w, p);
	assert_int_equal(a.m->tag, 77);
	assert_int_equal(a.m->commandid, id);
	assert_string_equal(a.m->service, service);
	return a;
}

/* The same; the answer must be this text. */
static inline void expect(struct world *w, struct peer *p, const char *service, uint32_t id, const char *json,
			  const char *want)
{
	struct answer a = ask(w, p, service, id, json);

	if (a.type != STP_RESPONSE || a.m->payload.len != strlen(want) || memcmp(a.m->payload.data, want, strlen(want)))
		fail_msg("%s.%u %s: type %d, %.*s, want %s", service, id, json, (int)a.type, (int)a.m->payload.len,
			 a.m->payload.data, want);
	answer_free(&a);
}

static inline void expect_error(struct world *w, struct peer *p, const char *service, uint32_t id, const char *json,
				uint32_t status)
{
	struct answer a = ask(w, p, service, id, json);

	if (a.type != STP_ERROR || a.m->status != status)
		fail_msg("%s.%u %s: type %d, status %u, want %u", service, id, json, (int)a.type, a.m->status, status);
	assert_true(a.m->payload.len > 4);
	assert_memory_equal(a.m->payload.data, "[\"", 2);
	answer_free(&a);
}

/* Handshake, Connect, window-manager and profiler. */
static inline void peer_ready(struct world *w, struct peer *p)
{
	peer_open(w, p);
	peer_handshake(w, p);
	expect(w, p, "scope", 3, "[\"json\"]", "[]");
	expect(w, p, "scope", 5, "[\"window-manager\"]", "[\"window-manager\"]");
	expect(w, p, "scope", 5, "[\"profiler\"]", "[\"profiler\"]");
}

#endif
