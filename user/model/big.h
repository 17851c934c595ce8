/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Memory for large arrays that are filled from front to back: on huge pages where the system has them, since the page
 * faults would cost as much as the filling, and given back at once when it is freed. */
#ifndef FRAMESCOPE_MODEL_BIG_H
#define FRAMESCOPE_MODEL_BIG_H

#include <stddef.h>

#define BIG_PAGE ((size_t)2 << 20)
#define CACHE_LINE 64

/* Uninitialised; NULL: no memory. What doesn't fill a huge page stays on small ones. */
void *big_alloc(size_t bytes);
void big_free(void *p, size_t bytes);	/* with the size that it was allocated with; NULL is fine */

#endif
