// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Instructions by hand: length, class and target, and what a uprobe on them costs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include "target/arch.h"

#define AT 0x100000ull

struct row {
	const char *bytes;	/* hexadecimal */
	int length;		/* 0: no instruction */
	int cls;
	uint64_t target;	/* 0: none */
};

static const struct row rows[] = {
	{ "55", 1, INSN_OTHER, 0 },
	{ "4889e5", 3, INSN_OTHER, 0 },
	{ "c3", 1, INSN_RET, 0 },
	{ "f3c3", 2, INSN_RET, 0 },
	{ "c20800", 3, INSN_RET, 0 },
	{ "e810000000", 5, INSN_CALL, AT + 0x15 },
	{ "66e810000000", 6, INSN_CALL, AT + 0x16 },
	{ "e9f0ffffff", 5, INSN_JUMP, AT - 0xb },
	{ "ebfe", 2, INSN_JUMP, AT },
	{ "7405", 2, INSN_BRANCH, AT + 7 },
	{ "0f8500010000", 6, INSN_BRANCH, AT + 0x106 },
	{ "e302", 2, INSN_BRANCH, AT + 4 },
	{ "ff25f0000000", 6, INSN_JUMP_INDIRECT, AT + 0xf6 },
	{ "ffe0", 2, INSN_JUMP_INDIRECT, 0 },
	{ "ff6018", 3, INSN_JUMP_INDIRECT, 0 },
	{ "ff24c500000000", 7, INSN_JUMP_INDIRECT, 0 },
	{ "3effe0", 3, INSN_JUMP_INDIRECT, 0 },
	{ "ff5018", 3, INSN_CALL_INDIRECT, 0 },
	{ "41ffd4", 3, INSN_CALL_INDIRECT, 0 },
	{ "ff7508", 3, INSN_OTHER, 0 },
	{ "488d0510000000", 7, INSN_ADDRESS, AT + 0x17 },
	{ "4c8d2d00ffffff", 7, INSN_ADDRESS, AT - 0xf9 },
	{ "8d0510000000", 6, INSN_ADDRESS, AT + 0x16 },
	{ "488d4510", 4, INSN_OTHER, 0 },
	{ "488b0510000000", 7, INSN_OTHER, AT + 0x17 },
	{ "c70510000000ffffffff", 10, INSN_OTHER, AT + 0x1a },
	{ "66c7051000000001ff", 9, INSN_OTHER, AT + 0x19 },
	{ "cc", 1, INSN_STOP, 0 },
	{ "0f0b", 2, INSN_STOP, 0 },
	{ "f4", 1, INSN_STOP, 0 },
	{ "0fb94002", 4, INSN_STOP, 0 },
	{ "48b8efcdab8967452301", 10, INSN_OTHER, 0 },
	{ "66b83412", 4, INSN_OTHER, 0 },
	{ "a08877665544332211", 9, INSN_OTHER, 0 },
	{ "67a044332211", 6, INSN_OTHER, 0 },
	{ "f6c101", 3, INSN_OTHER, 0 },
	{ "f6d1", 2, INSN_OTHER, 0 },
	{ "f7c101000000", 6, INSN_OTHER, 0 },
	{ "66f7c10100", 5, INSN_OTHER, 0 },
	{ "48f7d8", 3, INSN_OTHER, 0 },
	{ "c8100000", 4, INSN_OTHER, 0 },
	{ "f0480fb10f", 5, INSN_OTHER, 0 },
	{ "f3a4", 2, INSN_OTHER, 0 },
	{ "64488b042528000000", 9, INSN_OTHER, 0 },
	{ "0f1f8000000000", 7, INSN_OTHER, 0 },
	{ "660f1f840000000000", 9, INSN_OTHER, 0 },
	{ "66662e0f1f840000000000", 11, INSN_OTHER, 0 },
	{ "0f20c0", 3, INSN_OTHER, 0 },
	{ "0f2387", 3, INSN_OTHER, 0 },
	{ "0f3800c1", 4, INSN_OTHER, 0 },
	{ "660f3a0fc108", 6, INSN_OTHER, 0 },
	{ "660f70c1ee", 5, INSN_OTHER, 0 },
	{ "660f78c10102", 6, INSN_OTHER, 0 },
	{ "c5f877", 3, INSN_OTHER, 0 },
	{ "c5f96f0510000000", 8, INSN_OTHER, AT + 0x18 },
	{ "c5f970c1ee", 5, INSN_OTHER, 0 },
	{ "c4e27918c1", 5, INSN_OTHER, 0 },
	{ "c4e37919c101", 6, INSN_OTHER, 0 },
	{ "62f17c481044240a", 8, INSN_OTHER, 0 },
	{ "62f37d4839c101", 7, INSN_OTHER, 0 },
	{ "62f17d4870c1ee", 7, INSN_OTHER, 0 },
	{ "8fc0", 2, INSN_OTHER, 0 },
	{ "8fe97881c1", 5, INSN_OTHER, 0 },
	{ "6bc005", 3, INSN_OTHER, 0 },
	{ "69c005000000", 6, INSN_OTHER, 0 },
	{ "6669c00500", 5, INSN_OTHER, 0 },
	{ "8484c001000000", 7, INSN_OTHER, 0 },
	{ "04", 0, INSN_INVALID, 0 },		/* cut off */
	{ "e81000", 0, INSN_INVALID, 0 },
	{ "48", 0, INSN_INVALID, 0 },
	{ "06", 0, INSN_INVALID, 0 },		/* not in 64-bit mode */
	{ "ea", 0, INSN_INVALID, 0 },
	{ "0f04", 0, INSN_INVALID, 0 },
	{ "66666666666666666666666666666690", 0, INSN_INVALID, 0 },	/* more than 15 bytes */
};

static size_t from_hex(const char *hex, uint8_t *ret)
{
	size_t n = 0;

	for (; *hex; hex += 2) {
		unsigned int v;

		assert_int_equal(sscanf(hex, "%2x", &v), 1);
		ret[n++] = v;
	}
	return n;
}

static void test_decode(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct insn insn;
		uint8_t code[16];

		arch_x86_64.decode(code, from_hex(rows[i].bytes, code), AT, &insn);
		if (insn.length != rows[i].length || insn.cls != rows[i].cls ||
		    (insn.has_target ? insn.target : 0) != rows[i].target)
			fail_msg("%s: length %u, class %u, target 0x%llx", rows[i].bytes, insn.length, insn.cls,
				 (unsigned long long)(insn.has_target ? insn.target : 0));
	}
}

static void test_jump_through_memory(void **state)
{
	static const struct { const char *bytes; bool memory; } jumps[] = {
		{ "ffe0", false }, { "ff6018", true }, { "ff25f0000000", true }, { "ff24c500000000", false },
		{ "41ff64c508", false }, { "ff642408", true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(jumps) / sizeof(jumps[0]); i++) {
		struct insn insn;
		uint8_t code[16];

		arch_x86_64.decode(code, from_hex(jumps[i].bytes, code), AT, &insn);
		assert_int_equal(insn.cls, INSN_JUMP_INDIRECT);
		assert_int_equal(insn.memory, jumps[i].memory);
	}
}

/* Whatever the bytes are: no length beyond what is there. */
static void test_bounds(void **state)
{
	uint32_t seed = 1;

	(void)state;
	for (int i = 0; i < 200000; i++) {
		uint8_t code[16];
		struct insn insn;
		size_t avail = i % 17;

		for (size_t k = 0; k < sizeof(code); k++)
			code[k] = (seed = seed * 1664525 + 1013904223) >> 24;
		arch_x86_64.decode(code, avail, AT, &insn);
		assert_true(insn.length <= avail && insn.length <= 15);
		assert_int_equal(insn.length == 0, insn.cls == INSN_INVALID);
		arch_x86_64.cost(code, avail);
	}
}

static void test_cost(void **state)
{
	static const struct { const char *bytes; enum cost_class cost; } costs[] = {
		{ "55", COST_EMULATED },		/* push %rbp */
		{ "4154", COST_EMULATED },		/* push %r12 */
		{ "6655", COST_STEPPED },		/* push %bp */
		{ "90", COST_EMULATED },
		{ "6690", COST_EMULATED },
		{ "0f1f00", COST_EMULATED },
		{ "0f1f4000", COST_EMULATED },
		{ "0f1f440000", COST_NOP5 },
		{ "0f1f440008", COST_NOP5 },
		{ "660f1f840000000000", COST_EMULATED },
		{ "e800000000", COST_EMULATED },
		{ "e900000000", COST_EMULATED },
		{ "eb00", COST_EMULATED },
		{ "7400", COST_EMULATED },
		{ "0f8400000000", COST_EMULATED },
		{ "4190", COST_STEPPED },		/* xchg %eax,%r8d */
		{ "4883ec18", COST_STEPPED },		/* sub $24,%rsp */
		{ "89f8", COST_STEPPED },
		{ "f30f1efa", COST_STEPPED },		/* endbr64 */
		{ "c3", COST_STEPPED },
		{ "e300", COST_STEPPED },		/* jrcxz */
		{ "06", COST_UNKNOWN },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(costs) / sizeof(costs[0]); i++) {
		uint8_t code[16];
		enum cost_class got = arch_x86_64.cost(code, from_hex(costs[i].bytes, code));

		if (got != costs[i].cost)
			fail_msg("%s costs %d, not %d", costs[i].bytes, got, costs[i].cost);
	}
}

static void test_registers(void **state)
{
	static const char *const names[] = { "rdi", "rsi", "rdx", "rcx", "r8", "r9", "rax", "rsp", "rbx", "rbp", "r10", "r11",
					     "r12", "r13", "r14", "r15", "ip", "base" };

	(void)state;
	for (int i = 0; i < 18; i++) {
		assert_int_equal(arch_x86_64.reg(names[i], strlen(names[i])), i);
		assert_string_equal(arch_x86_64.reg_name(i), names[i]);
	}
	assert_int_equal(arch_x86_64.reg("arg0", 4), 0);
	assert_int_equal(arch_x86_64.reg("arg5", 4), 5);
	assert_int_equal(arch_x86_64.reg("arg6", 4), -1);
	assert_int_equal(arch_x86_64.reg("rd", 2), -1);
	assert_string_equal(arch_x86_64.reg_name(99), "?");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_decode), cmocka_unit_test(test_jump_through_memory), cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_cost), cmocka_unit_test(test_registers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
