// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Look-ups in a session's tables, safe against what a damaged recording refers to. */
#include "export/shown.h"

void export_input_open(struct export_input *in, const struct session *s, const struct export_options *opt)
{
	*in = (struct export_input){ .s = s, .opt = *opt, .info = session_info(s) };
	in->probes = session_probes(s, &in->nr_probes);
	in->procs = session_processes(s, &in->nr_procs);
	in->threads = session_threads(s, &in->nr_threads);
	in->timelines = session_timelines(s, &in->nr_timelines);
	for (uint32_t i = 0; i < in->info->nr_metrics; i++)
		shown_metric(in->info, i, in->metric_keys[i]);
}

const struct recording_probe *input_probe(const struct export_input *in, uint16_t probe)
{
	static const struct recording_probe unknown = { .name = "?", .label = "?", .category = "", .group = "" };

	return probe < in->nr_probes ? &in->probes[probe] : &unknown;
}

uint32_t input_pid(const struct export_input *in, uint32_t thread)
{
	return thread < in->nr_threads ? in->threads[thread].pid : 0;
}

uint32_t input_tid(const struct export_input *in, uint32_t thread)
{
	return thread < in->nr_threads ? in->threads[thread].tid : 0;
}

uint32_t input_process(const struct export_input *in, uint32_t pid)
{
	for (size_t i = in->nr_procs; i--;)
		if (in->procs[i].pid == pid)
			return i;
	return UINT32_MAX;
}

const char *input_process_name(const struct export_input *in, uint32_t pid)
{
	uint32_t process = input_process(in, pid);

	return process == UINT32_MAX ? "" : in->procs[process].name;
}
