// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Which way to a frame calibration takes: one that is right for several documents; for a function that is only called about
 * one, the way that leads from its document to its frame elsewhere, and never the shortest one that is right by chance. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "calibrate/choose.h"
#include "calibrate/frame.h"

#define MAX_PATHS 8
#define NR_DOCS 3
#define FRAME(doc) (0x1000u + 0x100 * (doc))
#define DOCUMENT(doc) (0x9000u + 0x100 * (doc))
#define URL_STEPS(way) path_step(path_step(way, false, 0x138), false, 0x38)
#define FRAME_STEPS(way) path_add(path_step(path_step(way, false, 0x178), false, 8), -0x40)

static const struct choose_texts texts = { .documents = 7, .doc_of = { 0, 1, 2 }, .nr_docs = NR_DOCS };

static struct call_log logs[4];
static struct frame_facts facts[4];

/* A function whose calls' documents are `way`'s. */
static struct call_log *function(int i, path_t way)
{
	logs[i] = (struct call_log){ .paths = calloc(MAX_PATHS, sizeof(path_t)), .path_fields = calloc(MAX_PATHS, 1) };
	facts[i] = (struct frame_facts){ .log = &logs[i], .has_document = true, .document = URL_STEPS(way), .kind = KIND_CSTR };
	return &logs[i];
}

static void path(struct call_log *log, path_t p, uint8_t field)
{
	log->path_fields[log->nr_paths] = field;
	log->paths[log->nr_paths++] = p;
}

/* A call about a document, which tries the paths that are known by now; values are theirs. */
static void call(struct call_log *log, uint16_t doc, uint64_t a, uint64_t b, uint64_t c)
{
	struct log_hit *hit = &log->hits[log->nr_hits++];
	const struct frame_facts *f = &facts[log - logs];

	hit->values = calloc(MAX_PATHS, sizeof(*hit->values));
	hit->values[0] = a;
	hit->values[1] = b;
	hit->values[2] = c;
	hit->nr_values = log->nr_paths;
	hit->texts = calloc(1, sizeof(*hit->texts));
	hit->texts[0] = (struct found_text){ f->document, doc, f->kind };
	hit->nr_texts = 1;
}

static int tear_down(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(logs) / sizeof(logs[0]); i++)
		log_free(&logs[i]);
	return 0;
}

/* Two functions that are called about all documents, by the same way from these to their frames. */
static void call_about_all(void)
{
	path_t way = path_step(0, false, 0x70), other = path_step(1, false, 0x20);

	path(function(0, way), FRAME_STEPS(way), FIELD_FRAME);
	path(function(1, other), FRAME_STEPS(other), FIELD_FRAME);
	for (int d = 0; d < NR_DOCS; d++) {
		call(&logs[0], d, FRAME(d), 0, 0);
		call(&logs[1], d, FRAME(d), 0, 0);
	}
}

static void test_several(void **state)
{
	(void)state;
	call_about_all();
	assert_int_equal(frame_find(facts, 2, 2, &texts), 0);
	for (int i = 0; i < 2; i++) {
		assert_true(facts[i].has_frame);
		assert_int_equal(facts[i].documents, NR_DOCS);
		assert_true(facts[i].frame == logs[i].paths[0]);
	}
}

/* What paints is called about the window's own document alone: a short way that is right for that one proves nothing. */
static void test_one_document(void **state)
{
	path_t way = path_step(path_step(0, false, 0x30), false, 0x20), beside = path_step(0, false, 0x18);

	(void)state;
	call_about_all();
	function(2, way);
	path(&logs[2], path_step(0, false, 0x3c8), FIELD_FRAME);
	path(&logs[2], FRAME_STEPS(beside), FIELD_FRAME);
	path(&logs[2], FRAME_STEPS(way), FIELD_FRAME);
	call(&logs[2], 0, FRAME(0), FRAME(0), FRAME(0));
	call(&logs[2], 0, FRAME(0), FRAME(0), FRAME(0));
	assert_int_equal(frame_find(facts, 3, 3, &texts), 0);
	assert_true(facts[2].has_frame);
	/* by the document that its URL was read from, although a shorter way has the right end, too */
	assert_true(facts[2].frame == FRAME_STEPS(way));
	assert_int_equal(facts[2].documents, 1);
}

static void test_only_by_chance(void **state)
{
	(void)state;
	call_about_all();
	function(2, path_step(0, false, 0x30));
	path(&logs[2], path_step(0, false, 0x3c8), FIELD_FRAME);
	call(&logs[2], 0, FRAME(0), 0, 0);
	assert_int_equal(frame_find(facts, 3, 3, &texts), 0);
	assert_false(facts[2].has_frame);
}

/* Ways that a later search has found count from then on: before, a call may have been the browser's own. */
static void test_found_later(void **state)
{
	path_t way = path_step(0, false, 0x30);
	struct call_log *log;

	(void)state;
	call_about_all();
	log = function(2, way);
	path(log, path_step(0, false, 0x3c8), FIELD_FRAME);
	call(log, 0, FRAME(1), 0, 0);
	path(log, FRAME_STEPS(way), FIELD_FRAME);
	for (int d = 0; d < NR_DOCS; d++)
		call(log, d, FRAME(1), FRAME(d), 0);
	assert_int_equal(frame_find(facts, 3, 3, &texts), 0);
	assert_true(facts[2].has_frame);
	assert_true(facts[2].frame == FRAME_STEPS(way));
	assert_int_equal(facts[2].documents, NR_DOCS);
}

/* Wrong at one call is wrong; and a document is no frame. */
static void test_wrong(void **state)
{
	path_t way = path_step(0, false, 0x30);
	struct call_log *log;

	(void)state;
	call_about_all();
	log = function(2, way);
	path(log, FRAME_STEPS(way), FIELD_FRAME);
	path(log, way, FIELD_DOCUMENT);
	for (int d = 0; d < NR_DOCS; d++)
		call(log, d, FRAME(d), DOCUMENT(d), 0);
	call(log, 1, FRAME(2), DOCUMENT(1), 0);
	assert_int_equal(frame_find(facts, 3, 3, &texts), 0);
	assert_false(facts[2].has_frame);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_several, tear_down),
		cmocka_unit_test_teardown(test_one_document, tear_down),
		cmocka_unit_test_teardown(test_only_by_chance, tear_down),
		cmocka_unit_test_teardown(test_found_later, tear_down),
		cmocka_unit_test_teardown(test_wrong, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
