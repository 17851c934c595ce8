// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The calls of one thread as recorded. */
#include "model/raw.h"
#include "model/session.h"

_Static_assert(sizeof(struct raw_event) == CACHE_LINE, "the builder's memory per event");

struct raw_event *raw_append(struct raw_thread *t)
{
	struct raw_event *chunk;

	if (t->nr == UINT32_MAX)
		return NULL;
	if (t->nr == t->nr_chunks * RAW_CHUNK) {
		if (vec_grow(&t->chunks, t->nr_chunks, &t->cap_chunks, sizeof(*t->chunks)))
			return NULL;
		/* most threads have few events: a huge page each would be too much */
		chunk = t->nr_chunks ? big_alloc(BIG_PAGE) : aligned_alloc(CACHE_LINE, BIG_PAGE);
		if (!chunk)
			return NULL;
		t->chunks[t->nr_chunks++] = chunk;
	}
	return raw_at(t, t->nr++);
}

struct raw_event *raw_find(const struct raw_thread *t, uint64_t call_id)
{
	uint32_t low = 0, high = t->nr;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		struct raw_event *ev = raw_at(t, middle);

		if (ev->call_id == call_id)
			return ev;
		if (ev->call_id < call_id)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

static int by_call(const void *a, const void *b)
{
	const struct loose *x = a, *y = b;

	if (x->ev.call_id != y->ev.call_id)
		return x->ev.call_id < y->ev.call_id ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->ev.start_ns != y->ev.start_ns)
		return x->ev.start_ns < y->ev.start_ns ? -1 : 1;
	/* a begin before its end */
	return (int)(x->ev.state & (RAW_BEGUN | RAW_ENDED)) - (int)(y->ev.state & (RAW_BEGUN | RAW_ENDED));
}

/* Two loose halves of one call become one event. */
static void join(struct raw_event *to, const struct raw_event *from)
{
	if (to->state & RAW_ENDED || !(from->state & RAW_ENDED))
		return;
	to->end_ns = from->end_ns;
	to->off_cpu_ns = from->off_cpu_ns;
	to->flags |= from->flags & ~EV_NO_BEGIN;
	to->state |= RAW_ENDED;
	if (!to->extra) {
		to->extra = from->extra;
		to->state |= from->state & (RAW_METRICS | RAW_COUNTED | RAW_OVERHEAD);
	}
}

size_t raw_sort_loose(struct raw_thread *t)
{
	struct loose *l = t->loose.items;
	size_t kept = 0, nr = t->loose.nr;
	bool sorted = true;

	for (size_t i = 1; i < nr && sorted; i++)
		sorted = by_call(&l[i - 1], &l[i]) < 0;
	if (sorted)
		return 0;
	qsort(l, nr, sizeof(*l), by_call);
	for (size_t i = 0; i < nr; i++) {
		if (kept && l[i].kind != LOOSE_MARK && l[kept - 1].kind == l[i].kind &&
		    l[kept - 1].ev.call_id == l[i].ev.call_id) {
			join(&l[kept - 1].ev, &l[i].ev);
			continue;
		}
		if (kept != i)
			l[kept] = l[i];
		kept++;
	}
	t->loose.nr = kept;
	return nr - kept;
}

void raw_forget(struct raw_thread *t, uint32_t before)
{
	uint32_t chunk = before / RAW_CHUNK;

	if (chunk > 1 && before % RAW_CHUNK == 0) {
		big_free(t->chunks[chunk - 1], BIG_PAGE);
		t->chunks[chunk - 1] = NULL;
	}
}

void raw_thread_free(struct raw_thread *t)
{
	if (!t)
		return;
	if (t->nr_chunks)
		free(t->chunks[0]);
	for (size_t i = 1; i < t->nr_chunks; i++)
		big_free(t->chunks[i], BIG_PAGE);
	free(t->chunks);
	free(t->open.items);
	free(t->loose.items);
	free(t->placed.items);
	free(t->roots.items);
	free(t);
}
