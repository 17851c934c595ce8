// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The reading end of the ring buffer. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>
#include <bpf/libbpf.h>
#include "capture/ring.h"
#include "wire.h"

struct ring {
	struct ring_buffer *rb;
	int epoll_fd;
	ring_fn fn;
	void *arg;
	union {			/* as it is handed on */
		struct rec_begin begin;
		struct rec_end end;
		char bytes[RECORD_MAX_SIZE];
	} record;
};

/* A chunk being taken apart. */
struct chunk {
	const struct wire_chunk *head;
	const char *data;
	size_t size;
};

static uint64_t chunk_id(const struct chunk *c, uint32_t low)
{
	return c->head->base_id + (uint32_t)(low - (uint32_t)c->head->base_id);
}

static size_t padded(size_t n)
{
	return (n + 7) & ~(size_t)7;
}

/* Makes a rec_begin of a packed one; returns the packed one's size, 0 if it is not possible. */
static size_t unpack_begin(struct ring *r, const struct chunk *c, size_t at)
{
	const struct wire_begin *b = (const void *)(c->data + at);
	const char *args = (const char *)(b + 1);
	struct rec_begin *d = &r->record.begin;
	size_t size = sizeof(*b) + padded(b->arg_bytes), arg_bytes = b->arg_bytes;
	bool read = b->kind & WIRE_READ;

	if (sizeof(*b) > c->size - at || size > c->size - at || arg_bytes > sizeof(r->record) - sizeof(*d) - 8 ||
	    (read && arg_bytes < sizeof(d->read_ns)))
		return 0;
	if (read) {
		args += sizeof(d->read_ns);
		arg_bytes -= sizeof(d->read_ns);
	}
	*d = (struct rec_begin){
		.hdr = { .type = WIRE_KIND(b->kind) == WIRE_BEGIN ? REC_BEGIN : REC_MARK,
			 .size = sizeof(*d) + padded(arg_bytes), .tid = c->head->tid, .ts_ns = b->ts_ns },
		.call_id = chunk_id(c, b->id), .sp = b->sp, .probe = b->probe, .tgid = c->head->tgid, .depth = b->depth,
		.flags = b->flags, .arg_bytes = arg_bytes,
	};
	d->parent_id = b->up ? d->call_id - b->up : 0;
	if (read)
		memcpy(&d->read_ns, b + 1, sizeof(d->read_ns));
	memcpy(d + 1, args, arg_bytes);
	/* what stands behind the arguments in the buffer is older text */
	memset((char *)(d + 1) + arg_bytes, 0, padded(arg_bytes) - arg_bytes);
	r->fn(r->arg, &d->hdr);
	return size;
}

static size_t unpack_end(struct ring *r, const struct chunk *c, size_t at)
{
	const struct wire_end *e = (const void *)(c->data + at);
	size_t size = sizeof(*e) + (e->kind == WIRE_END_OFF ? 8 : 0);
	const struct wire_begin *b = (const void *)(c->data + e->begin_at);
	struct rec_end *d = &r->record.end;

	if (size > c->size - at || e->begin_at + sizeof(*b) > at || WIRE_KIND(b->kind) != WIRE_BEGIN)
		return 0;
	*d = (struct rec_end){
		.hdr = { .type = REC_END, .size = sizeof(*d), .tid = c->head->tid, .ts_ns = e->ts_ns },
		.begin_ns = b->ts_ns, .call_id = chunk_id(c, b->id), .sp = b->sp, .probe = b->probe, .tgid = c->head->tgid,
		.depth = b->depth, .flags = e->flags,
	};
	d->parent_id = b->up ? d->call_id - b->up : 0;
	if (e->kind == WIRE_END_OFF)
		memcpy(&d->off_cpu_ns, e + 1, 8);
	r->fn(r->arg, &d->hdr);
	return size;
}

static size_t pass_on(struct ring *r, const char *data, size_t size)
{
	const struct rec_header *h = (const void *)data;

	if (size < sizeof(*h) || h->size < sizeof(*h) || h->size > size || h->size % 8)
		return 0;
	r->fn(r->arg, h);
	return h->size;
}

static int on_sample(void *arg, void *data, size_t size)
{
	struct chunk c = { .head = data, .data = data, .size = size };
	struct ring *r = arg;
	size_t at, step;

	if (size < sizeof(*c.head) || c.head->kind != WIRE_CHUNK) {
		pass_on(r, data, size);
		return 0;
	}
	/* every record begins on a multiple of 8, so its first bytes are there */
	for (at = sizeof(*c.head); at + sizeof(struct wire_end) <= size; at += step) {
		switch (WIRE_KIND(c.data[at])) {
		case WIRE_BEGIN:
		case WIRE_MARK:
			step = unpack_begin(r, &c, at);
			break;
		case WIRE_END:
		case WIRE_END_OFF:
			step = unpack_end(r, &c, at);
			break;
		default:
			step = pass_on(r, c.data + at, size - at);
		}
		if (!step)
			break;
	}
	return 0;
}

int ring_open(int map_fd, ring_fn fn, void *arg, struct ring **ret, struct error *err)
{
	/*
	 * Edge-triggered: only a wake-up counts, not that there is something to read. Else a busy target would have us
	 * read one record at a time, and both sides would fight for the ring's cache lines.
	 */
	struct epoll_event ev = { .events = EPOLLIN | EPOLLET };
	struct ring *r = calloc(1, sizeof(*r));
	int code;

	if (!r)
		return error_set(err, ERR_OTHER, -ENOMEM, "out of memory");
	r->fn = fn;
	r->arg = arg;
	r->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	r->rb = ring_buffer__new(map_fd, on_sample, r, NULL);
	if (r->epoll_fd < 0 || !r->rb || epoll_ctl(r->epoll_fd, EPOLL_CTL_ADD, map_fd, &ev)) {
		code = errno;
		ring_close(r);
		return error_set(err, ERR_OTHER, -code, "can't map the ring buffer: %s", strerror(code));
	}
	*ret = r;
	return 0;
}

void ring_close(struct ring *r)
{
	if (!r)
		return;
	ring_buffer__free(r->rb);
	if (r->epoll_fd >= 0)
		close(r->epoll_fd);
	free(r);
}

int ring_fd(const struct ring *r)
{
	return r->epoll_fd;
}

int ring_poll(struct ring *r, int timeout_ms)
{
	struct epoll_event ev;
	int rc = epoll_wait(r->epoll_fd, &ev, 1, timeout_ms);

	if (rc < 0 && errno != EINTR)
		return -errno;
	rc = ring_buffer__consume(r->rb);
	return rc < 0 ? rc : 0;
}
