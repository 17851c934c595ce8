// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * One connection: handshake, frames in, and the bounds that keep one client from harming the others. What it may take
 * of the host: input up to one frame, output up to high_water plus one answer, a few commands per turn of the loop,
 * and a limited time for the handshake, for Connect, for the rest of a frame and for taking what it was sent.
 */
#include <errno.h>
#include <event2/buffer.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "scope/client.h"
#include "scope/jobs.h"

#define COMMANDS_PER_TURN 8
#define TURN_MS 20		/* no further command in this turn after so long */
#define LOW_WATER 65536		/* unsent bytes at which reading goes on */
#define FLUSH_MS 2000		/* for the last words to a client that is being closed */

uint64_t client_now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

size_t client_unsent(const struct client *c)
{
	return evbuffer_get_length(bufferevent_get_output(c->bev));
}

void client_continue(struct client *c)
{
	/* a timer, not event_active(): the loop looks at the other clients' sockets in between */
	event_add(c->again, &(struct timeval){ 0, 0 });
}

void client_kill(struct client *c)
{
	c->closing = true;
	client_continue(c);
}

static void set_deadline(struct client *c, enum client_wait waiting, uint32_t ms)
{
	c->waiting = waiting;
	if (waiting == WAIT_NOTHING)
		evtimer_del(c->deadline);
	else
		event_add(c->deadline, &(struct timeval){ ms / 1000, ms % 1000 * 1000 });
}

void client_kill_flushed(struct client *c)
{
	bufferevent_disable(c->bev, EV_READ);
	if (!client_unsent(c)) {
		client_kill(c);
		return;
	}
	c->closing = true;
	set_deadline(c, WAIT_FLUSH, FLUSH_MS);
}

void client_reset(struct client *c)
{
	for (int i = 0; i < NR_SERVICES; i++)
		client_disable(c, i);
	c->connected = false;
}

void client_free(struct client *c)
{
	struct scope_host *h = c->host;
	bool dialled = c->dialled;

	client_reset(c);
	jobs_leave(c);
	TAILQ_REMOVE(&h->clients, c, entry);
	h->nr_clients--;
	event_free(c->deadline);
	event_free(c->again);
	bufferevent_free(c->bev);
	free(c);
	host_client_gone(h, dialled);
}

/* What the client is expected to do next has a deadline; one that runs already is not put off. */
static void update_deadline(struct client *c, bool half_frame)
{
	const struct scope_limits *l = &c->host->limits;
	enum client_wait waiting = c->state == CLIENT_HANDSHAKE ? WAIT_HANDSHAKE : half_frame ? WAIT_FRAME :
		c->connected ? WAIT_NOTHING : WAIT_CONNECT;

	if (waiting == c->waiting)
		return;
	set_deadline(c, waiting, waiting == WAIT_HANDSHAKE ? l->handshake_ms : waiting == WAIT_FRAME ? l->frame_ms :
		     l->connect_ms);
}

static void on_deadline(evutil_socket_t fd, short what, void *arg)
{
	static const char *const missing[] = {
		[WAIT_NOTHING] = "nothing", [WAIT_HANDSHAKE] = "*enable stp-1", [WAIT_FRAME] = "the rest of a frame",
		[WAIT_CONNECT] = "scope.Connect", [WAIT_FLUSH] = "its reading the last answer",
	};
	struct client *c = arg;

	(void)fd;
	(void)what;
	host_log(c->host, "a client was closed: waited too long for %s", missing[c->waiting]);
	client_free(c);
}

/* 1: done, 0: more bytes are needed, -errno. */
static int read_handshake(struct client *c, struct evbuffer *in)
{
	uint8_t peek[2 * (STP0_MAX_UNITS + 10)];
	char text[STP0_MAX_UNITS + 1];
	ssize_t n = evbuffer_copyout(in, peek, sizeof(peek));
	int rc;

	if (n <= 0)
		return 0;
	rc = stp0_parse(peek, n, text);
	if (rc <= 0)
		return rc;
	if (strcmp(text, "*enable stp-1"))
		return -EPROTO;
	/* what stands behind it already is STP/1 */
	evbuffer_drain(in, rc);
	bufferevent_write(c->bev, STP1_BANNER, strlen(STP1_BANNER));
	c->state = CLIENT_FRAMES;
	return 1;
}

/* 1: one frame was dealt with, 0: more bytes are needed, -errno. */
static int read_frame(struct client *c, struct evbuffer *in)
{
	Transport__TransportMessage *m;
	uint8_t peek[STP1_MAX_HEAD], version;
	size_t head;
	uint32_t size;
	uint64_t type;
	ssize_t n = evbuffer_copyout(in, peek, sizeof(peek));
	int rc;

	if (n <= 0)
		return 0;
	rc = stp1_head(peek, n, &version, &head, &size);
	if (rc <= 0)
		return rc;
	if (size > STP1_MAX_COMMAND)
		return -EMSGSIZE;
	if (evbuffer_get_length(in) < head + size)
		return 0;
	if (version == 1) {	/* others are skipped */
		const uint8_t *p = evbuffer_pullup(in, head + size);

		if (!p)
			return -ENOMEM;
		rc = stp1_body(p + head, size, &type, &m);
		if (rc)
			return rc;
		client_dispatch(c, type, m);
		transport__transport_message__free_unpacked(m, NULL);
	}
	evbuffer_drain(in, head + size);
	return 1;
}

static void pause_if_slow(struct client *c)
{
	if (c->paused || client_unsent(c) <= c->host->limits.high_water)
		return;
	c->paused = true;
	bufferevent_disable(c->bev, EV_READ);
}

static void give_up(struct client *c, int rc)
{
	const char *why = rc == -EMSGSIZE ? "A message is too long" : rc == -EPROTO ? "Only STP/1 is spoken here" :
		rc == -ENOMEM ? "No memory for a message" : "That is not STP/1";

	host_log(c->host, "a client was closed: %s", why);
	scope_error(c, why);
	client_kill_flushed(c);
}

void client_run(struct client *c)
{
	struct evbuffer *in = bufferevent_get_input(c->bev);
	uint64_t since = client_now_ms();
	int rc = 1;

	for (int i = 0; rc > 0 && !c->closing && !c->paused && !c->job; i++) {
		if (i == COMMANDS_PER_TURN || client_now_ms() - since > TURN_MS) {
			client_continue(c);
			break;
		}
		rc = c->state == CLIENT_HANDSHAKE ? read_handshake(c, in) : read_frame(c, in);
		if (rc > 0 && c->waiting != WAIT_NOTHING)
			set_deadline(c, WAIT_NOTHING, 0);
		pause_if_slow(c);
	}
	if (rc < 0 && !c->closing)
		give_up(c, rc);
	else if (!c->closing)
		update_deadline(c, rc == 0 && evbuffer_get_length(in));
}

static void on_again(evutil_socket_t fd, short what, void *arg)
{
	struct client *c = arg;

	(void)fd;
	(void)what;
	if (c->closing && c->waiting != WAIT_FLUSH)
		client_free(c);
	else if (!c->closing)
		client_run(c);
}

static void on_read(struct bufferevent *bev, void *arg)
{
	struct client *c = arg;

	(void)bev;
	/* a turn that is due already comes when it is its time, not whenever a byte arrives */
	if (!c->closing && !evtimer_pending(c->again, NULL))
		client_run(c);
}

static void on_written(struct bufferevent *bev, void *arg)
{
	struct client *c = arg;

	(void)bev;
	if (c->closing) {
		if (c->waiting == WAIT_FLUSH && !client_unsent(c))
			client_free(c);
		return;
	}
	if (!c->paused)
		return;
	c->paused = false;
	bufferevent_enable(c->bev, EV_READ);
	if (c->windows_stale)
		windows_sync(c);
	client_continue(c);
}

static void on_event(struct bufferevent *bev, short what, void *arg)
{
	struct client *c = arg;

	(void)bev;
	if (what & BEV_EVENT_CONNECTED)
		return;
	if (what & BEV_EVENT_TIMEOUT)
		host_log(c->host, "a client was closed: it does not read what it is sent");
	client_free(c);
}

static int greet(struct client *c)
{
	struct bytes b = { .max = 4096 };
	int rc;

	stp0_write(&b, c->host->greeting);
	rc = b.failed ? -1 : bufferevent_write(c->bev, b.p, b.n);
	bytes_free(&b);
	return rc;
}

int client_new(struct scope_host *h, int fd, bool dialled, struct client **ret)
{
	const struct scope_limits *l = &h->limits;
	struct client *c = calloc(1, sizeof(*c));

	if (!c) {
		close(fd);
		return -ENOMEM;
	}
	c->host = h;
	c->dialled = dialled;
	c->last_used_ms = client_now_ms();
	c->bev = bufferevent_socket_new(h->base, fd, BEV_OPT_CLOSE_ON_FREE);
	c->deadline = evtimer_new(h->base, on_deadline, c);
	c->again = evtimer_new(h->base, on_again, c);
	if (!c->bev || !c->deadline || !c->again || greet(c))
		goto fail;
	bufferevent_setcb(c->bev, on_read, on_written, on_event, c);
	bufferevent_setwatermark(c->bev, EV_READ, 0, STP1_MAX_HEAD + STP1_MAX_COMMAND);
	bufferevent_setwatermark(c->bev, EV_WRITE, LOW_WATER < l->high_water ? LOW_WATER : l->high_water / 2, 0);
	bufferevent_set_max_single_write(c->bev, 1 << 20);
	bufferevent_set_timeouts(c->bev, NULL, &(struct timeval){ l->write_ms / 1000, l->write_ms % 1000 * 1000 });
	bufferevent_enable(c->bev, EV_READ | EV_WRITE);
	update_deadline(c, false);
	TAILQ_INSERT_TAIL(&h->clients, c, entry);
	h->nr_clients++;
	*ret = c;
	return 0;
fail:
	if (c->bev)
		bufferevent_free(c->bev);
	else
		close(fd);
	if (c->deadline)
		event_free(c->deadline);
	if (c->again)
		event_free(c->again);
	free(c);
	return -ENOMEM;
}
