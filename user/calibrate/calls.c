// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Records a private browser into memory, and lays its calls beside what it reports of itself. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/vec.h"
#include "calibrate/calls.h"
#include "calibrate/threads.h"
#include "capture/capture.h"
#include "model/details.h"

#define THREADS_NS 500000000ull	/* how often new threads are looked for */
#define SHIFT_NS 50000000ull	/* the fastest of all reports is not longer on its way */
#define MARGIN_NS 50000000ull	/* at both ends, where a call may have begun or end outside */

struct recorded_calls {
	struct capture *capture;
	struct recording_writer *writer;
	struct recording *recording;
	struct thread_map threads;
	pid_t root;
	uint64_t looked_ns, begin_ns, end_ns, lost;
};

int calls_open(pid_t root, const char *engine, const struct site_list *list, const struct calls_site *sites, size_t nr,
	       struct recorded_calls **ret, struct error *err)
{
	const char **names = calloc(nr + 1, sizeof(*names));
	struct capture_options opt = { .pid = root, .engine = engine, .sites = list, .probes = names, .nr_probes = nr,
				       .no_calibrate = true };
	struct recorded_calls *c = calloc(1, sizeof(*c));
	int rc;

	if (!c || !names) {
		free(names);
		free(c);
		return error_set(err, ERR_OTHER, -ENOMEM, "out of memory");
	}
	for (size_t i = 0; i < nr; i++)
		names[i] = site_name(sites[i].site);
	c->root = root;
	rc = capture_open(&opt, &c->capture, err);
	free(names);
	if (!rc)
		rc = recording_writer_create(NULL, &c->writer, err);
	if (!rc)
		rc = capture_arm(c->capture, c->writer, err);
	if (rc) {
		calls_close(c);
		return rc;
	}
	c->begin_ns = clock_ns(CLOCK_MONOTONIC);
	*ret = c;
	return 0;
}

int calls_fd(const struct recorded_calls *c)
{
	return capture_fd(c->capture);
}

int calls_poll(struct recorded_calls *c, struct error *err)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	int rc = capture_poll(c->capture, 0, err);

	if (rc < 0 || now < c->looked_ns + THREADS_NS)
		return rc < 0 ? rc : 0;
	rc = threads_note(&c->threads, c->root);
	c->looked_ns = clock_ns(CLOCK_MONOTONIC);
	return rc ? error_set(err, ERR_OTHER, rc, "out of memory") : 0;
}

int calls_end(struct recorded_calls *c, struct error *err)
{
	struct recording_writer *w = c->writer;
	const struct recording_probe *probes;
	struct recording_info info;
	size_t nr;
	int fd, rc;

	c->end_ns = clock_ns(CLOCK_MONOTONIC);
	rc = threads_note(&c->threads, c->root);
	if (rc)
		return error_set(err, ERR_OTHER, rc, "out of memory");
	rc = capture_disarm(c->capture, &info, err);
	if (rc)
		return rc;
	probes = capture_get_probes(c->capture, &nr);
	for (size_t i = 0; i < nr; i++)
		c->lost += probes[i].stats.lost_begins + probes[i].stats.lost_ends;
	c->writer = NULL;
	rc = recording_writer_finish_fd(w, &info, probes, nr, &fd, err);
	if (!rc)
		rc = recording_open_fd(fd, "calibration's recording", &c->recording, err);
	capture_close(c->capture);
	c->capture = NULL;
	return rc;
}

void calls_close(struct recorded_calls *c)
{
	if (!c)
		return;
	capture_close(c->capture);
	recording_writer_abort(c->writer);
	recording_close(c->recording);
	threads_free(&c->threads);
	free(c);
}

/* --- the two sides of the comparison --- */

struct open_call {
	uint64_t call_id, told;
};

/* What the reading of records needs. */
struct taking {
	struct pool *pool;
	struct details *details;
	VEC(struct open_call) open;
	uint32_t *map;	/* of map_rows() */
};

/* Per row of the recording's table, the site; UINT32_MAX. */
static uint32_t *map_rows(const struct recorded_calls *c, const struct calls_site *sites, size_t nr)
{
	const struct recording_probe *p;
	size_t rows;
	uint32_t *map;

	p = recording_get_probes(c->recording, &rows);
	map = malloc((rows + 1) * sizeof(*map));
	for (size_t i = 0; map && i < rows; i++) {
		map[i] = UINT32_MAX;
		for (size_t k = 0; k < nr && p[i].offset; k++)
			if (sites[k].site->offset == p[i].offset && !strcmp(site_name(sites[k].site), p[i].name))
				map[i] = k;
	}
	return map;
}

/* URLs have no control characters, nor what no encoding has: a text that does was read where none is kept. */
static bool is_text(const char *s)
{
	for (const unsigned char *p = (const unsigned char *)s; *p; p++)
		if (*p < 0x20 || *p == 0x7f || (*p == 0xc2 && p[1] < 0xa0) || !strncmp((const char *)p, "\xef\xbf\xbd", 3))
			return false;
	return true;
}

/* What a record's arguments say, as an event would tell it. `site`: its own, or NULL. */
static uint64_t told(struct taking *t, const struct rec_begin *begin, struct compared_site *site)
{
	const struct event_detail *d;
	struct args args;

	if (details_read(t->details, details_prepare(t->details, begin + 1, begin->arg_bytes), begin + 1, begin->arg_bytes, &args))
		return 0;
	d = details_get(t->details, args.detail);
	if (site && detail_has(d, FIELD_URL) && !is_text(d->url))
		site->no_urls++;
	if (detail_has(d, FIELD_EVENT_NAME))
		return report_told_name(d->event_name);
	return detail_has(d, FIELD_X) && detail_has(d, FIELD_Y) && detail_has(d, FIELD_W) && detail_has(d, FIELD_H) ?
		report_told_area(d->x, d->y, d->w, d->h) : 0;
}

/* Until its end comes. */
static int remember(struct taking *t, const struct rec_begin *begin, struct compared_site *site)
{
	uint64_t what = told(t, begin, site);

	return what ? VEC_PUSH(&t->open, ((struct open_call){ begin->call_id, what })) : 0;
}

static uint64_t recall(struct taking *t, uint64_t call_id)
{
	for (size_t i = t->open.nr; i--;) {
		uint64_t what = t->open.items[i].told;

		if (t->open.items[i].call_id != call_id)
			continue;
		memmove(&t->open.items[i], &t->open.items[i + 1], (--t->open.nr - i) * sizeof(t->open.items[0]));
		return what;
	}
	return 0;
}

static int add_call(struct comparison *cmp, size_t *cap, const struct compared_span *call)
{
	if (vec_grow(&cmp->calls, cmp->nr_calls, cap, sizeof(*cmp->calls)))
		return -ENOMEM;
	cmp->calls[cmp->nr_calls++] = *call;
	return 0;
}

/* A mark has no end: the next one on its thread is the last moment for its event to begin and end. */
static void end_marks(struct comparison *cmp, uint32_t site, uint32_t tid, uint64_t now)
{
	for (size_t i = cmp->nr_calls; i--;)
		if (cmp->calls[i].of == site && cmp->calls[i].tid == tid) {
			if (cmp->calls[i].end_ns == UINT64_MAX)
				cmp->calls[i].end_ns = now;
			return;
		}
}

static int take_record(const struct recorded_calls *c, const struct rec_header *rec, struct taking *t, struct comparison *cmp,
		       size_t *cap)
{
	struct compared_span call = { .tid = rec->tid };
	size_t rows;

	recording_get_probes(c->recording, &rows);
	if (rec->type == REC_BEGIN) {
		const struct rec_begin *begin = (const void *)rec;
		uint32_t site = begin->probe < rows ? t->map[begin->probe] : UINT32_MAX;

		return remember(t, begin, site == UINT32_MAX ? NULL : &cmp->sites[site]);
	}
	if (rec->type == REC_END) {
		const struct rec_end *end = (const void *)rec;

		if (end->probe >= rows)
			return 0;
		call.of = t->map[end->probe];
		call.told = recall(t, end->call_id);
		call.begin_ns = end->begin_ns;
		call.end_ns = rec->ts_ns;
	} else if (rec->type == REC_MARK) {
		const struct rec_begin *mark = (const void *)rec;

		if (mark->probe >= rows)
			return 0;
		call.of = t->map[mark->probe];
		call.begin_ns = rec->ts_ns;
		call.end_ns = UINT64_MAX;
		end_marks(cmp, call.of, call.tid, rec->ts_ns);
	} else {
		return 0;
	}
	/* of a thread that had ended before it was looked at, the events can't be told either */
	return call.of == UINT32_MAX || !threads_known(&c->threads, rec->tid) ? 0 : add_call(cmp, cap, &call);
}

static int take_calls(const struct recorded_calls *c, const struct calls_site *sites, size_t nr, struct comparison *cmp,
		      struct error *err)
{
	struct taking t = { .pool = pool_new(), .map = map_rows(c, sites, nr) };
	const struct rec_header *rec;
	size_t cap = 0;
	int rc;

	t.details = t.pool ? details_new(t.pool) : NULL;
	rc = t.map && t.details ? recording_rewind(c->recording) : -ENOMEM;

	if (rc)
		error_set(err, ERR_OTHER, rc, "can't read what was recorded: %s", strerror(-rc));
	while (!rc && (rc = recording_next(c->recording, &rec, err)) > 0) {
		rc = take_record(c, rec, &t, cmp, &cap);
		if (rc)
			error_set(err, ERR_OTHER, rc, "out of memory");
	}
	for (size_t i = 0; i < cmp->nr_calls; i++)
		if (cmp->calls[i].end_ns == UINT64_MAX)
			cmp->calls[i].end_ns = cmp->end_ns;
	details_free(t.details);
	pool_free(t.pool);
	free(t.open.items);
	free(t.map);
	return rc;
}

/* Of one thread that isn't told, since a moment that isn't told. */
static int take_timeline(const struct report *r, struct comparison *cmp)
{
	int64_t shift = 0;
	int rc;

	for (size_t i = 0; i < cmp->nr_calls; i++)
		cmp->calls[i].tid = 0;
	for (size_t i = 0; i < r->nr; i++)
		cmp->events[cmp->nr_events++] = (struct compared_span){ r->v[i].begin_ns, r->v[i].end_ns, 0, r->v[i].name, 0 };
	if (!compare_shift(cmp, r->latest_ns, SHIFT_NS, &shift, &rc))
		shift = r->latest_ns;
	for (size_t i = 0; i < cmp->nr_events; i++) {
		cmp->events[i].begin_ns += shift;
		cmp->events[i].end_ns += shift;
	}
	return rc;
}

static int take_events(const struct recorded_calls *c, const struct reporter *reporter, const struct report *r,
		       struct comparison *cmp)
{
	cmp->events = calloc(r->nr + 1, sizeof(*cmp->events));
	if (!cmp->events)
		return -ENOMEM;
	if (reporter->own_clock)
		return take_timeline(r, cmp);
	for (size_t i = 0; i < r->nr; i++) {
		const struct reported_event *e = &r->v[i];
		uint32_t tid = threads_outer(&c->threads, e->pid, e->tid);

		if (tid)
			cmp->events[cmp->nr_events++] = (struct compared_span){ e->begin_ns, e->end_ns, tid, e->name, e->told };
	}
	return 0;
}

static int read_report(const struct reporter *reporter, const char *path, struct report *r, struct error *err)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC), rc = fd < 0 ? -errno : 0;
	struct stat st;

	if (!rc && (fstat(fd, &st) || !S_ISREG(st.st_mode)))
		rc = -ENOENT;
	if (!rc)
		rc = reporter->read(fd, r);
	if (fd >= 0)
		close(fd);
	if (rc == -ENOMEM)
		return error_set(err, ERR_OTHER, rc, "out of memory");
	return rc ? error_set(err, ERR_INPUT, rc, "the browser's own %s %s", reporter->what,
			      rc == -ENOENT ? "was not written" : rc == -E2BIG || rc == -EFBIG ? "is too large" : "is damaged") : 0;
}

/* Names of events for the sites, and which of them functions report under that weren't found. */
static int name_sites(const struct reporter *reporter, const struct engine *engine, const struct calls_site *sites, size_t nr,
		      struct report *r, struct comparison *cmp, uint8_t *open_names)
{
	char name[REPORT_NAME_MAX + 1];
	enum compare_how how;
	const char *told_by;

	for (size_t i = 0; i < nr; i++) {
		cmp->sites[i].probe = sites[i].site->probe - engine->probes;
		cmp->sites[i].name = COMPARE_NO_NAME;
		cmp->sites[i].idle = sites[i].idle;
		told_by = reporter->told_by ? reporter->told_by(sites[i].site->probe) : NULL;
		cmp->sites[i].told_by = told_by ? report_want(r, told_by) : COMPARE_NO_NAME;
		if (!reporter->name_of(sites[i].site->probe, name, sizeof(name), &cmp->sites[i].how))
			continue;
		cmp->sites[i].name = report_want(r, name);
		if (cmp->sites[i].name == UINT32_MAX)
			return -ENOMEM;
	}
	for (size_t i = 0; i < engine->nr_probes; i++) {
		bool there = *engine->probes[i].group;

		for (size_t k = 0; k < nr && !there; k++)
			there = sites[k].site->probe == &engine->probes[i];
		if (!there && reporter->name_of(&engine->probes[i], name, sizeof(name), &how) && report_name(r, name) != UINT32_MAX)
			open_names[report_name(r, name)] = 1;
	}
	return 0;
}

int calls_compare(const struct recorded_calls *c, const struct reporter *reporter, const char *path, const struct engine *engine,
		  const struct calls_site *sites, size_t nr, struct calls_verdict *ret, struct error *err)
{
	struct comparison cmp = { .sites = calloc(nr + 1, sizeof(*cmp.sites)), .nr_sites = nr, .what = reporter->what,
				  .begin_ns = c->begin_ns + MARGIN_NS, .end_ns = c->end_ns - MARGIN_NS,
				  .grain_ns = reporter->grain_ns };
	uint8_t *open_names = calloc(2 * nr + 1, 1);	/* a site wants two names at most */
	struct report r = { 0 };
	int rc = cmp.sites && open_names ? name_sites(reporter, engine, sites, nr, &r, &cmp, open_names) : -ENOMEM;

	cmp.open_names = open_names;
	if (rc)
		error_set(err, ERR_OTHER, rc, "out of memory");
	if (!rc && c->lost)
		rc = error_set(err, ERR_INPUT, -ENOBUFS, "%llu records were lost", (unsigned long long)c->lost);
	if (!rc)
		rc = read_report(reporter, path, &r, err);
	if (!rc)
		rc = take_calls(c, sites, nr, &cmp, err);
	if (!rc && (take_events(c, reporter, &r, &cmp) || compare_calls(&cmp)))
		rc = error_set(err, ERR_OTHER, -ENOMEM, "out of memory");
	for (size_t i = 0; i < nr && !rc; i++) {
		const struct compared_site *s = &cmp.sites[i];

		ret[i] = (struct calls_verdict){ .verdict = s->verdict, .calls = s->calls, .events = s->events, .told = s->told,
						 .told_right = s->told_right, .told_wrong = s->told_wrong,
						 .no_urls = s->no_urls };
		memcpy(ret[i].text, s->text, sizeof(ret[i].text));
	}
	report_free(&r);
	free(cmp.sites);
	free(cmp.calls);
	free(cmp.events);
	free(open_names);
	return rc;
}
