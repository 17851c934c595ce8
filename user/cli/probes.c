// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* framescope probes: what of an engine is found in a process or file, where, and on what evidence. Attaches nothing. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/jsonout.h"
#include "cli/command.h"
#include "cli/probes.h"
#include "cli/table.h"
#include "target/process.h"

static const char help[] =
	"usage: framescope probes -p PID | --binary FILE [OPTION]…\n"
	"\n"
	"Shows which engine functions are found, how, at which file offset, on what evidence, and what a probe on the first\n"
	"instruction costs. Attaches nothing.\n"
	"\n"
	"  -p, --pid PID           a running process and its children\n"
	"      --binary FILE       a program or library that need not run\n"
	"      --engine NAME|FILE  one engine definition instead of all that are installed\n"
	"      --function PATTERN[=EVENT]\n"
	"                          functions by name instead of an engine (can be repeated)\n"
	"      --modules GLOBS     with --function: files to look into; default: the main executable of the process only\n"
	"      --symbols FILE      Breakpad symbols (.sym) of the engine's module\n"
	"      --no-cache          look again, even if this build is known\n"
	"      --json              for programs\n"
	"  -h, --help\n"
	"\n"
	"To find functions in a program of your own:\n"
	"\n"
	"      --find PATTERN      functions by name, with size and whether a probe can sit there\n"
	"      --strings PATTERN   strings of the program and the functions that refer to them\n"
	"\n"
	"In a PATTERN * stands for any text and ? for one character; the man page has the rules for C++ and Rust names.\n";

static void warn(const struct error *err)
{
	command_fail(err);
}

/* --- what was found --- */

/* The sites of one module. */
struct found {
	const struct image *image;
	const struct engine *engine;
	struct site_list sites;
};

struct found_list {
	struct found *f;
	size_t nr;
};

static void found_free(struct found_list *l)
{
	for (size_t i = 0; i < l->nr; i++)
		sites_free(&l->f[i].sites);
	free(l->f);
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* With one engine asked for and one file named, that engine; else the one that claims the file. */
static const struct engine *choose_engine(const struct probes_options *opt, struct engine *const *engines, size_t nr,
					  const struct image *image)
{
	const struct engine *e = engine_for_module(engines, nr, base_name(image->path), image);

	return e ?: opt->binary && opt->engine && nr == 1 ? e ?: engines[0] : NULL;
}

static int find_all(const struct probes_options *opt, struct engine *const *engines, size_t nr, const struct image_list *images,
		    struct found_list *ret, struct error *err)
{
	struct site_options so = { .symbols = opt->symbols, .no_cache = opt->no_cache };
	int rc = 0;

	ret->f = calloc(images->nr ?: 1, sizeof(*ret->f));
	if (!ret->f)
		return error_set(err, ERR_OTHER, -ENOMEM, "out of memory");
	for (size_t i = 0; i < images->nr && !rc; i++) {
		struct found *f = &ret->f[ret->nr];

		f->image = images->images[i];
		f->engine = choose_engine(opt, engines, nr, f->image);
		if (!f->engine)
			continue;
		rc = sites_find(images->images[i], f->engine, &so, &f->sites, err);
		if (!rc)
			ret->nr++;
	}
	return rc;
}

static bool found_anywhere(const struct found_list *l, const struct engine_probe *p)
{
	for (size_t i = 0; i < l->nr; i++)
		for (size_t k = 0; k < l->f[i].sites.nr; k++)
			if (l->f[i].sites.sites[k].probe == p && l->f[i].sites.sites[k].source)
				return true;
	return false;
}

/* Is the reason of module i worth showing? Not where another module has the probe, nor one that stands in for another that
 * was found, and for each probe only once. */
static bool shows_reason(const struct found_list *l, size_t i, const struct engine_probe *p)
{
	const struct engine_probe *other = p->unless ? engine_probe_by_name(l->f[i].engine, p->unless) : NULL;

	for (size_t k = 0; k < i; k++)
		if (l->f[k].engine == l->f[i].engine)
			return false;
	return !found_anywhere(l, p) && !(other && found_anywhere(l, other));
}

/* What is no event of its own says more than its type, which is GENERIC. */
static const char *shown_event(const struct engine_probe *p)
{
	return words_of_no_event(p->kind, p->role) ?: words_name(event_type_words, p->type) ?: "?";
}

/* --- as a table --- */

static void print_sites(const struct found *f)
{
	static const char *const titles[] = { "probe", "default", "event", "found by", ">offset", "first instruction",
					      "where and why" };
	struct table *t = table_new(titles, sizeof(titles) / sizeof(titles[0]));
	size_t shown = 0;

	for (size_t k = 0; k < f->sites.nr; k++) {
		const struct site *s = &f->sites.sites[k];

		if (!s->source)
			continue;
		table_text(t, site_name(s));
		table_text(t, s->probe->off ? "off" : "");
		table_text(t, shown_event(s->probe));
		table_text(t, site_source_name(s->source));
		table_format(t, "0x%" PRIx64, s->offset);
		table_text(t, cost_class_name(s->cost));
		if (s->source == SITE_ANCHOR)
			table_text(t, s->evidence);
		else
			table_format(t, "%s; %s", s->function, s->evidence);
		shown++;
	}
	table_finish(t, stdout, shown);
}

static void print_reasons(const struct found_list *l, size_t i)
{
	static const char *const titles[] = { "not found", "event", "why" };
	struct table *t = table_new(titles, sizeof(titles) / sizeof(titles[0]));
	size_t shown = 0;

	for (size_t k = 0; k < l->f[i].sites.nr; k++) {
		const struct site *s = &l->f[i].sites.sites[k];

		if (s->source || !shows_reason(l, i, s->probe))
			continue;
		table_text(t, site_name(s));
		table_text(t, shown_event(s->probe));
		table_text(t, s->reason);
		shown++;
	}
	table_finish(t, stdout, shown);
}

/* The vocabulary of list, record and report: defined, found in this build, off unless asked for. */
static void print_counts(const struct found_list *l, size_t functions)
{
	size_t defined = 0, found = 0, off = 0;

	for (size_t i = 0; i < l->nr; i++) {
		const struct engine *e = l->f[i].engine;
		bool seen = false;

		for (size_t k = 0; k < i; k++)
			seen |= l->f[k].engine == e;
		for (size_t k = 0; !seen && k < e->nr_probes; k++) {
			bool here = found_anywhere(l, &e->probes[k]);

			defined++;
			found += here;
			off += here && e->probes[k].off;
		}
	}
	printf("%zu of %zu defined probes found", found, defined);
	if (functions != found)
		printf(", at %zu functions", functions);
	if (off)
		printf("; %zu of them %s off: attached only where --probe names %s", off, off == 1 ? "is" : "are", off == 1 ? "it" : "them");
	putchar('\n');
}

static void print_table(const struct found_list *l)
{
	size_t found = 0;
	char title[512];

	for (size_t i = 0; i < l->nr; i++) {
		const struct found *f = &l->f[i];
		size_t here = 0;

		for (size_t k = 0; k < f->sites.nr; k++)
			here += f->sites.sites[k].source != SITE_NONE;
		if (!here && l->nr > 1 && i)
			continue;
		snprintf(title, sizeof(title), "%.250s: %.64s, build-id %.64s%s", f->image->path, f->engine->title,
			 f->image->build_id[0] ? f->image->build_id : "none", f->sites.from_cache ? ", from the cache" : "");
		table_heading(stdout, title);
		print_sites(f);
		print_reasons(l, i);
		found += here;
	}
	print_counts(l, found);
}

/* --- as JSON --- */

static void json_site(struct jsonout *j, const struct found *m, const struct site *s)
{
	jsonout_object(j, NULL);
	jsonout_text(j, "name", site_name(s));
	jsonout_text(j, "event", words_name(event_type_words, s->probe->type) ?: "GENERIC");
	jsonout_text(j, "kind", words_name(probe_kind_words, s->probe->kind) ?: "span");
	jsonout_text(j, "role", words_name(probe_role_words, s->probe->role));
	jsonout_text(j, "label", s->probe->label_function && s->source ? s->function : s->probe->label);
	jsonout_bool(j, "off", s->probe->off);
	jsonout_text(j, "engine", m->engine->name);
	jsonout_text(j, "module", m->image->path);
	jsonout_text(j, "build_id", m->image->build_id);
	if (s->source) {
		jsonout_text(j, "function", s->function);
		jsonout_u64(j, "offset", s->offset);
		jsonout_u64(j, "size", s->size);
		jsonout_u64(j, "exits", s->nr_exits);
		jsonout_bool(j, "all_exits", s->exits_complete);
		jsonout_u64(j, "arguments", s->nr_args);
		jsonout_text(j, "source", site_source_name(s->source));
		jsonout_text(j, "evidence", s->evidence);
		jsonout_text(j, "cost", cost_class_name(s->cost));
	} else {
		jsonout_text(j, "reason", s->reason);
	}
	jsonout_close(j);
}

static int print_json(const struct found_list *l, struct error *err)
{
	struct outfile *f;
	struct jsonout j;
	int rc = outfile_open("-", &f, err);

	if (rc)
		return rc;
	jsonout_init(&j, f, 2);
	jsonout_object(&j, NULL);
	jsonout_array(&j, "modules");
	for (size_t i = 0; i < l->nr; i++) {
		jsonout_object(&j, NULL);
		jsonout_text(&j, "path", l->f[i].image->path);
		jsonout_text(&j, "build_id", l->f[i].image->build_id);
		jsonout_text(&j, "engine", l->f[i].engine->name);
		jsonout_bool(&j, "from_cache", l->f[i].sites.from_cache);
		jsonout_close(&j);
	}
	jsonout_close(&j);
	jsonout_array(&j, "probes");
	for (size_t i = 0; i < l->nr; i++)
		for (size_t k = 0; k < l->f[i].sites.nr; k++)
			if (l->f[i].sites.sites[k].source || shows_reason(l, i, l->f[i].sites.sites[k].probe))
				json_site(&j, &l->f[i], &l->f[i].sites.sites[k]);
	jsonout_close(&j);
	jsonout_close(&j);
	return outfile_commit(f, err);
}

/* --- the command --- */

static int fail_nothing(const struct probes_options *opt, const struct image_list *images, size_t nr_engines, size_t claimed)
{
	struct error err;

	if (opt->binary)
		error_set(&err, ERR_NOTHING, -ENOENT, claimed ? "none of the engine's functions are found in %s; the reasons are above" :
			  "no engine definition claims %s by its name; choose one with --engine, or use --function", opt->binary);
	else if (claimed)
		error_set(&err, ERR_NOTHING, -ENOENT, "none of the engine's functions are found in process %d (%s) and its children; "
			  "the reasons are above", opt->pid, images->name);
	else
		error_set(&err, ERR_NOTHING, -ENOENT, "nothing to probe in process %d (%s) and its children: none of the %zu files that "
			  "they have mapped is claimed by one of %zu engine definitions; give a browser's PID (framescope list shows "
			  "them), or use --engine or --function", opt->pid, images->name, images->modules, nr_engines);
	return command_fail(&err);
}

static int show_probes(const struct probes_options *opt, struct engine *const *engines, size_t nr, const struct image_list *images)
{
	struct found_list found = { 0 };
	struct error err = { 0 };
	bool any = false;
	int rc = find_all(opt, engines, nr, images, &found, &err);

	for (size_t i = 0; i < found.nr; i++)
		for (size_t k = 0; k < found.f[i].sites.nr; k++)
			any = any || found.f[i].sites.sites[k].source;
	if (!rc && opt->json)
		rc = print_json(&found, &err);
	else if (!rc && found.nr)
		print_table(&found);
	if (rc)
		rc = command_fail(&err);
	else if (!any)
		rc = fail_nothing(opt, images, nr, found.nr);
	found_free(&found);
	return rc;
}

static int load_engines(const struct probes_options *opt, struct engine ***ret, size_t *ret_nr, struct error *err)
{
	const char *modules = opt->modules;
	char exe[256];
	int rc;

	if (opt->find || opt->strings)
		return 0;
	if (!opt->nr_functions)
		return engines_load(opt->engine, NULL, ret, ret_nr, err);
	*ret = calloc(1, sizeof(**ret));
	if (!*ret)
		return error_set(err, ERR_OTHER, -ENOMEM, "out of memory");
	if (!modules && opt->pid && process_exe_glob(opt->pid, exe, sizeof(exe)))
		modules = exe;
	rc = engine_from_functions(opt->functions, opt->nr_functions, modules, *ret, err);
	*ret_nr = !rc;
	return rc;
}

static int run(const struct probes_options *opt)
{
	struct engine **engines = NULL;
	size_t nr = 0;
	struct image_list images = { 0 };
	struct error err = { 0 };
	int rc = load_engines(opt, &engines, &nr, &err);

	if (!rc)
		rc = opt->binary ? images_open_file(opt->binary, &images, &err) :
		     images_open_target(opt->pid, engines, nr, &images, warn, &err);
	if (rc)
		rc = command_fail(&err);
	else if (opt->find)
		rc = probes_find(opt, &images);
	else if (opt->strings)
		rc = probes_strings(opt, &images);
	else
		rc = show_probes(opt, engines, nr, &images);
	images_close(&images);
	engines_free(engines, nr);
	return rc;
}

static int parse_options(int argc, char **argv, struct probes_options *opt)
{
	enum { BINARY = 256, ENGINE, FUNCTION, MODULES, SYMBOLS, FIND, STRINGS, JSON, NO_CACHE };
	static const struct option options[] = {
		{ "pid", required_argument, NULL, 'p' }, { "binary", required_argument, NULL, BINARY },
		{ "engine", required_argument, NULL, ENGINE }, { "function", required_argument, NULL, FUNCTION },
		{ "modules", required_argument, NULL, MODULES }, { "symbols", required_argument, NULL, SYMBOLS },
		{ "find", required_argument, NULL, FIND }, { "strings", required_argument, NULL, STRINGS },
		{ "json", no_argument, NULL, JSON }, { "no-cache", no_argument, NULL, NO_CACHE },
		{ "help", no_argument, NULL, 'h' }, { NULL, 0, NULL, 0 },
	};
	int c, rc;

	opterr = 0;
	while ((c = getopt_long(argc, argv, ":p:h", options, NULL)) != -1) {
		switch (c) {
		case 'p':
			rc = command_pid("probes", optarg, &opt->pid);
			if (rc)
				return rc;
			break;
		case BINARY: opt->binary = optarg; break;
		case ENGINE: opt->engine = optarg; break;
		case MODULES: opt->modules = optarg; break;
		case SYMBOLS: opt->symbols = optarg; break;
		case FIND: opt->find = optarg; break;
		case STRINGS: opt->strings = optarg; break;
		case JSON: opt->json = true; break;
		case NO_CACHE: opt->no_cache = true; break;
		case FUNCTION:
			if (opt->nr_functions == ENGINE_MAX_PROBES)
				return command_usage("probes", "--function can be given %d times", ENGINE_MAX_PROBES);
			opt->functions[opt->nr_functions++] = optarg;
			break;
		case 'h':
			fputs(help, stdout);
			return -1;
		default:
			return command_bad_option("probes", c, argv, options);
		}
	}
	if (optind < argc)
		return command_usage("probes", "'%s' is one argument too many", argv[optind]);
	if (!opt->pid == !opt->binary)
		return command_usage("probes", "give either -p PID or --binary FILE");
	if (!!opt->find + !!opt->strings + !!opt->engine + !!opt->nr_functions > 1)
		return command_usage("probes", "--engine, --function, --find and --strings exclude each other");
	return 0;
}

static int command_main(int argc, char **argv)
{
	struct probes_options opt = { 0 };
	int rc = parse_options(argc, argv, &opt);

	return rc ? (rc < 0 ? 0 : rc) : run(&opt);
}

const struct command command_probes = { "probes", "show which engine functions are found, where and why", command_main };
