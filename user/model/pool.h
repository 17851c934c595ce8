/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A pool of interned strings: equal strings are the same pointer, valid until the pool is freed. */
#ifndef FRAMESCOPE_MODEL_POOL_H
#define FRAMESCOPE_MODEL_POOL_H

#include <stddef.h>
#include <stdint.h>

struct pool;

struct pool *pool_new(void);	/* NULL: no memory */
void pool_free(struct pool *s);
/* `n` bytes without NUL; NULL: no memory. */
const char *pool_intern(struct pool *s, const char *text, size_t n);
/* NUL-terminated; NULL counts as "". */
const char *pool_copy(struct pool *s, const char *text);
size_t pool_memory(const struct pool *s);

/* Hash with a seed of this process, so that a page can't choose texts that collide. */
uint64_t hash_bytes(const void *bytes, size_t n);
uint64_t hash_u64(uint64_t value);

/* Wide enough to stand for the bytes themselves. */
struct hash128 {
	uint64_t a, b;
};
struct hash128 hash_wide(const void *bytes, size_t n);

#endif
