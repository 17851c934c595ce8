// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Perfetto's own format: TrackEvents with interned names, for its UI and its trace processor. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/text.h"
#include "export/emit.h"
#include "export/input.h"
#include "export/pairs.h"
#include "export/perfetto.pb-c.h"
#include "export/shown.h"

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

/* Names of annotations: their iid is the index here plus one. */
enum annotation { NOTE_TYPE, NOTE_SELF, NOTE_OVERHEAD, NOTE_BLOCKED, NOTE_HITS, NOTE_FRAME, NOTE_URL, NOTE_SELECTOR,
		  NOTE_EVENT, NOTE_LABEL, NOTE_LINE, NOTE_COLUMN, NOTE_X, NOTE_Y, NOTE_W, NOTE_H, NOTE_OX, NOTE_OY,
		  NOTE_THREAD_TYPE, NOTE_SCRIPT_TYPE, NOTE_FLAGS, NOTE_LAST, NOTE_END };
static const char *const annotation_names[NOTE_END] = {
	"event_type", "self_ns", "overhead_ns", "blocked_ns", "hits", "frame", "url", "selector", "event", "label",
	"line", "column", "x", "y", "w", "h", "ox", "oy", "thread_type", "script_type", "flags", "last_ns",
};

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
	Perfetto__InternedString fresh[NOTE_END], *fresh_ptrs[NOTE_END];
	size_t nr_fresh;
};

static uint64_t track_uuid(enum track_kind kind, uint64_t index)
{
	return (uint64_t)kind << 56 | (index + 1);
}

static void put_packet(struct exporter *x, Perfetto__TracePacket *packet)
{
	size_t n;
	char *d;

	if (!packet->trusted_packet_sequence_id) {
		packet->has_trusted_packet_sequence_id = 1;
		packet->trusted_packet_sequence_id = SEQUENCE_EVENTS;
	}
	n = perfetto__trace_packet__get_packed_size(packet);
	d = emit_room(&x->out, n + 11);
	if (!d)
		return;
	/* Trace.packet: field 1, then the length */
	*d++ = 0x0a;
	x->out.nr++;
	for (uint64_t v = n;; v >>= 7) {
		*d++ = (v & 0x7f) | (v > 0x7f ? 0x80 : 0);
		x->out.nr++;
		if (v <= 0x7f)
			break;
	}
	x->out.nr += perfetto__trace_packet__pack(packet, (uint8_t *)d);
}

/* The state that all later packets of the sequence refer to. */
static int put_preamble(struct exporter *x)
{
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;
	Perfetto__TracePacketDefaults defaults = PERFETTO__TRACE_PACKET_DEFAULTS__INIT;
	Perfetto__InternedData interned = PERFETTO__INTERNED_DATA__INIT;
	size_t nr = 2 * x->in.nr_probes + NOTE_END;
	Perfetto__InternedName *names = calloc(nr, sizeof(*names)), **ptrs = calloc(nr, sizeof(*ptrs));

	if (!names || !ptrs) {
		free(names);
		free(ptrs);
		return -ENOMEM;
	}
	for (size_t i = 0; i < nr; i++) {
		size_t probe = i < 2 * x->in.nr_probes ? i / 2 : 0;
		const char *name;

		if (i >= 2 * x->in.nr_probes)
			name = annotation_names[i - 2 * x->in.nr_probes];
		else
			name = i % 2 ? x->in.probes[probe].category : x->in.probes[probe].label;
		perfetto__interned_name__init(&names[i]);
		names[i].has_iid = 1;
		names[i].iid = i >= 2 * x->in.nr_probes ? i - 2 * x->in.nr_probes + 1 : probe + 1;
		names[i].name = (char *)name;
	}
	/* pointers: event names, then categories, then annotation names */
	for (size_t i = 0; i < x->in.nr_probes; i++) {
		ptrs[i] = &names[2 * i];
		ptrs[x->in.nr_probes + i] = &names[2 * i + 1];
	}
	for (size_t i = 2 * x->in.nr_probes; i < nr; i++)
		ptrs[i] = &names[i];
	interned.event_names = ptrs;
	interned.n_event_names = x->in.nr_probes;
	interned.event_categories = ptrs + x->in.nr_probes;
	interned.n_event_categories = x->in.nr_probes;
	interned.debug_annotation_names = ptrs + 2 * x->in.nr_probes;
	interned.n_debug_annotation_names = NOTE_END;
	defaults.has_timestamp_clock_id = 1;
	defaults.timestamp_clock_id = CLOCK_MONOTONIC_ID;
	packet.trace_packet_defaults = &defaults;
	packet.interned_data = &interned;
	packet.has_sequence_flags = 1;
	packet.sequence_flags = STATE_CLEARED;
	packet.has_first_packet_on_sequence = packet.first_packet_on_sequence = 1;
	put_packet(x, &packet);
	free(names);
	free(ptrs);
	return x->out.error;
}

/*
 * Time stamps are CLOCK_MONOTONIC's. How long the machine has slept isn't recorded, so CLOCK_BOOTTIME, which readers
 * that don't know primary_trace_clock fall back to, is given the same value.
 */
static void put_clocks(struct exporter *x)
{
	const struct recording_info *info = x->in.info;
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;
	Perfetto__ClockSnapshot snapshot = PERFETTO__CLOCK_SNAPSHOT__INIT;
	Perfetto__ClockSnapshot__Clock clocks[3], *ptrs[3];
	static const uint32_t ids[] = { CLOCK_BOOTTIME_ID, CLOCK_MONOTONIC_ID, CLOCK_REALTIME_ID };

	for (int i = 0; i < 3; i++) {
		perfetto__clock_snapshot__clock__init(&clocks[i]);
		clocks[i].has_clock_id = clocks[i].has_timestamp = 1;
		clocks[i].clock_id = ids[i];
		clocks[i].timestamp = i < 2 ? info->begin_ns : (uint64_t)info->begin_realtime_ns;
		ptrs[i] = &clocks[i];
	}
	snapshot.clocks = ptrs;
	snapshot.n_clocks = info->begin_realtime_ns > 0 ? 3 : 2;
	snapshot.has_primary_trace_clock = 1;
	snapshot.primary_trace_clock = CLOCK_MONOTONIC_ID;
	packet.clock_snapshot = &snapshot;
	put_packet(x, &packet);
}

static void put_track(struct exporter *x, Perfetto__TrackDescriptor *track, uint64_t uuid, uint64_t parent)
{
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;

	track->has_uuid = 1;
	track->uuid = uuid;
	track->has_parent_uuid = parent != 0;
	track->parent_uuid = parent;
	packet.track_descriptor = track;
	put_packet(x, &packet);
}

static void free_state(struct exporter *x)
{
	pairs_free(x->pairs);
	emit_close(&x->out);
	free(x->sums_track);
	free(x->counters);
	free(x);
}

static int begin(const struct session *s, const struct export_options *opt, struct outfile *f, struct exporter **ret)
{
	struct exporter *x = calloc(1, sizeof(*x));
	int rc;

	if (!x)
		return -ENOMEM;
	export_input_open(&x->in, s, opt);
	x->begin_ns = session_info(s)->begin_ns;
	for (size_t i = 0; i < NOTE_END; i++) {
		x->note_ptrs[i] = &x->notes[i];
		x->fresh_ptrs[i] = &x->fresh[i];
	}
	x->sums_track = calloc(x->in.nr_threads + 1, sizeof(*x->sums_track));
	rc = emit_open(&x->out, f);
	if (!rc)
		rc = x->sums_track ? pairs_new(s, &x->pairs) : -ENOMEM;
	if (!rc) {
		put_clocks(x);
		rc = put_preamble(x);
	}
	if (rc)
		free_state(x);
	else
		*ret = x;
	return rc;
}

static int process(struct exporter *x, uint32_t index, const struct recording_process *p)
{
	Perfetto__TrackDescriptor track = PERFETTO__TRACK_DESCRIPTOR__INIT;
	Perfetto__ProcessDescriptor desc = PERFETTO__PROCESS_DESCRIPTOR__INIT;
	char label[64], *labels = label, *cmdline = (char *)p->cmdline;

	desc.has_pid = desc.has_legacy_sort_index = 1;
	desc.pid = p->pid;
	desc.legacy_sort_index = index;
	desc.process_name = (char *)p->name;
	if (*p->cmdline && !x->in.opt.redact) {
		desc.cmdline = &cmdline;
		desc.n_cmdline = 1;
	}
	if (p->inner_pid && p->inner_pid != p->pid) {
		snprintf(label, sizeof(label), "pid %u in its container", p->inner_pid);
		desc.process_labels = &labels;
		desc.n_process_labels = 1;
	}
	track.process = &desc;
	put_track(x, &track, track_uuid(TRACK_PROCESS, index), 0);
	return x->out.error;
}

static uint64_t process_track(const struct exporter *x, uint32_t process)
{
	return process < x->in.nr_procs ? track_uuid(TRACK_PROCESS, process) : 0;
}

static int thread(struct exporter *x, uint32_t index, const struct recording_thread *t)
{
	Perfetto__TrackDescriptor track = PERFETTO__TRACK_DESCRIPTOR__INIT;
	Perfetto__ThreadDescriptor desc = PERFETTO__THREAD_DESCRIPTOR__INIT;

	desc.has_pid = desc.has_tid = desc.has_legacy_sort_index = 1;
	desc.pid = t->pid;
	desc.tid = t->tid;
	desc.legacy_sort_index = t->main ? -1 : (int32_t)index;
	desc.thread_name = (char *)t->name;
	track.thread = &desc;
	put_track(x, &track, track_uuid(TRACK_THREAD, index), process_track(x, pairs_process(x->pairs, index)));
	return x->out.error;
}

/* --- events --- */

static Perfetto__DebugAnnotation *note(struct exporter *x, enum annotation name)
{
	Perfetto__DebugAnnotation *a = &x->notes[x->nr_notes++];

	perfetto__debug_annotation__init(a);
	a->has_name_iid = 1;
	a->name_iid = name + 1;
	return a;
}

static void note_uint(struct exporter *x, enum annotation name, uint64_t v)
{
	Perfetto__DebugAnnotation *a = note(x, name);

	a->has_uint_value = 1;
	a->uint_value = v;
}

static void note_int(struct exporter *x, enum annotation name, int64_t v)
{
	Perfetto__DebugAnnotation *a = note(x, name);

	a->has_int_value = 1;
	a->int_value = v;
}

/* `key` stands for the text: the same address, the same text and length. It is interned anew when its slot was taken. */
static void note_text(struct exporter *x, enum annotation name, const char *key, size_t n)
{
	struct string_slot *slot;
	Perfetto__DebugAnnotation *a;

	if (!key)
		return;
	a = note(x, name);
	slot = &x->strings[((uintptr_t)key * 0x9e3779b97f4a7c15ull >> 40) & (STRING_SLOTS - 1)];
	if (slot->text != key) {
		Perfetto__InternedString *fresh = &x->fresh[x->nr_fresh++];

		slot->text = key;
		slot->iid = ++x->next_iid;
		n = n < EXPORT_MAX_TEXT ? n : EXPORT_MAX_TEXT;
		perfetto__interned_string__init(fresh);
		fresh->has_iid = fresh->has_str = 1;
		fresh->iid = slot->iid;
		/* cut on a character boundary, if need be */
		fresh->str.len = text_valid_prefix(key, n);
		fresh->str.data = (uint8_t *)key;
	}
	a->has_string_value_iid = 1;
	a->string_value_iid = slot->iid;
}

static void note_word(struct exporter *x, enum annotation name, const char *text)
{
	if (text)
		note_text(x, name, text, strlen(text));
}

static void note_detail(struct exporter *x, const struct event_detail *d)
{
	const char *key;
	int32_t value;

	if (d->url)
		note_text(x, NOTE_URL, d->url, shown_url(&x->in.opt, d->url));
	note_word(x, NOTE_SELECTOR, shown_text(&x->in.opt, d->selector));
	note_word(x, NOTE_EVENT, d->event_name);
	note_word(x, NOTE_LABEL, shown_text(&x->in.opt, d->label));
	if (d->has & 1u << FIELD_LINE)
		note_uint(x, NOTE_LINE, d->line);
	if (d->has & 1u << FIELD_COLUMN)
		note_uint(x, NOTE_COLUMN, d->column);
	for (int i = 0; i < SHOWN_AREA; i++)
		if (shown_area(d, i, &key, &value))
			note_int(x, NOTE_X + i, value);
	note_word(x, NOTE_THREAD_TYPE, shown_thread_type(d->thread_type));
	note_word(x, NOTE_SCRIPT_TYPE, shown_script_type(d->script_type));
}

/* Writes the event with the annotations that were gathered, and what they interned. */
static void put_event(struct exporter *x, Perfetto__TrackEvent *event, enum event_kind type, uint64_t ts_ns, uint64_t track)
{
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;
	Perfetto__InternedData interned = PERFETTO__INTERNED_DATA__INIT;

	event->has_type = event->has_track_uuid = 1;
	event->type = type;
	event->track_uuid = track;
	event->debug_annotations = x->note_ptrs;
	event->n_debug_annotations = x->nr_notes;
	if (x->nr_fresh) {
		interned.debug_annotation_string_values = x->fresh_ptrs;
		interned.n_debug_annotation_string_values = x->nr_fresh;
		packet.interned_data = &interned;
	}
	packet.has_timestamp = packet.has_sequence_flags = 1;
	packet.timestamp = x->begin_ns + ts_ns;
	packet.sequence_flags = NEEDS_STATE;
	packet.track_event = event;
	put_packet(x, &packet);
	x->nr_notes = x->nr_fresh = 0;
}

/* An event named after its probe. */
static void put_probe_event(struct exporter *x, uint16_t probe, enum event_kind type, uint64_t ts_ns, uint64_t track)
{
	Perfetto__TrackEvent event = PERFETTO__TRACK_EVENT__INIT;
	uint64_t category = (uint64_t)probe + 1;

	event.has_name_iid = 1;
	event.name_iid = (uint64_t)probe + 1;
	event.category_iids = &category;
	event.n_category_iids = 1;
	put_event(x, &event, type, ts_ns, track);
}

/* Sums of calls overlap each other, so they can't be slices of one track: instants at the first call, with the rest said. */
static uint64_t sums_track(struct exporter *x, uint32_t index)
{
	uint64_t uuid = track_uuid(TRACK_SUMS, index);

	if (!x->sums_track[index]) {
		Perfetto__TrackDescriptor track = PERFETTO__TRACK_DESCRIPTOR__INIT;

		track.name = (char *)"calls summed up";
		put_track(x, &track, uuid, track_uuid(TRACK_THREAD, index));
		x->sums_track[index] = true;
	}
	return uuid;
}

static int event(struct exporter *x, const struct export_event *e)
{
	const struct event_view *v = &e->view;
	char words[128];

	note_word(x, NOTE_TYPE, event_type_name(v->type));
	note_uint(x, NOTE_SELF, v->time_ns);
	note_uint(x, NOTE_OVERHEAD, v->overhead_ns);
	note_uint(x, NOTE_BLOCKED, v->blocked_ns);
	if (v->hits != 1)
		note_uint(x, NOTE_HITS, v->hits);
	if (e->timeline->frame_id)
		note_uint(x, NOTE_FRAME, e->timeline->frame_id);
	note_detail(x, v->detail);
	if (*shown_flags(v->flags, words, sizeof(words)))
		note(x, NOTE_FLAGS)->string_value = words;
	if (e->overlapping) {
		note_uint(x, NOTE_LAST, x->begin_ns + e->end_ns);
		put_probe_event(x, v->probe, INSTANT, e->start_ns, sums_track(x, v->thread));
	} else {
		put_probe_event(x, v->probe, SLICE_BEGIN, e->start_ns, track_uuid(TRACK_THREAD, v->thread));
	}
	return x->out.error;
}

static int leave(struct exporter *x, const struct export_event *e)
{
	Perfetto__TrackEvent event = PERFETTO__TRACK_EVENT__INIT;

	put_event(x, &event, SLICE_END, e->end_ns, track_uuid(TRACK_THREAD, e->view.thread));
	return x->out.error;
}

/* --- marks --- */

/* `name`: of an instant in it; the operation itself has its group's. */
static void put_operation(struct exporter *x, enum event_kind type, uint64_t ts_ns, const struct pair *pair,
			  const char *name)
{
	Perfetto__TrackEvent event = PERFETTO__TRACK_EVENT__INIT;
	Perfetto__TrackDescriptor track = PERFETTO__TRACK_DESCRIPTOR__INIT;
	char *category = (char *)x->in.probes[pair->group].category;
	uint64_t uuid = track_uuid(TRACK_OPERATION, pair->number);

	if (type == SLICE_BEGIN) {
		track.name = (char *)x->in.probes[pair->group].group;
		put_track(x, &track, uuid, process_track(x, pair->process));
	}
	if (type != SLICE_END) {
		event.name = (char *)(type == INSTANT ? name : x->in.probes[pair->group].group);
		event.categories = &category;
		event.n_categories = 1;
	}
	put_event(x, &event, type, ts_ns, uuid);
}

static void put_flow(struct exporter *x, const struct session_mark *m, uint64_t id, bool last)
{
	Perfetto__TrackEvent event = PERFETTO__TRACK_EVENT__INIT;
	uint64_t category = (uint64_t)m->probe + 1;

	event.has_name_iid = 1;
	event.name_iid = category;
	event.category_iids = &category;
	event.n_category_iids = 1;
	if (last) {
		event.terminating_flow_ids = &id;
		event.n_terminating_flow_ids = 1;
	} else {
		event.flow_ids = &id;
		event.n_flow_ids = 1;
	}
	put_event(x, &event, INSTANT, m->ts_ns, track_uuid(TRACK_THREAD, m->thread));
}

static bool paired(struct exporter *x, const struct session_mark *m, const struct recording_probe *p)
{
	struct pair pair;
	bool again, closed;

	switch (p->kind) {
	case PROBE_KIND_ASYNC_BEGIN:
		pair = *pairs_open(x->pairs, m, &again);
		put_operation(x, again ? INSTANT : SLICE_BEGIN, m->ts_ns, &pair, p->label);
		return true;
	case PROBE_KIND_ASYNC_END:
		closed = pairs_close(x->pairs, m, &pair);
		if (closed)
			put_operation(x, SLICE_END, m->ts_ns, &pair, NULL);
		return closed;
	case PROBE_KIND_FLOW_BEGIN:
		put_flow(x, m, pairs_open(x->pairs, m, &again)->number, false);
		return true;
	case PROBE_KIND_FLOW_END:
		closed = pairs_close(x->pairs, m, &pair);
		if (closed)
			put_flow(x, m, pair.number, true);
		return closed;
	default:
		if (*p->group && pairs_find(x->pairs, m)) {
			put_operation(x, INSTANT, m->ts_ns, pairs_find(x->pairs, m), p->label);
			return true;
		}
		return false;
	}
}

static int mark(struct exporter *x, const struct session_mark *m)
{
	const struct recording_probe *p;

	if (m->probe >= x->in.nr_probes || m->thread >= x->in.nr_threads)
		return 0;
	p = &x->in.probes[m->probe];
	if (p->role == ROLE_SCRIPT_CALLER)
		return 0;
	note_word(x, NOTE_TYPE, event_type_name(p->type));
	note_detail(x, m->detail);
	if (!paired(x, m, p)) {
		bool wide = p->role != ROLE_NONE;
		uint64_t whole = process_track(x, pairs_process(x->pairs, m->thread));

		put_probe_event(x, m->probe, INSTANT, m->ts_ns,
				wide && whole ? whole : track_uuid(TRACK_THREAD, m->thread));
	}
	return x->out.error;
}

/* A frame's life is a slice of a track of its own. */
static int frame(struct exporter *x, const struct timeline *t)
{
	Perfetto__TrackDescriptor track = PERFETTO__TRACK_DESCRIPTOR__INIT;
	Perfetto__TrackEvent first = PERFETTO__TRACK_EVENT__INIT, last = PERFETTO__TRACK_EVENT__INIT;
	uint64_t uuid = track_uuid(TRACK_FRAME, t->id), end = shown_end_ns(x->in.s);
	char name[64], url[512] = "";

	if (!t->frame)
		return 0;
	snprintf(name, sizeof(name), "%s %u", t->main ? "Main frame" : "Frame", t->frame_id);
	if (t->url)
		snprintf(url, sizeof(url), "%.*s", (int)shown_url(&x->in.opt, t->url), t->url);
	url[text_valid_prefix(url, strlen(url))] = '\0';
	track.name = name;
	put_track(x, &track, uuid, process_track(x, t->process));
	first.name = *url ? url : name;
	note_uint(x, NOTE_FRAME, t->frame_id);
	put_event(x, &first, SLICE_BEGIN, t->created_ns, uuid);
	put_event(x, &last, SLICE_END, t->removed_ns < end ? t->removed_ns : end, uuid);
	return x->out.error;
}

static struct counter_track *counter_track(struct exporter *x, const char *name, const char *series, uint32_t process)
{
	Perfetto__TrackDescriptor track = PERFETTO__TRACK_DESCRIPTOR__INIT;
	Perfetto__CounterDescriptor desc = PERFETTO__COUNTER_DESCRIPTOR__INIT;
	struct counter_track *c;
	char title[128];

	for (size_t i = 0; i < x->nr_counters; i++) {
		c = &x->counters[i];
		if (c->process == process && !strcmp(c->name, name) && !strcmp(c->series, series))
			return c;
	}
	if (x->nr_counters == x->cap_counters) {
		size_t cap = x->cap_counters ? 2 * x->cap_counters : 32;

		c = reallocarray(x->counters, cap, sizeof(*c));
		if (!c)
			return NULL;
		x->counters = c;
		x->cap_counters = cap;
	}
	c = &x->counters[x->nr_counters];
	snprintf(c->name, sizeof(c->name), "%s", name);
	snprintf(c->series, sizeof(c->series), "%s", series);
	c->process = process;
	c->uuid = track_uuid(TRACK_COUNTER, x->nr_counters++);
	snprintf(title, sizeof(title), "%s: %s", name, series);
	desc.unit_name = (char *)series;
	desc.y_axis_share_key = (char *)name;
	track.name = title;
	track.counter = &desc;
	put_track(x, &track, c->uuid, process_track(x, process));
	return c;
}

static int counter(struct exporter *x, const char *name, uint32_t process, uint64_t ts_ns, const char *const *series,
		   const double *values, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		Perfetto__TrackEvent event = PERFETTO__TRACK_EVENT__INIT;
		struct counter_track *c = counter_track(x, name, series[i], process);

		if (!c)
			return -ENOMEM;
		event.has_double_counter_value = 1;
		event.double_counter_value = values[i];
		put_event(x, &event, COUNTER, ts_ns, c->uuid);
	}
	return x->out.error;
}

/* An instant on a track of the whole recording, without interned data. */
static void put_global(struct exporter *x, uint64_t ts_ns, const char *name, const char *text, bool dropped)
{
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;
	Perfetto__TracePacketDefaults defaults = PERFETTO__TRACE_PACKET_DEFAULTS__INIT;
	Perfetto__TrackEvent event = PERFETTO__TRACK_EVENT__INIT;
	Perfetto__DebugAnnotation a = PERFETTO__DEBUG_ANNOTATION__INIT, *ptr = &a;
	char *category = (char *)"framescope";

	a.name = (char *)"detail";
	a.string_value = (char *)text;
	event.has_type = event.has_track_uuid = 1;
	event.type = INSTANT;
	event.track_uuid = track_uuid(TRACK_GLOBAL, 0);
	event.name = (char *)name;
	event.categories = &category;
	event.n_categories = 1;
	event.debug_annotations = &ptr;
	event.n_debug_annotations = 1;
	defaults.has_timestamp_clock_id = 1;
	defaults.timestamp_clock_id = CLOCK_MONOTONIC_ID;
	packet.trace_packet_defaults = &defaults;
	packet.has_sequence_flags = packet.has_trusted_packet_sequence_id = packet.has_timestamp = 1;
	packet.sequence_flags = STATE_CLEARED;
	packet.trusted_packet_sequence_id = SEQUENCE_LOSSES;
	packet.timestamp = x->begin_ns + ts_ns;
	packet.has_previous_packet_dropped = packet.previous_packet_dropped = dropped;
	packet.track_event = &event;
	put_packet(x, &packet);
}

static int loss(struct exporter *x, const struct session_loss *l)
{
	char text[256];

	snprintf(text, sizeof(text), "%.100s: %u begins, %u ends, %u marks lost",
		 input_probe(&x->in, l->probe)->name, l->begins, l->ends, l->marks);
	text[text_valid_prefix(text, strlen(text))] = '\0';
	put_global(x, l->ts_ns, "Records lost", text, true);
	return x->out.error;
}

static int tell_note(struct exporter *x, const struct session_note *n)
{
	put_global(x, n->ts_ns, "Note", n->text, false);
	return x->out.error;
}

static int end(struct exporter *x, uint64_t too_deep, uint64_t clamped)
{
	const struct session_counts *c = session_get_counts(x->in.s);
	uint64_t end_ns = shown_end_ns(x->in.s);
	char text[256];
	struct pair pair;

	while (pairs_drain(x->pairs, &pair))
		if (x->in.probes[pair.probe].kind == PROBE_KIND_ASYNC_BEGIN)
			put_operation(x, SLICE_END, end_ns, &pair, NULL);
	put_global(x, 0, "Recording started", x->in.info->tool, false);
	snprintf(text, sizeof(text), "%llu events, %llu records lost, %llu too deep, %llu cut",
		 (unsigned long long)c->events, (unsigned long long)c->lost,
		 (unsigned long long)(c->too_deep + too_deep), (unsigned long long)clamped);
	put_global(x, end_ns, "Recording stopped", text, false);
	return emit_flush(&x->out);
}

const struct export_format export_perfetto = {
	.name = "perfetto",
	.extension = ".pftrace",
	.summary = "Perfetto's protobuf, for ui.perfetto.dev and its trace processor",
	.begin = begin,
	.process = process,
	.thread = thread,
	.frame = frame,
	.event = event,
	.leave = leave,
	.mark = mark,
	.counter = counter,
	.loss = loss,
	.note = tell_note,
	.end = end,
	.free = free_state,
};
