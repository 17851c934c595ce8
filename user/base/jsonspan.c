// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Goes from value to value. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/jsonscan.h"
#include "base/jsonspan.h"

#define MAX_NUMBER 63	/* characters */

bool jsonspan_whole(const char *text, size_t n, struct jsonspan *ret)
{
	const char *p = jsonscan_blank(text, text + n), *end = jsonscan_value(p, text + n);

	*ret = (struct jsonspan){ p, end };
	return end && jsonscan_blank(end, text + n) == text + n;
}

struct jsonspan_walk jsonspan_walk(struct jsonspan value, char open)
{
	struct jsonspan_walk w = { .p = value.p, .end = value.end, .close = open == '{' ? '}' : ']' };

	w.failed = w.p >= w.end || *w.p++ != open;
	return w;
}

static bool stop(struct jsonspan_walk *w, bool failed)
{
	w->failed = failed;
	w->close = '\0';
	return false;
}

bool jsonspan_next(struct jsonspan_walk *w, struct jsonspan *ret_key, struct jsonspan *ret)
{
	const char *end;

	if (w->failed || !w->close)
		return false;
	w->p = jsonscan_blank(w->p, w->end);
	if (w->p < w->end && *w->p == w->close)
		return stop(w, false);
	if (w->begun && (w->p >= w->end || *w->p++ != ','))
		return stop(w, true);
	w->begun = true;
	if (w->close == '}') {
		w->p = jsonscan_blank(w->p, w->end);
		end = w->p < w->end && *w->p == '"' ? jsonscan_string(w->p, w->end) : NULL;
		if (!end)
			return stop(w, true);
		if (ret_key)
			*ret_key = (struct jsonspan){ w->p, end };
		w->p = jsonscan_blank(end, w->end);
		if (w->p >= w->end || *w->p++ != ':')
			return stop(w, true);
	}
	w->p = jsonscan_blank(w->p, w->end);
	end = jsonscan_value(w->p, w->end);
	/* nothing where a value should be */
	if (!end || end == w->p)
		return stop(w, true);
	*ret = (struct jsonspan){ w->p, end };
	w->p = end;
	return true;
}

bool jsonspan_member(struct jsonspan object, const char *key, struct jsonspan *ret)
{
	struct jsonspan_walk w = jsonspan_walk(object, '{');
	struct jsonspan name;

	while (jsonspan_next(&w, &name, ret))
		if (jsonspan_is(name, key))
			return true;
	return false;
}

bool jsonspan_is(struct jsonspan value, const char *text)
{
	size_t n = strlen(text);

	return value.end - value.p == (ptrdiff_t)n + 2 && *value.p == '"' && !memcmp(value.p + 1, text, n);
}

bool jsonspan_text(struct jsonspan value, char *dst, size_t size)
{
	size_t n = value.end - value.p;

	if (n < 2 || n - 2 >= size || *value.p != '"')
		return false;
	memcpy(dst, value.p + 1, n - 2);
	dst[n - 2] = '\0';
	return true;
}

bool jsonspan_number(struct jsonspan value, double *ret)
{
	char text[MAX_NUMBER + 1], *end;
	size_t n = value.end - value.p;

	if (!jsonspan_text(value, text, sizeof(text))) {
		if (!n || n > MAX_NUMBER)
			return false;
		memcpy(text, value.p, n);
		text[n] = '\0';
	}
	/* as JSON has them: no blanks, no hexadecimal ones, no names */
	if (strspn(text, "+-.0123456789eE") != strlen(text))
		return false;
	*ret = strtod(text, &end);
	return end != text && !*end && isfinite(*ret);
}
