// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Lays the calls of all threads out as timelines: finds each event's position, fills in the columns, sums up. */
#include <string.h>
#include "model/builder.h"
#include "model/inherit.h"

/* --- the calls of one thread once more in the order in which the tree was made, aggregates where it put them --- */

struct walk {
	struct raw_thread *t;
	uint32_t main, side;
	size_t placed;
};

enum step { STEP_DONE, STEP_CALL, STEP_PLACED };

/* STEP_CALL: *ret_ev is the next call. STEP_PLACED: *ret_placed is an aggregate or mark. */
static enum step walk_next(struct walk *w, struct raw_event **ret_ev, const struct placed **ret_placed)
{
	struct raw_thread *t = w->t;

	for (;;) {
		if (w->placed < t->placed.nr && t->placed.items[w->placed].main == w->main &&
		    t->placed.items[w->placed].side == w->side) {
			*ret_placed = &t->placed.items[w->placed++];
			return STEP_PLACED;
		}
		if (w->side < t->loose.nr && t->loose.items[w->side].before == w->main) {
			if (t->loose.items[w->side++].kind != LOOSE_EVENT)
				continue;	/* stands in t->placed */
			*ret_ev = &t->loose.items[w->side - 1].ev;
			return STEP_CALL;
		}
		if (w->main == t->nr)
			return STEP_DONE;
		*ret_ev = raw_at(t, w->main++);
		return STEP_CALL;
	}
}

/* --- positions: the top-level events of each timeline in order of time, each with its subtree behind it --- */

struct next_root {
	struct root *next, *end;
};

/* Sinks heap[at] to where it belongs: earliest start first, of equal ones the earlier thread. */
static void sink(struct next_root **heap, size_t nr, size_t at)
{
	for (;;) {
		size_t least = at;

		for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < nr; child++) {
			uint64_t a = heap[child]->next->ev->start_ns, b = heap[least]->next->ev->start_ns;

			if (a < b || (a == b && heap[child] < heap[least]))
				least = child;
		}
		if (least == at)
			return;
		struct next_root *swapped = heap[at];

		heap[at] = heap[least];
		heap[least] = swapped;
		at = least;
	}
}

static int find_positions(struct session_builder *b)
{
	struct session *s = b->session;
	size_t nr = 0, nr_timelines = s->timelines.nr;
	struct next_root *roots = calloc(b->threads.nr + 1, sizeof(*roots));
	struct next_root **heap = calloc(b->threads.nr + 1, sizeof(*heap));
	uint32_t *next = calloc(nr_timelines, sizeof(*next));
	int rc = roots && heap && next ? 0 : -ENOMEM;

	for (size_t i = 0; !rc && i < nr_timelines; i++)
		next[i] = s->timelines.items[i].first_id - 1;
	for (size_t i = 0; !rc && i < b->threads.nr; i++) {
		if (!b->threads.items[i]->roots.nr)
			continue;
		roots[i].next = b->threads.items[i]->roots.items;
		roots[i].end = roots[i].next + b->threads.items[i]->roots.nr;
		heap[nr++] = &roots[i];
	}
	for (size_t i = nr / 2; i-- > 0; )
		sink(heap, nr, i);
	while (nr) {
		struct root *root = heap[0]->next;
		uint32_t *at = &next[b->frames.places.items[root->ev->place].timeline];

		root->position = *at;
		*at += root->ev->subtree;
		if (++heap[0]->next == heap[0]->end)
			heap[0] = heap[--nr];
		sink(heap, nr, 0);
	}
	free(roots);
	free(heap);
	free(next);
	return rc;
}

/* --- filling in --- */

/* The event last met on each level. */
struct spot {
	uint32_t id;		/* of the event shown there; 0: none */
	uint32_t run;		/* level (plus one) of the top-level event that it stands below */
	uint32_t next;		/* of a top-level event: where the next one of its subtree goes */
	uint32_t caller;	/* detail of the nearest script caller */
};

struct fill {
	struct session_builder *b;
	struct raw_thread *t;
	size_t root;		/* of the thread: the next one */
	struct spot *spots;	/* [0]: outside of all calls */
	struct cost_cursor costs;
	struct inherit inherit;
	VEC(struct hits) hits;
};

/* Where an event goes whose caller is on `level`; 0-based. */
static uint32_t take_position(struct fill *f, const struct raw_event *ev, const struct spot *outer)
{
	if (ev->state & RAW_ROOT)
		return f->t->roots.items[f->root++].position;
	return f->spots[outer->run].next++;
}

static void fill_hits(struct fill *f, const struct raw_event *ev, uint64_t calls, uint32_t at, int *rc)
{
	struct columns *c = &f->b->session->columns;
	struct hits hits = { .position = at, .hits = calls > UINT32_MAX ? UINT32_MAX : calls };

	if (ev->state & RAW_COUNTED)
		hits.hits = f->b->extras.items[ev->extra].hits;
	c->children[at] = 0;	/* they come next */
	if (ev->subtree == 1) {
		c->children[at] = hits.hits;
	} else if (hits.hits != 1) {
		c->when[at] |= 1ull << (TIME_BITS + PROBE_BITS);
		if (VEC_PUSH(&f->hits, hits))
			*rc = -ENOMEM;
	}
}

static int fill_event(struct fill *f, struct raw_event *ev, uint64_t calls, uint32_t at, const struct spot *outer)
{
	struct session *s = f->b->session;
	struct columns *c = &s->columns;
	const struct raw_extra *extra = ev->extra ? &f->b->extras.items[ev->extra] : NULL;
	const struct cost *cost = cost_at(&f->costs, s->tables.probes.items[ev->probe].cost_class, ev->start_ns);
	uint64_t spread = sat_mul(cost->spread_ns, calls + (extra ? extra->hidden_hits : 0));
	size_t nr_metrics = s->tables.info.nr_metrics;
	int rc = 0;

	c->when[at] = ev->start_ns | (uint64_t)ev->probe << TIME_BITS |
		      (uint64_t)(f->t->index & ((1u << THREAD_LOW_BITS) - 1)) << (64 - THREAD_LOW_BITS);
	c->span[at] = (ev->end_ns - ev->start_ns) | (uint64_t)(f->t->index >> THREAD_LOW_BITS) << TIME_BITS;
	c->time[at] = ev->self_ns;
	c->overhead[at] = ev->overhead_ns;
	c->blocked[at] = ev->blocked_ns;
	/* so bounded, what wraps around at 48 bits can't hide in a difference: 10^7 events of 0.1 s are 2^50 */
	spread = min_u64(spread, ev->self_ns + ev->overhead_ns);
	c->spread_low[at] = spread;
	c->spread_high[at] = spread >> 32;
	c->parent[at] = ev->state & RAW_ROOT ? 0 : outer->id;
	c->subtree[at] = ev->subtree;
	if (c->parent[at])
		c->children[c->parent[at] - 1]++;
	c->flags[at] = ev->flags;
	if (nr_metrics) {
		if (ev->state & RAW_METRICS)
			memcpy(&c->metrics[at * nr_metrics], &f->b->metrics.items[extra->metrics], nr_metrics * 8);
		else
			c->metrics[at * nr_metrics] = UINT64_MAX;
	}
	fill_hits(f, ev, calls, at, &rc);
	return inherit_detail(&f->inherit, ev, outer->caller, &c->detail[at]) ? -ENOMEM : rc;
}

static int fill_call(struct fill *f, struct raw_event *ev)
{
	struct spot *spot = &f->spots[ev->level + 1], *outer = &f->spots[ev->caller];
	uint32_t at;

	if (ev->state & RAW_HIDDEN) {
		*spot = *outer;
		if (detail_has(details_get(f->b->details, ev->detail), FIELD_THREAD_TYPE))
			spot->caller = ev->detail;
		return 0;
	}
	at = take_position(f, ev, outer);
	spot->id = at + 1;
	spot->caller = outer->caller;
	spot->run = ev->state & RAW_ROOT ? ev->level + 1u : outer->run;
	spot->next = at + 1;
	return fill_event(f, ev, 1, at, outer);
}

static void fill_mark(struct fill *f, const struct loose *l, uint16_t level)
{
	struct raw_mark *m = &f->b->marks.items[l->mark];

	m->enclosing = f->spots[level].id;
}

static int fill_thread(struct fill *f, struct raw_thread *t)
{
	struct walk w = { .t = t };
	const struct placed *placed;
	struct raw_event *ev;
	struct loose *l;
	int rc = 0;

	f->t = t;
	f->root = 0;
	memset(f->costs.now, 0, sizeof(f->costs.now));
	memset(&f->spots[0], 0, sizeof(f->spots[0]));
	while (!rc) {
		switch (walk_next(&w, &ev, &placed)) {
		case STEP_DONE:
			return 0;
		case STEP_CALL:
			rc = fill_call(f, ev);
			raw_forget(t, w.main);
			break;
		case STEP_PLACED:
			l = &t->loose.items[placed->loose];
			if (l->kind == LOOSE_MARK)
				fill_mark(f, l, placed->level);
			else
				rc = fill_event(f, &l->ev, l->hits, take_position(f, &l->ev, &f->spots[placed->level]),
						&f->spots[placed->level]);
			break;
		}
	}
	return rc;
}

static void sum_column(uint64_t *column, uint32_t nr)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < nr; i++) {
		uint64_t own = column[i];

		column[i] = sum;
		sum += own;
	}
	column[nr] = sum;
}

static void sum_columns(struct columns *c)
{
	uint64_t sum = 0;

	sum_column(c->time, c->nr);
	sum_column(c->overhead, c->nr);
	sum_column(c->blocked, c->nr);
	for (uint32_t i = 0; i <= c->nr; i++) {
		uint64_t own = i < c->nr ? column_spread(c, i) : 0;

		c->spread_low[i] = sum;
		c->spread_high[i] = sum >> 32;
		sum += own;
	}
}

static int by_position(const void *a, const void *b)
{
	const struct hits *x = a, *y = b;

	return x->position < y->position ? -1 : x->position > y->position;
}

int layout_make(struct session_builder *b)
{
	struct session *s = b->session;
	struct fill f = { .b = b, .costs.table = &b->costs };
	const struct timeline *last = &s->timelines.items[s->timelines.nr - 1];
	int rc = columns_alloc(&s->columns, last->first_id - 1 + last->nr_events, s->tables.info.nr_metrics);

	inherit_init(&f.inherit, b);
	f.spots = malloc((RAW_MAX_LEVELS + 1) * sizeof(*f.spots));
	if (!rc)
		rc = f.spots ? find_positions(b) : -ENOMEM;
	for (size_t i = 0; !rc && i < b->threads.nr; i++) {
		rc = fill_thread(&f, b->threads.items[i]);
		raw_thread_free(b->threads.items[i]);
		b->threads.items[i] = NULL;
	}
	free(f.spots);
	if (rc) {
		free(f.hits.items);
		return rc;
	}
	if (f.hits.nr)
		qsort(f.hits.items, f.hits.nr, sizeof(*f.hits.items), by_position);
	s->columns.hits = f.hits.items;
	s->columns.nr_hits = f.hits.nr;
	sum_columns(&s->columns);
	s->counts.events = s->columns.nr;
	return 0;
}
