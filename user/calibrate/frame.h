/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Finds what identifies a frame: an object that every function's calls lead to, one per document shown at the time. */
#ifndef FRAMESCOPE_CALIBRATE_FRAME_H
#define FRAMESCOPE_CALIBRATE_FRAME_H

#include "calibrate/log.h"

struct choose_texts;

/* Of one function. */
struct frame_facts {
	const struct call_log *log;
	bool has_document;
	path_t document;	/* leads to the URL of the document that a call is about, or of a sheet or script of it, */
	uint8_t kind;		/* which is text of this kind */
	/* found: */
	bool has_frame;
	path_t frame;
	size_t calls, documents;	/* at which and for which it was right */
	bool has_owner;
	path_t owner;		/* the document's own object */
};

/* The document's own object is what the last step to the URL at `reference` (an index, or nr for none) reads.
 * 0 or -ENOMEM; nothing found is no error. */
int frame_find(struct frame_facts *facts, size_t nr, size_t reference, const struct choose_texts *t);

#endif
