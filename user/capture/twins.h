/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Our own functions that stand for probed ones, attached: one for each class of cost that a capture has. */
#ifndef FRAMESCOPE_CAPTURE_TWINS_H
#define FRAMESCOPE_CAPTURE_TWINS_H

#include "capture/attach.h"
#include "capture/table.h"
#include "capture/twin.h"

#define TWINS_ROW (RECORD_MAX_PROBES - COST_CLASSES)	/* their first row in the table of probes: row + class */

struct twins {
	const struct loaded *l;		/* the three are the caller's */
	struct links *links;
	const struct probe_table *table;
	twin_fn fn[COST_CLASSES];	/* NULL: there is none. Other threads may look, with an acquiring load */
	twin_caller_fn caller;		/* probed, too: they are to be called from it. NULL: there is none */
	bool tried[COST_CLASSES];
};

/* A twin for every class (enum cost_class) of the table's attached probes that has none yet. What can't be attached is
 * left out. -errno only for what ends a capture. */
int twins_attach(struct twins *t);

#endif
