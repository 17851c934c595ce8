/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What import_build.c collects and import_write.c writes. */
#ifndef FRAMESCOPE_EXPORT_IMPORT_STATE_H
#define FRAMESCOPE_EXPORT_IMPORT_STATE_H

#include "export/import_build.h"

#define IMPORT_ARG_SLOTS 65536u		/* powers of two */
#define IMPORT_PROBE_SLOTS 4096u

struct import_thread {
	uint64_t given;		/* the tid as it stands in the file */
	uint32_t tid, pid;
	const char *name;
};

struct import {
	struct recording_process *procs;
	struct import_thread *threads;
	struct recording_probe probes[RECORD_MAX_PROBES];
	uint32_t probe_slots[IMPORT_PROBE_SLOTS];	/* index + 1 */
	struct import_item *items;
	uint8_t *args;		/* each: its length in 4 bytes, then the arguments */
	uint32_t *args_seen;	/* by hash: offset / 4 into args */
	size_t nr_procs, cap_procs, nr_threads, cap_threads, nr_probes, nr_items, cap_items, nr_args, cap_args;
	uint32_t last_thread;
};

#endif
