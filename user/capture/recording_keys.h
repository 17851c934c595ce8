/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Finds an entry of a recording's table by its key, whatever keys a hostile file has. */
#ifndef FRAMESCOPE_CAPTURE_RECORDING_KEYS_H
#define FRAMESCOPE_CAPTURE_RECORDING_KEYS_H

#include <stddef.h>
#include <stdint.h>

struct key_index {
	uint64_t *keys;
	uint32_t *entries;	/* number plus one; 0: free */
	size_t slots, used;	/* slots: a power of two */
	uint64_t factor;	/* random: nobody can choose keys that collide */
};

/* The number under which this key is known; `next` is given to a new one. -ENOMEM. Begins as all zeros. */
int key_index_find(struct key_index *x, uint64_t key, uint32_t next, uint32_t *ret);
void key_index_release(struct key_index *x);

#endif
