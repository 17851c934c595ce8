/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The parts of the x86-64 table that stand in files of their own. */
#ifndef FRAMESCOPE_TARGET_ARCH_X86_64_H
#define FRAMESCOPE_TARGET_ARCH_X86_64_H

#include "target/arch.h"

void x86_decode(const uint8_t *code, size_t avail, uint64_t vaddr, struct insn *ret);
bool x86_nop(const uint8_t *code, size_t avail);
enum cost_class x86_cost(const uint8_t *code, size_t avail);
void x86_scan(const uint8_t *code, size_t n, size_t avail, uint64_t vaddr, struct code_sink *sink);
void x86_branches(const uint8_t *code, size_t n, size_t avail, uint64_t vaddr, struct code_sink *sink);
void x86_masked_loads(const uint8_t *code, size_t n, uint64_t vaddr, void (*vote)(void *ctx, uint64_t global), void *ctx);

#endif
