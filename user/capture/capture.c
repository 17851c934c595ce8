// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A live capture from end to end. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include "capture/attach.h"
#include "capture/calibrate.h"
#include "capture/capture.h"
#include "capture/collector.h"
#include "capture/features.h"
#include "capture/loss.h"
#include "capture/mmap_watch.h"
#include "capture/ring.h"
#include "version.h"
#include "wire.h"

#define DEFAULT_RING_BYTES (16u << 20)
#define CPU_EVERY_NS 100000000ull
#define FLUSH_EVERY_NS 1000000000ull	/* what a crash may cost */
#define REAP_EVERY_NS 400000000ull	/* and look at /proc/PID/maps, where the kernel doesn't tell of them */
#define SETTLE_US 2000	/* after disarming: for programs that are running just then */

struct capture {
	struct capture_options opt;
	struct probe_table table;
	struct loaded loaded;
	struct links links;
	struct follow follow;
	struct collector collector;
	struct calibration *calibration;
	struct loss loss;
	struct ring *ring;
	struct mmap_watch *watch;	/* NULL: /proc is looked at instead */
	struct utsname uname;
	uint32_t epoch;		/* recordings so far */
	bool armed;
	size_t threads;		/* of all processes, when the capture was opened */
	uint64_t begin_ns, cpu_ns, flush_ns, reap_ns;
	int64_t begin_realtime_ns;
	int write_rc;
};

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

static void refuse(void *arg, uint64_t cookie, const char *reason)
{
	struct capture *c = arg;
	uint32_t probe = COOKIE_PROBE(cookie);
	struct recording_probe *r = &c->table.rec[probe];

	c->table.plan[probe].kind = ATTACH_NONE;
	if (!*r->refused) {
		free((char *)r->refused);
		r->refused = strdup(reason);
	}
}

/* The kernel complains (ext4, 6.18) when it must read a page to put a probe on it: they are read before. */
static void read_page(int fd, uint64_t offset)
{
	char b;

	if (pread(fd, &b, 1, offset) < 0)
		return;
}

/* All places of one program in one module. The caller frees *ret. */
static int gather(struct capture *c, uint32_t module, enum program program, struct attach_site **ret, size_t *ret_nr)
{
	struct attach_site *sites = NULL;
	size_t nr = 0, cap = 0;

	for (size_t i = 0; i < c->table.nr; i++) {
		struct probe_plan *p = &c->table.plan[i];
		size_t n = program == PROGRAM_EXIT ? p->nr_exits : 1;
		bool fits = p->kind == ATTACH_RETURN ? program == PROGRAM_SESSION || program == PROGRAM_BEGIN_RETURN ||
						       program == PROGRAM_RETURN :
			    p->kind == ATTACH_EXITS ? program == PROGRAM_BEGIN || program == PROGRAM_EXIT :
			    p->kind == ATTACH_MARK && program == PROGRAM_BEGIN;

		if (!fits || p->linked || p->module != module)
			continue;
		if (nr + n > cap) {
			struct attach_site *bigger = realloc(sites, (cap = 2 * (nr + n)) * sizeof(*bigger));

			if (!bigger) {
				free(sites);
				return -ENOMEM;
			}
			sites = bigger;
		}
		for (size_t k = 0; k < n; k++) {
			sites[nr].cookie = p->cookie;
			sites[nr].offset = program == PROGRAM_EXIT ? p->exits[k] : c->table.rec[i].offset;
			read_page(c->table.modules[module].fd, sites[nr++].offset);
		}
	}
	*ret = sites;
	*ret_nr = nr;
	return 0;
}

/* Ends before begins: a call whose begin was seen must not go without its end. */
static int attach_module(struct capture *c, uint32_t module)
{
	static const enum program session[] = { PROGRAM_EXIT, PROGRAM_BEGIN, PROGRAM_SESSION };
	static const enum program pairs[] = { PROGRAM_EXIT, PROGRAM_RETURN, PROGRAM_BEGIN, PROGRAM_BEGIN_RETURN };
	const enum program *order = c->loaded.rung == RUNG_SESSION ? session : pairs;
	size_t nr_programs = c->loaded.rung == RUNG_SESSION ? 3 : 4;
	int rc = 0;

	for (size_t i = 0; i < nr_programs && !rc; i++) {
		struct attach_site *sites = NULL;
		size_t nr = 0;

		rc = gather(c, module, order[i], &sites, &nr);
		if (!rc)
			rc = attach_sites(&c->loaded, &c->links, order[i], c->table.modules[module].fd, sites, nr, refuse, c);
		free(sites);
	}
	return rc;
}

/* Everything in the table that isn't attached yet. */
static int attach_new(struct capture *c, struct error *err)
{
	int rc = 0;

	for (uint32_t i = 0; i < c->table.nr && !rc; i++)
		if (!c->table.plan[i].linked && bpf_map_update_elem(c->loaded.specs_fd, &i, &c->table.plan[i].spec, BPF_ANY))
			rc = -errno;
	for (uint32_t m = 0; m < c->table.nr_modules && !rc; m++)
		rc = attach_module(c, m);
	for (size_t i = 0; i < c->table.nr; i++) {
		c->table.plan[i].linked = true;
		c->table.rec[i].attached = c->table.plan[i].kind != ATTACH_NONE;
	}
	if (!rc)
		rc = calibrate_attach(c->calibration);
	return rc ? error_set(err, ERR_OTHER, rc, "can't attach: %s", strerror(-rc)) : 0;
}

static int find_everything(struct capture *c, struct error *err)
{
	struct process_list l = { 0 };
	int rc = process_tree(c->opt.pid, &l, err);

	for (size_t i = 0; !rc && i < (c->opt.no_follow ? 1 : l.nr); i++)
		rc = table_add_process(&c->table, l.p[i].pid, &c->opt, err);
	for (size_t i = 0; i < l.nr; i++)
		c->threads += l.p[i].threads;
	if (!rc && !table_attachable(&c->table))
		rc = table_explain_nothing(&c->table, &c->opt, &l, err);
	process_list_free(&l);
	return rc;
}

static void on_mapping(void *arg, pid_t pid, const char *path)
{
	struct capture *c = arg;
	struct tracked *t;

	if (pid && !table_claims(&c->table, path))
		return;
	for (size_t i = 0; i < c->follow.nr; i++) {
		t = &c->follow.p[i];
		if (!t->end_ns && (!pid || t->p.pid == pid))
			c->collector.look_again = t->look = true;
	}
}

static int open_parts(struct capture *c, struct error *err)
{
	struct load_options lo = {
		.rung = c->opt.rung, .ring_bytes = c->opt.ring_bytes ?: DEFAULT_RING_BYTES, .max_probes = RECORD_MAX_PROBES,
		.threads = c->threads,
	};
	int rc = load_programs(&lo, &c->loaded, err);

	if (rc)
		return rc;
	c->follow.targets_fd = c->loaded.targets_fd;
	c->collector.follow = &c->follow;
	c->collector.table = &c->table;
	rc = calibrate_open(&c->loaded, &c->links, &c->table, &c->calibration);
	if (rc)
		return error_set(err, ERR_OTHER, rc, "out of memory");
	c->collector.calibration = c->calibration;
	rc = ring_open(c->loaded.ring_fd, collector_record, &c->collector, &c->ring, err);
	if (rc)
		return rc;
	c->loaded.ctl->follow = !c->opt.no_follow;
	c->loaded.ctl->only_under = c->opt.only_under;
	c->loaded.ctl->min_duration_ns = c->opt.min_duration_ns;
	if (mmap_watch_open(on_mapping, c, &c->watch))
		c->watch = NULL;
	rc = load_attach_followers(&c->loaded, err);
	if (!rc)
		rc = follow_seed(&c->follow, c->opt.pid, c->opt.no_follow, err);
	if (rc)
		return rc;
	for (size_t i = 0; i < c->follow.nr; i++)
		c->follow.p[i].engine = table_engine_of(&c->table, c->follow.p[i].p.pid);
	rc = attach_new(c, err);
	if (!rc && !table_attachable(&c->table))
		rc = error_set(err, ERR_KERNEL, -EINVAL, "none of %zu probes could be attached, for example %s: %s", c->table.nr,
			       c->table.rec[0].name, c->table.rec[0].refused);
	return rc;
}

int capture_open(const struct capture_options *opt, struct capture **ret, struct error *err)
{
	struct capture *c = calloc(1, sizeof(*c));
	int rc;

	if (!c)
		return error_set(err, ERR_OTHER, -ENOMEM, "out of memory");
	c->opt = *opt;
	uname(&c->uname);
	rc = features_check(err);
	if (!rc)
		rc = table_init(&c->table, opt, err);
	if (!rc)
		rc = find_everything(c, err);
	if (!rc)
		rc = open_parts(c, err);
	if (rc) {
		capture_close(c);
		return rc;
	}
	*ret = c;
	return 0;
}

void capture_close(struct capture *c)
{
	if (!c)
		return;
	calibrate_close(c->calibration);
	if (c->loaded.ctl)
		c->loaded.ctl->epoch = 0;
	links_free(&c->links);
	ring_close(c->ring);
	mmap_watch_close(c->watch);
	if (c->loaded.skel)
		load_free(&c->loaded);
	collector_free(&c->collector);
	loss_free(&c->loss);
	follow_free(&c->follow);
	table_free(&c->table);
	free(c);
}

const struct recording_probe *capture_get_probes(const struct capture *c, size_t *ret_nr)
{
	*ret_nr = c->table.nr;
	return c->table.rec;
}

static void fill_info(struct capture *c, struct recording_info *info, uint64_t now)
{
	memset(info, 0, sizeof(*info));
	info->target_pid = c->opt.pid;
	info->begin_ns = c->begin_ns;
	info->end_ns = now;
	info->begin_realtime_ns = c->begin_realtime_ns;
	info->tool = "framescope " FRAMESCOPE_VERSION;
	info->kernel = c->uname.release;
	info->machine = c->uname.machine;
	info->rung = rung_name(c->loaded.rung);
	info->overhead_source = !calibrate_has_twins(c->calibration) ? "none" :
				c->opt.no_calibrate ? "calibrated at start" : "rolling calibration";
	for (size_t i = 0; i < RECORD_MAX_METRICS; i++)
		info->metric_names[i] = info->metric_units[i] = "";
	info->target_ended = !follow_living(&c->follow);
}

int capture_arm(struct capture *c, struct recording_writer *w, struct error *err)
{
	struct recording_info info;
	int rc = ring_poll(c->ring, 0);

	if (c->armed)
		return error_set(err, ERR_OTHER, -EBUSY, "a recording is running already");
	follow_reap(&c->follow, clock_ns(CLOCK_MONOTONIC));
	if (!rc)
		rc = collector_begin(&c->collector, w);
	c->begin_ns = clock_ns(CLOCK_MONOTONIC);
	c->begin_realtime_ns = clock_ns(CLOCK_REALTIME);
	fill_info(c, &info, 0);
	if (!rc)
		rc = recording_write_info(w, &info);
	if (!rc)
		rc = loss_begin(&c->loss, &c->loaded, c->table.nr, c->begin_ns);
	if (rc)
		return error_set(err, ERR_OUTPUT, rc, "can't begin the recording: %s", strerror(-rc));
	c->write_rc = 0;
	for (size_t i = 0; i < c->follow.nr; i++)
		if (!c->follow.p[i].end_ns)
			follow_read_cpu(&c->follow.p[i], w, c->begin_ns, false);
	c->cpu_ns = c->flush_ns = c->begin_ns;
	c->armed = true;
	/* one store, and every probe records */
	c->loaded.ctl->epoch = ++c->epoch;
	rc = calibrate_begin(c->calibration, !c->opt.no_calibrate);
	return rc ? error_set(err, ERR_OTHER, rc, "can't start a thread: %s", strerror(-rc)) : 0;
}

int capture_disarm(struct capture *c, struct recording_info *ret_info, struct error *err)
{
	struct recording_writer *w = c->collector.w;
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	int rc;

	if (!c->armed)
		return error_set(err, ERR_OTHER, -EINVAL, "no recording is running");
	calibrate_end(c->calibration);
	c->loaded.ctl->epoch = 0;
	c->armed = false;
	usleep(SETTLE_US);
	rc = load_close_calls(&c->loaded, c->epoch, clock_ns(CLOCK_MONOTONIC));
	if (!rc)
		rc = ring_poll(c->ring, 0);
	if (!rc)
		rc = calibrate_write(c->calibration, w);
	for (size_t i = 0; i < c->follow.nr; i++)
		if (!c->follow.p[i].end_ns)
			follow_read_cpu(&c->follow.p[i], w, now, false);
	if (!rc)
		rc = loss_write(&c->loss, &c->loaded, w, now);
	for (size_t i = 0; i < c->table.nr && !rc; i++) {
		struct probe_stats *s = &c->table.rec[i].stats;

		rc = loss_stats(&c->loss, &c->loaded, i, s);
		s->calls = c->collector.begins[i] + s->lost_begins;
		s->ends = c->collector.ends[i] + s->lost_ends;
	}
	c->collector.w = NULL;
	fill_info(c, ret_info, now);
	if (rc)
		return error_set(err, ERR_OTHER, rc, "can't end the recording cleanly: %s", strerror(-rc));
	return 0;
}

/* Something that a reader of the timeline must know. */
static void write_note(struct capture *c, const char *text)
{
	struct {
		struct rec_note note;
		char text[1024];
	} r = { .note.hdr = { .type = REC_NOTE, .ts_ns = clock_ns(CLOCK_MONOTONIC) }, .note.probe = ~0u };
	size_t n = strlen(text);

	if (!c->collector.w)
		return;
	if (n > sizeof(r.text))
		n = sizeof(r.text);
	memcpy(r.text, text, n);
	r.note.text_bytes = n;
	r.note.hdr.size = sizeof(r.note) + ((n + 7) & ~7u);
	recording_write_record(c->collector.w, &r.note.hdr);
}

/* A process executed something else or mapped a file: is there anything to attach in it? */
static void look_again(struct capture *c)
{
	struct error err = { 0 };
	size_t before = c->table.nr;

	c->collector.look_again = false;
	for (size_t i = 0; i < c->follow.nr; i++) {
		struct tracked *t = &c->follow.p[i];

		if (t->end_ns || !t->look)
			continue;
		t->look = false;
		if (table_add_process(&c->table, t->p.pid, &c->opt, &err))
			write_note(c, err.text);
		t->engine = table_engine_of(&c->table, t->p.pid) ?: t->engine;
	}
	if (c->table.nr == before)
		return;
	attach_new(c, &err);
	c->loss.nr = c->table.nr;
	if (c->collector.w)
		c->write_rc = recording_write_probes(c->collector.w, c->table.rec, c->table.nr);
}

static void keep_house(struct capture *c, uint64_t now)
{
	struct recording_writer *w = c->collector.w;

	if (c->watch)
		mmap_watch_read(c->watch);
	if (now - c->reap_ns > REAP_EVERY_NS) {
		c->reap_ns = now;
		follow_reap(&c->follow, now);
		if (!c->watch)
			on_mapping(c, 0, "");
	}
	if (c->collector.look_again)
		look_again(c);
	if (!c->armed || now - c->cpu_ns < CPU_EVERY_NS)
		return;
	c->cpu_ns = now;
	for (size_t i = 0; i < c->follow.nr; i++)
		if (!c->follow.p[i].end_ns)
			follow_read_cpu(&c->follow.p[i], w, now, false);
	loss_write(&c->loss, &c->loaded, w, now);
	if (!c->write_rc)
		c->write_rc = calibrate_write(c->calibration, w);
	if (now - c->flush_ns < FLUSH_EVERY_NS)
		return;
	c->flush_ns = now;
	if (!c->write_rc)
		c->write_rc = recording_writer_flush(w);
}

int capture_poll(struct capture *c, int timeout_ms, struct error *err)
{
	/* the kernel side wakes us when a quarter is full; what waits otherwise waits for 20 ms */
	int rc = ring_poll(c->ring, timeout_ms > 20 ? 20 : timeout_ms);

	if (rc)
		return error_set(err, ERR_OTHER, rc, "can't read the ring buffer: %s", strerror(-rc));
	keep_house(c, clock_ns(CLOCK_MONOTONIC));
	if (c->collector.write_failed || c->write_rc)
		return error_set(err, ERR_OUTPUT, -EIO, "can't write the recording; is the disk full?");
	return follow_living(&c->follow) > 0;
}

int capture_fd(const struct capture *c)
{
	return ring_fd(c->ring);
}

void capture_get_status(const struct capture *c, struct capture_status *ret)
{
	ret->events = c->collector.events;
	ret->lost = c->armed ? loss_total(&c->loss, &c->loaded) : 0;
	ret->processes = follow_living(&c->follow);
	ret->threads = c->collector.nr_tids;
	ret->own_cost_percent = -1;
}

int capture_windows(const struct capture *c, struct capture_window **ret, size_t *ret_nr)
{
	return follow_windows(&c->follow, ret, ret_nr);
}

void capture_on_navigation(struct capture *c, capture_navigation_fn fn, void *arg)
{
	c->collector.on_navigation = fn;
	c->collector.navigation_arg = arg;
}
