// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The one error object. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "base/error.h"

int error_set(struct error *err, enum error_kind kind, int code, const char *fmt, ...)
{
	va_list ap;

	if (!err)
		return code;
	err->kind = kind;
	err->code = code;
	va_start(ap, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	return code;
}

int error_prefix(struct error *err, const char *fmt, ...)
{
	char old[sizeof(err->text)];
	va_list ap;
	size_t n;

	if (!err)
		return 0;
	memcpy(old, err->text, sizeof(old));
	va_start(ap, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	n = strlen(err->text);
	snprintf(err->text + n, sizeof(err->text) - n, ": %s", old);
	return err->code;
}
