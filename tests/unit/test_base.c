// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Text repair and output files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include "base/outfile.h"
#include "base/text.h"
#include "record.h"

#define FFFD "\xef\xbf\xbd"

static void decodes(void **state)
{
	static const struct { int enc; const char *in; size_t n; const char *out; } cases[] = {
		{ ENC_UTF8, "plain", 5, "plain" },
		{ ENC_UTF8, "\xc3\x28", 2, FFFD "(" },
		{ ENC_UTF8, "a\xc3", 2, "a" },			/* cut off: dropped */
		{ ENC_UTF8, "\xed\xa0\x80x", 4, FFFD FFFD FFFD "x" },	/* surrogate */
		{ ENC_UTF8, "\xc0\xaf", 2, FFFD FFFD },		/* overlong */
		{ ENC_UTF8, "\xf4\x90\x80\x80", 4, FFFD FFFD FFFD FFFD },	/* above U+10FFFF */
		{ ENC_UTF8, "a\0b", 3, "a" FFFD "b" },
		{ ENC_LATIN1, "\xe4\xff", 2, "\xc3\xa4\xc3\xbf" },
		{ ENC_UTF16, "\x3d\xd8\x00\xde", 4, "\xf0\x9f\x98\x80" },
		{ ENC_UTF16, "\x3d\xd8" "a\0", 4, FFFD "a" },	/* lone high */
		{ ENC_UTF16, "\x00\xde" "a\0", 4, FFFD "a" },	/* lone low */
		{ ENC_UTF16, "a\0\x3d\xd8", 4, "a" },		/* pair cut off */
		{ ENC_UTF16 | ENC_TRUNCATED, "a\0b", 3, "a" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char out[64];
		size_t n = text_decode(cases[i].enc, cases[i].in, cases[i].n, out, sizeof(out));

		assert_int_equal(n, strlen(cases[i].out));
		assert_memory_equal(out, cases[i].out, n);
	}
}

static void decoding_is_bounded(void **state)
{
	char out[4] = "####";

	(void)state;
	out[3] = '#';
	assert_int_equal(text_decode(ENC_LATIN1, "\xe4\xe4\xe4", 3, out, 3), 2);
	assert_int_equal(out[2], '#');
	assert_int_equal(text_decode(ENC_UTF8, "abc\xe2\x82\xac", 6, out, 4), 3);
}

/* Any bytes give strict JSON that jansson reads, and valid UTF-8 comes back as it was. */
static void json_of_any_bytes(void **state)
{
	unsigned seed = 1;

	(void)state;
	for (int round = 0; round < 20000; round++) {
		char in[24], out[6 * sizeof(in) + 2];
		size_t n = rand_r(&seed) % sizeof(in), len;
		json_error_t e;
		json_t *j;

		for (size_t i = 0; i < n; i++)
			in[i] = rand_r(&seed) % 3 ? rand_r(&seed) : 0x20 + rand_r(&seed) % 0x60;
		len = text_json(in, n, out);
		assert_true(len <= sizeof(out));
		j = json_loadb(out, len, JSON_DECODE_ANY | JSON_ALLOW_NUL, &e);
		if (!j)
			fail_msg("round %d: %s", round, e.text);
		if (text_valid_prefix(in, n) == n)
			assert_memory_equal(json_string_value(j), in, n);
		json_decref(j);
	}
}

static void printable(void **state)
{
	static const char in[] = "a\x1b[31m\xc2\x9b" "b\xff\xe2\x80\xae" "c\xc3\xa4";
	char out[64];
	size_t n = text_printable(in, sizeof(in) - 1, out, sizeof(out));

	(void)state;
	assert_int_equal(n, strlen("a?[31m?b??c\xc3\xa4"));
	assert_memory_equal(out, "a?[31m?b??c\xc3\xa4", n);
}

static char dir[64];

static int make_dir(void **state)
{
	(void)state;
	strcpy(dir, "/tmp/framescope-test-XXXXXX");
	return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
	(void)state;
	return rmdir(dir);	/* fails if a temporary file was left */
}

static void numbers(void **state)
{
	char path[128], text[128] = "";
	struct outfile *f;
	struct stat st;
	FILE *in;

	(void)state;
	snprintf(path, sizeof(path), "%s/out", dir);
	assert_int_equal(outfile_open(path, &f, NULL), 0);
	outfile_us(f, 1236);
	outfile_write(f, " ", 1);
	outfile_us(f, 1000);
	outfile_write(f, " ", 1);
	outfile_us(f, 50);
	outfile_write(f, " ", 1);
	outfile_ms(f, 1500001);
	outfile_write(f, " ", 1);
	outfile_u64(f, UINT64_MAX);
	assert_int_equal(access(path, F_OK), -1);	/* not before the commit */
	assert_int_equal(outfile_commit(f, NULL), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	in = fopen(path, "r");
	assert_non_null(in);
	assert_non_null(fgets(text, sizeof(text), in));
	fclose(in);
	assert_string_equal(text, "1.236 1 0.05 1.500001 18446744073709551615");
	unlink(path);
}

static void long_json_string(void **state)
{
	char path[128], *text = malloc(300000);
	struct outfile *f;
	json_t *j;

	(void)state;
	snprintf(path, sizeof(path), "%s/out", dir);
	for (int i = 0; i < 100000; i++)
		memcpy(text + 3 * i, "\xe2\x82\xac", 3);	/* pieces never cut one in two */
	assert_int_equal(outfile_open(path, &f, NULL), 0);
	outfile_json_string(f, text, 300000);
	assert_int_equal(outfile_commit(f, NULL), 0);
	j = json_load_file(path, JSON_DECODE_ANY, NULL);
	assert_non_null(j);
	assert_int_equal(json_string_length(j), 300000);
	assert_memory_equal(json_string_value(j), text, 300000);
	json_decref(j);
	free(text);
	unlink(path);
}

static void gzip_by_name(void **state)
{
	char path[128], text[16];
	struct outfile *f;
	gzFile z;

	(void)state;
	snprintf(path, sizeof(path), "%s/out.json.gz", dir);
	assert_int_equal(outfile_open(path, &f, NULL), 0);
	for (int i = 0; i < 1000000; i++)
		outfile_write(f, "0123456789", 10);
	assert_int_equal(outfile_bytes(f), 10000000);
	assert_int_equal(outfile_commit(f, NULL), 0);
	z = gzopen(path, "r");
	assert_int_equal(gzseek(z, 9999995, SEEK_SET), 9999995);
	assert_int_equal(gzread(z, text, sizeof(text)), 5);
	assert_memory_equal(text, "56789", 5);
	gzclose(z);
	unlink(path);
}

/* A full disk at any byte: an error that says so, the old file untouched, no temporary file (remove_dir checks). */
static void full_disk(void **state)
{
	struct rlimit old, small;
	char path[128], name[140], text[16] = "";
	struct error err;
	FILE *in;

	(void)state;
	snprintf(path, sizeof(path), "%s/out", dir);
	in = fopen(path, "w");
	fputs("old", in);
	fclose(in);
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &old);
	small = old;
	for (rlim_t limit = 0; limit < 600000; limit += 99991) {
		struct outfile *f;

		small.rlim_cur = limit;
		setrlimit(RLIMIT_FSIZE, &small);
		assert_int_equal(outfile_open(path, &f, &err), 0);
		for (int i = 0; i < 60001; i++)
			outfile_write(f, "0123456789", 10);
		assert_int_equal(outfile_commit(f, &err), -EFBIG);
		assert_int_equal(err.kind, ERR_OUTPUT);
	}
	setrlimit(RLIMIT_FSIZE, &old);
	in = fopen(path, "r");
	assert_non_null(fgets(text, sizeof(text), in));
	fclose(in);
	assert_string_equal(text, "old");
	snprintf(name, sizeof(name), "%s/none/out", dir);
	assert_int_equal(outfile_open(name, &(struct outfile *){ NULL }, &err), -ENOENT);
	assert_non_null(strstr(err.text, "No such file"));
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(decodes),
		cmocka_unit_test(decoding_is_bounded),
		cmocka_unit_test(json_of_any_bytes),
		cmocka_unit_test(printable),
		cmocka_unit_test_setup_teardown(numbers, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(long_json_string, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(gzip_by_name, make_dir, remove_dir),
		cmocka_unit_test_setup_teardown(full_disk, make_dir, remove_dir),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
