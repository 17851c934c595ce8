// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A target's thread stops or begins to run: off-CPU time of its open calls, and its records leave its buffer. */
#include "buffer.bpf.h"
#include "metrics.bpf.h"

#define WARM_BYTES 2048

/*
 * Our own thread's calls of twins are to cost what the target's do, but they are few and far between: it gets the
 * buffer that they write to into the CPU's cache first.
 */
static __noinline void warm_up(struct thread *t)
{
	if (t->tid == ctl.twin_tid && t->len <= CHUNK_BYTES)
		bpf_probe_read_kernel(t->buf + CHUNK_BYTES, WARM_BYTES, t->buf + CHUNK_BYTES + WARM_BYTES);
}

SEC("tp_btf/sched_switch")
int BPF_PROG(fs_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	__u32 epoch = ctl.epoch;
	struct thread *t;

	if (!epoch)
		return 0;
	t = thread_find(prev->pid);
	if (t && t->epoch == epoch) {
		__u64 now = bpf_ktime_get_ns();

		if (nr_counters)
			counters_stop(t);

		if (t->top)
			t->off_at = now;
		if (t->len > CHUNK_BYTES && !t->busy && buf_may_go(t, now))
			buf_flush(t);
	}
	t = thread_find(next->pid);
	if (nr_counters && t && t->epoch == epoch)
		counters_start(t);
	if (!t)
		return 0;
	if (t->off_at) {
		t->off_last_at = t->off_at;
		t->off_last = bpf_ktime_get_ns() - t->off_at;
		t->off_sum += t->off_last;
		t->off_at = 0;
	}
	warm_up(t);
	return 0;
}
