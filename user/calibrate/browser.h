/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A private headless browser. A Chromium is driven over its --remote-debugging-pipe: JSON messages that end in NUL; of
 * others only the end is seen there. Where we may, it lives in a pid namespace of its own, so that whatever becomes of us,
 * nothing of it remains.
 */
#ifndef FRAMESCOPE_CALIBRATE_BROWSER_H
#define FRAMESCOPE_CALIBRATE_BROWSER_H

#include <jansson.h>
#include "calibrate/copy.h"
#include "calibrate/kind.h"
#include "calibrate/report.h"

struct browser;

struct browser_start {
	const struct private_copy *copy;
	const struct browser_kind *kind;
	const struct reporter *reporter;	/* NULL: no report is wanted */
	uint16_t port;		/* of 127.0.0.1, for the reporter's inspector */
	const char *url;	/* of what is shown first */
};

/* Starts the copied binary with a new profile. */
int browser_start(const struct browser_start *what, struct browser **ret, struct error *err);
/* Ends it and all of its processes. NULL is fine. */
void browser_stop(struct browser *b);

/* Waits for it to end by itself, which is when its report is whole: true if it has. */
bool browser_has_ended(struct browser *b, int timeout_ms);
/* Where the report will be: below the copy's home. */
int browser_report_path(const struct private_copy *copy, char *ret, size_t size);

/* The process that all of the browser's descend from. */
pid_t browser_root(const struct browser *b);
/* Readable when browser_receive() has something to read. */
int browser_fd(const struct browser *b);

/* Sends a command; params (may be NULL) is taken over. Returns its number, or -errno. */
int browser_send(struct browser *b, const char *session, const char *method, json_t *params);
/* The next whole message, to be released with json_decref(), or NULL: none yet. *ret_rc: -EPIPE when the browser is gone. */
json_t *browser_receive(struct browser *b, int *ret_rc);

#endif
