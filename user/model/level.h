/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The stack of open calls while the tree of a thread is made: shared by the nesting (tree.c) and the accounting. */
#ifndef FRAMESCOPE_MODEL_LEVEL_H
#define FRAMESCOPE_MODEL_LEVEL_H

#include "model/builder.h"

struct level {
	struct raw_event *ev;
	uint64_t call_id;
	uint64_t bound_ns;	/* it ends no later than this, as far as its own end, the callers' and the process's say */
	uint64_t cursor_ns;	/* end of the last child, or the start */
	uint64_t child_wall_ns, child_off_ns;
	uint64_t overhead_ns;	/* of children, outside of their intervals */
	uint64_t read_ns;	/* its arguments were read for so long before it began: the caller's overhead */
	uint64_t carry_ns;	/* what the last child was too short for: the next one's overhead */
	struct cost cost;
	uint32_t place;
	uint32_t shown;		/* number of the level that shows it: itself or the nearest caller; 0: none */
	uint32_t above;		/* number of the level whose event it is shown below; 0: none */
	uint32_t run;		/* number of the level whose event is on top of its timeline */
	uint32_t size;		/* of the subtree that is shown */
	uint32_t first, last;	/* aggregates below it, linked: index + 1 */
	uint16_t depth;
	bool gone;		/* bound_ns is where the process went away */
};

struct tree {
	struct session_builder *b;
	struct raw_thread *t;
	struct level *levels;
	uint32_t nr;
	uint32_t main, side;	/* how far the two inputs are read */
	uint64_t cursor_ns;	/* end of the last outermost call */
	uint64_t limit_ns;	/* end of the recording */
	struct cost_cursor costs;
	int rc;
};

/* What one call of that probe cost about then. Valid until the next look-up. */
static inline const struct cost *cost_of(struct tree *tr, const struct raw_event *ev, uint64_t start_ns)
{
	return cost_at(&tr->costs, tr->b->session->tables.probes.items[ev->probe].cost_class, start_ns);
}

/* account.c */

/* Where an event is shown: below the event of level number `shown` (true), or at the top of a timeline. */
bool level_attach(struct tree *tr, struct raw_event *ev, uint32_t shown);
/* Adds an event's self time, and if it paints, when it did, to what is known of the place where it is shown. Once it has an end. */
void level_add_up(struct tree *tr, const struct raw_event *ev);
/* Splits the wall time of a call that has just got its end. *ret_off: how long it was off the CPU, children included. */
void level_account(struct tree *tr, struct level *l, uint64_t *ret_off);
/* Settles the aggregates below a call that has just got its end. Before level_account(). */
void level_settle_aggregates(struct tree *tr, struct level *l);
/* Gives an aggregate at most room_ns of wall time; returns how much it took. */
uint64_t aggregate_settle(struct tree *tr, struct loose *l, uint64_t room_ns, struct cost *ret_cost);
/* Notes where the layout meets a loose item: below the event of that level number. */
void level_place(struct tree *tr, uint32_t index, uint16_t level);

#endif
