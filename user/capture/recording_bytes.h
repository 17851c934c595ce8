/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Variable-length integers and bounded cursors over bytes: what the recording's payloads are made of. */
#ifndef FRAMESCOPE_CAPTURE_RECORDING_BYTES_H
#define FRAMESCOPE_CAPTURE_RECORDING_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define VARINT_MAX 10	/* bytes of the longest */

/* Seven bits per byte, the lowest first; the high bit says that more follow. Returns the end. */
static inline uint8_t *varint_put(uint8_t *p, uint64_t v)
{
	while (v >= 0x80) {
		*p++ = (uint8_t)v | 0x80;
		v >>= 7;
	}
	*p++ = (uint8_t)v;
	return p;
}

/* Signed differences as small unsigned numbers: 0, -1, 1, -2, … */
static inline uint64_t zigzag(uint64_t difference)
{
	return (difference << 1) ^ (0 - (difference >> 63));
}

static inline uint64_t unzigzag(uint64_t v)
{
	return (v >> 1) ^ (0 - (v & 1));
}

/* Reads on from p up to end. After any read beyond the end `bad` is set and every read gives zeros. */
struct cursor {
	const uint8_t *p, *end;
	bool bad;
};

static inline const uint8_t *cursor_bytes(struct cursor *c, size_t n)
{
	const uint8_t *p = c->p;

	if ((size_t)(c->end - c->p) < n) {
		c->bad = true;
		c->p = c->end;
		return NULL;
	}
	c->p += n;
	return p;
}

static inline uint8_t cursor_u8(struct cursor *c)
{
	if (c->p == c->end) {
		c->bad = true;
		return 0;
	}
	return *c->p++;
}

static inline uint64_t cursor_varint(struct cursor *c)
{
	uint64_t v = 0;

	for (unsigned int shift = 0; shift < 64; shift += 7) {
		uint8_t b = cursor_u8(c);

		v |= (uint64_t)(b & 0x7f) << shift;
		if (!(b & 0x80))
			return v;
	}
	c->bad = true;
	c->p = c->end;
	return 0;
}

#endif
