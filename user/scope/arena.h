/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Memory that is given back all at once: answers are put together in it. */
#ifndef FRAMESCOPE_SCOPE_ARENA_H
#define FRAMESCOPE_SCOPE_ARENA_H

#include <stddef.h>

/* Zero-initialise. */
struct arena {
	struct arena_block *blocks;
};

/* n * size zeroed bytes, aligned for anything; NULL: no memory. */
void *arena_zalloc(struct arena *a, size_t n, size_t size);
void arena_free(struct arena *a);

#endif
