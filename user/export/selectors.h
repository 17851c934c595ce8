/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Selector matching summed up by selector and sheet: below one style recalculation, or over a session. */
#ifndef FRAMESCOPE_EXPORT_SELECTORS_H
#define FRAMESCOPE_EXPORT_SELECTORS_H

#include "model/session.h"

struct selector_sum {
	const struct event_detail *detail;
	uint64_t hits, time_ns, overhead_ns;
	uint64_t single;	/* hits that were not summed up in the kernel: events with intervals of their own */
};

struct selector_table {
	struct selector_sum *sums;	/* in order of appearance */
	size_t nr, cap;
	uint32_t *slots;	/* index into sums + 1; a power of two of them */
	size_t nr_slots;
};

int selector_table_add(struct selector_table *t, const struct event_view *v);	/* -ENOMEM */
/* Empties t and fills it with what matched below `id`, but not below a recalculation inside of it. -ENOMEM */
int selector_table_collect(struct selector_table *t, const struct session *s, uint32_t id);
void selector_table_clear(struct selector_table *t);	/* keeps the memory */
void selector_table_free(struct selector_table *t);

#endif
