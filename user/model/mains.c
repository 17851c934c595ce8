// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Which frames are main ones. Where parents are known, those without; elsewhere the best of each process, and what was
 * in its place before and after: Chromium makes a new frame for each navigation.
 */
#include <stdlib.h>
#include "model/builder.h"

/* Where nothing is known of any frame without a parent, each may be main that isn't known to have one. */
static bool may_be_main(const struct place *p, const struct map *tops)
{
	return p->frame && (p->top || (!p->parent_frame && map_get(tops, p->tgid) == MAP_NONE));
}

/* Per process: its best frame. */
static int find_best(struct session_builder *b, const struct map *tops, struct map *best)
{
	for (size_t i = 0; i < b->frames.places.nr; i++) {
		struct place *p = &b->frames.places.items[i];
		uint32_t known = map_get(best, p->tgid);

		p->main = p->top;
		p->page = p->top ? i : PLACE_NONE;
		if (may_be_main(p, tops) && (known == MAP_NONE || place_better(p, &b->frames.places.items[known])) &&
		    map_set(best, p->tgid, i))
			return -ENOMEM;
	}
	return 0;
}

/* --- frames of one process that took each other's place --- */

/*
 * One comes after another if it paints only when that one doesn't any more. Other events don't tell: the old document runs
 * on until the new one is there, whose frame is prepared meanwhile. Nor do URLs: one may go anywhere. Blink paints all of
 * a page in its main frame, so that a frame inside doesn't paint, or while that one does.
 */
struct followers {
	struct place **places;	/* sorted by process, then the best first */
	uint64_t *from;		/* of one process: sorted */
	uint64_t *until;	/* of those that are main so far, the latest of groups as in a Fenwick tree */
	size_t nr;
};

static int by_rank(const void *a, const void *b)
{
	const struct place *p = *(struct place *const *)a, *q = *(struct place *const *)b;

	if (p->tgid != q->tgid)
		return p->tgid < q->tgid ? -1 : 1;
	if (place_better(p, q))
		return -1;
	if (place_better(q, p))
		return 1;
	return p < q ? -1 : p > q;
}

static int by_time(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* How many begin to paint before that time. */
static size_t nr_before(const struct followers *f, uint64_t ns)
{
	size_t low = 0, high = f->nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (f->from[middle] < ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Whether one of the main frames so far paints in between. */
static bool is_taken(const struct followers *f, const struct place *p)
{
	uint64_t latest = 0;

	for (size_t i = nr_before(f, p->paints_until_ns); i; i &= i - 1)
		latest = max_u64(latest, f->until[i - 1]);
	return latest > p->paints_from_ns;
}

static void take(struct followers *f, const struct place *p)
{
	for (size_t i = nr_before(f, p->paints_from_ns) + 1; i <= f->nr; i += i & -i)
		f->until[i - 1] = max_u64(f->until[i - 1], p->paints_until_ns);
}

static void mark_process(struct followers *f, struct place **places, uint32_t page)
{
	for (size_t i = 0; i < f->nr; i++) {
		f->from[i] = places[i]->paints_from_ns;
		f->until[i] = 0;
	}
	qsort(f->from, f->nr, sizeof(*f->from), by_time);
	for (size_t i = 0; i < f->nr; i++) {
		if (is_taken(f, places[i]))
			continue;
		take(f, places[i]);
		places[i]->main = true;
		places[i]->page = page;
	}
}

/* Those that paint and show pages of the same kind as the best one of their process. */
static size_t collect(struct session_builder *b, const struct map *tops, const struct map *best, struct place **ret)
{
	size_t nr = 0;

	for (size_t i = 0; i < b->frames.places.nr; i++) {
		struct place *p = &b->frames.places.items[i];
		uint32_t k = map_get(best, p->tgid);

		if (p->paints && may_be_main(p, tops) && !((p->rank ^ b->frames.places.items[k].rank) >> RANK_KIND))
			ret[nr++] = p;
	}
	return nr;
}

static int find_followers(struct session_builder *b, const struct map *tops, const struct map *best)
{
	size_t nr = b->frames.places.nr;
	struct followers f = { .places = calloc(nr, sizeof(*f.places)), .from = calloc(nr, sizeof(*f.from)),
			       .until = calloc(nr, sizeof(*f.until)) };
	int rc = f.places && f.from && f.until ? 0 : -ENOMEM;

	nr = rc ? 0 : collect(b, tops, best, f.places);
	if (nr)
		qsort(f.places, nr, sizeof(*f.places), by_rank);
	for (size_t i = 0; i < nr; i += f.nr) {
		for (f.nr = 1; i + f.nr < nr && f.places[i + f.nr]->tgid == f.places[i]->tgid; )
			f.nr++;
		mark_process(&f, f.places + i, map_get(best, f.places[i]->tgid));
	}
	free(f.places);
	free(f.from);
	free(f.until);
	return rc;
}

int mains_find(struct session_builder *b)
{
	struct map tops = { 0 }, best = { 0 };
	int rc = 0;

	for (size_t i = 0; i < b->frames.places.nr && !rc; i++)
		if (b->frames.places.items[i].top)
			rc = map_set(&tops, b->frames.places.items[i].tgid, i);
	if (!rc)
		rc = find_best(b, &tops, &best);
	for (size_t i = 0; i < b->frames.places.nr && !rc; i++) {
		struct place *p = &b->frames.places.items[i];

		if (map_get(&best, p->tgid) == i) {
			p->main = true;
			p->page = i;
		}
	}
	if (!rc)
		rc = find_followers(b, &tops, &best);
	map_free(&tops);
	map_free(&best);
	return rc;
}
