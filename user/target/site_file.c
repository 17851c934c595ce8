// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Reads what calibration found in a build, and believes none of it that the module contradicts. */
#include <errno.h>
#include <ini.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "target/site_file.h"

#define SITE_FILE_MAX (256 << 10)	/* bytes */
#define MIN_BYTES 8			/* of a function's beginning that must be given */

/* One section: a function as the file has it. */
struct entry {
	const struct engine_probe *probe;
	uint64_t offset;
	uint8_t bytes[16];
	size_t nr_bytes;
	struct arg_spec args[RECORD_MAX_ARGS];
	size_t nr_args;
	char evidence[256];
	char dropped[208];
	uint64_t calls, reported;
	bool has_calls, has_reported;
};

struct reader {
	const struct site_search *search;
	const char *path;
	struct error *err;
	struct entry *entries;
	size_t nr, max;
	uint64_t cage;
	uint64_t format;
	bool id_fits, size_fits, engine_fits;
	char section[128];
	int failed;
};

static int wrong(struct reader *r, const char *what, const char *value)
{
	if (!r->failed)
		r->failed = error_set(r->err, ERR_INPUT, -EINVAL, "%s: [%s] %s '%s'; run framescope calibrate again",
				      r->path, r->section, what, value);
	return 0;	/* what inih takes for a failure */
}

static bool number(const char *text, uint64_t *ret)
{
	char *end;

	errno = 0;
	*ret = strtoull(text, &end, 0);
	return !errno && end != text && !*end && *text != '-';
}

static bool hex_bytes(const char *text, uint8_t *ret, size_t max, size_t *ret_nr)
{
	size_t n = strlen(text) / 2;

	if (strlen(text) % 2 || n < MIN_BYTES || n > max || strspn(text, "0123456789abcdef") != 2 * n)
		return false;
	for (size_t i = 0; i < n; i++) {
		unsigned int v;

		sscanf(text + 2 * i, "%2x", &v);
		ret[i] = v;
	}
	*ret_nr = n;
	return true;
}

static int build_key(struct reader *r, const char *name, const char *value)
{
	uint64_t n;

	if (!strcmp(name, "format"))
		return number(value, &r->format) && r->format && r->format <= SITE_FILE_FORMAT ? 1 :
		       wrong(r, "is of another framescope: format", value);
	if (!strcmp(name, "build-id"))
		r->id_fits = !strcmp(value, r->search->image->build_id);
	else if (!strcmp(name, "size"))
		r->size_fits = number(value, &n) && n == r->search->image->size;
	else if (!strcmp(name, "engine"))
		r->engine_fits = !strcmp(value, r->search->engine->name);
	else if (!strcmp(name, "cage") && !number(value, &r->cage))
		return wrong(r, "has no number:", value);
	return 1;	/* other keys are for people */
}

static int argument(struct reader *r, struct entry *e, const char *name, const char *value)
{
	struct error why;
	int field = arg_field_parse(name);
	struct arg_spec *a = &e->args[e->nr_args];

	if (!field)
		return wrong(r, "has an unknown key", name);
	if (e->nr_args == RECORD_MAX_ARGS)
		return wrong(r, "has too many arguments at", name);
	if (expr_parse(value, r->search->image->arch, a, NULL, NULL, &why))
		return wrong(r, why.text, value);
	a->field = field;
	e->nr_args++;
	return 1;
}

static struct entry *entry_new(struct reader *r)
{
	struct entry *e;

	if (r->nr == r->max) {
		e = realloc(r->entries, (2 * r->max + 16) * sizeof(*e));
		if (!e)
			return NULL;
		r->entries = e;
		r->max = 2 * r->max + 16;
	}
	e = &r->entries[r->nr++];
	memset(e, 0, sizeof(*e));
	return e;
}

static bool is_comparison(const char *name)
{
	return !strcmp(name, "calls") || !strcmp(name, "reported") || !strcmp(name, "dropped");
}

static int comparison(struct reader *r, struct entry *e, const char *name, const char *value)
{
	if (!strcmp(name, "dropped")) {
		snprintf(e->dropped, sizeof(e->dropped), "%s", *value ? value : "no reason is given");
		return 1;
	}
	if (!number(value, *name == 'c' ? &e->calls : &e->reported))
		return wrong(r, "has no number:", value);
	*(*name == 'c' ? &e->has_calls : &e->has_reported) = true;
	return 1;
}

/* Numbers that say that it isn't the function, and nothing that says why it is used all the same. */
static void check_comparison(struct reader *r, const struct entry *e)
{
	bool whole = e->has_calls == e->has_reported, equal = e->calls == e->reported && (e->calls || !e->has_calls);

	snprintf(r->section, sizeof(r->section), "%s", e->probe->name);
	if (!whole || (!equal && !e->dropped[0]))
		wrong(r, "has other calls than the browser reported, but isn't", "dropped");
	else if (e->dropped[0] && e->nr_args)
		wrong(r, "is dropped, but has arguments:", arg_field_name(e->args[0].field));
}

static int on_key(void *ctx, const char *section, const char *name, const char *value)
{
	struct reader *r = ctx;
	struct entry *e = r->nr ? &r->entries[r->nr - 1] : NULL;

	if (r->failed)
		return 0;
	if (strcmp(section, r->section)) {
		/* never NULL, but gcc with its sanitizers thinks that it might be */
		snprintf(r->section, sizeof(r->section), "%s", section ?: "");
		if (strcmp(section, "build")) {
			e = entry_new(r);
			if (!e) {
				r->failed = -ENOMEM;
				return 0;
			}
			e->probe = engine_probe_by_name(r->search->engine, section);
			if (!e->probe)
				return wrong(r, "is no probe of the engine", r->search->engine->name);
		}
	}
	if (!strcmp(section, "build"))
		return build_key(r, name, value);
	if (!e)
		return wrong(r, "stands before any section:", name);
	if (!strcmp(name, "offset"))
		return number(value, &e->offset) ? 1 : wrong(r, "has no offset:", value);
	if (!strcmp(name, "bytes"))
		return hex_bytes(value, e->bytes, sizeof(e->bytes), &e->nr_bytes) ? 1 : wrong(r, "has no bytes:", value);
	if (!strcmp(name, "evidence")) {
		snprintf(e->evidence, sizeof(e->evidence), "%s", value);
		return 1;
	}
	return r->format >= 2 && is_comparison(name) ? comparison(r, e, name, value) : argument(r, e, name, value);
}

/* Do the module's bytes at the offset begin a function as the entry says? */
static bool entry_fits(const struct image *img, const struct entry *e, uint64_t *ret_vaddr)
{
	const uint8_t *p;
	size_t avail;

	if (e->nr_bytes < MIN_BYTES || !image_vaddr_of(img, e->offset, ret_vaddr))
		return false;
	p = image_at(img, *ret_vaddr, e->nr_bytes, &avail);
	return p && !memcmp(p, e->bytes, e->nr_bytes);
}

/* The probe's site at the offset, or with 0 the one that wasn't found; NULL. */
static struct site *site_of(struct site_list *list, const struct engine_probe *probe, uint64_t offset)
{
	for (size_t i = 0; i < list->nr; i++) {
		struct site *s = &list->sites[i];

		if (s->probe == probe && (offset ? s->source && s->offset == offset : !s->source))
			return s;
	}
	return NULL;
}

static size_t count_found(const struct site_list *list, const struct engine_probe *probe)
{
	size_t nr = 0;

	for (size_t i = 0; i < list->nr; i++)
		nr += list->sites[i].probe == probe && list->sites[i].source;
	return nr;
}

/* Of all sites of the probe, this one stays; NULL: none. */
static void refuse_others(struct site_list *list, const struct engine_probe *probe, const struct site *stays, const char *why)
{
	for (size_t i = 0; i < list->nr; i++) {
		struct site *s = &list->sites[i];

		if (s->probe != probe || !s->source || s == stays)
			continue;
		s->source = SITE_NONE;
		s->nr_args = 0;
		snprintf(s->reason, sizeof(s->reason), "calibration found it wrong: %s", why);
	}
}

/* A function that nothing else leads to: it must stand on the grid, behind padding, and set a frame up. */
static bool describe_unfound(const struct image *img, struct site *site, uint64_t vaddr)
{
	static const struct scan no_scan = { 0 };
	struct code_map map;
	struct function f;

	if (!function_starts_at(img, vaddr))
		return false;
	map.image = img;
	map.scan = &no_scan;
	fde_table_open(img, &map.fdes);
	f.start = vaddr;
	f.end = vaddr;
	f.proof = PROOF_PROLOGUE;
	/* to the next padded prologue: where the exits are looked for */
	for (uint64_t a = vaddr + SCAN_GRID; a < vaddr + FUNCTION_MAX && f.end == vaddr; a += SCAN_GRID) {
		if (!image_at(img, a - 1, 2, NULL))
			return false;
		if (function_starts_at(img, a))
			f.end = a;
	}
	return f.end > vaddr && site_describe_code(&map, &f, site);
}

static void apply_entry(struct reader *r, const struct entry *e)
{
	struct site_list *list = r->search->list;
	const struct image *img = r->search->image;
	struct site *site = e->offset ? site_of(list, e->probe, e->offset) : NULL;
	char before[sizeof(site->evidence)];
	uint64_t vaddr;

	if (!entry_fits(img, e, &vaddr))
		return;
	if (!site) {
		site = count_found(list, e->probe) || e->dropped[0] ? NULL : site_of(list, e->probe, 0);
		if (!site || !describe_unfound(img, site, vaddr))
			return;
		site->reason[0] = '\0';
		snprintf(site->function, sizeof(site->function), "%s", e->probe->name);
	}
	refuse_others(list, e->probe, e->dropped[0] ? NULL : site, e->dropped[0] ? e->dropped : "another candidate is the one");
	if (e->dropped[0])
		return;
	snprintf(before, sizeof(before), "%s", site->evidence);
	snprintf(site->evidence, sizeof(site->evidence), "calibrated: %.200s%s%.400s", e->evidence, *before ? "; " : "", before);
	site->source = SITE_CALIBRATED;
	site->cage = r->cage;
	site_replace_args(site, e->args, e->nr_args);
}

int site_file_apply_text(struct site_search *s, const char *text, const char *path, struct error *err)
{
	struct reader r = { .search = s, .path = path, .err = err, .format = 1 };
	int line = ini_parse_string(text, on_key, &r);

	if (!r.failed && line)
		r.failed = error_set(err, ERR_INPUT, -EINVAL, "%s:%d: not a line of a .sites file", path, line);
	if (!r.failed && !(r.id_fits && r.size_fits && r.engine_fits))
		r.failed = error_set(err, ERR_INPUT, -EINVAL,
				     "%s is of another build of the module, or of another engine; run framescope calibrate again",
				     path);
	for (size_t i = 0; i < r.nr && !r.failed; i++)
		check_comparison(&r, &r.entries[i]);
	for (size_t i = 0; i < r.nr && !r.failed; i++)
		apply_entry(&r, &r.entries[i]);
	free(r.entries);
	return r.failed;
}

static char *read_text(const char *path)
{
	FILE *f = fopen(path, "re");
	char *text = NULL;
	size_t n;

	if (!f)
		return NULL;
	text = malloc(SITE_FILE_MAX + 1);
	n = text ? fread(text, 1, SITE_FILE_MAX + 1, f) : 0;
	fclose(f);
	if (!n || n > SITE_FILE_MAX || memchr(text, 0, n)) {
		free(text);
		return NULL;
	}
	text[n] = '\0';
	return text;
}

/* First in the evidence of the first site that has some, which makes it seen. */
static void note_refused(struct site_list *list, const char *refused)
{
	for (size_t i = 0; i < list->nr && *refused; i++) {
		struct site *first = &list->sites[i];
		char before[sizeof(first->evidence)];

		if (!first->source)
			continue;
		snprintf(before, sizeof(before), "%s", first->evidence);
		snprintf(first->evidence, sizeof(first->evidence), "not used: %.250s; %.370s", refused, before);
		return;
	}
}

int site_file_apply(struct site_search *s)
{
	const char *cache = getenv("FRAMESCOPE_CACHE");
	char path[2][PATH_MAX], refused[sizeof(((struct error *)0)->text)] = "", *folder, *copy;
	int rc;

	if (!s->image->build_id[0] || !s->engine->path || s->opt->no_calibration)
		return 0;
	copy = strdup(s->engine->path);
	if (!copy)
		return -ENOMEM;
	folder = dirname(copy);
	/* the user's own calibration comes before what was shipped */
	snprintf(path[0], PATH_MAX, "%s/builds/%s.sites", cache ? cache : "/var/cache/framescope", s->image->build_id);
	snprintf(path[1], PATH_MAX, "%s/builds/%s.sites", folder, s->image->build_id);
	free(copy);
	for (int i = 0; i < 2; i++) {
		char *text = read_text(path[i]);
		struct error err;

		if (!text)
			continue;
		rc = site_file_apply_text(s, text, path[i], &err);
		free(text);
		if (!rc)
			break;
		if (rc == -ENOMEM)
			return rc;
		snprintf(refused, sizeof(refused), "%s", err.text);
	}
	note_refused(s->list, refused);
	return 0;
}
