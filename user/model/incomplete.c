// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What is missing of a recording, in words: the same on the command line, in the report and in every export. */
#include <inttypes.h>
#include <stdio.h>
#include "model/builder.h"

static void add(char *buf, size_t n, size_t *used, const char *text)
{
	int wrote = snprintf(buf + *used, n - *used, "%s%s", *used ? ", " : "", text);

	*used = wrote < 0 || (size_t)wrote >= n - *used ? n - 1 : *used + wrote;
}

const char *session_incomplete(const struct session *s, char *buf, size_t n)
{
	const struct recording_info *i = &s->tables.info;
	char text[80];
	size_t used = 0;

	*buf = '\0';
	if (!i->truncated)
		return buf;
	if (i->damaged_blocks) {
		snprintf(text, sizeof(text), "%" PRIu32 " damaged place%s of the file %s skipped", i->damaged_blocks,
			 i->damaged_blocks == 1 ? "" : "s", i->damaged_blocks == 1 ? "was" : "were");
		add(buf, n, &used, text);
	}
	if (i->cut_off)
		add(buf, n, &used, "the file ends early");
	if (i->source_cut)
		add(buf, n, &used, "what it was imported from ended early");
	if (i->missing_records || (i->missing_exact && !i->source_cut)) {
		snprintf(text, sizeof(text), "%s%" PRIu64 " record%s missing", i->missing_exact ? "" : "at least ",
			 i->missing_records, i->missing_records == 1 ? " is" : "s are");
		add(buf, n, &used, text);
	} else {
		add(buf, n, &used, "how many records are missing is not known");
	}
	return buf;
}
