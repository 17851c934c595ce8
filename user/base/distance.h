/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How far a word is from the one that was perhaps meant. */
#ifndef FRAMESCOPE_BASE_DISTANCE_H
#define FRAMESCOPE_BASE_DISTANCE_H

#include <stddef.h>

/* How many letters were inserted, left out, replaced, or exchanged with their neighbour; case doesn't count. `limit` if
 * that many or more, or if a word has more than 64 bytes. */
size_t word_distance(const char *a, const char *b, size_t limit);

#endif
