/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The frames of a thread's open calls, and how they end. */
#ifndef FRAMESCOPE_FRAMES_BPF_H
#define FRAMESCOPE_FRAMES_BPF_H

#include "aggregate.bpf.h"
#include "metrics.bpf.h"

static __noinline struct frame *frame_deep(struct thread *t, __u32 i)
{
	__u64 key = (__u64)t->tid << 32 | i / CHUNK_FRAMES;
	struct frame_chunk *c = bpf_map_lookup_elem(&deep_frames, &key);

	return c ? &c->frames[i % CHUNK_FRAMES] : NULL;
}

static __always_inline struct frame *frame_at(struct thread *t, __u32 i)
{
	if (likely(i < CHUNK_FRAMES))
		return &t->frames[i];
	return frame_deep(t, i);
}

/* At its end: the differences, into the record. Only for the thread that runs: a call of another one ends without. */
static __noinline int metrics_end(struct thread *t, __u32 frame, struct metric_values *ret)
{
	struct metric_values *m = metrics_of(t, frame);
	struct task_struct *task = bpf_get_current_task_btf();

	if (!m || (__u32)task->pid != t->tid)
		return 0;
	for (__u32 i = 0; i < RECORD_MAX_METRICS && i < nr_metrics; i++)
		ret->v[i] = metric_now(task, t, i) - m->v[i];
	return 1;
}

/* The end of a call whose begin was sent already, or that has more to tell. */
static __noinline int put_long_end(struct thread *t, struct frame *f, __u32 i, __u64 now, __u32 flags)
{
	__u32 at = buf_room(t, sizeof(struct rec_end) + sizeof(struct metric_values)), size = sizeof(struct rec_end), nr = 0;
	struct rec_end *e = (void *)t->buf + at;

	if (nr_metrics && metrics_end(t, i, (struct metric_values *)(e + 1))) {
		nr = nr_metrics;
		size += nr * sizeof(__u64);
	}

	e->hdr.type = REC_END;
	e->hdr.size = size;
	e->hdr.tid = t->tid;
	e->hdr.ts_ns = now;
	e->begin_ns = f->begin_ns;
	e->call_id = f->call_id;
	e->parent_id = f->parent_id;
	e->sp = f->sp;
	e->off_cpu_ns = off_until(t, f, now);
	e->probe = f->probe;
	e->tgid = t->tgid;
	e->depth = f->depth;
	e->flags = flags | (f->hidden_hits ? REC_F_HIDDEN : 0);
	e->nr_metrics = nr;
	e->pad = 0;
	e->hidden_ns = f->hidden_ns;
	e->hidden_hits = f->hidden_hits;
	e->measured_ns = saturate(f->measured_ns);
	buf_commit(t, at + size, now);
	return 0;
}

/* Takes the begin of a short call back, if nothing inside it was recorded. Its time goes into its parent's books. */
static __noinline bool hide(struct thread *t, struct frame *f, __u64 now)
{
	struct frame *parent;

	/* the calibration wants to see its calls, however short */
	if (f->generation != t->generation || f->buf_end != t->len || t->tid == ctl.twin_tid)
		return false;
	t->len = f->buf_at;
	COUNT(f->probe, hidden, 1);
	parent = f->parent ? frame_at(t, f->parent - 1) : NULL;
	if (parent) {
		/* with what was hidden inside it, lest the cost of those calls counts as their caller's time */
		parent->hidden_ns += now - f->begin_ns;
		parent->hidden_hits += 1 + f->hidden_hits;
		parent->measured_ns += f->read_ns + f->measured_ns;
	}
	return true;
}

/* Writes the call's end. The frame is popped or marked by the caller, before: nothing below depends on the ring. */
static __always_inline void frame_end(struct thread *t, struct frame *f, __u32 i, __u64 now, __u32 flags)
{
	__u64 off = off_until(t, f, now);
	struct wire_end *e;
	__u32 at;

	flags |= f->rec_flags;
	if (unlikely(f->flags & FRAME_OPENER))
		t->under--;
	if (unlikely(flags & REC_F_UNWOUND))
		COUNT(f->probe, unwound, 1);
	if (unlikely(f->flags & (FRAME_SUMMED | FRAME_SUMS))) {
		if (f->flags & FRAME_SUMMED) {
			aggregate_end(t, f, now);
			return;
		}
		aggregate_flush_below(t, f->call_id);
	}
	if (unlikely(now - f->begin_ns < ctl.min_duration_ns) && hide(t, f, now))
		return;
	if (unlikely(nr_metrics || f->generation != t->generation || f->hidden_hits || f->measured_ns ||
		     t->len > BUF_ROOM - sizeof(*e) - 8)) {
		put_long_end(t, f, i, now, flags);
		return;
	}
	at = buf_room(t, sizeof(*e) + 8);
	e = (void *)t->buf + at;
	e->kind = WIRE_END;
	e->flags = flags;
	e->begin_at = f->buf_at;
	e->pad = 0;
	e->ts_ns = now;
	at += sizeof(*e);
	if (off) {
		e->kind = WIRE_END_OFF;
		*(__u64 *)(e + 1) = off;
		at += 8;
	}
	t->len = at;
}

__weak __noinline int frame_end_slow(struct thread *t, __u32 i, __u64 now, __u32 flags)
{
	struct frame *f;

	if (!t)
		return 0;
	f = frame_at(t, i);
	if (!f || f->flags & FRAME_CLOSED)
		return 0;
	if (f->flags & FRAME_NO_RETURN && flags & REC_F_UNWOUND)
		flags = (flags & ~REC_F_UNWOUND) | REC_F_NO_RETURN;
	f->flags |= FRAME_CLOSED;
	/* recording stopped while this one began */
	if (unlikely(now < f->begin_ns))
		now = f->begin_ns;
	frame_end(t, f, i, now, flags);
	return 0;
}

#endif
