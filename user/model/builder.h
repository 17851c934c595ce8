/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The state of a session while it is built, shared by the steps: arrival, tree, layout. For model/ only. */
#ifndef FRAMESCOPE_MODEL_BUILDER_H
#define FRAMESCOPE_MODEL_BUILDER_H

#include "model/columns.h"
#include "model/cost.h"
#include "model/details.h"
#include "model/frames.h"
#include "model/raw.h"
#include "model/pool.h"
#include "model/tables.h"

struct session {
	struct tables tables;
	struct pool *pool;
	struct event_detail *details;
	uint32_t nr_details;
	struct columns columns;
	VEC(struct timeline) timelines;
	VEC(struct session_mark) marks;
	VEC(struct session_loss) losses;
	VEC(struct session_cpu) cpu;
	VEC(struct session_note) notes;
	struct session_counts counts;
};

/* An instant as it came in. */
struct raw_mark {
	uint64_t ts_ns, id;
	uint32_t detail, thread, tgid;
	uint32_t place;		/* as frames_note() gave it; then the place where it is shown, or PLACE_NONE */
	uint32_t enclosing;	/* event id or 0 */
	uint16_t probe;
};

/* A process ended or replaced its image: calls that were open are gone. */
struct gone {
	uint64_t ts_ns;
	uint32_t tgid;
};

struct session_builder {
	struct session *session;	/* under construction */
	struct details *details;
	struct frames frames;
	struct cost_table costs;
	VEC(struct raw_thread *) threads;
	struct map thread_map;	/* process and thread -> index into threads */
	struct raw_thread *last_thread;
	VEC(struct raw_extra) extras;	/* [0] is unused */
	VEC(uint64_t) metrics;
	VEC(struct raw_mark) marks;
	VEC(struct gone) gone;		/* sorted by process and time when the trees are made */
	uint64_t last_ns;		/* of all records, since the session began */
	uint64_t lost;			/* as REC_LOSS says */
	uint32_t nr_calls;	/* no fewer than the events that come of them */
};

/* Time since the session began. */
static inline uint64_t builder_time(const struct session_builder *b, uint64_t ts_ns)
{
	uint64_t begin = b->session->tables.info.begin_ns;

	return ts_ns <= begin ? 0 : ts_ns - begin > TIME_MAX ? TIME_MAX : ts_ns - begin;
}

/* arrive.c: one record each. -ENOMEM. */
int arrive_begin(struct session_builder *b, const struct rec_begin *rec);
int arrive_end(struct session_builder *b, const struct rec_end *rec);
int arrive_mark(struct session_builder *b, const struct rec_begin *rec);
int arrive_aggregate(struct session_builder *b, const struct rec_aggregate *rec);
/* The thread of a record; *ret is NULL if there are too many. -ENOMEM. */
int arrive_new_thread(struct session_builder *b, uint32_t tid, uint32_t tgid, struct raw_thread **ret);

static inline int arrive_thread(struct session_builder *b, uint32_t tid, uint32_t tgid, struct raw_thread **ret)
{
	struct raw_thread *t = b->last_thread;

	if (!t || t->tid != tid || t->tgid != tgid)
		return arrive_new_thread(b, tid, tgid, ret);
	*ret = t;
	return 0;
}

/* tree.c: pairs, nests and accounts the calls of one thread. -ENOMEM. */
int tree_make(struct session_builder *b, struct raw_thread *t);

/* layout.c: from the trees to timelines and columns. -ENOMEM. */
int layout_make(struct session_builder *b);

/* timelines.c: orders the places into b->session->timelines and says how many events they hold. -ENOMEM. */
int timelines_make(struct session_builder *b);
/* Which of two fits better as the first timeline, once ranks are known. Of frames that have events and no known parent,
 * the bits of a rank from RANK_KIND on say whose pages they show. */
#define RANK_KIND 7
bool place_better(const struct place *p, const struct place *q);

/* mains.c: says which places are main frames, once ranks are known. -ENOMEM. */
int mains_find(struct session_builder *b);

#endif
