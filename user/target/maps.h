/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* /proc/PID/maps, read whole and split safely: paths may hold blanks, newlines (as \012) and " (deleted)". */
#ifndef FRAMESCOPE_TARGET_MAPS_H
#define FRAMESCOPE_TARGET_MAPS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct map_entry {
	uint64_t start, end;
	uint64_t offset;	/* in the file */
	uint64_t dev;		/* as st_dev; 0 with inode 0: not a file */
	uint64_t inode;
	bool read, write, exec, shared;
	bool deleted;		/* the file has no name any more */
	const char *path;	/* as the process sees it; "" for anonymous memory. Valid during the call */
};

/* Return non-zero to stop; maps_each() then returns that. */
typedef int (*map_fn)(void *arg, const struct map_entry *m);

/* Splits `text` (changed in place). Lines that are not of the known form are skipped. */
int maps_parse(char *text, map_fn fn, void *arg);

/* 0, what fn returned, or -errno (-ESRCH: no such process, -EACCES). */
int maps_each(pid_t pid, map_fn fn, void *arg);

#endif
