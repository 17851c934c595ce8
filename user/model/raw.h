/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the builder keeps of the records of one thread until the timelines are laid out. The call ids of a thread only
 * grow, so events in the order of their begins are sorted by call id, and that order is pre-order: parents first.
 * What doesn't come in that order (an end whose begin was lost, aggregates, marks) lies beside it as a loose item.
 */
#ifndef FRAMESCOPE_MODEL_RAW_H
#define FRAMESCOPE_MODEL_RAW_H

#include "model/big.h"
#include "base/vec.h"

#define RAW_MAX_LEVELS 1024	/* nested calls; the kernel side keeps RECORD_MAX_DEPTH */

enum raw_state {
	RAW_BEGUN = 1 << 0,	/* its begin record was seen */
	RAW_ENDED = 1 << 1,	/* its end record was seen */
	RAW_SWITCH = 1 << 2,	/* on another stack than the calls below it */
	RAW_ROOT = 1 << 3,	/* top level of its timeline */
	RAW_HIDDEN = 1 << 4,	/* ROLE_SCRIPT_CALLER: not an event of its own */
	RAW_COUNTED = 1 << 5,	/* hits stand in its extra */
	RAW_METRICS = 1 << 6,
	RAW_OVERHEAD = 1 << 7,	/* its extra's hidden_ns is its overhead: known, not estimated */
};

/* One call: a cache line. The members of the unions are needed before and after the tree is made, respectively. */
struct raw_event {
	union { uint64_t call_id, self_ns; };
	union { uint64_t parent_id, blocked_ns; };
	union { uint64_t off_cpu_ns, overhead_ns; };
	uint64_t start_ns, end_ns;	/* since the session began */
	uint32_t detail;
	uint32_t place;		/* its own (frames.h); then the place where it is shown */
	uint32_t extra;		/* index into builder.extras; 0: none */
	union { uint32_t read_ns, subtree; };
	uint16_t probe;
	union { uint16_t depth, level; };
	uint16_t caller;	/* number of the caller's level: level, unless it runs on another stack; 0: none */
	uint8_t flags;		/* enum event_flag */
	uint8_t state;		/* enum raw_state */
};

/* What few events have. */
struct raw_extra {
	uint64_t hidden_ns;
	uint32_t hidden_hits;
	uint32_t hits;
	uint32_t measured_ns;
	size_t metrics;		/* index of the first value in builder.metrics */
};

#define RAW_CHUNK (BIG_PAGE / sizeof(struct raw_event))	/* events of one allocation */

enum loose_kind {
	LOOSE_EVENT,		/* its begin or the order of its call ids was lost */
	LOOSE_AGGREGATE,
	LOOSE_MARK,
};

struct loose {
	struct raw_event ev;
	uint64_t total_ns;	/* aggregate: wall time of all calls */
	uint64_t hits;
	uint32_t mark;		/* index into builder.marks */
	uint32_t before;	/* number of in-order events that come first */
	uint32_t next;		/* aggregates of one parent: index + 1 */
	uint8_t kind;		/* enum loose_kind */
};

/* An aggregate or mark in the order in which the layout meets it. */
struct placed {
	uint32_t loose;		/* index */
	uint32_t main;		/* after so many in-order events and */
	uint32_t side;		/* so many loose items */
	uint16_t level;		/* of the event around it, plus one; 0: none */
};

/* A top-level event of a timeline. */
struct root {
	struct raw_event *ev;
	uint32_t position;	/* among all events, once timelines are laid out */
};

struct raw_thread {
	uint32_t tid, tgid;
	uint32_t index;		/* in the session's table */
	struct raw_event **chunks;
	size_t nr_chunks, cap_chunks;
	uint32_t nr;
	uint64_t last_id;
	VEC(struct raw_event *) open;	/* not ended as far as is known, outermost first */
	VEC(struct loose) loose;
	VEC(struct placed) placed;
	VEC(struct root) roots;		/* RAW_ROOT, in the order of the tree */
};

static inline struct raw_event *raw_at(const struct raw_thread *t, uint32_t i)
{
	return &t->chunks[i / RAW_CHUNK][i % RAW_CHUNK];
}

/* Room for one more in-order event, uninitialised; NULL: no memory. */
struct raw_event *raw_append(struct raw_thread *t);
/* The in-order event with that call id, or NULL. Only before the tree is made. */
struct raw_event *raw_find(const struct raw_thread *t, uint64_t call_id);
/* Sorts the loose items by call id and drops what was recorded twice; returns how many that were. */
size_t raw_sort_loose(struct raw_thread *t);
/* The in-order events before that one are not needed any more. */
void raw_forget(struct raw_thread *t, uint32_t before);
void raw_thread_free(struct raw_thread *t);

#endif
