/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How a thread's records travel through the ring: packed, since every byte costs the target time. A sample of the ring
 * either is one record of record.h, or a chunk: its header, then packed records and whole ones, one behind the other.
 * capture/ring.c makes records of record.h of all of them; nothing else knows this form.
 */
#ifndef FRAMESCOPE_WIRE_H
#define FRAMESCOPE_WIRE_H

#ifndef __bpf__
#include <linux/types.h>
#endif

/* The first byte. Whole records have theirs, the low one of rec_header.type, below. */
enum wire_kind {
	WIRE_CHUNK = 0x40,
	WIRE_BEGIN,
	WIRE_MARK,
	WIRE_END,	/* of a begin in the same chunk */
	WIRE_END_OFF,	/* the same, followed by its off_cpu_ns */
	WIRE_READ = 0x80,	/* flag of begins and marks: the first four of the arg_bytes are read_ns */
};

#define WIRE_KIND(kind) ((__u8)(kind) & ~WIRE_READ)

struct wire_chunk {
	__u8 kind;
	__u8 pad[3];
	__u32 tid;
	__u32 tgid;
	__u32 pad2;
	__u64 base_id;	/* call ids in this chunk are equal or larger */
};

/* rec_begin; followed by arg_bytes and padding to 8. */
struct wire_begin {
	__u8 kind;
	__u8 flags;	/* enum record_flag: the low 8 */
	__u16 arg_bytes;
	__u32 id;	/* low half of call_id */
	__u64 ts_ns;
	__u64 sp;
	__u32 up;	/* call_id - parent_id; 0: no parent */
	__u16 probe;
	__u16 depth;
};

struct wire_end {
	__u8 kind;
	__u8 flags;
	__u16 begin_at;	/* of its wire_begin in the chunk */
	__u32 pad;
	__u64 ts_ns;
};

_Static_assert(sizeof(struct wire_chunk) == 24, "wire layout");
_Static_assert(sizeof(struct wire_begin) == 32, "wire layout");
_Static_assert(sizeof(struct wire_end) == 16, "wire layout");

/*
 * What a probe's cookie tells the programs, so that they need not look it up in a map: the probe, the last 12 bits of
 * its address (the same in every process), and how it is to be treated.
 */
#define COOKIE_PROBE(c) ((__u16)(c))
#define COOKIE_PAGE_OFFSET(c) ((__u32)((c) >> 16) & 0xfff)
#define COOKIE_MARK (1ull << 28)
#define COOKIE_OPENER (1ull << 29)	/* for --only-under */
#define COOKIE_ARGS (1ull << 30)	/* has arguments, described in the map of probe specs */
#define COOKIE_CSTR (1ull << 31)	/* one argument, a NUL-terminated text in a register: the three below */
#define COOKIE_REG(c) ((__u32)((c) >> 32) & 7)	/* arg0 to arg5 */
#define COOKIE_MAX(c) ((__u32)((c) >> 35) & 0x3ff)	/* bytes, at most COOKIE_CSTR_MAX */
#define COOKIE_FIELD(c) ((__u32)((c) >> 45) & 0xff)
#define COOKIE_AGGREGATE (1ull << 53)
#define COOKIE_KEY (1ull << 54)	/* what it sums by is the register COOKIE_REG as it stands */

#define COOKIE_CSTR_MAX 256

#endif
