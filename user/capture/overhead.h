/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a probed call costs while a recording runs: functions of our own, probed in the ways in which the target's are,
 * are called in short bursts by a thread of our own on the CPU where the target runs. What a burst shows becomes a
 * REC_COST. A figure taken once would be wrong by tens of percent within seconds, where clocks and hosts vary.
 */
#ifndef FRAMESCOPE_CAPTURE_OVERHEAD_H
#define FRAMESCOPE_CAPTURE_OVERHEAD_H

#include "capture/attach.h"
#include "capture/table.h"

struct overhead_meter;

/* loaded, links and table stay the caller's and must outlive it. -ENOMEM. */
int overhead_open(const struct loaded *l, struct links *links, const struct probe_table *table, struct overhead_meter **ret);
/* After the end of its thread; its probes go with the links. NULL is fine. */
void overhead_close(struct overhead_meter *c);

/* Attaches a twin for every class of cost (enum cost_class) that the table's attached probes have. What can't be
 * attached is left out: calls of that class are taken to cost nothing. -errno only for what ends a capture. */
int overhead_attach(struct overhead_meter *c);
bool overhead_has_twins(const struct overhead_meter *c);

/* While the probes are armed: measures each class a few times at once and then, if `rolling`, goes on. -errno. */
int overhead_begin(struct overhead_meter *c, bool rolling);
/* Ends the thread, before the probes are disarmed. */
void overhead_end(struct overhead_meter *c);

/* For every record from the ring. True: it is of a twin's call, and nobody else's business. Otherwise it is learned
 * from: which CPU, which classes, how far apart. */
bool overhead_take(struct overhead_meter *c, const struct rec_header *rec);

/* What one call of that class costs, as last measured; 0: not known. */
uint64_t overhead_cost_ns(const struct overhead_meter *c, unsigned int class);

/* Writes what the bursts so far have shown. Errors are the writer's. */
int overhead_write(struct overhead_meter *c, struct recording_writer *w);

#endif
