// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Walks the objects that a call's registers lead to, level by level, and notes the ways to what is looked for. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/vec.h"
#include "calibrate/search.h"

#define WINDOW_ABOVE 0x400
#define STACK_OBJECT 0x80
#define WINDOW (WINDOW_BELOW + WINDOW_ABOVE)
#define MAX_NODES 400000	/* of one level */
#define BASE_STEPS 3
#define DOCUMENT_WAYS 4	/* from one register to one document that are gone on with */
#define MAX_TEXT 256
#define PLAUSIBLE_TEXT 32	/* characters that have to be some */
#define WTF_BLINK_CHARS 12	/* into a StringImpl of Blink */
#define MAX_NAME 24	/* of an event that a browser has by itself */

struct node {
	path_t path;
	uint64_t addr;
	bool caged;	/* all its steps are compressed pointers */
};

struct level {
	struct node *n;
	size_t nr, cap;
};

int found_add_text(struct found *f, path_t path, uint16_t text, uint8_t kind)
{
	if (vec_grow(&f->texts, f->nr_texts, &f->cap_texts, sizeof(*f->texts)))
		return -ENOMEM;
	f->texts[f->nr_texts++] = (struct found_text){ path, text, kind };
	return 0;
}

int found_add_value(struct found *f, path_t path, uint64_t value, uint8_t field)
{
	if (vec_grow(&f->values, f->nr_values, &f->cap_values, sizeof(*f->values)))
		return -ENOMEM;
	f->values[f->nr_values++] = (struct found_value){ path, value, field };
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
	return v ? memory_decompress(s->cage, v) : 0;
}

static bool is_looked_for(const struct subject *s, size_t text)
{
	return s->names || !(s->known->names >> text & 1);
}

/* The known text that a WebKit StringImpl of 8-bit characters at v is; -1. Its characters may stand elsewhere, those of
 * constants where nothing is written. */
static int webkit_text_at(const struct subject *s, uint64_t v)
{
	struct { uint32_t references, length; uint64_t data; } impl;
	char text[MAX_TEXT] = "";

	if (!memory_read(s->memory, v, &impl, sizeof(impl)) || impl.length >= MAX_TEXT)
		return -1;
	for (size_t i = 0; i < s->known->nr; i++) {
		if (strlen(s->known->text[i]) != impl.length || !is_looked_for(s, i))
			continue;
		if (!text[0] && !memory_read_any(s->memory, impl.data, text, impl.length))
			return -1;
		if (!memcmp(text, s->known->text[i], impl.length))
			return i;
	}
	return -1;
}

/* Which known text stands at v, and as what; -1. */
static int text_at(const struct subject *s, uint64_t v, uint8_t *ret_kind)
{
	uint32_t length = 0;
	char text[MAX_TEXT];
	size_t n;

	*ret_kind = s->known->kind;
	if (s->known->kind == KIND_WTF_WEBKIT)
		return webkit_text_at(s, v);
	if (!memory_read(s->memory, v, text, 16))
		return -1;
	if (!memcmp(text, "http", 4)) {
		*ret_kind = KIND_CSTR;
		n = MAX_TEXT;
	} else {
		*ret_kind = KIND_WTF_BLINK;
		memcpy(&length, text + 4, sizeof(length));
		if (length >= MAX_TEXT || (memcmp(text + WTF_BLINK_CHARS, "http", 4) && !(s->names && length <= MAX_NAME)))
			return -1;
		n = length;
		v += WTF_BLINK_CHARS;
	}
	memory_window(s->memory, v, text, n);
	for (size_t i = 0; i < s->known->nr; i++) {
		size_t size = strlen(s->known->text[i]);

		if (!is_looked_for(s, i))
			continue;
		if (*ret_kind == KIND_CSTR ? !memcmp(text, s->known->text[i], size + 1) :
		    size == n && !memcmp(text, s->known->text[i], size))
			return i;
	}
	return -1;
}

int known_area(const struct known *k, const void *at)
{
	struct area a;

	memcpy(&a, at, sizeof(a));
	for (size_t i = 0; i < k->nr_areas; i++)
		if (a.w == k->area[i].w && a.h == k->area[i].h && a.x == k->area[i].x && a.y == k->area[i].y)
			return k->nr + i;
	return -1;
}

/* False: a step can't be read, is null or no pointer; *ret_v is that, or what stands at the end. */
static bool follow(const struct subject *s, path_t p, uint64_t *ret_v)
{
	*ret_v = s->regs[p & 31];
	for (size_t i = 0; i < path_steps(p); i++) {
		uint64_t at = *ret_v;
		bool caged;
		int off = path_step_at(p, i, &caged);
		int32_t half = 0;

		*ret_v = UINT64_MAX;
		if (caged ? !memory_read(s->memory, at + off, &half, 4) : !memory_read(s->memory, at + off, ret_v, 8))
			return false;
		if (caged)
			*ret_v = decompress(s, half);
		if (!is_pointer(s, *ret_v))
			return false;
	}
	return true;
}

/* Does a text begin here that may be a URL? */
static bool is_text(const struct subject *s, uint64_t v, uint8_t kind)
{
	struct { uint32_t references, length; uint64_t data; } impl = { 0, PLAUSIBLE_TEXT, 0 };
	char text[PLAUSIBLE_TEXT] = "";

	if (kind != KIND_CSTR && !memory_read(s->memory, v, &impl, sizeof(impl)))
		return false;
	if (impl.length > PLAUSIBLE_TEXT)
		impl.length = PLAUSIBLE_TEXT;
	v = kind == KIND_WTF_WEBKIT ? impl.data : kind == KIND_WTF_BLINK ? v + WTF_BLINK_CHARS : v;
	if (impl.length && (kind == KIND_CSTR ? !memory_window(s->memory, v, text, impl.length) :
			    !memory_read_any(s->memory, v, text, impl.length)))
		return false;
	for (size_t i = 0; i < impl.length && (text[i] || kind != KIND_CSTR); i++)
		if (text[i] < ' ' || text[i] > '~')
			return false;
	return true;
}

/* Is v the identity of something? What has to be added to it, and which field it is of. */
static bool identity_at(const struct subject *s, uint64_t v, int *ret_add, int *ret_field)
{
	uint64_t object, word = 0;

	*ret_add = *ret_field = 0;
	if (!s->objects)
		return in_cage(s, v);
	*ret_field = memory_read(s->memory, v, &word, sizeof(word)) ? objects_class(s->objects, word) : 0;
	if (*ret_field)
		return true;
	object = objects_at(s->objects, v, ret_field);
	*ret_add = (int)(int64_t)(object - v);
	return object;
}

bool path_identity(const struct subject *s, path_t p, uint64_t *ret)
{
	int add, field;

	if (!follow(s, p, ret))
		return false;
	*ret += path_added(p);
	return !s->objects || (identity_at(s, *ret, &add, &field) && !add);
}

int path_text(const struct subject *s, path_t p, uint8_t kind)
{
	uint8_t got = 0;
	struct area a;
	uint64_t v;
	int text;

	if (!follow(s, p, &v))
		return v ? PATH_WRONG : PATH_OTHER;
	if (kind == KIND_INT) {
		text = memory_read(s->memory, v + path_added(p), &a, sizeof(a)) ? known_area(s->known, &a) : -1;
		return text >= 0 ? text : PATH_OTHER;
	}
	text = text_at(s, v, &got);
	if (text >= 0 && got == kind)
		return text;
	return is_text(s, v, kind) ? PATH_OTHER : PATH_WRONG;
}

static int level_add(struct level *l, path_t path, uint64_t addr, bool caged)
{
	if (l->nr >= MAX_NODES)
		return 0;
	if (vec_grow(&l->n, l->nr, &l->cap, sizeof(*l->n)))
		return -ENOMEM;
	l->n[l->nr++] = (struct node){ path, addr, caged };
	return 0;
}

/* One way on: notes a text or an identity there, and the object for the next level. */
static int arrive(const struct subject *s, path_t path, uint64_t v, bool caged, bool text, bool values, struct level *next,
		  struct found *ret)
{
	uint8_t kind = 0;
	int known = text ? text_at(s, v, &kind) : -1;
	int rc = 0, add, field;

	if (known >= 0)
		return found_add_text(ret, path, known, kind);
	if (values && identity_at(s, v, &add, &field))
		rc = found_add_value(ret, path_add(path, add), v + add, field);
	return rc || !next ? rc : level_add(next, path, v, caged);
}

/* Everything that one object points to. Where pointers between objects of the cage are compressed, a plain one into it is
 * what happens to be on a stack or in a handle: no identity is read from there. */
static int expand(const struct subject *s, const struct node *n, bool values, struct level *next, struct found *ret)
{
	/* what an argument points to there hardly is larger; around it is what callers have, and the same after every call */
	bool stack = n->addr - s->stack < STACK_BYTES;
	int first = stack ? WINDOW_BELOW : 0, size = WINDOW_BELOW + (stack ? STACK_OBJECT : WINDOW_ABOVE);
	uint8_t window[WINDOW];
	int rc = 0;

	if (!memory_window(s->memory, n->addr - WINDOW_BELOW, window, WINDOW))
		return 0;
	for (int at = first; at + 8 <= size && !rc; at += 4) {
		int off = at - WINDOW_BELOW;
		uint64_t v;
		int32_t half;

		memcpy(&v, window + at, 8);
		memcpy(&half, window + at, 4);
		/* no object of known kinds leads to a stack, but what callers have left there does to everything */
		if ((n->addr + off) % 8 == 0 && is_pointer(s, v) && !(s->objects && v - s->stack < STACK_BYTES))
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

/* Adds what one object's words led to, to the ways to that object. */
static int join(const struct subject *s, const struct node *way, const struct found *one, bool values, struct found *ret)
{
	bool caged;
	int off, rc = 0;

	for (size_t t = 0; t < one->nr_texts && !rc; t++) {
		off = path_step_at(one->texts[t].path, 0, &caged);
		rc = found_add_text(ret, path_step(way->path, caged, off), one->texts[t].text, one->texts[t].kind);
	}
	for (size_t t = 0; values && t < one->nr_values && !rc; t++) {
		path_t path = one->values[t].path;

		off = path_step_at(path, 0, &caged);
		if (s->objects || (way->caged && caged))
			rc = found_add_value(ret, path_add(path_step(way->path, caged, off), path_added(path)), one->values[t].value,
					     one->values[t].field);
	}
	return rc;
}

static bool is_document(const struct subject *s, uint64_t v)
{
	int add, field;

	return s->objects && identity_at(s, v, &add, &field) && !add && field == FIELD_DOCUMENT;
}

static int by_way(const void *a, const void *b)
{
	const struct node *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	if ((x->path & 31) != (y->path & 31))
		return (x->path & 31) < (y->path & 31) ? -1 : 1;
	return x->path == y->path ? 0 : path_is_better(x->path, y->path, 0) ? -1 : 1;
}

/* Of several ways from a register to an object, leaves the likeliest ones. */
static void thin_out(struct level *l, size_t keep)
{
	size_t nr = 0;

	if (l->nr)
		qsort(l->n, l->nr, sizeof(*l->n), by_way);
	for (size_t i = 0; i < l->nr; i++)
		if (nr < keep || l->n[nr - keep].addr != l->n[i].addr || (l->n[nr - keep].path & 31) != (l->n[i].path & 31))
			l->n[nr++] = l->n[i];
	l->nr = nr;
}

static int by_reach(const void *a, const void *b)
{
	const struct node *x = a, *y = b;
	unsigned int reach_x = path_reach(x->path), reach_y = path_reach(y->path);

	if (reach_x != reach_y)
		return reach_x < reach_y ? -1 : 1;
	return x->path < y->path ? -1 : x->path > y->path;
}

/* The likeliest ways first: what is behind them may not have room for all. */
static void put_near_first(struct level *l)
{
	if (l->nr)
		qsort(l->n, l->nr, sizeof(*l->n), by_reach);
}

/* Ways to documents among what one object's words led to. */
static int join_documents(const struct node *way, const struct found *one, struct level *ret)
{
	int rc = 0;

	for (size_t t = 0; t < one->nr_values && !rc; t++) {
		path_t path = one->values[t].path;
		bool caged;
		int off = path_step_at(path, 0, &caged);

		if (one->values[t].field == FIELD_DOCUMENT && !path_added(path))
			rc = level_add(ret, path_step(way->path, false, off), one->values[t].value, false);
	}
	return rc;
}

/* The last level: each object is looked at once, whatever the number of ways to it. Documents go to `documents`, if not NULL. */
static int expand_last(const struct subject *s, struct level *l, bool values, struct level *documents, struct found *ret)
{
	struct found one = { 0 };
	int rc = 0;

	if (l->nr)
		qsort(l->n, l->nr, sizeof(*l->n), by_address);
	for (size_t i = 0, k; i < l->nr && !rc; i = k) {
		struct node n = { .path = 0, .addr = l->n[i].addr, .caged = true };
		bool wanted = s->objects && documents;

		for (k = i; k < l->nr && l->n[k].addr == n.addr; k++)
			wanted |= values && (s->objects || l->n[k].caged);
		one.nr_texts = one.nr_values = 0;
		rc = expand(s, &n, wanted, NULL, &one);
		for (size_t w = i; w < k && !rc; w++) {
			if (documents)
				rc = join_documents(&l->n[w], &one, documents);
			if (!rc)
				rc = join(s, &l->n[w], &one, values, ret);
		}
	}
	found_free(&one);
	return rc;
}

/* The level behind the usual last one: of documents, or `all`. What is found on the way was found before. */
static int expand_beyond(const struct subject *s, const struct level *l, bool all, struct level *beyond)
{
	struct found seen = { 0 };
	int rc = 0;

	for (size_t i = 0; i < l->nr && !rc; i++) {
		if (all || is_document(s, l->n[i].addr))
			rc = expand(s, &l->n[i], false, beyond, &seen);
		seen.nr_texts = 0;
	}
	found_free(&seen);
	return rc;
}

int search_all(const struct subject *s, bool values, bool deep, struct found *ret)
{
	struct level levels[BASE_STEPS] = { 0 }, documents = { 0 }, beyond = { 0 }, far = { 0 };
	int rc = 0;

	memset(ret, 0, sizeof(*ret));
	for (size_t r = 0; r < s->nr_regs && !rc; r++)
		if (is_pointer(s, s->regs[r]))
			rc = arrive(s, r, s->regs[r], true, true, values, &levels[0], ret);
	for (int d = 0; d + 1 < BASE_STEPS; d++)
		for (size_t i = 0; i < levels[d].nr && !rc; i++)
			rc = expand(s, &levels[d].n[i], values, &levels[d + 1], ret);
	if (deep) {
		thin_out(&levels[BASE_STEPS - 1], 1);
		put_near_first(&levels[BASE_STEPS - 1]);
	}
	if (!rc && (s->objects || deep))
		rc = expand_beyond(s, &levels[BASE_STEPS - 1], deep, &beyond);
	if (!rc)
		rc = expand_last(s, &levels[BASE_STEPS - 1], values, &documents, ret);
	thin_out(&documents, DOCUMENT_WAYS);
	if (!rc)
		rc = expand_beyond(s, &documents, false, &far);
	if (!rc)
		rc = expand_last(s, &beyond, values, NULL, ret);
	if (!rc)
		rc = expand_last(s, &far, values, NULL, ret);
	for (int d = 0; d < BASE_STEPS; d++)
		free(levels[d].n);
	free(documents.n);
	free(beyond.n);
	free(far.n);
	if (rc)
		found_free(ret);
	return rc;
}
