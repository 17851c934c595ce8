/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What encoder and decoder of records both know after each record: the predictions come from it. */
#ifndef FRAMESCOPE_CAPTURE_RECORDING_STATE_H
#define FRAMESCOPE_CAPTURE_RECORDING_STATE_H

#include "capture/recording_codec.h"

/* The first byte of an op: a kind and failed predictions; the second (OP_EXT): rarer ones. As one mask of 16 bits. */
enum codec_op {
	KIND_WHOLE = 0, KIND_BEGIN = 1, KIND_END = 2, KIND_MARK = 3,
	KIND_BITS = 3,
	OP_THREAD = 0x04,
	OP_EXT = 0x80,
	/* begin and mark */
	OP_PROBE = 0x08, OP_SP = 0x10, OP_ARGS = 0x20, OP_CALL = 0x40,
	/* end */
	OP_OFF_CPU = 0x08, OP_METRICS = 0x10, OP_HIDDEN = 0x20, OP_MEASURED = 0x40,
	/* all three */
	EXT_DEPTH = 0x0100, EXT_PARENT = 0x0200, EXT_FLAGS = 0x0400, EXT_TGID = 0x0800,
	/* begin and mark: it tells how long reading took where the probe's last call didn't, or the other way round */
	EXT_READ = 0x1000,
	/* end */
	EXT_CALL = 0x1000, EXT_PROBE = 0x2000, EXT_SP = 0x4000, EXT_BEGIN = 0x8000,
};

/* How an argument is coded. A list that is not well-formed is one ARG_OPAQUE string. */
enum codec_arg_kind { ARG_TEXT = 0, ARG_INT = 1, ARG_OPAQUE = 2 };

struct codec_call {
	uint64_t call_id, parent_id, begin_ns, sp;
	uint32_t probe;
	uint16_t depth;
};

struct codec_thread {
	uint32_t tid, tgid;
	uint64_t last_call;	/* id of the last call that began */
	uint64_t base_parent;	/* parent and depth of the last call below which none was known */
	uint16_t base_depth;
	uint64_t base_sp;	/* stack pointer of its first record in the block */
	uint32_t context;	/* what happened last: index into next_probe[] */
	uint32_t nr_calls;
	struct codec_call calls[RECORD_MAX_DEPTH];	/* known to be open, the innermost last; depths grow */
};

struct codec_arg {
	uint8_t field, encoding, kind;
	uint64_t value;		/* the integer, or the string's number */
};

struct codec_args {
	uint32_t nr;
	uint32_t read_ns;
	struct codec_arg arg[RECORD_MAX_ARGS];
};

struct codec_string {
	uint32_t offset, size;	/* in COL_TEXT */
};

#define CODEC_SP_SLOTS 4096

struct codec_state {
	uint64_t last_ns;
	uint32_t nr_metrics;
	uint32_t nr_threads, nr_strings;
	uint32_t current;	/* thread of the last record; nr_threads == 0: none */
	struct codec_thread *threads[CODEC_MAX_THREADS];	/* kept from block to block */
	struct codec_string strings[CODEC_MAX_STRINGS + RECORD_MAX_ARGS];
	uint32_t next_probe[2 * RECORD_MAX_PROBES];
	uint64_t sp_step[CODEC_SP_SLOTS];
	struct codec_args last_args[RECORD_MAX_PROBES];
};

/* KIND_… of the op that writes this record: one whose size does not fit its type is kept whole. */
unsigned int codec_kind_of(const struct rec_header *rec);

void codec_state_reset(struct codec_state *s);
void codec_state_release(struct codec_state *s);
/* The next thread of the block. NULL: no memory. The caller has checked the limit. */
struct codec_thread *codec_add_thread(struct codec_state *s, uint32_t tid);

/* Probe tables have RECORD_MAX_PROBES entries; what lies beyond shares a slot. */
static inline struct codec_args *codec_last_args(struct codec_state *s, uint32_t probe)
{
	return &s->last_args[probe % RECORD_MAX_PROBES];
}

static inline struct codec_call *codec_top(struct codec_thread *t)
{
	return t->nr_calls ? &t->calls[t->nr_calls - 1] : NULL;
}

/* Calls at `depth` and above cannot be open any more. */
static inline void codec_trim(struct codec_thread *t, uint32_t depth)
{
	while (t->nr_calls && t->calls[t->nr_calls - 1].depth >= depth)
		t->nr_calls--;
}

static inline uint16_t codec_next_depth(const struct codec_thread *t)
{
	return t->nr_calls ? t->calls[t->nr_calls - 1].depth + 1 : t->base_depth;
}

static inline uint16_t codec_end_depth(const struct codec_thread *t)
{
	return t->nr_calls ? t->calls[t->nr_calls - 1].depth : t->base_depth - 1;
}

/* Which stack pointer distance this call's should repeat. */
static inline uint64_t *codec_sp_step(struct codec_state *s, const struct codec_call *parent, uint32_t probe)
{
	uint32_t caller = parent ? parent->probe + 1 : 0;

	return &s->sp_step[(caller * 61 + probe) % CODEC_SP_SLOTS];
}

/* What the end of a call is expected to say: from its begin if that is known, which is then taken off; else the best
 * guess. `depth` is the end's. */
void codec_expect_end(struct codec_thread *t, uint32_t depth, uint64_t ts_ns, struct codec_call *ret);

/* Brings the thread up to date. Both sides call these with the same record. */
void codec_after_begin(struct codec_state *s, struct codec_thread *t, const struct rec_begin *b);
void codec_after_mark(struct codec_state *s, struct codec_thread *t, const struct rec_begin *b);
void codec_after_end(struct codec_state *s, struct codec_thread *t, const struct rec_end *e);

#endif
