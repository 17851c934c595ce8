// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Weighs the paths to texts by what they led to at all calls, and hands them and the frame's on as arguments. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "capture/calibrate_choose.h"
#include "capture/calibrate_frame.h"

#define MIN_TEXTS 3	/* that a path must have led to, */
#define MIN_PHASES 2	/* on so many pages */
#define MIN_OTHERS 2	/* sheets or scripts, where those are wanted */

/* A path to texts, and how it fared. */
struct candidate {
	path_t path;
	uint8_t kind;
	uint64_t seen;	/* bits: texts */
	size_t right, wrong;
	size_t again;	/* calls at which a sheet or script was met that had been before: each is used once */
};

struct candidates {
	struct candidate *c;
	size_t nr;
};

static int by_path(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (x->path != y->path)
		return x->path < y->path ? -1 : 1;
	return (int)x->kind - (int)y->kind;
}

static int collect(const struct call_log *log, const struct choose_texts *t, struct candidates *ret)
{
	size_t total = 0, nr = 0;

	for (size_t i = 0; i < log->nr_hits; i++)
		total += log->hits[i].nr_texts;
	ret->c = calloc(total + 1, sizeof(*ret->c));
	if (!ret->c)
		return -ENOMEM;
	for (size_t i = 0; i < log->nr_hits; i++) {
		for (size_t k = 0; k < log->hits[i].nr_texts; k++) {
			const struct found_text *f = &log->hits[i].texts[k];
			unsigned int phase = log->hits[i].phase;
			uint64_t bit = 1ull << f->text;
			bool right = t->of_phase[phase] & bit;

			/* the page before is still there when the next one begins: that says nothing */
			if (right || !phase || !(t->of_phase[phase - 1] & bit))
				ret->c[nr++] = (struct candidate){ f->path, f->kind, bit, right, !right, 0 };
		}
	}
	if (nr)
		qsort(ret->c, nr, sizeof(*ret->c), by_path);
	ret->nr = 0;
	for (size_t i = 0; i < nr; i++) {
		struct candidate *last = ret->nr ? &ret->c[ret->nr - 1] : NULL;

		if (last && !by_path(last, &ret->c[i])) {
			last->again += (last->seen & ret->c[i].seen & ~t->documents) != 0;
			last->seen |= ret->c[i].seen;
			last->right += ret->c[i].right;
			last->wrong += ret->c[i].wrong;
		} else {
			ret->c[ret->nr++] = ret->c[i];
		}
	}
	return 0;
}

static int count(uint64_t bits)
{
	return __builtin_popcountll(bits);
}

static bool is_proven(const struct candidate *c, const struct call_log *log, const struct choose_texts *t)
{
	int phases = 0;

	/* one that is right now and then is right by chance, or of another kind of call */
	for (size_t i = 0; i < LOG_PHASES; i++)
		phases += (c->seen & t->of_phase[i]) != 0;
	return !c->wrong && !c->again && phases >= MIN_PHASES && count(c->seen) >= MIN_TEXTS && c->right * 4 >= log->nr_hits * 3;
}

/* The best that leads to nothing but `wanted`: most different texts, then hardly fewer calls than any other, then the
 * likeliest way. NULL if none was right for enough documents. */
static const struct candidate *best(const struct candidates *all, uint64_t wanted, const struct call_log *log,
				    const struct choose_texts *t)
{
	const struct candidate *ret = NULL;
	size_t most = 0, calls = 0;

	for (int pass = 0; pass < 3; pass++) {
		for (size_t i = 0; i < all->nr; i++) {
			const struct candidate *c = &all->c[i];
			size_t nr = count(c->seen);

			if ((c->seen & ~wanted) || !is_proven(c, log, t))
				continue;
			if (pass == 0 && nr > most)
				most = nr;
			else if (pass == 1 && nr == most && c->right > calls)
				calls = c->right;
			else if (pass == 2 && nr == most && c->right * 4 >= calls * 3 && (!ret || path_is_better(c->path, ret->path, log->stack_regs)))
				ret = c;
		}
	}
	return ret;
}

static void add_argument(struct site_entry *e, path_t path, uint8_t field, uint8_t kind)
{
	if (e->nr_args < RECORD_MAX_ARGS)
		path_spec(path, field, kind, &e->args[e->nr_args++]);
}

static void note(struct site_entry *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void note(struct site_entry *e, const char *fmt, ...)
{
	size_t n = strlen(e->evidence);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(e->evidence + n, sizeof(e->evidence) - n, fmt, ap);
	va_end(ap);
}

/* What an event of this type is about besides documents. */
static uint64_t others_wanted(const struct choose_texts *t, enum event_type type)
{
	if (type == EVENT_CSS_PARSING)
		return t->sheets;
	if (type == EVENT_SCRIPT_COMPILATION || type == EVENT_SCRIPT_THREAD_EVALUATION)
		return t->scripts;
	return 0;
}

static int choose_url(const struct call_log *log, const struct choose_texts *t, struct site_entry *e, struct frame_facts *facts)
{
	uint64_t others = others_wanted(t, log->site->probe->type);
	const struct candidate *url, *document;
	struct candidates all;

	if (collect(log, t, &all))
		return -ENOMEM;
	document = best(&all, t->documents, log, t);
	url = others ? best(&all, t->documents | others, log, t) : document;
	if (url && others && count(url->seen & others) < MIN_OTHERS)
		url = NULL;
	if (url) {
		add_argument(e, url->path, FIELD_URL, url->kind);
		note(e, "; URL right at %zu of %zu of them, for %d documents", url->right, log->nr_hits,
		     count(url->seen & t->documents));
		if (others)
			note(e, " and %d %s", count(url->seen & others), others == t->sheets ? "sheets" : "scripts");
	}
	*facts = (struct frame_facts){ .log = log };
	if (document) {
		facts->has_document = true;
		facts->document = document->path;
		facts->kind = document->kind;
	}
	free(all.c);
	return 0;
}

static bool is_about_documents(const struct call_log *log)
{
	return log->site->probe->type == EVENT_DOCUMENT_PARSING || log->site->probe->type == EVENT_STYLE_RECALCULATION;
}

int choose_paths(struct call_log *logs, size_t nr, const struct choose_texts *t, struct site_entry *ret)
{
	struct frame_facts *facts = calloc(nr + 1, sizeof(*facts));
	int rc = facts ? 0 : -ENOMEM;
	size_t styles = nr;

	for (size_t i = 0; i < nr && !rc; i++) {
		memset(&ret[i], 0, sizeof(ret[i]));
		ret[i].site = logs[i].site;
		note(&ret[i], "%zu of %llu looked into", logs[i].nr_hits, (unsigned long long)logs[i].calls);
		rc = choose_url(&logs[i], t, &ret[i], &facts[i]);
		/* styles are the document's own business: the URL found there stands in it */
		if (facts[i].has_document && logs[i].site->probe->type == EVENT_STYLE_RECALCULATION)
			styles = i;
	}
	if (!rc)
		rc = frame_find(facts, nr, styles, t);
	for (size_t i = 0; i < nr && !rc; i++) {
		if (facts[i].has_owner && is_about_documents(&logs[i]))
			add_argument(&ret[i], facts[i].owner, FIELD_DOCUMENT, KIND_INT);
		if (facts[i].has_frame) {
			add_argument(&ret[i], facts[i].frame, FIELD_FRAME, KIND_INT);
			note(&ret[i], "; frame right at %zu, for %zu documents", facts[i].calls, facts[i].documents);
		}
	}
	free(facts);
	return rc;
}
