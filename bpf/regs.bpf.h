/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The registers at a probe, in the order that argument expressions number them in. */
#ifndef FRAMESCOPE_REGS_BPF_H
#define FRAMESCOPE_REGS_BPF_H

#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

#if defined(__TARGET_ARCH_x86)
/* The order of target/arch.h. */
static __always_inline void regs_copy(__u64 *r, struct pt_regs *ctx, __u64 load_base)
{
	r[0] = ctx->di;
	r[1] = ctx->si;
	r[2] = ctx->dx;
	r[3] = ctx->cx;
	r[4] = ctx->r8;
	r[5] = ctx->r9;
	r[6] = ctx->ax;
	r[7] = ctx->sp;
	r[8] = ctx->bx;
	r[9] = ctx->bp;
	r[10] = ctx->r10;
	r[11] = ctx->r11;
	r[12] = ctx->r12;
	r[13] = ctx->r13;
	r[14] = ctx->r14;
	r[15] = ctx->r15;
	r[16] = ctx->ip;
	r[17] = load_base;
}
#elif defined(__TARGET_ARCH_arm64)
static __always_inline void regs_copy(__u64 *r, struct pt_regs *ctx, __u64 load_base)
{
	struct user_pt_regs *regs = (struct user_pt_regs *)ctx;

#pragma unroll
	for (int i = 0; i < 31; i++)
		r[i] = regs->regs[i];
	r[31] = regs->sp;
	r[32] = regs->pc;
	r[33] = load_base;
}
#endif

#endif
