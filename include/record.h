/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The wire between the BPF side and the user side: the records of the ring buffer and the
 * descriptions of the probes. The same records come out of a recording again, so the model
 * has this one input format.
 *
 * All times are CLOCK_MONOTONIC in nanoseconds, as bpf_ktime_get_ns() gives them. All pids and
 * tids are those of the initial pid namespace. Widths are fixed and padding is explicit; a
 * reader skips a record of unknown type by its size and counts it.
 */
#ifndef FRAMESCOPE_RECORD_H
#define FRAMESCOPE_RECORD_H

#ifndef __bpf__
#include <linux/types.h>
#include <stddef.h>
#endif

#define RECORD_MAX_SIZE 8192	/* header, arguments and all; a larger one is corrupt */
#define RECORD_MAX_STRING 4096	/* bytes of one string argument, the hard limit of --string-size */
#define RECORD_MAX_ARGS 12	/* arguments that one probe reads */
#define RECORD_MAX_STEPS 10	/* steps from a register to a value */
#define RECORD_MAX_DEPTH 512	/* open probed calls of one thread; deeper ones are counted, not recorded */
#define RECORD_MAX_METRICS 8	/* metrics beside time that one recording carries */
#define RECORD_MAX_PROBES 1024	/* probes of one capture */

enum record_type {
	/* from the BPF side, which packs them: wire.h */
	REC_BEGIN = 1,		/* a probed call starts */
	REC_END = 2,		/* a probed call ends; enough for an event by itself */
	REC_MARK = 3,		/* an entry-only probe was hit: same layout as REC_BEGIN */
	REC_AGGREGATE = 4,	/* calls of a hot leaf, summed up under their parent */
	REC_THREAD = 5,		/* a thread's first record, or its new name */
	REC_FORK = 6,		/* a process of the target forked a new process */
	REC_EXEC = 7,		/* a process of the target replaced its image */
	REC_EXIT = 8,		/* a process of the target ended */
	/* from the user side, between the others */
	REC_CPU = 9,		/* a process's CPU clock */
	REC_COST = 10,		/* what one probed call costs now, from calibration */
	REC_LOSS = 11,		/* records lost since the last REC_LOSS */
	REC_NOTE = 12,		/* something a reader of the timeline must know, as text */
};

/* What a record or the event made of it suffered. */
enum record_flag {
	REC_F_UNWOUND = 1 << 0,		/* END: never returned (exception, longjmp); seen at the next begin or exit */
	REC_F_CLIPPED = 1 << 1,		/* END: still open when recording stopped or the thread ended */
	REC_F_STACK_SWITCH = 1 << 2,	/* BEGIN: on another stack than the open calls below it */
	REC_F_TAIL = 1 << 3,		/* BEGIN: entered by a jump from the function on top */
	REC_F_DEEP = 1 << 4,		/* calls above this one were deeper than RECORD_MAX_DEPTH */
	REC_F_READ_FAILED = 1 << 5,	/* BEGIN: at least one argument could not be read; it is absent */
	REC_F_HIDDEN = 1 << 6,		/* END: has children that --min-duration or --only-under hid */
	REC_F_NO_RETURN = 1 << 7,	/* END: beyond the kernel's 64 nested return probes; seen at the next begin or exit */
	REC_F_OVERHEAD = 1 << 8,	/* another profiler says what measuring cost in the call itself. END: hidden_ns is that;
					 * AGGREGATE: total_ns contains it, and it stands behind the arguments */
};

struct rec_header {
	__u16 type;	/* enum record_type */
	__u16 size;	/* of the whole record in bytes, a multiple of 8 */
	__u32 tid;
	__u64 ts_ns;
};

/* REC_BEGIN and REC_MARK. Followed by arg_bytes of struct rec_arg, then padding to 8. */
struct rec_begin {
	struct rec_header hdr;
	__u64 call_id;		/* never 0, never reused within a recording; per thread it only grows */
	__u64 parent_id;	/* 0: no probed call was open on this thread */
	__u64 sp;		/* stack pointer at the function's first instruction */
	__u32 probe;		/* index into the recording's probe table */
	__u32 tgid;
	__u16 depth;		/* open probed calls below this one */
	__u16 flags;		/* enum record_flag */
	__u16 arg_bytes;
	__u16 pad;
	__u32 read_ns;		/* just before ts_ns the thread ran so long to read the arguments; 0: not measured */
	__u32 pad2;
};

/* REC_END. Followed by nr_metrics __u64: the differences between end and begin. */
struct rec_end {
	struct rec_header hdr;
	__u64 begin_ns;		/* ts_ns of its REC_BEGIN: an end alone makes an event */
	__u64 call_id;
	__u64 parent_id;
	__u64 sp;
	__u64 off_cpu_ns;	/* the thread did not run for so long between begin and end, children included */
	__u32 probe;
	__u32 tgid;
	__u16 depth;
	__u16 flags;
	__u16 nr_metrics;
	__u16 pad;
	__u64 hidden_ns;	/* wall time of direct children that were hidden in the kernel */
	__u32 hidden_hits;	/* and their number */
	__u32 measured_ns;	/* the sum of their read_ns and of summed ones', and what sending records took in the call
				 * itself; at most the largest number there is */
};

/* REC_AGGREGATE: hits calls of one probe with the same key below one parent. ts_ns is the last end.
 * Followed by arg_bytes of struct rec_arg, as in rec_begin; with REC_F_OVERHEAD, one __u64 comes behind. */
struct rec_aggregate {
	struct rec_header hdr;
	__u64 first_ns;		/* begin of the first call */
	__u64 total_ns;		/* of all calls: wall time without that off the CPU */
	__u64 call_id;		/* of this record, for its identity */
	__u64 parent_id;
	__u64 hits;
	__u32 probe;
	__u32 tgid;
	__u16 depth;
	__u16 flags;
	__u16 arg_bytes;
	__u16 pad;
};

/* REC_THREAD, REC_FORK, REC_EXEC, REC_EXIT. */
struct rec_task {
	struct rec_header hdr;
	__u32 tgid;
	__u32 child_tgid;	/* REC_FORK: the new process; otherwise 0 */
	char comm[16];		/* NUL-terminated; hostile */
};

/* REC_CPU: user + system time of a process since it began, children excluded. */
struct rec_cpu {
	struct rec_header hdr;	/* tid: the process */
	__u64 cpu_ns;
	__u32 final;		/* 1: read after the process ended */
	__u32 pad;
};

/* REC_COST: a median over a burst of calls of the calibration twin. */
struct rec_cost {
	struct rec_header hdr;	/* tid: 0 */
	__u32 cost_class;	/* enum cost_class, all bits: which kind of probe */
	__u32 samples;
	__u64 inner_ns;		/* of one call's cost, the part between its begin and end time stamps */
	__u64 outer_ns;		/* and the part outside of them, without what read_ns tells: it falls to the parent */
	__u64 spread_ns;	/* half the distance of the quartiles of inner + outer */
};

/* REC_LOSS: since the last such record of that probe. */
struct rec_loss {
	struct rec_header hdr;	/* tid: 0; ts_ns: when it was noticed */
	__u64 since_ns;		/* the gap began no earlier */
	__u32 probe;
	__u32 lost_begins;
	__u32 lost_ends;
	__u32 lost_marks;	/* marks and aggregates */
};

/* REC_NOTE. Followed by text_bytes of UTF-8, then padding to 8. */
struct rec_note {
	struct rec_header hdr;
	__u32 probe;		/* what it is about, or ~0 */
	__u16 text_bytes;
	__u16 pad;
};

/* What an argument means. The model and the exporters go by this, never by an engine's name. */
enum arg_field {
	FIELD_URL = 1,		/* of the document, sheet or script that the event is about */
	FIELD_SELECTOR,		/* CSS selector text */
	FIELD_EVENT_NAME,	/* of the DOM event, for an event handler */
	FIELD_LABEL,		/* any other text */
	FIELD_TITLE,		/* of a window */
	FIELD_FRAME,		/* identity of the frame, any integer but 0 */
	FIELD_PARENT_FRAME,
	FIELD_DOCUMENT,		/* identity of the document */
	FIELD_WINDOW,		/* identity of the window */
	FIELD_X, FIELD_Y, FIELD_W, FIELD_H,	/* painted area, relative to the view */
	FIELD_X1, FIELD_Y1,	/* its right and lower edge, where an engine has those instead of W and H */
	FIELD_OX, FIELD_OY,	/* scroll offsets of the view */
	FIELD_THREAD_TYPE,	/* enum script_thread_type */
	FIELD_SCRIPT_TYPE,	/* enum script_type */
	FIELD_LINE, FIELD_COLUMN,	/* 1-based */
	FIELD_ID,		/* of the async operation or flow that this belongs to */
	FIELD_COUNT,		/* hits, where one call stands for several */
	FIELD_KEY,		/* what an aggregate probe sums by, when it isn't the first string */
	FIELD_END,
};

/* How an argument's bytes are to be read. */
enum arg_encoding {
	ENC_INT = 1,	/* 8 bytes, little endian, two's complement */
	ENC_UTF8 = 2,	/* perhaps invalid */
	ENC_LATIN1 = 3,
	ENC_UTF16 = 4,	/* little endian, perhaps with lone surrogates */
	ENC_TRUNCATED = 0x80,	/* flag: the string was longer */
};

/* One argument: this header, `bytes` bytes, then padding to 4. Not aligned to 8: copy integers out. */
struct rec_arg {
	__u8 field;	/* enum arg_field */
	__u8 encoding;	/* enum arg_encoding */
	__u16 bytes;
};

/* --- probe descriptions, written by the user side before the programs are armed --- */

enum step_op {
	STEP_END = 0,
	STEP_ADD = 1,	/* p += off */
	STEP_LOAD64 = 2,	/* p = *(u64 *)(p + off) */
	STEP_LOADU32 = 3, STEP_LOADS32 = 4, STEP_LOADU16 = 5, STEP_LOADU8 = 6, STEP_LOADS16 = 7,
	STEP_CAGE = 8,	/* compressed pointer: p = ((s64)*(s32 *)(p + off) << shift) & *(u64 *)(load base + cage); shift: pad[0], 0 = 3 */
	STEP_AND = 9,	/* p &= off (sign-extended) */
	STEP_SHR = 10,	/* p >>= off */
	STEP_NONZERO = 11,	/* absent unless p != 0 */
	STEP_MASK_TEST = 12,	/* absent unless p & off */
	STEP_NEG = 13,		/* p = -p */
	STEP_GUARD = 14,	/* absent unless what stands at p + off, read as by step pad[0], is pad[1] (is not, with pad[2]) */
};

/* What stands at the end of the steps. */
enum arg_kind {
	KIND_INT = 1,		/* p itself */
	KIND_CSTR = 2,		/* NUL-terminated 8-bit text at p */
	KIND_PTR_LEN8 = 3,	/* text at p, length (characters) from the second chain */
	KIND_PTR_LEN16 = 4,	/* same, UTF-16 */
	KIND_STD_STRING = 5,	/* libstdc++: { char *data; size_t len; … } at p */
	KIND_LIBCXX_STRING = 6,	/* libc++, ABI 1, alternate layout or not told apart by its flag bit */
	KIND_WTF_BLINK = 7,	/* StringImpl *p: { u32 ref; u32 length; u32 flags; chars } */
	KIND_WTF_WEBKIT = 8,	/* StringImpl *p: { u32 ref; u32 length; void *data; u32 flags } */
	KIND_NS_CSTRING = 9,	/* { char *data; u32 len; … } at p: UTF-8 */
	KIND_NS_STRING = 10,	/* same, UTF-16 */
	KIND_V8_STRING = 11,	/* tagged pointer, no compression */
	KIND_CSTR16 = 12,	/* NUL-terminated UTF-16 at p */
	KIND_CONST = 13,	/* the constant `aux`: nothing is read */
	KIND_BLINK_SELECTOR = 14,	/* array of simple selectors at p, from the one whose index the second chain tells; laid
					 * out as `aux` says (selector_layout.h) */
	KIND_LIBCSS_SELECTOR = 15,	/* libcss's struct css_selector at p */
};

struct arg_step {
	__u8 op;	/* enum step_op */
	__u8 pad[3];
	__s32 off;
};

struct arg_spec {
	__u8 field;	/* enum arg_field */
	__u8 kind;	/* enum arg_kind */
	__u8 reg;	/* index into the architecture's register table, see target/arch.h */
	__u8 nr_steps;
	__u8 len_reg;	/* KIND_PTR_LEN*: the chain of the length */
	__u8 nr_len_steps;
	__u16 max_bytes;	/* of the string, at most RECORD_MAX_STRING */
	__s64 aux;
	struct arg_step steps[RECORD_MAX_STEPS];
	struct arg_step len_steps[4];
};

enum probe_flag {
	PROBE_MARK = 1 << 0,		/* entry only: REC_MARK */
	PROBE_EXITS = 1 << 1,		/* ended by exit probes on its returns, not by a return probe */
	PROBE_AGGREGATE = 1 << 2,	/* REC_AGGREGATE */
	PROBE_OFF = 1 << 3,		/* switched off while attached (--budget) */
	PROBE_READ_AT_EXIT = 1 << 4,	/* arguments are read again when the call ends if they failed at entry */
	PROBE_UNDER = 1 << 5,		/* counts as an opener for --only-under */
};

/* Which kind of instruction a site's probe replaces: what the kernel has to do for it (facts of 6.18). */
enum cost_class {
	COST_UNKNOWN = 0,
	COST_EMULATED = 1,	/* push, nop, …: one trap */
	COST_STEPPED = 2,	/* single-stepped out of line: two traps, about five times as much */
	COST_NOP5 = 3,		/* rewritten to a call on 6.18 and later; single-stepped before */
	COST_KIND = 3,		/* mask of the above. What else a probe does decides as much, in the bits beside it: */
	COST_EXITS = 1 << 2,	/* its calls end at exit probes, not at a return probe */
	COST_MARK = 1 << 3,	/* they are marks: all that they cost falls to the caller */
	COST_TEXT = 1 << 4,	/* it reads one text, the quick way */
	COST_ARGS = 1 << 5,	/* it reads arguments as its description says */
	COST_CLASSES = 64,
};

struct probe_spec {
	__u32 flags;	/* enum probe_flag */
	__u32 nr_args;
	__u64 vaddr;	/* of the function in its module: load base = ip - vaddr */
	__u64 cage;	/* vaddr of the global that holds the pointer cage's base; 0: none */
	__u16 type;	/* enum event_type */
	__u16 cost_class;
	__u32 pad;
	struct arg_spec args[RECORD_MAX_ARGS];
};

/* Per probe and CPU. calls == received begins + lost_begins, and the same for ends. */
struct probe_stats {
	__u64 calls;		/* begins (or marks) of the target while armed */
	__u64 ends;		/* ends: returned, unwound and clipped ones */
	__u64 lost_begins;	/* no room in the ring buffer */
	__u64 lost_ends;
	__u64 unwound;
	__u64 orphan_exits;	/* exits of calls that had begun before arming: nothing is recorded */
	__u64 too_deep;		/* calls beyond RECORD_MAX_DEPTH */
	__u64 read_failed;	/* arguments that could not be read, */
	__u64 faulted_in;	/* arguments that were read at the second try, after faulting the page in */
	__u64 hidden;		/* calls that --min-duration or --only-under hid */
	__u64 unread[FIELD_END];	/* and of read_failed: by enum arg_field */
};

#ifndef __bpf__
#define REC_ASSERT(what) _Static_assert(what, #what)
#else
#define REC_ASSERT(what) _Static_assert(what, "record.h layout")
#endif
REC_ASSERT(sizeof(struct rec_header) == 16);
REC_ASSERT(sizeof(struct rec_begin) == 64);
REC_ASSERT(__builtin_offsetof(struct rec_begin, probe) == 40);
REC_ASSERT(__builtin_offsetof(struct rec_begin, arg_bytes) == 52);
REC_ASSERT(sizeof(struct rec_end) == 88);
REC_ASSERT(__builtin_offsetof(struct rec_end, off_cpu_ns) == 48);
REC_ASSERT(__builtin_offsetof(struct rec_end, probe) == 56);
REC_ASSERT(sizeof(struct rec_aggregate) == 72);
REC_ASSERT(sizeof(struct rec_task) == 40);
REC_ASSERT(sizeof(struct rec_cpu) == 32);
REC_ASSERT(sizeof(struct rec_cost) == 48);
REC_ASSERT(sizeof(struct rec_loss) == 40);
REC_ASSERT(sizeof(struct rec_note) == 24);
REC_ASSERT(sizeof(struct rec_arg) == 4);
REC_ASSERT(sizeof(struct arg_step) == 8);
REC_ASSERT(sizeof(struct arg_spec) == 16 + 8 * RECORD_MAX_STEPS + 32);
REC_ASSERT(sizeof(struct probe_spec) % 8 == 0);
REC_ASSERT(sizeof(struct probe_stats) == 80 + 8 * FIELD_END);

#endif
