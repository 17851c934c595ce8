// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Keeps what was found at each call, and decides when it is worth searching everything again. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "calibrate/log.h"

#define MAX_SEARCHES 2	/* of a phase: they are dear */
#define MAX_WANTED 5	/* where a call may be about more than a document, and not every one is */
#define MAX_VAIN 3
#define MAX_DEEP 4	/* what is found may stand there by chance */
#define MAX_DEEP_VAIN 4

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
	if (f->nr_texts)
		memcpy(all + log->nr_known, f->texts, f->nr_texts * sizeof(*all));
	if (total)
		qsort(all, total, sizeof(*all), by_path);
	log->nr_known = unique(all, total);
	return 0;
}

static int follow_known(const struct call_log *log, const struct subject *s, struct found *ret)
{
	int rc = 0;

	for (size_t i = 0; i < log->nr_known && !rc; i++) {
		int text = path_text(s, log->known[i].path, log->known[i].kind);

		if (text >= 0)
			rc = found_add_text(ret, log->known[i].path, text, log->known[i].kind);
	}
	return rc;
}

/* The first call whose values are looked at decides which paths there are. */
static int keep_values(struct call_log *log, struct log_hit *hit, const struct found *f)
{
	log->paths = malloc((f->nr_values + 1) * sizeof(*log->paths));
	log->path_fields = malloc(f->nr_values + 1);
	hit->values = malloc((f->nr_values + 1) * sizeof(*hit->values));
	if (!log->paths || !log->path_fields || !hit->values)
		return -ENOMEM;
	for (size_t i = 0; i < f->nr_values; i++) {
		log->paths[i] = f->values[i].path;
		log->path_fields[i] = f->values[i].field;
		hit->values[i] = f->values[i].value;
	}
	log->nr_paths = f->nr_values;
	return 0;
}

static int follow_values(const struct call_log *log, const struct subject *s, struct log_hit *hit)
{
	hit->values = calloc(log->nr_paths + 1, sizeof(*hit->values));
	if (!hit->values)
		return -ENOMEM;
	for (size_t i = 0; i < log->nr_paths; i++)
		if (!path_identity(s, log->paths[i], &hit->values[i]))
			hit->values[i] = 0;
	return 0;
}

static bool leads_to(const struct found *f, uint64_t texts)
{
	for (size_t i = 0; i < f->nr_texts; i++)
		if (texts >> f->texts[i].text & 1)
			return true;
	return false;
}

/* What a call is about may be farther away than the document that it belongs to. */
static int search_deep(struct call_log *log, const struct subject *s, unsigned int phase, struct found *f)
{
	struct found far;
	int rc;

	if (!s->objects || !s->wanted || !f->nr_texts || log->deep[phase] >= MAX_DEEP || log->deep_vain[phase] >= MAX_DEEP_VAIN)
		return 0;
	rc = search_all(s, false, true, &far);
	for (size_t i = 0; !rc && i < far.nr_texts; i++)
		if (s->wanted >> far.texts[i].text & 1)
			rc = found_add_text(f, far.texts[i].path, far.texts[i].text, far.texts[i].kind);
	found_free(&far);
	(leads_to(f, s->wanted) ? log->deep : log->deep_vain)[phase]++;
	/* the ways that were known are among those found */
	qsort(f->texts, f->nr_texts, sizeof(*f->texts), by_path);
	f->nr_texts = unique(f->texts, f->nr_texts);
	return rc ?: learn(log, f);
}

/* Is everything to be searched, or do the ways suffice that were found before, and led to these texts? */
static bool is_worth_searching(const struct call_log *log, const struct subject *s, unsigned int phase, const struct found *f)
{
	if (f->nr_texts)
		return log->searches[phase] < (s->wanted ? MAX_WANTED : 1);
	return log->searches[phase] < MAX_SEARCHES && log->vain[phase] < MAX_VAIN;
}

int log_call(struct call_log *log, const struct subject *s, unsigned int phase, bool values)
{
	struct log_hit *hit = &log->hits[log->nr_hits];
	bool define = values && !log->paths;
	struct found f = { 0 };
	int rc;

	if (log->nr_hits == LOG_MAX_HITS || phase >= LOG_PHASES)
		return 0;
	rc = follow_known(log, s, &f);
	define &= f.nr_texts || log->vain[phase] < MAX_VAIN;
	if (!rc && (define || is_worth_searching(log, s, phase, &f))) {
		found_free(&f);
		rc = search_all(s, define, false, &f);
		(f.nr_texts ? log->searches : log->vain)[phase]++;
		if (!rc)
			rc = learn(log, &f);
	}
	if (!rc)
		rc = search_deep(log, s, phase, &f);
	/* a call that leads to no text is none of ours: its paths would be chance */
	if (!f.nr_texts) {
		found_free(&f);
		return rc;
	}
	log->stack_regs |= s->stack_regs;
	log->known_objects |= s->objects != NULL;
	*hit = (struct log_hit){ .phase = phase, .texts = f.texts, .nr_texts = f.nr_texts };
	f.texts = NULL;
	log->nr_hits++;
	if (!rc && define)
		rc = keep_values(log, hit, &f);
	else if (!rc && values && log->paths)
		rc = follow_values(log, s, hit);
	found_free(&f);
	return rc ?: 1;
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
