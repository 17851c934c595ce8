// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Records -> columns. It runs beside the browser: a record costs a few dozen nanoseconds and no allocation. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "capture/recording_bytes.h"
#include "capture/recording_codec.h"
#include "capture/recording_format.h"
#include "capture/recording_state.h"

/* A block is closed when its columns sum up to RECORDING_BLOCK_BYTES; one record cannot add more than this. */
#define RECORD_GROWTH (2 * RECORD_MAX_SIZE)
#define STRING_SLOTS (2 * CODEC_MAX_STRINGS)	/* a power of two */
#define STRING_PROBES 8		/* then a slot is reused: hostile text may collide, but not slow us down */
#define THREAD_SLOTS (2 * CODEC_MAX_THREADS)

struct column {
	uint8_t *start, *end;
};

struct string_slot {
	uint32_t hash;
	uint32_t number;	/* plus one; 0: free */
};

struct record_encoder {
	struct codec_state s;
	struct column col[COL_COUNT];
	uint32_t count;
	bool full;
	bool reads;	/* something in the block tells how long reading took */
	struct string_slot strings[STRING_SLOTS];
	uint16_t threads[THREAD_SLOTS];		/* number plus one; 0: free */
};

_Static_assert(sizeof(struct codec_state) < 1024 * 1024, "the state of a block stays in the cache");

int record_encoder_new(struct record_encoder **ret)
{
	struct record_encoder *e = calloc(1, sizeof(*e));

	if (!e)
		return -ENOMEM;
	for (size_t i = 0; i < COL_COUNT; i++) {
		e->col[i].start = malloc(RECORDING_BLOCK_BYTES + RECORD_GROWTH);
		if (!e->col[i].start) {
			record_encoder_free(e);
			return -ENOMEM;
		}
	}
	record_encoder_reset(e);
	*ret = e;
	return 0;
}

void record_encoder_free(struct record_encoder *e)
{
	if (!e)
		return;
	codec_state_release(&e->s);
	for (size_t i = 0; i < COL_COUNT; i++)
		free(e->col[i].start);
	free(e);
}

void record_encoder_reset(struct record_encoder *e)
{
	codec_state_reset(&e->s);
	for (size_t i = 0; i < COL_COUNT; i++)
		e->col[i].end = e->col[i].start;
	e->count = 0;
	e->full = false;
	e->reads = false;
	memset(e->strings, 0, sizeof(e->strings));
	memset(e->threads, 0, sizeof(e->threads));
}

uint32_t record_encoder_count(const struct record_encoder *e)
{
	return e->count;
}

bool record_encoder_reads(const struct record_encoder *e)
{
	return e->reads;
}

void record_encoder_columns(const struct record_encoder *e, const uint8_t *ret_data[COL_COUNT],
			    size_t ret_size[COL_COUNT])
{
	for (size_t i = 0; i < COL_COUNT; i++) {
		ret_data[i] = e->col[i].start;
		ret_size[i] = e->col[i].end - e->col[i].start;
	}
}

static inline void put(struct record_encoder *e, enum codec_column c, uint64_t v)
{
	e->col[c].end = varint_put(e->col[c].end, v);
}

/* Writes the difference if the prediction failed, and says so. */
static inline unsigned int differ(struct record_encoder *e, uint64_t value, uint64_t expected, unsigned int bit)
{
	if (value == expected)
		return 0;
	put(e, COL_MISC, zigzag(value - expected));
	return bit;
}

static void put_op(struct record_encoder *e, unsigned int mask)
{
	struct column *c = &e->col[COL_OP];

	if (mask > 0xff) {
		*c->end++ = mask | OP_EXT;
		*c->end++ = mask >> 8;
	} else {
		*c->end++ = mask;
	}
}

/* NULL: no memory. */
static struct codec_thread *put_thread(struct record_encoder *e, uint32_t tid, unsigned int *mask)
{
	struct codec_state *s = &e->s;
	uint32_t slot = tid * 2654435761u % THREAD_SLOTS;
	struct codec_thread *t;

	if (s->nr_threads && s->threads[s->current]->tid == tid)
		return s->threads[s->current];
	*mask |= OP_THREAD;
	/* never full: there are twice as many slots as threads */
	for (; e->threads[slot]; slot = (slot + 1) % THREAD_SLOTS) {
		s->current = e->threads[slot] - 1;
		if (s->threads[s->current]->tid == tid) {
			put(e, COL_MISC, s->current);
			return s->threads[s->current];
		}
	}
	t = codec_add_thread(s, tid);
	if (!t)
		return NULL;
	e->threads[slot] = s->nr_threads;
	s->current = s->nr_threads - 1;
	put(e, COL_MISC, s->current);
	put(e, COL_MISC, tid);
	return t;
}

static uint32_t hash_bytes(const uint8_t *p, size_t n)
{
	const uint64_t k = 0x9e3779b97f4a7c15ULL;
	uint64_t h = n * k, v;

	for (; n >= 8; n -= 8, p += 8) {
		memcpy(&v, p, 8);
		h = (h ^ v) * k;
		h ^= h >> 29;
	}
	if (n) {
		v = 0;
		memcpy(&v, p, n);
		h = (h ^ v) * k;
	}
	return h >> 32;
}

static inline bool string_is(const struct record_encoder *e, uint32_t number, const uint8_t *p, size_t n)
{
	const struct codec_string *str = &e->s.strings[number];

	return str->size == n && !memcmp(e->col[COL_TEXT].start + str->offset, p, n);
}

/* Number of the string in this block. A new one gets the next number; its text goes into COL_TEXT. */
static uint32_t intern(struct record_encoder *e, const uint8_t *p, size_t n)
{
	uint32_t hash = hash_bytes(p, n), at = hash, number = e->s.nr_strings;
	struct column *text = &e->col[COL_TEXT];

	for (int i = 0; i < STRING_PROBES; i++, at++) {
		struct string_slot *slot = &e->strings[at % STRING_SLOTS];

		if (!slot->number)
			break;
		if (slot->hash == hash && string_is(e, slot->number - 1, p, n))
			return slot->number - 1;
	}
	e->strings[at % STRING_SLOTS] = (struct string_slot){ .hash = hash, .number = number + 1 };
	e->s.strings[number] = (struct codec_string){ .offset = text->end - text->start, .size = n };
	e->s.nr_strings++;
	memcpy(text->end, p, n);
	text->end += n;
	return number;
}

/* Cuts `bytes` into arguments. false if they are not a well-formed list. Texts get the offset of their first byte as
 * a value for now. */
static bool split_args(const uint8_t *p, size_t bytes, struct codec_args *ret)
{
	size_t at = 0;

	ret->nr = 0;
	while (at < bytes) {
		struct codec_arg *a = &ret->arg[ret->nr];
		struct rec_arg head;

		if (ret->nr == RECORD_MAX_ARGS || bytes - at < sizeof(head))
			return false;
		memcpy(&head, p + at, sizeof(head));
		at += sizeof(head);
		if (bytes - at < ((size_t)head.bytes + 3) / 4 * 4)
			return false;
		a->field = head.field;
		a->encoding = head.encoding;
		a->kind = head.encoding == ENC_INT && head.bytes == 8 ? ARG_INT : ARG_TEXT;
		a->value = at;
		at += ((size_t)head.bytes + 3) / 4 * 4;
		ret->nr++;
	}
	return true;
}

static bool same_shape(const struct codec_args *a, const struct codec_args *b)
{
	if (a->nr != b->nr)
		return false;
	for (uint32_t i = 0; i < a->nr; i++)
		if (a->arg[i].field != b->arg[i].field || a->arg[i].encoding != b->arg[i].encoding ||
		    a->arg[i].kind != b->arg[i].kind)
			return false;
	return true;
}

static void put_shape(struct record_encoder *e, const struct codec_args *args)
{
	struct column *c = &e->col[COL_ARG];

	put(e, COL_ARG, args->nr + 1);
	for (uint32_t i = 0; i < args->nr; i++) {
		*c->end++ = args->arg[i].field;
		*c->end++ = args->arg[i].encoding;
		*c->end++ = args->arg[i].kind;
	}
}

/* The length of the text at `value`, an offset from split_args(). */
static size_t text_bytes(const uint8_t *p, const struct codec_arg *a, size_t bytes)
{
	struct rec_arg head;

	if (a->kind == ARG_OPAQUE)
		return bytes;
	memcpy(&head, p + a->value - sizeof(head), sizeof(head));
	return head.bytes;
}

/* Writes a reference to the text, and the text if it is new to the block. Returns its number. */
static uint32_t put_text(struct record_encoder *e, const uint8_t *p, size_t n)
{
	uint32_t next = e->s.nr_strings, number = intern(e, p, n);

	if (number == next) {
		put(e, COL_ARG, 0);
		put(e, COL_ARG, n);
	} else {
		put(e, COL_ARG, number + 1);
	}
	return number;
}

/* Writes the arguments, unless they are those of the last call of this probe: then 0, else OP_ARGS. */
static unsigned int put_args(struct record_encoder *e, uint32_t probe, const uint8_t *p, size_t bytes)
{
	struct codec_args *last = codec_last_args(&e->s, probe), now;
	bool repeats[RECORD_MAX_ARGS], all = true, fresh;

	if (!split_args(p, bytes, &now)) {
		now.nr = 1;
		now.arg[0] = (struct codec_arg){ .kind = ARG_OPAQUE };
	}
	fresh = !same_shape(&now, last);
	for (uint32_t i = 0; i < now.nr; i++) {
		struct codec_arg *a = &now.arg[i];
		const uint8_t *at = p + a->value;

		if (a->kind == ARG_INT) {
			memcpy(&a->value, at, 8);
			repeats[i] = !fresh && a->value == last->arg[i].value;
		} else {
			repeats[i] = !fresh && string_is(e, last->arg[i].value, at, text_bytes(p, a, bytes));
		}
		all &= repeats[i];
	}
	if (all && !fresh)
		return 0;
	if (fresh)
		put_shape(e, &now);
	else
		put(e, COL_ARG, 0);
	for (uint32_t i = 0; i < now.nr; i++) {
		struct codec_arg *a = &now.arg[i];
		uint64_t before = fresh ? 0 : last->arg[i].value;

		if (a->kind == ARG_INT) {
			put(e, COL_ARG, zigzag(a->value - before));
		} else if (repeats[i]) {
			put(e, COL_ARG, before + 1);
			a->value = before;
		} else {
			a->value = put_text(e, p + a->value, text_bytes(p, a, bytes));
		}
	}
	last->nr = now.nr;
	memcpy(last->arg, now.arg, now.nr * sizeof(now.arg[0]));
	return OP_ARGS;
}

/* Probes that read do so at every call, and others never: only those pay for it. */
static unsigned int put_read(struct record_encoder *e, uint32_t probe, uint32_t read_ns)
{
	uint32_t *last = &codec_last_args(&e->s, probe)->read_ns;
	unsigned int mask = !read_ns != !*last ? EXT_READ : 0;

	if (read_ns) {
		put(e, COL_TIME, zigzag((uint64_t)read_ns - *last));
		e->reads = true;
	}
	*last = read_ns;
	return mask;
}

static int put_begin(struct record_encoder *e, const struct rec_begin *b, unsigned int kind)
{
	struct codec_state *s = &e->s;
	unsigned int mask = kind;
	struct codec_thread *t = put_thread(e, b->hdr.tid, &mask);
	struct codec_call *top;

	if (!t)
		return -ENOMEM;
	put(e, COL_TIME, zigzag(b->hdr.ts_ns - s->last_ns));
	mask |= differ(e, b->depth, codec_next_depth(t), EXT_DEPTH);
	codec_trim(t, b->depth);
	top = codec_top(t);
	mask |= differ(e, b->probe, s->next_probe[t->context], OP_PROBE);
	mask |= differ(e, b->call_id, t->last_call + 1, OP_CALL);
	mask |= differ(e, b->parent_id, top ? top->call_id : t->base_parent, EXT_PARENT);
	mask |= differ(e, b->sp, (top ? top->sp : t->base_sp) + *codec_sp_step(s, top, b->probe), OP_SP);
	mask |= differ(e, b->flags, 0, EXT_FLAGS);
	mask |= differ(e, b->tgid, t->tgid, EXT_TGID);
	mask |= put_read(e, b->probe, b->read_ns);
	mask |= put_args(e, b->probe, (const uint8_t *)(b + 1), b->arg_bytes);
	put_op(e, mask);
	if (kind == KIND_BEGIN)
		codec_after_begin(s, t, b);
	else
		codec_after_mark(s, t, b);
	return 0;
}

static int put_end(struct record_encoder *e, const struct rec_end *r)
{
	struct codec_state *s = &e->s;
	unsigned int mask = KIND_END;
	struct codec_thread *t = put_thread(e, r->hdr.tid, &mask);
	struct codec_call call;

	if (!t)
		return -ENOMEM;
	put(e, COL_TIME, zigzag(r->hdr.ts_ns - s->last_ns));
	mask |= differ(e, r->depth, codec_end_depth(t), EXT_DEPTH);
	codec_expect_end(t, r->depth, r->hdr.ts_ns, &call);
	mask |= differ(e, r->begin_ns, call.begin_ns, EXT_BEGIN);
	mask |= differ(e, r->call_id, call.call_id, EXT_CALL);
	mask |= differ(e, r->parent_id, call.parent_id, EXT_PARENT);
	mask |= differ(e, r->sp, call.sp, EXT_SP);
	mask |= differ(e, r->probe, call.probe, EXT_PROBE);
	mask |= differ(e, r->flags, 0, EXT_FLAGS);
	mask |= differ(e, r->tgid, t->tgid, EXT_TGID);
	mask |= differ(e, r->off_cpu_ns, 0, OP_OFF_CPU);
	mask |= differ(e, r->nr_metrics, s->nr_metrics, OP_METRICS);
	if (r->hidden_ns || r->hidden_hits) {
		put(e, COL_MISC, r->hidden_ns);
		put(e, COL_MISC, r->hidden_hits);
		mask |= OP_HIDDEN;
	}
	if (r->measured_ns) {
		put(e, COL_MISC, r->measured_ns);
		mask |= OP_MEASURED;
		e->reads = true;
	}
	for (uint32_t i = 0; i < r->nr_metrics; i++)
		put(e, COL_ARG, ((const uint64_t *)(r + 1))[i]);
	put_op(e, mask);
	codec_after_end(s, t, r);
	return 0;
}

static void put_whole(struct record_encoder *e, const struct rec_header *rec)
{
	struct column *text = &e->col[COL_TEXT];

	memcpy(text->end, rec, rec->size);
	text->end += rec->size;
	put_op(e, KIND_WHOLE);
}

static size_t encoded_bytes(const struct record_encoder *e)
{
	size_t n = 0;

	for (size_t i = 0; i < COL_COUNT; i++)
		n += e->col[i].end - e->col[i].start;
	return n;
}

int record_encoder_add(struct record_encoder *e, const struct rec_header *rec)
{
	unsigned int kind;
	int rc = 0;

	if (!record_is_valid(rec) || e->full)
		return -EINVAL;
	kind = codec_kind_of(rec);
	if (kind == KIND_END)
		rc = put_end(e, (const struct rec_end *)rec);
	else if (kind == KIND_WHOLE)
		put_whole(e, rec);
	else
		rc = put_begin(e, (const struct rec_begin *)rec, kind);
	if (rc)
		return rc;
	e->count++;
	e->full = encoded_bytes(e) >= RECORDING_BLOCK_BYTES || e->s.nr_strings >= CODEC_MAX_STRINGS ||
		  e->s.nr_threads >= CODEC_MAX_THREADS;
	return e->full;
}
