/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The ELF files that processes of the target have mapped executable, each once, whatever number of processes and
 * paths lead to it. Files are opened by way of /proc/PID/map_files, so that containers, replaced and deleted files
 * are all the same: what is opened is what is mapped.
 */
#ifndef FRAMESCOPE_TARGET_MODULES_H
#define FRAMESCOPE_TARGET_MODULES_H

#include "base/error.h"
#include "target/maps.h"

struct module {
	uint64_t dev, inode;	/* as in /proc/PID/maps */
	char *path;		/* as the process sees it */
	pid_t pid;		/* a process that maps it */
	uint64_t start, end;	/* one mapping of it there: the name in map_files */
	bool deleted;		/* it has no name any more */
};

struct module_list {
	struct module *m;
	size_t nr, cap;
};

/* Adds what `pid` maps and the list doesn't have yet. *ret_added (may be NULL): how many. -errno. */
int modules_add_process(struct module_list *l, pid_t pid, size_t *ret_added);
/* Where that is -EACCES or -EPERM: ERR_PERMISSION, with what lacks. */
int modules_denied(pid_t pid, struct error *err);
void modules_free(struct module_list *l);

const char *module_basename(const struct module *m);

/* The mapped file itself, read-only. ERR_PERMISSION where /proc/PID/map_files is closed to us. */
int module_open(const struct module *m, int *ret_fd, struct error *err);

/* A path of ours that leads to the mapped file `fd`; ERR_CHANGED if another file stands there by now. */
int module_find_path(const struct module *m, int fd, char *ret, size_t cap, struct error *err);

#endif
