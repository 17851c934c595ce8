/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What one probed call cost at a given moment, from the calibration's REC_COST records. */
#ifndef FRAMESCOPE_MODEL_COST_H
#define FRAMESCOPE_MODEL_COST_H

#include "model/vec.h"
#include "record.h"

#define COST_CLASSES 4

struct cost {
	int64_t ts_ns;		/* since the session began; calibration may have begun before */
	uint64_t inner_ns, outer_ns, spread_ns;
};

struct cost_table {
	VEC(struct cost) class[COST_CLASSES];
};

/* Positions in a table for look-ups that go forward in time. */
struct cost_cursor {
	const struct cost_table *table;
	size_t at[COST_CLASSES];
};

void cost_table_free(struct cost_table *t);
int cost_table_add(struct cost_table *t, int64_t ts_ns, const struct rec_cost *rec);	/* -ENOMEM */
void cost_table_sort(struct cost_table *t);

/* The measurement of that class nearest to start_ns (the earlier one of two); all zero if there is none. */
static inline struct cost cost_at(struct cost_cursor *c, unsigned int class, uint64_t start_ns)
{
	const struct cost *items;
	int64_t now = start_ns;
	size_t nr, at;

	if (class >= COST_CLASSES || !c->table->class[class].nr)
		return (struct cost){ 0 };
	items = c->table->class[class].items;
	nr = c->table->class[class].nr;
	at = c->at[class];
	while (at > 0 && items[at].ts_ns > now)
		at--;
	while (at + 1 < nr && items[at + 1].ts_ns - now < now - items[at].ts_ns)
		at++;
	c->at[class] = at;
	return items[at];
}

#endif
