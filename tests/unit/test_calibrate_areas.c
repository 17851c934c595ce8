// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Calibration's search for painted areas, through a heap of compressed pointers in our own memory, and the choice between
 * the ways it finds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include <sys/mman.h>
#include "calibrate/areas.h"
#include "calibrate/pages.h"
#include "calibrate/told.h"

#define HEAP_BYTES 65536
#define CAGE_BITS 34

struct heap {
	uint8_t *at;
	uint64_t cage;
	size_t used;
	struct image image;
	struct memory *memory;
	struct known known;
	struct subject s;
	uint64_t regs[2];
};

static int set_up(void **state)
{
	struct heap *h = calloc(1, sizeof(*h));

	assert_non_null(h);
	h->at = mmap(NULL, HEAP_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(h->at, MAP_FAILED);
	h->cage = (uintptr_t)h->at | ((1ull << CAGE_BITS) - 1);
	h->memory = memory_new(&h->image);
	assert_non_null(h->memory);
	h->known = (struct known){ .nr = 5, .area = { { 0, 0, 700, 500 }, { 0, 0, 800, 600 } }, .nr_areas = 2 };
	h->s = (struct subject){ .memory = h->memory, .regs = h->regs, .nr_regs = 2, .cage = h->cage, .known = &h->known };
	*state = h;
	return 0;
}

static int tear_down(void **state)
{
	struct heap *h = *state;

	memory_free(h->memory);
	munmap(h->at, HEAP_BYTES);
	free(h);
	return 0;
}

/* A new object of so many bytes behind its header. */
static uint8_t *object(struct heap *h, size_t bytes)
{
	uint16_t head[4] = { 0, 0, 0x8123, (bytes + 8) / 8 * 2 };
	uint8_t *o = h->at + h->used + sizeof(head);

	assert_true(bytes % 8 == 0 && h->used + bytes + sizeof(head) <= HEAP_BYTES);
	memcpy(h->at + h->used, head, sizeof(head));
	h->used += bytes + sizeof(head);
	return o;
}

static void point(uint8_t *from, size_t off, const uint8_t *to)
{
	uint32_t half = (uintptr_t)to >> 3 | 1u << 31;

	memcpy(from + off, &half, sizeof(half));
}

static void put_area(uint8_t *o, size_t off, const struct area *a)
{
	memcpy(o + off, a, sizeof(*a));
}

static void search(struct heap *h, struct found *ret)
{
	assert_int_equal(memory_begin(h->memory, getpid()), 0);
	assert_int_equal(areas_search(&h->s, ret), 0);
}

static path_t caged(path_t p, int off)
{
	return path_step(p, true, off);
}

static void test_ways(void **state)
{
	struct heap *h = *state;
	uint8_t *view = object(h, 64), *frame = object(h, 32), *layout = object(h, 128), *rare = object(h, 64);
	uint64_t handle[2] = { 7, (uintptr_t)layout };
	struct found f;
	struct arg_spec spec;

	/* an object that leads back must not lead us around */
	point(view, 8, frame);
	point(frame, 4, view);
	point(frame, 16, layout);
	point(layout, 0x34, rare);
	put_area(rare, 0x20, &h->known.area[1]);
	h->regs[0] = (uintptr_t)view;
	h->regs[1] = (uintptr_t)handle;
	search(h, &f);
	assert_int_equal(f.nr_texts, 2);
	for (size_t i = 0; i < 2; i++) {
		bool far = (f.texts[i].path & 31) == 0;
		path_t want = far ? caged(caged(0, 8), 16) : path_step(1, false, 8);

		assert_true(f.texts[i].path == path_add(caged(want, 0x34), 0x20));
		assert_int_equal(f.texts[i].text, 6);
		assert_int_equal(path_text(&h->s, f.texts[i].path, KIND_INT), 6);
		path_spec_half(f.texts[i].path, 12, FIELD_H, &spec);
		assert_int_equal(spec.nr_steps, far ? 4 : 3);
		assert_int_equal(spec.steps[spec.nr_steps - 1].op, STEP_LOADS32);
		assert_int_equal(spec.steps[spec.nr_steps - 1].off, 0x2c);
	}
	found_free(&f);
	/* it grew: the same way leads to nothing that is known */
	put_area(rare, 0x20, &(struct area){ 0, 0, 801, 600 });
	search(h, &f);
	assert_int_equal(f.nr_texts, 0);
	found_free(&f);
	h->s.cage = 0;
	search(h, &f);
	assert_int_equal(f.nr_texts, 0);
}

/* What stands behind an object's end is another's. */
static void test_ends(void **state)
{
	struct heap *h = *state;
	uint8_t *view = object(h, 32), *next = object(h, 32);
	struct found f;

	h->regs[0] = (uintptr_t)view;
	put_area(next, 8, &h->known.area[0]);
	search(h, &f);
	assert_int_equal(f.nr_texts, 0);
	found_free(&f);
	/* an object that tells no size is looked at in a window */
	memset(view - 8, 0, 8);
	search(h, &f);
	assert_int_equal(f.nr_texts, 1);
	found_free(&f);
}

/* More ways than anybody can try. */
static void test_many(void **state)
{
	enum { SIDE = 12, LEVELS = 6 };
	struct heap *h = *state;
	uint8_t *o[LEVELS][SIDE];
	struct found f;

	for (int l = 0; l < LEVELS; l++)
		for (int i = 0; i < SIDE; i++)
			o[l][i] = object(h, 64);
	for (int l = 0; l + 1 < LEVELS; l++)
		for (int i = 0; i < SIDE; i++)
			for (int k = 0; k < SIDE; k++)
				point(o[l][i], 4 * k, o[l + 1][k]);
	for (int i = 0; i < SIDE; i++)
		put_area(o[LEVELS - 1][i], 48, &h->known.area[0]);
	h->regs[0] = (uintptr_t)o[0][0];
	search(h, &f);
	assert_true(f.nr_texts >= SIDE && f.nr_texts <= 100000);
	found_free(&f);
}

/* Each text and area that is looked for is a bit of 64. */
static void test_bits(void **state)
{
	size_t files = 0, events = 0, pages = 0;

	(void)state;
	while (calibrate_page_files[files])
		files++;
	while (calibrate_page_events[events])
		events++;
	for (; calibrate_pages[pages].name; pages++)
		for (size_t i = 0; i < pages; i++)
			assert_int_not_equal(calibrate_pages[i].w, calibrate_pages[pages].w);
	assert_true(pages * files + events + 1 /* about:blank */ + pages <= 64 && pages <= KNOWN_MAX_AREAS);
}

/* --- the choice --- */

#define DOCUMENT(n) (1ull << (n))
#define AREA(n) (1ull << (8 + (n)))

static void add_hit(struct call_log *log, unsigned int phase, path_t a, int area_a, path_t b, int area_b)
{
	struct log_hit *hit = &log->hits[log->nr_hits++];

	hit->phase = phase;
	hit->texts = calloc(2, sizeof(*hit->texts));
	assert_non_null(hit->texts);
	if (area_a >= 0)
		hit->texts[hit->nr_texts++] = (struct found_text){ a, 8 + area_a, KIND_INT };
	if (area_b >= 0)
		hit->texts[hit->nr_texts++] = (struct found_text){ b, 8 + area_b, KIND_INT };
}

/* Of two ways the one whose end other functions' ways have, too, and of those the one through the frame. */
static void test_choice(void **state)
{
	struct engine_probe probes[3] = { { .name = "phase", .type = EVENT_PAINT }, { .name = "layer", .type = EVENT_PAINT },
					  { .name = "other", .type = EVENT_LAYOUT } };
	struct choose_texts t = { 0 };
	struct frame_facts facts[3] = { 0 };
	struct site_entry e[3] = { 0 };
	struct site sites[3];
	path_t near = path_add(0, 0x220), frame = caged(0, 8), end_a = path_add(caged(caged(caged(frame, 4), 0x34), 8), 0x40);
	path_t end_b = path_add(caged(caged(path_step(1, false, 0), 0x34), 8), 0x40);
	path_t beside = path_add(caged(caged(caged(caged(0, 4), 4), 0x34), 8), 0x40);

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct call_log *log = calloc(1, sizeof(*log));

		assert_non_null(log);
		sites[i] = (struct site){ .probe = &probes[i] };
		log->site = &sites[i];
		facts[i].log = log;
		facts[i].has_frame = i == 0;
		facts[i].frame = frame;
		for (unsigned int phase = 0; phase < 3; phase++) {
			t.of_phase[phase] = AREA(phase);
			t.areas |= AREA(phase);
			add_hit(log, phase, i == 1 ? end_b : end_a, phase, near, i == 1 ? -1 : (int)phase);
			add_hit(log, phase, i == 1 ? end_b : beside, phase, near, i == 1 ? -1 : (int)phase);
			/* a way that once led to another page's */
			add_hit(log, phase, end_a, i == 1 ? (int)phase : -1, i == 1 ? end_a : beside, i == 1 ? 2 - (int)phase : -1);
			if (!i)
				add_hit(log, phase, end_a, phase, beside, phase);
		}
	}
	assert_int_equal(told_areas(facts, 3, &t, e), 0);
	assert_int_equal(e[2].nr_args, 0);
	for (int i = 0; i < 2; i++) {
		struct arg_spec want;

		assert_int_equal(e[i].nr_args, 4);
		path_spec_half(i ? end_b : end_a, 8, FIELD_W, &want);
		assert_memory_equal(&e[i].args[2], &want, sizeof(want));
	}
	assert_non_null(strstr(e[1].evidence, "3 areas right at 6"));
	for (size_t i = 0; i < 3; i++) {
		log_free((struct call_log *)facts[i].log);
		free((struct call_log *)facts[i].log);
	}
}

/* A name is one of an event's, never anything else, and of several ways the one that is right most often. */
static void test_name(void **state)
{
	struct engine_probe probe = { .name = "dispatch", .nr_args = 1 };
	struct site site = { .probe = &probe };
	struct choose_texts t = { .documents = DOCUMENT(0) | DOCUMENT(1), .events = DOCUMENT(2) | DOCUMENT(3) | DOCUMENT(4) };
	path_t few = path_step(0, false, 8), most = path_step(path_step(1, false, 8), false, 0x18), mixed = path_step(2, false, 0);
	struct call_log *log = calloc(1, sizeof(*log));
	struct site_entry e = { 0 };

	(void)state;
	assert_non_null(log);
	log->site = &site;
	probe.args[0] = (struct arg_spec){ .field = FIELD_THREAD_TYPE, .kind = KIND_CONST, .aux = THREAD_TYPE_TIMEOUT };
	t.of_phase[0] = DOCUMENT(0) | DOCUMENT(2) | DOCUMENT(4);
	t.of_phase[1] = DOCUMENT(1) | DOCUMENT(3) | DOCUMENT(4);
	for (int i = 0; i < 8; i++) {
		struct log_hit *hit = &log->hits[log->nr_hits++];
		uint16_t name = i < 2 ? 4 : 2 + i % 2;

		hit->phase = i % 2;
		hit->texts = calloc(3, sizeof(*hit->texts));
		assert_non_null(hit->texts);
		hit->texts[hit->nr_texts++] = (struct found_text){ most, name, KIND_WTF_BLINK };
		hit->texts[hit->nr_texts++] = (struct found_text){ mixed, i == 7 ? 1 : name, KIND_WTF_BLINK };
		if (i < 5)
			hit->texts[hit->nr_texts++] = (struct found_text){ few, name, KIND_WTF_BLINK };
	}
	assert_int_equal(told_name(log, &t, &e), 0);
	assert_int_equal(e.nr_args, 0);
	probe.args[0].aux = THREAD_TYPE_EVENT;
	assert_int_equal(told_name(log, &t, &e), 0);
	assert_int_equal(e.nr_args, 1);
	assert_int_equal(e.args[0].field, FIELD_EVENT_NAME);
	assert_int_equal(e.args[0].reg, 1);
	assert_int_equal(e.args[0].nr_steps, 2);
	assert_string_equal(e.evidence, "; 3 event names right at 8");
	log_free(log);
	free(log);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_ways, set_up, tear_down), cmocka_unit_test_setup_teardown(test_ends, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_many, set_up, tear_down), cmocka_unit_test(test_bits), cmocka_unit_test(test_choice), cmocka_unit_test(test_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
