// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Finds the subcommand in the table and runs it. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include "base/text.h"
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

static int unknown_command(const char *word)
{
	const struct command *nearest = NULL;
	size_t distance = SIZE_MAX;
	char shown[64];

	shown[text_printable(word, strlen(word), shown, sizeof(shown) - 1)] = '\0';
	for (size_t i = 0; i < NR_COMMANDS; i++)
		if (commands[i] && command_nearer(word, commands[i]->name, &distance))
			nearest = commands[i];
	if (*word == '-')
		fprintf(stderr, "framescope: a command stands first, then its options; framescope --help lists them\n");
	else if (nearest)
		fprintf(stderr, "framescope: there is no command '%s'; did you mean %s?\n", shown, nearest->name);
	else
		fprintf(stderr, "framescope: there is no command '%s'; framescope --help lists them\n", shown);
	return ERR_USAGE;
}

/* Its exit code. */
static int run(int argc, char **argv)
{
	for (size_t i = 0; i < NR_COMMANDS; i++)
		if (commands[i] && !strcmp(commands[i]->name, argv[0]))
			return commands[i]->main(argc, argv);
	return unknown_command(argv[0]);
}

int main(int argc, char **argv)
{
	char *of_command[] = { argc > 2 ? argv[2] : NULL, "--help", NULL };

	if (argc < 2) {
		print_help(stderr);
		return ERR_USAGE;
	}
	if (argc > 2 && !strcmp(argv[1], "help"))
		return written(run(2, of_command));
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "help") || !strcmp(argv[1], "-h")) {
		print_help(stdout);
		return written(0);
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		printf("framescope %s\n", FRAMESCOPE_VERSION);
		return written(0);
	}
	return written(run(argc - 1, argv + 1));
}
