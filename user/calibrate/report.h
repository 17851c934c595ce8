/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a browser itself says it did, in the run that our probes record, too: a Chrome trace, or what another kind of
 * browser writes when it ends. A reporter knows how its kind is asked for that and how the file is read; what the file
 * says is compared with our calls in one way for all (compare.h).
 */
#ifndef FRAMESCOPE_CALIBRATE_REPORT_H
#define FRAMESCOPE_CALIBRATE_REPORT_H

#include "base/error.h"
#include "calibrate/compare.h"
#include "target/engine.h"

#define REPORT_MAX_EVENTS 1000000u
#define REPORT_MAX_OPEN 4096u	/* begins that wait for their ends */
#define REPORT_NAME_MAX 200	/* bytes, as an anchor's text */

struct reported_event {
	uint64_t begin_ns, end_ns;	/* CLOCK_MONOTONIC, or the reporter's own clock */
	uint32_t pid, tid;		/* as the browser knows them, in its own pid namespace */
	uint32_t name;			/* index into the names */
	uint64_t told;			/* what it says of its function's arguments: report_told_…(); 0: nothing */
};

struct report {
	char (*names)[REPORT_NAME_MAX + 1];	/* of the events that are wanted, each once */
	size_t nr_names, cap_names;
	struct reported_event *v;
	size_t nr, cap;
	int64_t latest_ns;	/* of an own clock: it began at this moment of CLOCK_MONOTONIC, or earlier */
	struct reported_event *open;	/* whose ends haven't come yet */
	size_t nr_open, cap_open;
};

/* The index of a name, added if it is new; nr_names > index always. UINT32_MAX without memory. */
uint32_t report_want(struct report *r, const char *name);
/* The index of a name, or UINT32_MAX: nobody wants it. */
uint32_t report_name(const struct report *r, const char *name);
/* 0, -ENOMEM, or -E2BIG beyond REPORT_MAX_EVENTS. */
int report_add(struct report *r, const struct reported_event *e);
/* Of an event that is reported in two parts: its begin, whose begin_ns counts, and its end, which goes with the last begin of
 * that name on its thread. An end without a begin is none; begins beyond REPORT_MAX_OPEN are forgotten. As report_add(). */
int report_begin(struct report *r, const struct reported_event *begin);
int report_end(struct report *r, const struct reported_event *end, uint64_t end_ns);
void report_free(struct report *r);

/* One number for what an event and a probe have to tell alike, never 0: the name of an event, the area that is painted. */
uint64_t report_told_name(const char *name);
uint64_t report_told_area(int32_t x, int32_t y, int32_t w, int32_t h);

struct reporter {
	const char *what;		/* it writes, for the evidence: "trace" */
	uint64_t grain_ns;		/* its times are rounded, by less than this */
	/* What the browser is started with, up to NULL. One that ends in '=' is followed by the file's path. */
	const char *const *args, *const *env;
	const char *inspector;		/* the variable that lets WebKit's inspector be asked (inspector.h); NULL: it writes by itself */
	bool own_clock;			/* its times are since a moment that it doesn't tell, and its events all of one thread */
	/* The name of the events that the browser reports for calls of this function, into ret, and where those are; false: it
	 * reports none. */
	bool (*name_of)(const struct engine_probe *p, char *ret, size_t size, enum compare_how *ret_how);
	/* The name of the events that tell what this function's arguments say: its own, or the first inside of each call;
	 * NULL: none do. NULL itself: no event of this kind of browser does. */
	const char *(*told_by)(const struct engine_probe *p);
	/* Adds the wanted events of the file, which is hostile. -EINVAL: it is not what it should be, or cut off; -E2BIG,
	 * -ENOMEM, or what reading fails with. */
	int (*read)(int fd, struct report *r);
};

/* NULL: browsers of this engine aren't known to report anything. */
const struct reporter *reporter_of(const struct engine *e);

extern const struct reporter reporter_chrome, reporter_gecko, reporter_webkit;

#endif
