/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Record streams written by hand, for tests: it keeps the threads' stacks of open calls and gives ids, parents and
 * depths as the BPF side does.
 *
 *	struct stream s = { 0 };
 *	stream_begin(&s, 7, 1000, PROBE_LAYOUT, 0x7000);	// thread 7, at 1000 ns, stack pointer
 *	stream_text(&s, FIELD_URL, "http://x/");		// arguments belong to the record before
 *	stream_end(&s, 7, 1500);				// the innermost open call
 *	for (const struct rec_header *r = stream_next(&s, NULL); r; r = stream_next(&s, r))
 *		session_builder_add(b, r);
 *	stream_free(&s);
 *
 * stream_lose() before a record: it happens, but is not in the stream. What a function returns is the record, to be
 * changed at will (flags, off_cpu_ns, …) until the next one is added. Out of memory: abort().
 */
#ifndef FRAMESCOPE_TESTS_REPLAY_STREAM_H
#define FRAMESCOPE_TESTS_REPLAY_STREAM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "record.h"

#define STREAM_THREADS 64

struct stream_call {
	uint64_t id, parent, begin_ns, sp;
	uint32_t probe;
};

struct stream_thread {
	uint32_t tid, tgid, depth;
	struct stream_call open[RECORD_MAX_DEPTH];
};

struct stream {
	uint8_t *bytes;		/* the records, one behind the other */
	size_t size, room;
	size_t last;		/* where the last one begins: at `size` if it was lost */
	uint64_t calls;		/* ids given so far */
	bool lose;
	struct stream_thread *threads[STREAM_THREADS];
};

/* The next record is lost. */
static inline void stream_lose(struct stream *s)
{
	s->lose = true;
}

/* A record of any type, zeroed behind its header. */
static inline void *stream_add(struct stream *s, int type, size_t size, uint32_t tid, uint64_t ts_ns)
{
	struct rec_header *h;

	if (s->room - s->size < RECORD_MAX_SIZE) {
		s->room = 2 * s->room + 8 * RECORD_MAX_SIZE;
		s->bytes = realloc(s->bytes, s->room);
		if (!s->bytes)
			abort();
	}
	h = (struct rec_header *)(s->bytes + s->size);
	memset(h, 0, size);
	*h = (struct rec_header){ .type = type, .size = size, .tid = tid, .ts_ns = ts_ns };
	s->last = s->size;
	if (!s->lose)
		s->size += size;
	s->lose = false;
	return h;
}

static inline struct stream_thread *stream_thread(struct stream *s, uint32_t tid)
{
	size_t i;

	for (i = 0; i < STREAM_THREADS && s->threads[i]; i++)
		if (s->threads[i]->tid == tid)
			return s->threads[i];
	if (i == STREAM_THREADS || !(s->threads[i] = calloc(1, sizeof(**s->threads))))
		abort();
	s->threads[i]->tid = s->threads[i]->tgid = tid;
	return s->threads[i];
}

/* Which process a thread belongs to; its own without this. */
static inline void stream_process(struct stream *s, uint32_t tid, uint32_t tgid)
{
	stream_thread(s, tid)->tgid = tgid;
}

static inline struct rec_begin *stream_mark(struct stream *s, uint32_t tid, uint64_t ts_ns, uint32_t probe, uint64_t sp)
{
	struct stream_thread *t = stream_thread(s, tid);
	struct rec_begin *b = stream_add(s, REC_MARK, sizeof(*b), tid, ts_ns);

	b->call_id = ++s->calls;
	b->parent_id = t->depth ? t->open[t->depth - 1].id : 0;
	b->sp = sp;
	b->probe = probe;
	b->tgid = t->tgid;
	b->depth = t->depth;
	return b;
}

static inline struct rec_begin *stream_begin(struct stream *s, uint32_t tid, uint64_t ts_ns, uint32_t probe,
					     uint64_t sp)
{
	struct stream_thread *t = stream_thread(s, tid);
	struct rec_begin *b = stream_mark(s, tid, ts_ns, probe, sp);

	b->hdr.type = REC_BEGIN;
	if (t->depth == RECORD_MAX_DEPTH)
		abort();
	t->open[t->depth++] = (struct stream_call){ b->call_id, b->parent_id, ts_ns, sp, probe };
	return b;
}

/* Ends the innermost open call of the thread. */
static inline struct rec_end *stream_end(struct stream *s, uint32_t tid, uint64_t ts_ns)
{
	struct stream_thread *t = stream_thread(s, tid);
	struct rec_end *e = stream_add(s, REC_END, sizeof(*e), tid, ts_ns);
	struct stream_call *c;

	if (!t->depth)
		abort();
	c = &t->open[--t->depth];
	e->begin_ns = c->begin_ns;
	e->call_id = c->id;
	e->parent_id = c->parent;
	e->sp = c->sp;
	e->probe = c->probe;
	e->tgid = t->tgid;
	e->depth = t->depth;
	return e;
}

/* It never returned: seen at ts_ns. */
static inline struct rec_end *stream_unwind(struct stream *s, uint32_t tid, uint64_t ts_ns)
{
	struct rec_end *e = stream_end(s, tid, ts_ns);

	e->flags = REC_F_UNWOUND;
	return e;
}

/* A metric's difference, behind those that the end already has. */
static inline void stream_metric(struct stream *s, uint64_t value)
{
	struct rec_end *e = (struct rec_end *)(s->bytes + s->last);

	((uint64_t *)(e + 1))[e->nr_metrics++] = value;
	e->hdr.size += 8;
	if (s->last != s->size)
		s->size = s->last + e->hdr.size;
}

/* An argument of any field and encoding, behind those that the last begin, mark or aggregate already has. */
static inline void stream_arg(struct stream *s, int field, int encoding, const void *data, size_t bytes)
{
	struct rec_header *h = (struct rec_header *)(s->bytes + s->last);
	size_t fixed = h->type == REC_AGGREGATE ? sizeof(struct rec_aggregate) : sizeof(struct rec_begin);
	uint16_t *arg_bytes = h->type == REC_AGGREGATE ? &((struct rec_aggregate *)h)->arg_bytes :
							 &((struct rec_begin *)h)->arg_bytes;
	struct rec_arg a = { .field = field, .encoding = encoding, .bytes = bytes };
	uint8_t *at = (uint8_t *)h + fixed + *arg_bytes;
	size_t padded = (bytes + 3) / 4 * 4;

	if (fixed + *arg_bytes + sizeof(a) + padded > RECORD_MAX_SIZE - 8)
		abort();
	memcpy(at, &a, sizeof(a));
	memset(at + sizeof(a), 0, padded + 8);
	memcpy(at + sizeof(a), data, bytes);
	*arg_bytes += sizeof(a) + padded;
	h->size = (fixed + *arg_bytes + 7) / 8 * 8;
	if (s->last != s->size)
		s->size = s->last + h->size;
}

static inline void stream_text(struct stream *s, int field, const char *text)
{
	stream_arg(s, field, ENC_UTF8, text, strlen(text));
}

static inline void stream_int(struct stream *s, int field, int64_t value)
{
	stream_arg(s, field, ENC_INT, &value, sizeof(value));
}

/* `hits` calls below the thread's innermost open one. */
static inline struct rec_aggregate *stream_aggregate(struct stream *s, uint32_t tid, uint64_t first_ns, uint64_t last_ns,
						     uint32_t probe, uint64_t hits, uint64_t total_ns)
{
	struct stream_thread *t = stream_thread(s, tid);
	struct rec_aggregate *a = stream_add(s, REC_AGGREGATE, sizeof(*a), tid, last_ns);

	a->first_ns = first_ns;
	a->total_ns = total_ns;
	a->call_id = ++s->calls;
	a->parent_id = t->depth ? t->open[t->depth - 1].id : 0;
	a->hits = hits;
	a->probe = probe;
	a->tgid = t->tgid;
	a->depth = t->depth;
	return a;
}

/* What measuring cost in the calls of the last aggregate, behind its arguments. */
static inline void stream_overhead(struct stream *s, uint64_t ns)
{
	struct rec_aggregate *a = (struct rec_aggregate *)(s->bytes + s->last);

	a->flags |= REC_F_OVERHEAD;
	memcpy((uint8_t *)a + a->hdr.size, &ns, sizeof(ns));
	a->hdr.size += sizeof(ns);
	if (s->last != s->size)
		s->size = s->last + a->hdr.size;
}

/* REC_THREAD, REC_FORK (with the child), REC_EXEC, REC_EXIT. */
static inline struct rec_task *stream_task(struct stream *s, int type, uint32_t tid, uint64_t ts_ns, uint32_t child,
					   const char *comm)
{
	struct rec_task *r = stream_add(s, type, sizeof(*r), tid, ts_ns);

	r->tgid = stream_thread(s, tid)->tgid;
	r->child_tgid = child;
	strncpy(r->comm, comm, sizeof(r->comm) - 1);
	return r;
}

static inline struct rec_cpu *stream_cpu(struct stream *s, uint32_t pid, uint64_t ts_ns, uint64_t cpu_ns, bool final)
{
	struct rec_cpu *r = stream_add(s, REC_CPU, sizeof(*r), pid, ts_ns);

	r->cpu_ns = cpu_ns;
	r->final = final;
	return r;
}

static inline struct rec_cost *stream_cost(struct stream *s, uint64_t ts_ns, uint32_t cost_class, uint64_t inner_ns,
					   uint64_t outer_ns)
{
	struct rec_cost *r = stream_add(s, REC_COST, sizeof(*r), 0, ts_ns);

	r->cost_class = cost_class;
	r->samples = 100;
	r->inner_ns = inner_ns;
	r->outer_ns = outer_ns;
	return r;
}

static inline struct rec_loss *stream_loss(struct stream *s, uint64_t since_ns, uint64_t ts_ns, uint32_t probe,
					   uint32_t begins, uint32_t ends)
{
	struct rec_loss *r = stream_add(s, REC_LOSS, sizeof(*r), 0, ts_ns);

	r->since_ns = since_ns;
	r->probe = probe;
	r->lost_begins = begins;
	r->lost_ends = ends;
	return r;
}

static inline struct rec_note *stream_note(struct stream *s, uint64_t ts_ns, uint32_t probe, const char *text)
{
	size_t n = strlen(text);
	struct rec_note *r = stream_add(s, REC_NOTE, (sizeof(*r) + n + 7) / 8 * 8, 0, ts_ns);

	r->probe = probe;
	r->text_bytes = n;
	memcpy(r + 1, text, n);
	return r;
}

/* The record after `rec`, the first for NULL; NULL after the last. */
static inline const struct rec_header *stream_next(const struct stream *s, const struct rec_header *rec)
{
	size_t at = rec ? (size_t)((const uint8_t *)rec - s->bytes) + rec->size : 0;

	return at < s->size ? (const struct rec_header *)(s->bytes + at) : NULL;
}

static inline void stream_free(struct stream *s)
{
	for (size_t i = 0; i < STREAM_THREADS; i++)
		free(s->threads[i]);
	free(s->bytes);
	*s = (struct stream){ 0 };
}

#endif
