// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Finds Blink's function for a matched rule by how often it is called, and the way from its arguments to the selector. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/vec.h"
#include "calibrate/layout.h"
#include "calibrate/rules.h"
#include "calibrate/selectors.h"
#include "target/anchors.h"

#define REACH 0x10000u		/* bytes before and behind the anchor's function: what was compiled together stands together */
#define MAX_FOUND 8		/* functions that are called as often as wanted */
#define MAX_WAYS 16		/* and ways from their arguments to names of the rules */
#define MAX_STEPS 2		/* from a register to the rule */
#define STEP_REACH 0x40		/* bytes of an object that such a step is looked for in */
#define ARRAY_REACH 0x80	/* and of a rule that its selectors are */

/* A way from a register to a rule's simple selectors. */
struct way {
	uint8_t function, reg, nr_steps;
	bool on_stack;
	struct arg_step steps[MAX_STEPS];
	int array;
};

/* How often it led to each of the known rules; those with an index of 0 only, which can be told without knowing more. */
struct tally {
	struct way way;
	unsigned int calls[64];
};

struct look {
	const struct selector_browser *b;
	struct snoop *snoop;
	struct tally *tallies;
	size_t nr, cap;
	struct way chosen[MAX_WAYS];	/* the best first; none: all are tried */
	struct seen_rules seen[MAX_WAYS];
	size_t nr_chosen;
	uint64_t cage;
	bool no_memory;
};

static int by_distance(const void *a, const void *b, void *from)
{
	uint64_t f = *(uint64_t *)from, x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	uint64_t dx = x > f ? x - f : f - x, dy = y > f ? y - f : f - y;

	return dx < dy ? -1 : dx > dy;
}

/* What looks like a function's start around `from`, the nearest first: file offsets. */
static size_t find_starts(const struct image *img, uint64_t from, uint64_t *ret, size_t max)
{
	uint64_t starts[2 * REACH / SCAN_GRID];
	size_t nr = 0, used = 0;

	for (uint64_t a = (from - REACH) & ~(uint64_t)(SCAN_GRID - 1); a < from + REACH; a += SCAN_GRID)
		if (function_starts_at(img, a))
			starts[nr++] = a;
	qsort_r(starts, nr, sizeof(*starts), by_distance, &from);
	for (size_t i = 0; i < nr && used < max; i++)
		if (image_offset_of(img, starts[i], &ret[used]))
			used++;
	return used;
}

/* The function that the anchor leads to; 0: none, or several. */
static uint64_t anchored(const struct image *img, const char *text)
{
	struct anchor_finder *finder;
	const struct anchor_set *set;
	struct anchor anchor;
	uint64_t start = 0;
	struct error err;

	if (anchor_parse(text, &anchor, &err) || anchor_finder_new(img, &anchor, 1, &finder, &err))
		return 0;
	set = anchor_finder_set(finder, 0);
	if (set->nr == 1)
		start = set->matches[0].function.start;
	anchor_finder_free(finder);
	return start;
}

/* Do these counts differ as they must wherever only rules and vain rules do? */
static bool fits_loads(const uint64_t *calls)
{
	for (size_t i = 1; i < nr_rule_loads; i++) {
		const struct rule_load *a = &rule_loads[i - 1], *b = &rule_loads[i];

		if (a->elements == b->elements && calls[i] - calls[i - 1] != (uint64_t)b->elements * (b->rules - a->rules))
			return false;
	}
	return true;
}

/* Which of the functions are called once per matched rule: indices. 0 or -errno. */
static int count_calls(const struct selector_browser *b, struct snoop *snoop, size_t nr, size_t *ret, size_t *ret_nr)
{
	uint64_t *calls = calloc(nr * nr_rule_loads + 1, sizeof(*calls));
	char script[768];
	int rc = calls ? 0 : -ENOMEM;

	for (size_t i = 0; i < nr_rule_loads && !rc; i++) {
		for (size_t f = 0; f < nr; f++)
			calls[f * nr_rule_loads + i] = -snoop_calls(snoop, f);
		rule_load_script(&rule_loads[i], script, sizeof(script));
		if (!b->run(b->arg, script))
			rc = -EIO;
		for (size_t f = 0; f < nr && !rc; f++)
			calls[f * nr_rule_loads + i] += snoop_calls(snoop, f);
	}
	*ret_nr = 0;
	for (size_t f = 0; f < nr && !rc; f++)
		if (fits_loads(&calls[f * nr_rule_loads]) && *ret_nr < MAX_FOUND)
			ret[(*ret_nr)++] = f;
	free(calls);
	return rc;
}

/* --- from the arguments to a rule --- */

static bool take_step(const struct look *l, uint64_t at, const struct arg_step *step, uint64_t *ret)
{
	int32_t half;

	if (step->op != STEP_CAGE)
		return memory_read(l->b->memory, at + step->off, ret, 8) && memory_mapped(l->b->memory, *ret);
	if (!l->cage || !memory_read(l->b->memory, at + step->off, &half, 4) || !half)
		return false;
	*ret = memory_decompress(l->cage, half);
	return memory_mapped(l->b->memory, *ret);
}

static void count_way(struct look *l, const struct way *w, size_t rule)
{
	struct tally *t;

	for (size_t i = 0; i < l->nr; i++)
		if (!memcmp(&l->tallies[i].way, w, sizeof(*w))) {
			l->tallies[i].calls[rule]++;
			return;
		}
	if (vec_grow(&l->tallies, l->nr, &l->cap, sizeof(*l->tallies))) {
		l->no_memory = true;
		return;
	}
	t = &l->tallies[l->nr++];
	memset(t, 0, sizeof(*t));
	t->way = *w;
	t->calls[rule]++;
}

/* A rule's first name, where it stands in the first simple selector by itself. */
static const char *first_name(const struct known_rule *k)
{
	return !k->listed && k->parts[0].name && !strncmp(k->parts[0].name, RULE_KEY, strlen(RULE_KEY)) ? k->parts[0].name : NULL;
}

/* Are there simple selectors of a known rule in the object at `at`? */
static void look_for_names(struct look *l, struct way *w, uint64_t at)
{
	for (w->array = 0; w->array < (int)ARRAY_REACH; w->array += 8) {
		char text[SEEN_NAME];
		uint64_t part[2];

		if (!memory_read(l->b->memory, at + w->array, part, sizeof(part)) ||
		    !seen_text(l->b->memory, part[1], text) || strncmp(text, RULE_KEY, strlen(RULE_KEY)))
			continue;
		/* the elements' names are the same, but relations only rules have */
		for (size_t i = 0; i < nr_known_rules; i++)
			if (first_name(&known_rules[i]) && !strcmp(first_name(&known_rules[i]), text) &&
			    SELECTOR_RELATION(part[0]) == known_rules[i].parts[0].relation)
				count_way(l, w, i);
	}
}

static void look_from(struct look *l, struct way *w, uint64_t at)
{
	struct arg_step *step = &w->steps[w->nr_steps];
	uint64_t next;

	look_for_names(l, w, at);
	if (w->nr_steps == MAX_STEPS)
		return;
	w->nr_steps++;
	for (int off = 0; off < STEP_REACH; off += 4)
		for (int caged = off % 8 != 0; caged < 2; caged++) {
			*step = (struct arg_step){ .op = caged ? STEP_CAGE : STEP_LOAD64, .off = off };
			if (take_step(l, at, step, &next))
				look_from(l, w, next);
		}
	*step = (struct arg_step){ 0 };
	w->nr_steps--;
}

/* The rule's selectors, and what referred to it. */
static bool follow(const struct look *l, const struct way *w, const uint64_t *regs, uint64_t *ret_near, uint64_t *ret_array)
{
	uint64_t at = regs[w->reg];

	*ret_near = at;
	for (int i = 0; i < w->nr_steps; i++) {
		*ret_near = at;
		if (!take_step(l, at, &w->steps[i], &at))
			return false;
	}
	*ret_array = at + w->array;
	return true;
}

static void on_hit(void *arg, const struct snoop_hit *hit)
{
	struct look *l = arg;
	const uint64_t *regs = (const uint64_t *)hit->regs;
	uint64_t near, array;

	if (memory_begin(l->b->memory, hit->tgid))
		return;
	l->cage = memory_cage(l->b->memory, l->b->cage);
	for (size_t i = 0; i < l->nr_chosen; i++)
		if (l->chosen[i].function == hit->site && follow(l, &l->chosen[i], regs, &near, &array))
			seen_add(&l->seen[i], l->b->memory, near, array);
	for (int reg = 0; reg < NR_ARG_REGS && !l->nr_chosen; reg++) {
		struct way w;

		memset(&w, 0, sizeof(w));
		w.function = hit->site;
		w.reg = reg;
		w.on_stack = regs[reg] - regs[l->b->stack_reg] < STACK_BYTES;
		if (memory_mapped(l->b->memory, regs[reg]))
			look_from(l, &w, regs[reg]);
	}
}

static bool is_right(const struct tally *t)
{
	for (size_t i = 0; i < nr_known_rules; i++)
		if (first_name(&known_rules[i]) && known_rules[i].elements && t->calls[i] != known_rules[i].elements)
			return false;
	return true;
}

/* Few steps, not from the stack, from an early register, not far into the rule. */
static int by_doubts(const void *a, const void *b)
{
	const struct way *x = a, *y = b;
	int doubts = 4 * (x->nr_steps + 2 * x->on_stack) + x->reg - 4 * (y->nr_steps + 2 * y->on_stack) - y->reg;

	if (doubts)
		return doubts;
	return x->function != y->function ? x->function - y->function : x->array - y->array;
}

/* One more page of known rules, at each of whose calls of these functions the process is looked at. */
static int look(struct look *l, const size_t *functions, size_t nr)
{
	int rc = 0;

	for (size_t i = 0; i < nr; i++)
		snoop_budget_of(l->snoop, functions[i], INT32_MAX);
	if (!l->b->run(l->b->arg, known_rules_script))
		rc = -EIO;
	snoop_budget(l->snoop, 0);
	return rc ?: l->no_memory ? -ENOMEM : 0;
}

/* --- what becomes of it --- */

static void add_key(struct site_entry *e, const struct way *w)
{
	struct arg_spec *a = &e->args[e->nr_args++];

	*a = (struct arg_spec){ .field = FIELD_KEY, .kind = KIND_INT, .reg = w->reg };
	for (int i = 0; i + 1 < w->nr_steps; i++)
		a->steps[a->nr_steps++] = w->steps[i];
}

static void add_selector(struct site_entry *e, const struct way *w, int64_t layout, const struct index_place *index)
{
	struct arg_spec *a = &e->args[e->nr_args++];
	struct arg_step *s;

	*a = (struct arg_spec){ .field = FIELD_SELECTOR, .kind = KIND_BLINK_SELECTOR, .reg = w->reg, .len_reg = w->reg,
				.aux = layout };
	for (int i = 0; i < w->nr_steps; i++)
		a->steps[a->nr_steps++] = w->steps[i];
	a->steps[a->nr_steps++] = (struct arg_step){ .op = STEP_ADD, .off = w->array };
	s = a->len_steps;
	for (int i = 0; i + 1 < w->nr_steps; i++)
		*s++ = w->steps[i];
	*s++ = (struct arg_step){ .op = STEP_LOADU32, .off = index->off };
	if (index->shift)
		*s++ = (struct arg_step){ .op = STEP_SHR, .off = index->shift };
	*s++ = (struct arg_step){ .op = STEP_AND, .off = (1 << index->bits) - 1 };
	a->nr_len_steps = s - a->len_steps;
}

static int not_found(struct site_entry *ret, const char *why)
{
	snprintf(ret->evidence, sizeof(ret->evidence), "%s", why);
	return -ENOENT;
}

/* Those ways that led to each rule's first name at as many calls as elements have it. */
static int choose_ways(struct look *l, const size_t *functions, size_t nr)
{
	struct way *right;
	size_t nr_right = 0;
	int rc = look(l, functions, nr);

	right = calloc(l->nr + 1, sizeof(*right));
	if (!rc && !right)
		rc = -ENOMEM;
	for (size_t i = 0; i < l->nr && !rc; i++)
		if (is_right(&l->tallies[i]))
			right[nr_right++] = l->tallies[i].way;
	if (nr_right)
		qsort(right, nr_right, sizeof(*right), by_doubts);
	for (size_t i = 0; i < nr_right && i < MAX_WAYS && !rc; i++) {
		l->chosen[i] = right[i];
		l->seen[i].v = calloc(SEEN_MAX, sizeof(*l->seen[i].v));
		if (!l->seen[i].v)
			rc = -ENOMEM;
		l->nr_chosen++;
	}
	free(right);
	return rc;
}

/* The first way by which all that is known of the rules reads right. */
static int learn(struct look *l, const size_t *functions, size_t nr, struct site_entry *ret, size_t *ret_function)
{
	const char *why = "no function's arguments lead to the rule that was matched";
	struct index_place index;
	int64_t layout;
	int rc = l->nr_chosen ? look(l, functions, nr) : 0;

	if (rc)
		return rc;
	for (size_t i = 0; i < l->nr_chosen; i++) {
		if (!layout_learn(&l->seen[i], &layout, &index, &why))
			continue;
		add_key(ret, &l->chosen[i]);
		add_selector(ret, &l->chosen[i], layout, &index);
		*ret_function = l->chosen[i].function;
		return 0;
	}
	return not_found(ret, why);
}

int selectors_find(const struct selector_browser *b, const struct engine_probe *probe, struct site *site,
		   struct site_entry *ret)
{
	uint64_t starts[SNOOP_MAX_SITES], from = anchored(b->image, probe->near);
	size_t found[MAX_FOUND], nr_starts, nr = 0, function;
	struct look l = { .b = b };
	int rc;

	memset(ret, 0, sizeof(*ret));
	ret->site = site;
	if (!from)
		return not_found(ret, "what it must stand near is not found, either");
	nr_starts = find_starts(b->image, from, starts, SNOOP_MAX_SITES);
	rc = b->attach(b->arg, starts, nr_starts, on_hit, &l, &l.snoop);
	if (!rc)
		rc = count_calls(b, l.snoop, nr_starts, found, &nr);
	if (!rc && !nr)
		rc = not_found(ret, "no function is called once for each rule that an element matches");
	if (!rc)
		rc = choose_ways(&l, found, nr) ?: learn(&l, found, nr, ret, &function);
	if (!rc) {
		site->offset = starts[function];
		image_vaddr_of(b->image, site->offset, &site->vaddr);
		snprintf(ret->evidence, sizeof(ret->evidence), "%zu of %zu functions near \"%s\" called once per matched rule on "
			 "%zu pages; %zu selectors read right, once per element", nr, nr_starts, probe->near, nr_rule_loads,
			 nr_known_rules);
	}
	for (size_t i = 0; i < l.nr_chosen; i++)
		free(l.seen[i].v);
	free(l.tallies);
	return rc;
}
