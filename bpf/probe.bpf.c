// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The probes themselves: a hit becomes a begin or end record of its thread. */
#define DEFINE_MAPS
#include "args.bpf.h"
#include "direct_find.bpf.h"
#include "own_stack.bpf.h"
#include "stack.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

#define MAX_RETURN_PROBES 64	/* MAX_URETPROBE_DEPTH of kernel/events/uprobes.c */

/* A slot for a thread that has none, if it belongs to the target. */
static __noinline struct thread *thread_new(__u32 tid, __u32 tgid, __u32 probe)
{
	__u32 first = bucket_of(tid), slot;
	struct thread *t;

	if (!bpf_map_lookup_elem(&targets, &tgid) && tid != ctl.twin_tid)
		return NULL;
	for (int i = 0; i < BUCKET_SLOTS; i++) {
		slot = first + i;
		if (owners.tid[slot] || __sync_val_compare_and_swap(&owners.tid[slot], 0, tid))
			continue;
		t = bpf_map_lookup_elem(&threads, &slot);
		if (!t)
			break;
		t->epoch = 0;
		t->max_top = 0;
		t->slot = slot;
		t->sums = 0;
		t->next_id = (__sync_fetch_and_add(&ctl.serial, 1) + 1) << 32;
		return t;
	}
	__sync_fetch_and_add(&ctl.no_room, 1);
	__sync_fetch_and_add(&ctl.lost, 1);
	COUNT(probe, lost_begins, 1);
	return NULL;
}

/* The first hit of a recording: nothing of an earlier one may show. */
__noinline int thread_reset(struct thread *t, __u32 epoch)
{
	__u64 id = bpf_get_current_pid_tgid();
	struct wire_chunk *chunk;
	char comm[16] = {};

	if (!t)
		return 0;
	t->tid = id;
	t->tgid = id >> 32;
	t->epoch = epoch;
	t->top = 0;
	t->deep = 0;
	t->under = 0;
	t->off_at = 0;
	t->off_sum = 0;
	t->off_last_at = 0;
	t->cage_at = 0;
	for (int i = 0; i < RECORD_MAX_METRICS; i++)
		t->counter_sum[i] = 0;
	if (nr_counters)
		counters_start(t);
	chunk = (void *)t->buf;
	chunk->kind = WIRE_CHUNK;
	chunk->tid = t->tid;
	chunk->tgid = t->tgid;
	buf_reset(t);
	bpf_get_current_comm(comm, sizeof(comm));
	buf_thread_record(t, comm, bpf_ktime_get_ns());
	return 0;
}

static __always_inline struct thread *thread_get(struct task_struct *task, __u32 epoch, __u32 probe)
{
	struct thread *t = thread_find(task->pid);

	if (unlikely(!t)) {
		t = thread_new(task->pid, task->tgid, probe);
		if (!t)
			return NULL;
	}
	t->busy = 1;
	if (unlikely(t->epoch != epoch))
		thread_reset(t, epoch);
	return t;
}

/* Is the return address at the stack pointer the kernel's? Then the caller was jumped from and still waits. */
static __noinline bool entered_by_jump(struct task_struct *task, __u64 sp)
{
	struct xol_area *area = task->mm ? task->mm->uprobes_state.xol_area : NULL;
	__u64 ret = 0;

	return area && !bpf_probe_read_user(&ret, sizeof(ret), (void *)sp) && ret == area->vaddr;
}

static __always_inline bool no_return_probe(struct task_struct *task)
{
	struct uprobe_task *u = task->utask;

	return u && u->depth >= MAX_RETURN_PROBES;
}

/* At the begin of the call in that frame. */
static __noinline int metrics_begin(struct thread *t, __u32 frame)
{
	struct metric_values *m = metrics_of(t, frame);
	struct task_struct *task = bpf_get_current_task_btf();

	if (!m)
		return 0;
	for (__u32 i = 0; i < RECORD_MAX_METRICS && i < nr_metrics; i++)
		m->v[i] = metric_now(task, t, i);
	return 0;
}

#define ARGS_FAILED (1ull << 32)

/*
 * The arguments as the probe's description says, from offset `at` on, out of t->regs: where they end, with ARGS_FAILED if one
 * could not be read. Global, so that the verifier goes through it once and not for each of its callers.
 */
__noinline __u64 read_args(struct thread *t, __u32 probe, __u32 at)
{
	struct probe_spec *spec = bpf_map_lookup_elem(&specs, &probe);
	struct arg_ctx a = { .at = at, .begin = at };

	if (!t || !spec)
		return at;
	args_begin(t, &a, spec);
	for (__u32 i = 0; i < RECORD_MAX_ARGS; i++) {
		if (i >= spec->nr_args)
			break;
		read_field(t, &a, &spec->args[i]);
	}
	a.missed &= ~a.have;
	if (unlikely(a.missed))
		args_failed(probe, a.missed);
	if (unlikely(a.faulted))
		COUNT(probe, faulted_in, a.faulted);
	return a.missed ? a.at | ARGS_FAILED : a.at;
}

static __always_inline __u32 put_args(struct pt_regs *ctx, struct thread *t, __u32 probe, __u32 at, __u32 *flags)
{
	__u64 end;

	regs_copy(t->regs, ctx);
	end = read_args(t, probe, at);
	if (unlikely(end & ARGS_FAILED))
		*flags |= REC_F_READ_FAILED;
	return end;
}

/*
 * The time, and for how long the thread had not run by then. Where a kernel preempts programs, it may do so between the
 * two: then both once more, lest what lies between counts on one side only.
 */
static __always_inline __u64 now_and_off(struct thread *t, __u64 *off)
{
	__u64 now;

	*off = t->off_sum;
	now = bpf_ktime_get_ns();
	if (unlikely(*(volatile __u64 *)&t->off_sum != *off)) {
		*off = t->off_sum;
		now = bpf_ktime_get_ns();
	}
	return now;
}

/* The frame holds when: the stack has no room. */
static __always_inline void begins_now(struct thread *t, struct frame *f)
{
	__u64 off;

	f->begin_ns = now_and_off(t, &off);
	f->off_begin = off;
}

/* How long a thread ran in so much time, off the CPU for some of it. */
static __always_inline __u64 ran(__u64 wall, __u64 off)
{
	return off < wall ? wall - off : 0;
}

/* For how long the thread has run since then. */
static __always_inline __u32 ran_since(const struct frame *f, __u64 off_sum, __u64 now)
{
	return saturate(ran(now - f->begin_ns, off_sum - f->off_begin));
}

/*
 * Appends a begin or mark. The time is taken last, so that reading the arguments falls to the caller. How long that
 * takes differs by far more than all the rest, from probe to probe and from call to call: it is measured each time.
 */
static __always_inline __u64 put_begin(struct pt_regs *ctx, struct thread *t, __u64 cookie, struct frame *f, __u8 kind,
				       __u32 flags)
{
	__u32 at = buf_room(t, sizeof(struct wire_begin) + ROOM_SMALL), args = at + sizeof(struct wire_begin), end = 0;
	struct wire_begin *b;
	__u64 now, off;

	if (cookie & COOKIE_CSTR)
		end = read_cookie_cstr(ctx, t, cookie, args);
	if (!end && cookie & COOKIE_ARGS) {
		kind |= WIRE_READ;
		begins_now(t, f);
		end = put_args(ctx, t, COOKIE_PROBE(cookie), args + sizeof(f->read_ns), &flags);
	}
	if (!end)
		end = args;
	b = (void *)t->buf + at;
	b->kind = kind;
	b->flags = flags;
	b->arg_bytes = end - args;
	b->id = f->call_id;
	b->sp = f->sp;
	b->up = f->parent_id ? f->call_id - f->parent_id : 0;
	b->probe = f->probe;
	b->depth = f->depth;
	now = now_and_off(t, &off);
	b->ts_ns = now;
	f->read_ns = 0;
	if (kind & WIRE_READ) {
		f->read_ns = ran_since(f, off, now);
		*(__u32 *)(b + 1) = f->read_ns;
	}
	f->begin_ns = now;
	f->off_begin = off;
	f->generation = t->generation;
	f->buf_at = at;
	end = (end + 7) & ~7u;
	f->buf_end = end;
	buf_commit(t, end, now);
	return now;
}

/* The parent of a call at `sp`; NULL: none. */
static __always_inline struct frame *parent_of(struct task_struct *task, struct thread *t, __u64 sp, __u32 *flags,
					       __u32 *parent_top)
{
	__u32 top = t->top, found;
	struct frame *f;

	*parent_top = top;
	if (!top)
		return NULL;
	f = frame_at(t, top - 1);
	if (likely(f && f->sp - sp - 1 < STACK_FAR - 1))
		return f;
	found = stack_find_parent(t, sp, f && f->sp == sp && entered_by_jump(task, sp));
	*flags |= found >> 16;
	found &= 0xffff;
	*parent_top = found;
	return found ? frame_at(t, found - 1) : NULL;
}

/* Do these two probes stand on one function? */
static __noinline bool same_function(__u32 probe, __u32 other)
{
	struct probe_spec *a = bpf_map_lookup_elem(&specs, &probe), *b = bpf_map_lookup_elem(&specs, &other);

	return a && b && a->vaddr == b->vaddr;
}

/*
 * Where a mark and a call are probes of one function, the call that began at this stack pointer isn't gone: the mark lies
 * in it. NULL: there is no such call.
 */
static __always_inline struct frame *own_call(struct thread *t, __u64 cookie, __u64 sp)
{
	struct frame *f = t->top ? frame_at(t, t->top - 1) : NULL;

	return f && f->sp == sp && same_function(COOKIE_PROBE(cookie), f->probe) ? f : NULL;
}

static __noinline int begin_deep(struct thread *t, __u32 probe)
{
	struct frame *f = frame_at(t, RECORD_MAX_DEPTH - 1);

	t->deep++;
	if (f)
		f->rec_flags |= REC_F_DEEP;
	COUNT(probe, too_deep, 1);
	return 0;
}

/* Where a call's frame goes; NULL: nowhere. */
static __always_inline struct frame *frame_push(struct thread *t, __u32 probe)
{
	__u32 top = t->top;

	if (likely(top < CHUNK_FRAMES))
		return &t->frames[top];
	if (top < RECORD_MAX_DEPTH)
		return frame_deep_new(t, top);
	begin_deep(t, probe);
	return NULL;
}

static __always_inline void put_mark(struct pt_regs *ctx, struct thread *t, __u64 cookie, struct frame *parent, __u64 sp,
				     __u32 flags)
{
	struct frame f = {};

	f.call_id = ++t->next_id;
	f.sp = sp;
	f.probe = COOKIE_PROBE(cookie);
	if (parent) {
		f.parent_id = parent->call_id;
		f.depth = parent->depth + 1;
	}
	put_begin(ctx, t, cookie, &f, WIRE_MARK, flags);
	/* marks are few, and what they tell may be waited for */
	buf_flush(t);
}

/* A row for a thread that has none; false: all are taken. */
static __noinline bool sums_new(struct thread *t)
{
	for (__u32 i = 0; i < SUM_ROWS; i++) {
		if (i >= nr_sum_rows)
			break;
		if (sum_owners.tid[i] || __sync_val_compare_and_swap(&sum_owners.tid[i], 0, t->tid))
			continue;
		t->sums = i + 1;
		return true;
	}
	return false;
}

static __always_inline bool is_sum_of(const struct aggregate *g, __u64 key, __u32 probe, __u64 parent_id)
{
	return g->hits && g->key == key && g->probe == probe && g->parent_id == parent_id;
}

/* SUMS + the place of that sum; or a place for a new one: a free one, or else that of another sum. */
static __noinline __u32 aggregate_find(struct sums *s, __u64 key, __u32 probe, __u64 parent_id)
{
	__u32 hash = ((__u32)(key >> 3) ^ (__u32)(key >> 32) ^ probe) * 0x9e3779b1u;
	__u32 first = hash % (SUMS / SUM_WAYS) * SUM_WAYS, place = first + (hash >> 16) % SUM_WAYS;

	for (__u32 i = 0; i < SUM_WAYS; i++) {
		struct aggregate *g = &s->sum[(first + i) % SUMS];

		if (is_sum_of(g, key, probe, parent_id))
			return SUMS + first + i;
		if (!g->hits && s->sum[place % SUMS].hits)
			place = first + i;
	}
	return place;
}

/*
 * The sum that this call of an aggregate probe belongs to: where it stands. Only a new one costs the reading of its
 * arguments; they are read to the end of the buffer, where nothing is yet.
 */
static __always_inline __u32 aggregate_of(struct pt_regs *ctx, struct thread *t, __u64 cookie, struct frame *parent,
					  struct frame *f)
{
	__u64 key = 0, parent_id = parent ? parent->call_id : 0;
	__u32 probe = COOKIE_PROBE(cookie), flags = 0, i, at, end;
	struct probe_spec *spec;
	struct aggregate *g;
	struct sums *s;

	s = sums_of(t);
	if (!s)
		return SUMS;
	spec = cookie & COOKIE_KEY ? NULL : bpf_map_lookup_elem(&specs, &probe);
	if (cookie & COOKIE_KEY) {
		key = arg_register(ctx, COOKIE_REG(cookie));
	} else if (spec && spec->nr_args) {
		struct arg_ctx a = {};

		regs_copy(t->regs, ctx);
		args_begin(t, &a, spec);
		if (run_steps(t, &a, &spec->args[0]))
			key = a.value;
	}
	i = aggregate_find(s, key, probe, parent_id);
	barrier_var(i);
	if (i >= SUMS)
		return i - SUMS;
	g = &s->sum[i];
	aggregate_flush(t, i);
	at = buf_room(t, sizeof(struct rec_aggregate) + AGGREGATE_ARGS + ROOM_SMALL);
	end = at;
	if (cookie & COOKIE_ARGS) {
		begins_now(t, f);
		end = put_args(ctx, t, probe, at, &flags);
		if (parent)
			parent->measured_ns += ran_since(f, t->off_sum, bpf_ktime_get_ns());
	}
	g->arg_bytes = 0;
	if (end > at && end - at <= AGGREGATE_ARGS) {
		bpf_probe_read_kernel(g->args, AGGREGATE_ARGS, t->buf + at);
		g->arg_bytes = end - at;
	}
	g->key = key;
	g->parent_id = parent_id;
	g->call_id = ++t->next_id;
	g->probe = probe;
	g->depth = parent ? parent->depth + 1 : 0;
	g->flags = flags;
	g->total_ns = 0;
	return i;
}

static __always_inline int begin_summed(struct pt_regs *ctx, struct thread *t, __u64 cookie, struct frame *parent,
				   struct frame *f)
{
	__u32 i = aggregate_of(ctx, t, cookie, parent, f);
	struct sums *s = sums_of(t);

	barrier_var(i);
	if (!s || i >= SUMS)
		return 0;
	f->call_id = s->sum[i].call_id;
	f->flags |= FRAME_SUMMED;
	f->buf_at = i;
	if (parent)
		parent->flags |= FRAME_SUMS;
	begins_now(t, f);
	return 0;
}

/*
 * Sends the buffer and tells the call that it happened in, if there is one. It falls to one call in many and takes as
 * long as a call does: no calibration tells that better.
 */
static __always_inline void send(struct thread *t, struct frame *f)
{
	__u64 off, off_end, since = now_and_off(t, &off), end;

	buf_flush(t);
	end = now_and_off(t, &off_end);
	if (f)
		f->measured_ns += ran(end - since, off_end - off);
}

static __always_inline int begin_call(struct pt_regs *ctx, struct task_struct *task, struct thread *t, __u64 cookie,
				      __u8 frame_flags)
{
	__u32 parent_top, flags = 0;
	struct frame *f, *parent;
	__u64 now, sp;

	if (cookie & (COOKIE_CSTR | COOKIE_ARGS | COOKIE_AGGREGATE))
		direct_begin(t, task);
	sp = PT_REGS_SP(ctx);
	parent = cookie & COOKIE_MARK ? own_call(t, cookie, sp) : NULL;
	if (!parent)
		parent = parent_of(task, t, sp, &flags, &parent_top);
	if (cookie & COOKIE_MARK) {
		put_mark(ctx, t, cookie, parent, sp, flags);
		return 1;
	}
	f = frame_push(t, COOKIE_PROBE(cookie));
	if (!f)
		return 1;
	/* calls below a summed one are its caller's: it has no record to be found by */
	if (unlikely(parent && parent->flags & FRAME_SUMMED)) {
		parent_top = parent->parent;
		parent = parent_top ? frame_at(t, parent_top - 1) : NULL;
	}
	f->call_id = ++t->next_id;
	f->sp = sp;
	f->parent_id = parent ? parent->call_id : 0;
	f->depth = parent ? parent->depth + 1 : 0;
	f->probe = COOKIE_PROBE(cookie);
	f->hidden_ns = 0;
	f->hidden_hits = 0;
	f->measured_ns = 0;
	f->flags = frame_flags;
	f->rec_flags = 0;
	f->parent = parent_top;
	if (unlikely(cookie & COOKIE_OPENER)) {
		f->flags |= FRAME_OPENER;
		t->under++;
	}
	if (frame_flags & FRAME_RETURN && unlikely(no_return_probe(task)))
		f->flags |= FRAME_NO_RETURN;
	if (unlikely(cookie & COOKIE_AGGREGATE) && (t->sums || sums_new(t))) {
		begin_summed(ctx, t, cookie, parent, f);
		t->top++;
		return 0;
	}
	if (nr_metrics)
		metrics_begin(t, t->top);
	now = put_begin(ctx, t, cookie, f, WIRE_BEGIN, flags);
	t->top++;
	if (unlikely(t->len > buf_full || now - t->buf_since > BUF_LATE_NS) && buf_may_go(t, now))
		send(t, f);
	return 0;
}

static __always_inline bool is_off(__u32 probe)
{
	return probe < RECORD_MAX_PROBES && ctl.off[probe / 64] >> probe % 64 & 1;
}

/* 1: nothing is to be done when the call ends. */
static __always_inline int begin(struct pt_regs *ctx, __u64 cookie, __u8 frame_flags)
{
	struct task_struct *task;
	__u32 epoch = ctl.epoch;
	struct thread *t;
	int rc;

	if (!epoch || (unlikely(ctl.nr_off) && is_off(COOKIE_PROBE(cookie))))
		return 1;
	task = bpf_get_current_task_btf();
	t = thread_get(task, epoch, COOKIE_PROBE(cookie));
	if (!t)
		return 1;
	if (unlikely(ctl.only_under) && !t->under && !(cookie & COOKIE_OPENER)) {
		COUNT(COOKIE_PROBE(cookie), hidden, 1);
		rc = 1;
	} else {
		rc = begin_call(ctx, task, t, cookie, frame_flags);
	}
	t->busy = 0;
	return rc;
}

/* The end of a call that had begun before this recording: is it the target's at all? */
static __noinline int end_unknown(__u32 probe)
{
	__u32 tgid = bpf_get_current_pid_tgid() >> 32;

	if (bpf_map_lookup_elem(&targets, &tgid))
		COUNT(probe, orphan_exits, 1);
	return 0;
}

static __always_inline int end(__u32 probe, __u64 sp)
{
	__u64 now = bpf_ktime_get_ns();
	__u32 epoch = ctl.epoch, top;
	struct thread *t;
	struct frame *f;

	if (!epoch)
		return 0;
	t = thread_find(bpf_get_current_pid_tgid());
	if (unlikely(!t || t->epoch != epoch))
		return end_unknown(probe);
	t->busy = 1;
	top = t->top;
	f = top ? frame_at(t, top - 1) : NULL;
	if (likely(f && f->probe == probe && f->sp == sp)) {
		t->top = top - 1;
		t->deep = 0;
		frame_end(t, f, top - 1, now, 0);
		/* what was closed below it while it was open */
		if (unlikely(top > 1)) {
			f = frame_at(t, top - 2);
			if (unlikely(f && f->flags & FRAME_CLOSED))
				stack_trim(t);
		}
	} else {
		stack_exit_slow(t, sp, now, probe);
	}
	if (unlikely(t->len > buf_full || now - t->buf_since > BUF_LATE_NS) && buf_may_go(t, now)) {
		top = t->top;
		send(t, top ? frame_at(t, top - 1) : NULL);
	}
	t->busy = 0;
	return 0;
}

/*
 * One program for both ends, kernel 6.13 and later. At entry the instruction pointer is the function's own; where
 * already its place in the page differs, the kernel need not be asked.
 */
SEC("uprobe")
int fs_session(struct pt_regs *ctx)
{
	__u64 cookie = bpf_get_attach_cookie(ctx), ip = PT_REGS_IP(ctx);

	ON_OWN_STACK(ctx);
	if ((ip & 0xfff) == COOKIE_PAGE_OFFSET(cookie) && bpf_get_func_ip(ctx) == ip)
		return begin(ctx, cookie, FRAME_RETURN);
	return end(COOKIE_PROBE(cookie), PT_REGS_SP(ctx) - RETURN_SP_OFFSET);
}

/* Before a return probe by a link of its own. Never returns 1: kernels before 6.13 would remove the probe. */
SEC("uprobe")
int fs_begin_return(struct pt_regs *ctx)
{
	ON_OWN_STACK(ctx);
	begin(ctx, bpf_get_attach_cookie(ctx), FRAME_RETURN);
	return 0;
}

SEC("uprobe")
int fs_return(struct pt_regs *ctx)
{
	ON_OWN_STACK(ctx);
	return end(COOKIE_PROBE(bpf_get_attach_cookie(ctx)), PT_REGS_SP(ctx) - RETURN_SP_OFFSET);
}

/* Marks, and calls that end at exit probes. */
SEC("uprobe")
int fs_begin(struct pt_regs *ctx)
{
	ON_OWN_STACK(ctx);
	begin(ctx, bpf_get_attach_cookie(ctx), 0);
	return 0;
}

/* On a return instruction or tail jump: the stack pointer is what it was at the function's first instruction. */
SEC("uprobe")
int fs_exit(struct pt_regs *ctx)
{
	ON_OWN_STACK(ctx);
	return end(COOKIE_PROBE(bpf_get_attach_cookie(ctx)), PT_REGS_SP(ctx));
}
