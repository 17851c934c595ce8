// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Columns -> records. The payload is hostile: every read is bounded, and what is malformed ends the block. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "capture/recording_bytes.h"
#include "capture/recording_codec.h"
#include "capture/recording_state.h"

struct record_decoder {
	struct codec_state s;
	struct cursor col[COL_COUNT];
	const uint8_t *text;	/* start of COL_TEXT */
	uint32_t left;
	bool bad;
	union {
		struct rec_header hdr;
		struct rec_begin begin;
		struct rec_end end;
		uint64_t align;
		uint8_t bytes[RECORD_MAX_SIZE];
	} rec;
};

int record_decoder_new(struct record_decoder **ret)
{
	struct record_decoder *d = calloc(1, sizeof(*d));

	if (!d)
		return -ENOMEM;
	*ret = d;
	return 0;
}

void record_decoder_free(struct record_decoder *d)
{
	if (!d)
		return;
	codec_state_release(&d->s);
	free(d);
}

int record_decoder_begin(struct record_decoder *d, const uint8_t *payload, size_t size, uint32_t count)
{
	struct cursor c = { .p = payload, .end = payload + size };
	uint64_t bytes[COL_COUNT];

	codec_state_reset(&d->s);
	d->left = 0;
	d->bad = false;
	for (size_t i = 0; i < COL_COUNT; i++)
		bytes[i] = cursor_varint(&c);
	for (size_t i = 0; i < COL_COUNT; i++) {
		const uint8_t *p = bytes[i] <= size ? cursor_bytes(&c, bytes[i]) : NULL;

		if (!p || c.bad)
			return -EBADMSG;
		d->col[i] = (struct cursor){ .p = p, .end = p + bytes[i] };
	}
	if (c.p != c.end || count > bytes[COL_OP])
		return -EBADMSG;
	d->text = d->col[COL_TEXT].p;
	d->left = count;
	return 0;
}

static inline uint64_t get(struct record_decoder *d, enum codec_column c)
{
	return cursor_varint(&d->col[c]);
}

static inline uint64_t resolve(struct record_decoder *d, unsigned int mask, unsigned int bit, uint64_t expected)
{
	return mask & bit ? expected + unzigzag(get(d, COL_MISC)) : expected;
}

/* NULL: malformed or no memory; d->bad tells the first. */
static struct codec_thread *get_thread(struct record_decoder *d, unsigned int mask)
{
	struct codec_state *s = &d->s;
	uint64_t number;

	if (!(mask & OP_THREAD)) {
		d->bad |= !s->nr_threads;
		return d->bad ? NULL : s->threads[s->current];
	}
	number = get(d, COL_MISC);
	if (number > s->nr_threads || number >= CODEC_MAX_THREADS) {
		d->bad = true;
		return NULL;
	}
	s->current = number;
	if (number == s->nr_threads)
		return codec_add_thread(s, get(d, COL_MISC));
	return s->threads[number];
}

/* The number of the text referred to next, taken from COL_TEXT if it is new. */
static uint32_t get_text(struct record_decoder *d)
{
	struct codec_state *s = &d->s;
	uint64_t ref = get(d, COL_ARG), size;
	const uint8_t *p;

	if (ref) {
		d->bad |= ref > s->nr_strings;
		return d->bad ? 0 : ref - 1;
	}
	size = get(d, COL_ARG);
	p = size <= RECORD_MAX_SIZE ? cursor_bytes(&d->col[COL_TEXT], size) : NULL;
	if (!p || s->nr_strings >= CODEC_MAX_STRINGS + RECORD_MAX_ARGS) {
		d->bad = true;
		return 0;
	}
	s->strings[s->nr_strings] = (struct codec_string){ .offset = p - d->text, .size = size };
	return s->nr_strings++;
}

static void get_shape(struct record_decoder *d, struct codec_args *ret, uint64_t nr)
{
	if (nr > RECORD_MAX_ARGS) {
		d->bad = true;
		return;
	}
	ret->nr = nr;
	for (uint32_t i = 0; i < nr; i++) {
		struct codec_arg *a = &ret->arg[i];

		a->field = cursor_u8(&d->col[COL_ARG]);
		a->encoding = cursor_u8(&d->col[COL_ARG]);
		a->kind = cursor_u8(&d->col[COL_ARG]);
		a->value = 0;
		d->bad |= a->kind > ARG_OPAQUE || (a->kind == ARG_OPAQUE && nr != 1);
	}
}

/* Brings the arguments of this probe up to date. Never leaves a reference to a text that is not there. */
static void get_args(struct record_decoder *d, struct codec_args *args)
{
	uint64_t head = get(d, COL_ARG);

	if (head)
		get_shape(d, args, head - 1);
	for (uint32_t i = 0; i < args->nr && !d->bad; i++) {
		struct codec_arg *a = &args->arg[i];

		if (a->kind == ARG_INT)
			a->value += unzigzag(get(d, COL_ARG));
		else
			a->value = get_text(d);
	}
}

/* Lays the arguments out behind the record. Returns arg_bytes; sets d->bad if they do not fit. */
static size_t build_args(struct record_decoder *d, const struct codec_args *args)
{
	uint8_t *start = d->rec.bytes + sizeof(struct rec_begin), *p = start, *end = d->rec.bytes + RECORD_MAX_SIZE;

	for (uint32_t i = 0; i < args->nr; i++) {
		const struct codec_arg *a = &args->arg[i];
		const uint8_t *from = (const uint8_t *)&a->value;
		size_t n = 8, padded, head_bytes = a->kind == ARG_OPAQUE ? 0 : sizeof(struct rec_arg);
		struct rec_arg head;

		if (a->kind != ARG_INT) {
			from = d->text + d->s.strings[a->value].offset;
			n = d->s.strings[a->value].size;
		}
		padded = a->kind == ARG_OPAQUE ? n : (n + 3) / 4 * 4;
		if ((size_t)(end - p) < padded + head_bytes) {
			d->bad = true;
			return 0;
		}
		head = (struct rec_arg){ .field = a->field, .encoding = a->encoding, .bytes = n };
		memcpy(p, &head, head_bytes);
		p += head_bytes;
		memcpy(p, from, n);
		memset(p + n, 0, padded - n);
		p += padded;
	}
	return p - start;
}

static int get_begin(struct record_decoder *d, unsigned int mask)
{
	struct codec_state *s = &d->s;
	struct codec_thread *t = get_thread(d, mask);
	struct rec_begin *b = &d->rec.begin;
	struct codec_args *args;
	struct codec_call *top;
	size_t arg_bytes;

	if (!t)
		return d->bad ? -EBADMSG : -ENOMEM;
	memset(b, 0, sizeof(*b));
	b->hdr.tid = t->tid;
	b->hdr.ts_ns = s->last_ns + unzigzag(get(d, COL_TIME));
	b->depth = resolve(d, mask, EXT_DEPTH, codec_next_depth(t));
	codec_trim(t, b->depth);
	top = codec_top(t);
	b->probe = resolve(d, mask, OP_PROBE, s->next_probe[t->context]);
	b->call_id = resolve(d, mask, OP_CALL, t->last_call + 1);
	b->parent_id = resolve(d, mask, EXT_PARENT, top ? top->call_id : t->base_parent);
	b->sp = resolve(d, mask, OP_SP, (top ? top->sp : t->base_sp) + *codec_sp_step(s, top, b->probe));
	b->flags = resolve(d, mask, EXT_FLAGS, 0);
	b->tgid = resolve(d, mask, EXT_TGID, t->tgid);
	args = codec_last_args(s, b->probe);
	if (!args->read_ns != !(mask & EXT_READ))
		b->read_ns = args->read_ns + unzigzag(get(d, COL_TIME));
	args->read_ns = b->read_ns;
	if (mask & OP_ARGS)
		get_args(d, args);
	arg_bytes = d->bad ? 0 : build_args(d, args);
	b->arg_bytes = arg_bytes;
	b->hdr.size = (sizeof(*b) + arg_bytes + 7) / 8 * 8;
	memset(d->rec.bytes + sizeof(*b) + arg_bytes, 0, b->hdr.size - sizeof(*b) - arg_bytes);
	if ((mask & KIND_BITS) == KIND_BEGIN) {
		b->hdr.type = REC_BEGIN;
		codec_after_begin(s, t, b);
	} else {
		b->hdr.type = REC_MARK;
		codec_after_mark(s, t, b);
	}
	return 0;
}

static int get_end(struct record_decoder *d, unsigned int mask)
{
	struct codec_state *s = &d->s;
	struct codec_thread *t = get_thread(d, mask);
	struct rec_end *r = &d->rec.end;
	struct codec_call call;
	uint64_t nr;

	if (!t)
		return d->bad ? -EBADMSG : -ENOMEM;
	memset(r, 0, sizeof(*r));
	r->hdr.type = REC_END;
	r->hdr.tid = t->tid;
	r->hdr.ts_ns = s->last_ns + unzigzag(get(d, COL_TIME));
	r->depth = resolve(d, mask, EXT_DEPTH, codec_end_depth(t));
	codec_expect_end(t, r->depth, r->hdr.ts_ns, &call);
	r->begin_ns = resolve(d, mask, EXT_BEGIN, call.begin_ns);
	r->call_id = resolve(d, mask, EXT_CALL, call.call_id);
	r->parent_id = resolve(d, mask, EXT_PARENT, call.parent_id);
	r->sp = resolve(d, mask, EXT_SP, call.sp);
	r->probe = resolve(d, mask, EXT_PROBE, call.probe);
	r->flags = resolve(d, mask, EXT_FLAGS, 0);
	r->tgid = resolve(d, mask, EXT_TGID, t->tgid);
	r->off_cpu_ns = resolve(d, mask, OP_OFF_CPU, 0);
	nr = resolve(d, mask, OP_METRICS, s->nr_metrics);
	if (nr > RECORD_MAX_METRICS) {
		d->bad = true;
		nr = 0;
	}
	r->nr_metrics = nr;
	if (mask & OP_HIDDEN) {
		r->hidden_ns = get(d, COL_MISC);
		r->hidden_hits = get(d, COL_MISC);
	}
	if (mask & OP_MEASURED)
		r->measured_ns = get(d, COL_MISC);
	for (uint32_t i = 0; i < nr; i++)
		((uint64_t *)(r + 1))[i] = get(d, COL_ARG);
	r->hdr.size = sizeof(*r) + 8 * nr;
	codec_after_end(s, t, r);
	return 0;
}

static int get_whole(struct record_decoder *d)
{
	const uint8_t *p = cursor_bytes(&d->col[COL_TEXT], sizeof(struct rec_header));

	if (!p)
		return -EBADMSG;
	memcpy(&d->rec.hdr, p, sizeof(struct rec_header));
	if (!record_is_valid(&d->rec.hdr))
		return -EBADMSG;
	p = cursor_bytes(&d->col[COL_TEXT], d->rec.hdr.size - sizeof(struct rec_header));
	if (!p)
		return -EBADMSG;
	memcpy(d->rec.bytes + sizeof(struct rec_header), p, d->rec.hdr.size - sizeof(struct rec_header));
	return 0;
}

uint32_t record_decoder_left(const struct record_decoder *d)
{
	return d->left;
}

int record_decoder_next(struct record_decoder *d, const struct rec_header **ret)
{
	unsigned int mask;
	int rc;

	if (d->bad)
		return -EBADMSG;
	if (!d->left)
		return 0;
	mask = cursor_u8(&d->col[COL_OP]);
	if (mask & OP_EXT)
		mask |= cursor_u8(&d->col[COL_OP]) << 8;
	if ((mask & KIND_BITS) == KIND_WHOLE)
		rc = get_whole(d);
	else if ((mask & KIND_BITS) == KIND_END)
		rc = get_end(d, mask);
	else
		rc = get_begin(d, mask);
	for (size_t i = 0; i < COL_COUNT; i++)
		d->bad |= d->col[i].bad;
	if (rc != -ENOMEM && (rc || d->bad)) {
		d->bad = true;
		return -EBADMSG;
	}
	if (rc)
		return rc;
	d->left--;
	*ret = &d->rec.hdr;
	return 1;
}
