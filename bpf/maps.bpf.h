/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the programs share: the ring, the targets, the probe descriptions and the state of a thread.
 * probe.bpf.c defines the maps (DEFINE_MAPS), the other files declare them; the linker joins them by name.
 */
#ifndef FRAMESCOPE_MAPS_BPF_H
#define FRAMESCOPE_MAPS_BPF_H

#include "vmlinux.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "record.h"
#include "selector_layout.h"
#include "control.h"
#include "wire.h"

#ifdef DEFINE_MAPS
#define MAP
#else
#define MAP extern
#endif

/* What a return has taken off the stack. */
#if defined(__TARGET_ARCH_x86)
#define RETURN_SP_OFFSET 8
#define NR_REGS 18	/* as numbered in target/arch.h */
#else
#define RETURN_SP_OFFSET 0
#define NR_REGS 34
#endif

/* Programs that are not sleepable may not even contain it: metrics.bpf.h says why there are such. */
#ifdef COUNTERS
#define bpf_copy_from_user(dst, n, src) ((void)(dst), (void)(src), -1L)
#endif

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

/* One open call. Its kind of end decides what it means when another call begins at the same stack pointer. */
enum frame_flag {
	FRAME_CLOSED = 1 << 0,		/* in the middle of the stack: the call ended before one that began later */
	FRAME_RETURN = 1 << 1,		/* ended by a return probe, else by exit probes */
	FRAME_NO_RETURN = 1 << 2,	/* the kernel had no room for another return probe: seen to end late */
	FRAME_OPENER = 1 << 3,		/* for --only-under */
	FRAME_SUMMED = 1 << 4,		/* of an aggregate probe: no records of its own; buf_at is its place there */
	FRAME_SUMS = 1 << 5,		/* has summed calls below it */
};

struct frame {
	__u64 begin_ns;
	__u64 call_id;
	__u64 parent_id;
	__u64 sp;
	__u64 off_begin;	/* the thread's off-CPU sum at begin */
	__u64 hidden_ns;
	__u32 hidden_hits;
	__u16 probe;
	__u16 depth;
	__u8 flags;		/* enum frame_flag */
	__u8 rec_flags;		/* enum record_flag for the end */
	__u16 parent;		/* index + 1 of the parent's frame; 0: none */
	__u32 generation;	/* while it is the thread's, its begin record stands in buf, */
	__u16 buf_at, buf_end;	/* from here to here */
	__u32 read_ns;		/* it took so long to read the arguments: the caller's overhead */
	__u64 measured_ns;	/* the same of hidden and summed calls below it, and what sending took while it was the innermost */
};

#define V8_MAX_REST 8		/* second halves of a V8 string that wait for their first ones */
#define CHUNK_FRAMES 32		/* frames in the thread's storage; deeper ones are in deep_frames, by as many */
#define BUF_BYTES 12288		/* BUF_FULL, and then a record with the largest text */
#define BUF_FULL 4096		/* sent at the end of a call when there is more than this (or a 16th of the ring) */
#define BUF_LATE_NS 20000000	/* or when a record has waited for so long; else when the thread stops running */
#define STACK_FAR (16ULL << 20)	/* stack pointers farther apart are on different stacks */

/* One simple selector of the selector being read. */
struct selector_part {
	__u64 value;
	__u32 bits;
	__u32 first;		/* index of the first one of its compound */
};

/* The selector being read. */
struct selector_reading {
	__u64 p;		/* its array of simple selectors, or the next compound */
	__u64 layout;
	__u32 nr;		/* of them */
	__u32 bits, first;	/* of the last one; or the number of the next one in its compound */
	__u32 at;		/* the next one to be put down */
	__u32 max, len;		/* bytes of the text */
	bool whole, cut;
	struct selector_part parts[SELECTOR_PARTS];
};

#define AGGREGATE_ARGS 192	/* bytes of arguments of a sum */
#define SUMS 256		/* that a thread has under way: a page matches some hundred rules */
#define SUM_WAYS 8		/* places that one may have: what its key spreads over is SUMS / SUM_WAYS */

struct aggregate {
	__u64 key;
	__u64 parent_id;
	__u64 call_id;		/* of the record to come, and of all its calls */
	__u64 first_ns, last_ns, total_ns;
	__u32 hits;		/* 0: nothing to be sent */
	__u16 probe, depth;
	__u16 flags, arg_bytes;
	__u32 pad;
	__u8 args[AGGREGATE_ARGS];
};

/* A thread's sums, if it ever has some: too many bytes for each to have them. */
struct sums {
	struct aggregate sum[SUMS];
};

#define KNOWN_PAGES 16
#define NO_PAGE ~0ull

/* Where the kernel itself has a page of the target's. */
struct known_page {
	__u64 page;		/* address / PAGE_BYTES, or NO_PAGE */
	__u64 at;
	__u64 flushed;		/* true until the count of flushes is another */
	__u64 pad;
};

/*
 * A thread's state. Records are put together in buf and leave it in one piece, when it is full or the thread stops
 * running: a transaction with the ring costs as much as all the rest of a begin or end. Only the thread itself touches
 * it; fs_switch() does on its behalf, and fs_close() after disarming.
 */
struct thread {
	__u32 tid, tgid;
	__u32 epoch;		/* of the recording that all below belongs to */
	__u32 top;		/* frames in use, closed ones in the middle included */
	__u64 next_id;		/* serial number << 32 | calls so far */
	__u64 off_at;		/* when it stopped running with calls open; 0: runs */
	__u64 off_sum;
	__u64 off_last_at, off_last;	/* the last time of that: when it began, and for how long */
	__u64 buf_since;	/* time of the oldest record in buf */
	__u32 len;		/* of buf; its first bytes are a chunk's header */
	__u32 generation;	/* of buf: counts its flushes */
	__u32 deep;		/* open calls beyond RECORD_MAX_DEPTH */
	__u32 max_top;
	__u32 under;		/* open calls that are openers for --only-under */
	__u32 slot;		/* its own number */
	__u32 sums;		/* its row of sums + 1; 0: none yet */
	volatile __u32 busy;	/* in one of the programs: buf is the program's, even when the thread is preempted */
	__u64 cage_at, cage_base;	/* the pointer cage's base as last read, and where */
	__u64 sums_below;	/* while they are sent: of which caller */
	__u64 tables;		/* its process's page tables, while arguments are read; 0: not to be walked */
	__u64 flushes;		/* and where the kernel counts how often processors were told of changes in them, */
	__u64 flushed;		/* and what that count was when reading began */
	__u64 process;		/* that pages are of, as the kernel numbers address spaces */
	__u64 words[3];		/* of the target's memory, as last read */
	struct known_page pages[KNOWN_PAGES];
	__u64 regs[NR_REGS];	/* at the call whose arguments are being read: the stack, 512 bytes, has no room for them */
	/* second halves of the V8 string being read, the next one first: kept here for the stack's sake, too */
	__u64 v8_rest[V8_MAX_REST];
	struct selector_reading selector;	/* the same */
	__u64 counter_sum[RECORD_MAX_METRICS];	/* of each perf counter, until the thread was last put on a CPU */
	__u64 counter_at[RECORD_MAX_METRICS];	/* and what the CPU's counter said then */
	struct frame frames[CHUNK_FRAMES];
	__u8 buf[BUF_BYTES];
};

struct frame_chunk {
	struct frame frames[CHUNK_FRAMES];
};

MAP struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 16 << 20);
} ring SEC(".maps");

/*
 * The state of the target's threads that hit a probe, found by their number: a bucket of slots, one of which is the
 * thread's. Task storage would be simpler, but two look-ups of it cost more than all the rest of a begin and its end
 * (measured on 6.18: 200 ns against 30).
 */
MAP struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SLOTS_MAX);
	__type(key, __u32);
	__type(value, struct thread);
} threads SEC(".maps");

/* The user side makes room for SUM_ROWS threads where there is an aggregate probe. */
MAP struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct sums);
} sums SEC(".maps");

/* key: tid << 32 | chunk number, from 1 */
MAP struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 65536);
	__type(key, __u64);
	__type(value, struct frame_chunk);
} deep_frames SEC(".maps");

/* What metrics were at the begin of open calls: a row for each slot and frame, if there are metrics at all. */
MAP struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct metric_values);
} metric_values SEC(".maps");

/* perf counters: number * CPUs + CPU */
MAP struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(max_entries, 1);
	__type(key, int);
	__type(value, int);
} counters SEC(".maps");

/* tgids whose calls are recorded */
MAP struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, __u32);
	__type(value, __u32);
} targets SEC(".maps");

MAP struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct probe_spec);
} specs SEC(".maps");

MAP struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct probe_stats);
} stats SEC(".maps");

#define BUCKETS_MAX (SLOTS_MAX / BUCKET_SLOTS)

#ifdef DEFINE_MAPS
struct owners owners;
struct sum_owners sum_owners;
struct control ctl;
const volatile __u32 nr_sum_rows = 1;
const volatile __u32 nr_probes = 1;
const volatile __u32 ring_bytes = 16 << 20;
const volatile __u32 buf_full = BUF_FULL;
const volatile bool sleepable = true;
const volatile bool can_walk;	/* the kernel has what direct.bpf.h needs */
const volatile __u32 nr_metrics;
const volatile __u32 nr_counters;
const volatile __u32 nr_cpus = 1;
const volatile __u8 metric_kinds[RECORD_MAX_METRICS] = {};
const volatile __u32 nr_buckets = BUCKETS_MAX;	/* a power of two */
#else
extern struct owners owners;
extern struct sum_owners sum_owners;
extern const volatile __u32 nr_sum_rows;
extern struct control ctl;
extern const volatile __u32 nr_probes;
extern const volatile __u32 ring_bytes;
extern const volatile __u32 buf_full;
extern const volatile bool sleepable;
extern const volatile bool can_walk;
extern const volatile __u32 nr_metrics;
extern const volatile __u32 nr_counters;
extern const volatile __u32 nr_cpus;
extern const volatile __u8 metric_kinds[RECORD_MAX_METRICS];
extern const volatile __u32 nr_buckets;
#endif

static __always_inline __u32 bucket_of(__u32 tid)
{
	/* numbers are given out one after the other: this spreads a program's threads evenly */
	return (tid & (nr_buckets - 1) & (BUCKETS_MAX - 1)) * BUCKET_SLOTS;
}

/* The thread's state, if it has one. */
static __always_inline struct thread *thread_find(__u32 tid)
{
	__u32 first = bucket_of(tid), slot;

	/* the idle task, whose number marks free slots */
	if (!tid)
		return NULL;
#pragma unroll
	for (int i = 0; i < BUCKET_SLOTS; i++) {
		slot = first + i;
		if (owners.tid[slot] == tid)
			return bpf_map_lookup_elem(&threads, &slot);
	}
	return NULL;
}

static __always_inline __u32 saturate(__u64 v)
{
	return v > ~0u ? ~0u : v;
}

static __always_inline struct probe_stats *stats_of(__u32 probe)
{
	return bpf_map_lookup_elem(&stats, &probe);
}

/* For what happens seldom: begins and ends are counted where they arrive. Per CPU, but a probed thread may be
 * preempted inside a program: plain increments would lose some. */
#define COUNT(probe, member, n) do {						\
	struct probe_stats *s_ = stats_of(probe);				\
	if (s_)									\
		__sync_fetch_and_add(&s_->member, (n));				\
} while (0)

#endif
