/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The files that a command is to look into: one that is named, or those that the processes of a target have mapped. */
#ifndef FRAMESCOPE_CLI_IMAGES_H
#define FRAMESCOPE_CLI_IMAGES_H

#include <sys/types.h>
#include "target/engine.h"
#include "target/image.h"

struct image_list {
	struct image **images;	/* their path is where the file can be found, for messages */
	size_t nr;
	size_t modules;		/* files that the target has mapped; those that no engine claims aren't opened */
	char name[160];		/* of the target's first process; "" for a file */
};

/* ERR_INPUT if it can't be probed at all. */
int images_open_file(const char *path, struct image_list *ret, struct error *err);
/* Of `pid` and its descendants, those that one of the engines claims; all with nr_engines 0. A file that is no ELF file of
 * a supported machine is passed over; one that was replaced since is opened as it is mapped, with `warn` called. */
int images_open_target(pid_t pid, struct engine *const *engines, size_t nr_engines, struct image_list *ret,
		       void (*warn)(const struct error *err), struct error *err);
void images_close(struct image_list *l);

struct module;
/* The file that a process has mapped; where only root may open that, the one that its path leads to. */
int image_open_module(const struct module *m, struct image **ret, void (*warn)(const struct error *err), struct error *err);

#endif
