/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Selectors of libcss, NetSurf's style engine: a compound is { compound *left; rule *rule; u32 specificity; simple selectors },
 * where each simple one says whether another follows, and the first how the compound relates to the one at its left. The
 * text is what the engine keeps, written as CSSOM does, but without namespaces; what can't be read of it is "...".
 */
#ifndef FRAMESCOPE_LIBCSS_BPF_H
#define FRAMESCOPE_LIBCSS_BPF_H

/* A part of args.bpf.h, like selector.bpf.h, whose walk it shares. */

#define LIBCSS_SIMPLE 24	/* offset of a compound's first simple selector */
#define LIBCSS_SIMPLE_BYTES 32	/* a namespace, and what is read of it */
#define LIBCSS_MAX_SIMPLE 32	/* of all compounds, that are put down */

enum libcss_type {	/* css_selector_type; behind an attribute its operators */
	LIBCSS_ELEMENT, LIBCSS_CLASS, LIBCSS_ID, LIBCSS_PSEUDO_CLASS, LIBCSS_PSEUDO_ELEMENT, LIBCSS_ATTRIBUTE, LIBCSS_EQUAL,
	LIBCSS_LAST = LIBCSS_EQUAL + 5,
};

struct libcss_simple {
	__u64 name;		/* lwc_string * */
	__u64 value;		/* the same, or the numbers a and b of an+b */
	__u32 bits, pad;	/* type: 0-3, relation: 4-6, another follows, value is an+b, negated */
};
_Static_assert(sizeof(struct libcss_simple) <= sizeof(((struct thread *)0)->words), "read_small() reads it");

#define LIBCSS_TYPE(bits) ((bits) & 15)
#define LIBCSS_RELATION(bits) ((bits) >> 4 & 7)	/* enum selector_relation */
#define LIBCSS_NEXT(bits) ((bits) >> 7 & 1)
#define LIBCSS_NTH(bits) ((bits) >> 8 & 1)
#define LIBCSS_NEGATED(bits) ((bits) >> 9 & 1)

/* An interned string: its length at 16, its characters from 40 on. */
static __always_inline void libcss_string(struct selector_walk *w, __u64 p)
{
	__u64 n = 0;

	if (!read_small(w->t, w->a, &n, sizeof(n), p + 16) || n > SELECTOR_MAX_NAME || !selector_chars(w, p + 40, n))
		selector_dots(w);
}

static __always_inline bool libcss_is_universal(struct selector_walk *w, __u64 p)
{
	__u64 n = 0;
	char c = 0;

	return read_small(w->t, w->a, &n, sizeof(n), p + 16) && n == 1 && read_small(w->t, w->a, &c, 1, p + 40) && c == '*';
}

/* A function, for the stack's sake: 512 bytes for all that call each other. */
static __noinline int libcss_number(struct selector_walk *w, __s32 n)
{
	__u32 rest = n < 0 ? -(__u32)n : n;
	bool any = false;

	if (n < 0)
		selector_put(w, '-');
	/* unrolled: the verifier follows no division, so it would see no end */
#pragma unroll
	for (__u32 power = 1000000000; power; power /= 10) {
		__u32 digit = rest / power;

		rest -= digit * power;
		any |= digit || power == 1;
		if (any)
			selector_put(w, '0' + digit);
	}
	return 0;
}

/* an+b, which also "odd" and "even" have become. */
static __always_inline void libcss_nth(struct selector_walk *w, __u64 value)
{
	__s32 a = value, b = value >> 32;

	if (a == -1)
		selector_put(w, '-');
	else if (a && a != 1)
		libcss_number(w, a);
	if (a)
		selector_put(w, 'n');
	if (a && b > 0)
		selector_put(w, '+');
	if (b || !a)
		libcss_number(w, b);
}

/* What stands before a name. */
static __always_inline void libcss_mark(struct selector_walk *w, __u32 type)
{
	if (type == LIBCSS_CLASS)
		selector_put(w, '.');
	else if (type == LIBCSS_ID)
		selector_put(w, '#');
	else if (type >= LIBCSS_ATTRIBUTE)
		selector_put(w, '[');
	if (type == LIBCSS_PSEUDO_ELEMENT)
		selector_put(w, ':');
	if (type == LIBCSS_PSEUDO_CLASS || type == LIBCSS_PSEUDO_ELEMENT)
		selector_put(w, ':');
}

/* What stands before an attribute's =, a byte for each type behind LIBCSS_EQUAL. */
#define LIBCSS_OPERATORS ('|' | '~' << 8 | '^' << 16 | (__u64)'$' << 24 | (__u64)'*' << 32)

/* What stands behind it. */
static __always_inline void libcss_value(struct selector_walk *w, const struct libcss_simple *s)
{
	__u32 type = LIBCSS_TYPE(s->bits);
	bool text = type >= LIBCSS_EQUAL, nth = LIBCSS_NTH(s->bits);
	bool brackets = type == LIBCSS_PSEUDO_CLASS && (nth || s->value);

	if (type > LIBCSS_EQUAL)
		selector_put(w, LIBCSS_OPERATORS >> 8 * (type - LIBCSS_EQUAL - 1));
	if (text) {
		selector_put(w, '=');
		selector_put(w, '"');
	}
	if (brackets)
		selector_put(w, '(');
	if (brackets && nth)
		libcss_nth(w, s->value);
	else if (brackets || text)
		libcss_string(w, s->value);
	if (text)
		selector_put(w, '"');
	if (brackets)
		selector_put(w, ')');
	if (type >= LIBCSS_ATTRIBUTE)
		selector_put(w, ']');
}

static __noinline int libcss_not(struct selector_walk *w)
{
	selector_put(w, ':');
	selector_put(w, 'n');
	selector_put(w, 'o');
	selector_put(w, 't');
	selector_put(w, '(');
	return 0;
}

static __always_inline void libcss_put(struct selector_walk *w, const struct libcss_simple *s)
{
	__u32 type = LIBCSS_TYPE(s->bits);
	bool negated = LIBCSS_NEGATED(s->bits);

	/* each compound begins with an element type, which is * where the sheet names none */
	if (type == LIBCSS_ELEMENT && LIBCSS_NEXT(s->bits) && !negated && libcss_is_universal(w, s->name))
		return;
	if (type > LIBCSS_LAST) {
		selector_dots(w);
		return;
	}
	if (negated)
		libcss_not(w);
	libcss_mark(w, type);
	libcss_string(w, s->name);
	libcss_value(w, s);
	if (negated)
		selector_put(w, ')');
}

/* Remembers the compound at p and goes to its left. */
static long libcss_gather(__u64 i, struct selector_walk *w)
{
	__u64 left = 0;

	if (i >= SELECTOR_PARTS || !read_small(w->t, w->a, &left, sizeof(left), w->t->selector.p))
		return 1;
	w->t->selector.parts[i].value = w->t->selector.p;
	w->t->selector.p = left;
	w->t->selector.nr++;
	w->t->selector.whole = !left;
	return !left;
}

/* Simple selector number `first` of the compound that is `at` places from the right. */
static long libcss_step(__u64 i, struct selector_walk *w)
{
	__u32 at = w->t->selector.at, number = w->t->selector.first;
	struct libcss_simple s = {};

	barrier_var(at);
	if (at >= SELECTOR_PARTS ||
	    !read_small(w->t, w->a, &s, sizeof(s), w->t->selector.parts[at].value + LIBCSS_SIMPLE +
			LIBCSS_SIMPLE_BYTES * (__u64)number + LIBCSS_SIMPLE_BYTES - sizeof(s)))
		return 1;
	if (!number && (at + 1 < w->t->selector.nr || !w->t->selector.whole))
		selector_combinator(w, LIBCSS_RELATION(s.bits));
	libcss_put(w, &s);
	w->t->selector.first = LIBCSS_NEXT(s.bits) ? number + 1 : 0;
	if (!LIBCSS_NEXT(s.bits))
		w->t->selector.at = at - 1;	/* 0 - 1: that was the last one */
	return 0;
}

/* The selector at `p`. */
static __noinline bool arg_libcss_selector(struct thread *t, struct arg_ctx *a, __u64 p)
{
	struct selector_walk w = { .t = t, .a = a };

	if (!selector_begin(t, a, p, 0))
		return false;
	bpf_loop(SELECTOR_PARTS, libcss_gather, &w, 0);
	if (!t->selector.nr)
		return false;
	t->selector.at = t->selector.nr - 1;
	t->selector.first = 0;
	if (!t->selector.whole)
		selector_dots(&w);
	bpf_loop(LIBCSS_MAX_SIMPLE, libcss_step, &w, 0);
	if (t->selector.at < SELECTOR_PARTS)
		selector_dots(&w);
	arg_put(t, a, a->field, ENC_UTF8 | (t->selector.cut ? ENC_TRUNCATED : 0), t->selector.len);
	return true;
}

#endif
