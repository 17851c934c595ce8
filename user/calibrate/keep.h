/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What of a calibration is written: one site of each probe that was called, or the reason why there is none. */
#ifndef FRAMESCOPE_CALIBRATE_KEEP_H
#define FRAMESCOPE_CALIBRATE_KEEP_H

#include "calibrate/calls.h"
#include "calibrate/log.h"
#include "target/site_file_write.h"

/*
 * Entries, logs and verdicts are of the same sites. Of several candidates for a probe the one stays that matched the
 * browser's own events, or, where nothing could be compared, the one that was called, if only one was. One that doesn't
 * match loses its arguments and gets the reason. Moves the entries that stay to the front; returns their number.
 */
size_t keep_entries(struct site_entry *entries, const struct call_log *logs, const struct calls_verdict *verdicts, size_t nr);

#endif
