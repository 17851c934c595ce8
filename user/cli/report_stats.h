/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The figures of a report, gathered from a session in one pass. Prints nothing. */
#ifndef FRAMESCOPE_CLI_REPORT_STATS_H
#define FRAMESCOPE_CLI_REPORT_STATS_H

#include "model/session.h"

/* Sums over the events of one type or one probe. */
struct event_sums {
	uint64_t events;
	uint64_t hits;		/* calls: above events where calls were summed up */
	uint64_t total_ns;	/* aggregated time, that of events inside others of the same group not counted again */
	uint64_t uncertainty_ns;	/* ± of total_ns */
	uint64_t self_ns;
	uint64_t overhead_ns;
	uint64_t blocked_ns;
	uint64_t longest_ns;	/* the longest interval of one call */
	uint64_t subtracted;	/* EV_OVERHEAD_HIGH */
	uint64_t unwound, clipped;
	uint64_t metrics[RECORD_MAX_METRICS];	/* as total_ns */
	uint64_t measured;	/* events that had metrics */
	uint64_t single;	/* events that are one call each, not a sum of several: those have a longest_ns */
};

/* What a probe lost, and between when. */
struct loss_sums {
	uint64_t begins, ends, marks;
	uint64_t since_ns, until_ns;	/* both 0 if nobody knows when */
};

struct report_stats {
	struct event_sums types[EVENT_TYPE_END];
	struct event_sums all;	/* total_ns: over top-level events */
	struct event_sums *probes;	/* per session_probes */
	struct loss_sums *losses;	/* the same */
	uint64_t *marks;	/* the same */
	struct event_sums *timelines;	/* per session_timelines */
	uint64_t *process_events;	/* per session_processes */
	struct event_view *slowest;	/* the longest interval first; ties by id */
	uint32_t nr_slowest, max_slowest;
	uint32_t refused;	/* probes that were not attached */
	uint32_t hit;		/* attached probes that were hit: see below */
	uint32_t left_out;	/* others of which all calls were left out in the kernel */
};

/* Was the probe hit, as far as the recording tells by its events, marks, losses and counters? */
bool report_was_hit(const struct report_stats *r, const struct recording_probe *probes, size_t probe);
/* Not so, but it was called: all its calls were left out in the kernel, as --only-under and --min-duration want it. */
bool report_is_left_out(const struct report_stats *r, const struct recording_probe *probes, size_t probe);
/* How often, at least, a probe without events was hit. */
uint64_t report_hits(const struct report_stats *r, const struct recording_probe *probes, size_t probe);

/* -ENOMEM */
int report_stats_gather(const struct session *s, uint32_t max_slowest, struct report_stats *ret);
void report_stats_release(struct report_stats *r);

/* What an event is about, in one line: URL, selector, event name, … "" if nothing is known. Returns ret. */
const char *report_detail(const struct event_detail *d, char *ret, size_t size);

/* Is this the first probe of its module and build in the table? false for a probe without a module. */
bool report_is_first_of_module(const struct recording_probe *probes, size_t index);

#endif
