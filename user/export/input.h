/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What writers read of a session over and over: its tables, and what belongs together in them. */
#ifndef FRAMESCOPE_EXPORT_INPUT_H
#define FRAMESCOPE_EXPORT_INPUT_H

#include "export/export.h"

#define METRIC_KEY 96

struct export_input {
	const struct session *s;
	struct export_options opt;
	const struct recording_info *info;
	const struct recording_probe *probes;
	const struct recording_process *procs;
	const struct recording_thread *threads;
	const struct timeline *timelines;
	size_t nr_probes, nr_procs, nr_threads, nr_timelines;
	char metric_keys[RECORD_MAX_METRICS][METRIC_KEY];	/* of info->nr_metrics: see shown_metric() */
};

void export_input_open(struct export_input *in, const struct session *s, const struct export_options *opt);

/* What is shown of an event of that probe; one that the table lacks has "?" for all its texts. */
const struct recording_probe *input_probe(const struct export_input *in, uint16_t probe);
/* 0 for a thread that the table lacks. */
uint32_t input_pid(const struct export_input *in, uint32_t thread);
uint32_t input_tid(const struct export_input *in, uint32_t thread);
/* Index of the process of that pid; one that was used again is its last process's. UINT32_MAX: there is none. */
uint32_t input_process(const struct export_input *in, uint32_t pid);
/* "" if it isn't known. */
const char *input_process_name(const struct export_input *in, uint32_t pid);

#endif
