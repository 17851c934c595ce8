/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a record's arguments say: decoded once, the type-specific part interned as an event_detail. */
#ifndef FRAMESCOPE_MODEL_DETAILS_H
#define FRAMESCOPE_MODEL_DETAILS_H

#include "model/session.h"
#include "model/pool.h"

struct details;

/* The arguments of one record. Absent values are 0. */
struct args {
	uint32_t present;	/* bit per enum arg_field of those that stand here; the detail has its own */
	uint32_t detail;	/* index; 0: nothing known */
	uint32_t count;
	uint64_t frame, parent_frame, document;
	uint64_t id;		/* of the operation or flow, else of the window */
};

struct details *details_new(struct pool *pool);	/* the pool stays the caller's; NULL: no memory */
void details_free(struct details *d);

/* `n` bytes of struct rec_arg, to be looked up with details_read(); the longer ago, the better: it waits for memory. */
struct hash128 details_prepare(const struct details *d, const void *bytes, size_t n);
/* Decodes them; stops at the first argument that doesn't fit. -ENOMEM. */
int details_read(struct details *d, struct hash128 hash, const void *bytes, size_t n, struct args *ret);
/* The index of a detail with these contents. -ENOMEM. */
int details_intern(struct details *d, const struct event_detail *detail, uint32_t *ret);
/* Valid until the next details_read() or details_intern(). */
const struct event_detail *details_get(const struct details *d, uint32_t index);
uint32_t details_nr(const struct details *d);
/* Hands the array over (to be freed with free()) and frees d. */
struct event_detail *details_take(struct details *d, uint32_t *ret_nr);

static inline bool detail_has(const struct event_detail *d, enum arg_field field)
{
	return d->has & 1u << field;
}

#endif
