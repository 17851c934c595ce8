// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Walks the pointer cage from a call's registers, object by object, to where a known area stands, and notes the ways. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/vec.h"
#include "calibrate/areas.h"

#define MAX_STEPS 6		/* pointers on a way */
#define MAX_OBJECTS 60000u
#define MAX_WAYS 400		/* to one place, */
#define MAX_TRIES 100000	/* and parts of ways that are tried for it */
#define WINDOW 0x1800		/* bytes of an object that are read at most, */
#define UNKNOWN 0x200		/* and if it doesn't tell its size */
#define HANDLE 0x40		/* and of what isn't in the cage, but may hold a pointer into it */
#define NONE UINT32_MAX

/* A pointer to an object: in which other one, or in which register. */
struct edge {
	uint32_t from;	/* object; NONE: `start` is all of the way */
	uint32_t next;	/* the object's next edge; NONE */
	path_t start;
	int off;
};

struct object {
	uint64_t addr;
	uint32_t edges;	/* its first edge */
	uint8_t level;	/* least number of steps to it */
};

struct place {
	uint32_t object;
	uint16_t off, area;
};

struct walk {
	const struct subject *s;
	struct object *o;
	size_t nr, cap;
	struct edge *e;
	size_t nr_edges, cap_edges;
	struct place *places;
	size_t nr_places, cap_places;
	uint32_t *table;	/* object by address; NONE: free */
	size_t size;		/* a power of two */
};

static size_t slot_of(const struct walk *w, uint64_t addr)
{
	size_t slot = (addr * 0x9e3779b97f4a7c15ull) >> 40 & (w->size - 1);

	while (w->table[slot] != NONE && w->o[w->table[slot]].addr != addr)
		slot = (slot + 1) & (w->size - 1);
	return slot;
}

/* Notes a pointer to the object, which is new if this is the first one. */
static int reach(struct walk *w, uint64_t addr, uint8_t level, struct edge edge)
{
	size_t slot = slot_of(w, addr);
	uint32_t o = w->table[slot];

	if (o == NONE && w->nr >= MAX_OBJECTS)
		return 0;
	if (o == NONE) {
		if (vec_grow(&w->o, w->nr, &w->cap, sizeof(*w->o)))
			return -ENOMEM;
		o = w->table[slot] = w->nr++;
		w->o[o] = (struct object){ addr, NONE, level };
	}
	if (vec_grow(&w->e, w->nr_edges, &w->cap_edges, sizeof(*w->e)))
		return -ENOMEM;
	edge.next = w->o[o].edges;
	w->e[w->nr_edges] = edge;
	w->o[o].edges = w->nr_edges++;
	return 0;
}

static bool is_caged(const struct subject *s, uint64_t v)
{
	return (v | (s->cage & ~(s->cage + 1))) == s->cage && memory_mapped(s->memory, v);
}

static int begin(struct walk *w)
{
	const struct subject *s = w->s;
	int rc = 0;

	for (size_t r = 0; r < s->nr_regs && !rc; r++) {
		uint64_t words[HANDLE / 8];

		if (is_caged(s, s->regs[r])) {
			rc = reach(w, s->regs[r], 0, (struct edge){ .from = NONE, .start = r });
			continue;
		}
		if (s->regs[r] % 8 || !memory_mapped(s->memory, s->regs[r]) ||
		    !memory_window(s->memory, s->regs[r], words, sizeof(words)))
			continue;
		for (size_t i = 0; i < HANDLE / 8 && !rc; i++)
			if (words[i] % 8 == 0 && is_caged(s, words[i]))
				rc = reach(w, words[i], 1, (struct edge){ .from = NONE, .start = path_step(r, false, 8 * i) });
	}
	return rc;
}

/* Oilpan's header before an object: four bytes of nothing, two of its class, two of its size in halves of 8 bytes. What a
 * pointer leads into the midst of has none. */
static size_t size_of(const struct walk *w, uint64_t addr)
{
	uint16_t head[4];
	size_t size;

	if (!memory_read(w->s->memory, addr - sizeof(head), head, sizeof(head)) || head[0] || head[1] || !head[2] || head[3] < 4)
		return UNKNOWN;
	size = head[3] / 2 * 8u - sizeof(head);
	return size < WINDOW ? size : WINDOW;
}

static int look_at(struct walk *w, uint32_t object)
{
	uint8_t window[WINDOW];
	const struct object o = w->o[object];
	size_t size = size_of(w, o.addr);
	int rc = 0;

	if (!memory_window(w->s->memory, o.addr, window, size))
		return 0;
	for (size_t off = 0; off + 4 <= size && !rc; off += 4) {
		int area = off + sizeof(struct area) <= size ? known_area(w->s->known, window + off) : -1;
		int32_t half;

		memcpy(&half, window + off, 4);
		if (area >= 0) {
			if (vec_grow(&w->places, w->nr_places, &w->cap_places, sizeof(*w->places)))
				return -ENOMEM;
			w->places[w->nr_places++] = (struct place){ object, off, area };
		}
		if (half && o.level < MAX_STEPS) {
			uint64_t v = memory_decompress(w->s->cage, half);

			if (memory_mapped(w->s->memory, v))
				rc = reach(w, v, o.level + 1, (struct edge){ .from = object, .off = off });
		}
	}
	return rc;
}

/* A way backwards: from the object at its end to the first one, and the offsets of the pointers between. */
struct way {
	uint32_t objects[MAX_STEPS + 1];
	int offs[MAX_STEPS];
	size_t nr, found, tries;
	const struct place *place;
};

static int write_down(struct way *way, path_t path, struct found *ret)
{
	for (size_t i = way->nr; i--;)
		path = path_step(path, true, way->offs[i]);
	way->found++;
	return found_add_text(ret, path_add(path, way->place->off), way->place->area, KIND_INT);
}

static bool has_object(const struct way *way, uint32_t object)
{
	for (size_t i = 0; i <= way->nr; i++)
		if (way->objects[i] == object)
			return true;
	return false;
}

/* The ways of exactly `left` steps to the object. */
static int go_back(const struct walk *w, uint32_t object, size_t left, struct way *way, struct found *ret)
{
	int rc = 0;

	way->objects[way->nr] = object;
	for (uint32_t e = w->o[object].edges; e != NONE && !rc && way->found < MAX_WAYS && way->tries++ < MAX_TRIES; e = w->e[e].next) {
		uint32_t from = w->e[e].from;

		if (from == NONE && path_steps(w->e[e].start) == left)
			rc = write_down(way, w->e[e].start, ret);
		if (from == NONE || !left || w->o[from].level >= left || has_object(way, from))
			continue;
		way->offs[way->nr++] = w->e[e].off;
		rc = go_back(w, from, left - 1, way, ret);
		way->nr--;
	}
	return rc;
}

int areas_search(const struct subject *s, struct found *ret)
{
	struct walk w = { .s = s, .size = 1 << 17 };
	int rc = 0;

	memset(ret, 0, sizeof(*ret));
	if (!s->cage || !s->known->nr_areas)
		return 0;
	w.table = malloc(w.size * sizeof(*w.table));
	if (!w.table)
		return -ENOMEM;
	memset(w.table, 0xff, w.size * sizeof(*w.table));
	rc = begin(&w);
	for (size_t i = 0; i < w.nr && !rc; i++)
		rc = look_at(&w, i);
	for (size_t i = 0; i < w.nr_places && !rc; i++) {
		struct way way = { .place = &w.places[i] };

		for (size_t steps = 0; steps <= MAX_STEPS && !rc; steps++)
			rc = go_back(&w, w.places[i].object, steps, &way, ret);
	}
	free(w.table);
	free(w.o);
	free(w.e);
	free(w.places);
	if (rc)
		found_free(ret);
	return rc;
}
