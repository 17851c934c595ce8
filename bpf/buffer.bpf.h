/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A thread's buffer of records: making room, sending it to the ring, counting what found no room there. */
#ifndef FRAMESCOPE_BUFFER_BPF_H
#define FRAMESCOPE_BUFFER_BPF_H

#include "maps.bpf.h"

/* With _NO_WAKEUP the reader finds the records at its next timed look; a wake-up would cost the target 1.4 us. */
static __always_inline __u64 wakeup_flags(void)
{
	return bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA) >= ring_bytes / 4 ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP;
}

struct lost_walk {
	struct thread *t;
	__u32 at, end;
};

static long count_lost_record(__u64 i, struct lost_walk *w)
{
	__u32 at = w->at;
	struct rec_header *h;

	if (at >= w->end || at > BUF_BYTES - sizeof(struct rec_end))
		return 1;
	h = (void *)w->t->buf + at;
	if (!h->size)
		return 1;
	w->at = at + h->size;
	__sync_fetch_and_add(&ctl.lost, 1);
	switch (h->type) {
	case REC_BEGIN:
	case REC_MARK:
		COUNT(((struct rec_begin *)h)->probe, lost_begins, 1);
		break;
	case REC_END:
		COUNT(((struct rec_end *)h)->probe, lost_ends, 1);
		break;
	case REC_AGGREGATE:
		COUNT(((struct rec_aggregate *)h)->probe, lost_begins, 1);
		break;
	default:
		__sync_fetch_and_add(&ctl.lost_other, 1);
	}
	return 0;
}

__weak __noinline int flush_lost(struct thread *t, __u32 len)
{
	struct lost_walk w = { .t = t, .at = 0, .end = len };

	if (!t)
		return 0;
	bpf_loop(BUF_BYTES / sizeof(struct rec_header), count_lost_record, &w, 0);
	return 0;
}

static __always_inline void buf_flush(struct thread *t)
{
	__u32 len = t->len;

	if (!len)
		return;
	t->len = 0;
	t->generation++;
	if (len > BUF_BYTES)
		return;
	if (bpf_ringbuf_output(&ring, t->buf, len, wakeup_flags()))
		flush_lost(t, len);
}

/*
 * Room for at least `n` bytes (a constant); sends what is there if it must. The slack behind the buffer's end lets
 * every record be followed by an unchecked header's worth of bytes in count_lost_record().
 */
static __always_inline __u32 buf_room(struct thread *t, const __u32 n)
{
	__u32 at = t->len;

	if (at > BUF_BYTES - sizeof(struct rec_end) - n) {
		buf_flush(t);
		at = 0;
	}
	barrier_var(at);
	if (at > BUF_BYTES - sizeof(struct rec_end) - n)
		at = 0;
	return at;
}

static __always_inline void buf_commit(struct thread *t, __u32 len, __u64 now)
{
	if (!t->len)
		t->buf_since = now;
	t->len = len;
}

/* A thread's first record of a recording, or its new name. */
static __always_inline void buf_thread_record(struct thread *t, const char *comm, __u64 now)
{
	__u32 at = buf_room(t, sizeof(struct rec_task));
	struct rec_task *r = (void *)t->buf + at;

	r->hdr.type = REC_THREAD;
	r->hdr.size = sizeof(*r);
	r->hdr.tid = t->tid;
	r->hdr.ts_ns = now;
	r->tgid = t->tgid;
	r->child_tgid = 0;
	__builtin_memcpy(r->comm, comm, sizeof(r->comm));
	buf_commit(t, at + sizeof(*r), now);
}

#endif
