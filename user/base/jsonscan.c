// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Skips JSON values without understanding them. */
#include <stddef.h>
#include <string.h>
#include "base/jsonscan.h"

const char *jsonscan_blank(const char *p, const char *end)
{
	while (p < end && (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r'))
		p++;
	return p;
}

const char *jsonscan_string(const char *p, const char *end)
{
	for (p++; p < end && *p != '"'; p++)
		if (*p == '\\')
			p++;
	return p < end ? p + 1 : NULL;
}

const char *jsonscan_value(const char *p, const char *end)
{
	size_t depth = 0;

	p = jsonscan_blank(p, end);
	if (p < end && *p != '{' && *p != '[') {
		if (*p == '"')
			return jsonscan_string(p, end);
		while (p < end && !strchr(",]} \t\r\n", *p))
			p++;
		return p < end ? p : NULL;
	}
	while (p && p < end) {
		if (*p == '"') {
			p = jsonscan_string(p, end);
			continue;
		}
		if (*p == '{' || *p == '[')
			depth++;
		else if ((*p == '}' || *p == ']') && !--depth)
			return p + 1;
		p++;
	}
	return NULL;
}
