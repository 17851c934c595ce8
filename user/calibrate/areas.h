/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The search for known areas: four integers of 32 bits in a row, x, y, width and height, in an object of the pointer
 * cage. They stand deeper than texts do: the ways are of compressed pointers alone, behind one from a register or
 * from a handle that one points to.
 */
#ifndef FRAMESCOPE_CALIBRATE_AREAS_H
#define FRAMESCOPE_CALIBRATE_AREAS_H

#include "calibrate/search.h"

/* The shortest ways to every known area, as texts of KIND_INT. Nothing without a cage. 0 or -ENOMEM. */
int areas_search(const struct subject *s, struct found *ret);

#endif
