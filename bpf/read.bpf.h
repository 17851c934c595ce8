/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads pieces of the target's memory, to the stack or into the thread's buffer: directly where that can be, or else by the
 * kernel's helpers, which fault a page in where the program may sleep.
 */
#ifndef FRAMESCOPE_READ_BPF_H
#define FRAMESCOPE_READ_BPF_H

#include "buffer.bpf.h"
#include "direct.bpf.h"

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
	__u64 cage;	/* where the module has its pointer cage's base; 0: it has none */
	__u64 value;	/* at the end of the steps */
	__u64 have;	/* bits of the fields that were read: a second way to one is not taken */
	__u64 missed;	/* and of those that could not be */
	__u32 at;	/* offset in the thread's buffer of the next argument */
	__u32 begin;	/* and of the first */
	__u16 max_bytes;	/* of the argument being read, and its field */
	__u8 field;
	__u8 faulted;	/* arguments that were read after faulting their page in */
	bool retried;
	bool absent;	/* a condition in the steps says that there is none: not a failure */
	__u8 pad[2];
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

static __always_inline bool read_helped(struct arg_ctx *a, void *dst, const __u32 n, __u64 addr)
{
	if (likely(!bpf_probe_read_user(dst, n, (void *)addr)))
		return true;
	if (!sleepable || bpf_copy_from_user(dst, n, (void *)addr))
		return false;
	a->retried = true;
	return true;
}

/* `n`: a constant; of more than sizeof(t->words) bytes only the kernel's helper knows. */
static __always_inline bool read_small(struct thread *t, struct arg_ctx *a, void *dst, const __u32 n, __u64 addr)
{
	if (can_walk && n <= sizeof(t->words) && likely(direct_words(t, addr))) {
		__builtin_memcpy(dst, t->words, n);
		return true;
	}
	return read_helped(a, dst, n, addr);
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

/* The place of a word's first zero byte, the lowest one being 0; its size: it has none. */
static __always_inline __u32 first_zero(__u64 w)
{
	const __u64 ones = 0x0101010101010101ull;
	__u64 zero = (w - ones) & ~w & ones << 7;

	return zero ? (((zero ^ (zero - 1)) & ones) * ones >> 56) - 1 : sizeof(w);
}

/*
 * The text at `src` up to its NUL, if that lies in one page and within `max` bytes: its length. More than max: it is
 * longer; negative: it can't be had in this way.
 */
__noinline int direct_str(struct thread *t, __u32 at, __u32 max, __u64 src)
{
	__u32 room = PAGE_BYTES - (src & (PAGE_BYTES - 1)), n = max + 1, zero;
	__u64 from, w;
	__u8 *dst;

	if (!t)
		return -1;
	from = direct_place(t, src);
	dst = DST(t, at + sizeof(struct rec_arg), ROOM_SMALL);
	if (!from || !dst)
		return -1;
	for (__u32 i = 0; i <= ROOM_SMALL - 8; i += 8) {
		if (i > max)
			break;
		if (i + 8 > room)
			return -1;
		w = KERNEL_WORD(from + i, r15);
		zero = first_zero(w);
		*(__u64 *)(dst + i) = w;
		if (zero == sizeof(w))
			continue;
		if (!w && !i)
			return -1;
		n = i + zero;
		break;
	}
	return still_there(t) ? n : -1;
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

/* A short text of `n` bytes, word by word: false where a word is zero, as all are of a place where nothing is. */
static __always_inline bool copy_words(struct thread *t, __u32 at, __u32 n, __u64 from)
{
	__u8 *dst = DST(t, at, ROOM_SMALL);
	__u64 w;

	if (!dst)
		return false;
	for (__u32 i = 0; i <= ROOM_SMALL - 8; i += 8) {
		if (i >= n)
			break;
		w = KERNEL_WORD(from + i, r15);
		if (!w)
			return false;
		*(__u64 *)(dst + i) = w;
	}
	return n <= ROOM_SMALL - 8;
}

/* Exactly `n` bytes; 0 or negative. */
__noinline long read_bytes(struct thread *t, __u32 at, __u32 n, __u64 src, bool may_sleep)
{
	__u64 from;

	if (!t)
		return -1;
	at += sizeof(struct rec_arg);
	if (can_walk && !may_sleep && n <= PAGE_BYTES - 8 && in_one_page(src, n + 7)) {
		from = direct_place(t, src);
		if (from && (copy_words(t, at, n, from) || !read_sized(t, at, n, from, WAY_DIRECT)) && still_there(t))
			return 0;
	}
	return read_sized(t, at, n, src, may_sleep ? WAY_SLEEP : WAY_USER);
}

#endif
