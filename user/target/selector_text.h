/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The layout of Blink's simple selectors (selector_layout.h) as text, in expressions: "{--t*#.:e-aa 17 18 0x18}". */
#ifndef FRAMESCOPE_TARGET_SELECTOR_TEXT_H
#define FRAMESCOPE_TARGET_SELECTOR_TEXT_H

#include <stddef.h>
#include <stdint.h>

/*
 * Between the braces: for each match code from 0 on, up to 16, t (a type), * (any type), # (an id), . (a class), : (a
 * pseudo-class), e (a pseudo-element), a (an attribute) or - (not known); the number of the bit that the last simple
 * selector has; that of the bit for values which are objects; the offset of the local name in a name.
 * Returns how many characters were taken, braces included, or minus the index of the first wrong one, minus 1.
 */
int selector_layout_parse(const char *text, int64_t *ret);
/* As snprintf does. */
int selector_layout_print(int64_t layout, char *dst, size_t size);

#endif
