/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What was seen at the calls of one function while calibration's pages ran. */
#ifndef FRAMESCOPE_CALIBRATE_LOG_H
#define FRAMESCOPE_CALIBRATE_LOG_H

#include "calibrate/search.h"
#include "target/site.h"

#define LOG_MAX_HITS 320
#define LOG_PHASES 8

struct log_hit {
	uint8_t phase;		/* which page was being shown */
	struct found_text *texts;	/* all that some path led to */
	size_t nr_texts;
	uint64_t *values;	/* as paths[] of the log; 0: the path could not be followed. NULL: not looked at */
	size_t nr_values;	/* of the paths that were known by then */
};

#define WAY_SURE 0	/* it has never led to anything but a text, or ended early at a null pointer, */
#define WAY_UNSURE 1	/* or it has */

struct call_log {
	const struct site *site;
	struct log_hit hits[LOG_MAX_HITS];
	size_t nr_hits;
	uint8_t searches[LOG_PHASES];	/* searches of everything that found something, by phase, */
	uint8_t vain[LOG_PHASES];	/* and that didn't; */
	uint16_t strange[LOG_PHASES];	/* and the calls that led to no known text; */
	uint8_t deep[LOG_PHASES];	/* and of those for texts far away, that found one */
	uint8_t deep_vain[LOG_PHASES];	/* or not */
	uint8_t areas[LOG_PHASES];	/* and of those for areas, that found one */
	uint8_t areas_vain[LOG_PHASES];	/* or not; */
	uint8_t nameless[LOG_PHASES];	/* and of calls about an event whose name no known way led to, */
	uint8_t named;			/* and those of them that found it */
	uint32_t stack_regs;	/* bits: registers that pointed into the stack at some call */
	struct found_text *known;	/* every path to a text so far, once each; the text is WAY_… */
	size_t nr_known;
	path_t *paths;		/* to pointers of which some may be identities, */
	uint8_t *path_fields;	/* and of which field: as in found_value */
	size_t nr_paths;
	uint8_t defines;	/* searches that have added to them, */
	uint64_t defined;	/* and bits: the texts that those calls led to */
	uint64_t calls;
	bool known_objects;	/* frames and documents were known when it was called */
};

/* Looks at a call: searches everything the first times of each phase, later follows the paths that are known. With `values`
 * pointers too. 0 if it led to no known text, 1 if to none of those that it is about, 2, or -ENOMEM. */
int log_call(struct call_log *log, const struct subject *s, unsigned int phase, bool values);
/* Did the way lead to texts or null pointers at all calls that were looked into since it was known, whatever these were about? */
bool log_is_sure(const struct call_log *log, path_t path, uint8_t kind);
void log_free(struct call_log *log);

#endif
