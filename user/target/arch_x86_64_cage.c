// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Finds `shl $3,R; and (global),R` and its variants in a function: how compressed pointers are followed. */
#include "target/arch_x86_64.h"

/* What the registers hold, as far as a straight look tells. Branches are not followed: what this gets wrong is outvoted. */
struct state {
	uint64_t address[16];	/* of this global; 0: something else */
	uint64_t value[16];	/* the value of this global */
	bool shifted[16];	/* a member, shifted left by 3 */
};

/* A REX.W instruction with a ModRM, taken apart. */
struct form {
	uint8_t opcode, reg, rm;	/* registers with their REX bits */
	bool direct;		/* rm is a register */
	bool at_base;		/* memory at the register rm, no displacement, no index */
	bool global;		/* memory relative to ip */
	const uint8_t *tail;	/* behind the ModRM */
};

static bool take_apart(const uint8_t *p, size_t length, struct form *f)
{
	uint8_t mod, rm;

	if (length < 3 || (p[0] & 0xf8) != 0x48)
		return false;
	mod = p[2] >> 6;
	rm = p[2] & 7;
	*f = (struct form){ .opcode = p[1], .reg = (p[2] >> 3 & 7) | (p[0] & 4) << 1, .rm = rm | (p[0] & 1) << 3,
			    .direct = mod == 3, .global = mod == 0 && rm == 5, .tail = p + 3 };
	f->at_base = mod == 0 && rm != 4 && rm != 5;
	if (mod == 0 && rm == 4 && length > 3 && p[3] == 0x24) {	/* r12 takes a SIB byte */
		f->at_base = true;
		f->rm = 4 | (p[0] & 1) << 3;
	}
	if (mod == 1 && rm == 5 && length > 3 && p[3] == 0)	/* and r13 a displacement of 0 */
		f->at_base = true;
	return true;
}

/* The global that the memory operand is, or 0. */
static uint64_t operand(const struct state *s, const struct form *f, const struct insn *insn)
{
	if (f->global)
		return insn->target;
	return f->at_base ? s->address[f->rm] : 0;
}

static void forget(struct state *s, unsigned int reg)
{
	s->address[reg] = s->value[reg] = 0;
	s->shifted[reg] = false;
}

/* test and and of a shifted member with the global, or with a register that has its value. */
static uint64_t masked_with(const struct state *s, const struct form *f, const struct insn *insn)
{
	if (!f->direct)
		return s->shifted[f->reg] ? operand(s, f, insn) : 0;
	if (s->shifted[f->reg])
		return s->value[f->rm];
	return s->shifted[f->rm] ? s->value[f->reg] : 0;
}

static void step(struct state *s, const struct form *f, const struct insn *insn,
		 void (*vote)(void *ctx, uint64_t global), void *ctx)
{
	uint64_t global;

	switch (f->opcode) {
	case 0x8d:	/* lea */
		forget(s, f->reg);
		if (f->global)
			s->address[f->reg] = insn->target;
		break;
	case 0x8b:	/* mov from memory or a register */
		global = f->direct ? 0 : operand(s, f, insn);
		forget(s, f->reg);
		s->value[f->reg] = global;
		break;
	case 0xc1:	/* shl $3 */
		forget(s, f->rm);
		s->shifted[f->rm] = f->direct && (f->reg & 7) == 4 && *f->tail == 3;
		break;
	case 0x21: case 0x23: case 0x85:	/* and, test */
		global = masked_with(s, f, insn);
		if (global)
			vote(ctx, global);
		if (f->opcode != 0x85)
			forget(s, f->opcode == 0x23 ? f->reg : f->rm);
		break;
	case 0x63:	/* movslq */
		forget(s, f->reg);
		break;
	}
}

void x86_masked_loads(const uint8_t *code, size_t n, uint64_t vaddr, void (*vote)(void *ctx, uint64_t global), void *ctx)
{
	static const uint8_t lost_in_calls[] = { 0, 1, 2, 6, 7, 8, 9, 10, 11 };	/* rax rcx rdx rsi rdi r8-r11 */
	struct state s = { 0 };

	while (n) {
		struct insn insn;
		struct form f;

		arch_x86_64.decode(code, n, vaddr, &insn);
		if (insn.cls == INSN_INVALID)
			return;
		if (insn.cls == INSN_CALL || insn.cls == INSN_CALL_INDIRECT)
			for (size_t i = 0; i < sizeof(lost_in_calls); i++)
				forget(&s, lost_in_calls[i]);
		else if (take_apart(code, insn.length, &f))
			step(&s, &f, &insn, vote, ctx);
		code += insn.length;
		n -= insn.length;
		vaddr += insn.length;
	}
}
