/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Anchors: how a function is found by the strings that it, or what reports for it, refers to.
 *
 * In an engine definition `anchor = ` (given once or several times) is
 *
 *   TEXT           the functions that refer to TEXT. It must be the end of a string in the module's read-only
 *                  data, NUL behind it: linkers keep only the longer one of two strings with the same end.
 *   ^TEXT          the functions for which TEXT is reported: where code that only refers to TEXT to report it stands
 *                  in a function of its own (as Chromium's tracing does), its callers are meant. A function that cannot
 *                  return without having come by the reference, or the call, is taken for such a reporting function;
 *                  one that has a way around it is taken for the one that is reported about.
 *   ^^TEXT         the callers of those; each further ^ goes one call further up.
 *   A & B          the functions that are meant by both.
 *   A & !B         those that are meant by A and not by B.
 *   "TEXT"         the same as TEXT, with C's escapes (\n \t \\ \" \xNN); needed where TEXT begins with ^, ! or a quote,
 *                  has blanks at an end or contains " & ".
 *
 * TEXT has 4 to 200 characters. All anchors of one probe must mean one and the same function; more than one
 * function that they all mean are candidates, which only their hits can tell apart.
 */
#ifndef FRAMESCOPE_TARGET_ANCHORS_H
#define FRAMESCOPE_TARGET_ANCHORS_H

#include "target/functions.h"

#define ANCHOR_MAX_TERMS 6
#define ANCHOR_MAX_TEXT 200
#define ANCHOR_MAX_UP 8

struct anchor_term {
	char text[ANCHOR_MAX_TEXT + 1];	/* unescaped */
	unsigned int up;		/* how many ^ */
	bool negated;
};

struct anchor {
	struct anchor_term terms[ANCHOR_MAX_TERMS];
	size_t nr_terms;
};

/* ERR_INPUT names the column. For engine files: call it when reading, so that the message has a line. */
int anchor_parse(const char *text, struct anchor *ret, struct error *err);

/* A function that an anchor means, and how it was reached. */
struct anchor_match {
	struct function function;
	unsigned int helpers;	/* reporting functions passed on the way */
	bool cold;		/* the way led through its cold part */
	uint64_t ref;		/* vaddr of the reference in the first of them */
};

struct anchor_set {
	struct anchor_match *matches;	/* by address of the function, no function twice */
	size_t nr;
	bool no_string;		/* why it is empty: some term's text isn't there, no code refers to it, or none of */
	bool no_reference;	/* the code that does can be told to belong to a function */
	bool no_function;
};

/* Means of all terms at once: one pass over the code serves them all. */
struct anchor_finder;

int anchor_finder_new(const struct image *image, const struct anchor *anchors, size_t nr_anchors,
		      struct anchor_finder **ret, struct error *err);
void anchor_finder_free(struct anchor_finder *f);
const struct code_map *anchor_finder_map(const struct anchor_finder *f);

/* What anchor number `i` means. Owned by the finder. */
const struct anchor_set *anchor_finder_set(const struct anchor_finder *f, size_t i);

#endif
