/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The probes as record would set them, on a browser that calibration runs: which calls they see while its pages are shown,
 * to be compared with what the browser itself reports.
 */
#ifndef FRAMESCOPE_CALIBRATE_CALLS_H
#define FRAMESCOPE_CALIBRATE_CALLS_H

#include <sys/types.h>
#include "calibrate/compare.h"
#include "calibrate/report.h"
#include "target/site.h"

struct recorded_calls;

/* A place where a probe sits. */
struct calls_site {
	const struct site *site;
	bool idle;	/* nothing called it in a run of the same pages without a report */
};

/* Attaches to the process and its descendants, and records the calls of these sites of the list, with their arguments, from
 * now on. `engine`: a definition's name or file. */
int calls_open(pid_t root, const char *engine, const struct site_list *list, const struct calls_site *sites, size_t nr,
	       struct recorded_calls **ret, struct error *err);
/* To be called at least every second or so. */
int calls_poll(struct recorded_calls *c, struct error *err);
int calls_fd(const struct recorded_calls *c);
/* Ends recording; the browser lives on, without probes. */
int calls_end(struct recorded_calls *c, struct error *err);
void calls_close(struct recorded_calls *c);	/* NULL is fine */

/* What an entry of `sites` turned out to be. */
struct calls_verdict {
	enum compare_verdict verdict;
	uint32_t calls, events;
	uint32_t told, told_right, told_wrong;	/* calls whose arguments an event tells, and the probe read alike, or not */
	uint32_t no_urls;	/* calls whose URL, as the probe read it, was no text at all */
	char text[160];
};

/*
 * Compares what was recorded of the sites, up to calls_end(), with the report in the file of that name, which the browser
 * has finished. Fills one verdict per site. ERR_INPUT: there is no report, or not a whole one, or records were lost.
 */
int calls_compare(const struct recorded_calls *c, const struct reporter *reporter, const char *path, const struct engine *engine,
		  const struct calls_site *sites, size_t nr, struct calls_verdict *ret, struct error *err);

#endif
