// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* framescope report: what a recording says, in figures. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cli/command.h"
#include "cli/report.h"

#define MAX_SLOWEST 10000

static int print_help(void)
{
	printf("usage: framescope report FILE [OPTION]…\n\n"
	       "Sums a recording up: time per event type and per probe, the slowest events, what was lost.\n\n"
	       "  -n, --slowest N  how many of the slowest events are listed (10)\n"
	       "      --json       everything, as one JSON object\n"
	       "      --strict     exit code %d if records were lost or the recording is incomplete\n"
	       "  -h, --help\n", ERR_LOSS);
	return 0;
}

static int report(const char *path, bool json, bool strict, uint32_t slowest)
{
	const struct session_counts *counts;
	struct report_stats stats;
	struct error err = { 0 };
	struct session *s;
	char missing[INCOMPLETE_TEXT];
	bool incomplete;
	int rc = command_load(path, &s, &err);

	if (rc)
		return command_fail(&err);
	rc = report_stats_gather(s, slowest, &stats);
	if (!rc) {
		rc = json ? report_json(path, s, &stats, &err) : report_text(path, s, &stats);
		report_stats_release(&stats);
	}
	counts = session_get_counts(s);
	incomplete = counts->lost || session_info(s)->truncated;
	if (!rc && strict && incomplete)
		rc = error_set(&err, ERR_LOSS, -ENODATA, "'%s' is not complete: %llu records were lost%s%s", path,
			       (unsigned long long)counts->lost, session_info(s)->truncated ? " while recording, and " : "",
			       session_incomplete(s, missing, sizeof(missing)));
	else if (rc == -ENOMEM)
		error_set(&err, ERR_OTHER, rc, "out of memory while summing up '%s'", path);
	session_free(s);
	return rc ? command_fail(&err) : 0;
}

static int report_main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "json", no_argument, NULL, 'j' },
		{ "slowest", required_argument, NULL, 'n' },
		{ "strict", no_argument, NULL, 's' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	bool json = false, strict = false;
	unsigned long slowest = 10;
	char *end;
	int c;

	optind = 0;
	opterr = 0;
	while ((c = getopt_long(argc, argv, ":n:h", options, NULL)) != -1) {
		switch (c) {
		case 'j': json = true; break;
		case 's': strict = true; break;
		case 'h': return print_help();
		case 'n':
			errno = 0;
			slowest = strtoul(optarg, &end, 10);
			if (errno || *end || end == optarg || *optarg == '-' || slowest > MAX_SLOWEST)
				return command_usage("report", "--slowest takes a number from 0 to %d, not '%s'", MAX_SLOWEST,
						     optarg);
			break;
		default:
			return command_bad_option("report", c, argv, options);
		}
	}
	if (optind + 1 != argc)
		return command_usage("report", optind == argc ? "name a recording" : "one recording at a time");
	return report(argv[optind], json, strict, slowest);
}

const struct command command_report = {
	.name = "report",
	.summary = "sum a recording up: event types, probes, the slowest events, losses",
	.main = report_main,
};
