/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A growing buffer with an upper bound, that payloads are written into. */
#ifndef FRAMESCOPE_SCOPE_BYTES_H
#define FRAMESCOPE_SCOPE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zero-initialise and set max. The first failure sticks; what stands in p then is of no use. */
struct bytes {
	uint8_t *p;
	size_t n, cap;
	size_t max;	/* more than so many: failed */
	bool failed;
};

/* Room for n more, to be filled by the caller, who then adds to b->n. NULL: no memory, or beyond max. */
uint8_t *bytes_room(struct bytes *b, size_t n);
void bytes_add(struct bytes *b, const void *data, size_t n);
void bytes_text(struct bytes *b, const char *s);
void bytes_varint(struct bytes *b, uint64_t v);	/* base 128, as protobuf has it */
void bytes_u64(struct bytes *b, uint64_t v);		/* decimal */
void bytes_i64(struct bytes *b, int64_t v);
/* Decimal without locale, short, and the same double when read again. NaN and infinities are not JSON: "null". */
void bytes_double(struct bytes *b, double v);
void bytes_free(struct bytes *b);

#endif
