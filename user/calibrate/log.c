// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Keeps what was found at each call, and decides when it is worth searching everything again. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "calibrate/areas.h"
#include "calibrate/log.h"

#define MAX_SEARCHES 2	/* of a phase: they are dear */
#define MAX_WANTED 5	/* where a call may be about more than a document, and not every one is */
#define MAX_VAIN 3	/* in a row; then again when twice as many calls have led to nothing, and so on */
#define MAX_DEEP 8	/* what is found may stand there by chance */
#define MAX_DEEP_VAIN 4
#define MAX_DEFINES 6
#define MAX_NAMED 3	/* ways to names are the same at every call, */
#define MAX_NAMELESS 12	/* but most calls are about events that a browser has for itself */
#define MAX_AREAS 2
#define MAX_AREAS_VAIN 4

static int by_path(const void *a, const void *b)
{
	const struct found_text *x = a, *y = b;

	if (x->path != y->path)
		return x->path < y->path ? -1 : 1;
	return (int)x->kind - (int)y->kind;
}

/* Of a sorted list. Returns how many remain. */
static size_t unique(struct found_text *all, size_t total)
{
	size_t nr = 0;

	for (size_t i = 0; i < total; i++)
		if (!nr || by_path(&all[nr - 1], &all[i]))
			all[nr++] = all[i];
	return nr;
}

/* Adds the paths of a search to those that later calls are tried with. */
static int learn(struct call_log *log, const struct found *f)
{
	struct found_text *all = realloc(log->known, (log->nr_known + f->nr_texts + 1) * sizeof(*all));
	size_t total = log->nr_known + f->nr_texts;

	if (!all)
		return -ENOMEM;
	log->known = all;
	for (size_t i = 0; i < f->nr_texts; i++)
		all[log->nr_known + i] = (struct found_text){ f->texts[i].path, WAY_SURE, f->texts[i].kind };
	if (total)
		qsort(all, total, sizeof(*all), by_path);
	/* of the same way, what is known of it comes first */
	for (size_t i = 1; i < total; i++)
		if (!by_path(&all[i - 1], &all[i]) && all[i].text == WAY_UNSURE)
			all[i - 1].text = WAY_UNSURE;
	log->nr_known = unique(all, total);
	return 0;
}

bool log_is_sure(const struct call_log *log, path_t path, uint8_t kind)
{
	const struct found_text wanted = { .path = path, .kind = kind };
	const struct found_text *way = log->nr_known ? bsearch(&wanted, log->known, log->nr_known, sizeof(wanted), by_path) : NULL;

	return way && way->text == WAY_SURE;
}

static int follow_known(struct call_log *log, const struct subject *s, struct found *ret)
{
	int rc = 0;

	for (size_t i = 0; i < log->nr_known && !rc; i++) {
		int text = path_text(s, log->known[i].path, log->known[i].kind);

		if (text == PATH_WRONG)
			log->known[i].text = WAY_UNSURE;
		if (text >= 0)
			rc = found_add_text(ret, log->known[i].path, text, log->known[i].kind);
	}
	return rc;
}

static int by_number(const void *a, const void *b)
{
	const path_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Adds the ways to identities that aren't known yet: earlier calls weren't tried with those. */
static int learn_values(struct call_log *log, const struct found *f)
{
	size_t had = log->nr_paths, total = had + f->nr_values;
	path_t *paths = realloc(log->paths, (total + 1) * sizeof(*paths)), *sorted = malloc((had + 1) * sizeof(*sorted));
	uint8_t *fields = realloc(log->path_fields, total + 1);

	log->paths = paths ?: log->paths;
	log->path_fields = fields ?: log->path_fields;
	if (!paths || !fields || !sorted) {
		free(sorted);
		return -ENOMEM;
	}
	if (had) {
		memcpy(sorted, paths, had * sizeof(*sorted));
		qsort(sorted, had, sizeof(*sorted), by_number);
	}
	for (size_t i = 0; i < f->nr_values; i++) {
		if (had && bsearch(&f->values[i].path, sorted, had, sizeof(*sorted), by_number))
			continue;
		paths[log->nr_paths] = f->values[i].path;
		fields[log->nr_paths++] = f->values[i].field;
	}
	free(sorted);
	return 0;
}

static int follow_values(const struct call_log *log, const struct subject *s, struct log_hit *hit)
{
	hit->values = calloc(log->nr_paths + 1, sizeof(*hit->values));
	if (!hit->values)
		return -ENOMEM;
	hit->nr_values = log->nr_paths;
	for (size_t i = 0; i < log->nr_paths; i++)
		if (!path_identity(s, log->paths[i], &hit->values[i]))
			hit->values[i] = 0;
	return 0;
}

static uint64_t texts_of(const struct found *f)
{
	uint64_t bits = 0;

	for (size_t i = 0; i < f->nr_texts; i++)
		bits |= 1ull << f->texts[i].text;
	return bits;
}

/* Calls that a browser makes for itself lead to nothing, and may be the first ones of a page, however many: those of the page
 * must not go without a search for them. */
static bool may_be_vain(const struct call_log *log, unsigned int phase)
{
	return log->vain[phase] < MAX_VAIN || log->strange[phase] >= MAX_VAIN << (log->vain[phase] - MAX_VAIN + 1);
}

/* Is a call worth a search for ways to identities? The first one is; where objects are known, so is one that leads to texts
 * that no such call has led to: a browser calls some functions for itself as well, and those may come first. */
static bool defines(const struct call_log *log, const struct subject *s, const struct found *f, unsigned int phase)
{
	if (log->defines)
		return s->objects && log->defines < MAX_DEFINES && (texts_of(f) & ~log->defined);
	return f->nr_texts || may_be_vain(log, phase);
}

/* Adds what a search finds to the texts that known ways lead to: some of those may be longer than it looks. */
static int search_more(struct call_log *log, const struct subject *s, bool values, bool deep, uint64_t wanted, struct found *f)
{
	struct found more;
	int rc = search_all(s, values, deep, &more);

	for (size_t i = 0; !rc && i < more.nr_texts; i++)
		if (wanted >> more.texts[i].text & 1)
			rc = found_add_text(f, more.texts[i].path, more.texts[i].text, more.texts[i].kind);
	if (!rc && f->nr_texts) {
		qsort(f->texts, f->nr_texts, sizeof(*f->texts), by_path);
		f->nr_texts = unique(f->texts, f->nr_texts);
	}
	free(f->values);
	f->values = more.values;
	f->nr_values = more.nr_values;
	f->cap_values = more.cap_values;
	more.values = NULL;
	found_free(&more);
	return rc ?: learn(log, f);
}

/* What a call is about may be farther away than the document that it belongs to. */
static int search_deep(struct call_log *log, const struct subject *s, unsigned int phase, struct found *f)
{
	int rc;

	if (!s->objects || !s->wanted || !f->nr_texts || log->deep[phase] >= MAX_DEEP || log->deep_vain[phase] >= MAX_DEEP_VAIN)
		return 0;
	rc = search_more(log, s, false, true, s->wanted, f);
	(texts_of(f) & s->wanted ? log->deep : log->deep_vain)[phase]++;
	return rc;
}

/* Is everything to be searched, or do the ways suffice that were found before, and led to these texts? */
static bool is_worth_searching(const struct call_log *log, const struct subject *s, unsigned int phase, const struct found *f)
{
	if (f->nr_texts)
		return log->searches[phase] < (s->wanted ? MAX_WANTED : 1);
	return log->searches[phase] < MAX_SEARCHES && may_be_vain(log, phase);
}

/* The shape of what a function paints is deeper yet. */
static int search_areas(struct call_log *log, const struct subject *s, unsigned int phase, struct found *f)
{
	struct found areas;
	int rc;

	if (!s->areas || !f->nr_texts || log->areas[phase] >= MAX_AREAS || log->areas_vain[phase] >= MAX_AREAS_VAIN)
		return 0;
	rc = areas_search(s, &areas);
	for (size_t i = 0; !rc && i < areas.nr_texts; i++)
		rc = found_add_text(f, areas.texts[i].path, areas.texts[i].text, areas.texts[i].kind);
	(areas.nr_texts ? log->areas : log->areas_vain)[phase]++;
	found_free(&areas);
	qsort(f->texts, f->nr_texts, sizeof(*f->texts), by_path);
	f->nr_texts = unique(f->texts, f->nr_texts);
	return rc ?: learn(log, f);
}

int log_call(struct call_log *log, const struct subject *s, unsigned int phase, bool values)
{
	struct log_hit *hit = &log->hits[log->nr_hits];
	struct found f = { 0 };
	bool define, about, nameless;
	int rc;

	if (log->nr_hits == LOG_MAX_HITS || phase >= LOG_PHASES)
		return 0;
	rc = follow_known(log, s, &f);
	define = values && defines(log, s, &f, phase);
	nameless = s->names && !(texts_of(&f) & s->known->names) && log->named < MAX_NAMED && log->nameless[phase]++ < MAX_NAMELESS;
	if (!rc && (define || nameless || is_worth_searching(log, s, phase, &f))) {
		rc = search_more(log, s, define, false, UINT64_MAX, &f);
		(f.nr_texts ? log->searches : log->vain)[phase]++;
		log->named += nameless && (texts_of(&f) & s->known->names);
	}
	if (!rc && define && f.nr_texts) {
		log->defines++;
		log->defined |= texts_of(&f);
		rc = learn_values(log, &f);
	}
	if (!rc)
		rc = search_deep(log, s, phase, &f);
	if (!rc)
		rc = search_areas(log, s, phase, &f);
	/* a call that leads to no text is none of ours: its paths would be chance */
	if (!f.nr_texts) {
		log->strange[phase] += log->strange[phase] < UINT16_MAX;
		found_free(&f);
		return rc;
	}
	log->stack_regs |= s->stack_regs;
	log->known_objects |= s->objects != NULL;
	*hit = (struct log_hit){ .phase = phase, .texts = f.texts, .nr_texts = f.nr_texts };
	log->nr_hits++;
	if (!rc && values && log->defines)
		rc = follow_values(log, s, hit);
	about = (!s->wanted || (texts_of(&f) & s->wanted)) && (!s->names || (texts_of(&f) & s->known->names));
	f.texts = NULL;
	found_free(&f);
	return rc ?: 1 + about;
}

void log_free(struct call_log *log)
{
	for (size_t i = 0; i < log->nr_hits; i++) {
		free(log->hits[i].texts);
		free(log->hits[i].values);
	}
	free(log->known);
	free(log->paths);
	free(log->path_fields);
	memset(log, 0, sizeof(*log));
}
