// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A binary heap for merging. */
#include <errno.h>
#include <stdlib.h>
#include "export/heap.h"

static bool before(const struct heap_item *a, const struct heap_item *b)
{
	if (a->key != b->key)
		return a->key < b->key;
	if (a->second != b->second)
		return a->second < b->second;
	return a->third < b->third;
}

static void sift_down(struct heap *h, const struct heap_item *item)
{
	size_t i = 0, child;

	while ((child = 2 * i + 1) < h->nr) {
		if (child + 1 < h->nr && before(&h->items[child + 1], &h->items[child]))
			child++;
		if (!before(&h->items[child], item))
			break;
		h->items[i] = h->items[child];
		i = child;
	}
	h->items[i] = *item;
}

int heap_push(struct heap *h, const struct heap_item *item)
{
	size_t i;

	if (h->nr == h->cap) {
		size_t cap = h->cap ? 2 * h->cap : 64;
		struct heap_item *items = reallocarray(h->items, cap, sizeof(*items));

		if (!items)
			return -ENOMEM;
		h->items = items;
		h->cap = cap;
	}
	for (i = h->nr++; i && before(item, &h->items[(i - 1) / 2]); i = (i - 1) / 2)
		h->items[i] = h->items[(i - 1) / 2];
	h->items[i] = *item;
	return 0;
}

void heap_pop(struct heap *h)
{
	struct heap_item last = h->items[--h->nr];

	if (h->nr)
		sift_down(h, &last);
}

void heap_replace(struct heap *h, const struct heap_item *item)
{
	struct heap_item copy = *item;

	sift_down(h, &copy);
}

void heap_free(struct heap *h)
{
	free(h->items);
	*h = (struct heap){ 0 };
}
