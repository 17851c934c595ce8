// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tables for people. */
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "base/text.h"
#include "cli/table.h"

#define MIN_LAST 24	/* a cut column keeps at least so many characters */

struct table {
	size_t columns, cells, room;
	bool right[TABLE_MAX_COLUMNS];
	bool filled[TABLE_MAX_COLUMNS];	/* has a cell with text, titles aside */
	char **cell;		/* the titles first */
	bool failed;
};

/* Columns that a character takes: two for the scripts that are written wide. */
static int width_of(uint32_t c)
{
	return (c >= 0x1100 && c <= 0x115f) || (c >= 0x2e80 && c <= 0xa4cf) || (c >= 0xac00 && c <= 0xd7a3) ||
	       (c >= 0xf900 && c <= 0xfaff) || (c >= 0xfe30 && c <= 0xfe6f) || (c >= 0xff00 && c <= 0xff60) ||
	       (c >= 0x1f300 && c <= 0x1faff) || (c >= 0x20000 && c <= 0x3fffd) ? 2 : 1;
}

/* The character at *p, which is valid UTF-8; *p moves behind it. */
static uint32_t next_character(const char **p)
{
	const unsigned char *s = (const unsigned char *)*p;
	int more = s[0] >= 0xf0 ? 3 : s[0] >= 0xe0 ? 2 : s[0] >= 0xc0 ? 1 : 0;
	uint32_t c = more ? s[0] & (0x3f >> more) : s[0];

	for (int i = 1; i <= more && s[i]; i++)
		c = c << 6 | (s[i] & 0x3f);
	for (int i = 0; i <= more && **p; i++)
		++*p;
	return c;
}

static size_t text_width(const char *s)
{
	size_t n = 0;

	while (*s)
		n += width_of(next_character(&s));
	return n;
}

static void add_cell(struct table *t, const char *s)
{
	size_t n = strlen(s);
	char *copy;

	if (!t || t->failed)
		return;
	if (t->cells == t->room) {
		size_t room = t->room ? 2 * t->room : 128;
		char **cell = realloc(t->cell, room * sizeof(*cell));

		if (!cell) {
			t->failed = true;
			return;
		}
		t->cell = cell;
		t->room = room;
	}
	copy = malloc(n + 1);
	if (!copy) {
		t->failed = true;
		return;
	}
	copy[text_printable(s, n, copy, n)] = 0;
	if (t->cells >= t->columns && n)
		t->filled[t->cells % t->columns] = true;
	t->cell[t->cells++] = copy;
}

struct table *table_new(const char *const *titles, size_t nr)
{
	struct table *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->columns = nr < TABLE_MAX_COLUMNS ? nr : TABLE_MAX_COLUMNS;
	for (size_t i = 0; i < t->columns; i++) {
		t->right[i] = titles[i][0] == '>';
		add_cell(t, titles[i] + t->right[i]);
	}
	return t;
}

void table_text(struct table *t, const char *s)
{
	add_cell(t, s ? s : "");
}

void table_format(struct table *t, const char *fmt, ...)
{
	char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		text = NULL;
	va_end(ap);
	if (text)
		add_cell(t, text);
	else if (t)
		t->failed = true;
	free(text);
}

const char *format_count(uint64_t v, char *ret)
{
	char digits[24];
	int n = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)v);
	char *p = ret;

	for (int i = 0; i < n; i++) {
		if (i && (n - i) % 3 == 0)
			*p++ = ',';
		*p++ = digits[i];
	}
	*p = 0;
	return ret;
}

const char *format_ms(uint64_t ns, char *ret)
{
	uint64_t us = ns / 1000 + (ns % 1000 >= 500);
	size_t n = strlen(format_count(us / 1000, ret));

	snprintf(ret + n, 32 - n, ".%03u", (unsigned int)(us % 1000));
	return ret;
}

const char *table_metric_title(const char *name, const char *unit, char *ret)
{
	bool time = !strcmp(unit, "ns"), plain = !*unit || !strcmp(unit, "count");

	snprintf(ret, METRIC_TITLE, ">%.60s%s%.20s", name, plain ? "" : " ", time ? "ms" : plain ? "" : unit);
	return ret;
}

void table_metric(struct table *t, const char *unit, uint64_t v)
{
	if (strcmp(unit, "ns"))
		table_count(t, v);
	else
		table_ms(t, v);
}

void table_count(struct table *t, uint64_t v)
{
	char text[32];

	add_cell(t, format_count(v, text));
}

void table_ms(struct table *t, uint64_t ns)
{
	char text[32];

	add_cell(t, format_ms(ns, text));
}

static size_t terminal_width(FILE *f)
{
	struct winsize size;

	if (!isatty(fileno(f)) || ioctl(fileno(f), TIOCGWINSZ, &size) || !size.ws_col)
		return 0;
	return size.ws_col;
}

static void put_blanks(FILE *f, size_t n)
{
	fprintf(f, "%*s", (int)n, "");
}

/* As much of s as has `room` columns: two thirds of its beginning, and its end, which is what URLs differ in. */
static void put_cut(FILE *f, const char *s, size_t room)
{
	size_t width = text_width(s), head = (room - 1) * 2 / 3, done = 0;
	const char *p = s;

	while (*p) {
		const char *from = p;
		size_t w = width_of(next_character(&p));

		if (done + w > head)
			break;
		fwrite(from, 1, p - from, f);
		done += w;
	}
	fputs("…", f);
	/* skip until what is left fits */
	for (p = s; width > room - 1 - done && *p; )
		width -= width_of(next_character(&p));
	fputs(p, f);
}

/* Blanks are put before a cell, so that no line ends in some. */
static void put_row(const struct table *t, FILE *f, char *const *row, const size_t *width, size_t last_room)
{
	size_t owed = 0;
	bool first = true;

	for (size_t i = 0; i < t->columns; i++) {
		size_t w = text_width(row[i]);

		if (!t->filled[i])
			continue;
		owed += first ? 0 : 2;
		first = false;
		if (t->right[i])
			owed += width[i] - w;
		if (*row[i]) {
			put_blanks(f, owed);
			owed = 0;
		}
		if (i + 1 == t->columns && !t->right[i] && last_room && w > last_room)
			put_cut(f, row[i], last_room);
		else
			fputs(row[i], f);
		if (!t->right[i])
			owed += width[i] - w;
	}
	fputc('\n', f);
}

static void put_table(const struct table *t, FILE *f)
{
	size_t width[TABLE_MAX_COLUMNS] = { 0 }, used = 0, terminal = terminal_width(f), room = 0;
	bool titles = false;

	for (size_t i = 0; i < t->cells; i++) {
		size_t w = text_width(t->cell[i]);

		if (w > width[i % t->columns])
			width[i % t->columns] = w;
	}
	for (size_t i = 0; i < t->columns; i++) {
		if (t->filled[i] && i + 1 < t->columns)
			used += width[i] + 2;
		titles |= t->filled[i] && *t->cell[i];
	}
	if (terminal)
		room = terminal > used + MIN_LAST ? terminal - used : MIN_LAST;
	for (size_t i = titles ? 0 : t->columns; i + t->columns <= t->cells; i += t->columns)
		put_row(t, f, t->cell + i, width, room);
}

int table_finish(struct table *t, FILE *f, size_t show)
{
	int rc = !t || t->failed ? -ENOMEM : 0;

	if (!rc && show)
		put_table(t, f);
	for (size_t i = 0; t && i < t->cells; i++)
		free(t->cell[i]);
	if (t)
		free(t->cell);
	free(t);
	return rc;
}

void table_heading(FILE *f, const char *text)
{
	const char *none = getenv("NO_COLOR");
	bool bold = isatty(fileno(f)) && (!none || !*none);

	fprintf(f, "\n%s%s%s\n", bold ? "\033[1m" : "", text, bold ? "\033[0m" : "");
}
