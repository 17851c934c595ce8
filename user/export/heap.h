/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A binary heap, smallest key first: what merging streams by time needs. */
#ifndef FRAMESCOPE_EXPORT_HEAP_H
#define FRAMESCOPE_EXPORT_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct heap_item {
	uint64_t key, second, third;	/* compared in this order */
	uint32_t value;
};

struct heap {
	struct heap_item *items;
	size_t nr, cap;
};

int heap_push(struct heap *h, const struct heap_item *item);	/* -ENOMEM */
void heap_pop(struct heap *h);		/* h->items[0] is the smallest; h must not be empty */
void heap_replace(struct heap *h, const struct heap_item *item);	/* pop, then push */
void heap_free(struct heap *h);

#endif
