// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Lets the functions that were found vote on which global holds the pointer cage's base. */
#include <stdlib.h>
#include "target/cage.h"

#define MAX_GLOBALS 64
#define MIN_VOTES 12	/* places in the code */

struct cage_votes {
	struct { uint64_t global; unsigned int votes; } v[MAX_GLOBALS];
	size_t nr;
	unsigned int total;
};

struct cage_votes *cage_votes_new(void)
{
	return calloc(1, sizeof(struct cage_votes));
}

void cage_votes_free(struct cage_votes *v)
{
	free(v);
}

static void vote(void *ctx, uint64_t global)
{
	struct cage_votes *v = ctx;
	size_t i;

	v->total++;
	for (i = 0; i < v->nr && v->v[i].global != global; i++)
		;
	if (i == MAX_GLOBALS)
		return;
	if (i == v->nr)
		v->v[v->nr++].global = global;
	v->v[i].votes++;
}

void cage_votes_add(struct cage_votes *v, const struct code_map *map, const struct function *f)
{
	size_t avail;
	const uint8_t *p = image_at(map->image, f->start, 1, &avail);

	if (!p || f->end <= f->start)
		return;
	if (avail > f->end - f->start)
		avail = f->end - f->start;
	map->image->arch->masked_loads(p, avail, f->start, vote, v);
}

static bool is_writable(const struct image *img, uint64_t vaddr)
{
	for (size_t i = 0; i < img->nr_segments; i++) {
		const struct image_segment *s = &img->segments[i];

		if (vaddr >= s->vaddr && vaddr - s->vaddr < s->mem_size)
			return s->write;
	}
	return false;
}

uint64_t cage_votes_winner(const struct cage_votes *v, const struct image *img)
{
	size_t best = 0;

	for (size_t i = 1; i < v->nr; i++)
		if (v->v[i].votes > v->v[best].votes)
			best = i;
	if (!v->nr || v->v[best].votes < MIN_VOTES || v->v[best].votes < v->total - v->total / 5)
		return 0;
	return is_writable(img, v->v[best].global) ? v->v[best].global : 0;
}
