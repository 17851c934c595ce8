/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the parts of a live capture share; for capture.c, capture_attach.c and capture_house.c alone. */
#ifndef FRAMESCOPE_CAPTURE_CAPTURE_PARTS_H
#define FRAMESCOPE_CAPTURE_CAPTURE_PARTS_H

#include <sys/utsname.h>
#include "base/clock.h"
#include "capture/attach.h"
#include "capture/overhead.h"
#include "capture/capture.h"
#include "capture/collector.h"
#include "capture/loss.h"
#include "capture/metrics.h"
#include "capture/mmap_watch.h"
#include "capture/ring.h"

struct capture {
	struct capture_options opt;
	struct probe_table table;
	struct loaded loaded;
	struct metrics metrics;
	struct links links;
	struct follow follow;
	struct collector collector;
	struct overhead_meter *calibration;
	struct loss loss;
	struct ring *ring;
	struct mmap_watch *watch;	/* NULL: /proc is looked at instead */
	struct utsname uname;
	uint32_t epoch;		/* recordings so far */
	bool armed;
	double own_cost_percent;	/* of the busiest thread's time, in the last window; < 0: not known */
	size_t threads;		/* of all processes, when the capture was opened */
	uint64_t begin_ns, cpu_ns, flush_ns, reap_ns;
	int64_t begin_realtime_ns;
	int write_rc;
};

/* Attaches everything in the table that isn't yet, and what the calibration needs for it. */
int capture_attach_new(struct capture *c, struct error *err);

/* A mmap_watch_fn: that process may have something new to attach to. */
void capture_on_mapping(void *arg, pid_t pid, const char *path);
/* What must be done from time to time: processes, modules, clocks, losses, costs. */
void capture_keep_house(struct capture *c, uint64_t now_ns);

#endif
