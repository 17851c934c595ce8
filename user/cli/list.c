// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* framescope list: the browsers and engine processes that run here, and what of them can be probed; the definitions. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/jsonout.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/images.h"
#include "cli/table.h"
#include "target/modules.h"
#include "target/process.h"
#include "target/site.h"

#define MAX_URL 256
#define NAMED 3		/* of the processes that we may not look into */

static const char help[] =
	"usage: framescope list [OPTION]…\n"
	"\n"
	"Lists the processes that run a browser engine: each with its children counted in, the build of its engine, how many of\n"
	"the engine's functions can be probed there, and the pages named on its command line. Attaches nothing.\n"
	"\n"
	"      --engines           list the engine definitions instead\n"
	"      --engine NAME|FILE  look for one engine, also one that is used on request only\n"
	"      --quick             don't look for functions\n"
	"      --json              for programs\n"
	"  -h, --help\n";

struct list_options {
	const char *engine;
	bool engines, quick, json;
};

/* One process that has an engine's module mapped. */
struct runner {
	struct process process;
	const struct engine *engine;
	struct module module;	/* of which path is ours */
	size_t leader;		/* index of the topmost runner that it descends from; itself */
	size_t followers;	/* of a leader */
};

/* One build of a module, whoever runs it. */
struct build {
	uint64_t dev, inode;
	const struct engine *engine;
	char build_id[130];
	size_t found, off, total;	/* probes: with a function here, those of them that are off by default, defined */
	char why[256];		/* it could not be looked into */
};

struct lists {
	struct runner *r;
	size_t nr;
	struct build *builds;
	size_t nr_builds;
	struct process *denied;	/* that we may not look into */
	size_t nr_denied;
	struct engine **engines;
	size_t nr_engines;
};

/* --- who runs an engine --- */

static int note_denied(struct lists *l, pid_t pid)
{
	struct process p, *more;

	if (process_read(pid, &p))
		return 0;	/* gone meanwhile */
	more = realloc(l->denied, (l->nr_denied + 1) * sizeof(*more));
	if (!more)
		return -ENOMEM;
	l->denied = more;
	l->denied[l->nr_denied++] = p;
	return 0;
}

/* Fills in the main module of the first engine that claims one; 0 if there is none. */
static int find_module(struct lists *l, pid_t pid, struct runner *r)
{
	struct module_list modules = { 0 };
	int found = 0, rc = modules_add_process(&modules, pid, NULL);
	const struct module *chosen = NULL;
	size_t best = 0;

	for (size_t i = 0; i < modules.nr; i++)
		for (size_t k = 0; k < l->nr_engines; k++) {
			size_t rank = engine_module_rank(l->engines[k], module_basename(&modules.m[i]));

			if (!rank || (chosen && (l->engines[k] != r->engine || rank >= best)))
				continue;
			r->engine = l->engines[k];
			chosen = &modules.m[i];
			best = rank;
		}
	if (chosen) {
		r->module = *chosen;
		r->module.path = strdup(chosen->path);
		found = r->module.path ? 1 : -ENOMEM;
	}
	modules_free(&modules);
	if (rc == -EACCES || rc == -EPERM)
		return note_denied(l, pid) ?: found;
	return found;
}

static int find_runners(struct lists *l, struct error *err)
{
	DIR *proc = opendir("/proc");
	struct dirent *d;
	int rc = 0;

	if (!proc)
		return error_set(err, ERR_OTHER, -errno, "can't read /proc: %s", strerror(errno));
	while (!rc && (d = readdir(proc))) {
		struct runner r = { 0 }, *bigger;
		int found = isdigit((unsigned char)d->d_name[0]) ? find_module(l, atoi(d->d_name), &r) : 0;

		if (found > 0 && process_read(atoi(d->d_name), &r.process)) {
			free(r.module.path);	/* gone meanwhile */
			continue;
		}
		bigger = found > 0 ? realloc(l->r, (l->nr + 1) * sizeof(*bigger)) : NULL;
		if (bigger) {
			l->r = bigger;
			bigger[l->nr++] = r;
		} else if (found) {
			free(r.module.path);
			rc = error_set(err, ERR_OTHER, -ENOMEM, "out of memory");
		}
	}
	closedir(proc);
	return rc;
}

/* A parent may run no engine itself (a launcher, a zygote's helper): the way up leads through all processes. */
static size_t find_leader(const struct lists *l, size_t i)
{
	pid_t pid = l->r[i].process.parent;
	size_t leader = i;

	for (int steps = 0; pid > 1 && steps < 64; steps++) {
		struct process p;
		size_t k;

		for (k = 0; k < l->nr; k++)
			if (l->r[k].process.pid == pid && l->r[k].engine == l->r[i].engine)
				break;
		if (k < l->nr) {
			leader = k;
			pid = l->r[k].process.parent;
		} else {
			pid = process_read(pid, &p) ? 0 : p.parent;
		}
	}
	return leader;
}

/* --- what they run --- */

static void ignore(const struct error *err)
{
	(void)err;
}

static void look_into(struct build *b, const struct runner *r, bool quick)
{
	struct site_options so = { .symbols = NULL };
	struct site_list sites = { 0 };
	struct image *image;
	struct error err;

	if (image_open_module(&r->module, &image, ignore, &err)) {
		snprintf(b->why, sizeof(b->why), "%.*s", (int)sizeof(b->why) - 1, err.text);
		return;
	}
	snprintf(b->build_id, sizeof(b->build_id), "%s", image->build_id);
	if (!quick && sites_find(image, r->engine, &so, &sites, &err)) {
		snprintf(b->why, sizeof(b->why), "%.*s", (int)sizeof(b->why) - 1, err.text);
	} else if (!quick) {
		sites_count(&sites, &b->found, &b->off);
		b->total = r->engine->nr_probes;
		sites_free(&sites);
	}
	image_close(image);
}

static struct build *build_of(struct lists *l, const struct runner *r, bool quick)
{
	struct build *b;

	for (size_t i = 0; i < l->nr_builds; i++)
		if (l->builds[i].dev == r->module.dev && l->builds[i].inode == r->module.inode)
			return &l->builds[i];
	b = realloc(l->builds, (l->nr_builds + 1) * sizeof(*b));
	if (!b)
		return NULL;
	l->builds = b;
	b += l->nr_builds++;
	*b = (struct build){ .dev = r->module.dev, .inode = r->module.inode, .engine = r->engine };
	look_into(b, r, quick);
	return b;
}

/* The first argument that is an address of a page. */
static void page_of(const struct process *p, char ret[MAX_URL])
{
	static const char *const schemes[] = { "http://", "https://", "file://", "about:", "data:" };

	ret[0] = '\0';
	for (const char *s = p->cmdline; (s = strchr(s, ' ')); ) {
		s++;
		for (size_t i = 0; i < sizeof(schemes) / sizeof(schemes[0]); i++)
			if (!strncmp(s, schemes[i], strlen(schemes[i]))) {
				snprintf(ret, MAX_URL, "%.*s", (int)strcspn(s, " "), s);
				return;
			}
	}
}

/* --- output --- */

static void show_json(struct lists *l, const struct list_options *opt, struct jsonout *j)
{
	char page[MAX_URL];

	jsonout_object(j, NULL);
	jsonout_array(j, "targets");
	for (size_t i = 0; i < l->nr; i++) {
		const struct runner *r = &l->r[i];
		const struct build *b = r->leader == i ? build_of(l, r, opt->quick) : NULL;

		if (!b)
			continue;
		page_of(&r->process, page);
		jsonout_object(j, NULL);
		jsonout_u64(j, "pid", r->process.pid);
		jsonout_u64(j, "inner_pid", r->process.inner_pid);
		jsonout_text(j, "name", r->process.name);
		jsonout_text(j, "engine", r->engine->name);
		jsonout_text(j, "module", r->module.path);
		jsonout_text(j, "build_id", b->build_id);
		jsonout_text(j, "page", page[0] ? page : NULL);
		if (b->total) {
			jsonout_u64(j, "probes_found", b->found);
			jsonout_u64(j, "probes_off", b->off);
			jsonout_u64(j, "probes_defined", b->total);
		}
		if (b->why[0])
			jsonout_text(j, "reason", b->why);
		jsonout_array(j, "processes");
		for (size_t k = 0; k < l->nr; k++) {
			if (l->r[k].leader != i)
				continue;
			jsonout_object(j, NULL);
			jsonout_u64(j, "pid", l->r[k].process.pid);
			jsonout_text(j, "name", l->r[k].process.name);
			jsonout_close(j);
		}
		jsonout_close(j);
		jsonout_close(j);
	}
	jsonout_close(j);
	jsonout_u64(j, "unreadable_processes", l->nr_denied);
	jsonout_array(j, "unreadable");
	for (size_t i = 0; i < l->nr_denied; i++) {
		jsonout_object(j, NULL);
		jsonout_u64(j, "pid", l->denied[i].pid);
		jsonout_text(j, "name", l->denied[i].name);
		jsonout_close(j);
	}
	jsonout_close(j);
	jsonout_close(j);
}

/* Whom we may not look into, and why. */
static void show_denied(const struct lists *l)
{
	char name[sizeof(l->denied->name) * TEXT_GROWTH];

	printf("%zu process%s could not be looked into:", l->nr_denied, l->nr_denied > 1 ? "es" : "");
	for (size_t i = 0; i < l->nr_denied && i < NAMED; i++) {
		name[text_printable(l->denied[i].name, strlen(l->denied[i].name), name, sizeof(name) - 1)] = '\0';
		printf("%s %d (%s)", i ? "," : "", l->denied[i].pid, name);
	}
	if (l->nr_denied > NAMED)
		printf(" and %zu more", l->nr_denied - NAMED);
	printf("; %s\n", geteuid() ? "run it with sudo to see those of other users" :
	       "the kernel denies it, as where a process has a capability that we lack");
}

static void show_table(struct lists *l, const struct list_options *opt)
{
	static const char *const titles[] = { ">pid", ">inner pid", "name", "engine", ">processes", "build-id", "probes", "page" };
	struct table *t = table_new(titles, sizeof(titles) / sizeof(titles[0]));
	char page[MAX_URL];
	bool counted = false, off = false;
	size_t shown = 0;

	for (size_t i = 0; i < l->nr; i++) {
		const struct runner *r = &l->r[i];
		const struct build *b = r->leader == i ? build_of(l, r, opt->quick) : NULL;

		if (!b)
			continue;
		counted |= b->total > 0;
		off |= b->off > 0;
		page_of(&r->process, page);
		table_format(t, "%d", r->process.pid);
		if (r->process.inner_pid != r->process.pid)
			table_format(t, "%d", r->process.inner_pid);
		else
			table_text(t, NULL);
		table_text(t, r->process.name);
		table_text(t, r->engine->name);
		table_count(t, r->followers);
		table_text(t, b->build_id);
		if (b->total)
			table_format(t, b->off ? "%zu of %zu, %zu off" : "%zu of %zu", b->found, b->total, b->off);
		else
			table_text(t, b->why);
		table_text(t, page);
		shown++;
	}
	table_finish(t, stdout, shown);
	if (!shown)
		printf("no process runs %s; framescope list --engines shows what is known\n", opt->engine ? l->engines[0]->name :
		       "a known engine");
	if (counted)
		printf("Probes: those with a function in this build, of those that the engine's definition has%s.\n",
		       off ? "; those that are off\nare attached only where --probe names them" : "");
	if (l->nr_denied)
		show_denied(l);
}

/* As many as fit, and how many more there are. */
static void name_files(const struct engine *e, char *ret, size_t size)
{
	size_t n = 0, k = 0;

	for (; k < e->nr_modules && n + strlen(e->modules[k]) + sizeof(" and 999 more") < size; k++)
		n += snprintf(ret + n, size - n, "%s%s", k ? " " : "", e->modules[k]);
	if (k < e->nr_modules)
		snprintf(ret + n, size - n, "%s%zu more", k ? " and " : "", e->nr_modules - k);
}

static void show_engines(const struct lists *l, struct jsonout *j)
{
	static const char *const titles[] = { "name", "title", ">probes", "files", "definition" };
	struct table *t = table_new(titles, sizeof(titles) / sizeof(titles[0]));
	char files[96];

	if (j) {
		jsonout_object(j, NULL);
		jsonout_array(j, "engines");
	}
	for (size_t i = 0; i < l->nr_engines; i++) {
		const struct engine *e = l->engines[i];

		if (j) {
			jsonout_object(j, NULL);
			jsonout_text(j, "name", e->name);
			jsonout_text(j, "title", e->title);
			jsonout_u64(j, "probes", e->nr_probes);
			jsonout_text(j, "path", e->path);
			jsonout_close(j);
			continue;
		}
		name_files(e, files, sizeof(files));
		table_text(t, e->name);
		table_format(t, e->on_request ? "%s (on request)" : "%s", e->title);
		table_count(t, e->nr_probes);
		table_text(t, files);
		table_text(t, e->path);
	}
	if (j) {
		jsonout_close(j);
		jsonout_close(j);
	}
	table_finish(t, stdout, j ? 0 : l->nr_engines);
}

static int show(struct lists *l, const struct list_options *opt, struct error *err)
{
	struct outfile *f = NULL;
	struct jsonout j;
	int rc;

	if (!opt->json) {
		if (opt->engines)
			show_engines(l, NULL);
		else
			show_table(l, opt);
		return 0;
	}
	rc = outfile_open("-", &f, err);
	if (rc)
		return rc;
	jsonout_init(&j, f, 3);
	if (opt->engines)
		show_engines(l, &j);
	else
		show_json(l, opt, &j);
	return outfile_commit(f, err);
}

static int run(const struct list_options *opt)
{
	struct lists l = { 0 };
	struct error err = { 0 };
	int rc = engines_load(opt->engine ?: opt->engines ? "*" : NULL, NULL, &l.engines, &l.nr_engines, &err);

	if (!rc && !opt->engines)
		rc = find_runners(&l, &err);
	for (size_t i = 0; i < l.nr && !rc; i++) {
		l.r[i].leader = find_leader(&l, i);
		l.r[l.r[i].leader].followers++;
	}
	if (!rc)
		rc = show(&l, opt, &err);
	for (size_t i = 0; i < l.nr; i++)
		free(l.r[i].module.path);
	free(l.r);
	free(l.builds);
	free(l.denied);
	engines_free(l.engines, l.nr_engines);
	return rc ? command_fail(&err) : 0;
}

static int command_main(int argc, char **argv)
{
	enum { ENGINES = 256, ENGINE, QUICK, JSON };
	static const struct option options[] = {
		{ "engines", no_argument, NULL, ENGINES }, { "engine", required_argument, NULL, ENGINE },
		{ "quick", no_argument, NULL, QUICK }, { "json", no_argument, NULL, JSON }, { "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	struct list_options opt = { 0 };
	int c;

	opterr = 0;
	while ((c = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
		switch (c) {
		case ENGINES: opt.engines = true; break;
		case ENGINE: opt.engine = optarg; break;
		case QUICK: opt.quick = true; break;
		case JSON: opt.json = true; break;
		case 'h':
			fputs(help, stdout);
			return 0;
		default:
			return command_bad_option("list", c, argv, options);
		}
	}
	if (optind < argc)
		return command_usage("list", "'%s' is one argument too many", argv[optind]);
	return run(&opt);
}

const struct command command_list = { "list", "list the browsers that run here, and what can be probed", command_main };
