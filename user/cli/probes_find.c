// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* framescope probes --find and --strings: helps to find the functions of a program that has no definition yet. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cli/command.h"
#include "cli/probes.h"
#include "target/anchors.h"
#include "target/strings.h"
#include "target/symbols.h"

#define MAX_STRINGS 256		/* shown; a pattern that matches more is too wide to be of help */
#define MAX_USERS 8		/* functions shown for one string */

/* --- --find --- */

static void json_member(struct outfile *f, const char *name, const char *value)
{
	outfile_printf(f, "\"%s\":", name);
	outfile_json_string(f, value, strlen(value));
}

static void show_match(struct outfile *json, const struct image *image, const struct symbol_match *m, bool first)
{
	uint64_t offset = 0;

	image_offset_of(image, m->vaddr, &offset);
	if (json) {
		outfile_printf(json, "%s\n{", first ? "" : ",");
		json_member(json, "module", image->path);
		outfile_printf(json, ",");
		json_member(json, "name", m->name);
		outfile_printf(json, ",");
		json_member(json, "symbol", m->symbol);
		outfile_printf(json, ",\"offset\":%" PRIu64 ",\"size\":%" PRIu64 ",\"attachable\":%s,", offset, m->size,
			       m->refused ? "false" : "true");
		if (m->refused)
			json_member(json, "reason", m->refused);
		else
			json_member(json, "evidence", m->evidence);
		outfile_printf(json, "}");
		return;
	}
	printf("  0x%-10" PRIx64 " %8" PRIu64 "  ", offset, m->size);
	print_text(m->name, 0);
	if (strcmp(m->name, m->symbol)) {
		printf("\n%24s", "");
		print_text(m->symbol, 0);
	}
	printf("\n%24s%s", "", m->refused ? "no probe can sit there: " : "");
	print_text(m->refused ?: m->evidence, 0);
	printf("\n");
}

static int open_json(const struct probes_options *opt, const char *array, struct outfile **ret, struct error *err)
{
	int rc;

	*ret = NULL;
	if (!opt->json)
		return 0;
	rc = outfile_open("-", ret, err);
	if (!rc)
		outfile_printf(*ret, "{\"%s\":[", array);
	return rc;
}

static int close_json(struct outfile *f, struct error *err)
{
	if (!f)
		return 0;
	outfile_printf(f, "\n]}\n");
	return outfile_commit(f, err);
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
		error_set(err, ERR_NOTHING, -ENOENT, "%s", reason);
}

int probes_find(const struct probes_options *opt, const struct image_list *images)
{
	struct error err = { 0 }, missing = { 0 };
	struct outfile *json;
	size_t total = 0;
	int rc = open_json(opt, "functions", &json, &err);

	for (size_t i = 0; i < images->nr && !rc; i++) {
		struct symbol_match *m = NULL;
		struct symbols *s = NULL;
		size_t nr = 0;

		rc = symbols_open(images->images[i], opt->symbols, &s, &err);
		if (!rc && symbols_glob(s, opt->find, &m, &nr))
			rc = error_set(&err, ERR_OTHER, -ENOMEM, "out of memory");
		if (!rc && nr && !json) {
			print_text(images->images[i]->path, 0);
			printf(" (%s)\n  %-12s %8s  function\n", symbols_tables(s), "offset", "size");
		}
		for (size_t k = 0; k < nr; k++)
			show_match(json, images->images[i], &m[k], !total++);
		if (!rc && !nr && !missing.kind)
			say_missing(opt, s, &missing);
		free(m);
		symbols_close(s);
	}
	if (!rc)
		rc = close_json(json, &err);
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

static void show_user(struct outfile *json, const struct image *image, struct symbols *symbols, const struct anchor_match *m,
		      bool first)
{
	uint64_t offset = 0;
	char name[256] = "";

	image_offset_of(image, m->function.start, &offset);
	symbols_name_of(symbols, m->function.start, name, sizeof(name));
	if (json) {
		outfile_printf(json, "%s{\"offset\":%" PRIu64 ",\"size\":%" PRIu64 ",", first ? "" : ",", offset,
			       m->function.end - m->function.start);
		json_member(json, "name", name);
		outfile_printf(json, "}");
		return;
	}
	printf("      0x%-10" PRIx64 " %6" PRIu64 " bytes, start known by %s", offset, m->function.end - m->function.start,
	       function_proof_name(m->function.proof));
	if (name[0]) {
		printf(", ");
		print_text(name, 0);
	}
	printf("\n");
}

static void show_text(struct outfile *json, const struct image *image, struct symbols *symbols, const char *text,
		      const struct anchor_set *set, bool first)
{
	char quoted[2 * ANCHOR_MAX_TEXT + 8];

	quote(text, quoted, sizeof(quoted));
	if (json) {
		outfile_printf(json, "%s\n{", first ? "" : ",");
		json_member(json, "module", image->path);
		outfile_printf(json, ",");
		json_member(json, "text", text);
		outfile_printf(json, ",");
		json_member(json, "anchor", quoted);
		outfile_printf(json, ",\"functions\":[");
	} else {
		printf("  ");
		print_text(quoted, 0);
		printf("%s\n", set->no_reference || !set->nr ? "\n      no function refers to it directly" : "");
	}
	for (size_t i = 0; i < set->nr && i < MAX_USERS; i++)
		show_user(json, image, symbols, &set->matches[i], !i);
	if (json)
		outfile_printf(json, "],\"users\":%zu}", set->nr);
	else if (set->nr > MAX_USERS)
		printf("      and %zu more\n", set->nr - MAX_USERS);
}

static int show_strings(const struct probes_options *opt, const struct image *image, struct outfile *json, size_t *total,
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
	if (!rc && l.nr && !json) {
		print_text(image->path, 0);
		printf("\n");
	}
	for (size_t i = 0; i < l.nr && !rc; i++)
		show_text(json, image, symbols, l.texts[i], anchor_finder_set(finder, i), !(*total)++);
	if (l.full && !json && !rc)
		printf("  more than %d strings match; make the pattern narrower\n", MAX_STRINGS);
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
	struct outfile *json;
	size_t total = 0;
	int rc = open_json(opt, "strings", &json, &err);

	for (size_t i = 0; i < images->nr && !rc; i++)
		rc = show_strings(opt, images->images[i], json, &total, &err);
	if (!rc)
		rc = close_json(json, &err);
	if (!rc && !total)
		rc = error_set(&err, ERR_NOTHING, -ENOENT, "no string of %d to %d characters in read-only data matches '%s'", STRING_MIN,
			       ANCHOR_MAX_TEXT, opt->strings);
	return rc ? command_fail(&err) : 0;
}
