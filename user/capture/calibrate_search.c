// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Walks the objects that a call's registers lead to, level by level, and notes the ways to what is looked for. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "capture/calibrate_search.h"

#define WINDOW_BELOW 0x40	/* bytes before and behind an object's address that are looked at */
#define WINDOW_ABOVE 0x400
#define WINDOW (WINDOW_BELOW + WINDOW_ABOVE)
#define MAX_NODES 400000	/* of one level */
#define CAGE_SHIFT 3
#define STEP_BITS 12
#define MAX_TEXT 256

struct node {
	path_t path;
	uint64_t addr;
	bool caged;	/* all its steps are compressed pointers */
};

struct level {
	struct node *n;
	size_t nr, cap;
};

static path_t path_step(path_t p, bool caged, int off)
{
	size_t nr = path_steps(p);
	uint64_t step = (uint64_t)(off + WINDOW_BELOW) / 4 << 1 | caged;

	return ((p & ~0xe0ull) | (uint64_t)(nr + 1) << 5) | step << (8 + STEP_BITS * nr);
}

size_t path_steps(path_t p)
{
	return p >> 5 & 7;
}

static int step_of(path_t p, size_t i, bool *ret_caged)
{
	uint64_t step = p >> (8 + STEP_BITS * i) & ((1 << STEP_BITS) - 1);

	*ret_caged = step & 1;
	return (int)(step >> 1) * 4 - WINDOW_BELOW;
}

path_t path_parent(path_t p)
{
	size_t nr = path_steps(p);

	if (!nr)
		return p;
	p &= (1ull << (8 + STEP_BITS * (nr - 1))) - 1;
	return (p & ~0xe0ull) | (uint64_t)(nr - 1) << 5;
}

/* What speaks against a path, and in *ret_reach the sum of its offsets, their signs left aside. */
static unsigned int path_doubts(path_t p, uint32_t stack_regs, unsigned int *ret_reach)
{
	unsigned int doubts = path_steps(p) + (p & 31) + (stack_regs >> (p & 31) & 1 ? 3 : 0);
	bool caged;

	*ret_reach = 0;
	for (size_t i = 0; i < path_steps(p); i++) {
		int off = step_of(p, i, &caged);

		*ret_reach += abs(off);
		doubts += off < 0;
	}
	return doubts;
}

bool path_is_better(path_t a, path_t b, uint32_t stack_regs)
{
	unsigned int reach_a, reach_b, doubts_a = path_doubts(a, stack_regs, &reach_a);
	unsigned int doubts_b = path_doubts(b, stack_regs, &reach_b);

	if (doubts_a != doubts_b)
		return doubts_a < doubts_b;
	if (reach_a != reach_b)
		return reach_a < reach_b;
	return a < b;
}

void path_spec(path_t p, uint8_t field, uint8_t kind, struct arg_spec *ret)
{
	bool caged;

	memset(ret, 0, sizeof(*ret));
	ret->field = field;
	ret->kind = kind;
	ret->reg = p & 31;
	ret->nr_steps = path_steps(p);
	for (size_t i = 0; i < ret->nr_steps; i++) {
		ret->steps[i].off = step_of(p, i, &caged);
		ret->steps[i].op = caged ? STEP_CAGE : STEP_LOAD64;
	}
}

int found_add_text(struct found *f, path_t path, uint16_t text, uint8_t kind)
{
	if (f->nr_texts == f->cap_texts) {
		struct found_text *bigger = realloc(f->texts, (2 * f->cap_texts + 64) * sizeof(*bigger));

		if (!bigger)
			return -ENOMEM;
		f->texts = bigger;
		f->cap_texts = 2 * f->cap_texts + 64;
	}
	f->texts[f->nr_texts++] = (struct found_text){ path, text, kind };
	return 0;
}

int found_add_value(struct found *f, path_t path, uint64_t value)
{
	if (f->nr_values == f->cap_values) {
		struct found_value *bigger = realloc(f->values, (2 * f->cap_values + 1024) * sizeof(*bigger));

		if (!bigger)
			return -ENOMEM;
		f->values = bigger;
		f->cap_values = 2 * f->cap_values + 1024;
	}
	f->values[f->nr_values++] = (struct found_value){ path, value };
	return 0;
}

void found_free(struct found *f)
{
	free(f->texts);
	free(f->values);
	memset(f, 0, sizeof(*f));
}

static bool is_pointer(const struct subject *s, uint64_t v)
{
	return v >= 0x10000 && !(v >> 47) && !(v % 4) && memory_mapped(s->memory, v);
}

static bool in_cage(const struct subject *s, uint64_t v)
{
	/* the base's low bits are all set: with them, an address of the cage is the base */
	return s->cage && (v | (s->cage & ~(s->cage + 1))) == s->cage;
}

static uint64_t decompress(const struct subject *s, int32_t v)
{
	return v ? (uint64_t)((int64_t)v * (1 << CAGE_SHIFT)) & s->cage : 0;
}

/* Which known text stands at v, and as what; -1. */
static int text_at(const struct subject *s, uint64_t v, uint8_t *ret_kind)
{
	uint32_t length = 0;
	char text[MAX_TEXT];
	size_t n;

	if (!memory_read(s->memory, v, text, 16))
		return -1;
	if (!memcmp(text, "http", 4)) {
		*ret_kind = KIND_CSTR;
		n = MAX_TEXT;
	} else if (!memcmp(text + 12, "http", 4)) {
		*ret_kind = KIND_WTF_BLINK;
		memcpy(&length, text + 4, sizeof(length));
		if (length >= MAX_TEXT)
			return -1;
		n = length;
		v += 12;
	} else {
		return -1;
	}
	memory_window(s->memory, v, text, n);
	for (size_t i = 0; i < s->known->nr; i++) {
		size_t size = strlen(s->known->text[i]);

		if (*ret_kind == KIND_CSTR ? !memcmp(text, s->known->text[i], size + 1) :
		    size == n && !memcmp(text, s->known->text[i], size))
			return i;
	}
	return -1;
}

bool path_follow(const struct subject *s, path_t p, uint64_t *ret)
{
	uint64_t v = s->regs[p & 31];

	for (size_t i = 0; i < path_steps(p); i++) {
		bool caged;
		int off = step_of(p, i, &caged);
		int32_t half = 0;

		if (caged ? !memory_read(s->memory, v + off, &half, 4) : !memory_read(s->memory, v + off, &v, 8))
			return false;
		if (caged)
			v = decompress(s, half);
		if (!is_pointer(s, v))
			return false;
	}
	*ret = v;
	return true;
}

int path_text(const struct subject *s, path_t p, uint8_t kind)
{
	uint8_t got = 0;
	uint64_t v;
	int text = path_follow(s, p, &v) ? text_at(s, v, &got) : -1;

	return got == kind ? text : -1;
}

static int level_add(struct level *l, path_t path, uint64_t addr, bool caged)
{
	if (l->nr >= MAX_NODES)
		return 0;
	if (l->nr == l->cap) {
		struct node *bigger = realloc(l->n, (2 * l->cap + 1024) * sizeof(*bigger));

		if (!bigger)
			return -ENOMEM;
		l->n = bigger;
		l->cap = 2 * l->cap + 1024;
	}
	l->n[l->nr++] = (struct node){ path, addr, caged };
	return 0;
}

/* One way on: notes a text or an identity there, and the object for the next level. */
static int arrive(const struct subject *s, path_t path, uint64_t v, bool caged, bool text, bool values, struct level *next,
		  struct found *ret)
{
	uint8_t kind = 0;
	int known = text ? text_at(s, v, &kind) : -1;
	int rc = 0;

	if (known >= 0)
		return found_add_text(ret, path, known, kind);
	if (values && in_cage(s, v))
		rc = found_add_value(ret, path, v);
	return rc || !next ? rc : level_add(next, path, v, caged);
}

/* Everything that one object points to. Where pointers between objects of the cage are compressed, a plain one into it is
 * what happens to be on a stack or in a handle: no identity is read from there. */
static int expand(const struct subject *s, const struct node *n, bool values, struct level *next, struct found *ret)
{
	uint8_t window[WINDOW];
	int rc = 0;

	if (!memory_window(s->memory, n->addr - WINDOW_BELOW, window, WINDOW))
		return 0;
	for (int at = 0; at + 8 <= WINDOW && !rc; at += 4) {
		int off = at - WINDOW_BELOW;
		uint64_t v;
		int32_t half;

		memcpy(&v, window + at, 8);
		memcpy(&half, window + at, 4);
		if ((n->addr + off) % 8 == 0 && is_pointer(s, v))
			rc = arrive(s, path_step(n->path, false, off), v, false, true, values && !s->cage, next, ret);
		v = s->cage ? decompress(s, half) : 0;
		if (!rc && v && is_pointer(s, v))
			rc = arrive(s, path_step(n->path, true, off), v, n->caged, false, values, next, ret);
	}
	return rc;
}

static int by_address(const void *a, const void *b)
{
	const struct node *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

/* The last level: each object is looked at once, whatever the number of ways to it. */
static int expand_last(const struct subject *s, struct level *l, bool values, struct found *ret)
{
	struct found one = { 0 };
	int rc = 0;

	if (l->nr)
		qsort(l->n, l->nr, sizeof(*l->n), by_address);
	for (size_t i = 0, k; i < l->nr && !rc; i = k) {
		struct node n = { .path = 0, .addr = l->n[i].addr, .caged = true };
		bool wanted = false;

		for (k = i; k < l->nr && l->n[k].addr == n.addr; k++)
			wanted |= values && l->n[k].caged;
		one.nr_texts = one.nr_values = 0;
		rc = expand(s, &n, wanted, NULL, &one);
		for (size_t w = i; w < k && !rc; w++) {
			for (size_t t = 0; t < one.nr_texts && !rc; t++) {
				bool caged;
				int off = step_of(one.texts[t].path, 0, &caged);

				rc = found_add_text(ret, path_step(l->n[w].path, caged, off), one.texts[t].text, one.texts[t].kind);
			}
			for (size_t t = 0; t < one.nr_values && !rc && l->n[w].caged; t++) {
				bool caged;
				int off = step_of(one.values[t].path, 0, &caged);

				if (caged)
					rc = found_add_value(ret, path_step(l->n[w].path, true, off), one.values[t].value);
			}
		}
	}
	found_free(&one);
	return rc;
}

int search_all(const struct subject *s, bool values, struct found *ret)
{
	struct level levels[PATH_MAX_STEPS] = { 0 };
	int rc = 0;

	memset(ret, 0, sizeof(*ret));
	for (size_t r = 0; r < s->nr_regs && !rc; r++)
		if (is_pointer(s, s->regs[r]))
			rc = arrive(s, r, s->regs[r], true, true, values, &levels[0], ret);
	for (int d = 0; d + 1 < PATH_MAX_STEPS; d++)
		for (size_t i = 0; i < levels[d].nr && !rc; i++)
			rc = expand(s, &levels[d].n[i], values, &levels[d + 1], ret);
	if (!rc)
		rc = expand_last(s, &levels[PATH_MAX_STEPS - 1], values, ret);
	for (int d = 0; d < PATH_MAX_STEPS; d++)
		free(levels[d].n);
	if (rc)
		found_free(ret);
	return rc;
}
