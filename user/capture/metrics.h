/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What events can carry beside time: names, units, and the perf counters behind some of them. */
#ifndef FRAMESCOPE_CAPTURE_METRICS_H
#define FRAMESCOPE_CAPTURE_METRICS_H

#include <stddef.h>
#include <stdint.h>
#include "base/error.h"
#include "control.h"
#include "record.h"

struct metrics {
	size_t nr;
	const char *names[RECORD_MAX_METRICS], *units[RECORD_MAX_METRICS];	/* static */
	uint8_t kinds[RECORD_MAX_METRICS];	/* enum metric_kind */
	size_t nr_counters;
	int *fds;		/* counter * CPUs + CPU; -1: CPU is offline */
	int nr_cpus;
};

/* ERR_USAGE for an unknown name (the sentence lists the known ones) or too many, ERR_KERNEL for a counter that this
 * machine doesn't have. Opens the counters. */
int metrics_open(const char *const *names, size_t nr, struct metrics *ret, struct error *err);
void metrics_close(struct metrics *m);

#endif
