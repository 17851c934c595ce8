/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What one probed call cost at a given moment, reading apart, from the calibration's REC_COST records. */
#ifndef FRAMESCOPE_MODEL_COST_H
#define FRAMESCOPE_MODEL_COST_H

#include "base/vec.h"
#include "record.h"

struct cost {
	int64_t ts_ns;		/* since the session began; calibration may have begun before */
	uint64_t inner_ns, outer_ns, spread_ns;
};

struct cost_table {
	VEC(struct cost) class[COST_CLASSES];
};

/* For look-ups that mostly go forward in time. */
struct cost_cursor {
	const struct cost_table *table;
	struct cost_now {
		size_t at;
		uint64_t from_ns, until_ns;	/* where `cost` holds; nowhere at first */
		struct cost cost;
	} now[COST_CLASSES];
};

void cost_table_free(struct cost_table *t);
int cost_table_add(struct cost_table *t, int64_t ts_ns, const struct rec_cost *rec);	/* -ENOMEM */
int cost_table_sort(struct cost_table *t);	/* and smooths; -ENOMEM */

void cost_seek(struct cost_cursor *c, unsigned int class, uint64_t start_ns);

/* The measurement of that class nearest to start_ns (the earlier one of two); all zero if there is none. Valid until
 * the next look-up. */
static inline const struct cost *cost_at(struct cost_cursor *c, unsigned int class, uint64_t start_ns)
{
	struct cost_now *now;

	if (class >= COST_CLASSES)
		class = COST_UNKNOWN;
	now = &c->now[class];
	if (start_ns < now->from_ns || start_ns >= now->until_ns)
		cost_seek(c, class, start_ns);
	return &now->cost;
}

#endif
