/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Strings of V8 without pointer compression. A tagged pointer to { map, hash, length, … }; at map + 12 the instance
 * type, of which the lowest three bits say how the text is kept and bit 3 whether it has a byte per character. All
 * of it is published by the binaries themselves as v8dbg_* and the same from V8 10 to 13.
 */
#ifndef FRAMESCOPE_V8_BPF_H
#define FRAMESCOPE_V8_BPF_H

/* A part of args.bpf.h, which includes it where what it needs is known. */

#define V8_SEQUENTIAL 0
#define V8_CONS 1	/* two halves, perhaps with halves of their own */
#define V8_EXTERNAL 2	/* characters outside of V8's heap */
#define V8_THIN 5	/* the text is another string's */
#define V8_KIND 7
#define V8_ONE_BYTE 8
#define V8_NOT_STRING 0x80	/* first instance type that is none */
#define V8_MAX_PIECES 256	/* strings looked at for one text */

struct v8_walk {
	struct thread *t;
	struct arg_ctx *a;
	__u64 p;		/* the next string; 0: none left */
	__u32 max, len;		/* bytes of the text */
	__u8 encoding;		/* of all pieces; 0: none yet */
	bool cut, lost;
};

/* A string with characters: puts them behind those that stand there. True if that was all of it. */
static __always_inline bool v8_append(struct v8_walk *w, __u16 type)
{
	__u8 encoding = type & V8_ONE_BYTE ? ENC_LATIN1 : ENC_UTF16;
	__u64 from = w->p - 1 + 16;
	__u32 n = 0, room;

	if ((w->encoding && w->encoding != encoding) || !read_small(w->t, w->a, &n, 4, w->p - 1 + 12) || n > 1u << 29)
		return false;
	if ((type & V8_KIND) == V8_EXTERNAL && !read_small(w->t, w->a, &from, 8, w->p - 1 + 24))
		return false;
	if (encoding == ENC_UTF16)
		n *= 2;
	room = w->max - w->len;
	if (n > room) {
		n = encoding == ENC_UTF16 ? room & ~1u : room;
		w->cut = true;
	}
	if (n && read_bytes(w->t, w->a->at + w->len, n, from, false)) {
		if (!sleepable || read_bytes(w->t, w->a->at + w->len, n, from, true))
			return false;
		w->a->retried = true;
	}
	w->encoding = encoding;
	w->len += n;
	return !w->cut;
}

static long v8_step(__u64 i, struct v8_walk *w)
{
	__u64 map = 0, second = 0;
	__u16 type = V8_NOT_STRING;

	w->cut = true;	/* unless this comes to a good end */
	if (!(w->p & 1) || !read_small(w->t, w->a, &map, 8, w->p - 1) || !(map & 1) ||
	    !read_small(w->t, w->a, &type, 2, map - 1 + 12) || type >= V8_NOT_STRING)
		return 1;
	switch (type & V8_KIND) {
	case V8_CONS:
		if (!read_small(w->t, w->a, &second, 8, w->p - 1 + 24))
			return 1;
		/* with too many the last one gets lost: the text then ends early */
		w->lost |= w->t->v8_rest[V8_MAX_REST - 1] != 0;
		for (int k = V8_MAX_REST - 1; k > 0; k--)
			w->t->v8_rest[k] = w->t->v8_rest[k - 1];
		w->t->v8_rest[0] = second;
		return !read_small(w->t, w->a, &w->p, 8, w->p - 1 + 16);
	case V8_THIN:
		return !read_small(w->t, w->a, &w->p, 8, w->p - 1 + 16);
	case V8_SEQUENTIAL:
	case V8_EXTERNAL:
		break;
	default:
		return 1;
	}
	w->cut = false;
	if (!v8_append(w, type)) {
		w->cut = true;
		return 1;
	}
	w->p = w->t->v8_rest[0];
	for (int k = 0; k < V8_MAX_REST - 1; k++)
		w->t->v8_rest[k] = w->t->v8_rest[k + 1];
	w->t->v8_rest[V8_MAX_REST - 1] = 0;
	return !w->p;
}

static __noinline bool arg_v8(struct thread *t, struct arg_ctx *a, __u64 p)
{
	struct v8_walk w = { .t = t, .a = a, .p = p, .max = room_for(a) };

	if (!w.max)
		return false;
	for (int k = 0; k < V8_MAX_REST; k++)
		t->v8_rest[k] = 0;
	bpf_loop(V8_MAX_PIECES, v8_step, &w, 0);
	if (!w.encoding)
		return false;
	arg_put(t, a, a->field, w.encoding | (w.cut || w.lost || w.p ? ENC_TRUNCATED : 0), w.len);
	return true;
}

#endif
