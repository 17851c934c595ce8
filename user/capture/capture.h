/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A live capture: one target, its engines found, BPF loaded and attached. Arming starts a recording, disarming ends
 * it; both can be done several times on one attached capture (the Scope host does). Single-threaded.
 */
#ifndef FRAMESCOPE_CAPTURE_CAPTURE_H
#define FRAMESCOPE_CAPTURE_CAPTURE_H

#include <sys/types.h>
#include "base/error.h"
#include "capture/recording_file.h"
#include "target/process.h"

struct capture;

struct capture_options {
	pid_t pid;
	const char *engine;	/* name or path of one definition; NULL: all that are installed */
	const char *symbols;	/* Breakpad .sym file; NULL */
	const char *const *probes;	/* globs of probe names or labels to attach, "-glob" to leave out; NULL: the definition's default */
	size_t nr_probes;
	const char *const *functions;	/* PATTERN[=EVENT], see engine_from_functions(): with no engine named, these alone */
	size_t nr_functions;
	const char *function_modules;	/* globs of the files to look for them in; NULL: the main executable */
	const char *const *metrics;	/* "page-faults", …: metrics.c lists them */
	size_t nr_metrics;
	double budget_percent;	/* switch probes off when probing costs a thread more; 0: never */
	size_t ring_bytes;	/* 0: 16 MiB. A power of two of pages, rounded up by the caller */
	uint32_t string_bytes;	/* 0: 256 */
	const char *rung;	/* force "session", "multi" or "links"; NULL: the best that works */
	uint64_t min_duration_ns;	/* shorter calls are dropped in the kernel */
	uint32_t only_under;	/* event type; 0: all */
	bool no_follow;		/* the process alone: neither the children that it has nor those that it forks later */
	bool no_calibrate;
	bool no_cache;
	void (*say)(pid_t pid);	/* called once the process is known to be there, before what takes seconds; NULL */
	const struct site_list *sites;	/* those of `engine`, as they were found elsewhere; NULL: they are looked for */
};

/* Finds, loads, attaches, but records nothing yet. Detailed one-sentence errors for each way to fail. */
int capture_open(const struct capture_options *opt, struct capture **ret, struct error *err);
/* The probe table as found (attached and refused). Valid until capture_close(). */
const struct recording_probe *capture_get_probes(const struct capture *c, size_t *ret_nr);
/* Arms all probes at once and writes records to w from now on. w stays the caller's. */
int capture_arm(struct capture *c, struct recording_writer *w, struct error *err);
/* Disarms at once, drains, closes open calls as REC_F_CLIPPED, writes CPU clocks and losses. Fills ret_info (strings
 * valid until capture_close()) for recording_writer_finish(), and the probes' stats in the table above. */
int capture_disarm(struct capture *c, struct recording_info *ret_info, struct error *err);
/* Detaches everything. NULL is fine. Never leaves a probe behind, whatever state c is in. */
void capture_close(struct capture *c);

/* Waits for up to timeout_ms, drains the ring, follows forks, execs and new modules. 1 while the target lives, 0 once
 * every process of it has ended, -errno. */
int capture_poll(struct capture *c, int timeout_ms, struct error *err);
/* To be watched by an event loop: readable when capture_poll(c, 0) should run; run it every 20 ms in any case. */
int capture_fd(const struct capture *c);

struct capture_status {
	uint64_t events, lost;	/* since capture_arm() */
	uint32_t processes, threads;
	uint32_t switched_off;	/* probes, to keep within the budget; the recording's notes say which */
	double own_cost_percent;	/* of the busiest target thread's wall time; < 0: not known */
};
void capture_get_status(const struct capture *c, struct capture_status *ret);

/* A living process of the target that its engine's definition calls a window. */
struct capture_window {
	struct process process;
	const char *engine;
	uint64_t cpu_ns;	/* user + system time so far, 0 if it can't be read */
};

/* *ret is to be freed with free(). -ENOMEM. */
int capture_windows(const struct capture *c, struct capture_window **ret, size_t *ret_nr);

/* For START_URL: called from capture_poll() for each mark with ROLE_NAVIGATION. */
typedef void (*capture_navigation_fn)(void *arg, const struct rec_begin *mark);
void capture_on_navigation(struct capture *c, capture_navigation_fn fn, void *arg);

#endif
