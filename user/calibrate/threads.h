/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which thread is which: a browser in a pid namespace of its own reports other numbers than the kernel gives us. */
#ifndef FRAMESCOPE_CALIBRATE_THREADS_H
#define FRAMESCOPE_CALIBRATE_THREADS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct thread_pair {
	uint32_t tid;	/* in the initial namespace */
	uint32_t inner_pid, inner_tid;	/* in its own */
};

struct thread_map {
	struct thread_pair *v;
	size_t nr, cap;
};

/* Adds the threads that the descendants of `root` have now. Those that end between two calls are never known. 0 or -ENOMEM. */
int threads_note(struct thread_map *m, pid_t root);
/* 0: not known. */
uint32_t threads_outer(const struct thread_map *m, uint32_t inner_pid, uint32_t inner_tid);
int threads_known(const struct thread_map *m, uint32_t tid);
void threads_free(struct thread_map *m);

#endif
