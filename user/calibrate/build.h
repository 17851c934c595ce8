/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Calibration of one build of a browser: a private copy of it is run headless on pages of our own, stopped at the calls of
 * the engine's functions, and searched for the ways that lead from their arguments to what is known: the pages' URLs and
 * the objects that stand for frames. In a second run it reports what it does, and the functions whose calls don't match that
 * are dropped. Nothing of it remains but the .sites file.
 */
#ifndef FRAMESCOPE_CALIBRATE_BUILD_H
#define FRAMESCOPE_CALIBRATE_BUILD_H

#include <signal.h>
#include "target/site_file_write.h"

#define CALIBRATE_MAX_SECONDS 180	/* it gives up then; on a quiet machine it takes a quarter of that */

struct calibrate_options {
	const char *binary;
	const char *engine;	/* name or file of its definition; NULL: the one that claims the binary */
	const char *output;	/* NULL: the cache */
	const volatile sig_atomic_t *stop;	/* ends it early, with nothing written, when not 0 */
	void (*say)(const char *what);	/* told about its progress; may be NULL */
};

struct build_calibration {
	struct image *image;
	struct engine **engines;
	size_t nr_engines;
	const struct engine *engine;
	struct site_list sites;
	struct site_entry *entries;	/* of functions that were called, the dropped ones too */
	size_t nr;
	uint64_t cage;
	char made[160];		/* of what: the browser's own name and version */
	char *path;		/* the file written */
};

/* Needs CAP_BPF, CAP_PERFMON and CAP_SYS_PTRACE. ERR_INPUT: no browser of a known engine; ERR_NOTHING: none of its functions
 * were found or called. */
int calibrate_build(const struct calibrate_options *opt, struct build_calibration *ret, struct error *err);
void build_calibration_free(struct build_calibration *c);

#endif
