/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Processes as /proc shows them: one, or one with all its descendants. Numbers are the initial namespace's. */
#ifndef FRAMESCOPE_TARGET_PROCESS_H
#define FRAMESCOPE_TARGET_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "base/error.h"

#define PROCESS_MAX_CMDLINE 1024

struct process {
	pid_t pid;
	pid_t inner_pid;	/* in its own pid namespace; == pid without one */
	pid_t parent;
	pid_t leader;		/* == pid, or the process whose thread this number is */
	uint32_t threads;
	bool zombie;
	uint64_t start_ticks;	/* since boot: tells a reused number apart */
	char comm[64];
	char name[160];		/* executable and role: "chromium (renderer)" */
	char cmdline[PROCESS_MAX_CMDLINE];	/* blanks between arguments */
};

/* -ESRCH if there is none. */
int process_read(pid_t pid, struct process *ret);
/* Exists and is not a zombie. */
bool process_alive(pid_t pid);

/* A glob that matches the file name of the process's executable; false if it can't be read. */
bool process_exe_glob(pid_t pid, char *ret, size_t size);

struct process_list {
	struct process *p;
	size_t nr, cap;
};

/* `root` and all its descendants, parents before children. ERR_NO_TARGET if there is no such process or it is a
 * thread or a zombie; the sentence says so. */
int process_tree(pid_t root, struct process_list *ret, struct error *err);
/* The descendants of `root` alone, without itself, whatever state it is in. */
int process_descendants(pid_t root, struct process_list *ret);
void process_list_free(struct process_list *l);

/* Is our own pid namespace the initial one, so that numbers agree with the kernel's? */
bool process_in_initial_namespace(void);

#endif
