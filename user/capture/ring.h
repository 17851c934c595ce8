/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The reading end of the ring buffer: samples are split into records, each checked. */
#ifndef FRAMESCOPE_CAPTURE_RING_H
#define FRAMESCOPE_CAPTURE_RING_H

#include "base/error.h"
#include "record.h"

struct ring;

/* A record, complete and of a possible size. */
typedef void (*ring_fn)(void *arg, const struct rec_header *rec);

int ring_open(int map_fd, ring_fn fn, void *arg, struct ring **ret, struct error *err);
void ring_close(struct ring *r);

/* For an event loop: becomes readable when a quarter is full. */
int ring_fd(const struct ring *r);
/* Waits for up to timeout_ms or until a quarter is full, then reads everything that is there. -errno. */
int ring_poll(struct ring *r, int timeout_ms);

#endif
