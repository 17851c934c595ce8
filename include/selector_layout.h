/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How one build of Blink keeps a simple selector, in the 64 bits of arg_spec.aux for KIND_BLINK_SELECTOR: for each of 16
 * match codes what it is, three bits each from bit 0; the number of the bit that the last simple selector of a complex one
 * has (48-52), and of that for values which are an object of their own (53-57); the offset of the local name in a
 * qualified name, by eights (58-62).
 */
#ifndef FRAMESCOPE_SELECTOR_LAYOUT_H
#define FRAMESCOPE_SELECTOR_LAYOUT_H

#define SELECTOR_PARTS 8	/* simple selectors of one that are read */

enum selector_kind {
	SELECTOR_UNKNOWN = 0, SELECTOR_TAG, SELECTOR_UNIVERSAL, SELECTOR_ID, SELECTOR_CLASS, SELECTOR_PSEUDO_CLASS,
	SELECTOR_PSEUDO_ELEMENT, SELECTOR_ATTRIBUTE,
};

/* Codes of a compound's relation to the one at its left; 0: none, more of the same compound follows. */
enum selector_relation {
	SELECTOR_DESCENDANT = 1, SELECTOR_CHILD, SELECTOR_NEXT, SELECTOR_LATER,
};

#define SELECTOR_RELATION(bits) ((bits) & 15)
#define SELECTOR_CODE(bits) ((bits) >> 4 & 15)
#define SELECTOR_KIND(layout, bits) ((__u32)((layout) >> 3 * SELECTOR_CODE(bits)) & 7)
#define SELECTOR_LAST(layout) ((__u32)((layout) >> 48) & 31)
#define SELECTOR_RARE(layout) ((__u32)((layout) >> 53) & 31)
#define SELECTOR_NAME(layout) ((__u32)((layout) >> 58 & 31) * 8)

#endif
