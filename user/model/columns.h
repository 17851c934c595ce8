/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How a session keeps its events: columns over the position of an event (its id less one), 63 bytes each. The events of
 * a timeline follow each other in pre-order. Sums over a subtree are differences of prefix sums, so that neither they
 * nor a reduction over a range costs more than the columns that it needs. For model/ and query/ only.
 */
#ifndef FRAMESCOPE_MODEL_COLUMNS_H
#define FRAMESCOPE_MODEL_COLUMNS_H

#include "model/session.h"

#define TIME_BITS 48	/* 78 hours; later times count as that */
#define TIME_MAX ((1ull << TIME_BITS) - 1)
#define PROBE_BITS 10
#define MAX_PROBES (1u << PROBE_BITS)
#define THREAD_LOW_BITS 5
#define MAX_THREADS (1u << (THREAD_LOW_BITS + 16))

struct hits {
	uint32_t position, hits;
};

struct columns {
	uint32_t nr;
	/* start (48 bits), probe (10), whether `hits` has an entry (1), low bits of the thread (5) */
	uint64_t *when;
	/* duration (48 bits), the thread's other bits (16) */
	uint64_t *span;
	/* nr + 1 prefix sums of what each event has itself */
	uint64_t *time, *overhead, *blocked;
	uint32_t *spread_low;	/* of the uncertainty, modulo 2^48 */
	uint16_t *spread_high;
	uint32_t *parent;	/* id; 0: top level */
	uint32_t *subtree;
	uint32_t *children;	/* immediate ones; of a leaf (subtree 1): hits */
	uint32_t *detail;
	uint8_t *flags;
	/* sorted by position: events with children that have other hits than one */
	struct hits *hits;
	size_t nr_hits;
	/* nr * info.nr_metrics, or NULL; ~0 in the first: that event has none */
	uint64_t *metrics;
	uint32_t nr_metrics;
};

_Static_assert(MAX_PROBES >= RECORD_MAX_PROBES, "probe column");

static inline uint64_t column_start(const struct columns *c, uint32_t at)
{
	return c->when[at] & TIME_MAX;
}

static inline uint64_t column_duration(const struct columns *c, uint32_t at)
{
	return c->span[at] & TIME_MAX;
}

static inline uint64_t column_end(const struct columns *c, uint32_t at)
{
	return column_start(c, at) + column_duration(c, at);
}

static inline uint32_t column_probe(const struct columns *c, uint32_t at)
{
	return c->when[at] >> TIME_BITS & (MAX_PROBES - 1);
}

static inline bool column_counted(const struct columns *c, uint32_t at)
{
	return c->when[at] >> (TIME_BITS + PROBE_BITS) & 1;
}

static inline uint32_t column_thread(const struct columns *c, uint32_t at)
{
	return (uint32_t)(c->when[at] >> (64 - THREAD_LOW_BITS)) | (uint32_t)(c->span[at] >> TIME_BITS) << THREAD_LOW_BITS;
}

uint32_t columns_counted_hits(const struct columns *c, uint32_t at);

static inline uint32_t column_hits(const struct columns *c, uint32_t at)
{
	if (c->subtree[at] == 1)
		return c->children[at];
	return column_counted(c, at) ? columns_counted_hits(c, at) : 1;
}

static inline uint64_t column_spread(const struct columns *c, uint32_t at)
{
	return c->spread_low[at] | (uint64_t)c->spread_high[at] << 32;
}

int columns_alloc(struct columns *c, uint32_t nr, uint32_t nr_metrics);	/* -ENOMEM; free with columns_free() */
void columns_free(struct columns *c);
size_t columns_memory(const struct columns *c);

/* The columns behind a session, and each probe's event type. */
const struct columns *session_columns(const struct session *s);
const uint8_t *session_probe_types(const struct session *s);
const struct event_detail *session_details(const struct session *s, uint32_t *ret_nr);

#endif
