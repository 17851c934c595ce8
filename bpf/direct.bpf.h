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
 * lies between two loads of the same count is thus the process's, and a page that was found stays where it is until that
 * count changes; x86 keeps loads in order, and so does clang around the cast, a call to it. Tables that were freed in
 * between may name any place: none outside of memory is loaded from, where there may be devices.
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

/*
 * What is known of another process, that of the slot's last thread or of this one before it called execve(). No count of
 * flushes says so: a new process's begins at zero.
 */
static __noinline void forget_pages(struct thread *t, __u64 process)
{
	for (__u32 i = 0; i < KNOWN_PAGES; i++)
		t->pages[i].page = NO_PAGE;
	t->process = process;
}

/* Before a call's arguments are read. */
static __always_inline void direct_begin(struct thread *t, struct task_struct *task)
{
	struct mm_struct *mm = can_walk ? task->mm : NULL;

	t->tables = 0;
	if (!mm)
		return;
	t->tables = tables_of(task);
	t->flushes = (__u64)&mm->context.tlb_gen;
	t->flushed = KERNEL_WORD(t->flushes, r15);
	if (unlikely(t->process != mm->context.ctx_id))
		forget_pages(t, mm->context.ctx_id);
}

/* Is all that was read since direct_begin() the process's? Not if translations have been flushed since. */
static __always_inline bool still_there(struct thread *t)
{
	return can_walk && KERNEL_WORD(t->flushes, r15) == t->flushed;
}

/* direct_address(), remembered for as long as no translation is flushed. */
__noinline __u64 find_page(struct thread *t, __u64 addr)
{
	struct known_page *k;
	__u64 at;

	if (!t)
		return 0;
	at = direct_address(t->tables, addr);
	if (!at || !still_there(t))
		return 0;
	k = &t->pages[addr / PAGE_BYTES % KNOWN_PAGES];
	k->page = addr / PAGE_BYTES;
	k->at = at & ~(PAGE_BYTES - 1ull);
	k->flushed = t->flushed;
	return at;
}

/* Where the kernel has the byte at `addr` of the thread's process, or 0. */
static __always_inline __u64 direct_place(struct thread *t, __u64 addr)
{
	struct known_page *k = &t->pages[addr / PAGE_BYTES % KNOWN_PAGES];

	/* where it can't be, the verifier must not even see a load from there */
	if (!can_walk || !t->tables)
		return 0;
	if (likely(k->page == addr / PAGE_BYTES && k->flushed == t->flushed))
		return k->at + addr % PAGE_BYTES;
	return find_page(t, addr);
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

static __always_inline bool still_there(struct thread *t)
{
	return false;
}

static __always_inline __u64 direct_place(struct thread *t, __u64 addr)
{
	return 0;
}
#endif

/* Do `n` bytes from there on lie in one page? */
static __always_inline bool in_one_page(__u64 addr, __u32 n)
{
	return (addr & (PAGE_BYTES - 1)) <= PAGE_BYTES - n;
}

struct words { __u64 w[3]; };

/* Three words at `addr`, also where fewer are wanted: together they are hardly ever zero. False: not to be had so. */
static __always_inline bool words_at(struct thread *t, __u64 addr, struct words *w)
{
	__u64 at;

	if (!in_one_page(addr, sizeof(*w)))
		return false;
	at = direct_place(t, addr);
	if (!at)
		return false;
	w->w[0] = KERNEL_WORD(at, r15);
	w->w[1] = KERNEL_WORD(at, r14);
	w->w[2] = KERNEL_WORD(at, r13);
	return w->w[0] | w->w[1] | w->w[2] && still_there(t);
}

/* The same into t->words. */
__noinline int direct_words(struct thread *t, __u64 addr)
{
	struct words w;

	if (!t || !words_at(t, addr, &w))
		return 0;
	__builtin_memcpy(t->words, w.w, sizeof(w));
	return 1;
}

#endif
