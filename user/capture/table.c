// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The probe table of a capture. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/text.h"
#include "capture/features.h"
#include "capture/table.h"

int table_init(struct probe_table *t, const struct capture_options *opt, struct error *err)
{
	const char *modules = opt->function_modules;
	char exe[256];
	int rc;

	memset(t, 0, sizeof(*t));
	t->cap = RECORD_MAX_PROBES - COST_CLASSES;	/* the last rows are the calibration's */
	t->rec = calloc(t->cap, sizeof(*t->rec));
	t->plan = calloc(t->cap, sizeof(*t->plan));
	t->glob_used = calloc(opt->nr_probes + 1, sizeof(*t->glob_used));
	if (!t->rec || !t->plan || !t->glob_used)
		return error_set(err, ERR_OTHER, -ENOMEM, "out of memory");
	if (opt->nr_functions) {
		if (!modules && process_exe_glob(opt->pid, exe, sizeof(exe)))
			modules = exe;
		rc = engine_from_functions(opt->functions, opt->nr_functions, modules, &t->functions, err);
		if (rc)
			return rc;
	}
	/* --function alone means those functions and nothing else */
	if (opt->nr_functions && !opt->engine)
		return 0;
	return engines_load(opt->engine, NULL, &t->engines, &t->nr_engines, err);
}

static void free_row(struct recording_probe *r)
{
	const char *const strings[] = { r->name, r->label, r->category, r->engine, r->group, r->function, r->module,
					r->build_id, r->source, r->evidence, r->refused };

	for (size_t i = 0; i < sizeof(strings) / sizeof(strings[0]); i++)
		free((char *)strings[i]);
}

void table_free(struct probe_table *t)
{
	for (size_t i = 0; i < t->nr; i++) {
		free_row(&t->rec[i]);
		free(t->plan[i].exits);
	}
	for (size_t i = 0; i < t->nr_modules; i++) {
		close(t->modules[i].fd);
		free(t->modules[i].path);
	}
	free(t->modules);
	free(t->rec);
	free(t->plan);
	free(t->glob_used);
	modules_free(&t->seen);
	engines_free(t->engines, t->nr_engines);
	engine_free(t->functions);
	memset(t, 0, sizeof(*t));
}

/* Names from files are hostile, and the recording's strings are UTF-8. */
static char *copy_text(const char *s)
{
	size_t n = strlen(s ?: "");
	char *d = malloc(n * TEXT_GROWTH + 1);

	if (d)
		d[text_decode(ENC_UTF8, s ?: "", n, d, n * TEXT_GROWTH)] = '\0';
	return d;
}

/* Marks are wanted by default too: the session needs them. */
static bool is_wanted(const struct site *s, const struct capture_options *opt)
{
	/* naming a function is asking for it */
	bool only = s->probe->of_option, listed = s->probe->of_option;

	for (size_t i = 0; i < opt->nr_probes; i++) {
		const char *glob = opt->probes[i];

		if (*glob == '-') {
			if (site_is_called(s, glob + 1))
				return false;
		} else {
			only = true;
			listed |= site_is_called(s, glob);
		}
	}
	return only ? listed : !s->probe->off;
}

/* How the end of this probe's calls is seen; refusals say why. */
static enum attach_kind choose_kind(const struct engine *e, const struct site *s, const char **ret_refused)
{
	const struct engine_probe *p = s->probe;
	bool risky = p->jit || e->exceptions || (e->seccomp && features_return_is_syscall_under_seccomp());

	switch (p->kind) {
	case PROBE_KIND_MARK:
	case PROBE_KIND_ASYNC_BEGIN:
	case PROBE_KIND_ASYNC_END:
	case PROBE_KIND_FLOW_BEGIN:
	case PROBE_KIND_FLOW_END:
		return ATTACH_MARK;
	default:
		break;
	}
	if (p->exit == EXIT_NONE)
		return ATTACH_MARK;
	if (p->exit == EXIT_RETURN || (p->exit == EXIT_AUTO && !risky))
		return ATTACH_RETURN;
	/* one without any way out never returns: its calls end by being unwound */
	if (s->exits_complete)
		return ATTACH_EXITS;
	*ret_refused = "it needs exit probes, but not every way out of the function is certain (a jump that only its run decides)";
	return ATTACH_NONE;
}

static int add_row(struct probe_table *t, const struct engine *e, const struct image *image, const struct site *s,
		   const struct capture_options *opt)
{
	const struct engine_probe *p = s->probe;
	struct recording_probe *r = &t->rec[t->nr];
	struct probe_plan *plan = &t->plan[t->nr];
	const char *refused = s->reason;

	if (t->nr == t->cap)
		return -ENOSPC;
	memset(plan, 0, sizeof(*plan));
	plan->module = t->nr_modules - 1;
	if (s->source != SITE_NONE) {
		refused = "";
		plan->kind = choose_kind(e, s, &refused);
	}
	if (plan->kind == ATTACH_EXITS) {
		plan->exits = malloc(s->nr_exits * sizeof(*plan->exits));
		if (!plan->exits)
			return -ENOMEM;
		memcpy(plan->exits, s->exits, s->nr_exits * sizeof(*plan->exits));
		plan->nr_exits = s->nr_exits;
	}
	if (plan->kind) {
		table_fill_spec(&plan->spec, s, plan->kind, opt);
		plan->cookie = table_cookie(t->nr, s->offset, &plan->spec);
		plan->spec.cost_class = table_cost_class(s->cost, &plan->spec, plan->cookie);
	}
	*r = (struct recording_probe){
		.name = copy_text(site_name(s)),
		.label = copy_text(p->label_function && *s->function ? s->function : p->label ?: p->name),
		.category = copy_text(e->category ?: e->name), .engine = copy_text(e->name), .group = copy_text(p->group),
		.function = copy_text(s->function), .module = copy_text(t->modules[plan->module].path),
		.build_id = copy_text(image->build_id), .source = copy_text(site_source_name(s->source)),
		.evidence = copy_text(s->evidence), .refused = copy_text(refused),
		.offset = plan->kind ? s->offset : 0, .type = p->type, .kind = p->kind ?: PROBE_KIND_SPAN, .role = p->role,
		.cost_class = plan->kind ? plan->spec.cost_class : s->cost,
	};
	t->nr++;
	return 0;
}

/* Which of the globs are about a probe at all. */
static void note_globs(struct probe_table *t, const struct site *s, const struct capture_options *opt)
{
	for (size_t i = 0; i < opt->nr_probes; i++)
		if (site_is_called(s, opt->probes[i] + (*opt->probes[i] == '-')))
			t->glob_used[i] = true;
}

int table_check_globs(const struct probe_table *t, const struct capture_options *opt, struct error *err)
{
	for (size_t i = 0; i < opt->nr_probes && t->nr_modules; i++)
		if (!t->glob_used[i])
			return error_set(err, ERR_USAGE, -EINVAL, "--probe %.200s matches no probe; framescope probes -p %d lists them",
					 opt->probes[i], opt->pid);
	return 0;
}

static int find_sites(struct probe_table *t, const struct engine *e, struct image *image,
		      const struct capture_options *opt, struct error *err)
{
	struct site_options so = { .symbols = opt->symbols, .no_cache = opt->no_cache };
	struct site_list found = { 0 };
	const struct site_list *sites = opt->sites ?: &found;
	int rc = opt->sites ? 0 : sites_find(image, e, &so, &found, err);

	if (rc)
		return rc;
	for (size_t i = 0; i < sites->nr && !rc; i++) {
		const struct site *s = &sites->sites[i];

		note_globs(t, s, opt);
		if (!is_wanted(s, opt) || (s->source == SITE_NONE && (s->probe->optional || e == t->functions)))
			continue;
		rc = add_row(t, e, image, s, opt);
	}
	sites_free(&found);
	if (rc == -ENOSPC)
		return error_set(err, ERR_OTHER, rc, "more than %zu probes; choose some with --probe", t->cap);
	return rc ? error_set(err, ERR_OTHER, rc, "out of memory") : 0;
}

bool table_claims(const struct probe_table *t, const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	for (size_t i = 0; i < t->nr_engines; i++)
		if (engine_claims(t->engines[i], name))
			return true;
	return t->functions && engine_claims(t->functions, name);
}

static int keep_module(struct probe_table *t, const struct module *m, int fd, const struct engine *e, struct error *err)
{
	struct table_module *bigger = realloc(t->modules, (t->nr_modules + 1) * sizeof(*bigger));
	char *path = strdup(m->path);

	if (bigger)
		t->modules = bigger;
	if (!bigger || !path) {
		free(path);
		return error_set(err, ERR_OTHER, -ENOMEM, "out of memory");
	}
	t->modules[t->nr_modules++] = (struct table_module){
		.dev = m->dev, .inode = m->inode, .fd = fd, .path = path, .engine = e,
	};
	return 0;
}

/* A file that an engine claims by its name: by its marks, too? */
static int add_module(struct probe_table *t, const struct module *m, const struct capture_options *opt, struct error *err)
{
	const struct engine *e, *f = NULL;
	struct image *image = NULL;
	char path[PATH_MAX];
	int fd, rc;

	rc = module_open(m, &fd, err);
	if (rc)
		return rc;
	rc = module_find_path(m, fd, path, sizeof(path), err);
	if (!rc)
		rc = image_open(path, &image, err);
	if (rc)
		goto out;
	e = engine_for_module(t->engines, t->nr_engines, module_basename(m), image);
	if (t->functions && engine_claims(t->functions, module_basename(m)))
		f = t->functions;
	if (!e && !f)
		goto out;
	rc = keep_module(t, m, fd, e ?: f, err);
	if (rc)
		goto out;
	fd = -1;
	if (e)
		rc = find_sites(t, e, image, opt, err);
	if (!rc && f)
		rc = find_sites(t, f, image, opt, err);
out:
	image_close(image);
	if (fd >= 0)
		close(fd);
	return rc;
}

int table_add_process(struct probe_table *t, pid_t pid, const struct capture_options *opt, struct error *err)
{
	size_t first = t->seen.nr;
	int rc = modules_add_process(&t->seen, pid, NULL);

	if (rc == -ESRCH)
		return 0;
	if (rc == -EACCES || rc == -EPERM)
		return modules_denied(pid, err);
	if (rc)
		return error_set(err, ERR_OTHER, rc, "can't read what process %d maps: %s", pid, strerror(-rc));
	for (size_t i = first; i < t->seen.nr; i++) {
		if (!table_claims(t, t->seen.m[i].path))
			continue;
		rc = add_module(t, &t->seen.m[i], opt, err);
		/* gone while we looked */
		if (rc && err->kind == ERR_NO_TARGET)
			rc = 0;
		if (rc)
			return rc;
	}
	return 0;
}

struct engine_context {
	const struct probe_table *t;
	const struct engine *found;
};

static int find_engine(void *arg, const struct map_entry *m)
{
	struct engine_context *c = arg;

	if (!m->exec || !m->inode)
		return 0;
	for (size_t i = 0; i < c->t->nr_modules; i++) {
		if (c->t->modules[i].dev == m->dev && c->t->modules[i].inode == m->inode) {
			c->found = c->t->modules[i].engine;
			return 1;
		}
	}
	return 0;
}

const struct engine *table_engine_of(const struct probe_table *t, pid_t pid)
{
	struct engine_context c = { .t = t };

	maps_each(pid, find_engine, &c);
	return c.found;
}

bool table_has_aggregates(const struct probe_table *t)
{
	for (size_t i = 0; i < t->nr; i++)
		if (t->plan[i].kind != ATTACH_NONE && t->plan[i].spec.flags & PROBE_AGGREGATE)
			return true;
	return false;
}

size_t table_attachable(const struct probe_table *t)
{
	size_t nr = 0;

	for (size_t i = 0; i < t->nr; i++)
		nr += t->plan[i].kind != ATTACH_NONE;
	return nr;
}
