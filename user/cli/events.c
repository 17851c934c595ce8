// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* framescope events: GetEvents of Profiler 1.1 on a recording. */
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cli/command.h"
#include "cli/events.h"

#define MAX_TYPES 64
#define DEFAULT_LIMIT 20000

struct events_options {
	const char *path;
	struct query query;
	uint32_t types[MAX_TYPES];
	size_t limit;
	bool json;
};

static int print_help(void)
{
	printf("usage: framescope events FILE [OPTION]…\n\n"
	       "Shows the events of one timeline of a recording: Profiler 1.1's GetEvents.\n\n"
	       "  -t, --timeline N   which one (framescope timelines lists them); the first without this\n"
	       "  -m, --mode MODE    all            each event, as a tree (the default)\n"
	       "                     unique-types   one sum per event type\n"
	       "                     unique-events  one sum per type and selector, URL, area, …\n"
	       "                     reduce-all     one sum, and the CPU time of the process\n"
	       "      --event ID     what is below that event, instead of the whole timeline\n"
	       "      --depth N      only so many levels down; 1: immediate children\n"
	       "      --type NAME,…  only events of these types, wherever they stand\n"
	       "      --from MS      only events that touch the interval from here\n"
	       "      --to MS        to here, milliseconds since the recording began\n"
	       "  -n, --limit N      rows of text at most (%d; 0: all)\n"
	       "      --json         the message Events of Profiler 1.1, milliseconds, with its field names and the\n"
	       "                     numbers of its enumerations\n"
	       "  -h, --help\n\nTypes:", DEFAULT_LIMIT);
	for (int type = 1; type < EVENT_TYPE_END; type++)
		printf("%s %s", type == 7 ? "\n      " : "", event_type_name(type));
	putchar('\n');
	return 0;
}

static bool parse_u32(const char *text, uint32_t *ret)
{
	unsigned long long v;
	char *end;

	errno = 0;
	v = strtoull(text, &end, 10);
	if (errno || end == text || *end || *text == '-' || v > UINT32_MAX)
		return false;
	*ret = v;
	return true;
}

static bool parse_ms(const char *text, double *ret, bool *ret_has)
{
	char *end;

	*ret = strtod(text, &end);
	*ret_has = true;
	return end != text && !*end && isfinite(*ret);
}

static bool parse_mode(const char *text, int *ret)
{
	static const char *const names[] = { "all", "unique-types", "unique-events", "reduce-all" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(text, names[i])) {
			*ret = MODE_ALL + i;
			return true;
		}
	return false;
}

/* Names, or numbers as on the wire. Returns the one that is neither, or NULL. */
static const char *parse_types(char *text, struct events_options *o)
{
	char *rest = NULL;

	for (char *name = strtok_r(text, ",", &rest); name; name = strtok_r(NULL, ",", &rest)) {
		uint32_t type = event_type_parse(name);

		if ((!type && !parse_u32(name, &type)) || o->query.nr_types == MAX_TYPES)
			return name;
		o->types[o->query.nr_types++] = type;
	}
	return o->query.nr_types ? NULL : text;
}

static int fail_type(const char *wrong)
{
	char names[512];
	size_t n = 0;

	for (int type = 1; type < EVENT_TYPE_END && n < sizeof(names); type++)
		n += snprintf(names + n, sizeof(names) - n, "%s%s", n ? ", " : "", event_type_name(type));
	return command_usage("events", "there is no event type '%s'; the types are %s", wrong, names);
}

static const char *option_name(const struct option *options, int c)
{
	while (options->val != c)
		options++;
	return options->name;
}

/* 0, -1 for --help, or an exit code. */
static int parse(int argc, char **argv, struct events_options *o)
{
	static const struct option options[] = {
		{ "timeline", required_argument, NULL, 't' }, { "mode", required_argument, NULL, 'm' },
		{ "event", required_argument, NULL, 'e' }, { "depth", required_argument, NULL, 'd' },
		{ "type", required_argument, NULL, 'T' }, { "from", required_argument, NULL, 'F' },
		{ "to", required_argument, NULL, 'O' }, { "limit", required_argument, NULL, 'n' },
		{ "json", no_argument, NULL, 'j' }, { "help", no_argument, NULL, 'h' }, { 0 },
	};
	struct query *q = &o->query;
	const char *wrong;
	uint32_t limit;
	bool ok;
	int c;

	optind = 0;
	opterr = 0;
	while ((c = getopt_long(argc, argv, ":t:m:n:h", options, NULL)) != -1) {
		ok = true;
		switch (c) {
		case 't': ok = parse_u32(optarg, &q->timeline_id) && q->timeline_id; break;
		case 'm': ok = parse_mode(optarg, &q->mode); break;
		case 'e': ok = q->has_event = parse_u32(optarg, &q->event_id); break;
		case 'd': ok = q->has_depth = parse_u32(optarg, &q->max_depth); break;
		case 'F': ok = parse_ms(optarg, &q->start_ms, &q->has_start); break;
		case 'O': ok = parse_ms(optarg, &q->end_ms, &q->has_end); break;
		case 'n': ok = parse_u32(optarg, &limit); o->limit = limit; break;
		case 'j': o->json = true; break;
		case 'h': return -1;
		case 'T':
			wrong = parse_types(optarg, o);
			if (wrong)
				return fail_type(wrong);
			break;
		default:
			return command_bad_option("events", c, argv, options);
		}
		if (!ok && c == 'm')
			return command_usage("events", "there is no mode '%s'; the modes are all, unique-types, unique-events and "
					     "reduce-all", optarg);
		if (!ok)
			return command_usage("events", "--%s takes %s, not '%s'", option_name(options, c),
					     c == 'F' || c == 'O' ? "milliseconds" : c == 't' ? "a number from 1" : "a number",
					     optarg);
	}
	if (optind + 1 != argc)
		return command_usage("events", optind == argc ? "name a recording" : "one recording at a time");
	o->path = argv[optind];
	return 0;
}

static int show(struct events_options *o)
{
	struct query_result result;
	struct error err = { 0 };
	struct session *s;
	size_t nr;
	int rc = command_load(o->path, &s, &err);

	if (rc)
		return command_fail(&err);
	if (!o->query.timeline_id)
		o->query.timeline_id = session_timelines(s, &nr)->id;
	rc = query_events(s, &o->query, &result, &err);
	if (!rc) {
		rc = o->json ? events_json(s, &o->query, &result, &err) : events_text(s, &o->query, &result, o->limit);
		if (rc && !o->json)
			error_set(&err, ERR_OTHER, rc, "out of memory while showing the events of '%s'", o->path);
		query_result_free(&result);
	}
	session_free(s);
	return rc ? command_fail(&err) : 0;
}

static int events_main(int argc, char **argv)
{
	struct events_options o = { .limit = DEFAULT_LIMIT, .query.mode = MODE_ALL };
	int rc = parse(argc, argv, &o);

	if (rc)
		return rc < 0 ? print_help() : rc;
	o.query.types = o.types;
	return show(&o);
}

const struct command command_events = {
	.name = "events",
	.summary = "show events of a timeline: a tree, or sums by type or by what they are about",
	.main = events_main,
};
