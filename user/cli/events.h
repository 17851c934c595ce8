/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The answer to a query in its two forms. */
#ifndef FRAMESCOPE_CLI_EVENTS_H
#define FRAMESCOPE_CLI_EVENTS_H

#include "query/events.h"

/* For a person: a tree, or a table of sums. At most `limit` rows (0: all); says what is left out. -ENOMEM. */
int events_text(const struct session *s, const struct query *q, const struct query_result *r, size_t limit);
/* The message Events of Profiler 1.1 with the names of its fields, enumerations as their numbers. Like the host's
 * answers: what a type-specific message requires and is not known is an empty string or 0. Beside the message, events
 * that carry more than time have that as `metrics`, an object. */
int events_json(const struct session *s, const struct query *q, const struct query_result *r, struct error *err);

#endif
