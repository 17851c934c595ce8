/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A capture on a thread of its own, so that nothing that clients ask for delays the draining of the ring buffer. All
 * functions are called on one other thread, the event loop's.
 */
#ifndef FRAMESCOPE_CLI_SERVE_RECORDER_H
#define FRAMESCOPE_CLI_SERVE_RECORDER_H

#include "cli/serve_watch.h"

struct recorder;

/* A recording that has ended. */
struct recorder_result {
	uint32_t id;
	int fd;			/* ready for recording_open_fd(); the taker's to close. -1: there is none, see err */
	struct error err;
	uint64_t begin_ns;	/* URL mode: the navigation; what stands before it is not part of the session. Else 0 */
	uint64_t bytes;		/* what it will take as a session, about */
	bool full;		/* ended by itself since it took all the memory that it may have */
};

struct recorder_options {
	const struct capture_options *capture;	/* valid until recorder_free() */
	int event_fd;		/* an eventfd that is written to when there is something new to ask for */
};

/* Attaches. */
int recorder_new(const struct recorder_options *opt, struct recorder **ret, struct error *err);
void recorder_free(struct recorder *r);		/* detaches; NULL is fine */

/* Begins to record, or in URL mode to wait: for a navigation in process `pid`, or in one that is no window itself (a
 * browser's first process navigates for all of its windows). Returns when recording has begun. A recording that
 * would take more than about max_bytes as a session ends by itself. */
int recorder_start(struct recorder *r, int mode, uint32_t id, uint32_t pid, uint64_t max_bytes,
		   struct error *err);
/* Ends recording; the result comes later. */
void recorder_stop(struct recorder *r);
/* Waits for a recording that is to end, and says how much memory those that weren't taken yet will take as sessions. */
uint64_t recorder_settle(struct recorder *r);
/* Ends recording without a result. */
void recorder_abort(struct recorder *r);
/* false: nothing has ended. */
bool recorder_take(struct recorder *r, struct recorder_result *ret);

/* A copy of the windows as they were last seen, to be freed. -ENOMEM. */
int recorder_windows(struct recorder *r, struct watched_window **ret, size_t *ret_nr);
/* 0: of none yet, or in a process that is no window. */
uint32_t recorder_last_navigated(struct recorder *r);
bool recorder_target_ended(struct recorder *r);

#endif
