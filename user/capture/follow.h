/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The target's processes while a capture lives: which there are, since when, and their CPU clocks. */
#ifndef FRAMESCOPE_CAPTURE_FOLLOW_H
#define FRAMESCOPE_CAPTURE_FOLLOW_H

#include "capture/load.h"
#include "capture/recording_file.h"
#include "capture/table.h"
#include "target/process.h"

struct tracked {
	struct process p;
	const struct engine *engine;
	uint64_t start_ns, end_ns;	/* CLOCK_MONOTONIC; 0: before we looked, still alive */
	uint64_t cpu_ns;		/* last reading */
	bool has_cpu;
	bool look;			/* it may have mapped something new */
};

struct follow {
	struct tracked *p;
	size_t nr, cap;
	int targets_fd;
};

/* Seeds the kernel's set with `root` and, unless alone, its descendants, until no new one appears. */
int follow_seed(struct follow *f, pid_t root, bool alone, struct error *err);
void follow_free(struct follow *f);

struct tracked *follow_find(struct follow *f, pid_t pid);	/* the living one of that number, else the last; NULL */
/* A process that a target forked; NULL: out of memory. */
struct tracked *follow_add(struct follow *f, pid_t pid, pid_t parent, const char *comm, uint64_t now_ns);
/* After an exec: everything but its numbers may be new. */
void follow_refresh(struct tracked *t);
void follow_exit(struct follow *f, struct tracked *t, uint64_t now_ns);
/* Processes whose end was not reported, since the record was lost or the number was never in the set. */
void follow_reap(struct follow *f, uint64_t now_ns);
size_t follow_living(const struct follow *f);

/* windows.c; as capture_windows(). */
int follow_windows(const struct follow *f, struct capture_window **ret, size_t *ret_nr);

int follow_write(const struct tracked *t, struct recording_writer *w);

/* Reads the CPU clock of the process (children's time excluded) and writes it. Silent where it can't be read. */
void follow_read_cpu(struct tracked *t, struct recording_writer *w, uint64_t now_ns, bool final);

#endif
