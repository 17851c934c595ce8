/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Writes JSON as it goes: commas, quotes and brackets are right whatever is called, so that no writer of a format
 * thinks about them. Strict JSON: text is repaired (base/text.h), numbers have no locale and are never NaN. The first
 * error sticks in the outfile. (Not json_…: those names are jansson's, and a second json_object() in the program would
 * be called by it.)
 */
#ifndef FRAMESCOPE_BASE_JSONOUT_H
#define FRAMESCOPE_BASE_JSONOUT_H

#include "base/outfile.h"

#define JSONOUT_MAX_DEPTH 16

struct jsonout {
	struct outfile *f;
	int depth;		/* open objects and arrays */
	int inline_depth;	/* what is this deep or deeper stands on one line; 0: everything */
	char close[JSONOUT_MAX_DEPTH];
	bool any[JSONOUT_MAX_DEPTH];
};

/* `inline_depth` as above: 2 gives a line for each item of a top-level list. */
void jsonout_init(struct jsonout *j, struct outfile *f, int inline_depth);
/* `key` is NULL in arrays and at the top. Deeper than JSONOUT_MAX_DEPTH is the caller's bug: abort(). */
void jsonout_object(struct jsonout *j, const char *key);
void jsonout_array(struct jsonout *j, const char *key);
void jsonout_close(struct jsonout *j);	/* the innermost; a newline after the outermost */
void jsonout_text(struct jsonout *j, const char *key, const char *s);	/* NULL: null */
void jsonout_u64(struct jsonout *j, const char *key, uint64_t v);
void jsonout_i64(struct jsonout *j, const char *key, int64_t v);
void jsonout_bool(struct jsonout *j, const char *key, bool v);
void jsonout_ms(struct jsonout *j, const char *key, uint64_t ns);	/* as milliseconds, exactly */

#endif
