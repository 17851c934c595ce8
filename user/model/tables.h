/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A recording's tables of probes, processes and threads, copied, and completed by what only the records know. */
#ifndef FRAMESCOPE_MODEL_TABLES_H
#define FRAMESCOPE_MODEL_TABLES_H

#include "model/map.h"
#include "model/pool.h"
#include "base/vec.h"
#include "recording.h"

struct tables {
	struct recording_info info;
	VEC(struct recording_probe) probes;
	VEC(struct recording_process) processes;
	VEC(struct recording_thread) threads;
	size_t nr_named;	/* threads that the recording's own table names */
	struct map process_map, thread_map;
	uint8_t *types;		/* of each probe */
};

int tables_copy(struct tables *t, struct pool *pool, const struct recording_info *info,
		const struct recording_probe *probes, size_t nr_probes, const struct recording_process *procs,
		size_t nr_procs, const struct recording_thread *threads, size_t nr_threads);	/* -ENOMEM */
void tables_free(struct tables *t);
size_t tables_memory(const struct tables *t);

/* Index of a process or thread; one that the tables lack is added. -ENOMEM. */
int tables_process(struct tables *t, struct pool *pool, uint32_t pid, uint32_t *ret);
int tables_thread(struct tables *t, struct pool *pool, uint32_t tid, uint32_t pid, uint32_t *ret);
/* A thread's name as a record says; the recording's own table knows better. -ENOMEM. */
int tables_thread_name(struct tables *t, struct pool *pool, uint32_t index, const char *comm, size_t n);

#endif
