// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Merges the timelines of a session into one sequence, and keeps the call stack of each thread on the way. */
#include <errno.h>
#include <stdlib.h>
#include "export/heap.h"
#include "export/walk.h"

/* The open events of a thread, outermost first. */
struct stack {
	struct export_event *open;
	uint32_t nr, cap;
	uint64_t floor_ns;	/* what ended last: nothing may start before it any more */
};

/*
 * Where a stream of events stands: the top-level events of one thread in one timeline, or the inside of one of them.
 * The inside is a stream of its own since another timeline's events may fall into it.
 */
struct cursor {
	const uint32_t *roots;	/* NULL: all ids from next on */
	uint32_t next, end;
	uint32_t timeline;
	uint64_t key_ns;	/* its place in the order: never before what came from here already */
	struct event_view view;	/* the event at its head */
};

struct walk {
	const struct session *s;
	const struct walk_ops *ops;
	void *arg;
	const struct timeline *timelines;
	size_t nr_timelines, nr_threads;
	struct stack *stacks;	/* per thread */
	struct cursor *cursors;
	size_t nr_cursors, cap_cursors;
	uint32_t *unused;	/* cursors to be used again */
	size_t nr_unused;
	struct heap heads;	/* of the cursors, by their events' order */
	struct heap ends;	/* of open events; value: thread, second: ~depth on it, third: id */
	struct walk_counts counts;
	uint32_t *roots;	/* ids of top-level events by thread, then timeline */
	size_t *first_root;	/* per thread, and one past the last */
};

static int leave(struct walk *w, struct stack *st)
{
	const struct export_event *e = &st->open[--st->nr];

	if (st->floor_ns < e->end_ns)
		st->floor_ns = e->end_ns;
	return w->ops->leave ? w->ops->leave(w->arg, e) : 0;
}

/* Closes what ended before `ns`, on all threads, in the order of the ends. */
static int leave_until(struct walk *w, uint64_t ns)
{
	while (w->ends.nr && w->ends.items[0].key < ns) {
		struct stack *st = &w->stacks[w->ends.items[0].value];
		uint64_t id = w->ends.items[0].third;
		int rc;

		heap_pop(&w->ends);
		/* it may have been closed already, by an event of its own thread */
		if (!st->nr || st->open[st->nr - 1].view.id != id)
			continue;
		rc = leave(w, st);
		if (rc)
			return rc;
	}
	return 0;
}

/* Ids of the events below the open event `id`: from id + 1 to the value returned, which is left out. 0: it isn't open. */
static uint32_t end_of_ids(const struct stack *st, uint32_t id)
{
	for (uint32_t i = st->nr; id && i; i--)
		if (st->open[i - 1].view.id == id)
			return id + st->open[i - 1].view.subtree;
	return 0;
}

/*
 * Closes what the event does not lie in. Where its parent is open, the tree knows of all that is below that; the rest is
 * left by time alone, since with equal times either of two may be the caller.
 */
static int leave_strangers(struct walk *w, struct stack *st, const struct event_view *v)
{
	uint32_t end = end_of_ids(st, v->parent);

	while (st->nr) {
		const struct export_event *top = &st->open[st->nr - 1];
		bool relative = top->view.id > v->parent && top->view.id < end;
		int rc;

		if (top->view.id == v->parent || (!relative && top->end_ns > v->start_ns))
			break;
		rc = leave(w, st);
		if (rc)
			return rc;
	}
	return 0;
}

/*
 * The open events that it lies in come first on the stack. A sum of calls leaves those open that began since: its place
 * is right above its parent all the same.
 */
static void place(struct walk *w, struct stack *st, struct export_event *e)
{
	uint32_t around = st->nr;
	uint64_t limit;

	while (e->overlapping && around && st->open[around - 1].view.id != e->view.parent)
		around--;
	limit = around ? st->open[around - 1].end_ns : UINT64_MAX;
	e->start_ns = e->view.start_ns;
	e->end_ns = e->view.end_ns < e->start_ns ? e->start_ns : e->view.end_ns;
	if (!e->overlapping && e->start_ns < st->floor_ns)
		e->start_ns = st->floor_ns;
	if (around && e->start_ns < st->open[around - 1].start_ns)
		e->start_ns = st->open[around - 1].start_ns;
	if (e->start_ns > limit)
		e->start_ns = limit;
	if (e->end_ns > limit)
		e->end_ns = limit;
	if (e->end_ns < e->start_ns)
		e->end_ns = e->start_ns;
	if (e->start_ns != e->view.start_ns || e->end_ns != e->view.end_ns)
		w->counts.clamped++;
	e->thread_depth = around;
	e->depth = 0;
	for (uint32_t i = around; e->view.parent && i; i--)
		if (st->open[i - 1].view.id == e->view.parent) {
			e->depth = st->open[i - 1].depth + 1;
			break;
		}
}

static int push(struct walk *w, struct stack *st, const struct export_event *e)
{
	if (st->nr == st->cap) {
		uint32_t cap = st->cap ? 2 * st->cap : 16;
		struct export_event *open = reallocarray(st->open, cap, sizeof(*open));

		if (!open)
			return -ENOMEM;
		st->open = open;
		st->cap = cap;
	}
	st->open[st->nr++] = *e;
	if (!w->ops->leave)
		return 0;
	/* of equal ends the inner event comes first */
	return heap_push(&w->ends, &(struct heap_item){ .key = e->end_ns, .second = ~(uint64_t)e->thread_depth,
							.third = e->view.id, .value = e->view.thread });
}

static int enter(struct walk *w, const struct cursor *c)
{
	struct export_event e = {
		.view = c->view,
		.timeline = &w->timelines[c->timeline],
		.overlapping = c->view.flags & EV_AGGREGATE,
	};
	struct stack *st;
	int rc;

	if (e.view.thread >= w->nr_threads)
		return 0;
	st = &w->stacks[e.view.thread];
	if (w->ops->leave && !e.overlapping) {
		rc = leave_until(w, e.view.start_ns);
		if (rc)
			return rc;
	}
	rc = e.overlapping ? 0 : leave_strangers(w, st, &e.view);
	if (rc)
		return rc;
	if (st->nr >= EXPORT_MAX_DEPTH) {
		w->counts.too_deep++;
		return 0;
	}
	place(w, st, &e);
	w->counts.events++;
	rc = w->ops->enter(w->arg, &e);
	if (rc || e.overlapping)
		return rc;
	return push(w, st, &e);
}

static uint32_t cursor_id(const struct cursor *c)
{
	return c->roots ? c->roots[c->next] : c->next;
}

/* A sum of calls, which stands anywhere between its siblings, comes as soon as it is met: it must not hold these up. */
static bool cursor_load(struct walk *w, struct cursor *c)
{
	while (c->next < c->end && !session_event(w->s, cursor_id(c), &c->view))
		c->next++;
	if (c->next == c->end)
		return false;
	if (!(c->view.flags & EV_AGGREGATE) && c->key_ns < c->view.start_ns)
		c->key_ns = c->view.start_ns;
	return true;
}

static struct heap_item cursor_item(const struct walk *w, uint32_t index)
{
	const struct cursor *c = &w->cursors[index];

	return (struct heap_item){ .key = c->key_ns, .second = ~c->view.end_ns, .third = c->view.id, .value = index };
}

/* Adds a stream unless it is empty. */
static int cursor_add(struct walk *w, struct cursor c)
{
	uint32_t index;
	struct heap_item item;

	if (!cursor_load(w, &c))
		return 0;
	if (w->nr_unused) {
		index = w->unused[--w->nr_unused];
	} else {
		if (w->nr_cursors == w->cap_cursors) {
			size_t cap = w->cap_cursors ? 2 * w->cap_cursors : 32;
			struct cursor *cursors = reallocarray(w->cursors, cap, sizeof(*cursors));
			uint32_t *unused;

			if (!cursors)
				return -ENOMEM;
			w->cursors = cursors;
			unused = reallocarray(w->unused, cap, sizeof(*unused));
			if (!unused)
				return -ENOMEM;
			w->unused = unused;
			w->cap_cursors = cap;
		}
		index = w->nr_cursors++;
	}
	w->cursors[index] = c;
	item = cursor_item(w, index);
	return heap_push(&w->heads, &item);
}

static int step(struct walk *w)
{
	uint32_t index = w->heads.items[0].value;
	struct cursor *c = &w->cursors[index];
	struct cursor inside = { .next = c->view.id + 1, .end = c->view.id + c->view.subtree, .timeline = c->timeline,
				  .key_ns = c->key_ns };
	bool is_root = c->roots;
	struct heap_item item;
	int rc = enter(w, c);

	if (rc)
		return rc;
	c->next++;
	if (cursor_load(w, c)) {
		item = cursor_item(w, index);
		heap_replace(&w->heads, &item);
	} else {
		heap_pop(&w->heads);
		w->unused[w->nr_unused++] = index;
	}
	return is_root && inside.next < inside.end ? cursor_add(w, inside) : 0;
}

/* Calls fn for each top-level event. */
static void for_each_root(struct walk *w, void (*fn)(struct walk *w, uint32_t id, uint32_t thread))
{
	struct event_view v;

	for (size_t i = 0; i < w->nr_timelines; i++) {
		const struct timeline *t = &w->timelines[i];
		uint32_t id = t->first_id, end = t->first_id + t->nr_events;

		while (id < end && session_event(w->s, id, &v)) {
			if (v.thread < w->nr_threads)
				fn(w, id, v.thread);
			id += v.subtree ? v.subtree : 1;
		}
	}
}

static void count_root(struct walk *w, uint32_t id, uint32_t thread)
{
	(void)id;
	w->first_root[thread + 1]++;
}

static void file_root(struct walk *w, uint32_t id, uint32_t thread)
{
	w->roots[w->first_root[thread]++] = id;
}

/* Sorts the top-level events by thread; within one, they stay in the order of the timelines. */
static int index_roots(struct walk *w)
{
	w->first_root = calloc(w->nr_threads + 2, sizeof(*w->first_root));
	if (!w->first_root)
		return -ENOMEM;
	for_each_root(w, count_root);
	for (size_t i = 1; i <= w->nr_threads; i++)
		w->first_root[i] += w->first_root[i - 1];
	w->roots = malloc((w->first_root[w->nr_threads] + 1) * sizeof(*w->roots));
	if (!w->roots)
		return -ENOMEM;
	for_each_root(w, file_root);
	/* filing has moved each start to the next one's */
	for (size_t i = w->nr_threads; i; i--)
		w->first_root[i] = w->first_root[i - 1];
	w->first_root[0] = 0;
	return 0;
}

/* One stream for each timeline that the thread has top-level events in. */
static int add_thread(struct walk *w, size_t thread)
{
	size_t next = w->first_root[thread], end = w->first_root[thread + 1];

	for (size_t t = 0; t < w->nr_timelines && next < end; t++) {
		const struct timeline *tl = &w->timelines[t];
		size_t from = next;
		int rc;

		while (next < end && w->roots[next] - tl->first_id < tl->nr_events)
			next++;
		rc = cursor_add(w, (struct cursor){ .roots = w->roots, .next = from, .end = next, .timeline = t });
		if (rc)
			return rc;
	}
	return 0;
}

static int drain(struct walk *w)
{
	int rc = 0;

	while (!rc && w->heads.nr)
		rc = step(w);
	if (!rc && w->ops->leave)
		rc = leave_until(w, UINT64_MAX);
	for (size_t i = 0; !rc && i < w->nr_threads; i++)
		while (!rc && w->stacks[i].nr)
			rc = leave(w, &w->stacks[i]);
	return rc;
}

static int run(struct walk *w, bool by_thread)
{
	int rc = index_roots(w);

	for (size_t i = 0; !rc && i < w->nr_threads; i++) {
		rc = add_thread(w, i);
		if (!rc && by_thread)
			rc = drain(w);
	}
	return rc ? rc : drain(w);
}

int walk_session(const struct session *s, bool by_thread, const struct walk_ops *ops, void *arg,
		 struct walk_counts *ret)
{
	struct walk w = { .s = s, .ops = ops, .arg = arg };
	int rc = -ENOMEM;

	w.timelines = session_timelines(s, &w.nr_timelines);
	session_threads(s, &w.nr_threads);
	w.stacks = calloc(w.nr_threads + 1, sizeof(*w.stacks));
	if (w.stacks)
		rc = run(&w, by_thread);
	for (size_t i = 0; w.stacks && i < w.nr_threads; i++)
		free(w.stacks[i].open);
	free(w.stacks);
	free(w.cursors);
	free(w.unused);
	free(w.roots);
	free(w.first_root);
	heap_free(&w.heads);
	heap_free(&w.ends);
	*ret = w.counts;
	return rc;
}
