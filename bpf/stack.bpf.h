/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A thread's stack of open calls. Calls are matched by probe and stack pointer, never by counting, so that one that
 * is never seen to end (exception, longjmp) or begins elsewhere (coroutine, signal stack) cannot shift the others.
 */
#ifndef FRAMESCOPE_STACK_BPF_H
#define FRAMESCOPE_STACK_BPF_H

#include "frames.bpf.h"

/* The frame to push on; NULL if there is no memory for it. */
static __noinline struct frame *frame_deep_new(struct thread *t, __u32 i)
{
	__u64 key = (__u64)t->tid << 32 | i / CHUNK_FRAMES;
	struct frame *f = frame_deep(t, i);

	if (f)
		return f;
	if (t->max_top < i + 1)
		t->max_top = i + 1;
	/* what the new chunk holds doesn't matter: frames are written before they are used */
	bpf_map_update_elem(&deep_frames, &key, t->frames, BPF_ANY);
	return frame_deep(t, i);
}

static long shrink_step(__u64 i, struct thread **ctx)
{
	struct thread *t = *ctx;
	struct frame *f;

	if (!t->top)
		return 1;
	f = frame_at(t, t->top - 1);
	if (f && !(f->flags & FRAME_CLOSED))
		return 1;
	t->top--;
	return 0;
}

/* Takes closed frames off the top. */
__noinline int stack_trim(struct thread *t)
{
	if (!t)
		return 0;
	bpf_loop(RECORD_MAX_DEPTH, shrink_step, &t, 0);
	return 0;
}

static __always_inline bool is_far(__u64 a, __u64 b)
{
	return a - b + STACK_FAR > 2 * STACK_FAR;
}

struct stack_walk {
	struct thread *t;
	__u64 sp, now;
	__u32 i;	/* frames not looked at yet */
	__u32 found;	/* index + 1 */
	__u32 probe;
	bool other_stack;	/* an open call on another stack lies above `found` */
	bool tail;	/* in: the caller's frame is still waiting for its return */
	__u16 flags;
};

/* Begin: looks for the parent, closes calls whose frames the stack pointer shows to be gone. */
static long begin_step(__u64 n, struct stack_walk *w)
{
	struct thread *t = w->t;
	__u32 i = w->i;
	struct frame *f;

	if (!i)
		return 1;
	w->i = --i;
	f = frame_at(t, i);
	if (!f || f->flags & FRAME_CLOSED)
		return 0;
	if (is_far(f->sp, w->sp)) {
		w->other_stack = true;
		return 0;
	}
	if (f->sp > w->sp || (f->sp == w->sp && w->tail && f->flags & FRAME_RETURN)) {
		w->found = i + 1;
		if (f->sp == w->sp)
			w->flags |= REC_F_TAIL;
		return 1;
	}
	frame_end_slow(t, i, w->now, REC_F_UNWOUND);
	return 0;
}

/* The parent's index + 1, or 0; flags for the begin record in the upper half. */
__noinline __u32 stack_find_parent(struct thread *t, __u64 sp, bool tail)
{
	struct stack_walk w = { .t = t, .sp = sp, .now = bpf_ktime_get_ns(), .tail = tail };

	if (!t)
		return 0;
	w.i = t->top;
	bpf_loop(RECORD_MAX_DEPTH, begin_step, &w, 0);
	if (w.other_stack)
		w.flags |= REC_F_STACK_SWITCH;
	else if (w.found < t->top)
		t->deep = 0;
	stack_trim(t);
	return w.found | (__u32)w.flags << 16;
}

/* Exit: looks for the call. */
static long exit_step(__u64 n, struct stack_walk *w)
{
	__u32 i = w->i;
	struct frame *f;

	if (!i)
		return 1;
	w->i = --i;
	f = frame_at(w->t, i);
	if (!f || f->flags & FRAME_CLOSED || f->sp != w->sp || f->probe != w->probe)
		return 0;
	w->found = i + 1;
	return 1;
}

/* The calls above the one that ends, on its stack, are gone. */
static long unwind_step(__u64 n, struct stack_walk *w)
{
	struct thread *t = w->t;
	__u32 i = w->i;
	struct frame *f;

	if (i <= w->found)
		return 1;
	w->i = --i;
	f = frame_at(t, i);
	if (!f || f->flags & FRAME_CLOSED || is_far(f->sp, w->sp))
		return 0;
	frame_end_slow(t, i, w->now, REC_F_UNWOUND);
	return 0;
}

/* Ends the call of `probe` at `sp`, which isn't the one on top. */
__noinline int stack_exit_slow(struct thread *t, __u64 sp, __u64 now, __u32 probe)
{
	struct stack_walk w = { .t = t, .sp = sp, .now = now, .probe = probe };
	struct frame *f;

	if (!t)
		return 0;
	w.i = t->top;
	bpf_loop(RECORD_MAX_DEPTH, exit_step, &w, 0);
	if (!w.found) {
		f = t->top ? frame_at(t, t->top - 1) : NULL;
		if (t->deep && f && sp < f->sp)
			t->deep--;
		else if (!ctl.only_under)
			COUNT(probe, orphan_exits, 1);
		return 0;
	}
	t->deep = 0;
	w.i = t->top;
	bpf_loop(RECORD_MAX_DEPTH, unwind_step, &w, 0);
	frame_end_slow(t, w.found - 1, now, 0);
	stack_trim(t);
	return 0;
}

#endif
