// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Makes JSON of what careless writers take for it, in place: what is wrong gives way to a placeholder of its length. */
#include <stdbool.h>
#include <string.h>
#include "base/json_repair.h"
#include "base/text.h"

/* The code unit of the escape \uXXXX at p, or -1: there is none. */
static int unit_at(const char *p, const char *end)
{
	int unit = 0;

	if (end - p < 6 || p[0] != '\\' || p[1] != 'u')
		return -1;
	for (int i = 2; i < 6; i++) {
		const char *digits = "0123456789abcdef", *d = p[i] ? strchr(digits, p[i] >= 'A' && p[i] <= 'F' ? p[i] + 32 : p[i]) : NULL;

		if (!d)
			return -1;
		unit = unit << 4 | (int)(d - digits);
	}
	return unit;
}

/* The escape at p: what follows it. Surrogates without their other half become U+FFFD, and so does U+0000, which ends texts in C. */
static char *repair_escape(char *p, char *end)
{
	int unit = unit_at(p, end), next = unit < 0 ? -1 : unit_at(p + 6, end);

	if (unit < 0)
		return end - p < 2 ? end : p + 2;
	if (unit >= 0xd800 && unit < 0xdc00 && next >= 0xdc00 && next < 0xe000)
		return p + 12;
	if (!unit || (unit >= 0xd800 && unit < 0xe000))
		memcpy(p + 2, "fffd", 4);
	return p + 6;
}

/* The string whose opening quote stands at p: what follows it. */
static char *repair_string(char *p, char *end)
{
	for (p++; p < end && *p != '"';) {
		if (*p == '\\') {
			p = repair_escape(p, end);
			continue;
		}
		if ((unsigned char)*p < 0x20)
			*p = ' ';
		p++;
	}
	return p < end ? p + 1 : end;
}

/* Words that JSON has not, but JavaScript and Python write: a text, which is no number either. */
static char *repair_word(char *p, char *end)
{
	static const char *const words[] = { "NaN", "-Infinity", "Infinity", "-NaN" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		size_t n = strlen(words[i]);

		if ((size_t)(end - p) >= n && !memcmp(p, words[i], n)) {
			memset(p, ' ', n);
			memcpy(p, "\"\"", 2);
			return p + n;
		}
	}
	return p + 1;
}

static bool is_number(const char *p, const char *end)
{
	p += *p == '-' && end - p > 1;
	return *p >= '0' && *p <= '9';
}

static size_t digits_at(const char *p, const char *end)
{
	const char *start = p;

	while (p < end && *p >= '0' && *p <= '9')
		p++;
	return p - start;
}

/* What follows a number at p that is no integer, from behind its first digits on; *ret_exponent is bounded. */
static char *fraction_end(char *p, char *end, long *ret_exponent)
{
	bool negative;

	*ret_exponent = 0;
	if (p < end && *p == '.')
		p += 1 + digits_at(p + 1, end);
	if (p == end || (*p != 'e' && *p != 'E'))
		return p;
	p++;
	negative = p < end && *p == '-';
	p += p < end && (*p == '-' || *p == '+');
	for (; p < end && *p >= '0' && *p <= '9'; p++)
		if (*ret_exponent < 1000000)
			*ret_exponent = 10 * *ret_exponent + *p - '0';
	*ret_exponent = negative ? -*ret_exponent : *ret_exponent;
	return p;
}

/*
 * The number at p: what follows it. Readers have 64 bits for an integer: a longer one becomes a real, its last two digits
 * an exponent. What no real can hold becomes a text, like infinity.
 */
static char *repair_number(char *p, char *end)
{
	static const char most[] = "9223372036854775807";
	const size_t most_digits = sizeof(most) - 1;
	char *digits = p + (*p == '-'), *behind;
	size_t nr = digits_at(digits, end);
	long exponent;

	behind = fraction_end(digits + nr, end, &exponent);
	if ((long)(nr < 1000 ? nr : 1000) + exponent > 308) {
		memset(p, ' ', behind - p);
		memcpy(p, "\"\"", 2);
	} else if (behind == digits + nr && (nr > most_digits || (nr == most_digits && memcmp(digits, most, nr) > 0))) {
		memcpy(behind - 2, "e2", 2);
	}
	return behind;
}

void json_repair(char *text, size_t n)
{
	char *p = text, *end = text + n;

	for (size_t i = 0; (i += text_valid_prefix(text + i, n - i)) < n; i++)
		text[i] = '?';
	while (p < end)
		p = *p == '"' ? repair_string(p, end) : is_number(p, end) ? repair_number(p, end) : repair_word(p, end);
}
