// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* JSON, written as it goes. One function decides about commas. */
#include <stdlib.h>
#include <string.h>
#include "base/jsonout.h"

void jsonout_init(struct jsonout *j, struct outfile *f, int inline_depth)
{
	*j = (struct jsonout){ .f = f, .inline_depth = inline_depth };
}

static void break_line(struct jsonout *j)
{
	static const char blanks[2 * JSONOUT_MAX_DEPTH] = "                                ";

	if (j->depth >= j->inline_depth)
		return;
	outfile_write(j->f, "\n", 1);
	outfile_write(j->f, blanks, 2 * j->depth);
}

static void begin_item(struct jsonout *j, const char *key)
{
	if (j->depth) {
		if (j->any[j->depth - 1])
			outfile_write(j->f, ", ", j->depth < j->inline_depth ? 1 : 2);
		j->any[j->depth - 1] = true;
		break_line(j);
	}
	if (key) {
		outfile_json_string(j->f, key, strlen(key));
		outfile_write(j->f, ": ", 2);
	}
}

static void open_item(struct jsonout *j, const char *key, const char *brackets)
{
	begin_item(j, key);
	if (j->depth == JSONOUT_MAX_DEPTH)
		abort();
	outfile_write(j->f, brackets, 1);
	j->close[j->depth] = brackets[1];
	j->any[j->depth++] = false;
}

void jsonout_object(struct jsonout *j, const char *key)
{
	open_item(j, key, "{}");
}

void jsonout_array(struct jsonout *j, const char *key)
{
	open_item(j, key, "[]");
}

void jsonout_close(struct jsonout *j)
{
	bool any = j->any[--j->depth];

	/* the bracket stands below the line that opened it */
	if (any && j->depth + 1 < j->inline_depth)
		break_line(j);
	outfile_write(j->f, &j->close[j->depth], 1);
	if (!j->depth)
		outfile_write(j->f, "\n", 1);
}

void jsonout_text(struct jsonout *j, const char *key, const char *s)
{
	begin_item(j, key);
	if (s)
		outfile_json_string(j->f, s, strlen(s));
	else
		outfile_write(j->f, "null", 4);
}

void jsonout_u64(struct jsonout *j, const char *key, uint64_t v)
{
	begin_item(j, key);
	outfile_u64(j->f, v);
}

void jsonout_i64(struct jsonout *j, const char *key, int64_t v)
{
	begin_item(j, key);
	if (v < 0)
		outfile_write(j->f, "-", 1);
	outfile_u64(j->f, v < 0 ? 0 - (uint64_t)v : (uint64_t)v);
}

void jsonout_bool(struct jsonout *j, const char *key, bool v)
{
	begin_item(j, key);
	outfile_write(j->f, v ? "true" : "false", v ? 4 : 5);
}

void jsonout_ms(struct jsonout *j, const char *key, uint64_t ns)
{
	begin_item(j, key);
	outfile_ms(j->f, ns);
}
