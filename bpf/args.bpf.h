/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads a probe's arguments as its description says, straight into the thread's buffer. A value that can't be read
 * is left out and counted; it never becomes an empty string or a zero.
 */
#ifndef FRAMESCOPE_ARGS_BPF_H
#define FRAMESCOPE_ARGS_BPF_H

#include "regs.bpf.h"
#include "steps.bpf.h"
#include "text.bpf.h"

#include "v8.bpf.h"
#include "selector.bpf.h"
#include "libcss.bpf.h"

static __always_inline bool read_pair(struct thread *t, struct arg_ctx *a, __u64 p, __u64 *data, __u64 *len, bool len32)
{
	__u64 w[2] = {};

	if (!read_small(t, a, w, sizeof(w), p))
		return false;
	*data = w[0];
	*len = len32 ? (__u32)w[1] : w[1];
	return true;
}

/* The text that a->value leads to. */
__noinline int read_text(struct thread *t, struct arg_ctx *a, const struct arg_spec *spec)
{
	__u64 p, data, len;

	if (!t || !a || !spec)
		return 0;
	a->field = spec->field;
	a->max_bytes = spec->max_bytes;
	p = a->value;
	switch (spec->kind) {
	case KIND_CSTR:
		return arg_cstr(t, a, p);
	case KIND_CSTR16:
		return arg_cstr16(t, a, p);
	case KIND_PTR_LEN8:
	case KIND_PTR_LEN16:
		if (!run_len_steps(t, a, spec))
			return 0;
		return arg_text(t, a, p, a->value, spec->kind == KIND_PTR_LEN8 ? ENC_UTF8 : ENC_UTF16);
	case KIND_STD_STRING:
		return read_pair(t, a, p, &data, &len, false) && arg_text(t, a, data, len, ENC_UTF8);
	case KIND_NS_CSTRING:
		return read_pair(t, a, p, &data, &len, true) && arg_text(t, a, data, len, ENC_UTF8);
	case KIND_NS_STRING:
		return read_pair(t, a, p, &data, &len, true) && arg_text(t, a, data, len, ENC_UTF16);
	case KIND_LIBCXX_STRING:
		return arg_libcxx(t, a, spec, p);
	case KIND_WTF_BLINK:
		return arg_wtf(t, a, p, false);
	case KIND_WTF_WEBKIT:
		return arg_wtf(t, a, p, true);
	case KIND_V8_STRING:
		return arg_v8(t, a, p);
	case KIND_BLINK_SELECTOR:
		if (!run_len_steps(t, a, spec))
			return 0;
		return arg_selector(t, a, p + SELECTOR_BYTES * (__u32)a->value, spec->aux);
	case KIND_LIBCSS_SELECTOR:
		return arg_libcss_selector(t, a, p);
	}
	return 0;
}

/* Before the first argument of a call to this probe's function, whose registers are in t->regs. */
static __always_inline void args_begin(struct thread *t, struct arg_ctx *a, struct probe_spec *spec)
{
	__u64 load_base = t->regs[REG_IP] - spec->vaddr;

	t->regs[REG_LOAD_BASE] = load_base;
	a->cage = spec->cage ? load_base + spec->cage : 0;
}

static __always_inline bool read_arg(struct thread *t, struct arg_ctx *a, const struct arg_spec *spec)
{
	if (spec->kind == KIND_CONST)
		a->value = spec->aux;
	else if (!run_steps(t, a, spec))
		return false;
	if (spec->kind != KIND_CONST && spec->kind != KIND_INT)
		return read_text(t, a, spec);
	arg_put_int(t, a, spec->field, a->value);
	return true;
}

static __always_inline void read_field(struct thread *t, struct arg_ctx *a, const struct arg_spec *spec)
{
	__u64 bit = 1ULL << (spec->field & 63);

	if (a->have & bit)
		return;
	a->retried = false;
	a->absent = false;
	if (read_arg(t, a, spec)) {
		a->have |= bit;
		a->faulted += a->retried;
	} else if (!a->absent) {
		a->missed |= bit;
	}
}

#define SHORT_BYTES 32	/* most texts end within */

/* The text at `p` into dst, where ROOM_SMALL bytes are free: its length, or negative. *longer: it had more than max. */
static __always_inline long read_short_str(__u8 *dst, __u32 max, __u64 p, bool *longer)
{
	__u32 room = max + 2;
	long n;

	/* a fixed number of bytes, none of them from a page that the text may not reach, costs less than a search */
	if ((p & 4095) <= 4096 - SHORT_BYTES && !bpf_probe_read_user(dst, SHORT_BYTES, (void *)p)) {
		for (__u32 i = 0; i < SHORT_BYTES; i += 8) {
			__u32 zero = first_zero(*(__u64 *)(dst + i));

			if (zero == sizeof(__u64))
				continue;
			n = i + zero;
			*longer = n > max;
			return *longer ? max : n;
		}
	}
	/* 6.1 believes a bound only of the very register that was compared */
	barrier_var(room);
	if (room > ROOM_SMALL - 6)
		room = ROOM_SMALL - 6;
	n = bpf_probe_read_user_str(dst, room, (void *)p);
	if (n <= 0)
		return -1;
	*longer = --n > max;
	return *longer ? max : n;
}

/* The barriers keep compilers from choosing an address first and loading from it then: the context allows no such. */
static __always_inline __u64 arg_register(struct pt_regs *ctx, __u32 reg)
{
	__u64 v;

#define REGISTER(n, from) if (reg == (n)) { v = (from); barrier_var(v); return v; }
	REGISTER(0, PT_REGS_PARM1(ctx))
	REGISTER(1, PT_REGS_PARM2(ctx))
	REGISTER(2, PT_REGS_PARM3(ctx))
	REGISTER(3, PT_REGS_PARM4(ctx))
	REGISTER(4, PT_REGS_PARM5(ctx))
#undef REGISTER
#if defined(__TARGET_ARCH_x86)
	return ctx->r9;
#else
	return ((struct user_pt_regs *)ctx)->regs[5];
#endif
}

/* The one argument of a COOKIE_CSTR probe at offset `at`: where the record ends, or 0 to try the general way. */
static __always_inline __u32 read_cookie_cstr(struct pt_regs *ctx, struct thread *t, __u64 cookie, __u32 at)
{
	__u32 max = COOKIE_MAX(cookie);
	bool longer = false;
	struct rec_arg *h;
	__u64 p;
	long n;

	if (at > ROOM_END - ROOM_SMALL)
		return 0;
	h = (void *)t->buf + at;
	p = arg_register(ctx, COOKIE_REG(cookie));
	n = -1;
	if (can_walk) {
		n = direct_str(t, at, max, p);
		if (n > max) {
			longer = true;
			n = max;
		}
	}
	if (n < 0)
		n = read_short_str((__u8 *)(h + 1), max, p, &longer);
	if (n < 0)
		return 0;
	h->field = COOKIE_FIELD(cookie);
	h->encoding = longer ? ENC_UTF8 | ENC_TRUNCATED : ENC_UTF8;
	h->bytes = n;
	/* padding is not read by anybody */
	return at + sizeof(*h) + ((n + 3) & ~3u);
}

/* Counts the fields that could not be read in any way: bits. */
static __noinline int args_failed(__u32 probe, __u64 missed)
{
	struct probe_stats *s = stats_of(probe);

	if (!s)
		return 0;
	for (int i = 0; i < FIELD_END; i++) {
		if (!(missed >> i & 1))
			continue;
		__sync_fetch_and_add(&s->read_failed, 1);
		__sync_fetch_and_add(&s->unread[i], 1);
	}
	return 0;
}

#endif
