/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Collects what a foreign profile says, in any order, and writes it as the records of a recording. */
#ifndef FRAMESCOPE_EXPORT_IMPORT_BUILD_H
#define FRAMESCOPE_EXPORT_IMPORT_BUILD_H

#include "export/import.h"

#define IMPORT_MAX_ITEMS 50000000u	/* of one file */
#define IMPORT_NONE UINT32_MAX
/* Room of one record's arguments: behind the largest fixed part, a multiple of 8. */
#define IMPORT_MAX_ARGS (RECORD_MAX_SIZE - 80)

/* Arguments of one record, as record.h has them. */
struct import_args {
	uint32_t nr;
	uint8_t bytes[IMPORT_MAX_ARGS];
};

void import_arg_int(struct import_args *a, int field, int64_t v);
void import_arg_text(struct import_args *a, int field, const char *s);	/* cut at RECORD_MAX_STRING; NULL: nothing */

/* In the order in which those of one time are written; IMPORT_FRAME is a mark that what follows refers to. */
enum import_kind { IMPORT_FRAME, IMPORT_SPAN, IMPORT_SUM, IMPORT_MARK, IMPORT_LOSS };

struct import_item {
	uint64_t start_ns, end_ns;	/* from any origin; made relative to the first one when written */
	uint64_t cpu_ns;	/* SPAN: UINT64_MAX: not known. SUM: the time of all calls */
	uint64_t self_ns;	/* SPAN: UINT64_MAX: not known; what is neither self nor a child's becomes blocked time */
	uint64_t overhead_ns;	/* what measuring cost in the call itself; SUM: in all calls, beside cpu_ns */
	uint32_t hits;		/* SUM: calls. LOSS: begins */
	uint32_t ends, marks;	/* LOSS */
	uint32_t thread;	/* index, as import_thread() gave it */
	uint32_t args;		/* as import_keep_args() gave it, or IMPORT_NONE */
	uint32_t parent;	/* SUM: the item that it lies in; IMPORT_NONE: whatever is open then */
	uint16_t probe;
	uint8_t kind;
	uint8_t flags;		/* REC_F_* */
};

struct import;

int import_new(struct import **ret);
void import_free(struct import *im);

/* These return an index, or IMPORT_NONE without memory or beyond a limit. Names are copied. */
uint32_t import_process(struct import *im, uint64_t pid, const char *name);	/* name NULL: keep or "process" */
uint32_t import_thread(struct import *im, uint64_t pid, uint64_t tid, const char *name);
/* Probes are told apart by all that is given; beyond RECORD_MAX_PROBES, by type and kind alone. */
uint32_t import_probe(struct import *im, const char *label, const char *category, int type, int kind, int role,
		      const char *group);
uint32_t import_keep_args(struct import *im, const struct import_args *a);
uint32_t import_add(struct import *im, const struct import_item *item);
struct import_item *import_item(struct import *im, uint32_t index);	/* valid until the next import_add() */

/* A metric beside time that the recording is to carry, before the first item: its number, or -1 where there is no room. */
int import_metric(struct import *im, const char *name, const char *unit);
/* Adds to what the call itself had of the metric, its children left out. */
void import_add_metric(struct import *im, uint32_t item, int metric, uint64_t value);

/* When the recording began (UINT64_MAX: with its earliest item) and ended (at least). */
struct import_range { uint64_t base_ns, end_ns; };

/* Writes it all, and finishes or aborts w. */
int import_write(struct import *im, struct recording_writer *w, const char *name, struct import_range range,
		 struct import_counts *counts, struct error *err);

/* The two readers: text is UTF-8 JSON with a NUL behind it. */
int import_chrome(struct import *im, char *text, size_t n, struct import_counts *counts, struct import_range *ret_range,
		  struct error *err);
int import_metrics(struct import *im, char *text, size_t n, struct import_counts *counts, struct error *err);

#endif
