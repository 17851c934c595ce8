// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The style rules of calibration's pages. */
#include <stdio.h>
#include "calibrate/rules.h"

#define NR_OF(a) (sizeof(a) / sizeof((a)[0]))

#define CLASS(n) { .kind = SELECTOR_CLASS, .name = (n) }
#define FROM(n, r) { .kind = SELECTOR_CLASS, .name = (n), .relation = (r) }
#define RARE(k) { .kind = (k), .rare = true }
#define RULE(...) { .elements = 1, .nr_parts = NR_OF(((struct known_part[]){ __VA_ARGS__ })), .parts = { __VA_ARGS__ } }

/* As known_rules_script has them. */
const struct known_rule known_rules[] = {
	RULE(CLASS("fs-k0")),
	RULE({ .kind = SELECTOR_TAG, .name = "fs-t" }, CLASS("fs-k1")),
	RULE({ .kind = SELECTOR_ID, .name = "fs-i" }, CLASS("fs-k2")),
	RULE(CLASS("fs-k3"), { .kind = SELECTOR_PSEUDO_CLASS, .name = "first-child" }),
	{ .nr_parts = 2, .parts = { CLASS("fs-k4"), { .kind = SELECTOR_PSEUDO_ELEMENT, .name = "before" } } },
	RULE(CLASS("fs-k5"), { .kind = SELECTOR_ATTRIBUTE, .name = "fs-a" }),
	RULE(CLASS("fs-k6"), RARE(SELECTOR_ATTRIBUTE)),
	RULE(CLASS("fs-k7"), RARE(SELECTOR_ATTRIBUTE)),
	RULE(CLASS("fs-k8"), RARE(SELECTOR_ATTRIBUTE)),
	RULE(CLASS("fs-k9"), RARE(SELECTOR_ATTRIBUTE)),
	RULE(CLASS("fs-k10"), RARE(SELECTOR_ATTRIBUTE)),
	RULE(CLASS("fs-k11"), RARE(SELECTOR_ATTRIBUTE)),
	RULE(CLASS("fs-k12"), RARE(SELECTOR_PSEUDO_CLASS)),
	RULE({ .kind = SELECTOR_UNIVERSAL, .relation = SELECTOR_CHILD }, CLASS("fs-k13")),
	RULE(FROM("fs-k14", SELECTOR_DESCENDANT), CLASS("fs-w")),
	RULE(FROM("fs-k15", SELECTOR_CHILD), CLASS("fs-w")),
	RULE(FROM("fs-k16", SELECTOR_NEXT), CLASS("fs-v")),
	RULE(FROM("fs-k17", SELECTOR_LATER), CLASS("fs-v")),
	{ .listed = true, .index = 0, .elements = 1, .nr_parts = 1, .parts = { CLASS("fs-k18") } },
	{ .listed = true, .index = 1, .elements = 2, .nr_parts = 2, .parts = { FROM("fs-k19", SELECTOR_DESCENDANT), CLASS("fs-w") } },
	{ .listed = true, .index = 3, .elements = 3, .nr_parts = 1, .parts = { CLASS("fs-k20") } },
};

const size_t nr_known_rules = NR_OF(known_rules);

#define PAGE(style, body) \
	"document.documentElement.innerHTML = '<head><style>" style "</style></head><body>" body "</body>';" \
	"document.body.offsetWidth"

const char known_rules_script[] = PAGE(
	".fs-k0 {--a: 0} fs-t.fs-k1 {--a: 1} #fs-i.fs-k2 {--a: 2} .fs-k3:first-child {--a: 3} .fs-k4::before {content: \"x\"} "
	".fs-k5[fs-a] {--a: 5} .fs-k6[fs-a=\"v\"] {--a: 6} .fs-k7[fs-a~=\"v\"] {--a: 7} .fs-k8[fs-a|=\"v\"] {--a: 8} "
	".fs-k9[fs-a^=\"v\"] {--a: 9} .fs-k10[fs-a$=\"v\"] {--a: 10} .fs-k11[fs-a*=\"v\"] {--a: 11} "
	".fs-k12:nth-child(n) {--a: 12} .fs-k13 > * {--a: 13} .fs-w .fs-k14 {--a: 14} .fs-w > .fs-k15 {--a: 15} "
	".fs-v + .fs-k16 {--a: 16} .fs-v ~ .fs-k17 {--a: 17} .fs-k18, .fs-w .fs-k19, .fs-k20 {--a: 18}",
	"<b class=fs-k0></b><fs-t class=fs-k1></fs-t><b id=fs-i class=fs-k2></b><i><b class=fs-k3></b></i><b class=fs-k4></b>"
	"<b class=fs-k5 fs-a=v></b><b class=fs-k6 fs-a=v></b><b class=fs-k7 fs-a=v></b><b class=fs-k8 fs-a=v></b>"
	"<b class=fs-k9 fs-a=v></b><b class=fs-k10 fs-a=v></b><b class=fs-k11 fs-a=v></b><b class=fs-k12></b>"
	"<b class=fs-k13><i></i></b><b class=fs-w><i><b class=fs-k14></b></i><b class=fs-k15></b>"
	"<b class=fs-k19></b><b class=fs-k19></b></b><b class=fs-v></b><b class=fs-k16></b><b class=fs-k17></b>"
	"<b class=fs-k18></b><b class=fs-k20></b><b class=fs-k20></b><b class=fs-k20></b>");

/* Differences in one number at a time tell what a function is called for. */
const struct rule_load rule_loads[] = {
	{ 5, 3, 0 }, { 5, 7, 0 }, { 5, 7, 6 }, { 11, 3, 4 }, { 11, 8, 4 }, { 23, 8, 4 }, { 23, 21, 0 },
};

const size_t nr_rule_loads = NR_OF(rule_loads);

void rule_load_script(const struct rule_load *load, char *dst, size_t size)
{
	snprintf(dst, size, "{let css = ''; for (let i = 0; i < %u; i++) css += `.fs-hit {--a${i}: 1}`; "
		 "for (let i = 0; i < %u; i++) css += `.fs-hit.fs-no {--b${i}: 1}`; "
		 PAGE("' + css + '", "' + '<b class=fs-hit></b>'.repeat(%u) + '") "}", load->rules, load->vain, load->elements);
}
