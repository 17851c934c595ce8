// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* framescope calibrate: finds out, with a private instance of a browser, where its objects keep URLs and frames, and whether its
 * functions are what they seem. */
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "calibrate/build.h"
#include "cli/command.h"

static const char help[] =
	"usage: framescope calibrate BINARY [OPTION]…\n"
	"\n"
	"Copies the folder of a Chromium or Firefox, or WebKitGTK's libraries and its MiniBrowser, runs the copy headless with a new\n"
	"profile on pages of its own, and finds how to read URLs and frames from the arguments of its functions. Runs it again while\n"
	"the browser reports what it does (its trace, Gecko's profiler, WebKit's timeline), and drops functions whose calls don't\n"
	"match that. record then uses what was found in this very build. Browsers that are running aren't touched, and nothing is\n"
	"left behind. Needs root, and Xvfb for WebKitGTK; takes less than 90 seconds on a machine that has nothing else to do.\n"
	"\n"
	"  -o, --output FILE       write it there; default: /var/cache/framescope/builds/BUILD-ID.sites, where record looks\n"
	"      --engine NAME|FILE  the engine definition to use\n"
	"  -q, --quiet             say nothing but errors\n"
	"  -h, --help\n";

static volatile sig_atomic_t stop;

static void on_signal(int sig)
{
	stop = sig;
}

static void on_progress(const char *what)
{
	fprintf(stderr, "%s\n", what);
}

static void print_found(const struct build_calibration *c)
{
	for (size_t i = 0; i < c->nr; i++) {
		const struct site_entry *e = &c->entries[i];
		char text[256];

		printf("%s\n    %s%s\n", e->site->probe->name, e->dropped[0] ? "dropped: " : "", e->dropped[0] ? e->dropped : e->evidence);
		for (size_t a = 0; a < e->nr_args; a++) {
			expr_print(&e->args[a], c->image->arch, text, sizeof(text));
			printf("    %s = %s\n", arg_field_name(e->args[a].field), text);
		}
	}
}

static void print_totals(const struct build_calibration *c)
{
	size_t equal = 0, dropped = 0;

	for (size_t i = 0; i < c->nr; i++) {
		dropped += c->entries[i].dropped[0] != '\0';
		equal += c->entries[i].compared && !c->entries[i].dropped[0];
	}
	printf("%zu functions written to %s: %zu equal to the browser's own events, %zu dropped, %zu not compared\n", c->nr, c->path,
	       equal, dropped, c->nr - equal - dropped);
}

static int run(const struct calibrate_options *opt)
{
	struct sigaction action = { .sa_handler = on_signal }, ignore = { .sa_handler = SIG_IGN };
	struct build_calibration c;
	struct error err;

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
	sigaction(SIGPIPE, &ignore, NULL);
	if (calibrate_build(opt, &c, &err))
		return command_fail(&err);
	if (opt->say)
		print_found(&c);
	print_totals(&c);
	build_calibration_free(&c);
	return 0;
}

static int main_calibrate(int argc, char **argv)
{
	static const struct option options[] = {
		{ "output", required_argument, NULL, 'o' }, { "engine", required_argument, NULL, 'e' },
		{ "quiet", no_argument, NULL, 'q' }, { "help", no_argument, NULL, 'h' }, { 0 },
	};
	struct calibrate_options opt = { .stop = &stop, .say = on_progress };
	int c;

	optind = 0;
	opterr = 0;
	while ((c = getopt_long(argc, argv, ":o:qh", options, NULL)) != -1) {
		switch (c) {
		case 'o': opt.output = optarg; break;
		case 'e': opt.engine = optarg; break;
		case 'q': opt.say = NULL; break;
		case 'h': fputs(help, stdout); return 0;
		default: return command_bad_option("calibrate", c, argv, options);
		}
	}
	if (argc - optind != 1)
		return command_usage("calibrate", "name one browser's program");
	opt.binary = argv[optind];
	return run(&opt);
}

const struct command command_calibrate = { "calibrate", "find out how to read URLs and frames in this build of a browser",
					   main_calibrate };
