// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The x86-64 table: registers, prologues, padding, and the parts that stand in other files. */
#include <elf.h>
#include <string.h>
#include "target/arch_x86_64.h"

#define FRAME_WITHIN 6		/* instructions: gcc puts others between the two */

/* endbr64, or `push %rbp` and soon after it, before any branch, `mov %rsp,%rbp`. */
static bool x86_prologue(const uint8_t *code, size_t avail)
{
	struct insn insn = { 0 };

	if (avail >= 4 && !memcmp(code, "\xf3\x0f\x1e\xfa", 4))
		return true;
	if (avail < 4 || code[0] != 0x55)
		return false;
	for (size_t at = 1, nr = 0; nr < FRAME_WITHIN && at + 3 <= avail; nr++, at += insn.length) {
		if (!memcmp(code + at, "\x48\x89\xe5", 3) || !memcmp(code + at, "\x48\x8b\xec", 3))
			return true;
		x86_decode(code + at, avail - at, 0, &insn);
		if (insn.cls != INSN_OTHER && insn.cls != INSN_ADDRESS)
			return false;
	}
	return false;
}

static bool x86_padding(uint8_t byte)
{
	return byte == 0xcc;
}

static const char *const register_names[] = {
	"rdi", "rsi", "rdx", "rcx", "r8", "r9", "rax", "rsp", "rbx", "rbp", "r10", "r11", "r12", "r13", "r14", "r15",
	"ip", "base",
};

#define NR_REGISTERS ((int)(sizeof(register_names) / sizeof(register_names[0])))

static int x86_reg(const char *name, size_t n)
{
	if (n == 4 && !memcmp(name, "arg", 3) && name[3] >= '0' && name[3] <= '5')
		return name[3] - '0';
	if (n == 3 && !memcmp(name, "ret", 3))
		return 6;
	for (int i = 0; i < NR_REGISTERS; i++)
		if (strlen(register_names[i]) == n && !memcmp(register_names[i], name, n))
			return i;
	return -1;
}

static const char *x86_reg_name(int reg)
{
	return reg >= 0 && reg < NR_REGISTERS ? register_names[reg] : "?";
}

const struct arch arch_x86_64 = {
	.name = "x86_64",
	.elf_machine = EM_X86_64,
	.decode = x86_decode,
	.cost = x86_cost,
	.prologue = x86_prologue,
	.nop = x86_nop,
	.padding = x86_padding,
	.reg = x86_reg,
	.reg_name = x86_reg_name,
	.scan = x86_scan,
	.branches = x86_branches,
	.masked_loads = x86_masked_loads,
};
