// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Calibration: sends the registers of a call and stops its process, so that what they point to can be looked at. */
#include "vmlinux.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "own_stack.bpf.h"
#include "regs.bpf.h"
#include "snoop_hit.h"

#define SIGNAL_STOP 19
#define MAX_ANCESTORS 16

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 18);
} hits SEC(".maps");

/* Written by the user side: the process whose descendants are stopped, and how many more calls of each site are. */
volatile __u32 root_tgid;
volatile __s32 budget[SNOOP_MAX_SITES];
/* A process of the tree that is left alone. */
volatile __u32 spared_tgid;
/* Calls of the tree, those included that were not stopped. */
volatile __u64 calls[SNOOP_MAX_SITES];

/* The file is a private copy, so nothing else should come here; what does is left alone. */
static __always_inline bool is_ours(void)
{
	struct task_struct *task = bpf_get_current_task_btf();

	for (int i = 0; i < MAX_ANCESTORS && task; i++) {
		__u32 tgid = BPF_CORE_READ(task, tgid);

		if (tgid == root_tgid)
			return true;
		if (tgid <= 1)
			return false;
		task = BPF_CORE_READ(task, group_leader, real_parent);
	}
	return false;
}

SEC("uprobe")
int snoop_call(struct pt_regs *ctx)
{
	__u64 site = bpf_get_attach_cookie(ctx), id = bpf_get_current_pid_tgid();
	struct snoop_hit *hit;

	ON_OWN_STACK(ctx);
	if (site >= SNOOP_MAX_SITES || !root_tgid || !is_ours())
		return 0;
	__sync_fetch_and_add(&calls[site], 1);
	if (budget[site] <= 0 || (__u32)(id >> 32) == spared_tgid)
		return 0;
	hit = bpf_ringbuf_reserve(&hits, sizeof(*hit), 0);
	if (!hit)
		return 0;
	/* not exact where threads race, which costs no more than another stop */
	budget[site]--;
	__builtin_memset(hit, 0, sizeof(*hit));
	hit->ts_ns = bpf_ktime_get_ns();
	hit->tid = id;
	hit->tgid = id >> 32;
	hit->site = site;
	regs_copy(hit->regs, ctx);
	hit->regs[REG_LOAD_BASE] = 0;
	if (bpf_send_signal(SIGNAL_STOP))
		bpf_ringbuf_discard(hit, 0);
	else
		bpf_ringbuf_submit(hit, 0);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
