/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Probes on files. Whatever happens, closing the descriptors takes every probe away again. */
#ifndef FRAMESCOPE_CAPTURE_ATTACH_H
#define FRAMESCOPE_CAPTURE_ATTACH_H

#include "capture/load.h"

/* uapi/linux/bpf.h, which Debian 12's headers don't have yet */
#define TRACE_UPROBE_MULTI 48	/* of 6.6 */
#define TRACE_UPROBE_SESSION 57	/* of 6.13 */

struct bpf_link;

struct links {
	struct link { int fd; struct bpf_link *link; } *l;
	size_t nr, cap;
};

/* One place in a file. */
struct attach_site {
	uint64_t offset;
	uint64_t cookie;	/* wire.h */
};

/*
 * Attaches `program` at the places in the file behind `fd`, in every process that maps it. What can't be probed is
 * left out and reported by `refused` with its cookie and a reason; only -ENOMEM and the like are errors.
 */
int attach_sites(const struct loaded *l, struct links *links, enum program program, int fd,
		 const struct attach_site *sites, size_t nr,
		 void (*refused)(void *arg, uint64_t cookie, const char *reason), void *arg);

/* One link for entries at all of these places, by a program that was loaded with TRACE_UPROBE_MULTI. Its descriptor or
 * -errno, if only for one place. */
int attach_multi(int program_fd, int fd, const struct attach_site *sites, size_t nr);

/* Is this rung's way of attaching known to the kernel? Tried with an empty program on a function of our own, since it
 * takes the kernel some 100 ms to verify the real ones. 0 or -errno. */
int attach_try(enum rung rung, bool sleepable);

void links_free(struct links *links);

#endif
