/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What being probed costs the target's threads, in windows of time. */
#ifndef FRAMESCOPE_CAPTURE_PACE_H
#define FRAMESCOPE_CAPTURE_PACE_H

#include <stddef.h>
#include <stdint.h>
#include "record.h"

struct pace_thread {
	uint32_t tid;		/* 0: free */
	uint64_t cost_ns;
};

struct pace {
	struct pace_thread *threads;	/* hash table, at most half full */
	size_t nr, cap;
	struct pace_thread *last;
	uint64_t probe_cost_ns[RECORD_MAX_PROBES];	/* of each probe's calls in this window */
	uint32_t cost_ns[RECORD_MAX_PROBES];		/* of one call without read_ns: set by whoever knows */
	uint64_t since_ns;
};

void pace_begin(struct pace *p, uint64_t now_ns);	/* a new window; keeps cost_ns */
void pace_add(struct pace *p, uint32_t tid, uint32_t probe, uint32_t calls);
void pace_add_ns(struct pace *p, uint32_t tid, uint32_t probe, uint64_t cost_ns);	/* what was measured, beside cost_ns */
void pace_free(struct pace *p);

/* The thread that spent most on being probed in this window; NULL: none. */
const struct pace_thread *pace_busiest(const struct pace *p);
/* The probe that cost most in this window; -1: none. */
int pace_hottest(const struct pace *p);

#endif
