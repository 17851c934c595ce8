// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A hash table from keys to indices, open addressing. */
#include <errno.h>
#include <stdlib.h>
#include "model/map.h"
#include "model/pool.h"

#define TAKEN_OUT UINT32_MAX	/* as index + 1: the key keeps its slot */

static size_t slot_of(const struct map *m, uint64_t key)
{
	size_t at = hash_u64(key) & (m->cap - 1);

	while (m->values[at] && m->keys[at] != key)
		at = (at + 1) & (m->cap - 1);
	return at;
}

uint32_t map_get(const struct map *m, uint64_t key)
{
	uint32_t value = m->cap ? m->values[slot_of(m, key)] : 0;

	return value && value != TAKEN_OUT ? value - 1 : MAP_NONE;
}

static int grow(struct map *m)
{
	struct map grown = { .cap = m->cap ? m->cap * 2 : 64, .nr = m->nr };

	grown.keys = calloc(grown.cap, sizeof(*grown.keys));
	grown.values = calloc(grown.cap, sizeof(*grown.values));
	if (!grown.keys || !grown.values) {
		map_free(&grown);
		return -ENOMEM;
	}
	for (size_t i = 0; i < m->cap; i++) {
		if (m->values[i]) {
			size_t at = slot_of(&grown, m->keys[i]);

			grown.keys[at] = m->keys[i];
			grown.values[at] = m->values[i];
		}
	}
	map_free(m);
	*m = grown;
	return 0;
}

int map_set(struct map *m, uint64_t key, uint32_t value)
{
	size_t at;

	if (m->nr * 4 >= m->cap * 3 && grow(m))
		return -ENOMEM;
	at = slot_of(m, key);
	m->nr += !m->values[at];
	m->keys[at] = key;
	m->values[at] = value == MAP_NONE ? TAKEN_OUT : value + 1;
	return 0;
}

void map_free(struct map *m)
{
	free(m->keys);
	free(m->values);
	m->keys = NULL;
	m->values = NULL;
	m->nr = m->cap = 0;
}
