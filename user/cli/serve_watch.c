// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Which windows a living target has, and which of them work. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "cli/serve_watch.h"

static const struct watched_window *find(const struct watch *w, const struct process *p)
{
	for (size_t i = 0; i < w->nr; i++)
		if (w->windows[i].seen.process.pid == p->pid && w->windows[i].seen.process.start_ticks == p->start_ticks)
			return &w->windows[i];
	return NULL;
}

int watch_look(const struct watch *w, const struct capture *c, struct watch *ret, bool *ret_same)
{
	struct capture_window *found;
	struct watched_window *windows;
	size_t nr;
	int rc = capture_windows(c, &found, &nr);

	if (rc)
		return rc;
	windows = calloc(nr + 1, sizeof(*windows));
	*ret_same = nr == w->nr;
	for (size_t i = 0; windows && i < nr; i++) {
		const struct watched_window *old = find(w, &found[i].process);

		windows[i].seen = found[i];
		if (!old && w->looked)	/* new since the last look: all of it is of late */
			windows[i].activity_ns = found[i].cpu_ns;
		else if (old && found[i].cpu_ns >= old->seen.cpu_ns)
			windows[i].activity_ns = old->activity_ns / 2 + found[i].cpu_ns - old->seen.cpu_ns;
		*ret_same = *ret_same && old && !strcmp(old->seen.process.name, found[i].process.name);
	}
	free(found);
	if (!windows)
		return -ENOMEM;
	*ret = (struct watch){ windows, nr, true };
	return 0;
}

void watch_free(struct watch *w)
{
	free(w->windows);
	*w = (struct watch){ 0 };
}

bool watch_has(const struct watch *w, uint32_t pid)
{
	for (size_t i = 0; i < w->nr; i++)
		if ((uint32_t)w->windows[i].seen.process.pid == pid)
			return true;
	return false;
}
