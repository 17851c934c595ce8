/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Goes the steps from a register to a value. Each return from a function costs tens of cycles on processors whose returns
 * the kernel guards against speculation: what every step does is one piece of code, and what few do is behind a call.
 */
#ifndef FRAMESCOPE_STEPS_BPF_H
#define FRAMESCOPE_STEPS_BPF_H

#include "read.bpf.h"

/* `n` bytes at `addr`, at most 8, into t->words[0], by the kernel's helpers. */
__noinline int load_slowly(struct thread *t, struct arg_ctx *a, __u64 addr, __u32 n)
{
	bool ok;

	if (!t || !a)
		return 0;
	t->words[0] = 0;
	switch (n) {
	case 8:
		ok = read_helped(a, &t->words[0], 8, addr);
		break;
	case 4:
		ok = read_helped(a, &t->words[0], 4, addr);
		break;
	case 2:
		ok = read_helped(a, &t->words[0], 2, addr);
		break;
	default:
		ok = read_helped(a, &t->words[0], 1, addr);
	}
	return ok;
}

/* The word at `addr`; of more than `n` bytes of it nothing is known. */
static __always_inline bool load(struct thread *t, struct arg_ctx *a, __u64 addr, __u32 n, __u64 *v)
{
	struct words w;

	if (can_walk && likely(words_at(t, addr, &w))) {
		*v = w.w[0];
		return true;
	}
	if (!load_slowly(t, a, addr, n))
		return false;
	*v = t->words[0];
	return true;
}

/* The cage's base, a global of the module. Once a process has set it, it stays. */
__noinline int find_cage(struct thread *t, struct arg_ctx *a)
{
	__u64 base = 0;

	if (!t || !a || !a->cage || !read_small(t, a, &base, sizeof(base), a->cage))
		return 0;
	t->cage_at = a->cage;
	t->cage_base = base;
	return 1;
}

/* A compressed pointer: 32 bits, sign-extended, shifted, and masked by the cage's base. */
static __always_inline bool uncage(struct thread *t, struct arg_ctx *a, __u64 v, __u8 shift, __u64 *p)
{
	if (!a->cage)
		return false;
	if (unlikely(!t->cage_base || t->cage_at != a->cage) && !find_cage(t, a))
		return false;
	*p = v ? (v << (shift & 7)) & t->cage_base : 0;
	return true;
}

/*
 * Of each step that loads, from STEP_LOAD64 to STEP_CAGE: how many bits of the word there aren't wanted, and whether those
 * that are have a sign. Tables, not branches: the verifier would follow each of them through all the steps to come.
 */
#define UNWANTED(op, bits) ((__u64)(bits) << ((op) - STEP_LOAD64) * 8)
#define UNWANTED_BITS (UNWANTED(STEP_LOADU32, 32) | UNWANTED(STEP_LOADS32, 32) | UNWANTED(STEP_LOADU16, 48) | \
		       UNWANTED(STEP_LOADS16, 48) | UNWANTED(STEP_LOADU8, 56) | UNWANTED(STEP_CAGE, 32))
#define SIGNED (1u << STEP_LOADS32 | 1u << STEP_LOADS16 | 1u << STEP_CAGE)

static __always_inline bool run_load(struct thread *t, struct arg_ctx *a, const struct arg_step *s, __u32 op, __u64 *p)
{
	__u32 unwanted = UNWANTED_BITS >> (op - STEP_LOAD64) * 8 & 63;
	__u64 v = 0;

	if (!load(t, a, *p + (__s64)s->off, 8 - unwanted / 8, &v))
		return false;
	v <<= unwanted;
	if (SIGNED >> op & 1)
		v = (__s64)v >> unwanted;
	else
		v >>= unwanted;
	if (s->op == STEP_CAGE)
		return uncage(t, a, v, s->pad[0] ? s->pad[0] : 3, p);
	if (s->op == STEP_GUARD) {
		a->absent = (v == s->pad[1]) == !!s->pad[2];
		return !a->absent;
	}
	*p = v;
	return true;
}

static __always_inline bool run_step(struct thread *t, struct arg_ctx *a, const struct arg_step *s, __u64 *p)
{
	__u32 op = s->op == STEP_GUARD ? s->pad[0] : s->op;
	__s64 off = s->off;

	barrier_var(op);
	if (op >= STEP_LOAD64 && op <= STEP_CAGE)
		return run_load(t, a, s, op, p);
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
	}
	return false;
}

/* `max`: a constant, of steps that there is room for. a->value becomes the value at their end; 0: absent. */
static __always_inline int run_chain(struct thread *t, struct arg_ctx *a, const struct arg_step *steps, const __u32 max,
				     __u32 nr, __u32 reg)
{
	__u64 v;

	if (reg >= NR_REGS)
		return 0;
	v = t->regs[reg];
	for (__u32 i = 0; i < max; i++) {
		if (i >= nr)
			break;
		if (!run_step(t, a, &steps[i], &v))
			return 0;
	}
	a->value = v;
	return 1;
}

__noinline int run_steps(struct thread *t, struct arg_ctx *a, const struct arg_spec *spec)
{
	return t && a && spec ? run_chain(t, a, spec->steps, RECORD_MAX_STEPS, spec->nr_steps, spec->reg) : 0;
}

/* The second chain. */
__noinline int run_len_steps(struct thread *t, struct arg_ctx *a, const struct arg_spec *spec)
{
	return t && a && spec ? run_chain(t, a, spec->len_steps, 4, spec->nr_len_steps, spec->len_reg) : 0;
}

#endif
