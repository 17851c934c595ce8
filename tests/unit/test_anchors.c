// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What anchors mean, on files made for the purpose: helpers, callers, merged texts, bytes that only look like code. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include "target/anchors.h"
#include "unit/made_elf.h"

#define MAX_RESULTS 8

/* Starts of the functions that the anchor means in the file, ascending; returns how many. */
static size_t meaning(const struct made_elf *m, const char *text, uint64_t *ret)
{
	struct anchor_finder *f;
	const struct anchor_set *set;
	struct image *img;
	struct anchor a;
	struct error err;
	size_t nr;

	assert_int_equal(image_open(m->path, &img, &err), 0);
	if (anchor_parse(text, &a, &err))
		fail_msg("%s", err.text);
	assert_int_equal(anchor_finder_new(img, &a, 1, &f, &err), 0);
	set = anchor_finder_set(f, 0);
	nr = set->nr;
	for (size_t i = 0; i < nr && i < MAX_RESULTS; i++)
		ret[i] = set->matches[i].function.start;
	anchor_finder_free(f);
	image_close(img);
	return nr;
}

static void means_at(const struct made_elf *m, const char *text, uint64_t want, int line)
{
	uint64_t got[MAX_RESULTS] = { 0 };
	size_t nr = meaning(m, text, got);

	if (nr != (want ? 1 : 0) || got[0] != want)
		fail_msg("line %d: '%s' means %zu functions, first 0x%llx, not 0x%llx", line, text, nr,
			 (unsigned long long)got[0], (unsigned long long)want);
}

#define means(m, text, want) means_at(m, text, want, __LINE__)

/*
 * traced (1): if (enabled) helper (2);   helper: refers to the text and returns
 * caller (3): calls traced
 */
static void test_helper(void **state)
{
	struct made_elf m;
	uint64_t text;

	(void)state;
	made_begin(&m);
	text = made_text(&m, "Frame::paint");
	made_function(&m, 1);
	made_branch(&m, 10);
	made_label(&m, 11);
	made_leave(&m);
	made_label(&m, 10);
	made_call(&m, 2);
	made_jump(&m, 11);
	made_function(&m, 2);
	made_lea(&m, text);
	made_leave(&m);
	made_function(&m, 3);
	made_call(&m, 1);
	made_leave(&m);
	made_end(&m, "helper");
	means(&m, "Frame::paint", m.label[2]);
	means(&m, "^Frame::paint", m.label[1]);
	means(&m, "^^Frame::paint", m.label[3]);
	means(&m, "^^^Frame::paint", 0);
	means(&m, "rame::paint", 0);
	means(&m, "Frame::pain", 0);
	unlink(m.path);
}

/* The reference stands in the traced function itself, in a place that can be gone around. */
static void test_direct(void **state)
{
	struct made_elf m;
	uint64_t text;

	(void)state;
	made_begin(&m);
	text = made_text(&m, "Frame::layout");
	made_function(&m, 1);
	made_branch(&m, 10);
	made_label(&m, 11);
	made_leave(&m);
	made_label(&m, 10);
	made_lea(&m, text);
	made_jump(&m, 11);
	made_function(&m, 2);
	made_call(&m, 1);
	made_leave(&m);
	made_end(&m, "direct");
	means(&m, "Frame::layout", m.label[1]);
	means(&m, "^Frame::layout", m.label[1]);
	means(&m, "^^Frame::layout", m.label[2]);
	unlink(m.path);
}

/* One helper was kept for two traced functions (identical code is folded); a second text tells them apart. */
static void make_shared_helper(struct made_elf *m)
{
	uint64_t call = made_text(m, "FunctionCall"), other = made_text(m, "v8.callFunction");

	for (int i = 1; i <= 2; i++) {
		made_function(m, i);
		made_branch(m, 10 + i);
		made_label(m, 20 + i);
		made_leave(m);
		made_label(m, 10 + i);
		if (i == 2)
			made_lea(m, other);
		made_call(m, 3);
		made_jump(m, 20 + i);
	}
	made_function(m, 3);
	made_lea(m, call);
	made_leave(m);
	made_end(m, "shared");
}

static void test_two_callers(void **state)
{
	uint64_t got[MAX_RESULTS];
	struct made_elf m;

	(void)state;
	made_begin(&m);
	make_shared_helper(&m);
	assert_int_equal(meaning(&m, "^FunctionCall", got), 2);
	assert_int_equal(got[0], m.label[1]);
	assert_int_equal(got[1], m.label[2]);
	means(&m, "^FunctionCall & ^v8.callFunction", m.label[2]);
	means(&m, "^FunctionCall & v8.callFunction", m.label[2]);
	means(&m, "^FunctionCall & !v8.callFunction", m.label[1]);
	means(&m, "FunctionCall & v8.callFunction", 0);
	unlink(m.path);
}

/* More callers than a helper has: the function that always refers to the text is meant itself. */
static void test_many_callers(void **state)
{
	struct made_elf m;
	uint64_t text;

	(void)state;
	made_begin(&m);
	text = made_text(&m, "Timer::fire");
	made_function(&m, 1);
	made_lea(&m, text);
	made_leave(&m);
	for (int i = 2; i < 9; i++) {
		made_function(&m, i);
		made_branch(&m, 10 + i);
		made_leave(&m);
		made_label(&m, 10 + i);
		made_call(&m, 1);
		made_leave(&m);
	}
	made_end(&m, "many");
	means(&m, "^Timer::fire", m.label[1]);
	unlink(m.path);
}

/* Linkers keep one copy of texts with a common end; the shorter one is referred to in its middle. */
static void test_merged_text(void **state)
{
	struct made_elf m;
	uint64_t text;

	(void)state;
	made_begin(&m);
	text = made_text(&m, "DidEvaluateScript");
	made_function(&m, 1);
	made_lea(&m, text);
	made_leave(&m);
	made_function(&m, 2);
	made_lea(&m, text + 3);
	made_leave(&m);
	made_end(&m, "merged");
	means(&m, "EvaluateScript", m.label[2]);
	means(&m, "DidEvaluateScript", m.label[1]);
	means(&m, "Script", 0);
	unlink(m.path);
}

static void test_text_twice(void **state)
{
	uint64_t got[MAX_RESULTS], a, b;
	struct made_elf m;

	(void)state;
	made_begin(&m);
	a = made_text(&m, "Commit");
	b = made_text(&m, "Commit");
	made_function(&m, 1);
	made_lea(&m, a);
	made_leave(&m);
	made_function(&m, 2);
	made_lea(&m, b);
	made_leave(&m);
	made_end(&m, "twice");
	assert_int_equal(meaning(&m, "Commit", got), 2);
	assert_int_equal(got[1], m.label[2]);
	unlink(m.path);
}

/* A reference and a call whose bytes are part of another instruction's constant are none. */
static void test_bytes_in_constants(void **state)
{
	struct made_elf m;
	uint64_t text;

	(void)state;
	made_begin(&m);
	text = made_text(&m, "Document::parse");
	made_function(&m, 1);
	made(&m, 0x49, 0xba);		/* movabs $…,%r10: eight bytes that spell lea text(%rip),%rax */
	made_lea(&m, text);
	made(&m, 0x90);
	made_leave(&m);
	made_function(&m, 2);
	made_branch(&m, 10);
	made_leave(&m);
	made_label(&m, 10);
	made_lea(&m, text);
	made_leave(&m);
	made_function(&m, 3);
	made(&m, 0x48, 0xb8);		/* movabs $…,%rax with a call of 2 in it */
	made_call(&m, 2);
	made(&m, 0x90, 0x90, 0x90);
	made_leave(&m);
	made_end(&m, "constants");
	means(&m, "Document::parse", m.label[2]);
	means(&m, "^^Document::parse", 0);
	unlink(m.path);
}

/* Without a frame set up, padding and a call or a pointer show where a function starts. */
static void test_bare_starts(void **state)
{
	struct made_elf m;
	uint64_t a, b, c;

	(void)state;
	made_begin(&m);
	c = made_text(&m, "Lonely::one");
	a = made_text(&m, "Called::one");
	b = made_text(&m, "Pointed::one");
	made_function(&m, 1);
	made_call(&m, 2);
	made_leave(&m);
	made_align(&m);
	m.code += 16;
	made_label(&m, 2);
	made_lea(&m, a);
	made(&m, 0xc3);
	made_align(&m);
	m.code += 16;
	made_label(&m, 3);
	made_lea(&m, b);
	made(&m, 0xc3);
	made_word(&m, m.label[3]);
	made_align(&m);
	m.code += 16;
	made_label(&m, 4);		/* nobody's: its reference doesn't belong to the function in front of it either */
	made_lea(&m, c);
	made(&m, 0xc3);
	made_end(&m, "bare");
	means(&m, "Called::one", m.label[2]);
	means(&m, "Pointed::one", m.label[3]);
	means(&m, "Lonely::one", 0);
	unlink(m.path);
}

/* An unwind table knows starts that are neither on the grid nor set up a frame. */
static void test_unwind_table(void **state)
{
	struct made_elf m;
	uint64_t text, start;

	(void)state;
	made_begin(&m);
	text = made_text(&m, "Sheet::parse");
	made_function(&m, 1);
	made_leave(&m);
	made(&m, 0x90, 0x90, 0x90);
	start = made_here(&m);
	made(&m, 0x31, 0xc0);
	made_lea(&m, text);
	made(&m, 0xc3);
	m.eh_frame = true;
	made_fde(&m, m.label[1], m.label[1] + 6);
	made_fde(&m, start, made_here(&m));
	made_word(&m, start);
	made_end(&m, "unwind");
	means(&m, "Sheet::parse", start);
	unlink(m.path);
}

/*
 * 1: if (…) goto its cold part, which refers to the text, and goes back; 2 calls 1.
 * 3 and 4 share a cold part; 5 is a part that nothing leads to.
 */
static void test_cold_parts(void **state)
{
	struct made_elf m;
	uint64_t own, shared, lost, start[7];

	(void)state;
	made_begin(&m);
	own = made_text(&m, "Own::part");
	shared = made_text(&m, "Shared::part");
	lost = made_text(&m, "Lost::part");
	for (int i = 1; i < 5; i++) {
		made_function(&m, i);
		if (i == 2)
			made_call(&m, 1);
		else
			made_branch(&m, i == 1 ? 11 : 12);
		made_label(&m, 20 + i);
		made_leave(&m);
		start[i] = made_here(&m);
	}
	made_align(&m);
	made(&m, 0x90, 0x90, 0x90);	/* parts don't begin on the grid */
	made_label(&m, 11);
	made_lea(&m, own);
	made_jump(&m, 21);
	made_label(&m, 12);
	made_lea(&m, shared);
	made(&m, 0x0f, 0x0b);
	made_label(&m, 13);
	made_lea(&m, lost);
	made(&m, 0x0f, 0x0b);
	m.eh_frame = true;
	for (int i = 1; i < 5; i++)
		made_fde(&m, m.label[i], start[i]);
	made_fde(&m, m.label[11], m.label[12]);
	made_fde(&m, m.label[12], m.label[13]);
	made_fde(&m, m.label[13], made_here(&m));
	for (int i = 2; i < 5; i++)
		made_word(&m, m.label[i]);
	made_end(&m, "cold");
	means(&m, "Own::part", m.label[1]);
	means(&m, "^Own::part", m.label[1]);
	means(&m, "^^Own::part", m.label[2]);
	means(&m, "Shared::part", 0);
	means(&m, "Lost::part", 0);
	unlink(m.path);
}

static void test_syntax(void **state)
{
	static const char *const bad[] = { "", "abc", "^", "!text", "^^^^^^^^^text", "\"text", "\"te\\qxt\"", "\"text\" more",
					   "text & ", "\"te\\x00xt\"", "one1 & two2 & six3 & four & five & six6 & seven" };
	struct anchor a;
	struct error err;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(anchor_parse(bad[i], &a, &err), -EINVAL);
		assert_int_equal(err.kind, ERR_INPUT);
		assert_non_null(strstr(err.text, "column "));
	}
	assert_int_equal(anchor_parse("^^Paint & !\"a & \\x41\\n\" & css::Loader: %p (x", &a, &err), 0);
	assert_int_equal(a.nr_terms, 3);
	assert_int_equal(a.terms[0].up, 2);
	assert_string_equal(a.terms[0].text, "Paint");
	assert_true(a.terms[1].negated);
	assert_string_equal(a.terms[1].text, "a & A\n");
	assert_string_equal(a.terms[2].text, "css::Loader: %p (x");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_syntax), cmocka_unit_test(test_helper), cmocka_unit_test(test_direct),
		cmocka_unit_test(test_two_callers), cmocka_unit_test(test_many_callers),
		cmocka_unit_test(test_merged_text), cmocka_unit_test(test_text_twice),
		cmocka_unit_test(test_bytes_in_constants), cmocka_unit_test(test_bare_starts),
		cmocka_unit_test(test_unwind_table), cmocka_unit_test(test_cold_parts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
