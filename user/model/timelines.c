// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Orders the places into the session's timelines: the one to look at first, frames as they came up, those of the browser's own
 * pages, what belongs to no frame. */
#include <string.h>
#include "model/builder.h"

/* Pages that a browser has for itself: popups of its address bar, toolbars, tools, extensions. Prefixes of URLs. */
static const char *const own_pages[] = {
	"chrome:", "chrome-", "devtools:", "moz-extension:", "resource:", "safari-web-extension:", "webkit-extension:", "edge:",
	"brave:", "opera:", "vivaldi:",
};

static bool is_own(const char *url)
{
	for (size_t i = 0; i < sizeof(own_pages) / sizeof(own_pages[0]); i++)
		if (!strncmp(url, own_pages[i], strlen(own_pages[i])))
			return true;
	return false;
}

/* Nothing but the browser's own pages was shown in it, as far as URLs tell. */
static bool shows_own(const struct place *p)
{
	size_t nr = 0;

	for (size_t i = 0; i < p->urls.nr; i++)
		nr += is_own(p->urls.items[i].url);
	return nr && nr == p->urls.nr;
}

/* A page that somebody made was shown in it: what is about: is the browser's own, or nothing. */
static bool shows_page(const struct place *p)
{
	for (size_t i = 0; i < p->urls.nr; i++)
		if (!is_own(p->urls.items[i].url) && strncmp(p->urls.items[i].url, "about:", 6))
			return true;
	return false;
}

/*
 * Finds the frames of the browser's own pages. Toolbars and popups are loaded once, long before most recordings begin: no
 * URL of theirs is known. What the engine's definition says of their process tells then; and a process that shows no URL at
 * all is taken for one of those if another shows a page.
 */
static int find_own(struct session_builder *b)
{
	const struct tables *t = &b->session->tables;
	struct map known = { 0 };	/* processes with a URL */
	bool pages = false;
	int rc = 0;

	for (size_t i = 0; i < b->frames.places.nr && !rc; i++) {
		const struct place *p = &b->frames.places.items[i];

		pages |= shows_page(p);
		if (p->urls.nr)
			rc = map_set(&known, p->tgid, i);
	}
	for (size_t i = 0; i < b->frames.places.nr && !rc; i++) {
		struct place *p = &b->frames.places.items[i];
		uint32_t process = map_get(&t->process_map, p->tgid);

		p->own = shows_own(p) || (pages && map_get(&known, p->tgid) == MAP_NONE) ||
			(!shows_page(p) && process != MAP_NONE && t->processes.items[process].own_pages);
	}
	map_free(&known);
	return rc;
}

/* How well a place fits as the first timeline: a client may show that one only. A frame that came and went before the one
 * that counts has no document. Where no parents are known, paints tell: Blink paints a page as a whole in its main frame. */
static uint16_t rank_of(const struct session_builder *b, const struct place *p)
{
	uint16_t points = p->urls.nr != 0;

	if (p->tgid == b->session->tables.info.target_pid)
		points += 1 << 1;
	if (p->frame)
		points += 1 << 2;
	if (p->events)
		points += 1 << 3;
	if (p->frame && p->paints)
		points += 1 << 4;
	if (p->frame && p->events && !p->parent_frame)
		points += 1 << 5;
	if (p->frame && p->top)
		points += 1 << 6;
	if (p->frame && p->events && !p->own)
		points += 1 << RANK_KIND;
	if (p->events && shows_page(p) && !p->parent_frame)
		points += 1 << (RANK_KIND + 1);
	return points;
}

bool place_better(const struct place *p, const struct place *q)
{
	if (p->rank != q->rank)
		return p->rank > q->rank;
	return p->self_ns != q->self_ns ? p->self_ns > q->self_ns : p->events > q->events;
}

static bool shown(const struct place *p)
{
	return p->frame || p->events;
}

static size_t find_first(const struct session_builder *b)
{
	size_t best = SIZE_MAX;

	for (size_t i = 0; i < b->frames.places.nr; i++) {
		const struct place *p = &b->frames.places.items[i];

		if (shown(p) && (best == SIZE_MAX || place_better(p, &b->frames.places.items[best])))
			best = i;
	}
	return best;
}

/* Of the last document. What belongs to no frame has none if it is about several. */
static const char *url_of(const struct place *p)
{
	const char *last = p->urls.nr ? p->urls.items[p->urls.nr - 1].url : NULL;

	for (size_t i = 0; i < p->urls.nr && !p->frame; i++)
		if (p->urls.items[i].url != last)	/* interned */
			return NULL;
	return last;
}

static int add(struct session_builder *b, size_t index, size_t first)
{
	struct session *s = b->session;
	struct place *p = &b->frames.places.items[index];
	struct timeline t = {
		.id = s->timelines.nr + 1,
		.frame = p->frame,
		.main = p->frame ? p->main : index == first,
		.created_ns = p->created_ns,
		.removed_ns = p->removed_ns,
		.nr_events = p->events,
		.url = url_of(p),
		.rank = p->rank,
		.self_ns = p->self_ns,
	};

	p->timeline = s->timelines.nr;
	if (tables_process(&s->tables, s->pool, p->tgid, &t.process))
		return -ENOMEM;
	return VEC_PUSH(&s->timelines, t);
}

/* Frame numbers for clients follow the order of creation, whatever comes first in the list. */
static void number_frames(struct session_builder *b)
{
	struct session *s = b->session;
	uint32_t next = 0;

	for (size_t i = 0; i < b->frames.places.nr; i++)
		if (b->frames.places.items[i].frame)
			s->timelines.items[b->frames.places.items[i].timeline].frame_id = ++next;
	for (size_t i = 0; i < b->frames.places.nr; i++) {
		const struct place *p = &b->frames.places.items[i];

		if (p->frame && p->parent != PLACE_NONE && p->parent != i)
			s->timelines.items[p->timeline].parent_frame_id =
				s->timelines.items[b->frames.places.items[p->parent].timeline].frame_id;
		if (p->frame && p->page != PLACE_NONE)
			s->timelines.items[p->timeline].page_frame_id =
				s->timelines.items[b->frames.places.items[p->page].timeline].frame_id;
	}
}

/* A session without any event still has the timeline that its client asks for. */
static int add_empty(struct session_builder *b)
{
	struct tables *t = &b->session->tables;
	struct timeline empty = { .id = 1, .main = true, .removed_ns = UINT64_MAX };

	if (tables_process(t, b->session->pool, t->info.target_pid, &empty.process))
		return -ENOMEM;
	return VEC_PUSH(&b->session->timelines, empty);
}

/* Which of the three groups behind the first timeline a place belongs to. */
static unsigned int group_of(const struct place *p)
{
	return !p->frame ? 2 : p->own;
}

static int add_all(struct session_builder *b, size_t first)
{
	const struct place *places = b->frames.places.items;

	if (add(b, first, first))
		return -ENOMEM;
	for (unsigned int group = 0; group <= 2; group++)
		for (size_t i = 0; i < b->frames.places.nr; i++)
			if (i != first && shown(&places[i]) && group_of(&places[i]) == group && add(b, i, first))
				return -ENOMEM;
	return 0;
}

int timelines_make(struct session_builder *b)
{
	struct session *s = b->session;
	uint32_t next = 1;
	size_t first;
	int rc = find_own(b);

	if (rc)
		return rc;
	for (size_t i = 0; i < b->frames.places.nr; i++)
		b->frames.places.items[i].rank = rank_of(b, &b->frames.places.items[i]);
	first = find_first(b);
	if (first == SIZE_MAX) {
		rc = add_empty(b);
	} else {
		rc = mains_find(b);
		if (!rc)
			rc = add_all(b, first);
	}
	if (rc)
		return rc;
	number_frames(b);
	for (size_t i = 0; i < s->timelines.nr; i++) {
		s->timelines.items[i].first_id = next;
		next += s->timelines.items[i].nr_events;
	}
	return 0;
}
