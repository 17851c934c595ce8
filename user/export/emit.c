// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Buffered text output without printf. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include "base/text.h"
#include "export/emit.h"
#include "export/export.h"

#define BUFFER_BYTES (64 << 10)

int emit_open(struct emit *e, struct outfile *file)
{
	*e = (struct emit){ .file = file, .cap = BUFFER_BYTES };
	e->data = malloc(e->cap);
	return e->data ? 0 : -ENOMEM;
}

void emit_close(struct emit *e)
{
	free(e->data);
	*e = (struct emit){ 0 };
}

int emit_flush(struct emit *e)
{
	if (e->file && e->nr) {
		int rc = outfile_write(e->file, e->data, e->nr);

		if (rc && !e->error)
			e->error = rc;
		e->nr = 0;
	}
	return e->error;
}

void emit_make_room(struct emit *e, size_t n)
{
	size_t cap = e->cap;
	char *data;

	emit_flush(e);
	while (cap - e->nr < n)
		cap *= 2;
	if (cap == e->cap)
		return;
	data = realloc(e->data, cap);
	if (!data) {
		e->error = -ENOMEM;
		return;
	}
	e->data = data;
	e->cap = cap;
}

static const char pairs[] =
	"0001020304050607080910111213141516171819202122232425262728293031323334353637383940414243444546474849"
	"5051525354555657585960616263646566676869707172737475767778798081828384858687888990919293949596979899";

/* Writes v so that it ends before `end`; returns its start. */
static char *digits_before(char *end, uint64_t v)
{
	while (v >= 100) {
		end -= 2;
		memcpy(end, pairs + 2 * (v % 100), 2);
		v /= 100;
	}
	if (v >= 10) {
		end -= 2;
		memcpy(end, pairs + 2 * v, 2);
	} else {
		*--end = '0' + v;
	}
	return end;
}

void emit_u64(struct emit *e, uint64_t v)
{
	char text[20], *start = digits_before(text + sizeof(text), v);

	emit_bytes(e, start, text + sizeof(text) - start);
}

void emit_i64(struct emit *e, int64_t v)
{
	if (v < 0)
		emit_text(e, "-");
	emit_u64(e, v < 0 ? -(uint64_t)v : (uint64_t)v);
}

void emit_hex(struct emit *e, uint64_t v, int digits)
{
	char *d = emit_room(e, digits);

	if (!d)
		return;
	for (int i = digits; i--; v >>= 4)
		d[i] = "0123456789abcdef"[v & 15];
	e->nr += digits;
}

static void emit_fixed(struct emit *e, uint64_t whole, uint32_t rest, int digits)
{
	char text[32], *end = text + sizeof(text), *start;

	if (!rest) {
		emit_u64(e, whole);
		return;
	}
	for (; rest % 10 == 0; digits--)
		rest /= 10;
	start = end;
	for (int i = 0; i < digits; i++, rest /= 10)
		*--start = '0' + rest % 10;
	*--start = '.';
	start = digits_before(start, whole);
	emit_bytes(e, start, end - start);
}

void emit_us(struct emit *e, uint64_t ns)
{
	emit_fixed(e, ns / 1000, ns % 1000, 3);
}

void emit_ms(struct emit *e, uint64_t ns)
{
	emit_fixed(e, ns / 1000000, ns % 1000000, 6);
}

void emit_double(struct emit *e, double v)
{
	/* far below 2^64 / 1000, and integers stay exact */
	if (!isfinite(v) || fabs(v) > 9007199254740991.0)
		v = 0;
	if (v < 0) {
		emit_text(e, "-");
		v = -v;
	}
	uint64_t whole = v;
	uint32_t rest = (v - whole) * 1000 + 0.5;

	if (rest >= 1000) {
		whole++;
		rest = 0;
	}
	emit_fixed(e, whole, rest, 3);
}

/* DevTools looks for this word anywhere in a file and then opens it as something else: its last letter is escaped. */
static size_t hide_trigger(char *text, size_t n, size_t room)
{
	static const char word[] = "enhancedTraceVersion";
	const size_t len = sizeof(word) - 1;
	char *found = text;

	while (n + 5 <= room && (found = memmem(found, n - (found - text), word, len))) {
		found += len - 1;
		memmove(found + 6, found + 1, n - (found + 1 - text));
		memcpy(found, "\\u006e", 6);
		n += 5;
	}
	return n;
}

void emit_json_n(struct emit *e, const char *s, size_t n)
{
	size_t shown = n, len;
	char *d;

	if (n > EXPORT_MAX_TEXT) {
		shown = EXPORT_MAX_TEXT;
		while (shown > EXPORT_MAX_TEXT - 4 && ((unsigned char)s[shown] & 0xc0) == 0x80)
			shown--;
	}
	d = emit_room(e, 6 * shown + 2 + sizeof("…"));
	if (!d)
		return;
	len = text_json(s, shown, d);
	e->nr += len < 22 ? len : hide_trigger(d, len, 6 * shown + 2);
	if (shown < n) {
		e->nr--;
		emit_text(e, "…\"");
	}
}

void emit_json(struct emit *e, const char *s)
{
	emit_json_n(e, s, strnlen(s, EXPORT_MAX_TEXT + 1));
}

void emit_member(struct emit *e, const char *key, const char *s)
{
	if (!s)
		return;
	emit_text(e, ",\"");
	emit_string(e, key);
	emit_text(e, "\":");
	emit_json(e, s);
}

void emit_member_i64(struct emit *e, const char *key, int64_t v)
{
	emit_text(e, ",\"");
	emit_string(e, key);
	emit_text(e, "\":");
	emit_i64(e, v);
}

void emit_member_u64(struct emit *e, const char *key, uint64_t v)
{
	emit_text(e, ",\"");
	emit_string(e, key);
	emit_text(e, "\":");
	emit_u64(e, v);
}
