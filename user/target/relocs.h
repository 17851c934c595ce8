/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Relative relocations: which words of data hold addresses of the module itself (vtables, tables of functions). */
#ifndef FRAMESCOPE_TARGET_RELOCS_H
#define FRAMESCOPE_TARGET_RELOCS_H

#include "target/image.h"

/* Calls `each` with the vaddr of every such word and the address it will hold, for DT_RELA and DT_RELR.
 * A malformed dynamic section ends the walk early. */
void relocs_each(const struct image *img, void (*each)(void *ctx, uint64_t slot, uint64_t target), void *ctx);

/* Calls `each` with 0 and the address of every function that the module exports. */
void exports_each(const struct image *img, void (*each)(void *ctx, uint64_t slot, uint64_t target), void *ctx);

#endif
