/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Pointer cages. Oilpan keeps 32-bit members: a pointer is the member, sign-extended, shifted left by 3, and masked with a
 * global that holds the cage's base (cppgc, member-storage.h). Every function that follows such a member shows the global.
 */
#ifndef FRAMESCOPE_TARGET_CAGE_H
#define FRAMESCOPE_TARGET_CAGE_H

#include "target/functions.h"

struct cage_votes;

/* Starts and ends a vote; NULL without memory. */
struct cage_votes *cage_votes_new(void);
void cage_votes_free(struct cage_votes *v);

/* Looks one function through. */
void cage_votes_add(struct cage_votes *v, const struct code_map *map, const struct function *f);

/* The address of the global that nearly all of them use, in writable data; 0 if there is none or too few say so. */
uint64_t cage_votes_winner(const struct cage_votes *v, const struct image *img);

#endif
