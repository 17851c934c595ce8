// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* x86-64: instruction lengths and classes, and what a uprobe costs on them. */
#include <string.h>
#include "target/arch_x86_64.h"

/*
 * Opcode maps as of the Intel SDM, volume 2, appendix A, one character per opcode:
 *   . nothing follows    m ModRM               b imm8        z imm16/32 (by operand size)
 *   w imm16              W imm16, imm8         v imm16/32/64 o moffs (by address size)
 *   B ModRM, imm8        Z ModRM, imm16/32     f/F group 3: ModRM, and an immediate if reg is 0 or 1 (8 bit/z)
 *   j rel8               J rel32               p prefix      r REX
 *   R ModRM that always means registers (moves of control and debug registers)
 *   x not in 64-bit mode                       2 two-byte map  8, A its 0F38 and 0F3A maps
 *   c, 3 VEX in two, three bytes               E EVEX        P pop or XOP
 */
static const char one_byte_map[256 + 1] =
	"mmmmbzxxmmmmbzx2"	/* 00 */
	"mmmmbzxxmmmmbzxx"	/* 10 */
	"mmmmbzpxmmmmbzpx"	/* 20 */
	"mmmmbzpxmmmmbzpx"	/* 30 */
	"rrrrrrrrrrrrrrrr"	/* 40 */
	"................"	/* 50 */
	"xxEmppppzZbB...."	/* 60 */
	"jjjjjjjjjjjjjjjj"	/* 70 */
	"BZxBmmmmmmmmmmmP"	/* 80 */
	"..........x....."	/* 90 */
	"oooo....bz......"	/* a0 */
	"bbbbbbbbvvvvvvvv"	/* b0 */
	"BBw.3cBZW.w..bx."	/* c0 */
	"mmmmxxx.mmmmmmmm"	/* d0 */
	"jjjjbbbbJJxj...."	/* e0 */
	"p.pp..fF......mm";	/* f0 */

static const char two_byte_map[256 + 1] =
	"mmmmx.....x.xm.B"	/* 00 */
	"mmmmmmmmmmmmmmmm"	/* 10 */
	"RRRRxxxxmmmmmmmm"	/* 20 */
	"......x.8xAxxxxx"	/* 30 */
	"mmmmmmmmmmmmmmmm"	/* 40 */
	"mmmmmmmmmmmmmmmm"	/* 50 */
	"mmmmmmmmmmmmmmmm"	/* 60 */
	"BBBBmmm.mmxxmmmm"	/* 70 */
	"JJJJJJJJJJJJJJJJ"	/* 80 */
	"mmmmmmmmmmmmmmmm"	/* 90 */
	"...mBmmm...mBmmm"	/* a0 */
	"mmmmmmmmmmBmmmmm"	/* b0 */
	"mmBmBBBm........"	/* c0 */
	"mmmmmmmmmmmmmmmm"	/* d0 */
	"mmmmmmmmmmmmmmmm"	/* e0 */
	"mmmmmmmmmmmmmmmm";	/* f0 */

enum opcode_map { MAP_ONE, MAP_0F, MAP_0F38, MAP_0F3A, MAP_OTHER };

/* One instruction under the decoder's eyes. */
struct cursor {
	const uint8_t *p;	/* its first byte */
	size_t avail;		/* bytes that may be looked at, at most 15 */
	size_t pos;		/* bytes consumed */
	bool opsize, addrsize, rex_w, rex_r, rex_b;
	uint8_t rep;		/* f2, f3 or 0 */
	uint8_t map, opcode;
	uint8_t modrm;
	bool index;		/* the memory operand has an index register */
	bool rip_relative;
	size_t disp_at;		/* offset of a 32-bit displacement */
};

/* The next byte, or -1 at the end of the range. */
static int next(struct cursor *c)
{
	return c->pos < c->avail ? c->p[c->pos++] : -1;
}

static int32_t read_s32(const uint8_t *p)
{
	int32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static bool take_modrm(struct cursor *c)
{
	int m = next(c), mod, rm;

	if (m < 0)
		return false;
	c->modrm = m;
	mod = m >> 6;
	rm = m & 7;
	if (mod == 3)
		return true;
	if (rm == 4) {
		int sib = next(c);

		if (sib < 0)
			return false;
		c->index = (sib >> 3 & 7) != 4;	/* a fourth bit in REX.X doesn't matter: r12 as an index */
		if (mod == 0 && (sib & 7) == 5)
			c->pos += 4;
	}
	if (mod == 0 && rm == 5) {
		c->rip_relative = true;
		c->disp_at = c->pos;
		c->pos += 4;
	} else if (mod == 1) {
		c->pos += 1;
	} else if (mod == 2) {
		c->pos += 4;
	}
	return c->pos <= c->avail;
}

static size_t imm_z(const struct cursor *c)
{
	return c->opsize && !c->rex_w ? 2 : 4;
}

/* What follows an opcode, by the map's character. */
static bool take_operands(struct cursor *c, char how)
{
	switch (how) {
	case '.':
		return true;
	case 'm':
		return take_modrm(c);
	case 'R':
		c->pos += 1;
		break;
	case 'B':
		if (!take_modrm(c))
			return false;
		c->pos += 1;
		break;
	case 'Z':
		if (!take_modrm(c))
			return false;
		c->pos += imm_z(c);
		break;
	case 'f':
	case 'F':
		if (!take_modrm(c))
			return false;
		if ((c->modrm >> 3 & 7) < 2)
			c->pos += how == 'f' ? 1 : imm_z(c);
		break;
	case 'b':
	case 'j':
		c->pos += 1;
		break;
	case 'z':
		c->pos += imm_z(c);
		break;
	case 'J':	/* Intel ignores an operand-size prefix here in 64-bit mode */
		c->pos += 4;
		break;
	case 'w':
		c->pos += 2;
		break;
	case 'W':
		c->pos += 3;
		break;
	case 'v':
		c->pos += c->rex_w ? 8 : c->opsize ? 2 : 4;
		break;
	case 'o':
		c->pos += c->addrsize ? 4 : 8;
		break;
	default:
		return false;
	}
	return c->pos <= c->avail;
}

/* Immediates of the VEX and EVEX forms: as in the legacy maps; 0F with the exceptions that AVX made. */
static char vector_operands(int map, uint8_t opcode)
{
	switch (map) {
	case 1:
		if (opcode == 0x77)
			return '.';
		return (opcode >= 0x70 && opcode <= 0x73) || opcode == 0xc2 || (opcode >= 0xc4 && opcode <= 0xc6) ?
		       'B' : 'm';
	case 2:
	case 5:
	case 6:
		return 'm';
	case 3:
		return 'B';
	default:
		return 'x';
	}
}

static bool take_vector(struct cursor *c, int map)
{
	int op = next(c);

	if (op < 0)
		return false;
	c->map = MAP_OTHER;	/* none of them is a branch, whatever its opcode means in the legacy maps */
	c->opcode = op;
	return take_operands(c, vector_operands(map, op));
}

static bool take_vex(struct cursor *c, bool three_bytes)
{
	int b = next(c), map = 1;

	if (b < 0)
		return false;
	if (three_bytes) {
		map = b & 31;
		if (next(c) < 0)
			return false;
	}
	return take_vector(c, map);
}

static bool take_evex(struct cursor *c)
{
	int p0 = next(c), p1 = next(c), p2 = next(c);

	if (p2 < 0 || (p0 & 8) || !(p1 & 4))
		return false;
	return take_vector(c, p0 & 7);
}

/* 8F is `pop r/m` with reg 0, else AMD's XOP prefix. */
static bool take_pop_or_xop(struct cursor *c)
{
	int b, op, map;

	if (c->pos >= c->avail)
		return false;
	if (!(c->p[c->pos] & 0x38))
		return take_operands(c, 'm');
	b = next(c);
	map = b & 31;
	if (next(c) < 0)
		return false;
	op = next(c);
	if (op < 0 || map < 8 || map > 10)
		return false;
	c->map = MAP_OTHER;
	c->opcode = op;
	if (!take_modrm(c))
		return false;
	c->pos += map == 8 ? 1 : map == 10 ? 4 : 0;
	return c->pos <= c->avail;
}

static bool take_escape(struct cursor *c)
{
	int op = next(c);

	if (op < 0)
		return false;
	switch (two_byte_map[op]) {
	case '8':
	case 'A':
		c->map = op == 0x38 ? MAP_0F38 : MAP_0F3A;
		op = next(c);
		if (op < 0)
			return false;
		c->opcode = op;
		return take_operands(c, c->map == MAP_0F38 ? 'm' : 'B');
	default:
		c->map = MAP_0F;
		c->opcode = op;
		if (op == 0x78 && (c->opsize || c->rep == 0xf2)) {	/* SSE4a extrq, insertq */
			if (!take_modrm(c))
				return false;
			c->pos += 2;
			return c->pos <= c->avail;
		}
		return take_operands(c, two_byte_map[op]);
	}
}

static bool decode(struct cursor *c)
{
	for (;;) {
		int b = next(c);
		char how;

		if (b < 0)
			return false;
		how = one_byte_map[b];
		c->map = MAP_ONE;
		c->opcode = b;
		switch (how) {
		case 'p':
			c->opsize |= b == 0x66;
			c->addrsize |= b == 0x67;
			if (b == 0xf2 || b == 0xf3)
				c->rep = b;
			c->rex_w = c->rex_r = c->rex_b = false;	/* a REX that isn't the last prefix is ignored */
			break;
		case 'r':
			c->rex_w = b & 8;
			c->rex_r = b & 4;
			c->rex_b = b & 1;
			break;
		case '2':
			return take_escape(c);
		case '3':
		case 'c':
			return take_vex(c, how == '3');
		case 'E':
			return take_evex(c);
		case 'P':
			return take_pop_or_xop(c);
		default:
			return take_operands(c, how);
		}
	}
}

/* The registers of a ModRM byte: the one in its middle, and the one in its place of a memory operand. */
static int reg_of(const struct cursor *c)
{
	return (c->modrm >> 3 & 7) + 8 * c->rex_r;
}

static int rm_of(const struct cursor *c)
{
	return (c->modrm & 7) + 8 * c->rex_b;
}

/* Which register it sets, where that is told (struct insn). */
static void classify_register(const struct cursor *c, struct insn *insn)
{
	bool registers = c->modrm >> 6 == 3;

	if (c->opcode >= 0x58 && c->opcode <= 0x5f) {
		insn->reg = (c->opcode & 7) + 8 * c->rex_b;
		return;
	}
	switch (c->opcode) {
	case 0x01:	/* add r, r/m */
	case 0x89:	/* mov r, r/m */
		insn->reg = registers ? rm_of(c) : -1;
		break;
	case 0x03:	/* add r/m, r */
	case 0x63:	/* movslq */
	case 0x8b:	/* mov r/m, r */
	case 0x8d:	/* lea */
		insn->reg = reg_of(c);
		break;
	case 0xc7:	/* mov imm, r/m */
		insn->reg = registers ? rm_of(c) : -1;
		break;
	default:
		if (c->opcode >= 0xb8 && c->opcode <= 0xbf)
			insn->reg = (c->opcode & 7) + 8 * c->rex_b;
	}
	insn->sum = registers && c->rex_w && (c->opcode == 0x01 || c->opcode == 0x03);
}

static void classify_one_byte(const struct cursor *c, struct insn *insn)
{
	switch (c->opcode) {
	case 0xc2: case 0xc3: case 0xca: case 0xcb: case 0xcf:
		insn->cls = INSN_RET;
		break;
	case 0xe8:
		insn->cls = INSN_CALL;
		break;
	case 0xe9: case 0xeb:
		insn->cls = INSN_JUMP;
		break;
	case 0xe0: case 0xe1: case 0xe2: case 0xe3:
		insn->cls = INSN_BRANCH;
		break;
	case 0xcc: case 0xf4:
		insn->cls = INSN_STOP;
		break;
	case 0x8d:
		if (c->rip_relative)
			insn->cls = INSN_ADDRESS;
		break;
	case 0xff:
		switch (c->modrm >> 3 & 7) {
		case 2: case 3:
			insn->cls = INSN_CALL_INDIRECT;
			break;
		case 4: case 5:
			insn->cls = INSN_JUMP_INDIRECT;
			insn->memory = c->modrm >> 6 != 3 && !c->index;
			insn->reg = c->modrm >> 6 == 3 ? rm_of(c) : -1;
			break;
		}
		break;
	default:
		if ((c->opcode & 0xf0) == 0x70)
			insn->cls = INSN_BRANCH;
	}
}

static void classify(const struct cursor *c, uint64_t vaddr, struct insn *insn)
{
	uint64_t end = vaddr + insn->length;

	if (c->map == MAP_ONE) {
		classify_register(c, insn);
		classify_one_byte(c, insn);
	} else if (c->map == MAP_0F && ((c->opcode & 0xf0) == 0x40 || (c->opcode & 0xf6) == 0xb6)) {
		insn->reg = reg_of(c);	/* cmov, movzx, movsx */
	} else if (c->map == MAP_0F && (c->opcode & 0xf0) == 0x80) {
		insn->cls = INSN_BRANCH;
	} else if (c->map == MAP_0F && (c->opcode == 0x0b || c->opcode == 0xb9 || c->opcode == 0xff)) {
		insn->cls = INSN_STOP;
	}

	if (insn->cls == INSN_CALL || insn->cls == INSN_JUMP || insn->cls == INSN_BRANCH) {
		bool rel32 = c->map == MAP_0F || c->opcode == 0xe8 || c->opcode == 0xe9;

		insn->has_target = true;
		insn->target = end + (rel32 ? read_s32(c->p + c->pos - 4) : (int8_t)c->p[c->pos - 1]);
	} else if (c->rip_relative) {
		insn->has_target = true;
		insn->target = end + read_s32(c->p + c->disp_at);
	}
}

void x86_decode(const uint8_t *code, size_t avail, uint64_t vaddr, struct insn *ret)
{
	struct cursor c = { .p = code, .avail = avail < 15 ? avail : 15 };

	*ret = (struct insn){ .cls = INSN_OTHER, .reg = -1 };
	if (!decode(&c)) {
		ret->cls = INSN_INVALID;
		return;
	}
	ret->length = c.pos;
	classify(&c, vaddr, ret);
}

static bool is_nop(const struct cursor *c)
{
	return (c->map == MAP_0F && c->opcode == 0x1f && (c->modrm >> 3 & 7) == 0) ||
	       (c->map == MAP_ONE && c->opcode == 0x90 && !c->rex_b);
}

bool x86_nop(const uint8_t *code, size_t avail)
{
	struct cursor c = { .p = code, .avail = avail < 15 ? avail : 15 };

	return decode(&c) && is_nop(&c);
}

/*
 * As arch/x86/kernel/uprobes.c has it (6.18): branch_setup_xol_ops() emulates direct calls and jumps and every
 * nop, push_setup_xol_ops() a push of a register; a nop of five bytes is rewritten to a call once it was hit
 * (and single-stepped before 6.18, like the longer nops before 6.18). All others are single-stepped.
 */
enum cost_class x86_cost(const uint8_t *code, size_t avail)
{
	struct cursor c = { .p = code, .avail = avail < 15 ? avail : 15 };
	struct insn insn = { .cls = INSN_OTHER, .reg = -1 };

	if (!decode(&c))
		return COST_UNKNOWN;
	insn.length = c.pos;
	classify(&c, 0, &insn);
	if (c.map == MAP_ONE && c.opcode >= 0x50 && c.opcode <= 0x57 &&
	    (c.pos == 1 || (c.pos == 2 && code[0] == 0x41)))
		return COST_EMULATED;
	if (is_nop(&c))
		return c.pos == 5 ? COST_NOP5 : COST_EMULATED;
	if (insn.cls == INSN_CALL || insn.cls == INSN_JUMP ||
	    (insn.cls == INSN_BRANCH && !(c.map == MAP_ONE && c.opcode >= 0xe0)))
		return c.opsize ? COST_UNKNOWN : COST_EMULATED;
	return COST_STEPPED;
}
