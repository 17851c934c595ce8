/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The BPF programs in the kernel, on the best rung of the ladder that this kernel has. */
#ifndef FRAMESCOPE_CAPTURE_LOAD_H
#define FRAMESCOPE_CAPTURE_LOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/error.h"
#include "control.h"
#include "capture/metrics.h"
#include "record.h"

enum rung {
	RUNG_SESSION,	/* one link for entries and returns: 6.13 */
	RUNG_MULTI,	/* a link for entries, one for returns: 6.6 */
	RUNG_LINKS,	/* a perf event and link for each: 5.15 */
	RUNG_END,
};

enum program {
	PROGRAM_SESSION,
	PROGRAM_BEGIN_RETURN,	/* entry of what a return probe ends */
	PROGRAM_RETURN,
	PROGRAM_BEGIN,		/* entry of what exit probes end; marks */
	PROGRAM_EXIT,
};

struct programs;

struct load_options {
	const char *rung;	/* "session", "multi", "links", or NULL */
	size_t ring_bytes;
	size_t max_probes;
	const struct metrics *metrics;
	bool aggregates;	/* there are aggregate probes */
	size_t threads;		/* of the target now: room is made for several times as many */
};

struct loaded {
	struct programs *skel;
	enum rung rung;
	bool sleepable;
	struct control *ctl;	/* shared with the programs */
	int ring_fd, targets_fd, specs_fd, stats_fd;
	int ncpus;
};

/* Tries the rungs from the top by loading and attaching to a function of our own. ERR_KERNEL with the last one's
 * complaint, ERR_USAGE for an unknown rung. */
int load_programs(const struct load_options *opt, struct loaded *ret, struct error *err);
void load_free(struct loaded *l);

/* fork, exec, exit, names, sched_switch. */
int load_attach_followers(struct loaded *l, struct error *err);

int load_program_fd(const struct loaded *l, enum program p);
struct bpf_program *load_program(const struct loaded *l, enum program p);
const char *rung_name(enum rung r);	/* "uprobe.session", "uprobe.multi", "perf links" */

/* Ends the open calls of recording `epoch`, which must have been disarmed, at now_ns. */
int load_close_calls(struct loaded *l, uint32_t epoch, uint64_t now_ns);
/* Sum over all CPUs. */
int load_read_stats(const struct loaded *l, uint32_t probe, struct probe_stats *ret);

#endif
