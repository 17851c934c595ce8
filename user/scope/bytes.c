// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A growing buffer with an upper bound. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "scope/bytes.h"

uint8_t *bytes_room(struct bytes *b, size_t n)
{
	size_t cap = b->cap;
	uint8_t *p;

	if (b->failed || n > b->max || b->n > b->max - n) {
		b->failed = true;
		return NULL;
	}
	if (b->n + n > cap) {
		while (cap < b->n + n)
			cap = cap ? cap * 2 : 256;
		p = realloc(b->p, cap);
		if (!p) {
			b->failed = true;
			return NULL;
		}
		b->p = p;
		b->cap = cap;
	}
	return b->p + b->n;
}

void bytes_add(struct bytes *b, const void *data, size_t n)
{
	uint8_t *p = n ? bytes_room(b, n) : NULL;

	if (p) {
		memcpy(p, data, n);
		b->n += n;
	}
}

void bytes_text(struct bytes *b, const char *s)
{
	bytes_add(b, s, strlen(s));
}

void bytes_varint(struct bytes *b, uint64_t v)
{
	uint8_t buf[10];
	size_t n = 0;

	do {
		buf[n] = v & 0x7f;
		v >>= 7;
		buf[n++] |= v ? 0x80 : 0;
	} while (v);
	bytes_add(b, buf, n);
}

void bytes_u64(struct bytes *b, uint64_t v)
{
	char buf[20];
	size_t i = sizeof(buf);

	do {
		buf[--i] = '0' + v % 10;
		v /= 10;
	} while (v);
	bytes_add(b, buf + i, sizeof(buf) - i);
}

void bytes_i64(struct bytes *b, int64_t v)
{
	if (v < 0)
		bytes_add(b, "-", 1);
	bytes_u64(b, v < 0 ? 0 - (uint64_t)v : (uint64_t)v);
}

/* Milliseconds made of nanoseconds have at most six decimals: exact and fast. */
static bool add_millionths(struct bytes *b, double v)
{
	char digits[8];
	uint64_t n;
	int i;

	if (!(fabs(v) < 9e9))	/* beyond, a double does not tell millionths apart */
		return false;
	n = (uint64_t)llround(fabs(v) * 1e6);
	if ((double)n / 1e6 != fabs(v))
		return false;
	if (v < 0)
		bytes_add(b, "-", 1);
	bytes_u64(b, n / 1000000);
	n %= 1000000;
	if (!n)
		return true;
	digits[0] = '.';
	for (i = 6; i > 0; i--, n /= 10)
		digits[i] = '0' + n % 10;
	for (i = 6; digits[i] == '0'; i--)
		;
	bytes_add(b, digits, i + 1);
	return true;
}

void bytes_double(struct bytes *b, double v)
{
	char buf[40];
	char *comma;

	if (!isfinite(v)) {
		bytes_text(b, "null");
		return;
	}
	if (add_millionths(b, v))
		return;
	snprintf(buf, sizeof(buf), "%.17g", v);
	comma = buf + strspn(buf, "-0123456789");
	if (*comma && *comma != 'e')	/* another locale's decimal point */
		*comma = '.';
	bytes_text(b, buf);
}

void bytes_free(struct bytes *b)
{
	free(b->p);
	memset(b, 0, sizeof(*b));
}
