/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Frames and documents: what calibration looks for where no pointer cage tells engine objects from others. They are known
 * because their making and end are probed, or because an engine definition says that a function is given one: from then on
 * others are known, too, by their class, the address of virtual functions that they begin with.
 */
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
/* Does a definition's argument say that a register is a frame or a document? */
bool objects_told(const struct arg_spec *a);
/* A call of such a probe in a process. 0 or -ENOMEM. */
int objects_note(struct objects *o, pid_t pid, enum probe_role role, uint64_t object);

/* A call has such an object, which begins with this word. 0 or -ENOMEM. */
int objects_learn(struct objects *o, pid_t pid, int field, uint64_t object, uint64_t word);

/* What follows is about this process from now on. True if any is known there. */
bool objects_begin(struct objects *o, pid_t pid);
/* The object that v points to or into, and FIELD_FRAME or FIELD_DOCUMENT; 0: none. */
uint64_t objects_at(const struct objects *o, uint64_t v, int *ret_field);

/* What begins with this word: FIELD_FRAME or FIELD_DOCUMENT; 0: nothing that is known. */
int objects_class(const struct objects *o, uint64_t word);

#endif
