// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What is wrong with an option, and what was perhaps meant: the same sentences for all commands. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/distance.h"
#include "cli/command.h"

#define MAX_NAME 32	/* characters of an option's name */

static size_t min2(size_t a, size_t b)
{
	return a < b ? a : b;
}

bool command_nearer(const char *word, const char *name, size_t *distance_yet)
{
	/* one slip in three letters is a slip, more is another word */
	size_t n = strlen(word), d = word_distance(word, name, n / 3 + 1);

	if (n > 2 && !strncmp(word, name, n))
		d = 0;	/* its beginning is as good as all of it */
	if (d > n / 3 || d >= *distance_yet)
		return false;
	*distance_yet = d;
	return true;
}

static int unknown_long(const char *command, const char *arg, const struct option *options)
{
	size_t best = SIZE_MAX, n = strcspn(arg, "="), fit = 0, len = 0;
	char name[MAX_NAME + 1], all[256] = "";
	const char *nearest = NULL;

	snprintf(name, sizeof(name), "%.*s", (int)min2(n, MAX_NAME), arg);
	for (const struct option *o = options; o->name; o++) {
		if (command_nearer(name, o->name, &best))
			nearest = o->name;
		if (strncmp(o->name, arg, n))
			continue;
		if (!strcmp(o->name, name))
			return command_usage(command, "--%s takes no value", name);
		if (len < sizeof(all))
			len += snprintf(all + len, sizeof(all) - len, "%s--%s", fit++ ? " or " : "", o->name);
	}
	if (fit > 1)
		return command_usage(command, "--%s may be %s", name, all);
	if (nearest)
		return command_usage(command, "there is no option --%.*s; did you mean --%s?", (int)n, arg, nearest);
	return command_usage(command, "there is no option --%.*s", (int)n, arg);
}

int command_bad_option(const char *command, int c, char **argv, const struct option *options)
{
	const char *arg = argv[optind - 1];

	if (c == ':' && strncmp(arg, "--", 2))
		return command_usage(command, "-%c needs a value", optopt);	/* the last of several behind one dash */
	if (c == ':')
		return command_usage(command, "%s needs a value", arg);
	/* optopt tells a letter among several behind one dash, 0 a long option */
	if (optopt && !strncmp(arg, "--", 2))
		return unknown_long(command, arg + 2, options);
	if (optopt)
		return command_usage(command, "there is no option -%c", isprint(optopt) ? optopt : '?');
	return unknown_long(command, arg + strspn(arg, "-"), options);
}

int command_pid(const char *command, const char *arg, pid_t *ret)
{
	char *end;
	long n;

	errno = 0;
	n = strtol(arg, &end, 10);
	if (errno || end == arg || *end || n <= 0 || n > INT32_MAX)
		return command_usage(command, "-p takes the number of a process, not '%s'; framescope list shows browsers",
				     arg);
	*ret = n;
	return 0;
}
