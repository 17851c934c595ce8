/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Files that processes map executable, as it happens: libraries that are loaded after attaching. The kernel tells of
 * them in a perf buffer for each CPU, of all processes; that costs nothing while nothing is mapped.
 */
#ifndef FRAMESCOPE_CAPTURE_MMAP_WATCH_H
#define FRAMESCOPE_CAPTURE_MMAP_WATCH_H

#include <stdint.h>
#include <sys/types.h>

struct mmap_watch;

/* path is valid during the call; pid 0: some were missed, anything may have been mapped. */
typedef void (*mmap_watch_fn)(void *arg, pid_t pid, const char *path);

/* -errno where the kernel does not let us: the caller must look at /proc from time to time instead. */
int mmap_watch_open(mmap_watch_fn fn, void *arg, struct mmap_watch **ret);
void mmap_watch_read(struct mmap_watch *w);	/* everything since the last call; cheap */
void mmap_watch_close(struct mmap_watch *w);	/* NULL is fine */

#endif
