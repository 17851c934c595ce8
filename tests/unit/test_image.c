// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A file that is cut or written to while it is searched: refused in a sentence, never the end of the program. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/mapped.h"
#include "target/site.h"
#include "target/symbols.h"

static char path[64];
static size_t size;

/* This very program: it has code, read-only data, symbols and debug information. */
static int copy_self(void **state)
{
	int in = open("/proc/self/exe", O_RDONLY), out;
	char buf[65536];
	ssize_t n;

	(void)state;
	snprintf(path, sizeof(path), "/tmp/framescope-image-%d", (int)getpid());
	out = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0755);
	if (in < 0 || out < 0)
		return -1;
	for (size = 0; (n = read(in, buf, sizeof(buf))) > 0; size += n)
		if (write(out, buf, n) != n)
			return -1;
	close(in);
	/* the clock of file systems ticks slowly: what is written later must show */
	futimens(out, (struct timespec[2]){ { .tv_sec = 1 }, { .tv_sec = 1 } });
	close(out);
	return 0;
}

static int remove_copy(void **state)
{
	(void)state;
	return unlink(path);
}

static struct image *open_copy(void)
{
	struct error err = { 0 };
	struct image *img;

	if (image_open(path, &img, &err))
		fail_msg("%s", err.text);
	assert_int_equal(image_check(img, &err), 0);
	return img;
}

static void is_refused(const struct image *img)
{
	struct error err = { 0 };

	assert_int_equal(image_check(img, &err), -ESTALE);
	assert_int_equal(err.kind, ERR_CHANGED);
	assert_non_null(strstr(err.text, path));
}

static void cut_reads_as_zeros(void **state)
{
	struct image *img = open_copy();
	size_t sum = 0;

	(void)state;
	assert_int_equal(truncate(path, 8192), 0);
	for (size_t i = 8192; i < size; i++)
		sum += img->bytes[i];
	assert_int_equal(sum, 0);
	is_refused(img);
	image_close(img);
}

/* One fault answers all of the file's rest: a large one must not cost a fault a page. */
static void one_fault_for_all(void **state)
{
	struct image *img = open_copy();
	unsigned before = mapped_faults();
	volatile uint8_t sum = 0;

	(void)state;
	assert_int_equal(truncate(path, 0), 0);
	for (size_t i = 0; i < size; i += 64)
		sum += img->bytes[i];
	assert_int_equal(mapped_faults() - before, 1);
	is_refused(img);
	image_close(img);
}

/* As it was again, in size and time: what was read in between was zeros. */
static void cut_and_restored(void **state)
{
	struct image *img = open_copy();
	struct timespec times[2] = { { .tv_nsec = UTIME_OMIT }, img->modified };
	volatile uint8_t sum = 0;

	(void)state;
	assert_int_equal(truncate(path, 4096), 0);
	sum += img->bytes[size - 1];
	assert_int_equal(truncate(path, size), 0);
	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
	is_refused(img);
	image_close(img);
}

static void written_in_place(void **state)
{
	struct image *img = open_copy();
	int fd = open(path, O_WRONLY);

	(void)state;
	assert_true(fd >= 0 && pwrite(fd, "x", 1, size / 2) == 1);
	close(fd);
	is_refused(img);
	image_close(img);
}

/* Links and rights may change, as they do where a package is replaced: the bytes don't. */
static void same_bytes(void **state)
{
	struct error err = { 0 };
	struct image *img = open_copy();

	(void)state;
	assert_int_equal(chmod(path, 0700), 0);
	assert_int_equal(image_check(img, &err), 0);
	image_close(img);
}

static void sites_of_cut_file(void **state)
{
	static const struct site_options opt = { .no_cache = true };
	struct image *img = open_copy();
	struct error err = { 0 };
	struct engine *engine;
	struct site_list list;

	(void)state;
	assert_int_equal(engine_parse("[engine]\nname = self\nmodules = *\n[p]\nanchor = no such string at all\n[q]\n"
				      "function = sites_of_cut_file\n", "self.engine", img->arch, &engine, &err), 0);
	assert_int_equal(sites_find(img, engine, &opt, &list, &err), 0);
	sites_free(&list);
	assert_int_equal(truncate(path, 4096), 0);
	assert_int_equal(sites_find(img, engine, &opt, &list, &err), -ESTALE);
	assert_int_equal(err.kind, ERR_CHANGED);
	assert_int_equal(list.nr, 0);
	engine_free(engine);
	image_close(img);
}

/* libdw has mappings of its own. */
static void symbols_of_cut_file(void **state)
{
	struct image *img = open_copy();
	struct symbol_match *m = NULL;
	struct error err = { 0 };
	struct symbols *s;
	char name[128];
	size_t nr = 0;

	(void)state;
	assert_int_equal(symbols_open(img, NULL, &s, &err), 0);
	assert_int_equal(truncate(path, 4096), 0);
	if (!symbols_glob(s, "*", &m, &nr))
		free(m);
	symbols_name_of(s, img->segments[0].vaddr + 64, name, sizeof(name));
	symbols_close(s);
	is_refused(img);
	image_close(img);
}

/* While nothing is guarded, a fault is what it always was. */
static void others_faults(void **state)
{
	int status;
	pid_t pid;

	(void)state;
	pid = fork();
	if (!pid) {
		int fd = open(path, O_RDONLY);
		volatile const char *p = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);

		signal(SIGBUS, SIG_DFL);	/* not the test's library's */
		image_close(open_copy());
		if (truncate(path, 0) || p == MAP_FAILED)
			_exit(2);
		_exit(p[0]);
	}
	assert_true(pid > 0 && waitpid(pid, &status, 0) == pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS);
}

int main(void)
{
#define test(f) cmocka_unit_test_setup_teardown(f, copy_self, remove_copy)
	const struct CMUnitTest tests[] = {
		test(cut_reads_as_zeros), test(one_fault_for_all), test(cut_and_restored), test(written_in_place),
		test(same_bytes), test(sites_of_cut_file), test(symbols_of_cut_file), test(others_faults),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
