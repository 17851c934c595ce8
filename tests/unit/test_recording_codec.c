// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Whatever records go into a recording come out of it, byte for byte. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "capture/recording_codec.h"
#include "capture/recording_file.h"

/* Grows; records lie behind each other. */
struct stream {
	uint8_t *p;
	size_t n, room;
};

static struct rec_header *stream_add(struct stream *s, size_t size)
{
	if (s->room - s->n < size) {
		s->room = 2 * s->room + 65536;
		s->p = realloc(s->p, s->room);
		assert_non_null(s->p);
	}
	memset(s->p + s->n, 0, size);
	s->n += size;
	return (struct rec_header *)(s->p + s->n - size);
}

static uint64_t state;

static uint64_t rnd(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static uint32_t below(uint32_t n)
{
	return (rnd() >> 11) % n;
}

static bool one_in(uint32_t n)
{
	return !below(n);
}

/* Usually near the last value, sometimes anywhere. */
static uint64_t near(uint64_t v, uint32_t wild)
{
	if (one_in(wild))
		return one_in(4) ? 0 - (uint64_t)below(3) : rnd() >> below(64);
	return v + below(5) - 2;
}

/* A list of arguments, mostly well-formed. Returns arg_bytes. */
static size_t random_args(uint8_t *p, size_t room)
{
	size_t n = 0;
	uint32_t nr = one_in(10) ? below(16) : below(4);

	if (one_in(20)) {
		n = below(room + 1);
		for (size_t i = 0; i < n; i++)
			p[i] = rnd();
		return n;
	}
	for (uint32_t i = 0; i < nr; i++) {
		struct rec_arg a = { .field = 1 + below(one_in(9) ? 255 : 3), .encoding = 1 + below(4) };
		size_t bytes = one_in(30) ? below(4096) : below(40), padded;

		if (a.encoding == ENC_INT && !one_in(8))
			bytes = 8;
		padded = (bytes + 3) / 4 * 4;
		if (n + sizeof(a) + padded > room)
			break;
		a.bytes = bytes;
		memcpy(p + n, &a, sizeof(a));
		memset(p + n + sizeof(a), 0, padded);
		if (one_in(3))
			for (size_t k = 0; k < bytes; k++)
				p[n + sizeof(a) + k] = rnd();
		else
			memset(p + n + sizeof(a), 'a' + below(9), bytes);
		n += sizeof(a) + padded;
		/* the last one's padding may be missing */
		if (i + 1 == nr && one_in(12))
			n -= padded - bytes;
	}
	return n;
}

/* A world that mostly behaves: threads with open calls. */
struct open_call { uint64_t id, begin, sp; uint32_t probe; };
struct world {
	uint64_t now, next_id;
	struct { struct open_call open[40]; uint32_t depth; } thread[8];
};

static void random_begin(struct world *w, struct stream *s, uint32_t wild)
{
	uint8_t args[RECORD_MAX_SIZE - sizeof(struct rec_begin)];
	size_t arg_bytes = random_args(args, sizeof(args));
	uint32_t t = below(one_in(3) ? 8 : 1);
	struct open_call *top = w->thread[t].depth ? &w->thread[t].open[w->thread[t].depth - 1] : NULL;
	struct rec_begin *b = (struct rec_begin *)stream_add(s, (sizeof(*b) + arg_bytes + 7) / 8 * 8);

	b->hdr.type = one_in(6) ? REC_MARK : REC_BEGIN;
	b->hdr.size = (sizeof(*b) + arg_bytes + 7) / 8 * 8;
	b->hdr.tid = one_in(wild) ? rnd() : 100 + t;
	b->hdr.ts_ns = w->now;
	b->call_id = one_in(wild) ? near(w->next_id, 3) : w->next_id;
	b->parent_id = one_in(wild) ? near(0, 2) : top ? top->id : 0;
	b->sp = one_in(wild) ? rnd() : top ? top->sp - 16 * (1 + below(3)) : 0x7ffc0000;
	b->probe = one_in(wild) ? rnd() : below(5);
	b->tgid = one_in(wild) ? rnd() : 100;
	b->depth = one_in(wild) ? rnd() : w->thread[t].depth;
	b->flags = one_in(wild) ? rnd() : 0;
	b->arg_bytes = arg_bytes;
	b->read_ns = one_in(wild) ? rnd() >> below(64) : b->probe % 2 ? 2000 + below(200) : 0;
	memcpy(b + 1, args, arg_bytes);
	w->next_id++;
	if (b->hdr.type == REC_BEGIN && w->thread[t].depth < 40)
		w->thread[t].open[w->thread[t].depth++] = (struct open_call){ b->call_id, w->now, b->sp, b->probe };
}

static void random_end(struct world *w, struct stream *s, uint32_t wild)
{
	uint32_t t = below(8), nr = one_in(wild) ? below(RECORD_MAX_METRICS + 1) : 2;
	struct open_call c = { rnd(), rnd(), rnd(), rnd() };
	struct rec_end *e = (struct rec_end *)stream_add(s, sizeof(*e) + 8 * nr);

	if (w->thread[t].depth && !one_in(wild))
		c = w->thread[t].open[--w->thread[t].depth];
	e->hdr = (struct rec_header){ .type = REC_END, .size = sizeof(*e) + 8 * nr, .tid = 100 + t, .ts_ns = w->now };
	e->begin_ns = one_in(wild) ? rnd() : c.begin;
	e->call_id = one_in(wild) ? near(c.id, 2) : c.id;
	e->parent_id = one_in(wild) ? rnd() : w->thread[t].depth ? w->thread[t].open[w->thread[t].depth - 1].id : 0;
	e->sp = one_in(wild) ? rnd() : c.sp;
	e->off_cpu_ns = one_in(4) ? rnd() >> below(64) : 0;
	e->probe = one_in(wild) ? rnd() : c.probe;
	e->tgid = one_in(wild) ? rnd() : 100;
	e->depth = one_in(wild) ? rnd() : w->thread[t].depth;
	e->flags = one_in(wild) ? rnd() : 0;
	e->nr_metrics = nr;
	e->hidden_ns = one_in(wild) ? rnd() : 0;
	e->hidden_hits = one_in(wild) ? rnd() : 0;
	e->measured_ns = one_in(wild) ? rnd() : 0;
	for (uint32_t i = 0; i < nr; i++)
		((uint64_t *)(e + 1))[i] = rnd() >> below(64);
}

/* Any type, any bytes, with sizes that need not fit the type. */
static void random_whole(struct world *w, struct stream *s)
{
	size_t size = 16 + 8 * below(one_in(20) ? RECORD_MAX_SIZE / 8 - 1 : 20);
	struct rec_header *h = stream_add(s, size);

	for (size_t i = sizeof(*h); i < size; i++)
		((uint8_t *)h)[i] = one_in(2) ? rnd() : 0;
	h->type = one_in(3) ? rnd() : REC_AGGREGATE + below(9);
	if (h->type == REC_BEGIN || h->type == REC_MARK || h->type == REC_END)
		h->type = REC_NOTE;
	h->size = size;
	h->tid = below(8);
	h->ts_ns = w->now;
}

/* A begin, mark or end whose parts do not fit its size: kept as it is, padding and all. */
static void random_misfit(struct world *w, struct stream *s)
{
	size_t size = 16 + 8 * below(20);
	struct rec_header *h = stream_add(s, size);

	memset(h, 0xff, size);	/* arg_bytes and nr_metrics beyond the size */
	h->type = one_in(2) ? REC_END : one_in(2) ? REC_BEGIN : REC_MARK;
	h->size = size;
	h->ts_ns = w->now;
}

static void random_stream(struct stream *s, uint64_t seed, uint32_t nr, uint32_t wild)
{
	struct world w = { .now = 1000000, .next_id = 1 };

	state = seed;
	for (uint32_t i = 0; i < nr; i++) {
		w.now = one_in(wild) ? rnd() : w.now + below(3000);
		switch (below(40)) {
		case 0: random_whole(&w, s); break;
		case 1: random_misfit(&w, s); break;
		default:
			if (one_in(2))
				random_begin(&w, s, wild);
			else
				random_end(&w, s, wild);
		}
	}
}

static uint64_t features;	/* of the last file */

static struct recording *record(const struct stream *s, uint64_t *ret_bytes)
{
	struct recording_info info = { .begin_ns = 1, .end_ns = 2 };
	struct recording_writer *w;
	struct recording *r;
	struct error err;
	int fd;

	assert_int_equal(recording_writer_create(NULL, &w, &err), 0);
	for (size_t at = 0; at < s->n; at += ((struct rec_header *)(s->p + at))->size)
		assert_int_equal(recording_write_record(w, (struct rec_header *)(s->p + at)), 0);
	assert_int_equal(recording_writer_flush(w), 0);
	if (ret_bytes)
		*ret_bytes = recording_writer_bytes(w);
	assert_int_equal(recording_writer_finish_fd(w, &info, NULL, 0, &fd, &err), 0);
	assert_int_equal(pread(fd, &features, sizeof(features), 16), sizeof(features));
	assert_int_equal(recording_open_fd(fd, "memory", &r, &err), 0);
	return r;
}

static void check_same(struct recording *r, const struct stream *s)
{
	const struct rec_header *rec;
	struct error err;
	size_t at = 0;

	for (; at < s->n; at += rec->size) {
		assert_int_equal(recording_next(r, &rec, &err), 1);
		assert_true(rec->size <= s->n - at);
		assert_memory_equal(rec, s->p + at, rec->size);
	}
	assert_int_equal(recording_next(r, &rec, &err), 0);
	assert_false(recording_get_info(r)->truncated);
}

static void test_round_trip(void **unused)
{
	static const uint32_t wildness[] = { 1, 2, 5, 30, 1000000 };

	(void)unused;
	for (uint64_t seed = 1; seed <= 60; seed++) {
		struct stream s = { 0 };
		struct recording *r;

		random_stream(&s, seed * 0x9e3779b97f4a7c15ULL, 3000, wildness[seed % 5]);
		r = record(&s, NULL);
		check_same(r, &s);
		assert_int_equal(recording_rewind(r), 0);
		check_same(r, &s);
		recording_close(r);
		free(s.p);
	}
}

/* Padding is zero by definition: what stands there when it goes in is neither kept nor takes room. */
static void test_padding(void **unused)
{
	struct stream s = { 0 };
	const struct rec_header *rec;
	struct recording *r;
	struct rec_begin *b;
	struct rec_end *e;
	struct error err;
	uint8_t *args;

	(void)unused;
	b = (struct rec_begin *)stream_add(&s, sizeof(*b) + 16);
	*b = (struct rec_begin){ { REC_BEGIN, sizeof(*b) + 16, 1, 5 }, .call_id = 1, .arg_bytes = 12, .pad = 0xabcd,
				 .pad2 = 0xcdef };
	args = (uint8_t *)(b + 1);
	memset(args, 0xee, 16);
	memcpy(args, &(struct rec_arg){ .field = FIELD_URL, .encoding = ENC_UTF8, .bytes = 5 }, 4);
	e = (struct rec_end *)stream_add(&s, sizeof(*e));
	*e = (struct rec_end){ { REC_END, sizeof(*e), 1, 6 }, .begin_ns = 5, .call_id = 1, .pad = 0xab };
	r = record(&s, NULL);
	assert_int_equal(recording_next(r, &rec, &err), 1);
	b = (struct rec_begin *)rec;
	args = (uint8_t *)(b + 1);
	assert_int_equal(b->hdr.size, sizeof(*b) + 16);
	assert_int_equal(b->pad, 0);
	assert_int_equal(b->pad2, 0);
	assert_memory_equal(args + 4, "\xee\xee\xee\xee\xee\0\0\0\0\0\0", 12);
	assert_int_equal(recording_next(r, &rec, &err), 1);
	e = (struct rec_end *)rec;
	assert_int_equal(e->pad, 0);
	recording_close(r);
	free(s.p);
}

static void add_mark(struct stream *s, uint32_t tid, uint64_t ts_ns, const void *text, size_t n)
{
	size_t arg_bytes = 4 + (n + 3) / 4 * 4, size = (sizeof(struct rec_begin) + arg_bytes + 7) / 8 * 8;
	struct rec_begin *b = (struct rec_begin *)stream_add(s, size);
	struct rec_arg a = { .field = FIELD_LABEL, .encoding = ENC_UTF8, .bytes = n };

	*b = (struct rec_begin){ { REC_MARK, size, tid, ts_ns }, .call_id = ts_ns, .tgid = 1, .arg_bytes = arg_bytes };
	memcpy(b + 1, &a, sizeof(a));
	memcpy((uint8_t *)(b + 1) + sizeof(a), text, n);
}

/* More threads and more strings than a block may have, and the longest records. */
static void test_limits(void **unused)
{
	struct stream s = { 0 };
	struct rec_begin *b;
	struct recording *r;
	char text[4200];

	(void)unused;
	for (uint32_t i = 1; i <= 5000; i++)
		add_mark(&s, i * 7919, i, "x", 1);
	for (uint32_t i = 1; i <= 30000; i++)
		add_mark(&s, 1, 5000 + i, &i, sizeof(i));
	for (uint32_t i = 0; i < 300; i++) {
		memset(text, 'a' + i % 20, sizeof(text));
		memcpy(text, &i, sizeof(i));
		add_mark(&s, 2, 40000 + i, text, RECORD_MAX_STRING - i % 7);
	}
	/* one argument list that is none, as long as can be */
	b = (struct rec_begin *)stream_add(&s, RECORD_MAX_SIZE);
	memset(b, 0xff, RECORD_MAX_SIZE);
	b->hdr = (struct rec_header){ REC_BEGIN, RECORD_MAX_SIZE, 3, 50000 };
	b->pad = b->pad2 = 0;
	b->arg_bytes = RECORD_MAX_SIZE - sizeof(*b);
	/* deeper than anything is remembered */
	for (uint32_t i = 0; i < 2000; i++) {
		b = (struct rec_begin *)stream_add(&s, sizeof(*b));
		*b = (struct rec_begin){ { REC_BEGIN, sizeof(*b), 4, 60000 + i }, .call_id = 70000 + i, .depth = i,
					 .parent_id = i ? 69999 + i : 0, .sp = 0x7fff0000 - 16 * i };
	}
	r = record(&s, NULL);
	check_same(r, &s);
	recording_close(r);
	free(s.p);
}

/* Bytes on disk of 50,000 events with a text of 20 characters that repeats and times that vary. */
static uint64_t bytes_of_events(bool reads)
{
	struct world w = { .now = 1000000, .next_id = 1 };
	struct stream s = { 0 };
	struct recording *r;
	uint64_t bytes;

	state = 12345;
	for (int i = 0; i < 50000; i++) {
		uint64_t id = w.next_id++, begin = w.now += 200 + below(5000);
		struct rec_begin *b;
		struct rec_end *e;

		add_mark(&s, 100, begin, "http://a.test/12345", 20);
		b = (struct rec_begin *)(s.p + s.n - sizeof(*b) - 24);
		b->hdr.type = REC_BEGIN;
		b->read_ns = reads ? 3000 + below(1000) : 0;
		b->call_id = id;
		b->sp = 0x7ffc12345678;
		w.now += 200 + below(5000);
		e = (struct rec_end *)stream_add(&s, sizeof(*e));
		*e = (struct rec_end){ { REC_END, sizeof(*e), 100, w.now }, .begin_ns = begin, .call_id = id,
				       .sp = 0x7ffc12345678, .tgid = 1, .off_cpu_ns = one_in(9) ? below(90000) : 0 };
	}
	r = record(&s, &bytes);
	check_same(r, &s);
	recording_close(r);
	free(s.p);
	return bytes;
}

/* The promise of 16 bytes per event. */
static void test_bytes_per_event(void **unused)
{
	uint64_t bytes = bytes_of_events(false);

	(void)unused;
	assert_int_equal(features, 0);
	assert_true(bytes < 16 * 50000);
}

/* How long reading took is at most two bytes of it, and readers that know nothing of it refuse the file. */
static void test_bytes_of_reading(void **unused)
{
	uint64_t bytes = bytes_of_events(false), with = bytes_of_events(true);

	(void)unused;
	assert_int_equal(features, RECORDING_FEATURE_READ);
	assert_true(with < bytes + 2 * 50000);
	assert_true(with < 16 * 50000);
}

/* Whether and how long reading took is each call's own, also where a probe's other calls differ. */
static void test_reading(void **unused)
{
	static const uint32_t read_ns[] = { 0, 5, 5, 0, 0, UINT32_MAX, 1, 0 };
	struct stream s = { 0 };
	struct recording *r;
	struct rec_begin *b;
	struct rec_end *e;

	(void)unused;
	for (uint32_t i = 0; i < 3 * 8; i++) {
		b = (struct rec_begin *)stream_add(&s, sizeof(*b));
		*b = (struct rec_begin){ { i % 3 ? REC_BEGIN : REC_MARK, sizeof(*b), 1, 10 + i }, .call_id = 1 + i,
					 .probe = i % 2, .read_ns = read_ns[i / 3] };
	}
	e = (struct rec_end *)stream_add(&s, sizeof(*e));
	*e = (struct rec_end){ { REC_END, sizeof(*e), 1, 90 }, .begin_ns = 5, .call_id = 1, .measured_ns = UINT32_MAX };
	r = record(&s, NULL);
	check_same(r, &s);
	recording_close(r);
	free(s.p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_padding),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_bytes_per_event),
		cmocka_unit_test(test_bytes_of_reading),
		cmocka_unit_test(test_reading),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
