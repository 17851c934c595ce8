// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Edit distance with exchanged neighbours (optimal string alignment), three rows at a time. */
#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include "base/distance.h"

#define MAX_WORD 64

static bool same(char a, char b)
{
	return tolower((unsigned char)a) == tolower((unsigned char)b);
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

size_t word_distance(const char *a, const char *b, size_t limit)
{
	size_t na = strlen(a), nb = strlen(b), rows[3][MAX_WORD + 1];
	size_t *before = rows[0], *above = rows[1], *row = rows[2], *spare;

	if (na > MAX_WORD || nb > MAX_WORD || (na > nb ? na - nb : nb - na) >= limit)
		return limit;
	for (size_t k = 0; k <= nb; k++)
		row[k] = k;
	for (size_t i = 1; i <= na; i++) {
		size_t best = i, best_above;

		spare = before;
		before = above;
		above = row;
		row = spare;
		row[0] = i;
		best_above = above[0];
		for (size_t k = 1; k <= nb; k++) {
			row[k] = least(least(above[k], row[k - 1]) + 1, above[k - 1] + !same(a[i - 1], b[k - 1]));
			if (i > 1 && k > 1 && same(a[i - 1], b[k - 2]) && same(a[i - 2], b[k - 1]))
				row[k] = least(row[k], before[k - 2] + 1);
			best = least(best, row[k]);
			best_above = least(best_above, above[k]);
		}
		/* an exchange looks two rows back */
		if (best >= limit && best_above >= limit)
			return limit;
	}
	return least(row[nb], limit);
}
