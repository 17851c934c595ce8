// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A live capture from end to end. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "capture/capture_parts.h"
#include "capture/features.h"
#include "version.h"

#define DEFAULT_RING_BYTES (16u << 20)
#define SETTLE_US 2000	/* after disarming: for programs that are running just then */

static int find_everything(struct capture *c, struct error *err)
{
	struct process_list l = { 0 };
	int rc = process_tree(c->opt.pid, &l, err);

	if (!rc && c->opt.say)
		c->opt.say(c->opt.pid);
	for (size_t i = 0; !rc && i < (c->opt.no_follow ? 1 : l.nr); i++)
		rc = table_add_process(&c->table, l.p[i].pid, &c->opt, err);
	for (size_t i = 0; i < l.nr; i++)
		c->threads += l.p[i].threads;
	if (!rc)
		rc = table_check_globs(&c->table, &c->opt, err);
	if (!rc && !table_attachable(&c->table))
		rc = table_explain_nothing(&c->table, &c->opt, &l, err);
	process_list_free(&l);
	return rc;
}

static int open_parts(struct capture *c, struct error *err)
{
	struct load_options lo = {
		.rung = c->opt.rung, .ring_bytes = c->opt.ring_bytes ?: DEFAULT_RING_BYTES, .max_probes = RECORD_MAX_PROBES,
		.threads = c->threads, .metrics = &c->metrics, .aggregates = table_has_aggregates(&c->table),
	};
	int rc = load_programs(&lo, &c->loaded, err);

	if (rc)
		return rc;
	c->follow.targets_fd = c->loaded.targets_fd;
	c->collector.follow = &c->follow;
	c->collector.table = &c->table;
	rc = overhead_open(&c->loaded, &c->links, &c->table, &c->calibration);
	if (rc)
		return error_set(err, ERR_OTHER, rc, "out of memory");
	c->collector.calibration = c->calibration;
	rc = ring_open(c->loaded.ring_fd, collector_record, &c->collector, &c->ring, err);
	if (rc)
		return rc;
	c->loaded.ctl->follow = !c->opt.no_follow;
	c->loaded.ctl->only_under = c->opt.only_under;
	c->loaded.ctl->min_duration_ns = c->opt.min_duration_ns;
	if (mmap_watch_open(capture_on_mapping, c, &c->watch))
		c->watch = NULL;
	rc = load_attach_followers(&c->loaded, err);
	if (!rc)
		rc = follow_seed(&c->follow, c->opt.pid, c->opt.no_follow, err);
	if (rc)
		return rc;
	for (size_t i = 0; i < c->follow.nr; i++)
		c->follow.p[i].engine = table_engine_of(&c->table, c->follow.p[i].p.pid);
	rc = capture_attach_new(c, err);
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
		rc = metrics_open(opt->metrics, opt->nr_metrics, &c->metrics, err);
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
	overhead_close(c->calibration);
	if (c->loaded.ctl)
		c->loaded.ctl->epoch = 0;
	links_free(&c->links);
	ring_close(c->ring);
	mmap_watch_close(c->watch);
	if (c->loaded.skel)
		load_free(&c->loaded);
	metrics_close(&c->metrics);
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
	info->direct_reads = c->loaded.ctl->direct_map;
	info->only_under = c->opt.only_under;
	info->min_duration_ns = c->opt.min_duration_ns;
	info->overhead_source = !overhead_has_twins(c->calibration) ? "none" :
				c->opt.no_calibrate ? "calibrated at start" : "rolling calibration";
	for (size_t i = 0; i < RECORD_MAX_METRICS; i++) {
		info->metric_names[i] = i < c->metrics.nr ? c->metrics.names[i] : "";
		info->metric_units[i] = i < c->metrics.nr ? c->metrics.units[i] : "";
	}
	info->nr_metrics = c->metrics.nr;
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
	pace_begin(&c->collector.pace, c->begin_ns);
	c->own_cost_percent = -1;
	memset((void *)c->loaded.ctl->off, 0, sizeof(c->loaded.ctl->off));
	c->loaded.ctl->nr_off = 0;
	/* one store, and every probe records */
	c->loaded.ctl->epoch = ++c->epoch;
	rc = overhead_begin(c->calibration, !c->opt.no_calibrate);
	return rc ? error_set(err, ERR_OTHER, rc, "can't start a thread: %s", strerror(-rc)) : 0;
}

int capture_disarm(struct capture *c, struct recording_info *ret_info, struct error *err)
{
	struct recording_writer *w = c->collector.w;
	uint64_t now;
	int rc;

	if (!c->armed)
		return error_set(err, ERR_OTHER, -EINVAL, "no recording is running");
	overhead_end(c->calibration);
	c->loaded.ctl->epoch = 0;
	now = clock_ns(CLOCK_MONOTONIC);
	c->armed = false;
	for (size_t i = 0; i < c->follow.nr; i++)
		if (!c->follow.p[i].end_ns)
			follow_read_cpu(&c->follow.p[i], w, now, false);
	usleep(SETTLE_US);
	/* at that moment, not now: whether they ran or had ended since then is not known */
	rc = load_close_calls(&c->loaded, c->epoch, now);
	if (!rc)
		rc = ring_poll(c->ring, 0);
	if (!rc)
		rc = overhead_write(c->calibration, w);
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

int capture_poll(struct capture *c, int timeout_ms, struct error *err)
{
	/* the kernel side wakes us when a quarter is full; what waits otherwise waits for 20 ms */
	int rc = ring_poll(c->ring, timeout_ms > 20 ? 20 : timeout_ms);

	if (rc)
		return error_set(err, ERR_OTHER, rc, "can't read the ring buffer: %s", strerror(-rc));
	capture_keep_house(c, clock_ns(CLOCK_MONOTONIC));
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
	ret->events = collector_events(&c->collector);
	ret->lost = c->armed ? loss_total(&c->loss, &c->loaded) : 0;
	ret->processes = follow_living(&c->follow);
	ret->threads = c->collector.nr_tids;
	ret->switched_off = c->loaded.ctl->nr_off;
	ret->own_cost_percent = c->own_cost_percent;
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
