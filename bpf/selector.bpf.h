/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Selectors of Blink: an array of simple selectors of 16 bytes, { bits, pad, value }, the rightmost compound first, each
 * compound from left to right. The bits' lowest four say how a compound's last one relates to what stands to its left,
 * the next four what it is; the layout, which calibration finds, what those mean in this build (selector_layout.h).
 * Names are put down as the engine keeps them, what can't be read as "...".
 */
#ifndef FRAMESCOPE_SELECTOR_BPF_H
#define FRAMESCOPE_SELECTOR_BPF_H

/* A part of args.bpf.h, which includes it where what it needs is known. */

#include "selector_layout.h"

#define SELECTOR_MAX_NAME 128	/* characters; a longer one is none */
#define SELECTOR_BYTES 16	/* of a simple selector */

/* The rest is in t->selector: the stack has no room for it. */
struct selector_walk {
	struct thread *t;
	struct arg_ctx *a;
};

static long selector_gather(__u64 i, struct selector_walk *w)
{
	struct selector_part *part;
	__u64 raw[2] = {};

	if (i >= SELECTOR_PARTS || !read_small(w->t, w->a, raw, sizeof(raw), w->t->selector.p + SELECTOR_BYTES * i))
		return 1;
	part = &w->t->selector.parts[i];
	part->bits = raw[0];
	part->value = raw[1];
	part->first = w->t->selector.nr && !SELECTOR_RELATION(w->t->selector.bits) ? w->t->selector.first : w->t->selector.nr;
	w->t->selector.bits = part->bits;
	w->t->selector.first = part->first;
	w->t->selector.nr++;
	w->t->selector.whole = part->bits >> SELECTOR_LAST(w->t->selector.layout) & 1;
	return w->t->selector.whole;
}

static __always_inline void selector_put(struct selector_walk *w, char c)
{
	__u32 at = w->a->at + sizeof(struct rec_arg) + w->t->selector.len;

	barrier_var(at);
	if (w->t->selector.len >= w->t->selector.max || at >= ROOM_END) {
		w->t->selector.cut = true;
		return;
	}
	w->t->buf[at] = c;
	w->t->selector.len++;
}

static __noinline void selector_dots(struct selector_walk *w)
{
	selector_put(w, '.');
	selector_put(w, '.');
	selector_put(w, '.');
}

/* `n` characters at `p`, as many of them as there is room for. */
static __always_inline bool selector_chars(struct selector_walk *w, __u64 p, __u32 n)
{
	__u32 room = w->t->selector.max - w->t->selector.len;

	if (n > room) {
		n = room;
		w->t->selector.cut = true;
	}
	barrier_var(n);
	if (n > SELECTOR_MAX_NAME || (n && read_bytes(w->t, w->a->at + w->t->selector.len, n, p, false)))
		return false;
	w->t->selector.len += n;
	return true;
}

/* An 8-bit name of the engine's table of names: those have a hash above their flags. */
static __always_inline bool selector_name(struct selector_walk *w, __u64 impl)
{
	__u32 h[3] = {};

	return read_small(w->t, w->a, h, sizeof(h), impl) && h[2] & 1 && h[2] >> 8 && h[1] && h[1] <= SELECTOR_MAX_NAME &&
	       selector_chars(w, impl + 12, h[1]);
}

/* One simple selector. */
static __always_inline int selector_part(struct selector_walk *w, __u32 bits, __u64 value)
{
	__u32 kind = SELECTOR_KIND(w->t->selector.layout, bits);
	bool rare = bits >> SELECTOR_RARE(w->t->selector.layout) & 1;

	switch (kind) {
	case SELECTOR_ID:
		selector_put(w, '#');
		break;
	case SELECTOR_CLASS:
		selector_put(w, '.');
		break;
	case SELECTOR_ATTRIBUTE:
		selector_put(w, '[');
		break;
	case SELECTOR_PSEUDO_ELEMENT:
		selector_put(w, ':');
		selector_put(w, ':');
		break;
	case SELECTOR_PSEUDO_CLASS:
		selector_put(w, ':');
		break;
	case SELECTOR_UNIVERSAL:
		selector_put(w, '*');
		return 0;
	}
	if ((kind == SELECTOR_TAG || kind == SELECTOR_ATTRIBUTE) && !rare &&
	    !read_small(w->t, w->a, &value, sizeof(value), value + SELECTOR_NAME(w->t->selector.layout)))
		rare = true;
	if (kind == SELECTOR_UNKNOWN || rare || !selector_name(w, value))
		selector_dots(w);
	if (kind == SELECTOR_ATTRIBUTE)
		selector_put(w, ']');
	return 0;
}

static __always_inline void selector_combinator(struct selector_walk *w, __u32 relation)
{
	selector_put(w, ' ');
	if (relation == SELECTOR_DESCENDANT)
		return;
	if (relation == SELECTOR_CHILD)
		selector_put(w, '>');
	else if (relation == SELECTOR_NEXT)
		selector_put(w, '+');
	else if (relation == SELECTOR_LATER)
		selector_put(w, '~');
	else
		selector_dots(w);
	selector_put(w, ' ');
}

static long selector_step(__u64 i, struct selector_walk *w)
{
	struct selector_part *part;
	__u32 at = w->t->selector.at, right;

	if (at >= SELECTOR_PARTS || at >= w->t->selector.nr)
		return 1;
	part = &w->t->selector.parts[at];
	selector_part(w, part->bits, part->value);
	if (!SELECTOR_RELATION(part->bits) && at + 1 < w->t->selector.nr) {
		w->t->selector.at = at + 1;
		return 0;
	}
	/* what stands to the right of this compound is before it; 0 - 1: nothing */
	right = part->first - 1;
	barrier_var(right);
	if (right >= SELECTOR_PARTS)
		return 1;
	part = &w->t->selector.parts[right];
	selector_combinator(w, SELECTOR_RELATION(part->bits));
	w->t->selector.at = part->first;
	return 0;
}

/* Begins with the selector at `p`; false: there is no room for its text. */
static __always_inline bool selector_begin(struct thread *t, struct arg_ctx *a, __u64 p, __u64 layout)
{
	t->selector.p = p;
	t->selector.layout = layout;
	t->selector.nr = 0;
	t->selector.max = room_for(a);
	t->selector.len = 0;
	t->selector.whole = false;
	t->selector.cut = false;
	return t->selector.max;
}

/* The selector at `p`. */
static __noinline bool arg_selector(struct thread *t, struct arg_ctx *a, __u64 p, __u64 layout)
{
	struct selector_walk w = { .t = t, .a = a };
	__u32 last;

	if (!selector_begin(t, a, p, layout))
		return false;
	bpf_loop(SELECTOR_PARTS, selector_gather, &w, 0);
	last = t->selector.nr - 1;
	barrier_var(last);
	if (last >= SELECTOR_PARTS)
		return false;
	t->selector.at = t->selector.parts[last].first;
	if (!t->selector.whole) {
		selector_dots(&w);
		selector_put(&w, ' ');
	}
	bpf_loop(SELECTOR_PARTS, selector_step, &w, 0);
	arg_put(t, a, a->field, ENC_LATIN1 | (t->selector.cut ? ENC_TRUNCATED : 0), t->selector.len);
	return true;
}

#endif
