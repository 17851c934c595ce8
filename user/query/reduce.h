/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The three reductions of GetEvents: many events summed up as few. */
#ifndef FRAMESCOPE_QUERY_REDUCE_H
#define FRAMESCOPE_QUERY_REDUCE_H

#include "query/select.h"

/* Each fills ret->events, in no order; -ENOMEM. */
int reduce_all(const struct selection *sel, struct query_result *ret);
int reduce_types(const struct selection *sel, struct query_result *ret);
int reduce_events(const struct selection *sel, struct query_result *ret);

#endif
