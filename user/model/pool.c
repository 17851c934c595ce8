// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A pool of interned strings. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include "model/pool.h"
#include "base/vec.h"

#define ARENA_BYTES (64 * 1024)

struct slot {
	const char *text;	/* NULL: free */
	uint32_t len;
	uint32_t hash;
};

struct arena {
	struct arena *next;
	char bytes[];
};

struct pool {
	struct slot *slots;
	size_t nr, cap;		/* cap: a power of two */
	struct arena *arenas;
	size_t used, room;	/* of the newest arena */
	size_t memory;
};

static uint64_t seed, seed_wide;

/* Before main(): threads may hash at once. */
__attribute__((constructor)) static void seed_init(void)
{
	const void *random = (const void *)getauxval(AT_RANDOM);

	if (random) {
		memcpy(&seed, random, sizeof(seed));
		memcpy(&seed_wide, (const char *)random + sizeof(seed), sizeof(seed_wide));
	}
}

static inline uint64_t mix(uint64_t h, uint64_t v)
{
	__uint128_t wide = (__uint128_t)(h ^ v) * 0x9e3779b97f4a7c15ULL;

	return (uint64_t)wide ^ (uint64_t)(wide >> 64);
}

uint64_t hash_bytes(const void *bytes, size_t n)
{
	const char *p = bytes;
	uint64_t h = mix(seed ^ 0x2545f4914f6cdd1dULL, n), word;

	for (; n >= 8; n -= 8, p += 8) {
		memcpy(&word, p, 8);
		h = mix(h, word);
	}
	if (n) {
		word = 0;
		memcpy(&word, p, n);
		h = mix(h, word);
	}
	return mix(h, 0xd6e8feb86659fd93ULL);
}

/* Both halves of one product each: two multiplications for sixteen bytes. */
struct hash128 hash_wide(const void *bytes, size_t n)
{
	const char *p = bytes;
	/* secret factors: nobody can choose words that make a product 0 */
	const uint64_t k = seed ^ 0x9e3779b97f4a7c15ULL, m = seed_wide ^ 0x9fb21c651e98df25ULL;
	uint64_t a = seed ^ 0x2545f4914f6cdd1dULL, b = seed_wide ^ n, word[2];
	__uint128_t x, y;

	const char *last = n < 16 ? NULL : p + n - 16;

	for (;; n -= 16, p += 16) {
		if (n >= 16) {
			memcpy(word, p, 16);
		} else if (last) {
			memcpy(word, last, 16);	/* some bytes once more, but no loop over the rest */
		} else {
			word[0] = word[1] = 0;
			memcpy(word, p, n);
		}
		x = (__uint128_t)(a ^ word[0]) * (k ^ word[1]);
		y = (__uint128_t)(b ^ word[1]) * (m ^ word[0]);
		a = (uint64_t)x ^ (uint64_t)(y >> 64) ^ b;
		b = (uint64_t)y ^ (uint64_t)(x >> 64) ^ seed;
		if (n <= 16)
			break;
	}
	return (struct hash128){ mix(a, b), mix(b ^ 0xd6e8feb86659fd93ULL, a) };
}

uint64_t hash_u64(uint64_t value)
{
	return mix(mix(seed ^ 0x2545f4914f6cdd1dULL, value), 0xd6e8feb86659fd93ULL);
}

struct pool *pool_new(void)
{
	return calloc(1, sizeof(struct pool));
}

void pool_free(struct pool *s)
{
	struct arena *next;

	if (!s)
		return;
	for (struct arena *a = s->arenas; a; a = next) {
		next = a->next;
		free(a);
	}
	free(s->slots);
	free(s);
}

static int grow_slots(struct pool *s)
{
	size_t cap = s->cap ? s->cap * 2 : 256;
	struct slot *slots = calloc(cap, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	for (size_t i = 0; i < s->cap; i++) {
		size_t at = s->slots[i].hash & (cap - 1);

		if (!s->slots[i].text)
			continue;
		while (slots[at].text)
			at = (at + 1) & (cap - 1);
		slots[at] = s->slots[i];
	}
	free(s->slots);
	s->slots = slots;
	s->cap = cap;
	return 0;
}

static char *take(struct pool *s, size_t n)
{
	struct arena *a;
	size_t room;

	if (s->arenas && n <= s->room - s->used) {
		s->used += n;
		return s->arenas->bytes + s->used - n;
	}
	room = n > ARENA_BYTES / 4 ? n : ARENA_BYTES;
	a = malloc(sizeof(*a) + room);
	if (!a)
		return NULL;
	a->next = s->arenas;
	s->arenas = a;
	s->room = room;
	s->used = n;
	s->memory += sizeof(*a) + room;
	return a->bytes;
}

const char *pool_intern(struct pool *s, const char *text, size_t n)
{
	uint32_t hash = hash_bytes(text, n);
	size_t at;
	char *copy;

	if (s->nr * 4 >= s->cap * 3 && grow_slots(s))
		return NULL;
	for (at = hash & (s->cap - 1); s->slots[at].text; at = (at + 1) & (s->cap - 1))
		if (s->slots[at].hash == hash && s->slots[at].len == n && !memcmp(s->slots[at].text, text, n))
			return s->slots[at].text;
	copy = take(s, n + 1);
	if (!copy)
		return NULL;
	memcpy(copy, text, n);
	copy[n] = '\0';
	s->slots[at] = (struct slot){ .text = copy, .len = n, .hash = hash };
	s->nr++;
	return copy;
}

const char *pool_copy(struct pool *s, const char *text)
{
	return pool_intern(s, text ? text : "", text ? strlen(text) : 0);
}

size_t pool_memory(const struct pool *s)
{
	return sizeof(*s) + s->cap * sizeof(*s->slots) + s->memory;
}
