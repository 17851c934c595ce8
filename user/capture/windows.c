// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Which of the target's processes are windows. */
#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include "capture/follow.h"

static uint64_t read_cpu(pid_t pid)
{
	struct timespec ts;
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &ts))
		return 0;
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

int follow_windows(const struct follow *f, struct capture_window **ret, size_t *ret_nr)
{
	struct capture_window *windows = calloc(f->nr + 1, sizeof(*windows));
	size_t nr = 0;

	if (!windows)
		return -ENOMEM;
	for (size_t i = 0; i < f->nr; i++) {
		const struct tracked *t = &f->p[i];
		struct process p;

		/* read anew: children of a zygote learn late what they are to be */
		if (t->end_ns || !t->engine || process_read(t->p.pid, &p) || !engine_is_window(t->engine, p.cmdline))
			continue;
		windows[nr].process = p;
		windows[nr].engine = t->engine->name;
		windows[nr++].cpu_ns = read_cpu(p.pid);
	}
	*ret = windows;
	*ret_nr = nr;
	return 0;
}
