// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Reads a foreign profile into memory and gives it to the reader that it is for. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include "base/jsonscan.h"
#include "export/import_build.h"

#define MAX_BYTES (4ull << 30)	/* of text, after decompression */

/* Commas before a closing bracket are no JSON, but stand in published examples of the metrics format. */
static void drop_trailing_commas(char *text, size_t n)
{
	const char *end = text + n;

	for (char *p = text; p < end; p++) {
		const char *next;

		if (*p == '"') {
			next = jsonscan_string(p, end);
			if (!next)
				return;
			p = text + (next - text) - 1;
		} else if (*p == ',') {
			next = jsonscan_blank(p + 1, end);
			if (next < end && (*next == '}' || *next == ']'))
				*p = ' ';
		}
	}
}

/* Does the object at p have this key on its first level? */
static bool has_key(const char *p, const char *end, const char *key)
{
	size_t n = strlen(key);

	p = jsonscan_blank(p, end);
	if (p >= end || *p++ != '{')
		return false;
	for (;;) {
		const char *name = jsonscan_blank(p, end);

		if (name >= end || *name != '"')
			return false;
		p = jsonscan_string(name, end);
		if (!p)
			return false;
		if ((size_t)(p - name) == n + 2 && !memcmp(name + 1, key, n))
			return true;
		p = jsonscan_blank(p, end);
		if (p >= end || *p++ != ':')
			return false;
		p = jsonscan_value(p, end);
		p = p ? jsonscan_blank(p, end) : NULL;
		if (!p || p >= end || *p++ != ',')
			return false;
	}
}

static int read_profile(struct import *im, char *text, size_t n, const char *name, struct import_range *range,
			struct import_counts *counts, struct error *err)
{
	const char *start = text, *end = text + n;

	if (n >= 3 && !memcmp(text, "\xef\xbb\xbf", 3))
		start += 3;
	start = jsonscan_blank(start, end);
	if (start < end && (*start == '[' || has_key(start, end, "traceEvents")))
		return import_chrome(im, text + (start - text), end - start, counts, range, err);
	if (has_key(start, end, "metricTypes") || has_key(start, end, "samples")) {
		drop_trailing_commas(text, n);
		return import_metrics(im, text + (start - text), end - start, counts, err);
	}
	return error_set(err, ERR_INPUT, -EINVAL, "'%s' is neither a Chrome trace (traceEvents) nor a profile with metricTypes; "
			 "give a file of one of these formats", name);
}

int import_text(char *text, size_t n, const char *name, struct recording_writer *w, struct import_counts *ret,
		struct error *err)
{
	struct import_counts counts = { 0 };
	struct import_range range = { .base_ns = UINT64_MAX };
	struct import *im;
	int rc = import_new(&im);

	if (rc) {
		recording_writer_abort(w);
		return error_set(err, ERR_OTHER, rc, "out of memory while reading '%s'", name);
	}
	rc = read_profile(im, text, n, name, &range, &counts, err);
	if (rc) {
		if (rc == -ENOMEM)
			error_set(err, ERR_OTHER, rc, "out of memory while reading '%s'", name);
		recording_writer_abort(w);
	} else {
		rc = import_write(im, w, name, range, &counts, err);
	}
	import_free(im);
	*ret = counts;
	return rc;
}

/* gzread() takes plain files, too. */
static int read_file(const char *path, char **ret, size_t *ret_n, struct error *err)
{
	gzFile f = gzopen(path, "rbe");
	size_t cap = 1 << 20, n = 0;
	char *text = f ? malloc(cap + 1) : NULL;
	int got = 0, rc = 0;

	if (!f)
		return error_set(err, ERR_INPUT, errno ? -errno : -ENOMEM, "can't open '%s': %s; check the path and your rights", path, strerror(errno));
	while (text && (got = gzread(f, text + n, cap - n > 1 << 20 ? 1 << 20 : cap - n)) > 0) {
		n += got;
		if (n < cap)
			continue;
		if (n >= MAX_BYTES) {
			rc = error_set(err, ERR_INPUT, -EFBIG, "'%s' holds more than 4 GiB; export a shorter part of it", path);
			break;
		}
		char *more = realloc(text, 2 * cap + 1);

		if (!more) {
			free(text);
			text = NULL;
			break;
		}
		text = more;
		cap *= 2;
	}
	if (!rc && !text)
		rc = error_set(err, ERR_OTHER, -ENOMEM, "out of memory while reading '%s'", path);
	else if (!rc && got < 0 && !n)
		rc = error_set(err, ERR_INPUT, -EIO, "can't read '%s': it is a folder, or not what its name says", path);
	gzclose(f);
	if (rc) {
		free(text);
		return rc;
	}
	text[n] = '\0';
	*ret = text;
	*ret_n = n;
	return 0;
}

int import_profile(const char *path, struct recording_writer *w, struct import_counts *ret, struct error *err)
{
	char *text = NULL;
	size_t n = 0;
	int rc = read_file(path, &text, &n, err);

	if (rc) {
		recording_writer_abort(w);
		return rc;
	}
	rc = import_text(text, n, path, w, ret, err);
	free(text);
	return rc;
}
