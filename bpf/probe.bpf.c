// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The probes themselves: a hit becomes a begin or end record of its thread. */
#define DEFINE_MAPS
#include "args.bpf.h"
#include "stack.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

#define MAX_RETURN_PROBES 64	/* MAX_URETPROBE_DEPTH of kernel/events/uprobes.c */

/* A thread's state, if it belongs to the target. */
static __noinline struct thread *thread_new(struct task_struct *task)
{
	__u32 tgid = task->tgid;
	struct thread *t;

	if (!bpf_map_lookup_elem(&targets, &tgid))
		return NULL;
	t = bpf_task_storage_get(&threads, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!t) {
		__sync_fetch_and_add(&ctl.no_memory, 1);
		return NULL;
	}
	t->next_id = (__sync_fetch_and_add(&ctl.serial, 1) + 1) << 32;
	return t;
}

/* The first hit of a recording: nothing of an earlier one may show. */
__noinline int thread_reset(struct thread *t, __u32 epoch)
{
	__u64 id = bpf_get_current_pid_tgid();
	char comm[16] = {};

	if (!t)
		return 0;
	t->tid = id;
	t->tgid = id >> 32;
	t->epoch = epoch;
	t->top = 0;
	t->deep = 0;
	t->under = 0;
	t->len = 0;
	t->off_at = 0;
	t->off_sum = 0;
	bpf_get_current_comm(comm, sizeof(comm));
	buf_thread_record(t, comm, bpf_ktime_get_ns());
	return 0;
}

static __always_inline struct thread *thread_get(struct task_struct *task, __u32 epoch)
{
	struct thread *t = bpf_task_storage_get(&threads, task, NULL, 0);

	if (unlikely(!t)) {
		t = thread_new(task);
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

/* Appends a begin or mark. The time is taken last, so that reading the arguments falls to the caller. */
static __always_inline __u64 put_begin(struct pt_regs *ctx, struct thread *t, struct probe_spec *spec, __u32 probe,
				       struct frame *f, __u16 type, __u16 flags)
{
	struct rec_begin *b;
	__u32 at, end;
	__u64 now;

	at = buf_room(t, sizeof(*b) + ROOM_SMALL);
	end = spec->form == FORM_CSTR ? read_form_cstr(ctx, t, &spec->args[0], at + sizeof(*b)) : 0;
	if (!end)
		end = at + sizeof(*b);
	if (spec->nr_args && end == at + sizeof(*b)) {
		struct arg_walk w = { .t = t, .spec = spec };

		w.a.at = end;
		w.a.cage = spec->cage;
		w.a.load_base = PT_REGS_IP(ctx) - spec->vaddr;
		regs_copy(t->regs, ctx, w.a.load_base);
		bpf_loop(RECORD_MAX_ARGS, args_step, &w, 0);
		end = w.a.at;
		w.a.missed &= ~w.a.have;
		if (unlikely(w.a.missed)) {
			COUNT(probe, read_failed, args_failed(w.a.missed));
			flags |= REC_F_READ_FAILED;
		}
		if (unlikely(w.a.faulted))
			COUNT(probe, faulted_in, w.a.faulted);
	}
	if (at > ROOM_END - sizeof(*b))
		return 0;
	b = (void *)t->buf + at;
	b->hdr.type = type;
	b->hdr.size = (end - at + 7) & ~7u;
	b->hdr.tid = t->tid;
	b->call_id = f->call_id;
	b->parent_id = f->parent_id;
	b->sp = f->sp;
	b->probe = probe;
	b->tgid = t->tgid;
	b->depth = f->depth;
	b->flags = flags;
	b->arg_bytes = end - at - sizeof(*b);
	b->pad = 0;
	now = bpf_ktime_get_ns();
	b->hdr.ts_ns = now;
	f->begin_ns = now;
	f->buf_at = at;
	f->generation = t->generation;
	if (!t->len)
		t->buf_since = now;
	t->len = (end + 7) & ~7u;
	return now;
}

/* The parent of a call at `sp`; NULL: none. */
static __always_inline struct frame *parent_of(struct task_struct *task, struct thread *t, __u64 sp, __u16 *flags,
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

static __noinline int begin_deep(struct thread *t, __u32 probe)
{
	struct frame *f = frame_at(t, RECORD_MAX_DEPTH - 1);

	t->deep++;
	if (f)
		f->rec_flags |= REC_F_DEEP;
	COUNT(probe, too_deep, 1);
	return 0;
}

static __always_inline int begin_call(struct pt_regs *ctx, struct task_struct *task, struct thread *t, __u32 probe,
				      __u8 frame_flags)
{
	struct frame *f, *parent, mark;
	struct probe_spec *spec;
	__u32 parent_top;
	__u16 flags = 0;
	__u64 now, sp;

	spec = bpf_map_lookup_elem(&specs, &probe);
	if (!spec || spec->flags & PROBE_OFF)
		return 1;
	sp = PT_REGS_SP(ctx);
	parent = parent_of(task, t, sp, &flags, &parent_top);
	if (spec->flags & PROBE_MARK) {
		f = &mark;
		__builtin_memset(f, 0, sizeof(*f));
	} else if (likely(t->top < CHUNK_FRAMES)) {
		f = &t->frames[t->top];
	} else if (t->top < RECORD_MAX_DEPTH) {
		f = frame_deep_new(t, t->top);
		if (!f)
			return 1;
	} else {
		return begin_deep(t, probe);
	}
	f->call_id = ++t->next_id;
	f->sp = sp;
	f->parent_id = parent ? parent->call_id : 0;
	f->depth = parent ? parent->depth + 1 : 0;
	f->probe = probe;
	COUNT(probe, calls, 1);
	if (spec->flags & PROBE_MARK) {
		put_begin(ctx, t, spec, probe, f, REC_MARK, flags);
		buf_flush(t);
		return 1;
	}
	f->off_begin = t->off_sum;
	f->hidden_ns = 0;
	f->hidden_hits = 0;
	f->flags = frame_flags;
	f->rec_flags = 0;
	f->parent = parent_top;
	if (frame_flags & FRAME_RETURN && unlikely(no_return_probe(task)))
		f->flags |= FRAME_NO_RETURN;
	now = put_begin(ctx, t, spec, probe, f, REC_BEGIN, flags);
	t->top++;
	if (unlikely(now - t->buf_since > BUF_LATE_NS))
		buf_flush(t);
	return 0;
}

/* 1: nothing is to be done when the call ends. */
static __always_inline int begin(struct pt_regs *ctx, __u32 probe, __u8 frame_flags)
{
	struct task_struct *task;
	__u32 epoch = ctl.epoch;
	struct thread *t;
	int rc;

	if (!epoch)
		return 1;
	task = bpf_get_current_task_btf();
	t = thread_get(task, epoch);
	if (!t)
		return 1;
	rc = begin_call(ctx, task, t, probe, frame_flags);
	t->busy = 0;
	return rc;
}

static __always_inline int end(__u32 probe, __u64 sp)
{
	__u64 now = bpf_ktime_get_ns();
	__u32 epoch = ctl.epoch, top;
	struct thread *t;
	struct frame *f;

	if (!epoch)
		return 0;
	t = bpf_task_storage_get(&threads, bpf_get_current_task_btf(), NULL, 0);
	if (!t || t->epoch != epoch) {
		__u32 tgid = bpf_get_current_pid_tgid() >> 32;

		if (bpf_map_lookup_elem(&targets, &tgid))
			COUNT(probe, orphan_exits, 1);
		return 0;
	}
	t->busy = 1;
	top = t->top;
	f = top ? frame_at(t, top - 1) : NULL;
	if (likely(f && f->probe == probe && f->sp == sp)) {
		t->top = top - 1;
		t->deep = 0;
		frame_end(t, f, now, 0);
		/* what was closed below it while it was open */
		if (unlikely(top > 1)) {
			f = frame_at(t, top - 2);
			if (unlikely(f && f->flags & FRAME_CLOSED))
				stack_trim(t);
		}
	} else {
		stack_exit_slow(t, sp, now, probe);
	}
	if (t->len > BUF_FULL || unlikely(now - t->buf_since > BUF_LATE_NS))
		buf_flush(t);
	t->busy = 0;
	return 0;
}

/* One program for both ends, kernel 6.13 and later. At entry the instruction pointer is the function's own. */
SEC("uprobe.s")
int fs_session(struct pt_regs *ctx)
{
	__u32 probe = bpf_get_attach_cookie(ctx);

	if (bpf_get_func_ip(ctx) == PT_REGS_IP(ctx))
		return begin(ctx, probe, FRAME_RETURN);
	return end(probe, PT_REGS_SP(ctx) - RETURN_SP_OFFSET);
}

/* Before a return probe by a link of its own. Never returns 1: kernels before 6.13 would remove the probe. */
SEC("uprobe.s")
int fs_begin_return(struct pt_regs *ctx)
{
	begin(ctx, bpf_get_attach_cookie(ctx), FRAME_RETURN);
	return 0;
}

SEC("uprobe.s")
int fs_return(struct pt_regs *ctx)
{
	return end(bpf_get_attach_cookie(ctx), PT_REGS_SP(ctx) - RETURN_SP_OFFSET);
}

/* Marks, and calls that end at exit probes. */
SEC("uprobe.s")
int fs_begin(struct pt_regs *ctx)
{
	begin(ctx, bpf_get_attach_cookie(ctx), 0);
	return 0;
}

/* On a return instruction or tail jump: the stack pointer is what it was at the function's first instruction. */
SEC("uprobe.s")
int fs_exit(struct pt_regs *ctx)
{
	return end(bpf_get_attach_cookie(ctx), PT_REGS_SP(ctx));
}
