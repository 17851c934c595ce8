// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Compares the instruction lengths of the decoder with objdump's over large samples of real code. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "target/image.h"

struct tally {
	size_t compared, differ, bad;
};

/* objdump shows fwait and the x87 instruction behind it as one; and what it can't read, as data among the code, as
 * "(bad)", ".byte" or prefixes without an instruction. AMD and Intel read a 16-bit jump differently; no compiler has it. */
static bool is_comparable(const uint8_t *p, const char *text)
{
	const char *last = strrchr(text, ' ');

	last = last ? last + 1 : text + strspn(text, "\t");
	if (!strncmp(last, "rex", 3) || strstr(text, "jmpw") || strstr(text, "callw"))
		return false;
	return *p != 0x9b && !strstr(text, "(bad)") && !strstr(text, ".byte");
}

static void compare_line(const struct image *img, uint64_t at, uint64_t next, const char *text, struct tally *t)
{
	size_t avail;
	const uint8_t *p = image_at(img, at, 1, &avail);
	struct insn insn;

	if (!p)
		return;
	if (!is_comparable(p, text)) {
		t->bad++;
		return;
	}
	img->arch->decode(p, avail, at, &insn);
	t->compared++;
	if (insn.length == next - at)
		return;
	if (t->differ++ < 10) {
		print_message("# %s 0x%llx: objdump %u, decoder %u:", img->path, (unsigned long long)at,
			      (unsigned int)(next - at), insn.length);
		for (size_t i = 0; i < 16 && i < avail; i++)
			print_message(" %02x", p[i]);
		print_message("  %s\n", text);
	}
}

static void compare_range(const struct image *img, uint64_t from, uint64_t to, struct tally *t)
{
	char command[PATH_MAX + 256], line[512], last_text[512] = "";
	uint64_t last = 0;
	FILE *f;

	snprintf(command, sizeof(command),
		 "objdump -d -w --no-show-raw-insn --start-address=0x%llx --stop-address=0x%llx '%s' 2>/dev/null",
		 (unsigned long long)from, (unsigned long long)to, img->path);
	f = popen(command, "r");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		unsigned long long at;
		int n = 0;

		line[strcspn(line, "\n")] = '\0';
		if (line[0] != ' ' || sscanf(line, " %llx:%n", &at, &n) != 1 || !n) {
			last = 0;	/* a section's end, or "..." for zeros that were left out */
			continue;
		}
		if (last)
			compare_line(img, last, at, last_text, t);
		last = at;
		snprintf(last_text, sizeof(last_text), "%s", line + n);
	}
	pclose(f);
}

/* `samples` pieces of `bytes`, spread evenly over the code. */
static void compare_file(const char *path, unsigned int samples, uint64_t bytes)
{
	struct tally t = { 0 };
	struct image *img;
	struct error err;
	char real[PATH_MAX];

	if (system("objdump --version >/dev/null 2>&1") || !realpath(path, real)) {
		print_message("# no objdump or no %s\n", path);
		skip();
	}
	assert_int_equal(image_open(real, &img, &err), 0);
	for (size_t i = 0; i < img->nr_segments; i++) {
		const struct image_segment *s = &img->segments[i];

		if (!s->exec)
			continue;
		for (unsigned int k = 0; k < samples; k++) {
			uint64_t from = s->vaddr + s->file_size / samples * k;
			uint64_t to = from + bytes, end = s->vaddr + s->file_size;

			compare_range(img, from, to < end ? to : end, &t);
		}
	}
	print_message("# %s: %zu instructions compared, %zu differ, %zu not read by objdump\n", path, t.compared, t.differ,
		      t.bad);
	image_close(img);
	assert_true(t.compared > 10000);
	assert_int_equal(t.differ, 0);
	assert_true(t.bad < t.compared / 50);
}

static void test_libc(void **state)
{
	(void)state;
	compare_file("/lib/x86_64-linux-gnu/libc.so.6", 1, UINT64_MAX / 2);
}

static void test_libcrypto(void **state)
{
	(void)state;
	compare_file("/usr/lib/x86_64-linux-gnu/libcrypto.so.3", 1, UINT64_MAX / 2);
}

static void test_chromium(void **state)
{
	(void)state;
	compare_file("/usr/lib/chromium/chromium", 8, 512 << 10);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_libc),
		cmocka_unit_test(test_libcrypto),
		cmocka_unit_test(test_chromium),
	};

	if (argc > 1) {	/* any other file, all of it */
		print_message("# comparing all of %s\n", argv[1]);
		compare_file(argv[1], 1, UINT64_MAX / 2);
		return 0;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
