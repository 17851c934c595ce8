/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The report of a recording in its two forms. */
#ifndef FRAMESCOPE_CLI_REPORT_H
#define FRAMESCOPE_CLI_REPORT_H

#include "cli/report_stats.h"

/* For a person, on standard output. -ENOMEM. */
int report_text(const char *path, const struct session *s, const struct report_stats *r);
int report_tables(const struct session *s, const struct report_stats *r);	/* its larger part */
int report_sums(const struct session *s, const struct report_stats *r);	/* the first tables of that */
int report_unread(const struct session *s);	/* one of those */
/* Everything, as one JSON object on standard output (schema: man page). */
int report_json(const char *path, const struct session *s, const struct report_stats *r, struct error *err);

#endif
