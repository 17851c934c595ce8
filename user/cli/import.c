// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* framescope import: what others recorded, as a recording. */
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include "cli/command.h"
#include "export/import.h"

static void print_help(void)
{
	printf("usage: framescope import PROFILE -o OUT.fscope\n\n"
	       "Makes a recording of PROFILE, so that report, events, export and serve work on it. PROFILE is a Chrome trace\n"
	       "(of chrome://tracing, DevTools, Perfetto's JSON or our own) or a profile with metricTypes, plain or gzipped.\n\n"
	       "  -o, --output OUT    the recording\n"
	       "  -h, --help\n");
}

static int run(const char *path, const char *out)
{
	struct import_counts counts;
	struct recording_writer *w;
	struct error err = { 0 };

	if (command_distinct(path, out, &err) || recording_writer_create_whole(out, &w, &err) ||
	    import_profile(path, w, &counts, &err))
		return command_fail(&err);
	fprintf(stderr, "%llu events, %llu sums of calls, %llu marks", (unsigned long long)counts.events,
		(unsigned long long)counts.sums, (unsigned long long)counts.marks);
	if (counts.skipped)
		fprintf(stderr, "; %llu items have no place in a recording", (unsigned long long)counts.skipped);
	if (counts.bad_values)
		fprintf(stderr, "; %llu values are no numbers or out of range", (unsigned long long)counts.bad_values);
	if (counts.cut)
		fprintf(stderr, "; %llu calls were cut where they reached out of their caller", (unsigned long long)counts.cut);
	if (counts.too_deep)
		fprintf(stderr, "; %llu calls were too deep and left out", (unsigned long long)counts.too_deep);
	fprintf(stderr, "%s\n", counts.truncated ? "; the file ends in the middle" : "");
	return 0;
}

static int main_import(int argc, char **argv)
{
	static const struct option options[] = {
		{ "output", required_argument, NULL, 'o' }, { "help", no_argument, NULL, 'h' }, { 0 },
	};
	const char *out = NULL;
	int c;

	optind = 0;
	opterr = 0;
	while ((c = getopt_long(argc, argv, ":o:h", options, NULL)) != -1) {
		switch (c) {
		case 'o': out = optarg; break;
		case 'h': print_help(); return 0;
		default: return command_bad_option("import", c, argv, options);
		}
	}
	if (argc - optind != 1)
		return command_usage("import", "name one profile");
	if (!out)
		return command_usage("import", "say with -o where to write the recording");
	return run(argv[optind], out);
}

const struct command command_import = { "import", "make a recording of a Chrome trace or a profile of others", main_import };
