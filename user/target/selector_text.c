// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Parses and prints the layout of simple selectors. */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/types.h>
#include "selector_layout.h"
#include "target/selector_text.h"

#define CODES 16

static const char kinds[] = "-t*#.:ea";	/* by enum selector_kind */

/* A number up to `max` behind blanks. */
static bool take_number(const char **at, unsigned long max, unsigned long *ret)
{
	char *end;

	while (**at == ' ')
		++*at;
	if (!isdigit((unsigned char)**at))
		return false;
	*ret = strtoul(*at, &end, 0);
	if (*ret > max)
		return false;
	*at = end;
	return true;
}

int selector_layout_parse(const char *text, int64_t *ret)
{
	unsigned long last, rare, name;
	const char *at = text, *kind;
	uint64_t layout = 0;

	if (*at != '{')
		return -1;
	for (int code = 0; *++at && *at != ' '; code++) {
		kind = strchr(kinds, *at);
		if (!kind || code == CODES)
			return text - at - 1;
		layout |= (uint64_t)(kind - kinds) << 3 * code;
	}
	if (!take_number(&at, 31, &last) || !take_number(&at, 31, &rare) || !take_number(&at, 31 * 8, &name) || name % 8 ||
	    *at != '}')
		return text - at - 1;
	*ret = layout | (uint64_t)last << 48 | (uint64_t)rare << 53 | (uint64_t)(name / 8) << 58;
	return at + 1 - text;
}

int selector_layout_print(int64_t layout, char *dst, size_t size)
{
	char codes[CODES + 1];
	size_t nr = CODES;

	for (int i = 0; i < CODES; i++)
		codes[i] = kinds[(uint64_t)layout >> 3 * i & 7];
	while (nr > 1 && codes[nr - 1] == kinds[SELECTOR_UNKNOWN])
		nr--;
	codes[nr] = '\0';
	return snprintf(dst, size, "{%s %u %u %#x}", codes, SELECTOR_LAST((uint64_t)layout), SELECTOR_RARE((uint64_t)layout),
			SELECTOR_NAME((uint64_t)layout));
}
