/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where records go: into the recording, and what they tell of processes and threads into our own books. */
#ifndef FRAMESCOPE_CAPTURE_COLLECTOR_H
#define FRAMESCOPE_CAPTURE_COLLECTOR_H

#include "capture/overhead.h"
#include "capture/capture.h"
#include "capture/follow.h"
#include "capture/pace.h"

struct collector {
	struct follow *follow;
	struct probe_table *table;
	struct overhead_meter *calibration;	/* takes the records of our own calls */
	struct recording_writer *w;	/* NULL: not recording */
	uint64_t begun, ended, sums;	/* records of this recording that become events; those of marks don't */
	uint64_t begins[RECORD_MAX_PROBES];	/* and what came of each probe: begins, marks, aggregated calls */
	uint64_t ends[RECORD_MAX_PROBES];
	struct pace pace;
	bool look_again;		/* a process may have mapped something new */
	bool write_failed;
	capture_navigation_fn on_navigation;
	void *navigation_arg;
	uint32_t *tids;			/* threads written so far: a small hash set */
	size_t nr_tids, tids_cap;
};

void collector_record(void *arg, const struct rec_header *rec);	/* a ring_fn */
int collector_begin(struct collector *c, struct recording_writer *w);
/* Events recorded so far, as the report counts them. Where records were lost, it may know of some more. */
uint64_t collector_events(const struct collector *c);
void collector_free(struct collector *c);

#endif
