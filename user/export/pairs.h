/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Open async operations and flows: gives each a number of its own, since engines use identities again. */
#ifndef FRAMESCOPE_EXPORT_PAIRS_H
#define FRAMESCOPE_EXPORT_PAIRS_H

#include <stdbool.h>
#include <stdint.h>
#include "model/session.h"

#define PAIRS_MAX 65536		/* open at a time; when all are taken, one is given up for a new one */

struct pairs;

struct pair {
	uint64_t number;	/* from 1, never used twice */
	uint32_t group;		/* index of the first probe that has this group */
	uint32_t process;
	uint64_t id;
	uint32_t thread;	/* where it was opened */
	uint16_t probe;
};

int pairs_new(const struct session *s, struct pairs **ret);
void pairs_free(struct pairs *p);

/* Opens the operation that the mark is about. *ret_again: it was open already, and stays the same. */
const struct pair *pairs_open(struct pairs *p, const struct session_mark *m, bool *ret_again);
/* The open operation that the mark belongs to, or NULL. */
const struct pair *pairs_find(const struct pairs *p, const struct session_mark *m);
/* As pairs_find(), and closes it: *ret is a copy. */
bool pairs_close(struct pairs *p, const struct session_mark *m, struct pair *ret);
/* One of those that are still open, closed: *ret is a copy. false: none is left. */
bool pairs_drain(struct pairs *p, struct pair *ret);

/* The process (index) that a mark's thread belongs to; UINT32_MAX if unknown. */
uint32_t pairs_process(const struct pairs *p, uint32_t thread);

#endif
