/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The events of a Chrome trace, one at a time, in bounded memory: of an object's `traceEvents`, or of the array that the
 * whole file is. Nothing in it is trusted.
 */
#ifndef FRAMESCOPE_BASE_TRACE_EVENTS_H
#define FRAMESCOPE_BASE_TRACE_EVENTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define TRACE_EVENT_MAX (64u << 20)	/* bytes of one event, where the trace isn't in memory anyway */

/* Up to n bytes more of the text to dst: their number, 0 at its end, or -errno. */
typedef ssize_t (*trace_read_fn)(void *arg, char *dst, size_t n);

struct trace_events {
	bool truncated;		/* it ended in the middle, or has no events at all */
	/* private */
	bool started;
	const char *p, *end;
	trace_read_fn read;	/* NULL: there is no more than what stands at p */
	void *arg;
	char *buf;
	size_t cap;
	int failed;
};

/* The text stays the caller's and is not changed. */
void trace_events_of_text(struct trace_events *t, const char *text, size_t n);
void trace_events_of_stream(struct trace_events *t, trace_read_fn read, void *arg);
/* 1 and the next event, an object to be released with json_decref(), or NULL for an element that is none. 0 at the end.
 * -EINVAL: what follows an event is neither ',' nor ']'. -EFBIG, -ENOMEM, or what read() failed with. */
int trace_events_next(struct trace_events *t, json_t **ret);
void trace_events_free(struct trace_events *t);

/* An event's member in microseconds, as nanoseconds; false if it is no sensible number. */
bool trace_event_time(const json_t *o, const char *key, uint64_t *ret_ns);

#endif
