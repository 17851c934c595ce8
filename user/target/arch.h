/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Everything that depends on the architecture of the code under test, behind one table.
 * x86-64 now (arch_x86_64.c); arm64 fills the same table. All code bytes are hostile: every
 * function is given a bounded range and never reads beyond it.
 */
#ifndef FRAMESCOPE_TARGET_ARCH_H
#define FRAMESCOPE_TARGET_ARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "record.h"

enum insn_class {
	INSN_OTHER = 0,
	INSN_RET,
	INSN_JUMP,		/* unconditional, direct: target is set */
	INSN_JUMP_INDIRECT,
	INSN_BRANCH,		/* conditional: target is set */
	INSN_CALL,		/* direct: target is set */
	INSN_CALL_INDIRECT,
	INSN_ADDRESS,		/* forms the address `target` relative to ip (lea) */
	INSN_STOP,		/* execution never goes on behind it (ud2, int3, hlt) */
	INSN_INVALID,		/* not an instruction, or cut off by the end of the range */
};

struct insn {
	uint8_t length;		/* bytes, 1 to 15; 0 if INSN_INVALID */
	uint8_t cls;		/* enum insn_class */
	bool has_target;
	bool memory;		/* INSN_JUMP_INDIRECT: through a pointer in memory that is no table (its index isn't scaled) */
	/* The general register, by the machine's number, that INSN_JUMP_INDIRECT jumps to or another instruction sets; -1:
	 * none, or one that isn't told. Told are moves, loads, addresses, and sums of two registers of pointer size (`sum`). */
	int8_t reg;
	bool sum;
	uint64_t target;	/* vaddr; also of rip-relative memory operands */
};

struct code_sink;

struct arch {
	const char *name;	/* "x86_64" */
	uint16_t elf_machine;	/* EM_X86_64 */
	/* Decodes one instruction at `code` (avail bytes, at address vaddr). */
	void (*decode)(const uint8_t *code, size_t avail, uint64_t vaddr, struct insn *ret);
	/* What the kernel must do for a uprobe on this instruction. */
	enum cost_class (*cost)(const uint8_t *code, size_t avail);
	/* Does a function plausibly start with these bytes? (frame setup, endbr, …) */
	bool (*prologue)(const uint8_t *code, size_t avail);
	/* Does nothing: what compilers align code with. */
	bool (*nop)(const uint8_t *code, size_t avail);
	/* Bytes that the linker fills gaps between functions with. */
	bool (*padding)(uint8_t byte);
	/* Index for arg_spec.reg from a register's name as written in an engine definition ("rdi", "arg0"); -1. */
	int (*reg)(const char *name, size_t n);
	const char *(*reg_name)(int reg);
	/* The fast pass: every direct call, jump and address that could begin in the first n of `avail` bytes goes to
	 * the sink (target/scan.h), decoded at its own bytes only; what isn't an instruction comes along. */
	void (*scan)(const uint8_t *code, size_t n, size_t avail, uint64_t vaddr, struct code_sink *sink);
	/* The same for all branches, jumps and addresses that lead into the sink's ranges. */
	void (*branches)(const uint8_t *code, size_t n, size_t avail, uint64_t vaddr, struct code_sink *sink);
	/* Votes for each global that a function masks shifted values with (target/cage.h). */
	void (*masked_loads)(const uint8_t *code, size_t n, uint64_t vaddr, void (*vote)(void *ctx, uint64_t global),
			     void *ctx);
};

/* NULL if the machine isn't supported. */
const struct arch *arch_for_elf(uint16_t elf_machine);
extern const struct arch arch_x86_64;

/*
 * Register numbers of arg_spec.reg on x86-64: rdi rsi rdx rcx r8 r9 (0-5: arg0-arg5), rax 6 (return value, at
 * exits), rsp 7, rbx 8, rbp 9, r10 10, r11 11, r12 12, r13 13, r14 14, r15 15, and 16 = ip, 17 = load base.
 * On arm64: x0-x7 are 0-7, sp 31, ip 32, load base 33.
 */

#endif
