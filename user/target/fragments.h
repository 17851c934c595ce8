/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Cold parts. Compilers move a function's unlikely code away, where it has an unwind entry of its own and looks like a
 * function. Nothing calls it and nothing points to it; its function branches to it. No probe may ever sit on one.
 */
#ifndef FRAMESCOPE_TARGET_FRAGMENTS_H
#define FRAMESCOPE_TARGET_FRAGMENTS_H

#include "target/functions.h"

enum fragment_verdict {
	FRAGMENT_NO = 0,	/* a function */
	FRAGMENT_OWNED,		/* a part of `owner`, entered from `from` */
	FRAGMENT_LOST,		/* a part, or unreachable: whose can't be told */
};

struct fragment {
	struct function part;	/* the question; an unwind entry says that it is one piece */
	enum fragment_verdict verdict;
	struct function owner;
	uint64_t from;		/* vaddr of the branch in the owner */
};

/* Answers for all at once: each pass over the code that it takes serves all of them. 0 or -ENOMEM. */
int fragments_resolve(const struct code_map *map, struct fragment *v, size_t nr);

#endif
