// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Off-CPU time: how long a thread did not run while probed calls were open. */
#include "maps.bpf.h"

SEC("tp_btf/sched_switch")
int BPF_PROG(fs_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	__u32 epoch = ctl.epoch;
	struct thread *t;

	if (!epoch)
		return 0;
	t = bpf_task_storage_get(&threads, prev, NULL, 0);
	if (t && t->top && t->epoch == epoch)
		t->off_at = bpf_ktime_get_ns();
	t = bpf_task_storage_get(&threads, next, NULL, 0);
	if (t && t->off_at) {
		t->off_sum += bpf_ktime_get_ns() - t->off_at;
		t->off_at = 0;
	}
	return 0;
}
