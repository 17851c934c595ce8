/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Clocks, read as nanoseconds. */
#ifndef FRAMESCOPE_BASE_CLOCK_H
#define FRAMESCOPE_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

#endif
