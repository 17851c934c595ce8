// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Weighs the paths to texts by what they led to at all calls, and hands them and the frame's on as arguments. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "calibrate/candidates.h"
#include "calibrate/choose.h"
#include "calibrate/entry.h"
#include "calibrate/frame.h"
#include "calibrate/told.h"
#include "calibrate/wants.h"

#define MIN_TEXTS 3	/* that a path must have led to, */
#define MIN_PHASES 2	/* on so many pages */
#define LAST_STEP_MAX 0x400
#define MIN_OTHERS 2	/* sheets or scripts, where those are wanted */

static bool is_proven(const struct candidate *c, const struct call_log *log, const struct choose_texts *t)
{
	int phases = 0;

	/* one that is right now and then is right by chance, or of another kind of call */
	for (size_t i = 0; i < LOG_PHASES; i++)
		phases += (c->seen & t->of_phase[i]) != 0;
	return !c->wrong && !c->again && phases >= MIN_PHASES && bits_count(c->seen) >= MIN_TEXTS && c->right * 4 >= log->nr_hits * 3;
}

/* Of two that lead to the same. A step that most functions' URLs end with is read from the kind of object that always has
 * one; elsewhere, a copy may stand. */
static bool is_better(const struct candidate *a, const struct candidate *b, const struct call_log *log, int last_step)
{
	bool end_a = path_last(a->path) == last_step, end_b = path_last(b->path) == last_step;

	if (last_step >= 0 && end_a != end_b)
		return end_a;
	return path_is_better(a->path, b->path, log->stack_regs);
}

/* Where the ends of paths are known: one that is about more than documents if any is, and right most often. */
static const struct candidate *best_known(const struct candidates *all, uint64_t wanted, const struct call_log *log,
					  const struct choose_texts *t, int last_step)
{
	const struct candidate *ret = NULL;

	for (size_t i = 0; i < all->nr; i++) {
		const struct candidate *c = &all->c[i];
		bool more = bits_count(c->seen & ~t->documents) >= MIN_OTHERS, had = ret && bits_count(ret->seen & ~t->documents) >= MIN_OTHERS;

		if ((c->seen & ~wanted) || !is_proven(c, log, t))
			continue;
		if (!ret || more != had ? !ret || more : c->right != ret->right ? c->right > ret->right :
		    is_better(c, ret, log, last_step))
			ret = c;
	}
	return ret;
}

/* The best that leads to nothing but `wanted`: most different texts, then hardly fewer calls than any other, then the
 * likeliest way. NULL if none was right for enough documents. */
static const struct candidate *best(const struct candidates *all, uint64_t wanted, const struct call_log *log,
				    const struct choose_texts *t, int last_step)
{
	const struct candidate *ret = NULL;
	size_t most = 0, calls = 0;

	if (last_step >= 0)
		return best_known(all, wanted, log, t, last_step);

	for (int pass = 0; pass < 3; pass++) {
		for (size_t i = 0; i < all->nr; i++) {
			const struct candidate *c = &all->c[i];
			size_t nr = bits_count(c->seen);

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

/* Every page's, of each kind of sheet or script that was seen at all? Pages before the first one at which a search came upon
 * this way don't count. */
static bool is_complete(const struct candidate *c, uint64_t wanted, const struct call_log *log, const struct choose_texts *t)
{
	uint64_t all = 0, since = 0;
	int phases = 0;

	for (size_t i = 0; i < LOG_PHASES; i++) {
		if (since || (c->seen & t->of_phase[i]))
			since |= t->of_phase[i];
		phases += (c->seen & t->of_phase[i]) != 0;
	}
	for (size_t i = 0; i < CHOOSE_MAX_FILES; i++)
		all |= t->of_file[i] & c->seen ? t->of_file[i] & since : 0;
	/* it is right at few calls: nothing that lies before an object, or beside it on the stack, may have a part in it, and it must
	 * do no harm at the others */
	return phases >= MIN_PHASES && c->seen == all && !(all & ~wanted) && !c->wrong && !c->again &&
	       path_is_straight(c->path, log->stack_regs) && log_is_sure(log, c->path, c->kind);
}

/* The best of those that lead to nothing where the call is about something that has no URL of its own. */
static const struct candidate *best_complete(const struct candidates *all, uint64_t wanted, const struct call_log *log,
					     const struct choose_texts *t, int last_step)
{
	const struct candidate *ret = NULL;

	for (size_t i = 0; i < all->nr; i++) {
		const struct candidate *c = &all->c[i];
		int more = bits_count(c->seen) - (ret ? bits_count(ret->seen) : 0);

		if (is_complete(c, wanted, log, t) && (more > 0 || (!more && is_better(c, ret, log, last_step))))
			ret = c;
	}
	return ret;
}

/* Are they of one page, as far as pages can be told from each other? */
static bool of_one_page(const struct choose_texts *t, unsigned int a, unsigned int b)
{
	for (size_t i = 0; i < LOG_PHASES && t->doc_of[a] < 0 && t->doc_of[b] < 0; i++)
		if (t->of_phase[i] >> a & t->of_phase[i] >> b & 1)
			return true;
	return t->doc_of[a] >= 0 && t->doc_of[a] == t->doc_of[b];
}

static int text_by(const struct log_hit *hit, const struct candidate *c)
{
	for (size_t i = 0; i < hit->nr_texts; i++)
		if (hit->texts[i].path == c->path && hit->texts[i].kind == c->kind)
			return hit->texts[i].text;
	return -1;
}

/* Wherever a sheet or script is met, does the other way lead to the document that it is of? */
static bool is_document_of(const struct candidate *document, const struct candidate *own, const struct call_log *log,
			   const struct choose_texts *t)
{
	for (size_t i = 0; i < log->nr_hits; i++) {
		int file = text_by(&log->hits[i], own), doc = file < 0 ? -1 : text_by(&log->hits[i], document);

		if (file >= 0 && (doc < 0 || !of_one_page(t, file, doc)))
			return false;
	}
	return true;
}

uint64_t choose_others(const struct choose_texts *t, enum event_type type)
{
	if (type == EVENT_CSS_PARSING)
		return t->sheets;
	if (type == EVENT_SCRIPT_COMPILATION || type == EVENT_SCRIPT_THREAD_EVALUATION)
		return t->scripts;
	return 0;
}

static void take_url(const struct call_log *log, const struct choose_texts *t, const struct candidate *url, struct site_entry *e)
{
	uint64_t others = choose_others(t, log->site->probe->type);

	entry_add(e, url->path, FIELD_URL, url->kind);
	entry_note(e, "; URL right at %zu of %zu of them, for", url->right, log->nr_hits);
	if (url->seen & t->documents)
		entry_note(e, " %d documents%s%s", bits_count(url->seen & t->documents & ~t->blank), url->seen & t->blank ? " and about:blank" : "",
		     url->seen & others ? " and" : "");
	if (url->seen & others)
		entry_note(e, " %d %s", bits_count(url->seen & others), others == t->sheets ? "sheets" : "scripts");
}

static int choose_url(const struct call_log *log, const struct choose_texts *t, int last_step, struct site_entry *e,
		      struct frame_facts *facts)
{
	uint64_t others = choose_others(t, log->site->probe->type);
	const struct candidate *url, *document, *own = NULL;
	struct candidates all;

	*facts = (struct frame_facts){ .log = log };
	/* what is off and about an area is looked into for that alone: it lies in calls that know the document */
	if (log->site->probe->off && wants_area(log->site->probe))
		return 0;
	if (candidates_collect(log, t, &all))
		return -ENOMEM;
	document = best(&all, t->documents, log, t, last_step);
	url = others ? best(&all, t->documents | others, log, t, last_step) : document;
	if (others && (url ? bits_count(url->seen & others) < MIN_OTHERS : log->known_objects)) {
		/* what has a URL of its own shows that, anything else its document's */
		own = best_complete(&all, others, log, t, last_step);
		if (own)
			take_url(log, t, own, e);
		url = own && document && is_document_of(document, own, log, t) ? document : NULL;
		/* the browser calls it for itself, too: a document seems to be there, and has nothing to do with that */
		if (own && !url)
			document = own;
	}
	if (url)
		take_url(log, t, url, e);
	/* what has a URL of its own tells the document, too, and is right whatever way leads to that */
	if (url && (!document || url->right >= document->right))
		document = url;
	if (document) {
		facts->has_document = true;
		facts->document = document->path;
		facts->kind = document->kind;
	}
	candidates_free(&all);
	return 0;
}

/* How a last step fared: which documents it led to, at how many functions it was right, and how near it was. */
struct vote {
	uint64_t documents;	/* bits: texts */
	unsigned int functions, steps;
};

static bool is_more(const struct vote *a, const struct vote *b)
{
	if (bits_count(a->documents) != bits_count(b->documents))
		return bits_count(a->documents) > bits_count(b->documents);
	return a->functions != b->functions ? a->functions > b->functions : a->steps < b->steps;
}

static void vote(const struct call_log *log, const struct candidates *all, const struct choose_texts *t, struct vote *ret)
{
	struct vote own[LAST_STEP_MAX] = { 0 };

	for (size_t k = 0; k < all->nr; k++) {
		int step = path_last(all->c[k].path);
		struct vote v = { all->c[k].seen & t->documents, 1, path_steps(all->c[k].path) };

		if (step >= 0 && step < LAST_STEP_MAX && is_proven(&all->c[k], log, t) && is_more(&v, &own[step]))
			own[step] = v;
	}
	for (int i = 0; i < LAST_STEP_MAX; i++)
		ret[i] = (struct vote){ ret[i].documents | own[i].documents, ret[i].functions + own[i].functions,
					ret[i].steps + own[i].steps };
}

/* The last step of the paths to URLs that are right for most functions; -1 where no identities are known beforehand. */
static int find_last_step(const struct call_log *logs, size_t nr, const struct choose_texts *t)
{
	struct vote votes[LAST_STEP_MAX] = { 0 };
	int ret = -1;

	for (size_t i = 0; i < nr; i++) {
		struct candidates all;

		if (!logs[i].known_objects || candidates_collect(&logs[i], t, &all))
			continue;
		vote(&logs[i], &all, t, votes);
		candidates_free(&all);
	}
	for (int i = 0; i < LAST_STEP_MAX; i++)
		if (votes[i].functions && (ret < 0 || is_more(&votes[i], &votes[ret])))
			ret = i;
	/* some more functions may be reached by a detour */
	for (int i = 0, most = ret; i < LAST_STEP_MAX; i++)
		if (ret >= 0 && bits_count(votes[i].documents) == bits_count(votes[most].documents) &&
		    votes[i].functions * 4 >= votes[most].functions * 3 &&
		    votes[i].steps * votes[ret].functions < votes[ret].steps * votes[i].functions)
			ret = i;
	return ret;
}

static bool is_about_documents(const struct call_log *log)
{
	return log->site->probe->type == EVENT_DOCUMENT_PARSING || log->site->probe->type == EVENT_STYLE_RECALCULATION;
}

/* What a parser is given may know what is loaded; where nothing is, as for a fragment, the document itself tells its URL. The
 * way through it must have been right, too. */
static int choose_own_url(const struct frame_facts *f, const struct frame_facts *styles, const struct choose_texts *t,
			  struct site_entry *e)
{
	path_t path = path_step(f->owner, false, path_last(styles->document));
	struct candidates all;

	if (path_parent(styles->document) != styles->owner || path == f->document)
		return 0;
	if (candidates_collect(f->log, t, &all))
		return -ENOMEM;
	for (size_t i = 0; i < all.nr; i++) {
		if (all.c[i].path != path || all.c[i].kind != styles->kind || !is_proven(&all.c[i], f->log, t))
			continue;
		entry_add(e, path, FIELD_URL, styles->kind);
		entry_note(e, "; by the document right at %zu", all.c[i].right);
	}
	candidates_free(&all);
	return 0;
}

/* Functions that make or end frames and documents are given the object itself. */
static bool choose_object(const struct call_log *log, struct site_entry *e)
{
	int field = objects_field(log->site->probe->role);

	if (field)
		entry_add(e, 0, field, KIND_INT);
	return field;
}

int choose_paths(struct call_log *logs, size_t nr, const struct choose_texts *t, struct site_entry *ret)
{
	struct frame_facts *facts = calloc(nr + 1, sizeof(*facts));
	int rc = facts ? 0 : -ENOMEM;
	int last_step = find_last_step(logs, nr, t);
	size_t styles = nr;

	for (size_t i = 0; i < nr && !rc; i++) {
		memset(&ret[i], 0, sizeof(ret[i]));
		ret[i].site = logs[i].site;
		entry_note(&ret[i], "%zu of %llu looked into", logs[i].nr_hits, (unsigned long long)logs[i].calls);
		rc = choose_url(&logs[i], t, last_step, &ret[i], &facts[i]);
		/* styles are the document's own business: the URL found there stands in it */
		if (facts[i].has_document && logs[i].site->probe->type == EVENT_STYLE_RECALCULATION)
			styles = i;
	}
	if (!rc)
		rc = frame_find(facts, nr, styles, t);
	for (size_t i = 0; i < nr && !rc; i++) {
		if (choose_object(&logs[i], &ret[i]))
			continue;
		if (facts[i].has_owner && is_about_documents(&logs[i]))
			entry_add(&ret[i], facts[i].owner, FIELD_DOCUMENT, KIND_INT);
		if (facts[i].has_owner && facts[i].has_document && logs[i].site->probe->type == EVENT_DOCUMENT_PARSING &&
		    styles < nr && facts[styles].has_owner)
			rc = choose_own_url(&facts[i], &facts[styles], t, &ret[i]);
		if (facts[i].has_frame) {
			entry_add(&ret[i], facts[i].frame, FIELD_FRAME, KIND_INT);
			entry_note(&ret[i], "; frame right at %zu, for %zu documents", facts[i].calls, facts[i].documents);
		}
		rc = rc ?: told_name(&logs[i], t, &ret[i]);
	}
	if (!rc)
		rc = told_areas(facts, nr, t, ret);
	free(facts);
	return rc;
}
