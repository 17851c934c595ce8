/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which of the paths that were found are right. A text path is, if it led to nothing that belongs to another page at any
 * call, and to the texts of several documents. A frame is what the same document has at every function's calls, and
 * documents that are shown at the same time have not in common.
 */
#ifndef FRAMESCOPE_CALIBRATE_CHOOSE_H
#define FRAMESCOPE_CALIBRATE_CHOOSE_H

#include "calibrate/log.h"
#include "target/site_file_write.h"

#define CHOOSE_MAX_DOCS 8
#define CHOOSE_MAX_FILES 16

/* What the known texts are; at most 64 of them. */
struct choose_texts {
	uint64_t documents, sheets, scripts, events;	/* bits by text */
	uint64_t blank;		/* about:blank, one of the documents, which any page may have in a frame for a moment */
	uint64_t areas;				/* and by area */
	uint64_t of_file[CHOOSE_MAX_FILES];	/* a page's first sheet, all pages'; and so on */
	uint64_t of_phase[LOG_PHASES];		/* those that may be met while it lasts */
	uint8_t together;			/* the phase whose documents are shown at the same time */
	size_t nr_docs;				/* of them, */
	int8_t doc_of[64];			/* and by text, which of them it is or belongs to; -1: none */
};

/* What an event of this type is about besides documents: bits by text. */
uint64_t choose_others(const struct choose_texts *t, enum event_type type);

/* Fills one entry per log, in their order; one without arguments where nothing is right. 0 or -ENOMEM. */
int choose_paths(struct call_log *logs, size_t nr, const struct choose_texts *t, struct site_entry *ret);

#endif
