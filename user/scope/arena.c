// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Memory that is given back all at once. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "scope/arena.h"

#define BLOCK_BYTES 8192
#define ALIGN _Alignof(max_align_t)

struct arena_block {
	struct arena_block *next;
	size_t used, size;
	_Alignas(max_align_t) char data[];
};

void *arena_zalloc(struct arena *a, size_t n, size_t size)
{
	struct arena_block *b = a->blocks;
	size_t bytes;

	if (size && n > SIZE_MAX / 2 / size)
		return NULL;
	bytes = (n * size + ALIGN - 1) / ALIGN * ALIGN;
	if (!b || b->size - b->used < bytes) {
		size_t block = bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;

		b = malloc(sizeof(*b) + block);
		if (!b)
			return NULL;
		b->next = a->blocks;
		b->used = 0;
		b->size = block;
		a->blocks = b;
	}
	b->used += bytes;
	return memset(b->data + b->used - bytes, 0, bytes);
}

void arena_free(struct arena *a)
{
	while (a->blocks) {
		struct arena_block *next = a->blocks->next;

		free(a->blocks);
		a->blocks = next;
	}
}
