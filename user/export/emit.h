/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Text output for the hot path: numbers without printf or locale, strings escaped, one buffer in front of the file. */
#ifndef FRAMESCOPE_EXPORT_EMIT_H
#define FRAMESCOPE_EXPORT_EMIT_H

#include <string.h>
#include "base/outfile.h"

struct emit {
	struct outfile *file;	/* NULL: collects in memory */
	char *data;
	size_t nr, cap;
	int error;		/* the first one; sticks */
};

int emit_open(struct emit *e, struct outfile *file);	/* -ENOMEM */
void emit_close(struct emit *e);	/* frees, writes nothing */
int emit_flush(struct emit *e);
void emit_make_room(struct emit *e, size_t n);

/* Room for n bytes at data + nr, or NULL once an error stuck. */
static inline char *emit_room(struct emit *e, size_t n)
{
	if (e->cap - e->nr < n)
		emit_make_room(e, n);
	return e->error ? NULL : e->data + e->nr;
}

static inline void emit_bytes(struct emit *e, const char *s, size_t n)
{
	char *d = emit_room(e, n);

	if (d) {
		memcpy(d, s, n);
		e->nr += n;
	}
}

/* A literal: its length is known to the compiler. */
#define emit_text(e, literal) emit_bytes(e, "" literal, sizeof(literal) - 1)

static inline void emit_string(struct emit *e, const char *s)
{
	emit_bytes(e, s, strlen(s));
}

void emit_u64(struct emit *e, uint64_t v);
void emit_i64(struct emit *e, int64_t v);
void emit_hex(struct emit *e, uint64_t v, int digits);	/* without 0x; padded with zeros */
void emit_us(struct emit *e, uint64_t ns);	/* 1.236, no trailing zeros */
void emit_ms(struct emit *e, uint64_t ns);
/* Three decimals at most; what is not finite becomes 0. */
void emit_double(struct emit *e, double v);

/* A JSON string with its quotes. At most EXPORT_MAX_TEXT bytes of s are shown; what follows is replaced by "…". */
void emit_json(struct emit *e, const char *s);
void emit_json_n(struct emit *e, const char *s, size_t n);

/* ,"key":"s" -- nothing if s is NULL. key is a literal that needs no escaping. */
void emit_member(struct emit *e, const char *key, const char *s);
void emit_member_i64(struct emit *e, const char *key, int64_t v);
void emit_member_u64(struct emit *e, const char *key, uint64_t v);

#endif
