/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Writes JSON as it goes: commas, quotes and brackets are right whatever is called, so that no writer of a format
 * thinks about them. Strict JSON: text is repaired (base/text.h), numbers have no locale and are never NaN. The first
 * error sticks in the outfile.
 */
#ifndef FRAMESCOPE_BASE_JSON_H
#define FRAMESCOPE_BASE_JSON_H

#include "base/outfile.h"

#define JSON_MAX_DEPTH 16

struct json {
	struct outfile *f;
	int depth;		/* open objects and arrays */
	int inline_depth;	/* what is this deep or deeper stands on one line; 0: everything */
	char close[JSON_MAX_DEPTH];
	bool any[JSON_MAX_DEPTH];
};

/* `inline_depth` as above: 2 gives a line for each item of a top-level list. */
void json_init(struct json *j, struct outfile *f, int inline_depth);
/* `key` is NULL in arrays and at the top. Deeper than JSON_MAX_DEPTH is the caller's bug: abort(). */
void json_object(struct json *j, const char *key);
void json_array(struct json *j, const char *key);
void json_close(struct json *j);	/* the innermost; a newline after the outermost */
void json_text(struct json *j, const char *key, const char *s);	/* NULL: null */
void json_u64(struct json *j, const char *key, uint64_t v);
void json_i64(struct json *j, const char *key, int64_t v);
void json_bool(struct json *j, const char *key, bool v);
void json_ms(struct json *j, const char *key, uint64_t ns);	/* as milliseconds, exactly */

#endif
