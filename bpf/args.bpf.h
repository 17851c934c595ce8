/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads a probe's arguments as its description says, straight into the thread's buffer. A value that can't be read
 * is left out and counted; it never becomes an empty string or a zero.
 */
#ifndef FRAMESCOPE_ARGS_BPF_H
#define FRAMESCOPE_ARGS_BPF_H

#include "buffer.bpf.h"
#include "direct.bpf.h"
#include "regs.bpf.h"

#define ROOM_SMALL 264
#define ROOM_MIDDLE 1056
#define ROOM_LARGE (RECORD_MAX_STRING + 8)
/* A number in the record, and the padding behind a string */
#define ROOM_END (BUF_BYTES - sizeof(struct rec_end))

/*
 * Plain data, since it is handed to global functions, where pointers in memory are lost. Those are verified once
 * and by themselves; as static ones they would be verified anew for each state of the loop over the arguments.
 */
struct arg_ctx {
	__u64 load_base;
	__u64 cage;
	__u64 value;	/* at the end of the steps */
	__u64 have;	/* bits of the fields that were read: a second way to one is not taken */
	__u64 missed;	/* and of those that could not be */
	__u32 at;	/* offset in the thread's buffer of the next argument */
	__u32 begin;	/* and of the first */
	__u32 faulted;	/* arguments that were read after faulting their page in */
	bool retried;
	bool absent;	/* a condition in the steps says that there is none: not a failure */
	__u16 max_bytes;	/* of the argument being read, and its field */
	__u8 field;
	__u8 pad[7];
};

struct arg_walk {
	struct thread *t;
	struct probe_spec *spec;
	struct arg_ctx a;
};

/* Faults the page in on kernels where the program may sleep. */
static __always_inline bool fault_in(struct arg_ctx *a, __u64 addr)
{
	char c;

	if (!sleepable || bpf_copy_from_user(&c, 1, (void *)addr))
		return false;
	a->retried = true;
	return true;
}

/* `n`: a constant; of more than sizeof(t->words) bytes only the kernel's helper knows. */
static __always_inline bool read_small(struct thread *t, struct arg_ctx *a, void *dst, const __u32 n, __u64 addr)
{
	if (can_walk && n <= sizeof(t->words) && likely(n <= sizeof(t->words[0]) ? direct_word(t, addr) : direct_words(t, addr))) {
		__builtin_memcpy(dst, t->words, n);
		return true;
	}
	if (likely(!bpf_probe_read_user(dst, n, (void *)addr)))
		return true;
	if (!sleepable || bpf_copy_from_user(dst, n, (void *)addr))
		return false;
	a->retried = true;
	return true;
}

/*
 * A compressed pointer: 32 bits, sign-extended, shifted, and masked by the cage's base, a global of the module. Once a
 * process has set it, it stays, and a read costs the target 150 ns.
 */
static __always_inline bool read_caged(struct thread *t, struct arg_ctx *a, __u64 addr, __u8 shift, __u64 *p)
{
	__u64 at = a->load_base + a->cage, base = t->cage_base;
	__s32 v = 0;

	if (!a->cage || !read_small(t, a, &v, sizeof(v), addr))
		return false;
	if (unlikely(!base || t->cage_at != at)) {
		if (!read_small(t, a, &base, sizeof(base), at))
			return false;
		t->cage_at = at;
		t->cage_base = base;
	}
	*p = v ? ((__u64)(__s64)v << (shift & 7)) & base : 0;
	return true;
}

static __always_inline bool run_step(struct thread *t, struct arg_ctx *a, const struct arg_step *s, __u64 *p)
{
	__u8 op = s->op == STEP_GUARD ? s->pad[0] : s->op;
	__s64 off = s->off;
	__u64 v = 0;
	bool ok = true;

	switch (op) {
	case STEP_ADD:
		*p += off;
		return true;
	case STEP_AND:
		*p &= off;
		return true;
	case STEP_SHR:
		*p >>= off & 63;
		return true;
	case STEP_NONZERO:
		a->absent = !*p;
		return *p;
	case STEP_MASK_TEST:
		a->absent = !(*p & off);
		return *p & off;
	case STEP_NEG:
		*p = -*p;
		return true;
	case STEP_CAGE:
		return read_caged(t, a, *p + off, s->pad[0] ? s->pad[0] : 3, p);
	case STEP_LOAD64:
		ok = read_small(t, a, &v, 8, *p + off);
		break;
	case STEP_LOADU32:
		ok = read_small(t, a, &v, 4, *p + off);
		break;
	case STEP_LOADS32:
		ok = read_small(t, a, &v, 4, *p + off);
		v = (__s64)(__s32)v;
		break;
	case STEP_LOADU16:
		ok = read_small(t, a, &v, 2, *p + off);
		break;
	case STEP_LOADS16:
		ok = read_small(t, a, &v, 2, *p + off);
		v = (__s64)(__s16)v;
		break;
	case STEP_LOADU8:
		ok = read_small(t, a, &v, 1, *p + off);
		break;
	default:
		return false;
	}
	if (s->op == STEP_GUARD) {
		a->absent = ok && (v == s->pad[1]) == !!s->pad[2];
		return ok && !a->absent;
	}
	*p = v;
	return ok;
}

/* 0: absent. a->value becomes the value at the end of the steps. */
__noinline int run_steps(struct thread *t, struct arg_ctx *a, const struct arg_spec *spec, __u32 len_steps)
{
	__u32 nr, reg;
	__u64 v, *p = &v;

	if (!t || !a || !spec)
		return 0;
	nr = len_steps ? spec->nr_len_steps : spec->nr_steps;
	reg = len_steps ? spec->len_reg : spec->reg;
	if (reg >= NR_REGS)
		return 0;
	v = t->regs[reg];
	for (__u32 i = 0; i < RECORD_MAX_STEPS; i++) {
		if (i >= nr)
			break;
		if (len_steps) {
			if (i >= 4 || !run_step(t, a, &spec->len_steps[i], p))
				return 0;
		} else if (!run_step(t, a, &spec->steps[i], p)) {
			return 0;
		}
	}
	a->value = v;
	return 1;
}

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

/*
 * The verifier wants the offset bounded before it is added to the buffer's address, and compilers like to add first:
 * a copy that they know nothing of keeps the order.
 */
#define DST(t, at, room) ({				\
	__u64 at_ = (__u32)(at);			\
	void *dst_ = NULL;				\
	if (at_ <= ROOM_END - (room)) {			\
		barrier_var(at_);			\
		dst_ = (t)->buf + at_;			\
	}						\
	dst_;						\
})

/* How bytes are read. */
enum way { WAY_DIRECT, WAY_USER, WAY_SLEEP };

static __always_inline long read_to(void *dst, __u32 n, __u64 src, enum way way)
{
	if (!dst)
		return -1;
	if (can_walk && way == WAY_DIRECT)
		return bpf_probe_read_kernel(dst, n, (void *)src);
	if (sleepable && way == WAY_SLEEP)
		return bpf_copy_from_user(dst, n, (void *)src);
	return bpf_probe_read_user(dst, n, (void *)src);
}

static __always_inline long read_sized(struct thread *t, __u32 at, __u32 n, __u64 src, enum way way)
{
	if (n <= ROOM_SMALL)
		return read_to(DST(t, at, ROOM_SMALL), n, src, way);
	if (n <= ROOM_MIDDLE)
		return read_to(DST(t, at, ROOM_MIDDLE), n, src, way);
	if (n > ROOM_LARGE)
		return -1;
	return read_to(DST(t, at, ROOM_LARGE), n, src, way);
}

/*
 * The text at `src` up to its NUL, if that lies in one page and within `max` bytes: its length. More than max: it is
 * longer; negative: it can't be had in this way.
 */
__noinline int direct_str(struct thread *t, __u32 at, __u32 max, __u64 src)
{
	const __u64 ones = 0x0101010101010101ull;
	__u32 room = PAGE_BYTES - (src & (PAGE_BYTES - 1)), n = max + 1;
	__u64 from, w, zero, before;
	__u8 *dst;

	if (!t)
		return -1;
	before = flushes(t);
	from = direct_address(t->tables, src);
	dst = DST(t, at + sizeof(struct rec_arg), ROOM_SMALL);
	if (!from || !dst)
		return -1;
	for (__u32 i = 0; i <= ROOM_SMALL - 8; i += 8) {
		if (i > max)
			break;
		if (i + 8 > room)
			return -1;
		w = KERNEL_WORD(from + i, r15);
		zero = (w - ones) & ~w & ones << 7;
		*(__u64 *)(dst + i) = w;
		if (!zero)
			continue;
		if (!w && !i)
			return -1;
		/* bytes up to the first zero one */
		n = i + (((zero ^ (zero - 1)) & ones) * ones >> 56) - 1;
		break;
	}
	return flushes(t) == before ? n : -1;
}

/* Up to `n` bytes up to a NUL, the NUL included: the bytes read, or negative. */
__noinline long read_str(struct thread *t, __u32 at, __u32 n, __u64 src)
{
	void *dst;

	if (!t)
		return -1;
	at += sizeof(struct rec_arg);
	if (n <= ROOM_SMALL) {
		dst = DST(t, at, ROOM_SMALL);
		return dst ? bpf_probe_read_user_str(dst, n, (void *)src) : -1;
	}
	if (n <= ROOM_MIDDLE) {
		dst = DST(t, at, ROOM_MIDDLE);
		return dst ? bpf_probe_read_user_str(dst, n, (void *)src) : -1;
	}
	if (n > ROOM_LARGE)
		return -1;
	dst = DST(t, at, ROOM_LARGE);
	return dst ? bpf_probe_read_user_str(dst, n, (void *)src) : -1;
}

/* Exactly `n` bytes; 0 or negative. */
__noinline long read_bytes(struct thread *t, __u32 at, __u32 n, __u64 src, bool may_sleep)
{
	__u64 from, before;

	if (!t)
		return -1;
	at += sizeof(struct rec_arg);
	if (can_walk && !may_sleep && n <= PAGE_BYTES && in_one_page(src, n)) {
		before = flushes(t);
		from = direct_address(t->tables, src);
		if (from && !read_sized(t, at, n, from, WAY_DIRECT) && flushes(t) == before)
			return 0;
	}
	return read_sized(t, at, n, src, may_sleep ? WAY_SLEEP : WAY_USER);
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

__noinline int read_arg(struct thread *t, struct arg_ctx *a, const struct arg_spec *spec)
{
	__u64 p, data, len;

	if (!t || !a || !spec)
		return 0;
	a->field = spec->field;
	a->max_bytes = spec->max_bytes;
	if (spec->kind == KIND_CONST) {
		arg_put_int(t, a, spec->field, spec->aux);
		return 1;
	}
	if (!run_steps(t, a, spec, 0))
		return 0;
	p = a->value;
	switch (spec->kind) {
	case KIND_INT:
		arg_put_int(t, a, spec->field, p);
		return 1;
	case KIND_CSTR:
		return arg_cstr(t, a, p);
	case KIND_CSTR16:
		return arg_cstr16(t, a, p);
	case KIND_PTR_LEN8:
	case KIND_PTR_LEN16:
		if (!run_steps(t, a, spec, 1))
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
		if (!run_steps(t, a, spec, 1))
			return 0;
		return arg_selector(t, a, p + SELECTOR_BYTES * (__u32)a->value, spec->aux);
	case KIND_LIBCSS_SELECTOR:
		return arg_libcss_selector(t, a, p);
	}
	return 0;
}

static long args_step(__u64 i, struct arg_walk *w)
{
	const struct arg_spec *spec;
	__u64 bit;

	if (i >= RECORD_MAX_ARGS || i >= w->spec->nr_args)
		return 1;
	spec = &w->spec->args[i];
	bit = 1ULL << (spec->field & 63);
	if (w->a.have & bit)
		return 0;
	w->a.retried = false;
	w->a.absent = false;
	if (read_arg(w->t, &w->a, spec)) {
		w->a.have |= bit;
		w->a.faulted += w->a.retried;
	} else if (!w->a.absent) {
		w->a.missed |= bit;
	}
	return 0;
}

#define SHORT_BYTES 32	/* most texts end within */

/* The text at `p` into dst, where ROOM_SMALL bytes are free: its length, or negative. *longer: it had more than max. */
static __always_inline long read_short_str(__u8 *dst, __u32 max, __u64 p, bool *longer)
{
	const __u64 ones = 0x0101010101010101ull;
	__u32 room = max + 2;
	long n;

	/* a fixed number of bytes, none of them from a page that the text may not reach, costs less than a search */
	if ((p & 4095) <= 4096 - SHORT_BYTES && !bpf_probe_read_user(dst, SHORT_BYTES, (void *)p)) {
		for (__u32 i = 0; i < SHORT_BYTES; i += 8) {
			__u64 w = *(__u64 *)(dst + i), zero = (w - ones) & ~w & ones << 7;

			if (!zero)
				continue;
			/* bytes up to the first zero one */
			n = i + (((zero ^ (zero - 1)) & ones) * ones >> 56) - 1;
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

/* How many fields could not be read in any way. */
static __noinline __u32 args_failed(__u64 missed)
{
	__u32 n = 0;

	for (int i = 0; i < RECORD_MAX_ARGS; i++) {
		if (!missed)
			break;
		missed &= missed - 1;
		n++;
	}
	return n;
}

#endif
