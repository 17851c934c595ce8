// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* framescope probes --find and --strings: helps to find the functions of a program that has no definition yet. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/jsonout.h"
#include "cli/command.h"
#include "cli/probes.h"
#include "cli/table.h"
#include "target/anchors.h"
#include "target/strings.h"
#include "target/symbols.h"

#define MAX_STRINGS 256		/* shown; a pattern that matches more is too wide to be of help */
#define MAX_USERS 8		/* functions shown for one string */

/* Where both commands put what they find. */
struct output {
	struct outfile *f;	/* NULL: tables */
	struct jsonout j;
};

static int output_begin(struct output *o, bool as_json, const char *array, struct error *err)
{
	int rc;

	o->f = NULL;
	if (!as_json)
		return 0;
	rc = outfile_open("-", &o->f, err);
	if (rc)
		return rc;
	jsonout_init(&o->j, o->f, 2);
	jsonout_object(&o->j, NULL);
	jsonout_array(&o->j, array);
	return 0;
}

static int output_end(struct output *o, struct error *err)
{
	if (!o->f)
		return 0;
	jsonout_close(&o->j);
	jsonout_close(&o->j);
	return outfile_commit(o->f, err);
}

/* --- --find --- */

static void match_json(struct jsonout *j, const struct image *image, const struct symbol_match *m)
{
	uint64_t offset = 0;

	jsonout_object(j, NULL);
	jsonout_text(j, "module", image->path);
	jsonout_text(j, "name", m->name);
	jsonout_text(j, "symbol", m->symbol);
	if (image_offset_of(image, m->vaddr, &offset))
		jsonout_u64(j, "offset", offset);
	jsonout_u64(j, "size", m->size);
	jsonout_bool(j, "attachable", !m->refused);
	jsonout_text(j, m->refused ? "reason" : "evidence", m->refused ?: m->evidence);
	jsonout_close(j);
}

static void match_table(const struct image *image, struct symbols *s, const struct symbol_match *m, size_t nr)
{
	static const char *const titles[] = { ">offset", ">size", "name", "symbol", "probe" };
	struct table *t = table_new(titles, sizeof(titles) / sizeof(titles[0]));
	char title[1024];

	for (size_t i = 0; i < nr; i++) {
		uint64_t offset = 0;

		if (image_offset_of(image, m[i].vaddr, &offset))
			table_format(t, "0x%" PRIx64, offset);
		else
			table_text(t, NULL);
		table_count(t, m[i].size);
		table_text(t, m[i].name);
		table_text(t, strcmp(m[i].name, m[i].symbol) ? m[i].symbol : NULL);
		table_format(t, "%s%s", m[i].refused ? "not possible: " : "possible: ", m[i].refused ?: m[i].evidence);
	}
	snprintf(title, sizeof(title), "%.300s (%.640s)", image->path, symbols_tables(s));
	if (nr)
		table_heading(stdout, title);
	table_finish(t, stdout, nr);
}

/* What no file had: the tables that were searched, and the nearest names. */
static void say_missing(const struct probes_options *opt, struct symbols *s, struct error *err)
{
	struct engine_probe p = { .functions = { (char *)opt->find }, .nr_functions = 1 };
	struct symbol_match *m = NULL;
	char reason[sizeof(err->text)];
	size_t nr;

	if (!symbols_find(s, &p, &m, &nr, reason, sizeof(reason)))
		free(m);
	else
		error_set(err, ERR_NOTHING, -ENOENT, "%s%s", reason, symbols_stripped(s) ? "; stripped: try --strings" : "");
}

int probes_find(const struct probes_options *opt, const struct image_list *images)
{
	struct error err = { 0 }, missing = { 0 };
	struct output out;
	size_t total = 0;
	int rc = output_begin(&out, opt->json, "functions", &err);

	for (size_t i = 0; i < images->nr && !rc; i++) {
		struct symbol_match *m = NULL;
		struct symbols *s = NULL;
		size_t nr = 0;

		rc = symbols_open(images->images[i], opt->symbols, &s, &err);
		if (!rc && symbols_glob(s, opt->find, &m, &nr))
			rc = error_set(&err, ERR_OTHER, -ENOMEM, "out of memory");
		if (!rc)
			rc = image_check(images->images[i], &err);
		if (!rc && !out.f)
			match_table(images->images[i], s, m, nr);
		for (size_t k = 0; k < nr && out.f && !rc; k++)
			match_json(&out.j, images->images[i], &m[k]);
		if (!rc && !nr && !missing.kind)
			say_missing(opt, s, &missing);
		total += nr;
		free(m);
		symbols_close(s);
	}
	if (!rc)
		rc = output_end(&out, &err);
	if (!rc && !total) {
		err = missing;
		if (images->nr != 1)
			error_set(&err, ERR_NOTHING, -ENOENT, "no function matches '%s' in any of %zu files", opt->find, images->nr);
		rc = err.code;
	}
	return rc ? command_fail(&err) : 0;
}

/* --- --strings --- */

struct text_list {
	char **texts;
	size_t nr;
	bool full;
};

static bool add_text(struct text_list *l, const char *text)
{
	char **bigger;

	for (size_t i = 0; i < l->nr; i++)
		if (!strcmp(l->texts[i], text))
			return true;
	if (l->nr == MAX_STRINGS) {
		l->full = true;
		return true;
	}
	bigger = realloc(l->texts, (l->nr + 1) * sizeof(*bigger));
	if (!bigger)
		return false;
	l->texts = bigger;
	bigger[l->nr] = strdup(text);
	return bigger[l->nr++] != NULL;
}

/* Printable NUL-terminated strings of what can't be written to. */
static int collect_texts(const struct image *image, const char *pattern, struct text_list *l)
{
	char text[ANCHOR_MAX_TEXT + 1];

	for (size_t i = 0; i < image->nr_segments; i++) {
		const struct image_segment *s = &image->segments[i];
		const uint8_t *bytes = s->write ? NULL : image_at(image, s->vaddr, s->file_size, NULL);
		size_t start = 0;

		for (size_t k = 0; bytes && k < s->file_size; k++) {
			if (isprint(bytes[k]) || bytes[k] == '\t' || bytes[k] == '\n')
				continue;
			if (!bytes[k] && k - start >= STRING_MIN && k - start <= ANCHOR_MAX_TEXT) {
				memcpy(text, bytes + start, k - start);
				text[k - start] = '\0';
				if (engine_glob(pattern, text) && !add_text(l, text))
					return -ENOMEM;
			}
			start = k + 1;
		}
	}
	return 0;
}

/* As it is written in a definition: quoted. */
static void quote(const char *text, char *dst, size_t size)
{
	size_t n = 0;

	dst[n++] = '"';
	for (; *text && n + 4 < size; text++) {
		if (*text == '\n' || *text == '\t' || *text == '"' || *text == '\\') {
			dst[n++] = '\\';
			dst[n++] = *text == '\n' ? 'n' : *text == '\t' ? 't' : *text;
		} else {
			dst[n++] = *text;
		}
	}
	dst[n++] = '"';
	dst[n] = '\0';
}

static void text_json(struct jsonout *j, const struct image *image, struct symbols *symbols, const char *text,
		      const struct anchor_set *set)
{
	char quoted[2 * ANCHOR_MAX_TEXT + 8], name[256];

	quote(text, quoted, sizeof(quoted));
	jsonout_object(j, NULL);
	jsonout_text(j, "module", image->path);
	jsonout_text(j, "text", text);
	jsonout_text(j, "anchor", quoted);
	jsonout_array(j, "functions");
	for (size_t i = 0; i < set->nr; i++) {
		const struct function *fn = &set->matches[i].function;
		uint64_t offset = 0;

		jsonout_object(j, NULL);
		if (image_offset_of(image, fn->start, &offset))
			jsonout_u64(j, "offset", offset);
		jsonout_u64(j, "size", fn->end - fn->start);
		jsonout_text(j, "name", symbols_name_of(symbols, fn->start, name, sizeof(name)) ? name : "");
		jsonout_text(j, "start", function_proof_name(fn->proof));
		jsonout_close(j);
	}
	jsonout_close(j);
	jsonout_close(j);
}

/* One row for each function, and one for a text that none refers to. */
static void text_rows(struct table *t, const struct image *image, struct symbols *symbols, const char *text,
		      const struct anchor_set *set)
{
	char quoted[2 * ANCHOR_MAX_TEXT + 8], name[256];

	quote(text, quoted, sizeof(quoted));
	for (size_t i = 0; i < set->nr && i < MAX_USERS; i++) {
		const struct function *fn = &set->matches[i].function;
		uint64_t offset = 0;

		table_text(t, i ? NULL : quoted);
		image_offset_of(image, fn->start, &offset);
		table_format(t, "0x%" PRIx64, offset);
		table_count(t, fn->end - fn->start);
		if (symbols_name_of(symbols, fn->start, name, sizeof(name)))
			table_text(t, name);
		else
			table_format(t, "no name; start known by %s", function_proof_name(fn->proof));
	}
	if (set->nr && set->nr <= MAX_USERS)
		return;
	table_text(t, set->nr ? NULL : quoted);
	table_text(t, NULL);
	table_text(t, NULL);
	if (set->nr)
		table_format(t, "and %zu more", set->nr - MAX_USERS);
	else
		table_text(t, "no function refers to it directly");
}

/* All texts of one file. */
static void show_texts(struct output *out, const struct image *image, struct symbols *symbols, const struct text_list *l,
		       const struct anchor_finder *finder)
{
	static const char *const titles[] = { "anchor", ">offset", ">size", "function" };
	struct table *t;

	for (size_t i = 0; i < l->nr && out->f; i++)
		text_json(&out->j, image, symbols, l->texts[i], anchor_finder_set(finder, i));
	if (out->f)
		return;
	t = table_new(titles, sizeof(titles) / sizeof(titles[0]));
	for (size_t i = 0; i < l->nr; i++)
		text_rows(t, image, symbols, l->texts[i], anchor_finder_set(finder, i));
	table_heading(stdout, image->path);
	table_finish(t, stdout, l->nr);
	if (l->full)
		printf("more than %d strings match; make the pattern narrower\n", MAX_STRINGS);
}

static int find_strings(const struct probes_options *opt, const struct image *image, struct output *out, size_t *total,
			struct error *err)
{
	struct text_list l = { 0 };
	struct anchor_finder *finder = NULL;
	struct symbols *symbols = NULL;
	struct anchor *anchors = NULL;
	int rc = collect_texts(image, opt->strings, &l);

	anchors = calloc(l.nr ?: 1, sizeof(*anchors));
	if (rc || !anchors)
		rc = error_set(err, ERR_OTHER, -ENOMEM, "out of memory");
	for (size_t i = 0; i < l.nr && anchors; i++) {
		anchors[i].nr_terms = 1;
		snprintf(anchors[i].terms[0].text, sizeof(anchors[i].terms[0].text), "%s", l.texts[i]);
	}
	if (!rc && l.nr)
		rc = anchor_finder_new(image, anchors, l.nr, &finder, err) ?: symbols_open(image, opt->symbols, &symbols, err);
	if (!rc)
		rc = image_check(image, err);
	if (!rc && l.nr)
		show_texts(out, image, symbols, &l, finder);
	*total += l.nr;
	for (size_t i = 0; i < l.nr; i++)
		free(l.texts[i]);
	free(l.texts);
	free(anchors);
	anchor_finder_free(finder);
	symbols_close(symbols);
	return rc;
}

int probes_strings(const struct probes_options *opt, const struct image_list *images)
{
	struct error err = { 0 };
	struct output out;
	size_t total = 0;
	int rc = output_begin(&out, opt->json, "strings", &err);

	for (size_t i = 0; i < images->nr && !rc; i++)
		rc = find_strings(opt, images->images[i], &out, &total, &err);
	if (!rc)
		rc = output_end(&out, &err);
	if (!rc && !total)
		rc = error_set(&err, ERR_NOTHING, -ENOENT, "no string of %d to %d characters in read-only data matches '%s'", STRING_MIN,
			       ANCHOR_MAX_TEXT, opt->strings);
	return rc ? command_fail(&err) : 0;
}
