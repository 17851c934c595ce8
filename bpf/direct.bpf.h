/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The target's memory as the kernel itself sees it: at the place of its page in the kernel's own mapping of all memory,
 * found in the page tables as the processor finds it. A load from there is one instruction. The helper that copies from
 * user space takes 110 to 200 ns each time, which is more than all the rest of a begin.
 *
 * Loads through bpf_rdonly_cast() (6.2) never fault: of an address where nothing is mapped they give zero. So nothing
 * that is all zero is believed; the helper is asked then, as for all else that is not plain memory in a present page.
 *
 * Another thread may unmap the page in the meantime, and the program may be preempted for long: page and tables may be
 * anybody's by then, and even be back again at the end. But before the kernel frees either, it takes it out of the tables
 * and then counts a flush of the processors' copies of them (inc_mm_tlb_gen() of arch/x86/include/asm/tlbflush.h). What
 * lies between two loads of the same count is thus the process's; x86 keeps loads in order, and so does clang around the
 * cast, a call to it. Tables that were freed in between may name any place: none outside of memory is loaded from, where
 * there may be devices.
 */
#ifndef FRAMESCOPE_DIRECT_BPF_H
#define FRAMESCOPE_DIRECT_BPF_H

#include "maps.bpf.h"

#define PAGE_BYTES 4096

#if defined(__TARGET_ARCH_x86)
extern void *bpf_rdonly_cast(void *obj, __u32 btf_id) __ksym __weak;

/* Word `n` (r15: the first, then r14, r13, …) at a kernel address: registers are an array of words that every BTF has. */
#define KERNEL_WORD(at, n) \
	(((struct pt_regs *)bpf_rdonly_cast((void *)(at), bpf_core_type_id_kernel(struct pt_regs)))->n)

/* arch/x86/include/asm/pgtable_types.h */
#define ENTRY_PRESENT (1ull << 0)
#define ENTRY_USER (1ull << 2)
#define ENTRY_UNCACHED (3ull << 3)	/* _PAGE_PWT, _PAGE_PCD */
#define ENTRY_LEAF (1ull << 7)		/* above the lowest level; there it is _PAGE_PAT */
#define ENTRY_SPECIAL (1ull << 9)	/* not memory that the kernel manages, or the page of zeros */
#define ENTRY_PAT_LARGE (1ull << 12)
#define LARGE_BYTES (1ull << 21)

/* The entry for `addr` in the table that another entry names. */
static __always_inline __u64 next_entry(__u64 map, __u64 entry, __u64 addr, __u32 shift)
{
	__u64 table = entry & ctl.frame_mask;

	return table < ctl.memory_end ? KERNEL_WORD(map + table + (addr >> shift & 511) * 8, r15) : 0;
}

static __always_inline __u64 in_page(__u64 map, __u64 entry, __u64 addr, __u64 bytes)
{
	__u64 frame = entry & ctl.frame_mask & ~(bytes - 1);

	return frame < ctl.memory_end ? map + frame + (addr & (bytes - 1)) : 0;
}

/* Where the kernel has the byte at `addr` of the process with these page tables, or 0. */
static __always_inline __u64 direct_address(__u64 tables, __u64 addr)
{
	__u64 map = ctl.direct_map, e;

	if (!can_walk || !map || !tables || addr >> ctl.user_bits)
		return 0;
	/* its own address is the kernel's already */
	tables -= map;
	if (ctl.user_bits > 47) {
		tables = next_entry(map, tables, addr, 48);
		if (!(tables & ENTRY_PRESENT))
			return 0;
	}
	e = next_entry(map, tables, addr, 39);
	if (!(e & ENTRY_PRESENT))
		return 0;
	e = next_entry(map, e, addr, 30);
	if ((e & (ENTRY_PRESENT | ENTRY_LEAF)) != ENTRY_PRESENT)
		return 0;
	e = next_entry(map, e, addr, 21);
	if (e & ENTRY_LEAF) {
		if ((e & (ENTRY_PRESENT | ENTRY_USER | ENTRY_UNCACHED | ENTRY_SPECIAL | ENTRY_PAT_LARGE)) !=
		    (ENTRY_PRESENT | ENTRY_USER))
			return 0;
		return in_page(map, e, addr, LARGE_BYTES);
	}
	if (!(e & ENTRY_PRESENT))
		return 0;
	e = next_entry(map, e, addr, 12);
	if ((e & (ENTRY_PRESENT | ENTRY_USER | ENTRY_UNCACHED | ENTRY_SPECIAL | ENTRY_LEAF)) !=
	    (ENTRY_PRESENT | ENTRY_USER))
		return 0;
	return in_page(map, e, addr, PAGE_BYTES);
}

/* Where the kernel has the page tables of a task's process. */
static __always_inline __u64 tables_of(struct task_struct *task)
{
	struct mm_struct *mm = can_walk ? task->mm : NULL;

	/* a number, since nothing can be taken off a pointer */
	return mm ? KERNEL_WORD(&mm->pgd, r15) : 0;
}

/* Before a call's arguments are read. */
static __always_inline void direct_begin(struct thread *t, struct task_struct *task)
{
	struct mm_struct *mm = can_walk ? task->mm : NULL;

	t->tables = tables_of(task);
	t->flushes = mm ? (__u64)&mm->context.tlb_gen : 0;
}

/* How often translations of the thread's process have been flushed. */
static __always_inline __u64 flushes(struct thread *t)
{
	return can_walk ? KERNEL_WORD(t->flushes, r15) : 0;
}
#else
#define KERNEL_WORD(at, n) 0ull

static __always_inline __u64 direct_address(__u64 tables, __u64 addr)
{
	return 0;
}

static __always_inline __u64 tables_of(struct task_struct *task)
{
	return 0;
}

static __always_inline void direct_begin(struct thread *t, struct task_struct *task)
{
	t->tables = 0;
}

static __always_inline __u64 flushes(struct thread *t)
{
	return 0;
}
#endif

/* Do `n` bytes from there on lie in one page? */
static __always_inline bool in_one_page(__u64 addr, __u32 n)
{
	return (addr & (PAGE_BYTES - 1)) <= PAGE_BYTES - n;
}

/* Three words at `addr` into t->words, also where fewer are wanted: together they are hardly ever zero. 0: not to be had so. */
__noinline int direct_words(struct thread *t, __u64 addr)
{
	__u64 at, w0, w1, w2, before;

	if (!t || !in_one_page(addr, sizeof(t->words)))
		return 0;
	before = flushes(t);
	at = direct_address(t->tables, addr);
	if (!at)
		return 0;
	w0 = KERNEL_WORD(at, r15);
	w1 = KERNEL_WORD(at, r14);
	w2 = KERNEL_WORD(at, r13);
	if (!(w0 | w1 | w2) || flushes(t) != before)
		return 0;
	t->words[0] = w0;
	t->words[1] = w1;
	t->words[2] = w2;
	return 1;
}

#endif
