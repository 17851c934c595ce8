/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How a build of Blink keeps selectors, learned from rules that are known (rules.h). */
#ifndef FRAMESCOPE_CALIBRATE_LAYOUT_H
#define FRAMESCOPE_CALIBRATE_LAYOUT_H

#include "calibrate/memory.h"
#include "record.h"
#include "selector_layout.h"

#define SEEN_MAX 256
#define SEEN_NAME 24	/* bytes of a name, NUL included */
#define SEEN_WAYS 8	/* places in an object that a name may stand at, 8 bytes apart */
#define SEEN_NEAR 16	/* bytes of what refers to the rule */

/* One simple selector as it stands in memory. */
struct seen_part {
	uint32_t bits;
	char direct[SEEN_NAME];			/* the text that the value is; "" if it is none */
	char inside[SEEN_WAYS][SEEN_NAME];	/* those that the value's object points to */
};

/* A matched rule, by what the calls' arguments led to. */
struct seen_rule {
	uint64_t array;		/* address of its simple selectors */
	uint8_t near[SEEN_NEAR];
	unsigned int calls;
	struct seen_part parts[SELECTOR_PARTS];
};

struct seen_rules {
	struct seen_rule *v;	/* SEEN_MAX of them */
	size_t nr;
};

/* Notes a call about the rule whose simple selectors begin at `array`; `near` is the object that refers to the rule. */
void seen_add(struct seen_rules *s, struct memory *m, uint64_t near, uint64_t array);

/* The 8-bit StringImpl at this address into dst (SEEN_NAME bytes); false, and "", if there is none of that size. */
bool seen_text(struct memory *m, uint64_t impl, char *dst);

/* Where the index of a rule's selector stands. */
struct index_place {
	uint8_t off;		/* in what refers to the rule: 4 bytes there, */
	uint8_t shift, bits;
};

/* True only if all known rules were seen, as often as their elements, and the layout reads every one right. *ret_why says
 * else what was not. */
bool layout_learn(const struct seen_rules *s, int64_t *ret_layout, struct index_place *ret_index, const char **ret_why);

#endif
