/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Hot leaves: their calls are summed up under their caller by a key, the value of the probe's first argument, and leave
 * as one record when the caller ends, another key takes the place, or 100 ms have passed. Their text is read once.
 */
#ifndef FRAMESCOPE_AGGREGATE_BPF_H
#define FRAMESCOPE_AGGREGATE_BPF_H

#include "buffer.bpf.h"

#define AGGREGATE_LATE_NS 100000000

static __always_inline struct sums *sums_of(struct thread *t)
{
	__u32 row = t->sums - 1;

	return t->sums ? bpf_map_lookup_elem(&sums, &row) : NULL;
}

static __always_inline struct rec_aggregate *aggregate_record(struct thread *t, __u32 at, __u32 probe, __u32 depth,
							      __u32 hits, __u32 arg_bytes)
{
	struct rec_aggregate *r = (void *)t->buf + at;

	r->hdr.type = REC_AGGREGATE;
	r->hdr.size = sizeof(*r) + ((arg_bytes + 7) & ~7u);
	r->hdr.tid = t->tid;
	r->hits = hits;
	r->probe = probe;
	r->tgid = t->tgid;
	r->depth = depth;
	r->arg_bytes = arg_bytes;
	r->pad = 0;
	return r;
}

/* Writes one sum, if there is anything in it, and empties it. */
__weak __noinline int aggregate_flush(struct thread *t, __u32 i)
{
	struct rec_aggregate *r;
	struct aggregate *g;
	struct sums *s;
	__u32 at;

	s = t ? sums_of(t) : NULL;
	barrier_var(i);
	if (!s || i >= SUMS)
		return 0;
	g = &s->sum[i];
	if (!g->hits)
		return 0;
	at = buf_room(t, sizeof(*r) + AGGREGATE_ARGS);
	r = aggregate_record(t, at, g->probe, g->depth, g->hits, g->arg_bytes);
	r->hdr.ts_ns = g->last_ns;
	r->first_ns = g->first_ns;
	r->total_ns = g->total_ns;
	r->call_id = g->call_id;
	r->parent_id = g->parent_id;
	r->flags = g->flags;
	__builtin_memcpy(r + 1, g->args, AGGREGATE_ARGS);
	g->hits = 0;
	buf_commit(t, at + r->hdr.size, g->last_ns);
	return 0;
}

#define ALL_PARENTS ~0ull

static long sums_step(__u64 n, struct thread **ctx)
{
	struct thread *t = *ctx;
	struct sums *s = sums_of(t);
	struct aggregate *g;

	if (!s || n >= SUMS)
		return 1;
	g = &s->sum[n];
	if (g->hits && (t->sums_below == ALL_PARENTS || g->parent_id == t->sums_below))
		aggregate_flush(t, n);
	return 0;
}

/* The sums below a call that ends, or ALL_PARENTS. Inline, and with next to nothing on the stack: the kernel allows eight
 * functions inside each other, with 512 bytes between them. */
static __always_inline void aggregate_flush_below(struct thread *t, __u64 parent_id)
{
	if (!t->sums)
		return;
	t->sums_below = parent_id;
	bpf_loop(SUMS, sums_step, &t, 0);
}

/*
 * How long the thread had not run between the call's begin and `now`. A kernel that preempts programs may have done so
 * since then, which is no affair of the call's any more.
 */
static __always_inline __u64 off_until(const struct thread *t, const struct frame *f, __u64 now)
{
	__u64 off = t->off_sum - f->off_begin;

	return unlikely(t->off_last_at > now) && off >= t->off_last ? off - t->off_last : off;
}

/* A call whose sum had to make room for another while it ran (recursion) is one by itself, of an unknown key. */
static __always_inline void aggregate_lone(struct thread *t, struct frame *f, __u64 now)
{
	__u32 at = buf_room(t, sizeof(struct rec_aggregate));
	struct rec_aggregate *r = aggregate_record(t, at, f->probe, f->depth, 1, 0);

	r->hdr.ts_ns = now;
	r->first_ns = f->begin_ns;
	r->total_ns = now - f->begin_ns - off_until(t, f, now);
	r->call_id = ++t->next_id;
	r->parent_id = f->parent_id;
	r->flags = 0;
	buf_commit(t, at + sizeof(*r), now);
}

/* A summed call ends. */
static __noinline int aggregate_end(struct thread *t, struct frame *f, __u64 now)
{
	struct sums *s = sums_of(t);
	__u32 i = f->buf_at;
	struct aggregate *g;

	barrier_var(i);
	if (!s || i >= SUMS)
		return 0;
	g = &s->sum[i];
	if (g->call_id != f->call_id) {
		aggregate_lone(t, f, now);
		return 0;
	}
	if (!g->hits)
		g->first_ns = f->begin_ns;
	g->last_ns = now;
	/* what the thread was off the CPU stands in its caller's books */
	g->total_ns += now - f->begin_ns - off_until(t, f, now);
	g->hits++;
	if (now - g->first_ns > AGGREGATE_LATE_NS)
		aggregate_flush(t, i);
	return 0;
}

#endif
