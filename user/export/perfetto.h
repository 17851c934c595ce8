/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the files of the Perfetto writer share: its state, packets, tracks and annotations. */
#ifndef FRAMESCOPE_EXPORT_PERFETTO_H
#define FRAMESCOPE_EXPORT_PERFETTO_H

#include "export/emit.h"
#include "export/input.h"
#include "export/pairs.h"
#include "export/perfetto.pb-c.h"

#define SEQUENCE_EVENTS 1	/* everything with interned data */
#define SEQUENCE_LOSSES 2	/* previous_packet_dropped would invalidate what a sequence has interned */
#define STATE_CLEARED 1
#define NEEDS_STATE 2
#define CLOCK_REALTIME_ID 1
#define CLOCK_MONOTONIC_ID 3
#define CLOCK_BOOTTIME_ID 6
#define STRING_SLOTS 4096	/* power of two */

enum track_kind { TRACK_PROCESS = 1, TRACK_THREAD, TRACK_SUMS, TRACK_FRAME, TRACK_OPERATION, TRACK_COUNTER,
		  TRACK_GLOBAL };
enum event_kind { SLICE_BEGIN = 1, SLICE_END, INSTANT, COUNTER };

/* Names of annotations: their iid is the index here plus one. Those of metrics, which stand below one of them, follow. */
enum annotation { NOTE_TYPE, NOTE_SELF, NOTE_OVERHEAD, NOTE_BLOCKED, NOTE_HITS, NOTE_FRAME, NOTE_URL, NOTE_SELECTOR,
		  NOTE_EVENT, NOTE_LABEL, NOTE_LINE, NOTE_COLUMN, NOTE_X, NOTE_Y, NOTE_W, NOTE_H, NOTE_OX, NOTE_OY,
		  NOTE_THREAD_TYPE, NOTE_SCRIPT_TYPE, NOTE_FLAGS, NOTE_LAST, NOTE_METRICS, NOTE_END };

struct string_slot { const char *text; uint64_t iid; };

struct counter_track { char name[64], series[48]; uint32_t process; uint64_t uuid; };

struct exporter {
	struct export_input in;
	struct emit out;
	uint64_t begin_ns;
	struct pairs *pairs;
	bool *sums_track;	/* per thread: described already */
	struct string_slot strings[STRING_SLOTS];
	uint64_t next_iid;
	struct counter_track *counters;
	size_t nr_counters, cap_counters;
	/* annotations of the event that is being written */
	Perfetto__DebugAnnotation notes[NOTE_END], *note_ptrs[NOTE_END];
	size_t nr_notes;
	Perfetto__DebugAnnotation metrics[RECORD_MAX_METRICS], *metric_ptrs[RECORD_MAX_METRICS];
	Perfetto__InternedString fresh[NOTE_END], *fresh_ptrs[NOTE_END];
	size_t nr_fresh;
};

static inline uint64_t track_uuid(enum track_kind kind, uint64_t index)
{
	return (uint64_t)kind << 56 | (index + 1);
}

static inline uint64_t process_track(const struct exporter *x, uint32_t process)
{
	return process < x->in.nr_procs ? track_uuid(TRACK_PROCESS, process) : 0;
}

/* perfetto_packet.c */
void perfetto_packet(struct exporter *x, Perfetto__TracePacket *packet);
/* Clocks, and the state that all later packets of the sequence refer to: 0 or -errno. */
int perfetto_preamble(struct exporter *x);
/* parent 0: none */
void perfetto_track(struct exporter *x, Perfetto__TrackDescriptor *track, uint64_t uuid, uint64_t parent);

/* perfetto_event.c: annotations are gathered, and go with the next event */
void perfetto_note_uint(struct exporter *x, enum annotation name, uint64_t v);
void perfetto_note_word(struct exporter *x, enum annotation name, const char *text);	/* NULL: nothing */
void perfetto_note_flags(struct exporter *x, char *words);	/* kept until the event is written */
void perfetto_note_metrics(struct exporter *x, const uint64_t *metrics);	/* NULL: nothing */
void perfetto_note_detail(struct exporter *x, const struct event_detail *d);
void perfetto_event(struct exporter *x, Perfetto__TrackEvent *event, enum event_kind type, uint64_t ts_ns, uint64_t track);
/* An event named after its probe. */
void perfetto_probe_event(struct exporter *x, uint16_t probe, enum event_kind type, uint64_t ts_ns, uint64_t track);

/* perfetto_marks.c: all that isn't a call, as in struct export_format */
int perfetto_mark(struct exporter *x, const struct session_mark *m);
int perfetto_frame(struct exporter *x, const struct timeline *t);
int perfetto_counter(struct exporter *x, const char *name, uint32_t process, uint64_t ts_ns, const char *const *series,
		     const double *values, size_t nr);
int perfetto_loss(struct exporter *x, const struct session_loss *l);
int perfetto_note(struct exporter *x, const struct session_note *n);
int perfetto_end(struct exporter *x, uint64_t too_deep, uint64_t clamped);

#endif
