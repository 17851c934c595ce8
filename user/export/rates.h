/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The counters that every export has: CPU of each process, and its events of each type per 10 ms. */
#ifndef FRAMESCOPE_EXPORT_RATES_H
#define FRAMESCOPE_EXPORT_RATES_H

#include "export/export.h"

#define RATES_BUCKET_NS 10000000	/* 10 ms */

struct rates;

int rates_new(const struct session *s, struct rates **ret);
void rates_free(struct rates *r);

/* Counts the event where it starts. Returns when its bucket is complete. */
uint64_t rates_count(struct rates *r, const struct export_event *e);
/* When the next value can be told; UINT64_MAX: nothing is pending. */
uint64_t rates_next_ns(const struct rates *r);
int rates_tell(struct rates *r, const struct export_format *format, struct exporter *x);
/* No event follows: what was begun can be told now. */
void rates_finish(struct rates *r);

#endif
