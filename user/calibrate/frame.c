// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Compares the pointers seen at all functions' calls, by the document that each call is about. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/vec.h"
#include "calibrate/choose.h"
#include "calibrate/frame.h"

#define MIN_FUNCTIONS 2	/* that must agree on it */
#define MIN_DOCUMENTS 2	/* of them shown at the same time */
#define FRAME_STEPS 2	/* that lead from a document to its frame */

/* An object that one path leads to for each document; 0: that document wasn't met. */
struct identity {
	uint64_t of_doc[CHOOSE_MAX_DOCS];
	path_t path;
	uint8_t field;	/* FIELD_FRAME, FIELD_DOCUMENT, or 0: any */
	size_t probe;	/* index of the function */
};

struct identities {
	struct identity *i;
	size_t nr, cap;
};

/* Which of the documents shown together a call is about, or -1. */
static int document_of(const struct frame_facts *f, const struct log_hit *hit, const struct choose_texts *t)
{
	for (size_t i = 0; f->has_document && i < hit->nr_texts; i++)
		if (hit->texts[i].path == f->document && hit->texts[i].kind == f->kind)
			return t->doc_of[hit->texts[i].text];
	return -1;
}

/* The objects at the end of one path; false if a document had two, or two documents one. */
static bool read_identity(const struct frame_facts *f, const struct choose_texts *t, const int *docs, size_t path,
			  struct identity *ret)
{
	memset(ret, 0, sizeof(*ret));
	for (size_t h = 0; h < f->log->nr_hits; h++) {
		const struct log_hit *hit = &f->log->hits[h];

		if (path >= hit->nr_values || docs[h] < 0)
			continue;
		if (!hit->values[path] || (ret->of_doc[docs[h]] && ret->of_doc[docs[h]] != hit->values[path]))
			return false;
		ret->of_doc[docs[h]] = hit->values[path];
	}
	for (size_t a = 0; a < t->nr_docs; a++)
		for (size_t b = 0; b < a; b++)
			if (ret->of_doc[a] && ret->of_doc[a] == ret->of_doc[b])
				return false;
	ret->path = f->log->paths[path];
	ret->field = f->log->path_fields[path];
	return true;
}

static int add_identity(struct identities *l, const struct identity *i)
{
	if (vec_grow(&l->i, l->nr, &l->cap, sizeof(*l->i)))
		return -ENOMEM;
	l->i[l->nr++] = *i;
	return 0;
}

static int collect(const struct frame_facts *f, size_t probe, const struct choose_texts *t, struct identities *ret)
{
	int docs[LOG_MAX_HITS], rc = 0;
	bool any = false;

	for (size_t h = 0; h < f->log->nr_hits; h++) {
		docs[h] = f->log->hits[h].values ? document_of(f, &f->log->hits[h], t) : -1;
		any |= docs[h] >= 0;
	}
	for (size_t p = 0; any && p < f->log->nr_paths && !rc; p++) {
		struct identity i;

		if (!read_identity(f, t, docs, p, &i))
			continue;
		i.probe = probe;
		rc = add_identity(ret, &i);
	}
	return rc;
}

static size_t nr_docs(const struct identity *i)
{
	size_t nr = 0;

	for (size_t d = 0; d < CHOOSE_MAX_DOCS; d++)
		nr += i->of_doc[d] != 0;
	return nr;
}

/* Same objects together, then by function, the shortest path first. */
static int by_objects(const void *a, const void *b)
{
	const struct identity *x = a, *y = b;
	int rc = memcmp(x->of_doc, y->of_doc, sizeof(x->of_doc));

	if (rc)
		return rc;
	if (x->field != y->field)
		return x->field < y->field ? -1 : 1;
	if (x->probe != y->probe)
		return x->probe < y->probe ? -1 : 1;
	return x->path == y->path ? 0 : path_is_better(x->path, y->path, 0) ? -1 : 1;
}

/* The objects that most functions lead to; of several such, those with the shortest ways. Only where all documents were. */
static const struct identity *most_shared(const struct identities *all, const struct choose_texts *t, uint8_t field)
{
	const struct identity *ret = NULL;
	size_t most = MIN_FUNCTIONS, steps = 0;

	for (size_t i = 0, k; i < all->nr; i = k) {
		size_t probes = 0, way = 0;

		for (k = i; k < all->nr && !memcmp(all->i[k].of_doc, all->i[i].of_doc, sizeof(all->i[i].of_doc)); k++) {
			if (k > i && all->i[k].probe == all->i[k - 1].probe)
				continue;
			probes++;
			way += 1 + path_steps(all->i[k].path);
		}
		if ((all->i[i].field && all->i[i].field != field) || nr_docs(&all->i[i]) < t->nr_docs || probes < most || (ret && probes == most && way >= steps))
			continue;
		ret = &all->i[i];
		most = probes;
		steps = way;
	}
	return ret;
}

static bool agrees(const struct identity *i, const struct identity *frame)
{
	if (i->field != frame->field)
		return false;
	for (size_t d = 0; d < CHOOSE_MAX_DOCS; d++)
		if (i->of_doc[d] && i->of_doc[d] != frame->of_doc[d])
			return false;
	return nr_docs(i) > 0;
}

static void take_frame(struct frame_facts *f, const struct identity *i, const struct choose_texts *t)
{
	f->has_frame = true;
	f->frame = i->path;
	f->documents = nr_docs(i);
	f->calls = 0;
	for (size_t h = 0; h < f->log->nr_hits; h++)
		f->calls += f->log->hits[h].values && document_of(f, &f->log->hits[h], t) >= 0;
}

/* Those that are right for several documents need no other proof. */
static void take_proven(struct frame_facts *facts, const struct identities *all, const struct identity *frame,
			const struct choose_texts *t)
{
	for (size_t i = 0; i < all->nr; i++) {
		struct frame_facts *f = &facts[all->i[i].probe];
		size_t docs = nr_docs(&all->i[i]);

		if (docs >= MIN_DOCUMENTS && agrees(&all->i[i], frame) &&
		    (!f->has_frame || docs > f->documents ||
		     (docs == f->documents && path_is_better(all->i[i].path, f->frame, f->log->stack_regs))))
			take_frame(f, &all->i[i], t);
	}
}

/* The same way, or where frames are known: at least its end, from the document to the frame. */
static bool is_as_elsewhere(path_t path, bool known, const struct frame_facts *facts, size_t nr)
{
	for (size_t k = 0; k < nr; k++)
		if (facts[k].has_frame && facts[k].documents >= MIN_DOCUMENTS &&
		    (facts[k].frame == path || (known && path_ends_alike(facts[k].frame, path, FRAME_STEPS))))
			return true;
	return false;
}

/* Does it pass through the document whose URL the function's calls lead to? */
static bool is_by_document(const struct frame_facts *f, path_t path)
{
	size_t nr = path_steps(path);

	return nr >= FRAME_STEPS && path_begins(f->document, path, nr - FRAME_STEPS);
}

/* One document proves little: what leads from it to its frame elsewhere has to do so here, too. Of several such ways, the
 * likeliest; any other may be one of chance, however short it is. */
static void take_alike(struct frame_facts *facts, size_t nr, const struct identities *all, const struct identity *frame,
		       const struct choose_texts *t)
{
	for (size_t i = 0; i < all->nr; i++) {
		struct frame_facts *f = &facts[all->i[i].probe];
		path_t path = all->i[i].path;
		bool by = is_by_document(f, path), had = f->has_frame && is_by_document(f, f->frame);

		if ((f->has_frame && f->documents >= MIN_DOCUMENTS) || !agrees(&all->i[i], frame) ||
		    !is_as_elsewhere(path, frame->field, facts, nr))
			continue;
		if (!f->has_frame || (by != had ? by : path_is_better(path, f->frame, f->log->stack_regs)))
			take_frame(f, &all->i[i], t);
	}
}

/* Whose URL it is: a known document, else the object that the reference's path to it ends at; and the ways to it of all. */
static void find_owners(struct frame_facts *facts, size_t reference, const struct identities *all, const struct choose_texts *t)
{
	const struct identity *owner = most_shared(all, t, FIELD_DOCUMENT);

	if (owner && !owner->field)
		owner = NULL;
	for (size_t i = 0; i < all->nr && !(owner && owner->field); i++)
		if (all->i[i].probe == reference && path_steps(facts[reference].document) &&
		    all->i[i].path == path_parent(facts[reference].document))
			owner = &all->i[i];
	for (size_t i = 0; owner && i < all->nr; i++) {
		struct frame_facts *f = &facts[all->i[i].probe];

		if (nr_docs(&all->i[i]) < MIN_DOCUMENTS || !agrees(&all->i[i], owner))
			continue;
		if (!f->has_owner || path_is_better(all->i[i].path, f->owner, f->log->stack_regs))
			f->owner = all->i[i].path;
		f->has_owner = true;
	}
}

int frame_find(struct frame_facts *facts, size_t nr, size_t reference, const struct choose_texts *t)
{
	struct identities all = { 0 };
	const struct identity *frame;
	int rc = 0;

	for (size_t i = 0; i < nr && !rc; i++)
		rc = collect(&facts[i], i, t, &all);
	if (!rc && all.nr) {
		qsort(all.i, all.nr, sizeof(*all.i), by_objects);
		frame = most_shared(&all, t, FIELD_FRAME);
		if (frame) {
			take_proven(facts, &all, frame, t);
			take_alike(facts, nr, &all, frame, t);
		}
		find_owners(facts, reference, &all, t);
	}
	free(all.i);
	return rc;
}
