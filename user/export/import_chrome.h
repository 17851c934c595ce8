/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What reading a Chrome trace keeps in mind from one event to the next. Shared by its two files. */
#ifndef FRAMESCOPE_EXPORT_IMPORT_CHROME_H
#define FRAMESCOPE_EXPORT_IMPORT_CHROME_H

#include <jansson.h>
#include "export/import_build.h"

#define FRAME_SLOTS 32768u	/* powers of two */
#define OPERATIONS 4096u

/* Which name an async operation began with: what happens in it has names of its own. */
struct operation { uint64_t key; char group[260]; };

struct chrome {
	struct import *im;
	struct import_counts *counts;
	uint32_t *open;		/* per thread: the last B without an E, its item + 1; the next one is that item's parent + 1 */
	uint32_t last_recalculation;	/* item; SelectorStats belong to it */
	uint64_t start_ns, stop_ns;	/* as our own marks say; 0: they don't */
	struct { char *name; uint64_t number; } frames[FRAME_SLOTS];	/* by hash of the name */
	size_t nr_frames;
	struct operation operations[OPERATIONS];	/* by hash; of two in one place the later stays */
	struct import_args args;
};

const char *chrome_string_of(const json_t *o, const char *key);	/* NULL: it has no such text */
uint64_t chrome_count_of(const json_t *o, const char *key);	/* 0 where it isn't a number above */
uint32_t chrome_count32_of(const json_t *o, const char *key);	/* no more than fits */
/* Of an operation, flow or object: a number, a text with one, or an object with one of these as `local` or `global`. */
uint64_t chrome_id_of(const json_t *v);
/* Of a process or thread: any number, or a text, which gets a number that no integer has. */
uint64_t chrome_task_of(const json_t *v);
/* A number for the frame's name, from 1; 0: none. */
uint64_t chrome_frame_number(struct chrome *c, const char *name);
/* enum event_type: as args.data says, or what the names that DevTools knows mean. */
int chrome_type_of(const char *name, const json_t *data);
uint8_t chrome_flags_of(const json_t *data);	/* REC_F_* */
/* The arguments that a recording knows, from args.data or args.beginData, as import_keep_args() gives them. */
uint32_t chrome_keep_args(struct chrome *c, const json_t *data, const json_t *begin, uint64_t id);

#endif
