/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Growing arrays, and sums and products that stay at the largest number there is. */
#ifndef FRAMESCOPE_BASE_VEC_H
#define FRAMESCOPE_BASE_VEC_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* Makes room for one more element of `size` bytes in *items. -ENOMEM; the array stays as it was then. */
static inline int vec_grow(void *items, size_t nr, size_t *cap, size_t size)
{
	void **p = items;
	size_t want;
	void *grown;

	if (nr < *cap)
		return 0;
	want = *cap ? *cap * 2 : 16;
	grown = reallocarray(*p, want, size);
	if (!grown)
		return -ENOMEM;
	*p = grown;
	*cap = want;
	return 0;
}

#define VEC(type) struct { type *items; size_t nr, cap; }

/* Appends a copy of `value`; evaluates to 0 or -ENOMEM. */
#define VEC_PUSH(v, value) \
	(vec_grow(&(v)->items, (v)->nr, &(v)->cap, sizeof(*(v)->items)) ? -ENOMEM : \
	 ((v)->items[(v)->nr++] = (value), 0))

static inline uint64_t sat_add(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

static inline uint64_t sat_mul(uint64_t a, uint64_t b)
{
	uint64_t product;

	return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

static inline uint64_t min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static inline uint64_t max_u64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

#endif
