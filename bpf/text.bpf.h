/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is read of an argument, put into the record: numbers, and texts as each engine and language keeps them. */
#ifndef FRAMESCOPE_TEXT_BPF_H
#define FRAMESCOPE_TEXT_BPF_H

#include "read.bpf.h"

/* Puts an argument's header in; the bytes are there already. Zeroes the padding that follows them. */
static __always_inline void arg_put(struct thread *t, struct arg_ctx *a, __u8 field, __u8 encoding, __u32 bytes)
{
	__u32 at = a->at;
	struct rec_arg *h;

	if (at > ROOM_END - sizeof(*h) || bytes > RECORD_MAX_STRING)
		return;
	h = (void *)t->buf + at;
	h->field = field;
	h->encoding = encoding;
	h->bytes = bytes;
	at += sizeof(*h) + bytes;
	if (at > ROOM_END)
		return;
	__builtin_memset(t->buf + at, 0, 4);
	a->at = (at + 3) & ~3u;
}

static __always_inline void arg_put_int(struct thread *t, struct arg_ctx *a, __u8 field, __u64 v)
{
	__u32 at = a->at;
	__u32 *d;

	if (at > ROOM_END - 16)
		return;
	d = (void *)t->buf + at + sizeof(struct rec_arg);
	d[0] = v;
	d[1] = v >> 32;
	arg_put(t, a, field, ENC_INT, 8);
}

/* The most that fits of `want` bytes, from the sizes that the verifier can follow. */
static __always_inline __u32 room_for(struct arg_ctx *a)
{
	__u32 at = a->at, want = a->max_bytes, used = at - a->begin;

	/* of the record, too: RECORD_MAX_SIZE */
	if (used > RECORD_MAX_SIZE - sizeof(struct rec_begin) - ROOM_SMALL)
		return 0;
	if (want > ROOM_MIDDLE - 8 && at <= ROOM_END - ROOM_LARGE &&
	    used <= RECORD_MAX_SIZE - sizeof(struct rec_begin) - ROOM_LARGE)
		return want > RECORD_MAX_STRING ? RECORD_MAX_STRING : want;
	if (want > ROOM_SMALL - 8 && at <= ROOM_END - ROOM_MIDDLE &&
	    used <= RECORD_MAX_SIZE - sizeof(struct rec_begin) - ROOM_MIDDLE)
		return want > ROOM_MIDDLE - 8 ? ROOM_MIDDLE - 8 : want;
	if (at <= ROOM_END - ROOM_SMALL)
		return want > ROOM_SMALL - 8 ? ROOM_SMALL - 8 : want;
	return 0;
}

static __noinline bool arg_cstr(struct thread *t, struct arg_ctx *a, __u64 p)
{
	__u32 max = room_for(a);
	__u8 truncated = 0;
	long n;

	if (!max)
		return false;
	if (can_walk) {
		__u32 most = max < ROOM_SMALL - 8 ? max : ROOM_SMALL - 8;

		n = direct_str(t, a->at, most, p);
		if (n >= 0 && (n <= most || most == max)) {
			arg_put(t, a, a->field, n > most ? ENC_UTF8 | ENC_TRUNCATED : ENC_UTF8, n > most ? most : n);
			return true;
		}
	}
	/* two more than are wanted: one is the NUL, one shows that there was more */
	n = read_str(t, a->at, max + 2, p);
	if (unlikely(n < 0)) {
		if (!fault_in(a, p))
			return false;
		n = read_str(t, a->at, max + 2, p);
		/* the string goes on in the next page */
		if (n < 0 && fault_in(a, (p | 4095) + 1))
			n = read_str(t, a->at, max + 2, p);
	}
	if (n <= 0)
		return false;
	n--;
	if (n > max) {
		n = max;
		truncated = ENC_TRUNCATED;
	}
	arg_put(t, a, a->field, ENC_UTF8 | truncated, n);
	return true;
}

/* Text of a known length in characters. */
__noinline int arg_text(struct thread *t, struct arg_ctx *a, __u64 p, __u64 chars, __u8 encoding)
{
	__u64 want = encoding == ENC_UTF16 ? chars * 2 : chars;
	__u32 max, n = want;

	if (!t || !a || chars > 1u << 30)
		return false;
	max = room_for(a);
	if (!max)
		return false;
	if (want > max) {
		n = encoding == ENC_UTF16 ? max & ~1u : max;
		encoding |= ENC_TRUNCATED;
	}
	if (n) {
		if (unlikely(read_bytes(t, a->at, n, p, false))) {
			if (!sleepable || read_bytes(t, a->at, n, p, true))
				return false;
			a->retried = true;
		}
	}
	arg_put(t, a, a->field, encoding, n);
	return true;
}

static __noinline bool arg_libcxx(struct thread *t, struct arg_ctx *a, const struct arg_spec *spec, __u64 p)
{
	__u64 w[3] = {};

	if (!read_small(t, a, w, sizeof(w), p))
		return false;
	/* alternate layout: the flag is the top bit of the last byte, which is the size of a short one */
	if (w[2] >> 63)
		return arg_text(t, a, w[0], w[1], ENC_UTF8);
	if (spec->aux == 1)
		return arg_text(t, a, p, w[2] >> 56, ENC_UTF8);
	/* ABI 1: the lowest bit of the first byte, which is twice the size of a short one */
	if (w[0] & 1)
		return arg_text(t, a, w[2], w[1], ENC_UTF8);
	return arg_text(t, a, p + 1, (w[0] & 0xff) >> 1, ENC_UTF8);
}

/* Blink: { ref, length, hash and flags (bit 0: 8-bit), characters }. WebKit: { ref, length, data, flags (bit 2) }. */
static __noinline bool arg_wtf(struct thread *t, struct arg_ctx *a, __u64 p, bool webkit)
{
	__u32 w[6] = {};
	__u64 data;

	if (!p) {
		a->absent = true;
		return false;
	}
	if (!read_small(t, a, w, 12, p))
		return false;
	if (!webkit)
		return arg_text(t, a, p + 12, w[1], w[2] & 1 ? ENC_LATIN1 : ENC_UTF16);
	if (!read_small(t, a, w, sizeof(w), p))
		return false;
	data = w[2] | (__u64)w[3] << 32;
	return arg_text(t, a, data, w[1], w[4] & 4 ? ENC_LATIN1 : ENC_UTF16);
}

struct nul_walk {
	struct thread *t;
	__u32 at, i, max;
};

static long nul16_step(__u64 n, struct nul_walk *w)
{
	__u32 at = w->at + sizeof(struct rec_arg) + w->i;

	if (w->i >= w->max || at > ROOM_END)
		return 1;
	if (!w->t->buf[at] && !w->t->buf[at + 1])
		return 1;
	w->i += 2;
	return 0;
}

static __noinline bool arg_cstr16(struct thread *t, struct arg_ctx *a, __u64 p)
{
	__u32 max = room_for(a) & ~1u, in_page = (4096 - (p & 4095)) & ~1u;
	struct nul_walk w = { .t = t, .at = a->at };

	if (!max)
		return false;
	/* the whole of it, or as much as the page has */
	w.max = max;
	if (read_bytes(t, a->at, max, p, false)) {
		w.max = in_page < max ? in_page : max;
		if (read_bytes(t, a->at, w.max, p, true))
			return false;
	}
	bpf_loop(RECORD_MAX_STRING / 2, nul16_step, &w, 0);
	arg_put(t, a, a->field, ENC_UTF16 | (w.i >= w.max ? ENC_TRUNCATED : 0), w.i);
	return true;
}

#endif
