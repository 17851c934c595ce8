// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* All of a Perfetto trace that isn't a call: instants, operations, flows, frames, counters, losses, notes. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/text.h"
#include "export/perfetto.h"
#include "export/shown.h"

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
		perfetto_track(x, &track, uuid, process_track(x, pair->process));
	}
	if (type != SLICE_END) {
		event.name = (char *)(type == INSTANT ? name : x->in.probes[pair->group].group);
		event.categories = &category;
		event.n_categories = 1;
	}
	perfetto_event(x, &event, type, ts_ns, uuid);
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
	perfetto_event(x, &event, INSTANT, m->ts_ns, track_uuid(TRACK_THREAD, m->thread));
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

int perfetto_mark(struct exporter *x, const struct session_mark *m)
{
	const struct recording_probe *p;

	if (m->probe >= x->in.nr_probes || m->thread >= x->in.nr_threads)
		return 0;
	p = &x->in.probes[m->probe];
	if (p->role == ROLE_SCRIPT_CALLER)
		return 0;
	perfetto_note_word(x, NOTE_TYPE, event_type_name(p->type));
	perfetto_note_detail(x, m->detail);
	if (!paired(x, m, p)) {
		bool wide = p->role != ROLE_NONE && p->role < ROLE_SCRIPT_CALLER;
		uint64_t whole = process_track(x, pairs_process(x->pairs, m->thread));

		perfetto_probe_event(x, m->probe, INSTANT, m->ts_ns,
				wide && whole ? whole : track_uuid(TRACK_THREAD, m->thread));
	}
	return x->out.error;
}

/* A frame's life is a slice of a track of its own. */
int perfetto_frame(struct exporter *x, const struct timeline *t)
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
	perfetto_track(x, &track, uuid, process_track(x, t->process));
	first.name = *url ? url : name;
	perfetto_note_uint(x, NOTE_FRAME, t->frame_id);
	perfetto_event(x, &first, SLICE_BEGIN, t->created_ns, uuid);
	perfetto_event(x, &last, SLICE_END, t->removed_ns < end ? t->removed_ns : end, uuid);
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
	perfetto_track(x, &track, c->uuid, process_track(x, process));
	return c;
}

int perfetto_counter(struct exporter *x, const char *name, uint32_t process, uint64_t ts_ns, const char *const *series,
		     const double *values, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		Perfetto__TrackEvent event = PERFETTO__TRACK_EVENT__INIT;
		struct counter_track *c = counter_track(x, name, series[i], process);

		if (!c)
			return -ENOMEM;
		event.has_double_counter_value = 1;
		event.double_counter_value = values[i];
		perfetto_event(x, &event, COUNTER, ts_ns, c->uuid);
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
	perfetto_packet(x, &packet);
}

int perfetto_loss(struct exporter *x, const struct session_loss *l)
{
	char text[256];

	snprintf(text, sizeof(text), "%.100s: %u begins, %u ends, %u marks lost",
		 input_probe(&x->in, l->probe)->name, l->begins, l->ends, l->marks);
	text[text_valid_prefix(text, strlen(text))] = '\0';
	put_global(x, l->ts_ns, "Records lost", text, true);
	return x->out.error;
}

int perfetto_note(struct exporter *x, const struct session_note *n)
{
	put_global(x, n->ts_ns, "Note", n->text, false);
	return x->out.error;
}

int perfetto_end(struct exporter *x, uint64_t too_deep, uint64_t clamped)
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
