/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What differs between kinds of browsers when calibration runs one. */
#ifndef FRAMESCOPE_CALIBRATE_KIND_H
#define FRAMESCOPE_CALIBRATE_KIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct browser_kind {
	const char *engine;
	const char *const *args;	/* up to NULL; "%s" in one becomes the profile's folder */
	const char *const *env;		/* further variables */
	const char *const *prefs;	/* the lines of user.js in the profile; NULL: it has no such file */
	const char *program;	/* the engine is a library, which comes with this program; NULL: every browser has its own copy */
	uint8_t text;	/* how its strings are kept: KIND_WTF_WEBKIT, or 0: in a way that needs no telling */
	bool display;	/* it can't do without one */
	bool pipe;	/* it is driven over file descriptors 3 and 4; else its pages ask what is next, and it is started with one */
	bool root_navigates;	/* its first process shows no page, but decides about navigations */
	bool cage;	/* pointers between its objects may be compressed */
	bool from_start;	/* its frames and documents have to be seen when they are made, from the first one on */
};

/* Of a browser with this engine; NULL: calibration knows of none. */
const struct browser_kind *kind_of(const char *engine);

/* The name and version in the application.ini beside a program, or "". */
void kind_read_version(const char *binary, char *ret, size_t size);

#endif
