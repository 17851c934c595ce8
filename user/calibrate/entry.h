/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Writes into a section of the .sites file what was found. */
#ifndef FRAMESCOPE_CALIBRATE_ENTRY_H
#define FRAMESCOPE_CALIBRATE_ENTRY_H

#include "calibrate/path.h"
#include "target/site_file_write.h"

/* An argument; nothing where a section has no more room. */
void entry_add(struct site_entry *e, path_t path, uint8_t field, uint8_t kind);
/* The four of the area at the path's end. */
void entry_add_area(struct site_entry *e, path_t path);
/* More evidence. */
void entry_note(struct site_entry *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
