/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Builds the timelines of a recording in memory on a thread of its own. */
#ifndef FRAMESCOPE_CLI_SERVE_BUILD_H
#define FRAMESCOPE_CLI_SERVE_BUILD_H

#include "model/session.h"

struct build;

/* Takes fd over. With begin_ns, what happened before that moment is left out. event_fd is written to when it is done. */
int build_start(int fd, uint64_t begin_ns, int event_fd, struct build **ret, struct error *err);
/* false: not done yet. Otherwise *ret_session is the caller's, or NULL and *ret_err says why; b is freed. */
bool build_take(struct build *b, struct session **ret_session, struct error *ret_err);
/* What it makes is dropped, without waiting for it. NULL is fine. */
void build_drop(struct build *b);

#endif
