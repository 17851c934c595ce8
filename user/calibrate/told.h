/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Chooses the ways to what functions are told beside URLs: the name of an event, the area to paint. */
#ifndef FRAMESCOPE_CALIBRATE_TOLD_H
#define FRAMESCOPE_CALIBRATE_TOLD_H

#include "calibrate/choose.h"
#include "calibrate/frame.h"

/* A way that led to several names, and never to anything else that was looked for. Both add to entries. 0 or -ENOMEM. */
int told_name(const struct call_log *log, const struct choose_texts *t, struct site_entry *e);

/*
 * Ways to the areas of several documents whose ends are the same for most functions: what an area of that size stands for
 * can't be told at one alone. Where several are as often right, one through the frame.
 */
int told_areas(const struct frame_facts *facts, size_t nr, const struct choose_texts *t, struct site_entry *ret);

#endif
