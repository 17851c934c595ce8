/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Style rules that calibration knows: what scripts make of a blank page, and how often which rule matches then. */
#ifndef FRAMESCOPE_CALIBRATE_RULES_H
#define FRAMESCOPE_CALIBRATE_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <linux/types.h>
#include "selector_layout.h"

#define RULE_MAX_PARTS 3

/* A simple selector as Blink keeps it: the rightmost compound first. */
struct known_part {
	uint8_t kind;		/* enum selector_kind */
	uint8_t relation;	/* enum selector_relation to what stands to the left of its compound; 0: none */
	bool rare;		/* its value is an object of its own */
	const char *name;	/* NULL: not looked for */
};

/* A complex selector. One of its names begins with RULE_KEY and is no other's. */
struct known_rule {
	uint8_t index;		/* of its first simple selector among those of its rule */
	uint8_t elements;	/* that it matches, once each; 0: once, and once more for what it generates */
	bool listed;		/* one of several selectors of its rule */
	uint8_t nr_parts;
	struct known_part parts[RULE_MAX_PARTS];
};

#define RULE_KEY "fs-k"

extern const struct known_rule known_rules[];
extern const size_t nr_known_rules;

/* Makes the page of all known rules and computes its styles once. */
extern const char known_rules_script[];

/* Styles computed once, of a page with so many elements that so many rules match, and so many other rules that are tried
 * in vain. */
struct rule_load {
	unsigned int elements, rules, vain;
};

extern const struct rule_load rule_loads[];
extern const size_t nr_rule_loads;

void rule_load_script(const struct rule_load *load, char *dst, size_t size);

#endif
