// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Which of a function's calls calibration searches, through objects in our own memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include <sys/mman.h>
#include "calibrate/log.h"

#define HEAP_BYTES 16384
#define DOCUMENT_AT 0x2000	/* in the heap: an object with a URL, */
#define NOTHING_AT 0x1000	/* and one without */
#define URL_AT 0x3000
#define URL_OFF 0x188		/* in the document */
#define URL "http://page.test/"

struct calls {
	uint8_t *heap;
	struct image image;
	struct memory *memory;
	struct known known;
	uint64_t regs[1];
	struct call_log log;
};

static int set_up(void **state)
{
	struct calls *c = calloc(1, sizeof(*c));
	uint32_t impl[3] = { 1, strlen(URL), 0 };	/* a StringImpl's head */
	uint64_t url;

	assert_non_null(c);
	c->heap = mmap(NULL, HEAP_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(c->heap, MAP_FAILED);
	memcpy(c->heap + URL_AT, impl, sizeof(impl));
	memcpy(c->heap + URL_AT + sizeof(impl), URL, strlen(URL));
	url = (uintptr_t)c->heap + URL_AT;
	memcpy(c->heap + DOCUMENT_AT + URL_OFF, &url, sizeof(url));
	c->memory = memory_new(&c->image);
	assert_non_null(c->memory);
	c->known = (struct known){ .text = { URL }, .nr = 1 };
	*state = c;
	return 0;
}

static int tear_down(void **state)
{
	struct calls *c = *state;

	log_free(&c->log);
	memory_free(c->memory);
	munmap(c->heap, HEAP_BYTES);
	free(c);
	return 0;
}

/* Calls with the object there as their only argument. Returns how many of them were hits. */
static size_t call(struct calls *c, size_t at, int nr, unsigned int phase)
{
	struct subject s = { .memory = c->memory, .regs = c->regs, .nr_regs = 1, .known = &c->known };
	size_t had = c->log.nr_hits;

	c->regs[0] = (uintptr_t)c->heap + at;
	for (int i = 0; i < nr; i++) {
		assert_int_equal(memory_begin(c->memory, getpid()), 0);
		assert_true(log_call(&c->log, &s, phase, false) >= 0);
	}
	return c->log.nr_hits - had;
}

/* A page's first calls may all be the browser's own: then later ones show the way, and are hits from there on. */
static void test_late(void **state)
{
	struct calls *c = *state;
	int missed = 0;

	assert_int_equal(call(c, NOTHING_AT, 10, 0), 0);
	while (missed < 10 && !call(c, DOCUMENT_AT, 1, 0))
		missed++;
	assert_true(missed < 10);
	assert_int_equal(call(c, DOCUMENT_AT, 9, 0), 9);
	assert_int_equal(c->log.searches[0], 1);
	assert_int_equal(c->log.hits[0].texts[0].path, path_step(0, false, URL_OFF));
	/* on the next page the way is known */
	assert_int_equal(call(c, NOTHING_AT, 10, 1), 0);
	assert_int_equal(call(c, DOCUMENT_AT, 10, 1), 10);
}

/* Searches are dear: those in vain become rare. */
static void test_rare(void **state)
{
	struct calls *c = *state;

	assert_int_equal(call(c, NOTHING_AT, 3, 0), 0);
	assert_int_equal(c->log.vain[0], 3);
	assert_int_equal(call(c, NOTHING_AT, 197, 0), 0);
	assert_in_range(c->log.vain[0], 4, 10);
	assert_int_equal(c->log.nr_known, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_late, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_rare, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
