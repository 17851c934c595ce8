/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The parts of `framescope probes`: the table of probes, and the help in finding functions. */
#ifndef FRAMESCOPE_CLI_PROBES_H
#define FRAMESCOPE_CLI_PROBES_H

#include "cli/images.h"
#include "target/site.h"

struct probes_options {
	pid_t pid;		/* 0: `binary` */
	const char *binary;
	const char *engine, *symbols, *modules;
	const char *functions[ENGINE_MAX_PROBES];	/* PATTERN[=EVENT] */
	size_t nr_functions;
	const char *find, *strings;	/* patterns */
	bool json, no_cache;
};

/* All functions that match opt->find; all strings that match opt->strings with the functions that refer to them. Return
 * the exit code. */
int probes_find(const struct probes_options *opt, const struct image_list *images);
int probes_strings(const struct probes_options *opt, const struct image_list *images);

#endif
