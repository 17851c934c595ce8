// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What is wrong with an option, and what was perhaps meant: the same sentences for all commands. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cli/command.h"

#define MAX_NAME 32	/* characters of a word that is compared */

static size_t min2(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Letters inserted, removed, replaced, or exchanged with their neighbour (optimal string alignment). */
static size_t distance(const char *a, const char *b)
{
	size_t n = strlen(a), m = strlen(b), d[MAX_NAME + 1][MAX_NAME + 1];

	if (n > MAX_NAME || m > MAX_NAME)
		return MAX_NAME;
	for (size_t i = 0; i <= n; i++) {
		for (size_t j = 0; j <= m; j++) {
			if (!i || !j) {
				d[i][j] = i + j;
				continue;
			}
			d[i][j] = min2(min2(d[i - 1][j], d[i][j - 1]) + 1, d[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				d[i][j] = min2(d[i][j], d[i - 2][j - 2] + 1);
		}
	}
	return d[n][m];
}

bool command_nearer(const char *word, const char *name, size_t *distance_yet)
{
	size_t n = strlen(word), d = distance(word, name);

	if (n > 2 && !strncmp(word, name, n))
		d = 0;	/* its beginning is as good as all of it */
	/* one slip in three letters is a slip, more is another word */
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
