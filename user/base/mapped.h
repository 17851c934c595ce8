/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Files that are mapped may be cut by whoever owns them, and what a mapping holds beyond a file's end raises SIGBUS. While
 * one is guarded, such a fault is answered with zeros and counted: whoever reads hostile bytes bears these, too, and asks
 * afterwards. Also for libdw, which maps what it reads.
 */
#ifndef FRAMESCOPE_BASE_MAPPED_H
#define FRAMESCOPE_BASE_MAPPED_H

#include <stddef.h>

/* From here on until mapped_unguard() of what is returned, faults in all mappings of the program are answered; after one in
 * [p, p + n) the rest of that range is zeros. SIGBUS is taken over meanwhile. Any thread may call both. */
int mapped_guard(const void *p, size_t n);
void mapped_unguard(int guard);

/* How many faults were answered since the program began. */
unsigned mapped_faults(void);

#endif
