/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Walks the arrays and objects of a JSON text that lies in memory, without making anything of it: for what is too large to
 * be parsed as a whole, and of which little is wanted. The text may be anything.
 */
#ifndef FRAMESCOPE_BASE_JSONSPAN_H
#define FRAMESCOPE_BASE_JSONSPAN_H

#include <stdbool.h>
#include <stddef.h>

/* A value, from its first character on; the text stays the caller's. */
struct jsonspan {
	const char *p, *end;
};

/* The value that a text is; false if it isn't complete, or if something follows. */
bool jsonspan_whole(const char *text, size_t n, struct jsonspan *ret);

struct jsonspan_walk {
	bool failed;	/* it was no array or object, or it is damaged: what was walked over isn't all */
	/* private */
	const char *p, *end;
	char close;	/* '\0' when it is over */
	bool begun;
};

/* `open`: '[' or '{', which the value has to be. */
struct jsonspan_walk jsonspan_walk(struct jsonspan value, char open);
/* The next element, or member and its key (with its quotes; NULL for arrays). False: there are no more. */
bool jsonspan_next(struct jsonspan_walk *w, struct jsonspan *ret_key, struct jsonspan *ret);

/* The first member of that name, which has to stand there without escapes, of an object. False: there is none. */
bool jsonspan_member(struct jsonspan object, const char *key, struct jsonspan *ret);
/* Is it that string, without escapes? */
bool jsonspan_is(struct jsonspan value, const char *text);
/* A string without its quotes, escapes left as they are. False: it is none, or doesn't fit. */
bool jsonspan_text(struct jsonspan value, char *dst, size_t size);
/* A finite number; one in quotes is one, too. */
bool jsonspan_number(struct jsonspan value, double *ret);

#endif
