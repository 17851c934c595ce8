/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Functions of our own that stand for probed ones: to try a way of attaching on, and to measure a call's cost. */
#ifndef FRAMESCOPE_CAPTURE_TWIN_H
#define FRAMESCOPE_CAPTURE_TWIN_H

#include <stdint.h>

#define TWINS 9		/* functions for each kind of first instruction: each is probed in one way only */

typedef int (*twin_fn)(const char *text, int n);

int twin_function(const char *text, int n);

/* Our own executable and the offset in it of one of our functions. -errno. */
int twin_open(const void *function, int *ret_fd, uint64_t *ret_offset);

/* The nth twin whose first instruction is of that kind (COST_KIND of enum cost_class); n == TWINS: one that is never
 * probed. *ret_exit: bytes from its start to its only return instruction. NULL: this architecture has none. */
twin_fn twin_of(unsigned int kind, unsigned int n, unsigned int *ret_exit);

/* One that is to be probed itself and calls fn(arg): calls are seldom a thread's outermost. NULL: the same. */
typedef void (*twin_caller_fn)(void (*fn)(void *arg), void *arg);
twin_caller_fn twin_caller(void);

#endif
