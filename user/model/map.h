/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A hash table from 64-bit keys to 32-bit indices. */
#ifndef FRAMESCOPE_MODEL_MAP_H
#define FRAMESCOPE_MODEL_MAP_H

#include <stddef.h>
#include <stdint.h>

#define MAP_NONE UINT32_MAX

/* All zero is an empty map. */
struct map {
	uint64_t *keys;
	uint32_t *values;	/* index + 1; 0: free */
	size_t nr, cap;		/* cap: a power of two */
};

uint32_t map_get(const struct map *m, uint64_t key);	/* MAP_NONE: not there */
int map_set(struct map *m, uint64_t key, uint32_t value);	/* MAP_NONE takes it out. -ENOMEM */
void map_free(struct map *m);

#endif
