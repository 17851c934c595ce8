/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A function of our own that stands for a probed one: to try a way of attaching on, and to measure a call's cost. */
#ifndef FRAMESCOPE_CAPTURE_TWIN_H
#define FRAMESCOPE_CAPTURE_TWIN_H

#include <stdint.h>

int twin_function(const char *text, int n);

/* Our own executable and the function's offset in it. -errno. */
int twin_open(int *ret_fd, uint64_t *ret_offset);

#endif
