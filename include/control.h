/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the user side sets and the programs obey while they are attached; shared memory, never recorded. */
#ifndef FRAMESCOPE_CONTROL_H
#define FRAMESCOPE_CONTROL_H

#ifndef __bpf__
#include <linux/types.h>
#endif
#include "record.h"

#define SLOTS_MAX 16384	/* threads that can be watched at a time, at most; a power of two */
#define BUCKET_SLOTS 8	/* where a thread may have its slot: half a cache line of numbers */

/* Where a metric's value comes from. */
enum metric_kind {
	METRIC_NONE = 0,
	METRIC_PAGE_FAULTS,
	METRIC_MINOR_FAULTS,
	METRIC_MAJOR_FAULTS,
	METRIC_CONTEXT_SWITCHES,
	METRIC_INVOLUNTARY_SWITCHES,
	METRIC_MIGRATIONS,
	METRIC_COUNTER = 32,	/* + number of a perf counter */
};

struct metric_values {
	__u64 v[RECORD_MAX_METRICS];
};

struct owners {
	__u32 tid[SLOTS_MAX];	/* 0: the slot is free */
};

#define SUM_ROWS 64	/* threads whose hot calls can be summed up at a time; others record each call */

struct sum_owners {
	__u32 tid[SUM_ROWS];	/* 0: the row is free */
};

struct control {
	volatile __u32 epoch;		/* number of the running recording; 0: not armed. Arms every probe at once */
	volatile __u32 closing;		/* the recording whose open calls the iterator closes */
	volatile __u32 follow;		/* children of targets become targets */
	volatile __u32 only_under;	/* an event type, or 0 */
	volatile __u64 min_duration_ns;
	volatile __u64 now_ns;		/* time of disarming: where clipped calls end */
	volatile __u64 serial;		/* threads seen so far */
	volatile __u64 lost;		/* records of any kind that found no room */
	volatile __u64 lost_other;	/* of those the ones that belong to no probe */
	volatile __u64 no_room;		/* calls of threads beyond what can be watched: counted as lost begins */
	volatile __u32 nr_off;		/* probes that are switched off while attached, */
	volatile __u32 twin_tid;	/* our own thread that calls the probed twins (overhead.c), or 0 */
	volatile __u64 off[RECORD_MAX_PROBES / 64];	/* a bit for each */
	volatile __u32 cpu;		/* where a target's thread sent records last */
	volatile __u32 user_bits;	/* of an address in user space: 47, or 56 with five levels of page tables */
	volatile __u64 direct_map;	/* where the kernel maps all memory, as direct_map.c has found it; 0: not known */
	volatile __u64 memory_end;	/* the first physical address behind all memory */
	volatile __u64 frame_mask;	/* bits of an entry of a page table that are an address */
};

#endif
