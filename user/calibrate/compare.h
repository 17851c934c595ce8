/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Compares recorded calls with the events that the browser itself reported in the same run. A function is the right one
 * if each of its calls holds one event of its name on the same thread, or lies in one, and each such event goes with a call
 * of a function that is reported under that name. Plain data in, plain data out.
 */
#ifndef FRAMESCOPE_CALIBRATE_COMPARE_H
#define FRAMESCOPE_CALIBRATE_COMPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COMPARE_NO_NAME UINT32_MAX

/* A call, or an event that the browser reported. */
struct compared_span {
	uint64_t begin_ns, end_ns;
	uint32_t tid;	/* any numbers, the same for calls and events */
	uint32_t of;	/* index of a call's site; name of an event */
	uint64_t told;	/* what was read of a call's arguments, or an event says of them; 0: nothing */
};

/* Where the events of a function are. */
enum compare_how {
	COMPARE_INSIDE = 0,	/* one in each call */
	COMPARE_AROUND,		/* one around each call */
	COMPARE_SOME,		/* in calls; not every call has one, and some have several */
};

enum compare_verdict {
	COMPARE_NOT = 0,	/* nothing to compare, or not all of it: `text` says why */
	COMPARE_EQUAL,
	COMPARE_DROPPED,	/* it is not what it is taken for: `text` says why */
	COMPARE_OTHER,		/* another candidate of its probe is */
};

/* A place where a probe may sit. */
struct compared_site {
	uint32_t probe;	/* the same number: candidates for one probe */
	uint32_t name;	/* of its events; COMPARE_NO_NAME */
	enum compare_how how;	/* the same for all sites of a name */
	bool idle;	/* it wasn't called while the browser reported nothing: if it is now, it serves the reporting */
	uint32_t told_by;	/* name of the events that tell of its arguments: its own, or the first inside; COMPARE_NO_NAME */
	/* found: */
	uint32_t told, told_right, told_wrong;	/* calls of which an event tells, and the probe did, the same or not */
	uint32_t no_urls;	/* given: calls whose URL was no text at all */
	enum compare_verdict verdict;
	uint32_t calls, events;	/* in the window; of a shared name, the events in its own calls */
	char text[160];
};

struct comparison {
	struct compared_span *calls;	/* are sorted */
	size_t nr_calls;
	struct compared_span *events;	/* are sorted */
	size_t nr_events;
	struct compared_site *sites;
	size_t nr_sites;
	const char *what;	/* "trace": what the events are from */
	uint64_t begin_ns, end_ns;	/* only what lies in this window is counted */
	uint64_t grain_ns;	/* events' times are rounded by less than this */
	/* Names that a function may report under that isn't among the sites: more events than calls then say nothing. */
	const uint8_t *open_names;	/* by name, as many as are used; may be NULL */
};

/*
 * Where events have a clock of their own: what has to be added to their times, so that as many as possible lie in a call of a site
 * of their name. At most `latest`, and not more than `within` less. False: no event lies in any.
 */
bool compare_shift(const struct comparison *c, int64_t latest, uint64_t within, int64_t *ret, int *ret_rc);
/* 0 or -ENOMEM. */
int compare_calls(struct comparison *c);

#endif
