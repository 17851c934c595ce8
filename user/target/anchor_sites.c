// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* From what anchors mean to sites: all anchors of a probe must agree, and so must its calls of other probes. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "target/cage.h"
#include "target/climb.h"
#include "target/site_list.h"

#define MAX_CANDIDATES 256	/* functions that a probe's anchors mean before its calls are looked at */
#define MAX_SITES 8		/* those that remain, which hits are to tell apart; more are no finding */
#define SMALL_FUNCTION 0x400	/* bytes of a function that a call is looked for through */

/* What is known of one probe on the way. */
struct lead {
	const struct engine_probe *probe;
	size_t first;			/* index of its first anchor; fallbacks follow */
	size_t from, to;		/* which of them count, relative to first */
	struct anchor_match found[MAX_CANDIDATES];
	size_t nr;
	bool many;			/* more than that */
	bool wanted;
	bool absent[2 * ENGINE_MAX_NAMES];	/* anchors whose text this build doesn't have */
	char reason[256];
	char calls[96], callers[96];	/* probes that it was seen to call, and to be called by, as text */
	char within[96];		/* probes whose functions the compiler put into this one, or this one into */
};

struct leads {
	struct lead *v;
	size_t nr;
	struct anchor *anchors;
	size_t nr_anchors;
	const struct anchor_finder *finder;
};

static const char *anchor_text(const struct engine_probe *p, size_t k)
{
	return k < p->nr_anchors ? p->anchors[k] : p->fallbacks[k - p->nr_anchors];
}

static int collect_anchors(struct leads *l, const struct engine *engine, const struct site_list *list,
			   struct error *err)
{
	size_t max = 0;

	for (size_t i = 0; i < engine->nr_probes; i++)
		max += engine->probes[i].nr_anchors + engine->probes[i].nr_fallbacks;
	l->anchors = calloc(max + 1, sizeof(*l->anchors));
	l->v = calloc(engine->nr_probes + 1, sizeof(*l->v));
	if (!l->anchors || !l->v)
		return error_set(err, ERR_OTHER, -ENOMEM, "out of memory");
	l->nr = engine->nr_probes;
	for (size_t i = 0; i < l->nr; i++) {
		struct lead *lead = &l->v[i];

		lead->probe = &engine->probes[i];
		lead->first = l->nr_anchors;
		lead->wanted = !site_list_has(list, lead->probe);
		lead->to = lead->probe->nr_anchors;
		for (size_t k = 0; lead->wanted && k < lead->to + lead->probe->nr_fallbacks; k++) {
			int rc = anchor_parse(anchor_text(lead->probe, k), &l->anchors[l->nr_anchors++], err);

			if (rc) {
				error_prefix(err, "%s: [%s] anchor '%s'", engine->path ? engine->path : engine->name,
					     lead->probe->name, anchor_text(lead->probe, k));
				return rc;
			}
		}
	}
	return 0;
}

static void explain_empty(struct lead *lead, const char *anchor, const struct anchor_set *set)
{
	if (set->no_string)
		snprintf(lead->reason, sizeof(lead->reason), "the text of anchor '%s' isn't in this build", anchor);
	else if (set->no_reference)
		snprintf(lead->reason, sizeof(lead->reason), "no code refers to the text of anchor '%s'", anchor);
	else if (set->no_function)
		snprintf(lead->reason, sizeof(lead->reason), "what refers to the text of anchor '%s' can't be told to belong to a function",
			 anchor);
	else
		snprintf(lead->reason, sizeof(lead->reason), "anchor '%s' leads to no function", anchor);
}

/* Texts come and go with the versions of an engine. One that is gone says nothing, as long as others remain; all that are
 * there must agree. Returns the first that counts, or lead->to. */
static size_t sort_out_absent(const struct leads *l, struct lead *lead)
{
	size_t first = lead->to;

	for (size_t k = lead->to; k-- > lead->from;) {
		const struct anchor_set *set = anchor_finder_set(l->finder, lead->first + k);

		lead->absent[k] = !set->nr && (set->no_string || set->no_reference);
		if (!lead->absent[k])
			first = k;
	}
	return first;
}

/* The first anchor that counts; where none of them is in this build, the fallbacks are what counts. */
static size_t first_anchor(const struct leads *l, struct lead *lead)
{
	const struct engine_probe *p = lead->probe;
	size_t first = sort_out_absent(l, lead);

	if (first == lead->to && p->nr_fallbacks) {
		lead->from = p->nr_anchors;
		lead->to = p->nr_anchors + p->nr_fallbacks;
		first = sort_out_absent(l, lead);
	}
	return first;
}

/* An anchor that is there and leads nowhere, or an absent one where all are; lead->to: none. */
static size_t find_empty(const struct leads *l, const struct lead *lead, size_t first)
{
	size_t k;

	for (k = lead->from; k < lead->to; k++)
		if (!anchor_finder_set(l->finder, lead->first + k)->nr && (!lead->absent[k] || first == lead->to))
			break;
	return k;
}

/* As `probes` shows places: the offset in the file. */
static unsigned long long shown(const struct leads *l, const struct anchor_match *m)
{
	uint64_t offset;

	return image_offset_of(anchor_finder_map(l->finder)->image, m->function.start, &offset) ? offset : 0;
}

/* Keeps the functions that every anchor means. */
static void intersect(const struct leads *l, struct lead *lead)
{
	size_t start = first_anchor(l, lead), other = start, empty = find_empty(l, lead, start);
	const struct anchor_set *first;

	if (!lead->probe->nr_anchors)
		return;
	if (empty < lead->to) {
		explain_empty(lead, anchor_text(lead->probe, empty), anchor_finder_set(l->finder, lead->first + empty));
		return;
	}
	first = anchor_finder_set(l->finder, lead->first + start);
	for (size_t i = 0; i < first->nr; i++) {
		const struct anchor_match *m = &first->matches[i];
		bool all = true;

		for (size_t k = start + 1; k < lead->to && all; k++) {
			all = lead->absent[k] ||
			      anchor_set_find(anchor_finder_set(l->finder, lead->first + k), m->function.start);
			other = all ? other : k;
		}
		if (!all)
			continue;
		if (lead->nr == MAX_CANDIDATES)
			lead->many = true;
		else
			lead->found[lead->nr++] = *m;
	}
	if (!lead->nr)
		snprintf(lead->reason, sizeof(lead->reason), "its anchors lead to different functions: '%.64s' to 0x%llx, '%.64s' to 0x%llx",
			 anchor_text(lead->probe, start), shown(l, &first->matches[0]), anchor_text(lead->probe, other),
			 shown(l, &anchor_finder_set(l->finder, lead->first + other)->matches[0]));
}

struct call_search {
	const struct code_map *map;
	const struct lead *callee;
	const struct function *f;
	bool *hit;		/* by the callee's candidate */
	int depth;
};

static bool look_for_call(void *ctx, uint64_t vaddr, const struct insn *insn)
{
	struct call_search *s = ctx;
	struct function fn;

	(void)vaddr;
	if ((insn->cls != INSN_CALL && insn->cls != INSN_JUMP) ||
	    (insn->target >= s->f->start && insn->target < s->f->end))
		return true;
	for (size_t i = 0; i < s->callee->nr; i++)
		s->hit[i] |= s->callee->found[i].function.start == insn->target;
	if (!s->depth && function_at(s->map, insn->target, &fn) && fn.start == insn->target &&
	    fn.end - fn.start <= SMALL_FUNCTION) {
		struct call_search deeper = *s;

		deeper.depth = 1;
		deeper.f = &fn;
		function_walk(s->map, &fn, look_for_call, &deeper);
	}
	return true;
}

static void drop(struct lead *lead, const bool *keep)
{
	size_t n = 0;

	for (size_t i = 0; i < lead->nr; i++)
		if (keep[i])
			lead->found[n++] = lead->found[i];
	lead->nr = n;
}

static void append_name(char *list, size_t size, const char *name)
{
	size_t used = strlen(list);

	snprintf(list + used, size - used, "%s%s", used ? ", " : "", name);
}

/* Which of the candidates call which of the callee's; `inlined`: which are both. False: none. */
static bool see_calls(const struct leads *l, const struct lead *lead, const struct lead *callee, bool inlined, bool *keep, bool *called)
{
	bool any = false;

	for (size_t i = 0; i < lead->nr; i++) {
		bool hit[MAX_CANDIDATES] = { false };
		struct call_search s = { .map = anchor_finder_map(l->finder), .callee = callee,
					 .f = &lead->found[i].function, .hit = hit };

		if (!inlined)
			function_walk(s.map, s.f, look_for_call, &s);
		for (size_t k = 0; k < callee->nr; k++) {
			hit[k] |= inlined && callee->found[k].function.start == lead->found[i].function.start;
			keep[i] |= hit[k];
			called[k] |= hit[k];
		}
		any |= keep[i];
	}
	return any;
}

/* Keeps the candidates that call one of the callee's, and of the callee's those that are called. Where none does, a callee
 * that was inlined is called: its anchors lead to the caller itself. */
static void check_call(const struct leads *l, struct lead *lead, struct lead *callee)
{
	bool keep[MAX_CANDIDATES] = { false }, called[MAX_CANDIDATES] = { false };
	bool any = see_calls(l, lead, callee, false, keep, called) || see_calls(l, lead, callee, true, keep, called);

	if (!any) {
		snprintf(lead->reason, sizeof(lead->reason), "the function that its anchors lead to, 0x%llx, does not call that of [%s]",
			 shown(l, &lead->found[0]), callee->probe->name);
		lead->nr = 0;
		return;
	}
	drop(lead, keep);
	drop(callee, called);
	append_name(lead->calls, sizeof(lead->calls), callee->probe->name);
	append_name(callee->callers, sizeof(callee->callers), lead->probe->name);
}

/* One function can't be two probes. It is its own rather than what was inlined into it, unless only that is wanted. */
static void settle_inlined(const struct leads *l, struct lead *caller, struct lead *callee)
{
	struct lead *loser = caller->probe->off && !callee->probe->off ? caller : callee;
	struct lead *winner = loser == caller ? callee : caller;
	bool keep[MAX_CANDIDATES], any = false;

	(void)l;
	for (size_t i = 0; i < loser->nr; i++) {
		keep[i] = true;
		for (size_t k = 0; k < winner->nr; k++)
			keep[i] &= loser->found[i].function.start != winner->found[k].function.start;
		any |= !keep[i];
	}
	if (any)
		append_name(winner->within, sizeof(winner->within), loser->probe->name);
	drop(loser, keep);
	if (!loser->nr)
		snprintf(loser->reason, sizeof(loser->reason), "in this build it is one function with [%s]", winner->probe->name);
}

/* For each pair of which the definition says that one calls the other, and both were found. */
static void for_each_call(const struct leads *l, void (*look)(const struct leads *l, struct lead *caller, struct lead *callee))
{
	for (size_t i = 0; i < l->nr; i++)
		for (size_t c = 0; c < l->v[i].probe->nr_calls; c++)
			for (size_t k = 0; k < l->nr; k++)
				if (!strcmp(l->v[k].probe->name, l->v[i].probe->calls[c]) && l->v[i].nr && l->v[k].nr)
					look(l, &l->v[i], &l->v[k]);
}

static void refuse_many(struct lead *lead)
{
	if (!lead->many && lead->nr <= MAX_SITES)
		return;
	snprintf(lead->reason, sizeof(lead->reason), "its anchors mean more than %d functions", MAX_SITES);
	lead->nr = 0;
}

/* No symbol told its name, so it is what the definition says: of its names the first that is no pattern, else its own. */
static const char *defined_name(const struct engine_probe *p)
{
	for (size_t i = 0; i < p->nr_functions; i++)
		if (!strpbrk(p->functions[i], "*?"))
			return p->functions[i];
	return p->name;
}

static void write_evidence(const struct leads *l, const struct lead *lead, const struct anchor_match *m,
			   struct site *s)
{
	const struct anchor *a = &l->anchors[lead->first];
	size_t n = 0, cap = sizeof(s->evidence);

	snprintf(s->function, sizeof(s->function), "%s", defined_name(lead->probe));
	for (size_t k = lead->from; k < lead->to && n < cap; k++)
		for (size_t t = 0; t < a[k].nr_terms && n < cap; t++)
			if (!a[k].terms[t].negated && !lead->absent[k])
				n += snprintf(s->evidence + n, cap - n, "%s\"%s\"", n ? ", " : "", a[k].terms[t].text);
	if (n < cap)
		n += snprintf(s->evidence + n, cap - n, "%s", lead->nr > 1 ? "; one of several candidates" : "; only match");
	if (n < cap && m->helpers)
		n += snprintf(s->evidence + n, cap - n, "; %u reporting function%s climbed", m->helpers,
			      m->helpers > 1 ? "s" : "");
	if (n < cap && m->cold)
		n += snprintf(s->evidence + n, cap - n, "; through its cold part");
	if (n < cap && lead->within[0])
		n += snprintf(s->evidence + n, cap - n, "; one function with %s", lead->within);
	if (n < cap && lead->calls[0])
		n += snprintf(s->evidence + n, cap - n, "; calls %s", lead->calls);
	if (n < cap && lead->callers[0])
		n += snprintf(s->evidence + n, cap - n, "; called by %s", lead->callers);
	if (n < cap)
		snprintf(s->evidence + n, cap - n, "; start: %s; decoded up to the reference",
			 function_proof_name(m->function.proof));
}

static int emit(struct site_search *search, const struct leads *l, size_t i)
{
	const struct lead *lead = &l->v[i];
	char *reason = search->reasons[i];

	if (!lead->probe->nr_anchors)
		return 0;	/* what the symbols say stands */
	if (!lead->nr)
		snprintf(reason, SITE_REASON_MAX, "%s", lead->reason);
	for (size_t k = 0; k < lead->nr; k++) {
		struct site *s = site_list_add(search->list, lead->probe);

		if (!s)
			return -ENOMEM;
		if (!site_describe_code(anchor_finder_map(l->finder), &lead->found[k].function, s)) {
			search->list->nr--;
			snprintf(reason, SITE_REASON_MAX, "the kernel can't put a probe on the first instruction at 0x%llx",
				 shown(l, &lead->found[k]));
			continue;
		}
		s->source = SITE_ANCHOR;
		write_evidence(l, lead, &lead->found[k], s);
	}
	return 0;
}

/* The cage that the functions found agree on, for those of them that came from anchors. */
static void find_cage(const struct site_search *search, const struct leads *l)
{
	struct cage_votes *votes = cage_votes_new();
	uint64_t cage;

	if (!votes)
		return;
	for (size_t i = 0; i < l->nr; i++)
		for (size_t k = 0; k < l->v[i].nr; k++)
			cage_votes_add(votes, anchor_finder_map(l->finder), &l->v[i].found[k].function);
	cage = cage_votes_winner(votes, search->image);
	cage_votes_free(votes);
	for (size_t i = 0; i < search->list->nr; i++)
		if (search->list->sites[i].source == SITE_ANCHOR)
			search->list->sites[i].cage = cage;
}

int sites_from_anchors(struct site_search *search, struct error *err)
{
	struct anchor_finder *finder = NULL;
	struct leads l = { 0 };
	int rc;

	rc = collect_anchors(&l, search->engine, search->list, err);
	if (!rc && l.nr_anchors) {
		rc = anchor_finder_new(search->image, l.anchors, l.nr_anchors, &finder, err);
		l.finder = finder;
		for (size_t i = 0; i < l.nr && !rc; i++)
			if (l.v[i].wanted)
				intersect(&l, &l.v[i]);
		if (!rc) {
			for_each_call(&l, check_call);
			for_each_call(&l, settle_inlined);
		}
		for (size_t i = 0; i < l.nr; i++)
			refuse_many(&l.v[i]);
		for (size_t i = 0; i < l.nr && !rc; i++)
			if (l.v[i].wanted && emit(search, &l, i))
				rc = error_set(err, ERR_OTHER, -ENOMEM, "out of memory");
		if (!rc)
			find_cage(search, &l);
		anchor_finder_free(finder);
	}
	free(l.anchors);
	free(l.v);
	return rc;
}
