// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The state that encoder and decoder of records share, and how a record changes it. */
#include <stdlib.h>
#include <string.h>
#include "capture/recording_state.h"

bool record_is_valid(const struct rec_header *rec)
{
	return rec->size >= sizeof(*rec) && rec->size <= RECORD_MAX_SIZE && rec->size % 8 == 0;
}

unsigned int codec_kind_of(const struct rec_header *rec)
{
	const struct rec_begin *b = (const struct rec_begin *)rec;
	const struct rec_end *end = (const struct rec_end *)rec;

	switch (rec->type) {
	case REC_BEGIN:
	case REC_MARK:
		if (rec->size < sizeof(*b) || rec->size != (sizeof(*b) + b->arg_bytes + 7) / 8 * 8)
			return KIND_WHOLE;
		return rec->type == REC_BEGIN ? KIND_BEGIN : KIND_MARK;
	case REC_END:
		if (rec->size < sizeof(*end) || end->nr_metrics > RECORD_MAX_METRICS ||
		    rec->size != sizeof(*end) + 8u * end->nr_metrics)
			return KIND_WHOLE;
		return KIND_END;
	default:
		return KIND_WHOLE;
	}
}

void codec_state_reset(struct codec_state *s)
{
	s->last_ns = 0;
	s->nr_metrics = 0;
	s->nr_threads = s->nr_strings = s->current = 0;
	memset(s->next_probe, 0, sizeof(s->next_probe));
	memset(s->sp_step, 0, sizeof(s->sp_step));
	for (size_t i = 0; i < RECORD_MAX_PROBES; i++)
		s->last_args[i].nr = s->last_args[i].read_ns = 0;
}

void codec_state_release(struct codec_state *s)
{
	for (size_t i = 0; i < CODEC_MAX_THREADS && s->threads[i]; i++)
		free(s->threads[i]);
}

struct codec_thread *codec_add_thread(struct codec_state *s, uint32_t tid)
{
	struct codec_thread *t = s->threads[s->nr_threads];

	if (!t) {
		t = malloc(sizeof(*t));
		if (!t)
			return NULL;
		s->threads[s->nr_threads] = t;
	}
	/* calls[] is not read beyond nr_calls */
	t->tid = t->tgid = tid;
	t->last_call = t->base_parent = t->base_sp = 0;
	t->base_depth = 0;
	t->context = t->nr_calls = 0;
	s->nr_threads++;
	return t;
}

void codec_expect_end(struct codec_thread *t, uint32_t depth, uint64_t ts_ns, struct codec_call *ret)
{
	struct codec_call *top;

	codec_trim(t, depth + 1);
	top = codec_top(t);
	if (top && top->depth == depth) {
		*ret = *top;
		t->nr_calls--;
		return;
	}
	/* It began in an earlier block, or its begin was lost. */
	ret->call_id = top ? t->last_call + 1 : t->base_parent;
	ret->parent_id = top ? top->call_id : 0;
	ret->begin_ns = ts_ns;
	ret->sp = t->base_sp;
	ret->probe = t->context / 2;
	ret->depth = depth;
}

/* What begins and marks have in common. */
static void note_entry(struct codec_state *s, struct codec_thread *t, const struct rec_begin *b)
{
	struct codec_call *parent = codec_top(t);

	if (!t->base_sp)
		t->base_sp = b->sp;
	*codec_sp_step(s, parent, b->probe) = b->sp - (parent ? parent->sp : t->base_sp);
	s->next_probe[t->context] = b->probe;
	s->last_ns = b->hdr.ts_ns;
	t->last_call = b->call_id;
	t->tgid = b->tgid;
	if (!parent) {
		t->base_parent = b->parent_id;
		t->base_depth = b->depth;
	}
}

void codec_after_begin(struct codec_state *s, struct codec_thread *t, const struct rec_begin *b)
{
	note_entry(s, t, b);
	t->context = 2 * (b->probe % RECORD_MAX_PROBES);
	if (t->nr_calls == RECORD_MAX_DEPTH)
		return;
	t->calls[t->nr_calls++] = (struct codec_call){
		.call_id = b->call_id, .parent_id = b->parent_id, .begin_ns = b->hdr.ts_ns, .sp = b->sp,
		.probe = b->probe, .depth = b->depth,
	};
}

void codec_after_mark(struct codec_state *s, struct codec_thread *t, const struct rec_begin *b)
{
	note_entry(s, t, b);
	t->context = 2 * (b->probe % RECORD_MAX_PROBES) + 1;
}

void codec_after_end(struct codec_state *s, struct codec_thread *t, const struct rec_end *e)
{
	if (!t->base_sp)
		t->base_sp = e->sp;
	s->last_ns = e->hdr.ts_ns;
	s->nr_metrics = e->nr_metrics;
	t->tgid = e->tgid;
	t->context = 2 * (e->probe % RECORD_MAX_PROBES) + 1;
	if (!t->nr_calls) {
		t->base_parent = e->parent_id;
		t->base_depth = e->depth;
	}
}
