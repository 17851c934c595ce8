/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a thread has used so far, besides time: what the kernel counts for each task anyway, and counters of perf. Those
 * count for a CPU; the scheduler's program takes the differences while the thread is on one.
 */
#ifndef FRAMESCOPE_METRICS_BPF_H
#define FRAMESCOPE_METRICS_BPF_H

#include "maps.bpf.h"

/*
 * Sleepable programs may not even mention such a map, used or not, so there are two builds of everything: this one for
 * recordings with counters, whose programs are not sleepable, and one for all others.
 */
static __always_inline __u64 counter_now(__u32 i)
{
#ifdef COUNTERS
	struct bpf_perf_event_value v = {};
	__u32 cpu = bpf_get_smp_processor_id();

	if (!bpf_perf_event_read_value(&counters, i * nr_cpus + cpu, &v, sizeof(v)))
		return v.counter;
#endif
	return 0;
}

/* The thread begins or ceases to run on this CPU. */
static __always_inline void counters_start(struct thread *t)
{
	for (__u32 i = 0; i < RECORD_MAX_METRICS && i < nr_counters; i++)
		t->counter_at[i] = counter_now(i);
}

static __always_inline void counters_stop(struct thread *t)
{
	for (__u32 i = 0; i < RECORD_MAX_METRICS && i < nr_counters; i++)
		t->counter_sum[i] += counter_now(i) - t->counter_at[i];
}

static __always_inline __u64 metric_now(struct task_struct *task, struct thread *t, __u32 i)
{
	__u32 kind = metric_kinds[i & (RECORD_MAX_METRICS - 1)];

	switch (kind) {
	case METRIC_PAGE_FAULTS:
		return task->min_flt + task->maj_flt;
	case METRIC_MINOR_FAULTS:
		return task->min_flt;
	case METRIC_MAJOR_FAULTS:
		return task->maj_flt;
	case METRIC_CONTEXT_SWITCHES:
		return task->nvcsw + task->nivcsw;
	case METRIC_INVOLUNTARY_SWITCHES:
		return task->nivcsw;
	case METRIC_MIGRATIONS:
		return task->se.nr_migrations;
	}
	kind -= METRIC_COUNTER;
	if (kind >= RECORD_MAX_METRICS)
		return 0;
	return t->counter_sum[kind] + counter_now(kind) - t->counter_at[kind];
}

static __always_inline struct metric_values *metrics_of(struct thread *t, __u32 frame)
{
	__u32 i = t->slot * RECORD_MAX_DEPTH + frame;

	return bpf_map_lookup_elem(&metric_values, &i);
}

#endif
