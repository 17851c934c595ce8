/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Objects whose making and end are probed, frames and documents: what calibration looks for where no pointer cage tells
 * engine objects from others. */
#ifndef FRAMESCOPE_CALIBRATE_OBJECTS_H
#define FRAMESCOPE_CALIBRATE_OBJECTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "target/engine.h"

struct objects;

struct objects *objects_new(void);
void objects_free(struct objects *o);

/* FIELD_FRAME or FIELD_DOCUMENT, if a probe with this role tells of such an object's making or end in its first argument; 0. */
int objects_field(enum probe_role role);
/* A call of such a probe in a process. 0 or -ENOMEM. */
int objects_note(struct objects *o, pid_t pid, enum probe_role role, uint64_t object);

/* objects_at() is about this process from now on. True if any is known there. */
bool objects_begin(struct objects *o, pid_t pid);
/* The object that v points to or into, and FIELD_FRAME or FIELD_DOCUMENT; 0: none. */
uint64_t objects_at(const struct objects *o, uint64_t v, int *ret_field);

#endif
