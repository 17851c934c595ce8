/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Tables for people: columns as wide as they need to be, numbers right, text cut to the terminal. Cells may hold
 * anything; what a terminal would obey is made harmless.
 */
#ifndef FRAMESCOPE_CLI_TABLE_H
#define FRAMESCOPE_CLI_TABLE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define TABLE_MAX_COLUMNS 24

struct table;

/* One title per column; a leading '>' puts the column's cells to the right. Columns without any text but their title
 * are left out. A last column of text is cut to the terminal's width, in the middle, if there is a terminal.
 * NULL: no memory; every function takes that. */
struct table *table_new(const char *const *titles, size_t nr);
/* The next cell of the current row; a row begins by itself. */
void table_text(struct table *t, const char *s);		/* NULL: an empty cell */
void table_format(struct table *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void table_count(struct table *t, uint64_t v);		/* 1,234,567 */
void table_ms(struct table *t, uint64_t ns);		/* 1,234.567: milliseconds */
/* A metric's title, in ret of METRIC_TITLE bytes, and its cells: of nanoseconds as milliseconds, of others as counts. */
#define METRIC_TITLE 96
const char *table_metric_title(const char *name, const char *unit, char *ret);
void table_metric(struct table *t, const char *unit, uint64_t v);
/* Prints, if `show` is not 0, and frees. -ENOMEM. */
int table_finish(struct table *t, FILE *f, size_t show);

/* "1,234" and "1,234.567" as above; ret has room for 32. Returns ret. */
const char *format_count(uint64_t v, char *ret);
const char *format_ms(uint64_t ns, char *ret);
/* A heading above a table; bold on a terminal. */
void table_heading(FILE *f, const char *text);

#endif
