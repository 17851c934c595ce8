// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* An index of table entries by key: open addressing, at most half full. */
#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>
#include "capture/recording_keys.h"

static size_t find_slot(const struct key_index *x, uint64_t key)
{
	/* the upper bits of the product are those that every bit of the key goes into */
	size_t at = key * x->factor >> (64 - __builtin_ctzl(x->slots));

	while (x->entries[at] && x->keys[at] != key)
		at = (at + 1) % x->slots;
	return at;
}

static int grow(struct key_index *x)
{
	struct key_index bigger = { .slots = x->slots ? 2 * x->slots : 256, .used = x->used, .factor = x->factor };

	if (!bigger.factor && getrandom(&bigger.factor, sizeof(bigger.factor), GRND_NONBLOCK) < 0)
		bigger.factor = (uintptr_t)x * 0x9e3779b97f4a7c15ULL;
	bigger.factor |= 1;
	bigger.keys = calloc(bigger.slots, sizeof(*bigger.keys));
	bigger.entries = calloc(bigger.slots, sizeof(*bigger.entries));
	if (!bigger.keys || !bigger.entries) {
		free(bigger.keys);
		free(bigger.entries);
		return -ENOMEM;
	}
	for (size_t i = 0; i < x->slots; i++) {
		size_t at;

		if (!x->entries[i])
			continue;
		at = find_slot(&bigger, x->keys[i]);
		bigger.keys[at] = x->keys[i];
		bigger.entries[at] = x->entries[i];
	}
	free(x->keys);
	free(x->entries);
	*x = bigger;
	return 0;
}

int key_index_find(struct key_index *x, uint64_t key, uint32_t next, uint32_t *ret)
{
	size_t at;

	if (x->used * 2 >= x->slots && grow(x))
		return -ENOMEM;
	at = find_slot(x, key);
	if (!x->entries[at]) {
		x->keys[at] = key;
		x->entries[at] = next + 1;
		x->used++;
	}
	*ret = x->entries[at] - 1;
	return 0;
}

void key_index_release(struct key_index *x)
{
	free(x->keys);
	free(x->entries);
}
