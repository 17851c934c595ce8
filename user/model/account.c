// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Where the time of each call goes: children, blocked, overhead, and the rest to itself. */
#include <stdlib.h>
#include "model/level.h"

bool level_attach(struct tree *tr, struct raw_event *ev, uint32_t shown)
{
	struct place *p = &tr->b->frames.places.items[ev->place];

	p->events++;
	if (shown && tr->levels[shown - 1].place == ev->place)
		return true;
	ev->state |= RAW_ROOT;
	if (VEC_PUSH(&tr->t->roots, ((struct root){ .ev = ev })))
		tr->rc = -ENOMEM;
	if (shown && tr->levels[shown - 1].place != ev->place)
		ev->flags |= EV_MOVED;
	return false;
}

void level_add_up(struct tree *tr, const struct raw_event *ev)
{
	struct place *p = &tr->b->frames.places.items[ev->place];

	p->self_ns = sat_add(p->self_ns, ev->self_ns);
	if (tr->b->session->tables.types[ev->probe] != EVENT_PAINT)
		return;
	p->paints = true;
	p->paints_from_ns = min_u64(p->paints_from_ns, ev->start_ns);
	p->paints_until_ns = max_u64(p->paints_until_ns, ev->end_ns);
}

static void flag_overhead(struct raw_event *ev)
{
	if (ev->overhead_ns > ev->self_ns / 2)
		ev->flags |= EV_OVERHEAD_HIGH;
}

/* --- aggregates: leaves that stand for many calls; they may overlap their siblings --- */

void level_place(struct tree *tr, uint32_t index, uint16_t level)
{
	struct placed placed = { .loose = index, .main = tr->main, .side = tr->side, .level = level };

	if (VEC_PUSH(&tr->t->placed, placed))
		tr->rc = -ENOMEM;
}

uint64_t aggregate_settle(struct tree *tr, struct loose *l, uint64_t room_ns, struct cost *ret_cost)
{
	struct raw_event *ev = &l->ev;
	uint64_t total = min_u64(min_u64(l->total_ns, room_ns), ev->end_ns - ev->start_ns);

	*ret_cost = *cost_of(tr, ev, ev->start_ns);
	ev->overhead_ns = ev->state & RAW_OVERHEAD ? tr->b->extras.items[ev->extra].hidden_ns :
			  sat_mul(ret_cost->inner_ns, l->hits);
	ev->overhead_ns = min_u64(ev->overhead_ns, total);
	ev->self_ns = total - ev->overhead_ns;
	ev->blocked_ns = 0;
	ev->subtree = 1;
	flag_overhead(ev);
	return total;
}

static int by_start(const void *a, const void *b, void *items)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	uint64_t at = ((struct loose *)items)[x - 1].ev.start_ns, bt = ((struct loose *)items)[y - 1].ev.start_ns;

	if (at != bt)
		return at < bt ? -1 : 1;
	return x < y ? -1 : x > y;
}

/* The kernel side hands them over in no order when their caller ends. */
static void sort_aggregates(struct tree *tr, struct level *l)
{
	struct loose *items = tr->t->loose.items;
	uint32_t *list, nr = 0;
	bool sorted = true;

	for (uint32_t i = l->first; i; i = items[i - 1].next, nr++)
		if (items[i - 1].next && items[items[i - 1].next - 1].ev.start_ns < items[i - 1].ev.start_ns)
			sorted = false;
	if (sorted)
		return;
	list = malloc(nr * sizeof(*list));
	if (!list) {
		tr->rc = -ENOMEM;
		return;
	}
	nr = 0;
	for (uint32_t i = l->first; i; i = items[i - 1].next)
		list[nr++] = i;
	qsort_r(list, nr, sizeof(*list), by_start, items);
	for (uint32_t i = 0; i < nr; i++)
		items[list[i] - 1].next = i + 1 < nr ? list[i + 1] : 0;
	l->first = list[0];
	l->last = list[nr - 1];
	free(list);
}

void level_settle_aggregates(struct tree *tr, struct level *l)
{
	uint64_t wall = l->ev->end_ns - l->ev->start_ns;

	sort_aggregates(tr, l);
	for (uint32_t i = l->first; i; i = tr->t->loose.items[i - 1].next) {
		struct loose *a = &tr->t->loose.items[i - 1];
		struct cost cost;

		a->ev.start_ns = min_u64(max_u64(a->ev.start_ns, l->ev->start_ns), l->ev->end_ns);
		a->ev.end_ns = min_u64(max_u64(a->ev.end_ns, a->ev.start_ns), l->ev->end_ns);
		l->child_wall_ns += aggregate_settle(tr, a, wall - l->child_wall_ns, &cost);
		l->overhead_ns = sat_add(l->overhead_ns, sat_mul(cost.outer_ns, a->hits));
		if (a->ev.place >= PLACE_DOCUMENT)
			a->ev.place = l->place;
		if (level_attach(tr, &a->ev, l->shown))
			tr->levels[l->shown - 1].size++;
		level_add_up(tr, &a->ev);
		level_place(tr, i - 1, l - tr->levels + 1);
	}
}

/* --- calls --- */

/*
 * Costs vary from call to call. One that took less than a call is said to cost can't have less than no time of its
 * own; so that many short ones together don't seem to have some, what is left over is the next sibling's. Never more
 * than one call costs: where costs are overestimated all the time, a long sibling shall not pay for it.
 */
static void settle_overhead(struct tree *tr, struct level *l, uint64_t overhead_ns, uint64_t rest_ns)
{
	struct level *outer = tr->nr > 1 && !(l->ev->state & RAW_HIDDEN) ? l - 1 : NULL;

	if (outer)
		overhead_ns = sat_add(overhead_ns, outer->carry_ns);
	l->ev->overhead_ns = min_u64(overhead_ns, rest_ns);
	l->ev->self_ns = rest_ns - l->ev->overhead_ns;
	if (outer)
		outer->carry_ns = min_u64(overhead_ns - l->ev->overhead_ns, l->cost.inner_ns);
}

/* Splits the wall time of a call: blocked as measured, overhead as estimated and measured, the rest is its own. */
void level_account(struct tree *tr, struct level *l, uint64_t *ret_off)
{
	struct raw_event *ev = l->ev;
	uint64_t wall = ev->end_ns - ev->start_ns, rest = wall - l->child_wall_ns;
	uint64_t off = ev->state & RAW_ENDED ? ev->off_cpu_ns : 0;
	uint64_t overhead = sat_add(l->overhead_ns, l->cost.inner_ns);

	if (ev->extra) {
		const struct raw_extra *x = &tr->b->extras.items[ev->extra];

		if (ev->state & RAW_OVERHEAD)
			overhead = x->hidden_ns;
		overhead = sat_add(overhead, min_u64(sat_mul(l->cost.inner_ns, x->hidden_hits), x->hidden_ns));
		overhead = sat_add(overhead, sat_mul(l->cost.outer_ns, x->hidden_hits));
		overhead = sat_add(overhead, x->measured_ns);
	}
	off = min_u64(max_u64(off, l->child_off_ns), wall);
	*ret_off = off;
	ev->blocked_ns = off > l->child_off_ns ? min_u64(off - l->child_off_ns, rest) : 0;
	rest -= ev->blocked_ns;
	/* shown by nobody: all that it costs falls to the caller */
	if (ev->state & RAW_HIDDEN)
		l->overhead_ns = overhead;
	settle_overhead(tr, l, overhead, rest);
	flag_overhead(ev);
}
