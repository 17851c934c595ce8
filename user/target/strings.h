/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where given texts stand in an image's read-only data, each as the end of a NUL-terminated string. */
#ifndef FRAMESCOPE_TARGET_STRINGS_H
#define FRAMESCOPE_TARGET_STRINGS_H

#include "target/image.h"

#define STRING_MIN 4	/* characters: shorter texts are found everywhere */

struct string_hit {
	size_t text;		/* index of the text */
	uint64_t vaddr;		/* of its first character */
	bool whole;		/* no longer string ends in it: linkers keep one copy of strings with a common end */
};

/* Looks all texts up in one pass. *ret is to be freed. -ENOMEM, or 0. */
int strings_find(const struct image *img, const char *const *texts, size_t nr_texts, struct string_hit **ret,
		 size_t *ret_nr);

#endif
