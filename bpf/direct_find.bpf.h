/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds where the kernel maps all memory: by a page of our own process, of which direct_map.c knows the place and text.
 * A part of probe.bpf.c, since libbpf 1.1's linker can't join two objects that call one of the kernel's functions.
 */
#ifndef FRAMESCOPE_DIRECT_FIND_BPF_H
#define FRAMESCOPE_DIRECT_FIND_BPF_H

#include "direct.bpf.h"

#define STEP_BYTES (1ull << 30)	/* the mapping begins at a multiple of it: arch/x86/mm/kaslr.c */

struct search {
	__u64 first;		/* the lowest place that it can have */
	__u64 tables, addr, physical, text;
};

#if defined(__TARGET_ARCH_x86)
static long search_step(__u64 i, struct search *s)
{
	__u64 at;

	ctl.direct_map = s->first + i * STEP_BYTES;
	at = direct_address(s->tables, s->addr);
	if (at && at == ctl.direct_map + s->physical && KERNEL_WORD(at, r15) == s->text)
		return 1;
	ctl.direct_map = 0;
	return 0;
}
#else
static long search_step(__u64 i, struct search *s)
{
	return 1;
}
#endif

/*
 * Arguments: an address, the physical one, what stands there. From the lowest place on, since what is taken for the
 * mapping then ends below its real end, behind which there may be devices.
 */
SEC("raw_tp")
int fs_find_map(struct bpf_raw_tracepoint_args *ctx)
{
	struct search s = { .addr = ctx->args[0], .physical = ctx->args[1], .text = ctx->args[2] };
	__u64 steps = ctl.memory_end / STEP_BYTES + 1;

	s.tables = tables_of(bpf_get_current_task_btf());
	if (!s.tables)
		return 0;
	s.first = (s.tables & ~(STEP_BYTES - 1)) - (steps - 1) * STEP_BYTES;
	bpf_loop(steps, search_step, &s, 0);
	return 0;
}

/* The same arguments; 1: the word at the address is found where it is. */
SEC("raw_tp")
int fs_check_map(struct bpf_raw_tracepoint_args *ctx)
{
	__u64 at = direct_address(tables_of(bpf_get_current_task_btf()), ctx->args[0]);

	return at && at - ctl.direct_map == ctx->args[1] && KERNEL_WORD(at, r15) == ctx->args[2];
}

#endif
