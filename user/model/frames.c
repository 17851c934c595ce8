// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Follows frames and documents through a recording. */
#include <string.h>
#include "model/frames.h"
#include "model/pool.h"
#include "recording.h"

/* Two identities of 64 bits and a process that collide would share a timeline: not to be expected. */
static uint64_t identity_key(uint32_t tgid, uint64_t identity)
{
	return hash_u64(identity ^ hash_u64(tgid));
}

void frames_free(struct frames *f)
{
	for (size_t i = 0; i < f->places.nr; i++)
		free(f->places.items[i].urls.items);
	free(f->places.items);
	free(f->documents.items);
	map_free(&f->frame_map);
	map_free(&f->document_map);
	map_free(&f->process_map);
}

static int place_add(struct frames *f, uint32_t tgid, uint64_t frame, struct map *map, uint64_t key)
{
	struct place p = {
		.frame = frame, .tgid = tgid, .parent = PLACE_NONE, .removed_ns = UINT64_MAX,
		.paints_from_ns = UINT64_MAX, .page = PLACE_NONE,
	};

	if (f->places.nr >= PLACE_DOCUMENT - 1)
		return -ENOMEM;
	if (map_set(map, key, f->places.nr))
		return -ENOMEM;
	return VEC_PUSH(&f->places, p);
}

int frames_process(struct frames *f, uint32_t tgid, uint32_t *ret_place)
{
	uint64_t key = tgid;

	*ret_place = map_get(&f->process_map, key);
	if (*ret_place != PLACE_NONE)
		return 0;
	*ret_place = f->places.nr;
	return place_add(f, tgid, 0, &f->process_map, key);
}

/* The frame's place; a new one for an identity that was never seen or that is used again. */
static int frame_place(struct frames *f, uint32_t tgid, uint64_t ts_ns, int role, const struct args *args, uint32_t *ret)
{
	uint64_t key = identity_key(tgid, args->frame);
	struct place *p;
	bool fresh;

	*ret = map_get(&f->frame_map, key);
	fresh = *ret == PLACE_NONE ||
		(role == ROLE_FRAME_CREATED && (f->places.items[*ret].created ||
						f->places.items[*ret].removed_ns != UINT64_MAX)) ||
		/* without news of creations, an identity that comes back after its frame was removed is a new frame */
		(!f->creations && ts_ns > f->places.items[*ret].removed_ns);
	if (fresh) {
		*ret = f->places.nr;
		if (place_add(f, tgid, args->frame, &f->frame_map, key))
			return -ENOMEM;
	}
	p = &f->places.items[*ret];
	if (role == ROLE_FRAME_CREATED) {
		p->created = true;
		p->created_ns = ts_ns;
		p->top = !args->parent_frame;
	}
	if (args->present & 1u << FIELD_PARENT_FRAME)
		p->top = !args->parent_frame;
	if (args->parent_frame)
		p->parent_frame = args->parent_frame;
	if (role == ROLE_FRAME_REMOVED)
		p->removed_ns = ts_ns;
	return 0;
}

static int document_note(struct frames *f, uint32_t tgid, int role, const struct args *args, const char *url,
			 uint32_t place, uint32_t *ret)
{
	uint64_t key = identity_key(tgid, args->document);
	struct document fresh = { .identity = args->document, .tgid = tgid, .place = PLACE_NONE };
	struct document *doc;

	*ret = map_get(&f->document_map, key);
	if (*ret == PLACE_NONE || role == ROLE_DOCUMENT_CREATED) {
		*ret = f->documents.nr;
		if (f->documents.nr >= PLACE_DOCUMENT - 1 || map_set(&f->document_map, key, *ret) ||
		    VEC_PUSH(&f->documents, fresh))
			return -ENOMEM;
	}
	doc = &f->documents.items[*ret];
	if (place != PLACE_NONE)
		doc->place = place;
	if (url && role == ROLE_DOCUMENT_CREATED)
		doc->url = url;
	if (role == ROLE_DOCUMENT_REMOVED)
		return map_set(&f->document_map, key, PLACE_NONE);
	return 0;
}

int frames_note(struct frames *f, uint32_t tgid, uint64_t ts_ns, int role, const struct args *args,
		const char *url, uint32_t *ret_place)
{
	uint32_t doc;

	*ret_place = PLACE_NONE;
	if (args->frame && frame_place(f, tgid, ts_ns, role, args, ret_place))
		return -ENOMEM;
	if (args->document) {
		if (document_note(f, tgid, role, args, url, *ret_place, &doc))
			return -ENOMEM;
		if (*ret_place == PLACE_NONE)
			*ret_place = f->documents.items[doc].place;
		if (*ret_place == PLACE_NONE)
			*ret_place = PLACE_DOCUMENT | doc;
	}
	if (role == ROLE_DOCUMENT_CREATED && url && *ret_place < PLACE_DOCUMENT)
		return frames_url(f, *ret_place, ts_ns, url);
	return 0;
}

int frames_url(struct frames *f, uint32_t place, uint64_t ts_ns, const char *url)
{
	struct place *p = &f->places.items[place];
	struct frame_url entry = { .ts_ns = ts_ns, .url = url };

	/* interned: the same text is the same pointer */
	if (p->urls.nr && p->urls.items[p->urls.nr - 1].url == url)
		return 0;
	return VEC_PUSH(&p->urls, entry);
}

static int by_time(const void *a, const void *b)
{
	const struct frame_url *x = a, *y = b;

	return x->ts_ns < y->ts_ns ? -1 : x->ts_ns > y->ts_ns;
}

void frames_sort(struct frames *f)
{
	for (size_t i = 0; i < f->places.nr; i++) {
		struct place *p = &f->places.items[i];

		if (p->urls.nr)
			qsort(p->urls.items, p->urls.nr, sizeof(*p->urls.items), by_time);
		if (p->parent_frame)
			p->parent = map_get(&f->frame_map, identity_key(p->tgid, p->parent_frame));
	}
}

const char *frames_url_at(const struct frames *f, uint32_t place, uint64_t ts_ns)
{
	const struct place *p = &f->places.items[place];
	size_t low = 0, high = p->urls.nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (p->urls.items[middle].ts_ns <= ts_ns)
			low = middle + 1;
		else
			high = middle;
	}
	if (!p->urls.nr)
		return NULL;
	return p->urls.items[low ? low - 1 : 0].url;
}
