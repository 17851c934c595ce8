/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What an event's details take from around it: the URL of its document, the kind of thread from the script's caller. */
#ifndef FRAMESCOPE_MODEL_INHERIT_H
#define FRAMESCOPE_MODEL_INHERIT_H

#include "model/builder.h"

#define INHERIT_SLOTS 256

struct inherit {
	struct session_builder *b;
	struct inherited {
		uint32_t detail, caller, result;	/* result 0: free */
		const char *url;
	} slots[INHERIT_SLOTS];
};

void inherit_init(struct inherit *in, struct session_builder *b);
/* `caller`: detail of the script's caller, 0 if there is none. -ENOMEM. */
int inherit_detail(struct inherit *in, const struct raw_event *ev, uint32_t caller, uint32_t *ret);

#endif
