/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Frames, documents and processes as places where events can happen: each place becomes a timeline. Identities are
 * addresses in one process and may be used again, so a frame that is created anew is a new place.
 */
#ifndef FRAMESCOPE_MODEL_FRAMES_H
#define FRAMESCOPE_MODEL_FRAMES_H

#include "model/details.h"
#include "model/map.h"
#include "base/vec.h"

struct frame_url {
	uint64_t ts_ns;
	const char *url;
};

struct place {
	uint64_t frame;		/* identity as read; 0: a process's events without a frame */
	uint64_t parent_frame;
	uint32_t tgid;
	uint32_t parent;	/* place of the parent frame, or PLACE_NONE */
	bool created, top;	/* its creation was seen; it is known to have no parent frame */
	uint64_t created_ns, removed_ns;
	VEC(struct frame_url) urls;	/* of its documents, in time order after frames_sort() */
	uint32_t events;
	uint64_t self_ns;	/* of all its events together */
	bool paints;		/* one of them is a PAINT */
	uint64_t paints_from_ns, paints_until_ns;	/* start of the first of those, end of the last; UINT64_MAX and 0 */
	bool own;		/* nothing but the browser's own user interface was shown in it */
	bool main;		/* a main frame */
	uint16_t rank;		/* how well it fits as the first timeline */
	uint32_t page;		/* of a main frame: the best one of those that took each other's place; else PLACE_NONE */
	uint32_t timeline;	/* index of the timeline that it becomes */
};

#define PLACE_NONE MAP_NONE
#define PLACE_DOCUMENT 0x80000000u	/* the rest is a document's index: its frame isn't known yet */

struct document {
	uint64_t identity;
	uint32_t tgid;
	uint32_t place;		/* or PLACE_NONE */
	const char *url;	/* or NULL */
};

struct frames {
	VEC(struct place) places;
	VEC(struct document) documents;
	struct map frame_map, document_map, process_map;	/* identity, process -> index */
	bool creations;		/* the engine tells of frames that are created */
};

void frames_free(struct frames *f);
/* What a begin or mark of a probe with this role tells, in the order of the stream. *ret_place is the frame that it
 * names itself, PLACE_DOCUMENT | index, or PLACE_NONE. -ENOMEM. */
int frames_note(struct frames *f, uint32_t tgid, uint64_t ts_ns, int role, const struct args *args,
		const char *url, uint32_t *ret_place);
/* The place of the events of a process that belong to no frame. -ENOMEM. */
int frames_process(struct frames *f, uint32_t tgid, uint32_t *ret_place);
/* A document with this URL was shown in the place. -ENOMEM. */
int frames_url(struct frames *f, uint32_t place, uint64_t ts_ns, const char *url);
/* After the last frames_url(): sorts the URLs by time, looks parents up. */
void frames_sort(struct frames *f);
/* URL of the document in the place at that time; before the first one that is known, the first. NULL: unknown. */
const char *frames_url_at(const struct frames *f, uint32_t place, uint64_t ts_ns);

#endif
