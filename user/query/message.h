/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The type-specific message of an event as Profiler 1.1 defines it: when there is one, and when two are equal. */
#ifndef FRAMESCOPE_QUERY_MESSAGE_H
#define FRAMESCOPE_QUERY_MESSAGE_H

#include <stdbool.h>
#include <stdint.h>
#include "model/session.h"

/* Does an event of this type carry a message, and is what it requires known? */
bool message_present(int type, const struct event_detail *d);
/* Of one type; details that differ only in what the message doesn't hold (lines, labels) have equal messages. */
bool message_equal(int type, const struct event_detail *a, const struct event_detail *b);
uint64_t message_hash(int type, const struct event_detail *d);
/* Types without a message: all of their events are equal. */
bool message_possible(int type);

#endif
