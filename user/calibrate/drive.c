// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Starts the private browser and leads it through calibration's pages. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include "base/clock.h"
#include "calibrate/run.h"
#include "version.h"

#define HITS_ALONE 10		/* looked into per function and page, and where several documents are shown together */
#define HITS_TOGETHER 24

void run_say(const struct run *r, const char *what)
{
	if (r->opt->say)
		r->opt->say(what);
}

const char *run_host(const struct run *r, const struct page *p)
{
	return r->kind->pipe && p->elsewhere ? PAGE_OTHER_HOST : PAGE_HOST;
}

/* What the browser and the probes have to say, for a moment. Returns a message or NULL. */
static json_t *pump(struct run *r)
{
	struct pollfd fds[4] = { { .fd = browser_fd(r->browser), .events = POLLIN }, { .fd = -1 }, { .fd = -1 },
				 { .fd = r->kind->pipe ? -1 : r->pages.fd, .events = POLLIN } };
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
		poll(fds, 4, TICK_MS);
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
	else if (clock_ns(CLOCK_MONOTONIC) > r->deadline_ns)
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

static bool open_session(struct run *r)
{
	char target[128];
	json_t *result;

	while (!page_value(r, "targetId", target, sizeof(target)))
		if (r->failed)
			return false;
	result = call(r, NULL, "Target.attachToTarget", json_pack("{s:s, s:b}", "targetId", target, "flatten", 1));
	snprintf(r->session, sizeof(r->session), "%s", json_string_value(json_object_get(result, "sessionId")) ?: "");
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

/* A page of a browser that isn't driven is done. */
static void wait_asking(struct run *r, const char *name)
{
	char waiting[64] = "";

	while (!r->failed && strcmp(waiting, name))
		if (!pages_waiting(&r->pages, waiting, sizeof(waiting)))
			json_decref(pump(r));
}

/* Once something can be said to the browser, and what it is has been read. */
static void wait_started(struct run *r)
{
	char version[80];

	if (r->kind->pipe) {
		if (open_session(r))
			read_version(r);
		return;
	}
	wait_asking(r, PAGE_START);
	if (r->version[0])
		snprintf(version, sizeof(version), "%.79s", r->version);
	else
		kind_read_version(r->copy.binary, version, sizeof(version));
	snprintf(r->result->made, sizeof(r->result->made), "framescope %s, %s", FRAMESCOPE_VERSION,
		 version[0] ? version : "a browser that doesn't tell its version");
}

static void wait_title(struct run *r, const char *name)
{
	char ready[64], title[128] = "";

	snprintf(ready, sizeof(ready), PAGE_READY "%s", name);
	while (!r->failed && strcmp(title, ready)) {
		page_value(r, "title", title, sizeof(title));
		/* never asleep: whatever stops at a call stands still until it is looked at */
		for (uint64_t until = clock_ns(CLOCK_MONOTONIC) + TICK_MS * 1000000ull; !r->failed && strcmp(title, ready) && clock_ns(CLOCK_MONOTONIC) < until;)
			json_decref(pump(r));
	}
}

static void show(struct run *r, const struct page *page, unsigned int phase)
{
	char url[TEXT_MAX], line[TEXT_MAX + 16];

	snprintf(url, sizeof(url), "http://%s:%u/%s.html", run_host(r, page), r->pages.port, page->name);
	r->phase = phase;
	r->together = page->frames[0];
	snprintf(line, sizeof(line), "showing %s", url);
	run_say(r, line);
	memset(r->strange, 0, sizeof(r->strange));
	hits_budget(r, r->together ? HITS_TOGETHER : HITS_ALONE);
	if (r->kind->pipe) {
		json_decref(call(r, r->session, "Page.navigate", json_pack("{s:s}", "url", url)));
		wait_title(r, page->name);
	} else {
		pages_next(&r->pages, page->name);
		wait_asking(r, page->name);
	}
	/* the last frame, which shows the last change */
	for (int i = 0; i < 4 && !r->failed; i++)
		json_decref(pump(r));
	hits_budget(r, 0);
}

/* The page's timeline, until it is stopped. Without one there is no report, which is found out when it is read. */
static void start_inspector(struct run *r, uint16_t port)
{
	char report[PATH_MAX + 16];
	bool gone = browser_report_path(&r->copy, report, sizeof(report));

	if (!gone)
		r->failed = inspector_start(port, r->copy.uid, r->copy.gid, report, &r->inspector, r->err);
	while (!r->failed && !gone && !inspector_runs(&r->inspector, &gone))
		json_decref(pump(r));
}

int drive_start(struct run *r, const struct reporter *reporter, int (*started)(struct run *r))
{
	char url[TEXT_MAX] = "about:blank";
	bool inspected = reporter && reporter->inspector;
	struct browser_start what = { .copy = &r->copy, .kind = r->kind, .reporter = reporter, .url = url,
				      .port = inspected ? inspector_port() : 0 };

	if (!r->kind->pipe)
		snprintf(url, sizeof(url), "http://" PAGE_HOST ":%u/" PAGE_START ".html", r->pages.port);
	r->failed = browser_start(&what, &r->browser, r->err);
	if (!r->failed && started)
		r->failed = started(r);
	if (!r->failed)
		wait_started(r);
	if (!r->failed && inspected)
		start_inspector(r, what.port);
	return r->failed;
}

int drive_pages(struct run *r)
{
	unsigned int phase = 0;

	for (const struct page *p = calibrate_pages; p->name && !r->failed; p++, phase++) {
		show(r, p, phase);
		/* those of its frames have been shown with it */
		for (const char *const *frame = p->frames; *frame; frame++)
			p++;
	}
	return r->failed;
}

bool drive_script(struct run *r, const char *script)
{
	json_t *result = call(r, r->session, "Runtime.evaluate", json_pack("{s:s, s:b}", "expression", script, "returnByValue", 1));
	bool ok = result && !json_object_get(result, "exceptionDetails");

	json_decref(result);
	return ok && !r->failed;
}

bool drive_blank(struct run *r)
{
	bool blank = false;

	json_decref(call(r, r->session, "Page.navigate", json_pack("{s:s}", "url", "about:blank")));
	/* for a moment, scripts still run in the page before */
	while (!r->failed && !blank) {
		json_t *result = call(r, r->session, "Runtime.evaluate", json_pack("{s:s}", "expression", "location.href"));
		const char *url = json_string_value(json_object_get(json_object_get(result, "result"), "value"));

		blank = url && !strcmp(url, "about:blank");
		json_decref(result);
	}
	return !r->failed;
}

bool drive_end(struct run *r)
{
	if (r->reporter->inspector)
		return inspector_stop(&r->inspector);
	if (r->kind->pipe)
		browser_send(r->browser, NULL, "Browser.close", NULL);
	else
		pages_next(&r->pages, PAGE_END);
	while (!browser_has_ended(r->browser, TICK_MS)) {
		if (*r->opt->stop)
			r->failed = error_set(r->err, ERR_OTHER, -EINTR, "stopped before it was done; nothing was written");
		if (r->failed || clock_ns(CLOCK_MONOTONIC) > r->deadline_ns)
			return false;
	}
	return true;
}
