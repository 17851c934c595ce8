/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The climb of anchors from references to functions (anchors.h says what is meant by that). Inside of target/ only. */
#ifndef FRAMESCOPE_TARGET_CLIMB_H
#define FRAMESCOPE_TARGET_CLIMB_H

#include "target/anchors.h"

/* A function on the way up, for one term. */
struct climber {
	size_t term;
	struct anchor_match match;
	unsigned int left;	/* plain steps up that remain once the function reported about is reached */
	bool helper;		/* match.function only reports, as far as is known */
};

struct climbers {
	struct climber *v;
	size_t nr, cap;
};

/* A climber that has come to a function through the instruction at `at`; yet to be looked at. */
struct arrival {
	struct climber climber;
	uint64_t at;
};

struct term_state {
	const struct anchor_term *term;
	struct anchor_set set;	/* what it means */
	uint64_t *seen;		/* functions passed on the way: no going in circles */
	size_t nr_seen;
};

struct climb {
	const struct code_map *map;
	struct term_state *terms;
	struct climbers now, later;
	struct arrival *arrivals;
	size_t nr_arrivals, cap_arrivals;
	bool failed;		/* out of memory */
};

/* Puts a climber of a term at the function that holds the instruction at `at`, which refers to the term's text. */
void climb_start(struct climb *c, size_t term, const struct function *fn, uint64_t at);

/* Climbs with all that were started; fills the terms' sets. 0 or -ENOMEM. */
int climb_run(struct climb *c);
void climb_free(struct climb *c);

/* Adds to a set, kept by address. False without memory. */
bool anchor_set_add(struct anchor_set *set, const struct anchor_match *m);
const struct anchor_match *anchor_set_find(const struct anchor_set *set, uint64_t start);

#endif
