// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Follows the target's processes: forks, execs, names, ends; and closes what is open when recording stops. */
#include "frames.bpf.h"

#define NR_CHUNKS (RECORD_MAX_DEPTH / CHUNK_FRAMES)

struct close_walk {
	struct thread *t;
	__u64 now;
	__u32 i;
};

static long close_step(__u64 n, struct close_walk *w)
{
	__u32 i = w->i;

	if (!i)
		return 1;
	w->i = --i;
	frame_end_slow(w->t, i, w->now, REC_F_CLIPPED);
	return 0;
}

/* Ends every open call: the thread ends, becomes another program, or recording stops. */
__noinline int stack_close_all(struct thread *t, __u64 now)
{
	struct close_walk w = { .t = t, .now = now };

	if (!t)
		return 0;
	w.i = t->top;
	bpf_loop(RECORD_MAX_DEPTH, close_step, &w, 0);
	aggregate_flush_below(t, ALL_PARENTS);
	t->top = 0;
	t->deep = 0;
	t->under = 0;
	return 0;
}

static __always_inline bool is_target(__u32 tgid)
{
	return bpf_map_lookup_elem(&targets, &tgid);
}

/* Not by way of a thread's buffer: these must not wait. */
static __always_inline void task_record(__u16 type, __u32 tid, __u32 tgid, __u32 child, struct task_struct *comm_of)
{
	struct rec_task r = {};

	r.hdr.type = type;
	r.hdr.size = sizeof(r);
	r.hdr.tid = tid;
	r.hdr.ts_ns = bpf_ktime_get_ns();
	r.tgid = tgid;
	r.child_tgid = child;
	bpf_probe_read_kernel(r.comm, sizeof(r.comm), comm_of->comm);
	if (bpf_ringbuf_output(&ring, &r, sizeof(r), BPF_RB_FORCE_WAKEUP)) {
		__sync_fetch_and_add(&ctl.lost, 1);
		__sync_fetch_and_add(&ctl.lost_other, 1);
	}
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(fs_fork, struct task_struct *parent, struct task_struct *child)
{
	__u32 tgid = child->tgid, one = 1;

	if (tgid == parent->tgid || !ctl.follow || !is_target(parent->tgid))
		return 0;
	bpf_map_update_elem(&targets, &tgid, &one, BPF_ANY);
	task_record(REC_FORK, parent->pid, parent->tgid, tgid, child);
	return 0;
}

static __always_inline struct thread *live_thread(__u32 tid)
{
	struct thread *t = thread_find(tid);

	return t && ctl.epoch && t->epoch == ctl.epoch ? t : NULL;
}

static long drop_chunk(__u64 i, struct thread **ctx)
{
	__u64 key = (__u64)(*ctx)->tid << 32 | (i + 1);

	bpf_map_delete_elem(&deep_frames, &key);
	return 0;
}

static __always_inline void sums_release(struct thread *t)
{
	__u32 row = t->sums - 1;

	if (row < SUM_ROWS)
		sum_owners.tid[row] = 0;
	t->sums = 0;
}

/* The thread is no more: its calls end, its slot becomes free. */
static __always_inline void thread_release(__u32 tid)
{
	struct thread *t = thread_find(tid);
	__u32 first = bucket_of(tid);

	if (!t)
		return;
	if (ctl.epoch && t->epoch == ctl.epoch) {
		stack_close_all(t, bpf_ktime_get_ns());
		buf_flush(t);
	}
	if (t->max_top > CHUNK_FRAMES)
		bpf_loop(NR_CHUNKS - 1, drop_chunk, &t, 0);
	t->epoch = 0;
	sums_release(t);
	for (int i = 0; i < BUCKET_SLOTS; i++)
		if (owners.tid[first + i] == tid)
			owners.tid[first + i] = 0;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(fs_exec, struct task_struct *task, pid_t old_pid)
{
	if (!is_target(task->tgid))
		return 0;
	/* a thread that isn't the first takes over the process's number: it begins anew */
	thread_release(old_pid);
	task_record(REC_EXEC, task->pid, task->tgid, 0, task);
	return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(fs_task_exit, struct task_struct *task)
{
	__u32 tgid = task->tgid;

	/* first, since the process may have come to its end, below, while this thread was on its way here */
	thread_release(task->pid);
	if (!is_target(tgid) || BPF_CORE_READ(task, signal, live.counter))
		return 0;
	task_record(REC_EXIT, task->pid, tgid, 0, task);
	bpf_map_delete_elem(&targets, &tgid);
	return 0;
}

SEC("tp_btf/task_rename")
int BPF_PROG(fs_rename, struct task_struct *task, const char *comm)
{
	char name[16] = {};
	struct thread *t;

	if (!is_target(task->tgid))
		return 0;
	t = live_thread(task->pid);
	/* only by itself: its buffer isn't another thread's to write to */
	if (!t || task != bpf_get_current_task_btf())
		return 0;
	bpf_probe_read_kernel_str(name, sizeof(name), comm);
	buf_thread_record(t, name, bpf_ktime_get_ns());
	return 0;
}

/* Read once by the user side after disarming: ends what is open, sends what waits. */
SEC("iter/task")
int fs_close(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct thread *t;

	if (!task || !ctl.closing)
		return 0;
	t = thread_find(task->pid);
	if (!t || t->epoch != ctl.closing)
		return 0;
	if (t->off_at) {
		/* it is asleep: blocked up to the end, which may lie before what was running just then */
		if (ctl.now_ns > t->off_at)
			t->off_sum += ctl.now_ns - t->off_at;
		t->off_at = 0;
	}
	stack_close_all(t, ctl.now_ns);
	buf_flush(t);
	t->epoch = 0;
	return 0;
}
