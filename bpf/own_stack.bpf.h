/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Keeps programs of uprobes on the stack of the thread that runs them.
 *
 * From 6.13 on the kernel gives programs of their type a stack for each CPU (its commit a76ab5731e32), since it takes them
 * for kprobes, which nothing else can come between. But a uprobe's is preempted, and sleeps while it faults a page in:
 * whoever hits a probe on the same CPU meanwhile overwrites its stack, and it goes on with that thread's pointers. 6.18 was
 * seen to write to such addresses and to end the thread in mid-program. Programs with a tail call get no such stack, and
 * the verifier looks for one before it drops what never runs.
 */
#ifndef FRAMESCOPE_OWN_STACK_BPF_H
#define FRAMESCOPE_OWN_STACK_BPF_H

const volatile bool never;

/* First in every program of a uprobe. */
#define ON_OWN_STACK(ctx) do {			\
	if (never)				\
		bpf_tail_call(ctx, NULL, 0);	\
} while (0)

#endif
