// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Calibrates a build: finds its functions, runs it twice, and writes what both runs have shown. */
#include <dirent.h>
#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/clock.h"
#include "calibrate/display.h"
#include "calibrate/keep.h"
#include "calibrate/library.h"
#include "calibrate/run.h"
#include "calibrate/wants.h"

/* Of each page, what is shown at the same time as it: pages by the order in which they are shown. */
static unsigned int next_phase(const struct page *p, unsigned int phase, unsigned int *left)
{
	if (*left)
		--*left;
	for (size_t i = 0; p->frames[i]; i++)
		++*left;
	return phase + !*left;
}

static void prepare_files(struct run *r, const struct page *p, unsigned int phase, bool together)
{
	for (const char *const *file = calibrate_page_files; *file; file++) {
		size_t n = r->known.nr++;
		uint64_t bit = 1ull << n;

		snprintf(r->text[n], TEXT_MAX, "http://%s:%u/%s%s", run_host(r, p), r->pages.port, p->name, *file);
		r->known.text[n] = r->text[n];
		*(strstr(*file, "html") ? &r->texts.documents : strstr(*file, "css") ? &r->texts.sheets :
		  strstr(*file, "event") ? &r->texts.events : &r->texts.scripts) |= bit;
		r->texts.of_phase[phase] |= bit;
		r->texts.of_file[file - calibrate_page_files] |= bit;
		r->texts.doc_of[n] = together ? (int)r->texts.nr_docs : -1;
	}
	r->texts.nr_docs += together;
}

/* Names all files of the pages, and says which of them belong to what is shown at a time; then the events, and what the pages
 * cover. */
static void prepare_texts(struct run *r)
{
	unsigned int phase = 0, left = 0;

	r->known.kind = r->kind->text;

	for (const struct page *p = calibrate_pages; p->name; p++) {
		prepare_files(r, p, phase, p->frames[0] || left);
		if (p->frames[0])
			r->texts.together = phase;
		phase = next_phase(p, phase, &left);
	}
	for (const char *const *name = calibrate_page_events; *name; name++) {
		for (size_t i = 0; i < LOG_PHASES; i++)
			r->texts.of_phase[i] |= 1ull << r->known.nr;
		r->texts.events |= 1ull << r->known.nr;
		r->texts.doc_of[r->known.nr] = -1;
		r->known.text[r->known.nr++] = *name;
	}
	r->known.names = r->texts.events;
	/* what a frame shows first, on whatever page it is */
	r->texts.blank = 1ull << r->known.nr;
	r->texts.doc_of[r->known.nr] = -1;
	r->texts.documents |= r->texts.blank;
	r->known.text[r->known.nr++] = "about:blank";
	phase = left = 0;
	for (const struct page *p = calibrate_pages; p->name; p++) {
		uint64_t bit = 1ull << (r->known.nr + r->known.nr_areas);

		r->known.area[r->known.nr_areas++] = (struct area){ 0, 0, p->w, p->h };
		r->texts.areas |= bit;
		r->texts.of_phase[phase] |= bit;
		phase = next_phase(p, phase, &left);
	}
}

static bool tells_object(const struct engine_probe *p)
{
	for (size_t i = 0; i < p->nr_args; i++)
		if (objects_told(&p->args[i]))
			return true;
	return false;
}

/* Every function that can be told from others by being called; of those that are off by default, those that are given a frame or
 * document, which serves to know these elsewhere, or paint. Not those that take part in operations: what they read, identities,
 * stands in the definition, and their functions often are another probe's. */
static int find_functions(struct run *r)
{
	const struct site_options opt = { .no_calibration = true };
	struct site_list *list = &r->result->sites;
	int rc = sites_find(r->result->image, r->result->engine, &opt, list, r->err);

	if (rc)
		return rc;
	r->logs = calloc(list->nr + 1, sizeof(*r->logs));
	r->verdicts = calloc(list->nr + 1, sizeof(*r->verdicts));
	r->result->entries = calloc(list->nr + 1, sizeof(*r->result->entries));
	if (!r->logs || !r->verdicts || !r->result->entries)
		return error_set(r->err, ERR_OTHER, -ENOMEM, "out of memory");
	/* what the code shows is surer than what the memory does */
	for (size_t i = 0; i < list->nr && !r->result->cage; i++)
		r->result->cage = list->sites[i].cage;
	for (size_t i = 0; i < list->nr && r->nr_logs < SNOOP_MAX_SITES; i++)
		if (list->sites[i].source && !*list->sites[i].probe->group &&
		    (!list->sites[i].probe->off || tells_object(list->sites[i].probe) || wants_area(list->sites[i].probe)))
			r->logs[r->nr_logs++].site = &list->sites[i];
	return r->nr_logs ? 0 : error_set(r->err, ERR_NOTHING, -ENOENT, "none of %s's functions were found in %s; framescope probes "
					  "--binary says why", r->result->engine->title, r->opt->binary);
}

/* The engine of the file, which becomes c->image if one claims it. */
static bool is_module(struct run *r, const char *path, const char *name)
{
	struct build_calibration *c = r->result;
	struct image *image;
	struct error err;

	if (image_open(path, &image, &err))
		return false;
	c->engine = r->opt->engine ? c->engines[0] : engine_for_module(c->engines, c->nr_engines, name, image);
	if (!c->engine) {
		image_close(image);
		return false;
	}
	image_close(c->image);
	c->image = image;
	snprintf(r->module, sizeof(r->module), "%s", name);
	return true;
}

/* Where the program itself is none: the engine's library beside it. */
static void find_beside(struct run *r, const char *folder)
{
	struct build_calibration *c = r->result;
	DIR *d = opendir(folder);
	struct dirent *e;

	while (d && !c->engine && (e = readdir(d))) {
		char path[PATH_MAX];
		bool claimed = false;

		for (size_t i = 0; i < c->nr_engines; i++)
			claimed |= engine_claims(c->engines[i], e->d_name);
		if (claimed && (size_t)snprintf(path, sizeof(path), "%s/%s", folder, e->d_name) < sizeof(path))
			is_module(r, path, e->d_name);
	}
	if (d)
		closedir(d);
}

struct needed {
	struct run *r;
	const char *binary;
};

static bool is_engine(void *ctx, const char *name)
{
	struct needed *n = ctx;
	struct build_calibration *c = n->r->result;
	char path[PATH_MAX];

	for (size_t i = 0; i < c->nr_engines; i++)
		if (engine_claims(c->engines[i], name) && library_find(n->binary, name, path) && is_module(n->r, path, name))
			return true;
	return false;
}

/* A program of many that use an engine's library: which one it needs. */
static void find_needed(struct run *r, const char *binary)
{
	struct needed n = { r, binary };
	struct image *image;
	struct error err;

	if (image_open(binary, &image, &err))
		return;
	library_each_needed(image, is_engine, &n);
	image_close(image);
}

/* Where the engine is a library, what shows pages with it. */
static int check_library(struct run *r)
{
	struct build_calibration *c = r->result;
	char module[PATH_MAX];
	int rc;

	if (!r->kind->program)
		return 0;
	if (r->kind->display && !display_available())
		return error_set(r->err, ERR_INPUT, -ENOENT, "%s shows pages on a display only, and Xvfb, the X server without a screen, "
				 "is not installed; install the package xvfb or your distribution's like it", c->engine->title);
	if (!realpath(c->image->path, module))
		return error_set(r->err, ERR_INPUT, -errno, "can't find %s: %s", c->image->path, strerror(errno));
	rc = library_program(c->engine, module, r->kind->program, &r->files, r->err);
	if (rc)
		return rc;
	for (size_t i = 1; i < r->files.nr; i++)
		if (!strcmp(r->files.file[i].path, module))
			snprintf(r->module, sizeof(r->module), "%s", r->files.file[i].name);
	snprintf(r->version, sizeof(r->version), "%.100s", basename(module));
	return 0;
}

/* Before anything is copied: /usr/bin has more than one browser. */
static int check_binary(struct run *r)
{
	struct build_calibration *c = r->result;
	int rc = image_open(r->opt->binary, &c->image, r->err);
	char name[PATH_MAX], folder[PATH_MAX];
	bool beside;

	/* it is there: /usr/bin/chromium and its like */
	if (rc && !access(r->opt->binary, R_OK))
		return error_prefix(r->err, "not the program itself, perhaps the script that starts it");
	if (rc)
		return rc;
	rc = engines_load(r->opt->engine, c->image->arch, &c->engines, &c->nr_engines, r->err);
	if (rc)
		return rc;
	if (!realpath(r->opt->binary, name))
		return error_set(r->err, ERR_INPUT, -errno, "can't find %s: %s", r->opt->binary, strerror(errno));
	snprintf(folder, sizeof(folder), "%s", name);
	/* what stands beside it in /usr/bin has nothing to do with it */
	if (!is_module(r, name, basename(name)))
		find_needed(r, name);
	beside = !c->engine;
	if (beside)
		find_beside(r, dirname(folder));
	r->kind = c->engine ? kind_of(c->engine->name) : NULL;
	if (beside && !r->kind)
		c->engine = NULL;
	if (c->engine && !r->kind)
		return error_set(r->err, ERR_INPUT, -ENOTSUP, "%s is %s, which can't be calibrated", r->opt->binary, c->engine->title);
	if (!c->engine)
		return error_set(r->err, ERR_INPUT, -ENOENT, "%s is of no engine that is known; framescope list --engines shows those",
				 r->opt->binary);
	if (!c->image->build_id[0])
		return error_set(r->err, ERR_INPUT, -ENOENT, "%s has no build-id, so that nothing found could be kept for it",
				 r->opt->binary);
	return check_library(r);
}

/* The probes are to sit on the copy, and the processes have that one mapped. */
static int copy_binary(struct run *r)
{
	int rc = copy_make(r->files.nr ? r->files.file[0].path : r->opt->binary, r->module, &r->files, &r->copy, r->err);

	if (rc)
		return rc;
	image_close(r->result->image);
	r->result->image = NULL;
	return image_open(r->copy.module, &r->result->image, r->err);
}

/* First run: the browser as it is, stopped and looked into. */
static int search(struct run *r)
{
	int rc = drive_start(r, NULL, r->kind->from_start ? hits_attach : NULL);

	if (!rc && !r->snoop)
		rc = hits_attach(r);
	if (!rc)
		rc = drive_pages(r);
	for (size_t i = 0; i < r->nr_logs; i++)
		r->logs[i].calls = r->snoop ? snoop_calls(r->snoop, i) : 0;
	if (!rc)
		rc = rules_find(r);
	snoop_close(r->snoop);
	r->snoop = NULL;
	browser_stop(r->browser);
	r->browser = NULL;
	return rc;
}

/* What leads to something in the first run is read in the second. */
static int choose(struct run *r)
{
	struct site_list *list = &r->result->sites;
	int rc = choose_paths(r->logs, r->nr_logs, &r->texts, r->result->entries);

	if (rc)
		return error_set(r->err, ERR_OTHER, rc, "out of memory");
	for (size_t i = 0; i < r->nr_logs; i++) {
		struct site *site = &list->sites[r->logs[i].site - list->sites];
		const struct site_entry *e = &r->result->entries[i];

		site->cage = r->result->cage;
		site_replace_args(site, e->args, e->nr_args);
	}
	return 0;
}

/* Second run: the same pages again, while it reports what it does and our probes record it, and nothing stops it. */
static int record_reporting(struct run *r, const struct calls_site *sites)
{
	int rc = drive_start(r, r->reporter, NULL);

	if (rc)
		return rc;
	rc = calls_open(browser_root(r->browser), r->opt->engine ?: r->result->engine->name, &r->result->sites, sites, r->nr_logs,
			&r->calls, r->err);
	return rc ?: drive_pages(r) ?: calls_end(r->calls, r->err);
}

static int compare(struct run *r)
{
	struct calls_site sites[SNOOP_MAX_SITES];
	char report[PATH_MAX + 16];
	int rc;

	for (size_t i = 0; i < r->nr_logs; i++) {
		sites[i] = (struct calls_site){ r->logs[i].site, !r->logs[i].calls };
		snprintf(r->verdicts[i].text, sizeof(r->verdicts[i].text), "not compared: no reports of this kind of browser are read");
	}
	if (!r->reporter)
		return 0;
	rc = record_reporting(r, sites);
	if (rc)
		return rc;
	run_say(r, "waiting for the browser's own report");
	if (!drive_end(r) && r->failed)
		return r->failed;
	rc = browser_report_path(&r->copy, report, sizeof(report));
	if (!rc)
		rc = calls_compare(r->calls, r->reporter, report, r->result->engine, sites, r->nr_logs, r->verdicts, r->err);
	if (!rc || r->err->kind != ERR_INPUT)
		return rc;
	/* what was found is kept all the same, and says so */
	run_say(r, r->err->text);
	for (size_t i = 0; i < r->nr_logs; i++)
		snprintf(r->verdicts[i].text, sizeof(r->verdicts[i].text), "not compared: %.120s", r->err->text);
	return 0;
}

static int run_browser(struct run *r)
{
	int rc = pages_start(r->copy.uid, r->copy.gid, !r->kind->pipe, &r->pages, r->err);

	if (rc)
		return rc;
	prepare_texts(r);
	r->reporter = reporter_of(r->result->engine);
	return search(r) ?: choose(r) ?: compare(r);
}

static int finish(struct run *r)
{
	struct build_calibration *c = r->result;
	struct site_build build;

	c->nr = keep_entries(c->entries, r->logs, r->verdicts, r->nr_logs);
	if (r->rules.nr_args)
		c->entries[c->nr++] = r->rules;
	if (!c->nr)
		return error_set(r->err, ERR_NOTHING, -ENOENT, "none of the functions found in %s was called by its own pages; nothing "
				 "was written", r->opt->binary);
	build = (struct site_build){ .image = c->image, .engine = c->engine->name, .made = c->made, .cage = c->cage,
				     .entries = c->entries, .nr = c->nr };
	return site_file_write(&build, r->opt->output, &c->path, r->err);
}

int calibrate_build(const struct calibrate_options *opt, struct build_calibration *ret, struct error *err)
{
	struct run r = { .opt = opt, .result = ret, .err = err };
	int rc;

	memset(ret, 0, sizeof(*ret));
	r.deadline_ns = clock_ns(CLOCK_MONOTONIC) + CALIBRATE_MAX_SECONDS * 1000000000ull;
	rc = check_binary(&r);
	if (!rc)
		rc = copy_binary(&r);
	if (!rc)
		rc = find_functions(&r);
	if (!rc) {
		r.memory = memory_new(ret->image);
		r.objects = objects_new();
		rc = r.memory && r.objects ? run_browser(&r) : error_set(err, ERR_OTHER, -ENOMEM, "out of memory");
	}
	inspector_stop(&r.inspector);
	calls_close(r.calls);
	snoop_close(r.snoop);
	browser_stop(r.browser);
	pages_stop(&r.pages);
	copy_remove(&r.copy);
	if (!rc)
		rc = finish(&r);
	for (size_t i = 0; i < r.nr_logs; i++)
		log_free(&r.logs[i]);
	free(r.logs);
	free(r.verdicts);
	memory_free(r.memory);
	objects_free(r.objects);
	if (rc)
		build_calibration_free(ret);
	return rc;
}

void build_calibration_free(struct build_calibration *c)
{
	free(c->entries);
	sites_free(&c->sites);
	engines_free(c->engines, c->nr_engines);
	image_close(c->image);
	free(c->path);
	memset(c, 0, sizeof(*c));
}
