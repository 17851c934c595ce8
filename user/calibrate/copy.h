/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A private copy of a browser: a probe sits on a file, and nobody else's browser runs this one. */
#ifndef FRAMESCOPE_CALIBRATE_COPY_H
#define FRAMESCOPE_CALIBRATE_COPY_H

#include <limits.h>
#include <sys/types.h>
#include "base/error.h"

struct private_copy {
	char folder[PATH_MAX - 512];	/* "" if there is none */
	char binary[PATH_MAX];		/* the copied one, */
	char module[PATH_MAX];		/* and the file beside it that the engine is in, perhaps the same */
	char home[PATH_MAX];		/* an empty folder of the user's below it */
	uid_t uid;			/* who the browser runs as: nobody, if we are root */
	gid_t gid;
	pid_t janitor;			/* removes the folder if we end without doing so */
	int life;			/* a pipe's end that it watches */
};

/* Files and their names in the copy; the first is the program. Where there are none, the program's whole folder is copied. */
struct copy_list {
	struct {
		char path[PATH_MAX];
		char name[NAME_MAX + 1];
	} file[4];
	size_t nr;
};

/* 0, -ENOSPC or -ENAMETOOLONG. */
int copy_list_add(struct copy_list *l, const char *path, const char *name);

/* `module` is the name of the engine's file in the program's folder. Whatever becomes of us from here on, the copy goes: if
 * we are killed, when the last process that we started is gone. */
int copy_make(const char *binary, const char *module, const struct copy_list *list, struct private_copy *ret, struct error *err);
/* Removes all of it. */
void copy_remove(struct private_copy *c);

#endif
