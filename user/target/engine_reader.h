/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Inside of the reader of engine definitions: where it stands, how it complains, what a key does. */
#ifndef FRAMESCOPE_TARGET_ENGINE_READER_H
#define FRAMESCOPE_TARGET_ENGINE_READER_H

#include "target/engine.h"

struct engine_reader {
	const char *text;	/* what was not yet read */
	const char *path;
	const struct arch *arch;
	struct engine *engine;
	struct engine_probe *probe;	/* section being read; NULL: [engine] */
	bool in_engine, engine_seen;
	const char *line;	/* the current one, in the text, and its length */
	size_t length;
	int number;
	uint64_t seen;		/* keys of the current section, by their index in the table */
	int failed;
	struct error *err;
};

/* Remembers the first mistake: "PATH:NUMBER:COLUMN: …". Returns -EINVAL. */
int engine_fail(struct engine_reader *r, int number, size_t column, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
#define fail(r, column, ...) engine_fail(r, (r)->number, column, __VA_ARGS__)
int engine_no_memory(struct engine_reader *r);

/* Columns of the current line, from 1: its first character that is no blank, and its value. */
size_t engine_first_column(const struct engine_reader *r);
size_t engine_value_column(const struct engine_reader *r);

/* Stores the value of a key of the current section. */
int engine_set_key(struct engine_reader *r, const char *name, const char *value);

#endif
