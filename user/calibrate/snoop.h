/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Stops a process of our own at the first instruction of chosen functions, a few times each. For calibration. */
#ifndef FRAMESCOPE_CALIBRATE_SNOOP_H
#define FRAMESCOPE_CALIBRATE_SNOOP_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "base/error.h"
#include "snoop_hit.h"

struct snoop;

/* Looks at a process that stands still; it goes on when this returns. */
typedef void (*snoop_fn)(void *arg, const struct snoop_hit *hit);

/*
 * Puts a probe at each of the file's offsets; their indices are the sites of the hits. Only descendants of `root` and
 * itself are ever stopped. Needs CAP_BPF and CAP_PERFMON. What the kernel refuses to probe has no hits.
 */
int snoop_open(const char *path, const uint64_t *offsets, size_t nr, pid_t root, snoop_fn fn, void *arg,
	       struct snoop **ret, struct error *err);
/* Takes all probes away; no process is left stopped by them. NULL is fine. */
void snoop_close(struct snoop *s);

/* Each site may stop its process so many times more. 0: none, as at the beginning. */
void snoop_budget(struct snoop *s, int hits);
/* So many more of this site, instead. */
void snoop_budget_of(struct snoop *s, size_t site, int hits);
/* One more of this site: the last one was of no use. */
void snoop_again(struct snoop *s, size_t site);
/* This process is not stopped any more. */
void snoop_spare(struct snoop *s, pid_t pid);
/* Calls of a site since it was attached. */
uint64_t snoop_calls(const struct snoop *s, size_t site);

/* Readable when there is something for snoop_handle(). */
int snoop_fd(const struct snoop *s);
/* Calls fn for every hit that waits, then lets the processes go on. */
int snoop_handle(struct snoop *s);

#endif
