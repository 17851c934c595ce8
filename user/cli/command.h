/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The table of subcommands: one file each. Only here and in those files does anything print. */
#ifndef FRAMESCOPE_CLI_COMMAND_H
#define FRAMESCOPE_CLI_COMMAND_H

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include "base/error.h"
#include "model/session.h"

struct command {
	const char *name;
	const char *summary;	/* one line */
	int (*main)(int argc, char **argv);	/* argv[0] is the command's name; returns the exit code */
};

/* Each command file defines one: command_record in record.c, and so on. main.c lists them. */
extern const struct command command_record, command_probes, command_report, command_export, command_events,
	command_timelines, command_windows, command_serve, command_import, command_list, command_calibrate;

/* "framescope: TEXT" on stderr; returns the exit code that belongs to err->kind. */
int command_fail(const struct error *err);
/* ERR_USAGE; with a hint at --help, unless the sentence tells what to do (it has a ';' or a '?'). */
int command_usage(const char *command, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* getopt_long() returned `c`, '?' or ':' (its letters begin with a colon): command_usage() that says which option it
 * is and what is wrong with it. */
int command_bad_option(const char *command, int c, char **argv, const struct option *options);
/* The value of -p. 0 or ERR_USAGE, said. */
int command_pid(const char *command, const char *arg, pid_t *ret);
/* Is `name` what somebody meant who wrote `word`, and nearer than others so far? *distance_yet begins as SIZE_MAX. */
bool command_nearer(const char *word, const char *name, size_t *distance_yet);
/* ERR_USAGE if `out` is the very file `in`: writing it would destroy what is read. */
int command_distinct(const char *in, const char *out, struct error *err);
/* Opens a recording and builds its session, for every reading command. */
int command_load(const char *path, struct session **ret, struct error *err);
/* The options of record that left calls out, as a recording's info has them; of one that doesn't say, both. */
const char *command_filters(uint32_t only_under, uint64_t min_duration_ns);

#endif
