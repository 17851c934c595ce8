// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Cuts a Chrome trace into its events, reading on where one isn't complete yet. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/json_repair.h"
#include "base/jsonscan.h"
#include "base/trace_events.h"

#define FIRST_BYTES (1u << 20)

void trace_events_of_text(struct trace_events *t, const char *text, size_t n)
{
	*t = (struct trace_events){ .p = text, .end = text + n };
}

void trace_events_of_stream(struct trace_events *t, trace_read_fn read, void *arg)
{
	*t = (struct trace_events){ .read = read, .arg = arg };
}

void trace_events_free(struct trace_events *t)
{
	free(t->buf);
	t->buf = NULL;
}

/* Appends to what stands at p, which moves. False at the end. Whoever calls this looks again at all that there is, so each
 * time there is to be twice as much. */
static bool more(struct trace_events *t)
{
	size_t nr = t->end - t->p, before = nr;
	ssize_t n;

	if (!t->read || t->failed)
		return false;
	if (nr)
		memmove(t->buf, t->p, nr);
	if (2 * nr >= t->cap) {
		size_t cap = t->cap ? 2 * t->cap : FIRST_BYTES;
		char *bigger = cap <= 2 * TRACE_EVENT_MAX ? realloc(t->buf, cap) : NULL;

		if (!bigger) {
			t->failed = cap <= 2 * TRACE_EVENT_MAX ? -ENOMEM : -EFBIG;
			t->p = t->buf;
			t->end = t->buf + nr;
			return false;
		}
		t->buf = bigger;
		t->cap = cap;
	}
	t->p = t->buf;
	while (nr < t->cap && (n = t->read(t->arg, t->buf + nr, t->cap - nr)) != 0) {
		if (n < 0) {
			t->failed = n;
			break;
		}
		nr += n;
	}
	t->end = t->buf + nr;
	return nr > before;
}

/* The next character that is no blank; '\0' at the end. */
static char peek(struct trace_events *t)
{
	do
		t->p = jsonscan_blank(t->p, t->end);
	while (t->p == t->end && more(t));
	return t->p < t->end ? *t->p : '\0';
}

/* The end of the value at p, or NULL: it never ends. */
static const char *value_end(struct trace_events *t)
{
	const char *end;

	do
		end = jsonscan_value(t->p, t->end);
	while (!end && more(t));
	return end;
}

/* Goes behind the bracket of the array. */
static bool find_events(struct trace_events *t)
{
	char c = peek(t);

	if (c != '[' && c != '{')
		return false;
	t->p++;
	while (c != '[') {
		const char *end;
		bool found;

		if (peek(t) != '"')
			return false;
		end = value_end(t);
		if (!end)
			return false;
		found = end - t->p == 13 && !memcmp(t->p, "\"traceEvents\"", 13);
		t->p = end;
		if (peek(t) != ':')
			return false;
		t->p++;
		if (found && peek(t) == '[')
			c = '[';
		else if (peek(t))
			t->p = value_end(t) ?: t->end;
		if (c != '[' && peek(t) != ',')
			return false;
		t->p++;
	}
	return true;
}

/* Not quite JSON is repaired, and so are identifiers of 64 bits, which Chromium writes: they are more than jansson's
 * integers hold. NULL: it is no JSON all the same. */
static json_t *parse(const char *p, size_t n)
{
	json_t *o = json_loadb(p, n, 0, NULL);
	char *copy = o ? NULL : malloc(n + 1);

	if (!copy)
		return o;
	memcpy(copy, p, n);
	json_repair(copy, n);
	o = json_loadb(copy, n, 0, NULL);
	free(copy);
	return o;
}

int trace_events_next(struct trace_events *t, json_t **ret)
{
	const char *end;
	char c;

	*ret = NULL;
	if (!t->started && !find_events(t)) {
		t->truncated = true;
		t->p = t->end;
		t->read = NULL;
	}
	t->started = true;
	c = peek(t);
	if (c == ']')
		return 0;
	end = c ? value_end(t) : NULL;
	if (!end) {
		t->truncated = true;
		return t->failed;
	}
	*ret = parse(t->p, end - t->p);
	if (*ret && !json_is_object(*ret)) {
		json_decref(*ret);
		*ret = NULL;
	}
	t->p = end;
	c = peek(t);
	if (c == ',') {
		t->p++;
	} else if (c && c != ']') {
		json_decref(*ret);
		*ret = NULL;
		return -EINVAL;
	}
	return 1;
}

bool trace_event_time(const json_t *o, const char *key, uint64_t *ret_ns)
{
	const json_t *v = json_object_get(o, key);
	double us = json_number_value(v);

	if (!json_is_number(v) || !isfinite(us) || us < 0 || us > 1e15)
		return false;
	if (json_is_integer(v))
		*ret_ns = (uint64_t)json_integer_value(v) * 1000;
	else
		*ret_ns = llround(us * 1000);
	return true;
}
