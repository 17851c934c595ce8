// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Reads the text of an anchor (syntax: anchors.h). */
#include <ctype.h>
#include <errno.h>
#include <string.h>
#include "target/anchors.h"
#include "target/strings.h"

struct reader {
	const char *text, *p;
	struct error *err;
};

static int fault(const struct reader *r, const char *what)
{
	return error_set(r->err, ERR_INPUT, -EINVAL, "column %zu: %s", (size_t)(r->p - r->text) + 1, what);
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* One escape behind its backslash. */
static int read_escape(struct reader *r, char *ret)
{
	static const char from[] = "ntr\\\"", to[] = "\n\t\r\\\"";
	const char *k;

	if (*r->p == 'x') {
		int hi = hex_digit(r->p[1]), lo = hi < 0 ? -1 : hex_digit(r->p[2]);

		if (lo < 0 || !(hi * 16 + lo))
			return fault(r, "\\x takes two hexadecimal digits, not 00");
		*ret = hi * 16 + lo;
		r->p += 3;
		return 0;
	}
	k = *r->p ? strchr(from, *r->p) : NULL;
	if (!k)
		return fault(r, "unknown escape; \\n \\t \\r \\\\ \\\" and \\xNN are known");
	*ret = to[k - from];
	r->p++;
	return 0;
}

static int put(struct reader *r, struct anchor_term *t, size_t *n, char c)
{
	if (*n == ANCHOR_MAX_TEXT)
		return fault(r, "the text is longer than 200 characters");
	t->text[(*n)++] = c;
	return 0;
}

static int read_quoted(struct reader *r, struct anchor_term *t, size_t *n)
{
	int rc;

	for (r->p++; *r->p != '"'; ) {
		char c = *r->p;

		if (!c)
			return fault(r, "the closing quote is missing");
		r->p++;
		if (c == '\\' && (rc = read_escape(r, &c)))
			return rc;
		rc = put(r, t, n, c);
		if (rc)
			return rc;
	}
	r->p++;
	return 0;
}

static int read_bare(struct reader *r, struct anchor_term *t, size_t *n)
{
	while (*r->p && !(r->p[0] == ' ' && r->p[1] == '&' && r->p[2] == ' ')) {
		int rc = put(r, t, n, *r->p);

		if (rc)
			return rc;
		r->p++;
	}
	while (*n && isblank((unsigned char)t->text[*n - 1]))
		(*n)--;
	return 0;
}

static void skip_blanks(struct reader *r)
{
	while (isblank((unsigned char)*r->p))
		r->p++;
}

static int read_term(struct reader *r, struct anchor_term *t)
{
	size_t n = 0;
	int rc;

	memset(t, 0, sizeof(*t));
	if (*r->p == '!') {
		t->negated = true;
		r->p++;
	}
	for (; *r->p == '^'; r->p++)
		if (++t->up > ANCHOR_MAX_UP)
			return fault(r, "more than eight ^");
	rc = *r->p == '"' ? read_quoted(r, t, &n) : read_bare(r, t, &n);
	if (rc)
		return rc;
	t->text[n] = '\0';
	if (n < STRING_MIN)
		return fault(r, "the text is shorter than four characters, which would be found everywhere");
	return 0;
}

int anchor_parse(const char *text, struct anchor *ret, struct error *err)
{
	struct reader r = { text, text, err };

	memset(ret, 0, sizeof(*ret));
	for (;;) {
		int rc;

		skip_blanks(&r);
		if (ret->nr_terms == ANCHOR_MAX_TERMS)
			return fault(&r, "more than six texts are joined by &");
		rc = read_term(&r, &ret->terms[ret->nr_terms]);
		if (rc)
			return rc;
		if (!ret->nr_terms && ret->terms[0].negated)
			return fault(&r, "the first text can't be a !text: there is nothing yet to exclude from");
		ret->nr_terms++;
		skip_blanks(&r);
		if (!*r.p)
			return 0;
		if (*r.p != '&')
			return fault(&r, "only & may follow a text");
		r.p++;
	}
}
