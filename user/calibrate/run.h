/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the parts of calibration share while a private browser runs: build.c (the whole), drive.c (its
 * pages), hits.c (its calls), rules_find.c (its style rules). */
#ifndef FRAMESCOPE_CALIBRATE_RUN_H
#define FRAMESCOPE_CALIBRATE_RUN_H

#include "calibrate/browser.h"
#include "calibrate/build.h"
#include "calibrate/calls.h"
#include "calibrate/choose.h"
#include "calibrate/inspector.h"
#include "calibrate/pages.h"
#include "calibrate/snoop.h"

#define TEXT_MAX 96
#define TICK_MS 100
#define MAX_WINDOWS 32

struct run {
	const struct calibrate_options *opt;
	struct build_calibration *result;
	struct error *err;
	struct private_copy copy;
	struct pages pages;
	const struct browser_kind *kind;
	struct copy_list files;	/* where the engine is a library */
	char version[101];	/* of it; "": the browser tells its own */
	char module[NAME_MAX + 1];	/* the engine's file, beside the browser's program */
	struct browser *browser;
	struct snoop *snoop;
	struct inspector inspector;
	const struct reporter *reporter;	/* what the browser says of itself; NULL: nothing */
	struct recorded_calls *calls;	/* and what our probes see in the same run */
	struct calls_verdict *verdicts;	/* per log */
	/* of the run that is looked into: */
	struct memory *memory;
	struct objects *objects;
	pid_t windows[MAX_WINDOWS];	/* processes that are known to show pages */
	size_t nr_windows;
	struct call_log *logs;
	size_t nr_logs;
	struct known known;
	struct choose_texts texts;
	struct site_entry rules;	/* of rules_find(); without arguments: not found */
	char text[KNOWN_MAX][TEXT_MAX];
	char session[128];	/* of a browser that is driven */
	unsigned int phase;
	unsigned int strange[SNOOP_MAX_SITES];	/* calls of the phase that led to nothing known */
	unsigned int cage_tries;
	int stack_reg;
	uint64_t deadline_ns;
	bool together;
	int failed;
};

void run_say(const struct run *r, const char *what);
/* Where this browser finds the page: one that goes on by itself stays where it is. */
const char *run_host(const struct run *r, const struct page *p);

/* Starts the browser, with a report if the reporter is given, and waits until its first page is there. `started`, which may
 * be NULL, is called as soon as there is a process. All of these set r->failed, which they return, when something goes wrong. */
int drive_start(struct run *r, const struct reporter *reporter, int (*started)(struct run *r));
/* Shows every page until it has done all that it does. */
int drive_pages(struct run *r);
/* Only where kind->pipe: shows a page with nothing in it; runs a script there. False: it failed. */
bool drive_blank(struct run *r);
bool drive_script(struct run *r, const char *script);
/* Lets the browser end in its own way, so that it finishes its report. False: it takes too long, or can't be told to. */
bool drive_end(struct run *r);

/* After the pages, while the browser still runs: looks for a function that is called for matched rules, where the engine has
 * such a probe. What can't be found is said, and no failure. */
int rules_find(struct run *r);

/* Puts probes on the functions of r->logs, whose calls are looked into while drive_pages() runs. */
int hits_attach(struct run *r);
/* Each function may be looked into so many times more. Nothing without probes. */
void hits_budget(struct run *r, int hits);

#endif
