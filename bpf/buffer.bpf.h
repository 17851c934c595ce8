/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A thread's buffer of records: making room, sending it to the ring, counting what found no room there. */
#ifndef FRAMESCOPE_BUFFER_BPF_H
#define FRAMESCOPE_BUFFER_BPF_H

#include "maps.bpf.h"

#define CHUNK_BYTES sizeof(struct wire_chunk)	/* a buffer with no more than this is empty */
#define BUF_ROOM (BUF_BYTES - sizeof(struct rec_end))	/* behind it, a whole header can be read without looking */

/* With _NO_WAKEUP the reader finds the records at its next timed look; a wake-up would cost the target 1.4 us. */
static __always_inline __u64 wakeup_flags(void)
{
	return bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA) >= ring_bytes / 4 ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP;
}

struct lost_walk {
	struct thread *t;
	__u32 at, end;
};

/* Counts one record; returns its size. */
static __always_inline __u32 count_lost_record(void *record, struct thread *t)
{
	struct rec_header *h = record;
	struct wire_begin *b = record;
	struct wire_end *e = record;
	__u32 at;

	switch (WIRE_KIND(b->kind)) {
	case WIRE_BEGIN:
	case WIRE_MARK:
		COUNT(b->probe, lost_begins, 1);
		return sizeof(*b) + ((b->arg_bytes + 7) & ~7u);
	case WIRE_END:
	case WIRE_END_OFF:
		at = e->begin_at;
		if (at <= BUF_ROOM)
			COUNT(((struct wire_begin *)(t->buf + at))->probe, lost_ends, 1);
		return e->kind == WIRE_END ? sizeof(*e) : sizeof(*e) + 8;
	case REC_END:
		COUNT(((struct rec_end *)h)->probe, lost_ends, 1);
		return h->size;
	case REC_AGGREGATE:
		COUNT(((struct rec_aggregate *)h)->probe, lost_begins, ((struct rec_aggregate *)h)->hits);
		return h->size;
	default:
		__sync_fetch_and_add(&ctl.lost_other, 1);
		return h->size;
	}
}

static long lost_step(__u64 i, struct lost_walk *w)
{
	__u32 at = w->at, size;

	if (at >= w->end || at > BUF_ROOM)
		return 1;
	size = count_lost_record(w->t->buf + at, w->t);
	if (!size)
		return 1;
	w->at = at + size;
	__sync_fetch_and_add(&ctl.lost, 1);
	return 0;
}

__weak __noinline int flush_lost(struct thread *t, __u32 len)
{
	struct lost_walk w = { .t = t, .at = CHUNK_BYTES, .end = len };

	if (!t)
		return 0;
	bpf_loop(BUF_BYTES / sizeof(struct wire_end), lost_step, &w, 0);
	return 0;
}

/* An empty chunk. */
static __always_inline void buf_reset(struct thread *t)
{
	((struct wire_chunk *)t->buf)->base_id = t->next_id;
	t->len = CHUNK_BYTES;
	t->generation++;
}

static __always_inline void buf_flush(struct thread *t)
{
	__u32 len = t->len;

	if (len <= CHUNK_BYTES)
		return;
	if (len > BUF_BYTES)
		len = BUF_BYTES;
	if (t->tid != ctl.twin_tid)
		ctl.cpu = bpf_get_smp_processor_id();
	if (bpf_ringbuf_output(&ring, t->buf, len, wakeup_flags()))
		flush_lost(t, len);
	buf_reset(t);
}

/* Room for at least `n` bytes (a constant); sends what is there if it must. */
static __always_inline __u32 buf_room(struct thread *t, const __u32 n)
{
	__u32 at = t->len;

	if (unlikely(at > BUF_ROOM - n)) {
		buf_flush(t);
		at = CHUNK_BYTES;
	}
	barrier_var(at);
	if (at > BUF_ROOM - n)
		at = CHUNK_BYTES;
	return at;
}

static __always_inline void buf_commit(struct thread *t, __u32 len, __u64 now)
{
	if (t->len <= CHUNK_BYTES)
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

/*
 * Have the records waited for long enough? While short calls are to be hidden, those of calls that are open and may
 * yet turn out short stay: once sent, they can't be taken back.
 */
static __always_inline bool buf_may_go(const struct thread *t, __u64 now)
{
	__u64 last = (__u64)t->top - 1;

	if (likely(!ctl.min_duration_ns) || !t->top)
		return true;
	/* the verifiers of 6.1 and 6.12 must see the bound on the very register that is the index */
	barrier_var(last);
	return last < CHUNK_FRAMES && now - t->frames[last].begin_ns >= ctl.min_duration_ns;
}

#endif
