/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Writes what calibration found as a .sites file (site_file.h). */
#ifndef FRAMESCOPE_TARGET_SITE_FILE_WRITE_H
#define FRAMESCOPE_TARGET_SITE_FILE_WRITE_H

#include "target/site.h"

/* One section. */
struct site_entry {
	const struct site *site;
	struct arg_spec args[RECORD_MAX_ARGS];
	size_t nr_args;
	char evidence[320];
	bool compared;		/* its calls, with the events that the browser itself reported in the same run: */
	uint32_t calls, reported;
	char dropped[208];	/* why it isn't to be used; "" if it is */
};

struct site_build {
	const struct image *image;
	const char *engine;
	const char *made;	/* by what, of what: for people */
	uint64_t cage;		/* 0: none */
	const struct site_entry *entries;
	size_t nr;
};

/* The whole text, to be freed; NULL without memory. Entries without arguments are written too: their calls were seen. */
char *site_file_text(const struct site_build *b);

/* To `path`, or with NULL to the cache, where record looks: $FRAMESCOPE_CACHE or /var/cache/framescope, builds/<build-id>.sites,
 * readable by everyone, writable by its owner. Nothing but the whole file ever stands there. *ret_path (may be NULL): which
 * file it is, to be freed. */
int site_file_write(const struct site_build *b, const char *path, char **ret_path, struct error *err);

#endif
