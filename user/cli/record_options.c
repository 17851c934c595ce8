// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The options of framescope record. */
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "cli/command.h"
#include "cli/record_options.h"
#include "target/engine.h"

#define MAX_RING_BYTES (1ull << 30)

static const char help[] =
	"usage: framescope record -p PID [OPTION]…\n"
	"\n"
	"Attaches to a running process and its children and writes what their engines do, until Ctrl-C, the duration or\n"
	"the target's end.\n"
	"\n"
	"  -p, --pid PID          the process: a browser's first one brings all of its children\n"
	"  -d, --duration SECONDS\n"
	"  -o, --output FILE      .fscope (default: framescope-PID-TIME.fscope), or a name with the ending of a format that\n"
	"                         export knows: .json, .json.gz, .html, … (framescope export --help lists them)\n"
	"      --engine NAME      one engine definition, by name or file; default: all that are installed\n"
	"      --probe GLOB       only these probes, by name or label (repeatable); -GLOB leaves some out\n"
	"      --function GLOB[=EVENT]  any function of the program, by name; needs no engine definition\n"
	"      --modules GLOBS    with --function: files to look into; default: the main executable of the process only\n"
	"      --symbols FILE     a Breakpad .sym file of the engine\n"
	"      --metric NAME      also count page-faults, context-switches, instructions, … (repeatable)\n"
	"      --min-duration MS  leave shorter calls out\n"
	"      --only-under TYPE  only calls inside an event of this type, and it\n"
	"      --buffer SIZE      of the ring buffer: 64K, 16M (default), …\n"
	"      --string-size N    bytes of each text at most (default 256, up to 4096)\n"
	"      --budget PERCENT   switch the hottest probes off where probing takes more of a thread's time\n"
	"      --rung RUNG        attach by session, multi or links instead of the best that works\n"
	"      --no-follow        the process alone, without its children\n"
	"      --no-calibrate     measure what probing costs at the start only, not all the time\n"
	"      --no-cache         find the functions anew\n"
	"      --strict           exit code 9 if records were lost\n"
	"  -q, --quiet            no progress, no summary\n"
	"  -h, --help\n";

enum { OPT_ENGINE = 256, OPT_PROBE, OPT_FUNCTION, OPT_MODULES, OPT_SYMBOLS, OPT_METRIC, OPT_BUDGET, OPT_MIN, OPT_UNDER, OPT_BUFFER, OPT_STRING,
       OPT_RUNG, OPT_NO_FOLLOW, OPT_NO_CALIBRATE, OPT_NO_CACHE, OPT_STRICT };

static const struct option options[] = {
	{ "pid", required_argument, NULL, 'p' },
	{ "duration", required_argument, NULL, 'd' },
	{ "output", required_argument, NULL, 'o' },
	{ "engine", required_argument, NULL, OPT_ENGINE },
	{ "probe", required_argument, NULL, OPT_PROBE },
	{ "function", required_argument, NULL, OPT_FUNCTION },
	{ "modules", required_argument, NULL, OPT_MODULES },
	{ "symbols", required_argument, NULL, OPT_SYMBOLS },
	{ "metric", required_argument, NULL, OPT_METRIC },
	{ "budget", required_argument, NULL, OPT_BUDGET },
	{ "min-duration", required_argument, NULL, OPT_MIN },
	{ "only-under", required_argument, NULL, OPT_UNDER },
	{ "buffer", required_argument, NULL, OPT_BUFFER },
	{ "string-size", required_argument, NULL, OPT_STRING },
	{ "rung", required_argument, NULL, OPT_RUNG },
	{ "no-follow", no_argument, NULL, OPT_NO_FOLLOW },
	{ "no-calibrate", no_argument, NULL, OPT_NO_CALIBRATE },
	{ "no-cache", no_argument, NULL, OPT_NO_CACHE },
	{ "strict", no_argument, NULL, OPT_STRICT },
	{ "quiet", no_argument, NULL, 'q' },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

static int bad(const char *option, const char *value, const char *wanted)
{
	return command_usage("record", "%s %s: %s", option, value, wanted) + 1;
}

static bool parse_double(const char *s, double *ret)
{
	char *end;

	errno = 0;
	*ret = strtod(s, &end);
	return !errno && end != s && !*end && isfinite(*ret);
}

static bool parse_long(const char *s, long *ret)
{
	char *end;

	errno = 0;
	*ret = strtol(s, &end, 10);
	return !errno && end != s && !*end;
}

/* "64K", "3M" -> a power of two of bytes; says so when it rounds up. */
static int parse_buffer(struct record_options *o, const char *s)
{
	size_t page = sysconf(_SC_PAGESIZE), rounded = page;
	unsigned long long v;
	char *end;

	errno = 0;
	v = strtoull(s, &end, 10);
	if (errno || end == s || !isdigit((unsigned char)*s))
		return bad("--buffer", s, "a size like 64K or 16M is wanted");
	switch (toupper((unsigned char)*end)) {
	case 'G':
		v = v > 1024 ? MAX_RING_BYTES + 1 : v << 30;
		end++;
		break;
	case 'M':
		v = v > 1 << 20 ? MAX_RING_BYTES + 1 : v << 20;
		end++;
		break;
	case 'K':
		v = v > 1 << 30 ? MAX_RING_BYTES + 1 : v << 10;
		end++;
		break;
	}
	if (*end || !v || v > MAX_RING_BYTES)
		return bad("--buffer", s, "a size from 4K to 1G is wanted");
	while (rounded < v)
		rounded *= 2;
	if (rounded != v)
		fprintf(stderr, "framescope: --buffer %s becomes %zuK, a power of two of pages\n", s, rounded >> 10);
	o->capture.ring_bytes = rounded;
	return 0;
}

static int set_only_under(struct capture_options *co, const char *arg)
{
	char types[256], wanted[300];

	co->only_under = words_value(event_type_words, arg);
	if (co->only_under)
		return 0;
	snprintf(wanted, sizeof(wanted), "%s is wanted", words_list(event_type_words, types, sizeof(types)));
	return bad("--only-under", arg, wanted);
}

static int set_one(struct record_options *o, int c, const char *arg)
{
	struct capture_options *co = &o->capture;
	double d;
	long n;

	switch (c) {
	case 'p':
		n = command_pid("record", arg, &co->pid);
		return n ? n + 1 : 0;
	case 'd':
		if (!parse_double(arg, &o->seconds) || o->seconds <= 0)
			return bad("-d", arg, "seconds above 0 are wanted");
		return 0;
	case 'o':
		o->output = arg;
		return 0;
	case 'q':
		o->quiet = true;
		return 0;
	case OPT_ENGINE:
		co->engine = arg;
		return 0;
	case OPT_PROBE:
		o->probes[co->nr_probes++] = arg;
		return 0;
	case OPT_FUNCTION:
		o->functions[co->nr_functions++] = arg;
		return 0;
	case OPT_MODULES:
		co->function_modules = arg;
		return 0;
	case OPT_SYMBOLS:
		co->symbols = arg;
		return 0;
	case OPT_METRIC:
		o->metrics[co->nr_metrics++] = arg;
		return 0;
	case OPT_BUDGET:
		if (!parse_double(arg, &d) || d <= 0 || d > 100)
			return bad("--budget", arg, "a percentage above 0 is wanted");
		co->budget_percent = d;
		return 0;
	case OPT_MIN:
		if (!parse_double(arg, &d) || d < 0 || d > 1e9)
			return bad("--min-duration", arg, "milliseconds are wanted");
		co->min_duration_ns = d * 1e6;
		return 0;
	case OPT_UNDER:
		return set_only_under(co, arg);
	case OPT_BUFFER:
		return parse_buffer(o, arg);
	case OPT_STRING:
		if (!parse_long(arg, &n) || n < 1 || n > RECORD_MAX_STRING)
			return bad("--string-size", arg, "1 to 4096 bytes are possible");
		co->string_bytes = n;
		return 0;
	case OPT_RUNG:
		co->rung = arg;
		return !strcmp(arg, "session") || !strcmp(arg, "multi") || !strcmp(arg, "links") ? 0 :
		       bad("--rung", arg, "session, multi or links is wanted");
	case OPT_NO_FOLLOW:
		co->no_follow = true;
		return 0;
	case OPT_NO_CALIBRATE:
		co->no_calibrate = true;
		return 0;
	case OPT_NO_CACHE:
		co->no_cache = true;
		return 0;
	case OPT_STRICT:
		o->strict = true;
		return 0;
	}
	return command_usage("record", "unknown option") + 1;
}

static bool ends_with(const char *s, const char *tail)
{
	size_t n = strlen(s), m = strlen(tail);

	return n >= m && !strcmp(s + n - m, tail);
}

static int bad_output(const char *name)
{
	char text[256];
	size_t n = snprintf(text, sizeof(text), "a name that ends in .fscope");

	for (size_t i = 0; export_formats[i] && n < sizeof(text); i++)
		n += snprintf(text + n, sizeof(text) - n, ", %s", export_formats[i]->extension);
	if (n < sizeof(text))
		snprintf(text + n, sizeof(text) - n, " is wanted; .gz may follow all but the first");
	return bad("-o", name, text);
}

static int choose_output(struct record_options *o)
{
	time_t t = time(NULL);
	struct tm tm;
	char when[32];

	if (!o->output) {
		localtime_r(&t, &tm);
		strftime(when, sizeof(when), "%Y%m%d-%H%M%S", &tm);
		if (asprintf(&o->default_output, "framescope-%d-%s.fscope", o->capture.pid, when) < 0)
			return ERR_OTHER + 1;
		o->output = o->default_output;
	}
	if (ends_with(o->output, ".fscope"))
		return 0;
	o->format = export_format_by_path(o->output);
	return o->format ? 0 : bad_output(o->output);
}

int record_options_parse(struct record_options *o, int argc, char **argv)
{
	int c, rc;

	memset(o, 0, sizeof(*o));
	o->probes = calloc(argc, sizeof(*o->probes));
	o->functions = calloc(argc, sizeof(*o->functions));
	o->metrics = calloc(argc, sizeof(*o->metrics));
	if (!o->probes || !o->functions || !o->metrics)
		return ERR_OTHER + 1;
	o->capture.probes = o->probes;
	o->capture.functions = o->functions;
	o->capture.metrics = o->metrics;
	opterr = 0;
	optind = 1;
	while ((c = getopt_long(argc, argv, ":p:d:o:qh", options, NULL)) != -1) {
		if (c == 'h') {
			fputs(help, stdout);
			return 1;
		}
		if (c == ':' || c == '?')
			return command_bad_option("record", c, argv, options) + 1;
		rc = set_one(o, c, optarg);
		if (rc)
			return rc;
	}
	if (optind < argc)
		return command_usage("record", "'%s' is one argument too many: a process is given with -p", argv[optind]) + 1;
	if (!o->capture.pid)
		return command_usage("record", "say with -p PID which process; framescope list shows browsers") + 1;
	return choose_output(o);
}

void record_options_free(struct record_options *o)
{
	free(o->default_output);
	free(o->probes);
	free(o->functions);
	free(o->metrics);
}
