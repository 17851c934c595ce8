// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Adds arguments and evidence to what is to be written. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "calibrate/entry.h"

void entry_add(struct site_entry *e, path_t path, uint8_t field, uint8_t kind)
{
	if (e->nr_args < RECORD_MAX_ARGS)
		path_spec(path, field, kind, &e->args[e->nr_args++]);
}

void entry_add_area(struct site_entry *e, path_t path)
{
	static const uint8_t fields[] = { FIELD_X, FIELD_Y, FIELD_W, FIELD_H };

	for (size_t i = 0; i < sizeof(fields) && e->nr_args + sizeof(fields) <= RECORD_MAX_ARGS + i; i++)
		path_spec_half(path, 4 * i, fields[i], &e->args[e->nr_args++]);
}

void entry_note(struct site_entry *e, const char *fmt, ...)
{
	size_t n = strlen(e->evidence);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(e->evidence + n, sizeof(e->evidence) - n, fmt, ap);
	va_end(ap);
}
