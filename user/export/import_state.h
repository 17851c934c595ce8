/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What import_build.c collects and import_write.c writes. */
#ifndef FRAMESCOPE_EXPORT_IMPORT_STATE_H
#define FRAMESCOPE_EXPORT_IMPORT_STATE_H

#include "export/import_build.h"

#define IMPORT_ARG_SLOTS 65536u		/* powers of two */
#define IMPORT_PROBE_SLOTS 4096u

#define IMPORT_MAX_TASKS 20000u	/* processes, and threads, of one file */

struct import_task {
	uint64_t given;		/* the pid or tid as it stands in the file */
	uint32_t number;	/* in the recording, where each has one of its own */
	uint32_t process;	/* of a thread: index; 0 for processes */
	char *name;
};

struct import_tasks {
	struct import_task *items;
	size_t nr, cap;
	uint32_t *by_given, *by_number;	/* hash tables: index + 1 */
	uint32_t next_number;	/* for those that can't keep theirs */
};

struct import {
	struct import_tasks procs, threads;
	struct recording_probe probes[RECORD_MAX_PROBES];
	uint32_t probe_slots[IMPORT_PROBE_SLOTS];	/* index + 1 */
	struct import_item *items;
	char *metric_names[RECORD_MAX_METRICS], *metric_units[RECORD_MAX_METRICS];
	uint64_t *metrics;	/* nr_metrics per item, as many as there is room for items; NULL: no metric */
	uint32_t nr_metrics;
	uint8_t *args;		/* each: its length in 4 bytes, then the arguments */
	uint32_t *args_seen;	/* by hash: offset / 4 into args */
	size_t nr_probes, nr_items, cap_items, nr_args, cap_args;
};

int import_tasks_init(struct import_tasks *t);
void import_tasks_free(struct import_tasks *t);
uint32_t import_pid(const struct import *im, uint32_t thread);	/* in the recording */
/* A copy of at most max bytes that is valid UTF-8; NULL without memory. */
char *import_copy_text(const char *s, size_t max);

#endif
