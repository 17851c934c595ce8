/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Profiles of others as recordings, so that the queries and exports work on them: Chrome trace events, and the
 * multi-metric profile of JS Self-Profiling. The files are hostile: bounded, repaired, never trusted for a size.
 */
#ifndef FRAMESCOPE_EXPORT_IMPORT_H
#define FRAMESCOPE_EXPORT_IMPORT_H

#include "base/error.h"
#include "capture/recording_file.h"

struct import_counts {
	uint64_t events, marks, sums;	/* taken over */
	uint64_t skipped;	/* items that have no place in a recording */
	uint64_t cut;		/* calls that reached out of their caller */
	uint64_t too_deep;	/* calls that a recording has no room for, RECORD_MAX_DEPTH levels down */
	uint64_t bad_values;	/* no numbers or none that a recording can hold: left out, or the nearest one taken */
	bool truncated;		/* the file ends in the middle */
};

/* Reads PATH (gzip or plain) and writes all of it to w, tables, records and final info, which it finishes or aborts. */
int import_profile(const char *path, struct recording_writer *w, struct import_counts *ret, struct error *err);
/* The same for a text in memory, which must be writable and end in a NUL at text[n]. `name` is for messages. */
int import_text(char *text, size_t n, const char *name, struct recording_writer *w, struct import_counts *ret,
		struct error *err);

#endif
