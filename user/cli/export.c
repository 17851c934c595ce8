// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* framescope export: a recording in a format of someone else's viewer. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cli/command.h"
#include "export/export.h"

static void print_help(void)
{
	printf("usage: framescope export FILE [-f FORMAT] -o OUT [OPTION]…\n\n"
	       "Writes the recording FILE to OUT. Without -f the ending of OUT's name decides; a name that\n"
	       "ends in .gz is compressed, - is standard output.\n\n"
	       "  -f, --format NAME   one of:\n");
	for (size_t i = 0; export_formats[i]; i++)
		printf("                        %-11s %-17s %s\n", export_formats[i]->name, export_formats[i]->extension,
		       export_formats[i]->summary);
	printf("  -o, --output OUT    where to write\n"
	       "      --begin-end     chrome: calls as pairs of begin and end, for viewers that want them\n"
	       "      --redact        no path or query of a URL, no selector, no label, no command line\n"
	       "  -h, --help\n");
}

/* "chrome, perfetto, …": that member of each format. */
static const char *list(char *dst, size_t size, size_t member)
{
	size_t n = 0;

	*dst = '\0';
	for (size_t i = 0; export_formats[i] && n < size; i++)
		n += snprintf(dst + n, size - n, "%s%s", i ? ", " : "",
			      *(const char *const *)((const char *)export_formats[i] + member));
	return dst;
}

static const struct export_format *choose(const char *name, const char *out)
{
	return name ? export_format_by_name(name) : export_format_by_path(out);
}

static int run(const char *file, const char *out, const struct export_format *format, const struct export_options *opt)
{
	struct session *s = NULL;
	struct error err = { 0 };
	int rc = 0;

	if (command_distinct(file, out, &err) || command_load(file, &s, &err) || export_session(s, format, opt, out, &err))
		rc = command_fail(&err);
	session_free(s);
	return rc;
}

static int main_export(int argc, char **argv)
{
	static const struct option options[] = {
		{ "format", required_argument, NULL, 'f' }, { "output", required_argument, NULL, 'o' },
		{ "begin-end", no_argument, NULL, 'b' }, { "redact", no_argument, NULL, 'r' },
		{ "help", no_argument, NULL, 'h' }, { 0 },
	};
	const struct export_format *format;
	struct export_options opt = { 0 };
	const char *name = NULL, *out = NULL;
	char names[256];
	int c;

	opterr = 0;
	while ((c = getopt_long(argc, argv, ":f:o:h", options, NULL)) != -1) {
		switch (c) {
		case 'f': name = optarg; break;
		case 'o': out = optarg; break;
		case 'b': opt.begin_end = true; break;
		case 'r': opt.redact = true; break;
		case 'h': print_help(); return 0;
		default: return command_bad_option("export", c, argv, options);
		}
	}
	if (argc - optind != 1)
		return command_usage("export", optind == argc ? "name a recording" : "one recording at a time");
	if (!out)
		return command_usage("export", "say with -o where to write");
	format = choose(name, out);
	if (!format && name)
		return command_usage("export", "there is no format '%s'; the formats are %s", name,
				     list(names, sizeof(names), offsetof(struct export_format, name)));
	if (!format)
		return command_usage("export", "the name '%s' tells no format; the endings are %s, or name a format with -f", out,
				     list(names, sizeof(names), offsetof(struct export_format, extension)));
	if (opt.begin_end && !format->pairs)
		return command_usage("export", "--begin-end is for chrome traces only, not for the format %s; leave it out, or add -f chrome",
				     format->name);
	return run(argv[optind], out, format, &opt);
}

const struct command command_export = { "export", "write a recording for another viewer", main_export };
