// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Where functions end and how they can be left, on code made for the purpose; and images that lie about themselves. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "target/cage.h"
#include "unit/made_elf.h"

struct opened {
	struct image *img;
	struct scan *scan;
	struct code_map map;
};

static void open_code(const struct made_elf *m, struct opened *o)
{
	struct error err;

	assert_int_equal(image_open(m->path, &o->img, &err), 0);
	assert_int_equal(scan_run(o->img, NULL, 0, &o->scan, &err), 0);
	code_map_init(&o->map, o->img, o->scan);
}

static void close_code(const struct made_elf *m, struct opened *o)
{
	scan_free(o->scan);
	image_close(o->img);
	unlink(m->path);
}

static size_t exits_of(const struct opened *o, uint64_t start, uint64_t *ret, bool *complete)
{
	struct function f;

	assert_true(function_at(&o->map, start, &f));
	assert_int_equal(f.start, start);
	return function_exits(&o->map, &f, ret, 8, complete);
}

static void test_exits(void **state)
{
	uint64_t exits[8], ret1, jump1, virtual1;
	struct made_elf m;
	struct opened o;
	bool complete;

	(void)state;
	made_begin(&m);
	made_function(&m, 1);		/* two returns and a tail jump; a jump inside is none */
	made_branch(&m, 10);
	made_jump(&m, 11);
	made_label(&m, 11);
	made(&m, 0x5d);
	ret1 = made_here(&m);
	made(&m, 0xc3);
	made_label(&m, 10);
	made(&m, 0x5d);
	jump1 = made_here(&m);
	made_jump(&m, 2);
	made_function(&m, 2);		/* a conditional tail jump, which no exit probe can sit on */
	made_branch(&m, 1);
	made_leave(&m);
	made_function(&m, 3);		/* a virtual tail call */
	made(&m, 0x5d);
	virtual1 = made_here(&m);
	made(&m, 0xff, 0x60, 0x18);
	made_function(&m, 4);		/* a jump to who knows where */
	made(&m, 0x5d, 0xff, 0xe0);
	made_end(&m, "exits");
	open_code(&m, &o);

	assert_int_equal(exits_of(&o, m.label[1], exits, &complete), 2);
	assert_int_equal(exits[0], ret1);
	assert_int_equal(exits[1], jump1);
	assert_true(complete);
	assert_int_equal(exits_of(&o, m.label[2], exits, &complete), 1);
	assert_false(complete);
	assert_int_equal(exits_of(&o, m.label[3], exits, &complete), 1);
	assert_int_equal(exits[0], virtual1);
	assert_true(complete);
	assert_int_equal(exits_of(&o, m.label[4], exits, &complete), 0);
	assert_false(complete);
	close_code(&m, &o);
}

/* 1 has a cold part that returns, and one that only fails; a branch to 2's start is a tail call that no exit probe sees. */
static void test_exits_of_parts(void **state)
{
	uint64_t exits[8], end1, end2;
	struct made_elf m;
	struct opened o;
	bool complete;

	(void)state;
	made_begin(&m);
	made_function(&m, 1);
	made_branch(&m, 11);
	made_branch(&m, 12);
	made_label(&m, 21);
	made_leave(&m);
	end1 = made_here(&m);
	made_function(&m, 2);
	made_branch(&m, 1);
	made_leave(&m);
	end2 = made_here(&m);
	made(&m, 0x90, 0x90);
	made_label(&m, 11);
	made_branch(&m, 21);
	made(&m, 0x5d, 0xc3);
	made_label(&m, 12);
	made(&m, 0x0f, 0x0b);
	made_label(&m, 13);
	m.eh_frame = true;
	made_fde(&m, m.label[1], end1);
	made_fde(&m, m.label[2], end2);
	made_fde(&m, m.label[11], m.label[12]);
	made_fde(&m, m.label[12], m.label[13]);
	made_end(&m, "parts");
	open_code(&m, &o);
	assert_int_equal(exits_of(&o, m.label[1], exits, &complete), 2);
	assert_int_equal(exits[0], end1 - 1);
	assert_int_equal(exits[1], m.label[12] - 1);
	assert_true(complete);
	assert_int_equal(exits_of(&o, m.label[2], exits, &complete), 1);
	assert_false(complete);
	close_code(&m, &o);
}

/* lea table; movslq (table,%rax,4); add; jmp *: a switch stays inside. */
static void test_switch(void **state)
{
	uint64_t exits[8], table, target;
	struct made_elf m;
	struct opened o;
	int32_t offset;
	bool complete;

	(void)state;
	made_begin(&m);
	m.rodata = (m.rodata + 7) & ~7ull;
	table = MADE_RODATA + m.rodata;
	made_function(&m, 1);
	made(&m, 0x48, 0x8d, 0x0d);
	made_s32(&m, (int64_t)table - (int64_t)(made_here(&m) + 4));
	made(&m, 0x48, 0x63, 0x04, 0x81, 0x48, 0x01, 0xc8, 0xff, 0xe0);
	target = made_here(&m);
	made_leave(&m);
	offset = target - table;
	memcpy(m.bytes + table, &offset, 4);
	made_end(&m, "switch");
	open_code(&m, &o);
	assert_int_equal(exits_of(&o, m.label[1], exits, &complete), 1);
	assert_int_equal(exits[0], target + 1);
	assert_true(complete);
	close_code(&m, &o);
}

/* lea table,%rcx; movslq (%rcx,%rax,4),%rax */
static uint64_t begin_switch(struct made_elf *m, int label)
{
	uint64_t table;

	m->rodata = (m->rodata + 7) & ~7ull;
	table = MADE_RODATA + m->rodata;
	made_function(m, label);
	made(m, 0x48, 0x8d, 0x0d);
	made_s32(m, (int64_t)table - (int64_t)(made_here(m) + 4));
	made(m, 0x48, 0x63, 0x04, 0x81);
	m->rodata += 8;
	return table;
}

static void fill_table(struct made_elf *m, uint64_t table)
{
	int32_t offset = made_here(m) - table;

	memcpy(m->bytes + table, &offset, 4);
}

/* Near a switch: which jumps through registers are its own, and which lead to who knows where. */
static void test_indirect_tail_jumps(void **state)
{
	uint64_t exits[8], table;
	struct made_elf m;
	struct opened o;
	bool complete;

	(void)state;
	made_begin(&m);
	table = begin_switch(&m, 1);	/* add %rax,%rcx; notrack jmp *%rcx: as GCC has it */
	made(&m, 0x48, 0x01, 0xc1, 0x3e, 0xff, 0xe1);
	fill_table(&m, table);
	made_leave(&m);
	table = begin_switch(&m, 2);	/* add %rcx,%rax; jmp *%rax, then mov 16(%rdi),%rax; jmp *%rax */
	made(&m, 0x48, 0x01, 0xc8, 0xff, 0xe0);
	fill_table(&m, table);
	made(&m, 0x48, 0x8b, 0x47, 0x10, 0xff, 0xe0);
	table = begin_switch(&m, 3);	/* the same before the switch's jump: je over mov (%rdi),%rdx; jmp *%rdx */
	made(&m, 0x48, 0x01, 0xc8, 0x74, 0x05, 0x48, 0x8b, 0x17, 0xff, 0xe2, 0xff, 0xe0);
	fill_table(&m, table);
	made_leave(&m);
	table = begin_switch(&m, 4);	/* the sum is loaded over: mov (%rax),%rax; jmp *%rax */
	made(&m, 0x48, 0x01, 0xc8, 0x48, 0x8b, 0x00, 0xff, 0xe0);
	fill_table(&m, table);
	made_leave(&m);
	table = begin_switch(&m, 5);	/* through one of the machine's newer registers: mov %rcx,%r9; mov %rax,%r8; add %r9,%r8 */
	made(&m, 0x49, 0x89, 0xc9, 0x49, 0x89, 0xc0, 0x4d, 0x01, 0xc8, 0x41, 0xff, 0xe0);
	fill_table(&m, table);
	made_leave(&m);
	made_function(&m, 6);
	made_leave(&m);
	made_end(&m, "indirect");
	open_code(&m, &o);
	assert_int_equal(exits_of(&o, m.label[1], exits, &complete), 1);
	assert_true(complete);
	for (int label = 2; label <= 4; label++) {
		exits_of(&o, m.label[label], exits, &complete);
		assert_false(complete);
	}
	assert_int_equal(exits_of(&o, m.label[5], exits, &complete), 1);
	assert_true(complete);
	close_code(&m, &o);
}

/* A function ends where padding leads up to the grid, also if the next one isn't recognised; a trap inside is no end. */
static void test_ends(void **state)
{
	struct made_elf m;
	struct function f;
	struct opened o;
	uint64_t end;

	(void)state;
	made_begin(&m);
	made_function(&m, 1);
	made_branch(&m, 10);
	made_leave(&m);
	made_label(&m, 10);
	made(&m, 0xcc, 0x0f, 0x0b);
	end = (made_here(&m) + 15) & ~15ull;
	made_align(&m);
	made_label(&m, 2);
	made(&m, 0x31, 0xc0, 0xc3);
	made_end(&m, "ends");
	open_code(&m, &o);
	assert_true(function_at(&o.map, m.label[1] + 4, &f));
	assert_int_equal(f.start, m.label[1]);
	assert_int_equal(f.end, end);
	assert_false(function_at(&o.map, m.label[2], &f));
	close_code(&m, &o);
}

/* Compilers other than Chromium's fill gaps with nops, and start functions without a frame where the first test fails. */
static void test_borders(void **state)
{
	struct made_elf m;
	struct function f;
	struct opened o;

	(void)state;
	made_begin(&m);
	memset(m.bytes + MADE_CODE, 0x90, MADE_DATA - MADE_CODE);
	made_align(&m);
	made_label(&m, 1);		/* known by its frame and a call */
	made(&m, 0x55, 0x48, 0x89, 0xe5);
	made_call(&m, 1);
	made_call(&m, 2);
	made_leave(&m);
	made_align(&m);
	made_label(&m, 2);		/* if (…) return; then sets up the frame, on the grid */
	made_branch(&m, 12);
	made(&m, 0xc3);
	made_align(&m);
	made_label(&m, 12);
	made(&m, 0x55, 0x48, 0x89, 0xe5, 0x5d, 0xc3);
	made_align(&m);
	made_label(&m, 3);		/* only jumped to */
	made(&m, 0x31, 0xc0, 0xc3);
	made_align(&m);
	made_label(&m, 4);		/* nothing leads here */
	made_jump(&m, 3);
	made_align(&m);
	made_label(&m, 5);		/* its address is taken: it isn't the rest of 4 */
	made(&m, 0x31, 0xc0, 0xc3);
	made_word(&m, m.label[5]);
	made_end(&m, "borders");
	open_code(&m, &o);
	for (int i = 1; i <= 3; i++) {
		assert_true(function_at(&o.map, m.label[i] + 2, &f));
		assert_int_equal(f.start, m.label[i]);
		assert_int_equal(f.end, m.label[i + 1]);
	}
	assert_true(function_at(&o.map, m.label[12] + 4, &f));
	assert_int_equal(f.start, m.label[2]);
	assert_false(function_at(&o.map, m.label[4] + 2, &f));
	close_code(&m, &o);
}

/* Behind jumps to who knows where and a call that doesn't return, a frame that is set up tells of another function. */
static void test_borders_by_frame(void **state)
{
	struct made_elf m;
	struct function f;
	struct opened o;

	(void)state;
	made_begin(&m);
	memset(m.bytes + MADE_CODE, 0x90, MADE_DATA - MADE_CODE);
	made_align(&m);
	made_label(&m, 1);
	made(&m, 0x55, 0x48, 0x89, 0xe5);
	made_call(&m, 1);
	made_call(&m, 4);
	made(&m, 0xff, 0xe0);		/* jmp *%rax */
	made_align(&m);
	made_label(&m, 2);		/* only jumped to; push %rbp; mov %rdi,%r8; mov %rsp,%rbp */
	made(&m, 0x55, 0x49, 0x89, 0xf8, 0x48, 0x89, 0xe5);
	made_branch(&m, 12);
	made_leave(&m);
	made_label(&m, 12);
	made_call(&m, 1);
	made_align(&m);
	made_label(&m, 3);		/* the same */
	made(&m, 0x55, 0x49, 0x89, 0xf8, 0x48, 0x89, 0xe5);
	made_leave(&m);
	made_align(&m);
	made_label(&m, 4);
	made_branch(&m, 3);
	made_jump(&m, 2);
	made_jump(&m, 3);
	made_end(&m, "frames");
	open_code(&m, &o);
	for (int i = 1; i <= 3; i++) {
		assert_true(function_at(&o.map, m.label[i] + 5, &f));
		assert_int_equal(f.start, m.label[i]);
		assert_int_equal(f.end, m.label[i + 1]);
	}
	close_code(&m, &o);
}

static void test_unavoidable(void **state)
{
	struct made_elf m;
	struct function f;
	struct opened o;
	uint64_t always, both, maybe;

	(void)state;
	made_begin(&m);
	made_function(&m, 1);		/* if (…) … ; always; if (stack smashed) fail(); */
	made_branch(&m, 10);
	maybe = made_here(&m);
	made(&m, 0x90);
	made_label(&m, 10);
	always = made_here(&m);
	made(&m, 0x90);
	made_branch(&m, 11);
	made_leave(&m);
	made_label(&m, 11);
	both = made_here(&m);
	made_call(&m, 1);		/* never returns: padding follows */
	made_end(&m, "unavoidable");
	open_code(&m, &o);
	assert_true(function_at(&o.map, always, &f));
	assert_false(function_can_avoid(&o.map, &f, always));
	assert_true(function_can_avoid(&o.map, &f, maybe));
	assert_true(function_can_avoid(&o.map, &f, both));
	close_code(&m, &o);
}

/* movslq 8(%rdi),%rax; shl $3,%rax; and (cage),%rax in the forms that compilers give it. */
static void make_masked_loads(struct made_elf *m, uint64_t cage, int times)
{
	made_function(m, 1);
	made(m, 0x4c, 0x8d, 0x25);			/* lea cage(%rip),%r12 */
	made_s32(m, (int64_t)cage - (int64_t)(made_here(m) + 4));
	for (int i = 0; i < times; i++) {
		made(m, 0x48, 0x63, 0x47, 0x08, 0x48, 0xc1, 0xe0, 0x03);
		switch (i % 3) {
		case 0:
			made(m, 0x49, 0x23, 0x04, 0x24);	/* and (%r12),%rax */
			break;
		case 1:
			made(m, 0x49, 0x8b, 0x0c, 0x24, 0x48, 0x21, 0xc8);	/* mov (%r12),%rcx; and %rcx,%rax */
			break;
		default:
			made(m, 0x48, 0x23, 0x05);		/* and cage(%rip),%rax */
			made_s32(m, (int64_t)cage - (int64_t)(made_here(m) + 4));
		}
	}
	made(m, 0x49, 0x23, 0x04, 0x24);		/* not shifted: says nothing */
	made_leave(m);
	made_end(m, "cage");
}

static uint64_t cage_of(uint64_t cage, int times)
{
	struct cage_votes *votes = cage_votes_new();
	struct made_elf m;
	struct function f;
	struct opened o;
	uint64_t got;

	made_begin(&m);
	make_masked_loads(&m, cage, times);
	open_code(&m, &o);
	assert_true(function_at(&o.map, m.label[1], &f));
	cage_votes_add(votes, &o.map, &f);
	got = cage_votes_winner(votes, o.img);
	cage_votes_free(votes);
	close_code(&m, &o);
	return got;
}

static void test_cage(void **state)
{
	(void)state;
	assert_int_equal(cage_of(MADE_DATA_VADDR + 0x80, 15), MADE_DATA_VADDR + 0x80);
	assert_int_equal(cage_of(MADE_DATA_VADDR + 0x80, 11), 0);	/* too few */
	assert_int_equal(cage_of(MADE_RODATA, 15), 0);			/* a cage's base is set at run time */
}

static void test_addresses(void **state)
{
	struct made_elf m;
	struct opened o;
	uint64_t v;

	(void)state;
	made_begin(&m);
	made_function(&m, 1);
	made_leave(&m);
	made_end(&m, "addresses");
	open_code(&m, &o);
	assert_string_equal(o.img->build_id, "101112131415161718191a1b1c1d1e1f20212223");
	assert_true(image_offset_of(o.img, MADE_CODE_VADDR + 5, &v) && v == MADE_CODE + 5);
	assert_true(image_vaddr_of(o.img, MADE_DATA + 5, &v) && v == MADE_DATA_VADDR + 5);
	assert_false(image_offset_of(o.img, MADE_DATA_VADDR - 1, &v));
	assert_false(image_offset_of(o.img, MADE_DATA_VADDR + MADE_SIZE - MADE_DATA, &v));	/* .bss has no file bytes */
	assert_null(image_at(o.img, MADE_DATA_VADDR - 0x1001, 2, NULL));
	assert_non_null(image_at(o.img, MADE_CODE_VADDR, 1, NULL));
	assert_null(image_at(o.img, UINT64_MAX, 1, NULL));
	close_code(&m, &o);
}

static void refused(struct made_elf *m, const char *why)
{
	struct image *img;
	struct error err;

	made_save(m);
	assert_true(image_open(m->path, &img, &err) < 0);
	assert_null(img);
	assert_int_equal(err.kind, ERR_INPUT);
	if (!strstr(err.text, why))
		fail_msg("'%s' does not say '%s'", err.text, why);
	made_write_headers(m);
}

static void test_malformed(void **state)
{
	struct image *img;
	struct error err;
	struct made_elf m;
	Elf64_Ehdr *eh = (Elf64_Ehdr *)m.bytes;
	Elf64_Phdr *ph = (Elf64_Phdr *)(m.bytes + 64);

	(void)state;
	made_begin(&m);
	made_end(&m, "malformed");
	m.bytes[0] = 0;
	refused(&m, "magic");
	eh->e_ident[EI_CLASS] = ELFCLASS32;
	refused(&m, "64-bit");
	eh->e_machine = EM_RISCV;
	refused(&m, "machine 243");
	eh->e_phnum = 0xffff;
	refused(&m, "program header table");
	eh->e_phoff = UINT64_MAX - 3;
	refused(&m, "outside of the file");
	ph[1].p_filesz = UINT64_MAX;
	refused(&m, "cut off");
	ph[1].p_offset = UINT64_MAX;
	refused(&m, "cut off");
	ph[1].p_vaddr = 0x100;
	refused(&m, "overlap");
	for (int i = 0; i < 3; i++)
		ph[i].p_type = PT_NULL;
	refused(&m, "no loadable segment");
	assert_int_equal(truncate(m.path, 20), 0);
	assert_true(image_open(m.path, &img, &err) < 0);
	assert_true(image_open("/nonexistent/file", &img, &err) < 0);
	assert_true(image_open("/tmp", &img, &err) < 0);
	unlink(m.path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exits), cmocka_unit_test(test_exits_of_parts), cmocka_unit_test(test_switch), cmocka_unit_test(test_indirect_tail_jumps),
		cmocka_unit_test(test_ends), cmocka_unit_test(test_borders),
		cmocka_unit_test(test_borders_by_frame),
		cmocka_unit_test(test_unavoidable), cmocka_unit_test(test_cage), cmocka_unit_test(test_addresses), cmocka_unit_test(test_malformed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
