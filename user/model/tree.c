// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Makes a tree of the calls of one thread and gives each its time. One pass in the order of the call ids, with the
 * open calls as a stack of levels. Whatever was lost: a child lies within its parent, and siblings don't overlap.
 *
 * Two trees are meant: calls within calls, which time is accounted by, and the tree that is shown. They differ where
 * an event belongs to another frame than its caller, runs on another stack, or where the caller is not shown.
 */
#include <string.h>
#include "model/level.h"

/* When the process went away next, at or after a moment. */
static uint64_t gone_after(const struct session_builder *b, uint32_t tgid, uint64_t ts_ns)
{
	size_t low = 0, high = b->gone.nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct gone *g = &b->gone.items[middle];

		if (g->tgid < tgid || (g->tgid == tgid && g->ts_ns < ts_ns))
			low = middle + 1;
		else
			high = middle;
	}
	return low < b->gone.nr && b->gone.items[low].tgid == tgid ? b->gone.items[low].ts_ns : UINT64_MAX;
}

static void count_flags(struct session_counts *c, const struct raw_event *ev)
{
	c->unwound += !!(ev->flags & EV_UNWOUND);
	c->clipped += !!(ev->flags & EV_CLIPPED);
	c->no_begin += !!(ev->flags & EV_NO_BEGIN);
	c->no_end += !!(ev->flags & EV_NO_END);
}

/* --- levels --- */

static uint64_t end_of(struct level *l, uint64_t ts_ns, bool final)
{
	struct raw_event *ev = l->ev;
	uint64_t end = max_u64(min_u64(l->bound_ns, ts_ns), l->cursor_ns);

	if (!(ev->state & RAW_ENDED))
		ev->flags |= (final && l->bound_ns == UINT64_MAX) || (l->gone && l->bound_ns <= ts_ns) ?
			     EV_CLIPPED : EV_NO_END;
	else if (end < ev->end_ns)
		ev->flags |= EV_NO_END;	/* contradictory, or coroutines: not after what follows it */
	return end;
}

/* Field by field: compilers clear a struct of this size with an instruction that costs more than all the rest. */
static inline void level_init(struct level *l, struct raw_event *ev)
{
	l->ev = ev;
	l->call_id = ev->call_id;
	l->depth = ev->depth;
	l->child_wall_ns = l->child_off_ns = l->overhead_ns = l->carry_ns = 0;
	l->above = 0;
	l->size = 0;
	l->first = l->last = 0;
	l->gone = false;
}

/* Closes the innermost level, at ts_ns unless it ended before. */
static void pop(struct tree *tr, uint64_t ts_ns, bool final)
{
	struct level *l = &tr->levels[tr->nr - 1], *outer = tr->nr > 1 ? l - 1 : NULL;
	struct raw_event *ev = l->ev;
	bool hidden = ev->state & RAW_HIDDEN;
	uint64_t off;

	ev->end_ns = end_of(l, ts_ns, final);
	level_settle_aggregates(tr, l);
	level_account(tr, l, &off);
	if (!hidden) {
		ev->subtree = l->size;
		level_add_up(tr, ev);
		count_flags(&tr->b->session->counts, ev);
	}
	if (!hidden && l->above)
		tr->levels[l->above - 1].size += l->size;
	if (outer) {
		outer->cursor_ns = ev->end_ns;
		outer->child_wall_ns += hidden ? l->child_wall_ns : ev->end_ns - ev->start_ns;
		outer->child_off_ns += hidden ? l->child_off_ns : off;
		outer->overhead_ns = sat_add(outer->overhead_ns, sat_add(l->read_ns + l->cost.outer_ns,
									 hidden ? l->overhead_ns : 0));
	} else {
		tr->cursor_ns = ev->end_ns;
	}
	tr->nr--;
}

/*
 * Closes what can't be open any more when a call or mark begins. Returns the number of the level that is its caller,
 * or the nearest known one; 0: none. Levels above that one are open on other stacks.
 */
static uint32_t close_ended(struct tree *tr, const struct raw_event *ev)
{
	const struct level *levels = tr->levels;
	uint64_t start = ev->start_ns, caller = ev->parent_id;
	uint32_t n;

	if (!(ev->state & RAW_SWITCH)) {
		while (tr->nr && levels[tr->nr - 1].call_id > caller)
			pop(tr, start, false);
		/* the caller itself was lost: its own callers are less deep than it */
		if (tr->nr && levels[tr->nr - 1].call_id != caller)
			while (tr->nr && levels[tr->nr - 1].depth + 1 >= ev->depth)
				pop(tr, start, false);
	}
	while (tr->nr && levels[tr->nr - 1].bound_ns < start)
		pop(tr, start, false);
	if (!(ev->state & RAW_SWITCH))
		return tr->nr;
	for (n = tr->nr; n && levels[n - 1].call_id != caller; )
		n--;
	/* what is open above it stands below another top-level event, if the flag tells the truth */
	for (uint32_t i = n; n && i < tr->nr; i++)
		while (levels[i].run == levels[n - 1].run && i < tr->nr)
			pop(tr, start, false);
	return n;
}

static int resolve_place(struct tree *tr, struct raw_event *ev, const struct level *outer)
{
	struct frames *f = &tr->b->frames;
	uint32_t own = ev->place, document = PLACE_NONE;

	if (own < PLACE_DOCUMENT)
		return 0;
	if (own != PLACE_NONE)
		document = f->documents.items[own & ~PLACE_DOCUMENT].place;
	if (outer && (f->places.items[outer->place].frame || document == PLACE_NONE))
		ev->place = outer->place;
	else if (document != PLACE_NONE)
		ev->place = document;	/* known only later, but nothing else is */
	else
		return frames_process(f, tr->t->tgid, &ev->place);
	return 0;
}

/* Events that name a document name it by the URL of their frame's document. */
static int note_url(struct tree *tr, const struct raw_event *ev)
{
	const uint32_t types = 1u << EVENT_DOCUMENT_PARSING | 1u << EVENT_REFLOW | 1u << EVENT_STYLE_RECALCULATION |
			       1u << EVENT_LAYOUT | 1u << EVENT_PAINT;
	const char *url;

	if (!ev->detail || !(types & 1u << tr->b->session->tables.types[ev->probe]))
		return 0;
	url = details_get(tr->b->details, ev->detail)->url;
	return url ? frames_url(&tr->b->frames, ev->place, ev->start_ns, url) : 0;
}

/* Opens a level. `caller`: the number of the one that it was called from, 0 if none; lower than the top of the stack
 * for a call on another stack, which is accounted by what it interrupts nevertheless. */
static void push(struct tree *tr, struct raw_event *ev, uint32_t caller)
{
	struct level *l, *outer;
	uint64_t ceiling, gone = UINT64_MAX;
	uint32_t shown;

	if (tr->nr == RAW_MAX_LEVELS) {
		pop(tr, ev->start_ns, false);
		caller = caller > tr->nr ? tr->nr : caller;
	}
	l = &tr->levels[tr->nr];
	outer = tr->nr ? l - 1 : NULL;
	level_init(l, ev);
	ceiling = outer ? outer->bound_ns : UINT64_MAX;
	ev->start_ns = min_u64(max_u64(ev->start_ns, outer ? outer->cursor_ns : tr->cursor_ns), ceiling);
	if (!(ev->state & RAW_ENDED))
		gone = gone_after(tr->b, tr->t->tgid, ev->start_ns);
	l->bound_ns = max_u64(min_u64(ev->state & RAW_ENDED ? ev->end_ns : gone, ceiling), ev->start_ns);
	l->gone = l->bound_ns != UINT64_MAX && (l->bound_ns == gone || (outer && outer->gone && l->bound_ns == ceiling));
	if (ev->flags & EV_CLIPPED)
		l->gone = true;	/* what lost its end in there was clipped as well */
	l->cursor_ns = ev->start_ns;
	l->cost = *cost_of(tr, ev, ev->start_ns);
	l->read_ns = ev->read_ns;
	ev->subtree = 0;
	if (resolve_place(tr, ev, caller ? &tr->levels[caller - 1] : NULL) || note_url(tr, ev))
		tr->rc = -ENOMEM;
	if (tr->rc)
		return;
	l->place = ev->place;
	ev->level = tr->nr++;
	ev->caller = caller;
	shown = caller ? tr->levels[caller - 1].shown : 0;
	if (ev->state & RAW_HIDDEN) {
		l->shown = shown;
		l->run = shown ? tr->levels[shown - 1].run : 0;
		return;
	}
	l->size = 1;
	l->shown = l->run = tr->nr;
	if (level_attach(tr, ev, shown)) {
		l->above = shown;
		l->run = tr->levels[shown - 1].run;
	}
}

/* --- the loose items --- */

/* Hangs an aggregate below its caller or the nearest known one, to be settled when that ends. */
static void add_aggregate(struct tree *tr, uint32_t index)
{
	struct loose *a = &tr->t->loose.items[index];
	uint32_t n = tr->nr;
	struct level *l;
	struct cost cost;

	while (n && tr->levels[n - 1].call_id > a->ev.parent_id)
		n--;
	if (n && tr->levels[n - 1].call_id != a->ev.parent_id)
		while (n && tr->levels[n - 1].depth + 1 >= a->ev.depth)
			n--;
	if (n) {
		l = &tr->levels[n - 1];
		if (l->last)
			tr->t->loose.items[l->last - 1].next = index + 1;
		else
			l->first = index + 1;
		l->last = index + 1;
		return;
	}
	a->ev.end_ns = max_u64(a->ev.end_ns, a->ev.start_ns);
	aggregate_settle(tr, a, UINT64_MAX, &cost);
	if (resolve_place(tr, &a->ev, NULL)) {
		tr->rc = -ENOMEM;
		return;
	}
	level_attach(tr, &a->ev, 0);
	level_add_up(tr, &a->ev);
	level_place(tr, index, 0);
}

static void add_loose(struct tree *tr, uint32_t index)
{
	struct loose *l = &tr->t->loose.items[index];
	uint32_t level;

	l->before = tr->main;
	switch (l->kind) {
	case LOOSE_EVENT:
		push(tr, &l->ev, close_ended(tr, &l->ev));
		break;
	case LOOSE_AGGREGATE:
		add_aggregate(tr, index);
		break;
	default:
		level = close_ended(tr, &l->ev);
		level_place(tr, index, level);
		if (level)
			tr->levels[level - 1].overhead_ns = sat_add(tr->levels[level - 1].overhead_ns, l->ev.read_ns +
								    cost_of(tr, &l->ev, l->ev.start_ns)->outer_ns);
	}
	tr->side++;
}

int tree_make(struct session_builder *b, struct raw_thread *t)
{
	struct tree tr = {
		.b = b, .t = t, .limit_ns = max_u64(b->last_ns, builder_time(b, b->session->tables.info.end_ns)),
		.costs.table = &b->costs,
	};

	tr.levels = malloc(RAW_MAX_LEVELS * sizeof(*tr.levels));
	if (!tr.levels)
		return -ENOMEM;
	b->session->counts.orphan_ends += raw_sort_loose(t);
	while (!tr.rc && (tr.main < t->nr || tr.side < t->loose.nr)) {
		struct raw_event *ev = tr.main < t->nr ? raw_at(t, tr.main) : NULL;

		if (tr.side < t->loose.nr && (!ev || t->loose.items[tr.side].ev.call_id < ev->call_id)) {
			add_loose(&tr, tr.side);
			continue;
		}
		push(&tr, ev, close_ended(&tr, ev));
		tr.main++;
	}
	while (!tr.rc && tr.nr)
		pop(&tr, tr.limit_ns, true);
	free(tr.levels);
	return tr.rc;
}
