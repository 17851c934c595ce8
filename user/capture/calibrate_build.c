// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Runs a private browser through calibration's pages and looks into it at each call that is due. */
#include <errno.h>
#include <libgen.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "capture/calibrate_build.h"
#include "capture/calibrate_browser.h"
#include "capture/calibrate_calls.h"
#include "capture/calibrate_choose.h"
#include "capture/calibrate_keep.h"
#include "capture/calibrate_pages.h"
#include "capture/snoop.h"
#include "version.h"

#define NR_ARG_REGS 6		/* registers with arguments: the first of the table on every machine */
#define HITS_ALONE 10		/* looked into per function and page, and where several documents are shown together, */
#define HITS_TOGETHER 24
#define HITS_STRANGE 40		/* besides those of other documents: the browser has some of its own */
#define STACK_BYTES (1u << 20)	/* behind the stack pointer that count as stack */
#define TICK_MS 100
#define TEXT_MAX 96
#define CAGE_TRIES 500		/* looks for a cage: processes that have none may come first */

struct run {
	const struct calibrate_options *opt;
	struct build_calibration *result;
	struct error *err;
	struct private_copy copy;
	struct pages pages;
	struct browser *browser;
	struct snoop *snoop;
	const struct reporter *reporter;	/* what the browser says of itself; NULL: nothing */
	struct recorded_calls *calls;	/* and what our probes see in the same run */
	struct calls_verdict *verdicts;	/* per log */
	struct memory *memory;
	struct call_log *logs;
	size_t nr_logs;
	struct known known;
	struct choose_texts texts;
	char text[KNOWN_MAX][TEXT_MAX];
	unsigned int phase;
	unsigned int strange[SNOOP_MAX_SITES];	/* calls of the phase that led to nothing known */
	unsigned int cage_tries;
	int stack_reg;
	uint64_t deadline_ns;
	bool together;
	int failed;
};

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

static void say(const struct run *r, const char *what)
{
	if (r->opt->say)
		r->opt->say(what);
}

static void on_hit(void *arg, const struct snoop_hit *hit)
{
	struct run *r = arg;
	struct subject s = { .memory = r->memory, .regs = (const uint64_t *)hit->regs, .nr_regs = NR_ARG_REGS, .known = &r->known };
	int rc;

	if (r->failed || *r->opt->stop || now_ns() > r->deadline_ns || hit->site >= r->nr_logs)
		return;
	if (memory_begin(r->memory, hit->tgid))
		return;
	if (!r->result->cage && r->cage_tries < CAGE_TRIES) {
		r->cage_tries++;
		memory_find_cage(r->memory, &r->result->cage);
	}
	s.cage = memory_cage(r->memory, r->result->cage);
	for (int i = 0; i < NR_ARG_REGS; i++)
		s.stack_regs |= (hit->regs[i] - hit->regs[r->stack_reg] < STACK_BYTES) << i;
	rc = log_call(&r->logs[hit->site], &s, r->phase, r->together && s.cage);
	if (rc < 0)
		r->failed = error_set(r->err, ERR_OTHER, rc, "out of memory");
	else if (!rc && r->strange[hit->site]++ < HITS_STRANGE)
		snoop_again(r->snoop, hit->site);
}

/* What the browser and the probes have to say, for a moment. Returns a message or NULL. */
static json_t *pump(struct run *r)
{
	struct pollfd fds[3] = { { .fd = browser_fd(r->browser), .events = POLLIN }, { .fd = -1 }, { .fd = -1 } };
	json_t *m = NULL;
	int rc = 0;

	if (r->snoop) {
		fds[1].fd = snoop_fd(r->snoop);
		fds[1].events = POLLIN;
	}
	if (r->calls) {
		fds[2].fd = calls_fd(r->calls);
		fds[2].events = POLLIN;
	}
	m = browser_receive(r->browser, &rc);
	if (!m && !rc) {
		poll(fds, 3, TICK_MS);
		if (r->snoop)
			snoop_handle(r->snoop);
		m = browser_receive(r->browser, &rc);
	}
	if (r->failed)
		return m;
	if (r->calls)
		r->failed = calls_poll(r->calls, r->err);
	if (r->failed)
		return m;
	if (rc)
		r->failed = error_set(r->err, ERR_OTHER, rc, "the private browser has ended by itself; FRAMESCOPE_DEBUG=1 shows what "
				      "it says");
	else if (*r->opt->stop)
		r->failed = error_set(r->err, ERR_OTHER, -EINTR, "stopped before it was done; nothing was written");
	else if (now_ns() > r->deadline_ns)
		r->failed = error_set(r->err, ERR_OTHER, -ETIMEDOUT, "the private browser did not show its pages within %d seconds; "
				      "try again when the machine is less busy", CALIBRATE_MAX_SECONDS);
	return m;
}

/* Sends a command and waits for its result, which is to be released; NULL on failure. */
static json_t *call(struct run *r, const char *session, const char *method, json_t *params)
{
	int id = browser_send(r->browser, session, method, params);

	if (id < 0 && !r->failed)
		r->failed = error_set(r->err, ERR_OTHER, id, "the private browser does not listen");
	while (!r->failed) {
		json_t *m = pump(r), *result = NULL;

		if (m && json_integer_value(json_object_get(m, "id")) == id) {
			result = json_incref(json_object_get(m, "result"));
			if (!result)
				r->failed = error_set(r->err, ERR_OTHER, -EPROTO, "the private browser refuses %s", method);
		}
		json_decref(m);
		if (result)
			return result;
	}
	return NULL;
}

/* Copies a value of the page (the only target of type page) into dst. */
static bool page_value(struct run *r, const char *key, char *dst, size_t size)
{
	json_t *result = call(r, NULL, "Target.getTargets", NULL), *target;
	size_t i;

	dst[0] = '\0';
	json_array_foreach(json_object_get(result, "targetInfos"), i, target) {
		const char *type = json_string_value(json_object_get(target, "type"));
		const char *value = json_string_value(json_object_get(target, key));

		if (type && value && !strcmp(type, "page"))
			snprintf(dst, size, "%s", value);
	}
	json_decref(result);
	return dst[0];
}

static bool open_session(struct run *r, char *session, size_t size)
{
	char target[128];
	json_t *result;

	while (!page_value(r, "targetId", target, sizeof(target)))
		if (r->failed)
			return false;
	result = call(r, NULL, "Target.attachToTarget", json_pack("{s:s, s:b}", "targetId", target, "flatten", 1));
	snprintf(session, size, "%s", json_string_value(json_object_get(result, "sessionId")) ?: "");
	json_decref(result);
	return !r->failed;
}

static void read_version(struct run *r)
{
	json_t *result = call(r, NULL, "Browser.getVersion", NULL);

	snprintf(r->result->made, sizeof(r->result->made), "framescope %s, %.100s", FRAMESCOPE_VERSION,
		 json_string_value(json_object_get(result, "product")) ?: "a browser that doesn't tell its version");
	json_decref(result);
}

static void show(struct run *r, const char *session, const struct page *page, unsigned int phase)
{
	char url[TEXT_MAX], line[TEXT_MAX + 16], ready[64], title[128] = "";

	snprintf(url, sizeof(url), "http://127.0.0.1:%u/%s.html", r->pages.port, page->name);
	snprintf(ready, sizeof(ready), PAGE_READY "%s", page->name);
	r->phase = phase;
	r->together = page->frames[0];
	snprintf(line, sizeof(line), "showing %s", url);
	say(r, line);
	memset(r->strange, 0, sizeof(r->strange));
	if (r->snoop)
		snoop_budget(r->snoop, r->together ? HITS_TOGETHER : HITS_ALONE);
	json_decref(call(r, session, "Page.navigate", json_pack("{s:s}", "url", url)));
	while (!r->failed && strcmp(title, ready)) {
		page_value(r, "title", title, sizeof(title));
		/* never asleep: whatever stops at a call stands still until it is looked at */
		for (uint64_t until = now_ns() + TICK_MS * 1000000ull; !r->failed && strcmp(title, ready) && now_ns() < until;)
			json_decref(pump(r));
	}
	/* the last frame, which shows the last change */
	for (int i = 0; i < 4 && !r->failed; i++)
		json_decref(pump(r));
	if (r->snoop)
		snoop_budget(r->snoop, 0);
}

/* Names all files of the pages, and says which of them belong to what is shown at a time. */
static void prepare_texts(struct run *r)
{
	unsigned int phase = 0, left = 0;

	for (const struct page *p = calibrate_pages; p->name; p++) {
		for (const char *const *file = calibrate_page_files; *file; file++) {
			size_t n = r->known.nr++;
			uint64_t bit = 1ull << n;

			snprintf(r->text[n], TEXT_MAX, "http://127.0.0.1:%u/%s%s", r->pages.port, p->name, *file);
			r->known.text[n] = r->text[n];
			*(strstr(*file, "html") ? &r->texts.documents : strstr(*file, "css") ? &r->texts.sheets : &r->texts.scripts) |= bit;
			r->texts.of_phase[phase] |= bit;
			if (strstr(*file, "html") && (p->frames[0] || left))
				r->texts.docs[r->texts.nr_docs++] = n;
		}
		if (left)
			left--;
		for (size_t i = 0; p->frames[i]; i++)
			left++;
		if (p->frames[0])
			r->texts.together = phase;
		phase += !left;
	}
}

/* Every function that can be told from others by being called; of those that are off by default, none. Neither those that take
 * part in operations: what they read, identities, stands in the definition, and their functions often are another probe's. */
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
		if (list->sites[i].source && !list->sites[i].probe->off && !*list->sites[i].probe->group)
			r->logs[r->nr_logs++].site = &list->sites[i];
	return r->nr_logs ? 0 : error_set(r->err, ERR_NOTHING, -ENOENT, "none of %s's functions were found in %s; framescope probes "
					  "--binary says why", r->result->engine->title, r->opt->binary);
}

/* Before anything is copied: /usr/bin has more than one browser. */
static int check_binary(struct run *r)
{
	struct build_calibration *c = r->result;
	int rc = image_open(r->opt->binary, &c->image, r->err);
	char name[PATH_MAX];

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
	c->engine = r->opt->engine ? c->engines[0] : engine_for_module(c->engines, c->nr_engines, basename(name), c->image);
	if (!c->engine)
		return error_set(r->err, ERR_INPUT, -ENOENT, "%s is of no engine that is known; framescope list --engines shows those",
				 r->opt->binary);
	if (!c->image->build_id[0])
		return error_set(r->err, ERR_INPUT, -ENOENT, "%s has no build-id, so that nothing found could be kept for it",
				 r->opt->binary);
	return 0;
}

/* The probes are to sit on the copy, and the processes have that one mapped. */
static int copy_binary(struct run *r)
{
	int rc = copy_make(r->opt->binary, &r->copy, r->err);

	if (rc)
		return rc;
	image_close(r->result->image);
	r->result->image = NULL;
	return image_open(r->copy.binary, &r->result->image, r->err);
}

static int attach_snoop(struct run *r)
{
	uint64_t offsets[SNOOP_MAX_SITES];

	for (size_t i = 0; i < r->nr_logs; i++)
		offsets[i] = r->logs[i].site->offset;
	return snoop_open(r->copy.binary, offsets, r->nr_logs, browser_root(r->browser), on_hit, r, &r->snoop, r->err);
}

static int show_all(struct run *r, const char *session)
{
	unsigned int phase = 0;

	for (const struct page *p = calibrate_pages; p->name && !r->failed; p++, phase++) {
		show(r, session, p, phase);
		/* those of its frames have been shown with it */
		for (const char *const *frame = p->frames; *frame; frame++)
			p++;
	}
	return r->failed;
}

/* First run: the browser as it is, stopped and looked into. */
static int search(struct run *r)
{
	const struct arch *arch = r->result->image->arch;
	char session[128];
	int rc;

	r->stack_reg = arch->reg("rsp", 3) >= 0 ? arch->reg("rsp", 3) : arch->reg("sp", 2);
	if (r->stack_reg < 0)
		r->stack_reg = 0;
	rc = browser_start(&r->copy, NULL, &r->browser, r->err);
	if (rc || !open_session(r, session, sizeof(session)))
		return rc ?: r->failed;
	read_version(r);
	rc = r->failed ?: attach_snoop(r);
	if (!rc)
		rc = show_all(r, session);
	for (size_t i = 0; i < r->nr_logs; i++)
		r->logs[i].calls = r->snoop ? snoop_calls(r->snoop, i) : 0;
	snoop_close(r->snoop);
	r->snoop = NULL;
	browser_stop(r->browser);
	r->browser = NULL;
	return rc;
}

/* Lets the browser end in its own way, so that it finishes its report. False: it takes too long. */
static bool end_browser(struct run *r)
{
	browser_send(r->browser, NULL, "Browser.close", NULL);
	while (!browser_has_ended(r->browser, TICK_MS)) {
		if (*r->opt->stop)
			r->failed = error_set(r->err, ERR_OTHER, -EINTR, "stopped before it was done; nothing was written");
		if (r->failed || now_ns() > r->deadline_ns)
			return false;
	}
	return true;
}

/* Second run: the same pages again, while it reports what it does and our probes record it, and nothing stops it. */
static int record_reporting(struct run *r)
{
	char session[128];
	int rc = browser_start(&r->copy, r->reporter, &r->browser, r->err);

	if (rc || !open_session(r, session, sizeof(session)))
		return rc ?: r->failed;
	rc = calls_open(browser_root(r->browser), r->opt->engine ?: r->result->engine->name, &r->calls, r->err);
	return rc ?: show_all(r, session) ?: calls_end(r->calls, r->err);
}

static int compare(struct run *r)
{
	struct calls_site sites[SNOOP_MAX_SITES];
	char report[PATH_MAX + 16];
	int rc;

	for (size_t i = 0; i < r->nr_logs; i++) {
		sites[i] = (struct calls_site){ r->logs[i].site, !r->logs[i].calls };
		snprintf(r->verdicts[i].text, sizeof(r->verdicts[i].text), "not compared: the browser reports nothing");
	}
	if (!r->reporter)
		return 0;
	rc = record_reporting(r);
	if (rc)
		return rc;
	say(r, "waiting for the browser's own report");
	if (!end_browser(r) && r->failed)
		return r->failed;
	rc = browser_report_path(&r->copy, report, sizeof(report));
	if (!rc)
		rc = calls_compare(r->calls, r->reporter, report, r->result->engine, sites, r->nr_logs, r->verdicts, r->err);
	if (!rc || r->err->kind != ERR_INPUT)
		return rc;
	/* what was found is kept all the same, and says so */
	say(r, r->err->text);
	for (size_t i = 0; i < r->nr_logs; i++)
		snprintf(r->verdicts[i].text, sizeof(r->verdicts[i].text), "not compared: %.120s", r->err->text);
	return 0;
}

static int run_browser(struct run *r)
{
	int rc = pages_start(r->copy.uid, r->copy.gid, &r->pages, r->err);

	if (rc)
		return rc;
	prepare_texts(r);
	r->reporter = reporter_of(r->result->engine);
	return search(r) ?: compare(r);
}

static int finish(struct run *r)
{
	struct build_calibration *c = r->result;
	struct site_build build;
	int rc = choose_paths(r->logs, r->nr_logs, &r->texts, c->entries);

	if (rc)
		return error_set(r->err, ERR_OTHER, rc, "out of memory");
	c->nr = keep_entries(c->entries, r->logs, r->verdicts, r->nr_logs);
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
	r.deadline_ns = now_ns() + CALIBRATE_MAX_SECONDS * 1000000000ull;
	rc = check_binary(&r);
	if (!rc)
		rc = copy_binary(&r);
	if (!rc)
		rc = find_functions(&r);
	if (!rc) {
		r.memory = memory_new(ret->image);
		rc = r.memory ? run_browser(&r) : error_set(err, ERR_OTHER, -ENOMEM, "out of memory");
	}
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
