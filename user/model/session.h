/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The model: a recording's records as one timeline of nested events per frame. The only place where begins and ends
 * are paired. No I/O, no libbpf; immutable once built, so several threads may read it.
 */
#ifndef FRAMESCOPE_MODEL_SESSION_H
#define FRAMESCOPE_MODEL_SESSION_H

#include "base/error.h"
#include "recording.h"

struct session;

/* --- building --- */

struct session_builder;

/* Before the first session_builder_add(): records of probes that aren't in the tables are left out. Copies the tables that
 * it is given. begin_ns of the info is 0 of all times below. */
int session_builder_new(struct session_builder **ret);
int session_builder_tables(struct session_builder *b, const struct recording_info *info,
			   const struct recording_probe *probes, size_t nr_probes,
			   const struct recording_process *procs, size_t nr_procs,
			   const struct recording_thread *threads, size_t nr_threads);
/* Any record, in any state of loss; hostile input gives odd events, never a fault. -ENOMEM only. */
int session_builder_add(struct session_builder *b, const struct rec_header *rec);
/* After the last record: what reading them has shown to be missing, of this info. */
void session_builder_missing(struct session_builder *b, const struct recording_info *info);
int session_builder_finish(struct session_builder *b, struct session **ret);	/* frees b in any case */
void session_builder_free(struct session_builder *b);
void session_free(struct session *s);

/* --- reading. Everything handed out is valid until session_free() --- */

enum event_flag {
	EV_UNWOUND = 1 << 0,	/* never returned: exception or longjmp */
	EV_CLIPPED = 1 << 1,	/* open when recording ended: the end is that moment */
	EV_NO_BEGIN = 1 << 2,	/* made of an end alone: its begin record was lost, details are absent */
	EV_NO_END = 1 << 3,	/* its end was lost: closed where the next record shows that it had ended */
	EV_MOVED = 1 << 4,	/* its frame differs from its caller's: top of its own timeline */
	EV_AGGREGATE = 1 << 5,	/* stands for `hits` calls; the interval spans from the first to the last */
	EV_OVERHEAD_HIGH = 1 << 6,	/* overhead_ns is more than half of time_ns */
	EV_DEEP = 1 << 7,	/* has descendants that were too deep to be recorded */
};

/* Type-specific data, interned: equal details are the same pointer. Absent strings are NULL, absent numbers per `has`. */
struct event_detail {
	const char *url, *selector, *event_name, *label;
	uint32_t has;		/* bit per enum arg_field below FIELD_END */
	int32_t x, y, w, h, ox, oy;
	uint32_t line, column;
	uint8_t thread_type, script_type;
};

struct event_view {
	uint32_t id;		/* never 0; unique in its session; ids of a timeline grow in pre-order */
	uint32_t parent;	/* 0: top level */
	uint32_t child_count;	/* immediate children */
	uint32_t subtree;	/* events in the subtree, itself included: the next id in pre-order not below it is id + subtree */
	uint32_t hits;
	uint32_t thread;	/* index into session_threads */
	uint16_t probe;		/* index into session_probes */
	uint8_t type;		/* enum event_type */
	uint8_t flags;		/* enum event_flag */
	uint64_t start_ns, end_ns;	/* the Interval, since the session began */
	uint64_t time_ns;	/* self: wall - blocked - children - overhead */
	uint64_t overhead_ns;	/* own and direct children's */
	uint64_t blocked_ns;	/* off-CPU in its own time, children's out */
	uint64_t agg_time_ns, agg_overhead_ns, agg_blocked_ns;	/* over the subtree, itself included */
	uint64_t uncertainty_ns;	/* ± of agg_time_ns */
	const struct event_detail *detail;	/* never NULL; all absent if nothing is known */
	const uint64_t *metrics;	/* info.nr_metrics values for the whole interval, or NULL */
};

struct timeline {
	uint32_t id;		/* never 0 */
	uint64_t frame;		/* identity as read; 0: events of a process without a frame */
	uint32_t frame_id;	/* small number for clients; 0: not associated with a frame */
	uint32_t parent_frame_id;
	uint32_t process;	/* index into session_processes */
	bool main;		/* a main frame of its window: it may have several, one after the other */
	uint32_t page_frame_id;	/* of a main frame: frame_id that stands for all those that took each other's place; 0: no frame's */
	const char *url;	/* of the last document in it, or NULL; events of no frame have one only if they are about one */
	uint16_t rank;		/* for timeline_better() */
	uint64_t self_ns;	/* of all its events together */
	uint64_t created_ns, removed_ns;	/* 0 / UINT64_MAX: beyond the recording */
	uint32_t first_id;	/* its events are first_id .. first_id + nr_events - 1 */
	uint32_t nr_events;
};

/* An instant. */
struct session_mark {
	uint64_t ts_ns;
	uint16_t probe;
	uint32_t thread, timeline;	/* timeline index; UINT32_MAX: none */
	uint32_t enclosing;	/* event id or 0 */
	uint64_t id;		/* FIELD_ID, frame or document identity */
	const struct event_detail *detail;
};

struct session_loss {
	uint64_t since_ns, ts_ns;
	uint16_t probe;
	uint32_t begins, ends, marks;
};

struct session_cpu { uint64_t ts_ns, cpu_ns; uint32_t process; bool final; };
struct session_note { uint64_t ts_ns; const char *text; };

/* Of these two, is `a` to be shown first? A page's main frame is, one that works, the one that more time was spent in. */
static inline bool timeline_better(const struct timeline *a, const struct timeline *b)
{
	if (a->rank != b->rank)
		return a->rank > b->rank;
	return a->self_ns != b->self_ns ? a->self_ns > b->self_ns : a->nr_events > b->nr_events;
}

/* What went wrong on the way, in counts. */
struct session_counts {
	uint64_t records, events, unwound, clipped, no_begin, no_end, orphan_ends, stack_switches, too_deep;
	uint64_t read_failed, unknown_records, lost;	/* lost: over all probes */
};

const struct recording_info *session_info(const struct session *s);
const struct recording_probe *session_probes(const struct session *s, size_t *ret_nr);
const struct recording_process *session_processes(const struct session *s, size_t *ret_nr);
const struct recording_thread *session_threads(const struct session *s, size_t *ret_nr);
const struct timeline *session_timelines(const struct session *s, size_t *ret_nr);	/* the first is a page's main frame's, if any is; never empty */
const struct session_mark *session_marks(const struct session *s, size_t *ret_nr);
const struct session_loss *session_losses(const struct session *s, size_t *ret_nr);
const struct session_cpu *session_cpu(const struct session *s, size_t *ret_nr);
const struct session_note *session_notes(const struct session *s, size_t *ret_nr);
const struct session_counts *session_get_counts(const struct session *s);
/* What is missing of the recording and how much, in words without an end mark; "" if it is whole. Returns buf. */
#define INCOMPLETE_TEXT 160
const char *session_incomplete(const struct session *s, char *buf, size_t n);
/* What --only-under and --min-duration left out in the kernel, and how many calls of how many; "" if neither was given. Returns buf. */
#define LEFT_OUT_TEXT 160
const char *session_left_out(const struct session *s, char *buf, size_t n);
/* Of all probes, as far as the kernel's counters are there; *ret_calls: those that are recorded or lost, too. */
uint64_t session_hidden_calls(const struct session *s, uint64_t *ret_calls);
size_t session_memory(const struct session *s);		/* bytes, approximately */

/* false if there is no such event. O(1). */
bool session_event(const struct session *s, uint32_t id, struct event_view *ret);
const struct timeline *session_timeline_by_id(const struct session *s, uint32_t timeline_id);
const struct timeline *session_timeline_of(const struct session *s, uint32_t event_id);	/* NULL: no such event */

/* CPU time of the timeline's process over the recording, user and system, children out. false: could not be read. */
bool session_process_cpu_ns(const struct session *s, uint32_t process, uint64_t *ret_ns);

const char *event_type_name(int type);		/* "REFLOW"; "UNKNOWN" for others */
int event_type_parse(const char *name);		/* 0 if unknown */

#endif
