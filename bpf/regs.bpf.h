/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The registers at a probe, in the order that argument expressions number them in. */
#ifndef FRAMESCOPE_REGS_BPF_H
#define FRAMESCOPE_REGS_BPF_H

#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

#if defined(__TARGET_ARCH_x86)
#define REG_IP 16
#define REG_LOAD_BASE 17	/* which the probe's description tells */
/* The order of target/arch.h. */
static __always_inline void regs_copy(__u64 *r, struct pt_regs *ctx)
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
	r[REG_IP] = ctx->ip;
}
#elif defined(__TARGET_ARCH_arm64)
#define REG_IP 32
#define REG_LOAD_BASE 33
static __always_inline void regs_copy(__u64 *r, struct pt_regs *ctx)
{
	struct user_pt_regs *regs = (struct user_pt_regs *)ctx;

#pragma unroll
	for (int i = 0; i < 31; i++)
		r[i] = regs->regs[i];
	r[31] = regs->sp;
	r[REG_IP] = regs->pc;
}
#endif

#endif
