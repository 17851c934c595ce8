// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The reading end of the ring buffer. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>
#include <bpf/libbpf.h>
#include "capture/ring.h"

struct ring {
	struct ring_buffer *rb;
	int epoll_fd;
	ring_fn fn;
	void *arg;
};

static int on_sample(void *arg, void *data, size_t size)
{
	struct ring *r = arg;

	while (size >= sizeof(struct rec_header)) {
		const struct rec_header *h = data;

		if (h->size < sizeof(*h) || h->size > size || h->size % 8)
			break;
		r->fn(r->arg, h);
		data = (char *)data + h->size;
		size -= h->size;
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
