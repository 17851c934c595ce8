/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Some calls of a twin, timed. */
#ifndef FRAMESCOPE_CAPTURE_BURST_H
#define FRAMESCOPE_CAPTURE_BURST_H

#include <stdbool.h>
#include <stdint.h>
#include "capture/twin.h"

/*
 * Costs vary by tens of per cent from one moment to the next and by few within one: many small bursts tell more about
 * their mean than as many calls in few.
 */
#define BURST_CALLS 10

struct burst {
	unsigned int class;
	uint64_t begin_ns, end_ns;
	unsigned int nr;	/* calls that count */
	uint64_t wall_ns;	/* what probing added to one */
	uint64_t spread_ns;	/* half the distance of its quartiles */
};

/* By the thread whose records are the twins'. Calls begin period_ns apart, or as they come. */
void burst_run(struct burst *b, twin_fn twin, twin_caller_fn caller, uint64_t period_ns);

/*
 * Sorts them. What many calls cost is their mean times their number, and costs are skewed, by interrupts for one: the
 * median would be some 5 % too low. The mean, then, but without calls that were preempted.
 */
uint64_t burst_typical(uint64_t *ns, unsigned int nr);

#endif
