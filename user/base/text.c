// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Hostile text made harmless: decoding, repairing, escaping. */
#include <stdbool.h>
#include <string.h>
#include "base/text.h"
#include "record.h"

#define REPLACEMENT 0xfffdu

/*
 * Length of the well-formed UTF-8 sequence at s (Unicode 15, table 3-7), or 0. *ret_short tells a sequence that the
 * end of the range cuts off but that is right so far.
 */
static size_t utf8_length(const unsigned char *s, size_t n, bool *ret_short)
{
	unsigned char lo = 0x80, hi = 0xbf;
	size_t need;

	*ret_short = false;
	if (s[0] < 0x80)
		return 1;
	if (s[0] >= 0xc2 && s[0] <= 0xdf)
		need = 2;
	else if (s[0] >= 0xe0 && s[0] <= 0xef)
		need = 3;
	else if (s[0] >= 0xf0 && s[0] <= 0xf4)
		need = 4;
	else
		return 0;
	switch (s[0]) {
	case 0xe0: lo = 0xa0; break;	/* overlong */
	case 0xed: hi = 0x9f; break;	/* surrogates */
	case 0xf0: lo = 0x90; break;
	case 0xf4: hi = 0x8f; break;	/* above U+10FFFF */
	}
	for (size_t i = 1; i < need; i++) {
		if (i >= n) {
			*ret_short = true;
			return 0;
		}
		if (s[i] < lo || s[i] > hi)
			return 0;
		lo = 0x80;
		hi = 0xbf;
	}
	return need;
}

static size_t put_utf8(uint32_t c, char *dst, size_t room)
{
	unsigned char b[4];
	size_t n;

	if (c < 0x80) {
		b[0] = c;
		n = 1;
	} else if (c < 0x800) {
		b[0] = 0xc0 | c >> 6;
		b[1] = 0x80 | (c & 0x3f);
		n = 2;
	} else if (c < 0x10000) {
		b[0] = 0xe0 | c >> 12;
		b[1] = 0x80 | (c >> 6 & 0x3f);
		b[2] = 0x80 | (c & 0x3f);
		n = 3;
	} else {
		b[0] = 0xf0 | c >> 18;
		b[1] = 0x80 | (c >> 12 & 0x3f);
		b[2] = 0x80 | (c >> 6 & 0x3f);
		b[3] = 0x80 | (c & 0x3f);
		n = 4;
	}
	if (n > room)
		return 0;
	memcpy(dst, b, n);
	return n;
}

static size_t decode_utf8(const unsigned char *s, size_t n, char *dst, size_t cap)
{
	size_t out = 0;

	for (size_t i = 0; i < n;) {
		bool cut;
		size_t len = utf8_length(s + i, n - i, &cut), put;

		if (cut)
			break;
		if (len && s[i]) {
			if (len > cap - out)
				break;
			memcpy(dst + out, s + i, len);
			put = len;
		} else {
			put = put_utf8(REPLACEMENT, dst + out, cap - out);
			len = 1;
		}
		if (!put)
			break;
		out += put;
		i += len;
	}
	return out;
}

static size_t decode_latin1(const unsigned char *s, size_t n, char *dst, size_t cap)
{
	size_t out = 0;

	for (size_t i = 0; i < n; i++) {
		size_t put = put_utf8(s[i] ? s[i] : REPLACEMENT, dst + out, cap - out);

		if (!put)
			break;
		out += put;
	}
	return out;
}

static size_t decode_utf16(const unsigned char *s, size_t n, char *dst, size_t cap)
{
	size_t out = 0;

	for (size_t i = 0; i + 1 < n; i += 2) {
		uint32_t c = s[i] | s[i + 1] << 8;

		if (c >= 0xd800 && c <= 0xdbff) {
			uint32_t low;

			if (i + 3 >= n)
				break;	/* cut off in the middle of a pair */
			low = s[i + 2] | s[i + 3] << 8;
			if (low >= 0xdc00 && low <= 0xdfff) {
				c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
				i += 2;
			} else {
				c = REPLACEMENT;
			}
		} else if ((c >= 0xdc00 && c <= 0xdfff) || !c) {
			c = REPLACEMENT;
		}
		size_t put = put_utf8(c, dst + out, cap - out);

		if (!put)
			break;
		out += put;
	}
	return out;
}

size_t text_decode(int encoding, const void *src, size_t n, char *dst, size_t cap)
{
	switch (encoding & ~ENC_TRUNCATED) {
	case ENC_LATIN1:
		return decode_latin1(src, n, dst, cap);
	case ENC_UTF16:
		return decode_utf16(src, n, dst, cap);
	default:
		return decode_utf8(src, n, dst, cap);
	}
}

size_t text_valid_prefix(const char *s, size_t n)
{
	size_t i = 0;

	while (i < n) {
		bool cut;
		size_t len = utf8_length((const unsigned char *)s + i, n - i, &cut);

		if (!len || !s[i])
			break;
		i += len;
	}
	return i;
}

size_t text_json(const char *s, size_t n, char *dst)
{
	static const char hex[] = "0123456789abcdef";
	char *d = dst;

	*d++ = '"';
	for (size_t i = 0; i < n;) {
		unsigned char c = s[i];
		bool cut;
		size_t len;

		if (c >= 0x20 && c < 0x7f && c != '"' && c != '\\') {
			*d++ = c;
			i++;
			continue;
		}
		if (c == '"' || c == '\\') {
			*d++ = '\\';
			*d++ = c;
			i++;
			continue;
		}
		if (c < 0x20 || c == 0x7f) {
			*d++ = '\\';
			switch (c) {
			case '\n': *d++ = 'n'; break;
			case '\r': *d++ = 'r'; break;
			case '\t': *d++ = 't'; break;
			case '\b': *d++ = 'b'; break;
			case '\f': *d++ = 'f'; break;
			default:
				memcpy(d, "u00", 3);
				d[3] = hex[c >> 4];
				d[4] = hex[c & 15];
				d += 5;
			}
			i++;
			continue;
		}
		len = utf8_length((const unsigned char *)s + i, n - i, &cut);
		if (len) {
			memcpy(d, s + i, len);
			d += len;
			i += len;
		} else {
			d += put_utf8(REPLACEMENT, d, 3);
			i++;
		}
	}
	*d++ = '"';
	return d - dst;
}

size_t text_printable(const char *s, size_t n, char *dst, size_t cap)
{
	size_t out = 0;

	for (size_t i = 0; i < n;) {
		const unsigned char *p = (const unsigned char *)s + i;
		bool cut;
		size_t len = utf8_length(p, n - i, &cut);
		bool control = !len || p[0] < 0x20 || p[0] == 0x7f || (p[0] == 0xc2 && len == 2 && p[1] < 0xa0) ||
			/* U+202A-202E and U+2066-2069 turn the direction of what follows */
			(len == 3 && p[0] == 0xe2 && ((p[1] == 0x80 && p[2] >= 0xaa && p[2] <= 0xae) ||
						      (p[1] == 0x81 && p[2] >= 0xa6 && p[2] <= 0xa9)));

		if (out + (control ? 1 : len) > cap)
			break;
		if (control)
			dst[out++] = '?';
		else {
			memmove(dst + out, s + i, len);
			out += len;
		}
		i += len ? len : 1;
	}
	return out;
}
