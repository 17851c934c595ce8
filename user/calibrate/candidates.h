/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The paths from a function's arguments to something known, each with how it fared at all of its calls. */
#ifndef FRAMESCOPE_CALIBRATE_CANDIDATES_H
#define FRAMESCOPE_CALIBRATE_CANDIDATES_H

#include "calibrate/choose.h"

struct candidate {
	path_t path;
	uint8_t kind;
	uint64_t seen;	/* bits: texts and areas */
	size_t right, wrong;	/* calls */
	size_t again;	/* calls at which a sheet or script was met that had been before: each is used once */
};

struct candidates {
	struct candidate *c;
	size_t nr;
};

/* 0 or -ENOMEM; to be freed. */
int candidates_collect(const struct call_log *log, const struct choose_texts *t, struct candidates *ret);
void candidates_free(struct candidates *c);

int bits_count(uint64_t bits);

#endif
