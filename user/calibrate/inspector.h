/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * WebKit's remote inspector, which a browser serves on loopback if it is started with WEBKIT_INSPECTOR_SERVER=HOST:PORT. A
 * process of its own asks the first page for its timeline and writes each record that comes as a line of JSON,
 * {"received": ns of CLOCK_MONOTONIC, "record": {…}}, and {"whole": true} when the page has said that there are no more.
 */
#ifndef FRAMESCOPE_CALIBRATE_INSPECTOR_H
#define FRAMESCOPE_CALIBRATE_INSPECTOR_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "base/error.h"

struct inspector {
	pid_t pid;
	int fd;		/* readable when the timeline runs, and when the process is gone */
};

/* A port of 127.0.0.1 that is free now; 0: none. */
uint16_t inspector_port(void);
/* Begins as this user, who ends with us; `path` must not exist. */
int inspector_start(uint16_t port, uid_t uid, gid_t gid, const char *path, struct inspector *ret, struct error *err);
/* True once the timeline runs; *ret_gone: it never will. Does not wait. */
bool inspector_runs(struct inspector *i, bool *ret_gone);
/* Ends the timeline and the process; false: it could not be told that all records are there. Nothing if it never began. */
bool inspector_stop(struct inspector *i);

#endif
