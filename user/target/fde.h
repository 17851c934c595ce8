/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The unwind table as a list of functions: .eh_frame_hdr's search table and the FDEs that it points to. */
#ifndef FRAMESCOPE_TARGET_FDE_H
#define FRAMESCOPE_TARGET_FDE_H

#include "target/image.h"

struct fde_table {
	uint64_t vaddr;		/* of .eh_frame_hdr, which the entries are relative to */
	const uint8_t *entries;	/* pairs of 32-bit values, sorted: function, FDE */
	size_t nr;
};

/* An image without a usable table gives nr 0. */
void fde_table_open(const struct image *img, struct fde_table *ret);

/* The FDE's range that contains vaddr; false if no FDE covers it or its FDE contradicts the table. */
bool fde_range(const struct image *img, const struct fde_table *t, uint64_t vaddr, uint64_t *ret_start,
	       uint64_t *ret_end);

/* Where the next range behind vaddr starts; UINT64_MAX if there is none. */
uint64_t fde_next(const struct fde_table *t, uint64_t vaddr);

#endif
