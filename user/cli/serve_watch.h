/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which windows a living target has, and which of them work. */
#ifndef FRAMESCOPE_CLI_SERVE_WATCH_H
#define FRAMESCOPE_CLI_SERVE_WATCH_H

#include "capture/capture.h"

struct watched_window {
	struct capture_window seen;
	uint64_t activity_ns;	/* CPU time of late; what is older counts half with every look */
};

struct watch {
	struct watched_window *windows;
	size_t nr;
	bool looked;
};

/* Looks again: *ret is what is to be shown from now on instead of w, with its own memory; w stays as it is.
 * *ret_same: no window came, went or changed its name. -ENOMEM. */
int watch_look(const struct watch *w, const struct capture *c, struct watch *ret, bool *ret_same);
void watch_free(struct watch *w);
/* Is that process a window? */
bool watch_has(const struct watch *w, uint32_t pid);

#endif
