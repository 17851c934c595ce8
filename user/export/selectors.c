// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A hash table of selectors; details are interned, so their addresses are the keys. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "export/selectors.h"

static size_t slot_of(const struct selector_table *t, const struct event_detail *d)
{
	return ((uintptr_t)d >> 3) * 0x9e3779b97f4a7c15ull >> 32 & (t->nr_slots - 1);
}

static int grow(struct selector_table *t)
{
	size_t nr_slots = t->nr_slots ? 2 * t->nr_slots : 128;
	struct selector_sum *sums = reallocarray(t->sums, nr_slots / 2, sizeof(*sums));
	uint32_t *slots;

	if (!sums)
		return -ENOMEM;
	t->sums = sums;
	slots = calloc(nr_slots, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	free(t->slots);
	t->slots = slots;
	t->nr_slots = nr_slots;
	t->cap = nr_slots / 2;
	for (size_t i = 0; i < t->nr; i++) {
		size_t k = slot_of(t, t->sums[i].detail);

		while (t->slots[k])
			k = (k + 1) & (nr_slots - 1);
		t->slots[k] = i + 1;
	}
	return 0;
}

int selector_table_add(struct selector_table *t, const struct event_view *v)
{
	uint64_t single = v->flags & EV_AGGREGATE ? 0 : v->hits;
	const struct event_detail *d = v->detail;
	struct selector_sum *sum;
	size_t k;

	if (t->nr == t->cap) {
		int rc = grow(t);

		if (rc)
			return rc;
	}
	for (k = slot_of(t, d); t->slots[k]; k = (k + 1) & (t->nr_slots - 1)) {
		sum = &t->sums[t->slots[k] - 1];
		if (sum->detail == d) {
			sum->hits += v->hits;
			sum->time_ns += v->time_ns;
			sum->overhead_ns += v->overhead_ns;
			sum->single += single;
			return 0;
		}
	}
	t->sums[t->nr++] = (struct selector_sum){ .detail = d, .hits = v->hits, .time_ns = v->time_ns,
					      .overhead_ns = v->overhead_ns, .single = single };
	t->slots[k] = t->nr;
	return 0;
}

int selector_table_collect(struct selector_table *t, const struct session *s, uint32_t id)
{
	struct event_view v;
	uint32_t end;

	selector_table_clear(t);
	if (!session_event(s, id, &v))
		return 0;
	end = id + v.subtree;
	for (uint32_t i = id + 1; i < end && session_event(s, i, &v);) {
		if (v.type == EVENT_CSS_SELECTOR_MATCHING) {
			int rc = selector_table_add(t, &v);

			if (rc)
				return rc;
		}
		i += v.type == EVENT_STYLE_RECALCULATION && v.subtree ? v.subtree : 1;
	}
	return 0;
}

void selector_table_clear(struct selector_table *t)
{
	if (t->nr)
		memset(t->slots, 0, t->nr_slots * sizeof(*t->slots));
	t->nr = 0;
}

void selector_table_free(struct selector_table *t)
{
	free(t->sums);
	free(t->slots);
	*t = (struct selector_table){ 0 };
}
