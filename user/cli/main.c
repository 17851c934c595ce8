// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Finds the subcommand in the table and runs it. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "cli/command.h"
#include "version.h"

/* Weak, so that a command whose file is left out of a build is left out of the table. */
#pragma weak command_record
#pragma weak command_probes
#pragma weak command_report
#pragma weak command_export
#pragma weak command_events
#pragma weak command_timelines
#pragma weak command_windows
#pragma weak command_serve
#pragma weak command_import
#pragma weak command_list
#pragma weak command_calibrate

static const struct command *const commands[] = {
	&command_record, &command_probes, &command_list, &command_report, &command_events, &command_timelines,
	&command_windows, &command_export, &command_import, &command_serve, &command_calibrate,
};

#define NR_COMMANDS (sizeof(commands) / sizeof(commands[0]))

static void print_help(FILE *f)
{
	fprintf(f, "framescope: a profiler of browser engines that attaches to a running, stripped browser\n\n"
		   "usage: framescope COMMAND [OPTION]…\n\n");
	for (size_t i = 0; i < NR_COMMANDS; i++)
		if (commands[i])
			fprintf(f, "  %-10s %s\n", commands[i]->name, commands[i]->summary);
	fprintf(f, "\nframescope COMMAND --help tells more; the man page has the engine definitions' syntax and the exit codes.\n");
}

/* What was printed must have arrived: a full disk or a closed pipe is an error like others. */
static int written(int code)
{
	if ((fflush(stdout) || ferror(stdout)) && !code) {
		fprintf(stderr, "framescope: can't write to standard output: %s\n", strerror(errno ?: EIO));
		return ERR_OUTPUT;
	}
	return code;
}

int main(int argc, char **argv)
{
	if (argc < 2 || !strcmp(argv[1], "--help") || !strcmp(argv[1], "help") || !strcmp(argv[1], "-h")) {
		print_help(argc < 2 ? stderr : stdout);
		return written(argc < 2 ? ERR_USAGE : 0);
	}
	if (!strcmp(argv[1], "--version")) {
		printf("framescope %s\n", FRAMESCOPE_VERSION);
		return 0;
	}
	for (size_t i = 0; i < NR_COMMANDS; i++)
		if (commands[i] && !strcmp(commands[i]->name, argv[1]))
			return written(commands[i]->main(argc - 1, argv + 1));
	fprintf(stderr, "framescope: there is no command '%s'; framescope --help lists them\n", argv[1]);
	return ERR_USAGE;
}
