// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Packets of a Perfetto trace: the length-delimited frame around each, what stands at the beginning, and tracks. */
#include <errno.h>
#include <stdlib.h>
#include "export/perfetto.h"

/* Names of annotations: their iid is the index here plus one. */
static const char *const annotation_names[NOTE_END] = {
	"event_type", "self_ns", "overhead_ns", "blocked_ns", "hits", "frame", "url", "selector", "event", "label",
	"line", "column", "x", "y", "w", "h", "ox", "oy", "thread_type", "script_type", "flags", "last_ns",
	"metrics",
};

void perfetto_packet(struct exporter *x, Perfetto__TracePacket *packet)
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
static int put_state(struct exporter *x)
{
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;
	Perfetto__TracePacketDefaults defaults = PERFETTO__TRACE_PACKET_DEFAULTS__INIT;
	Perfetto__InternedData interned = PERFETTO__INTERNED_DATA__INIT;
	size_t nr_notes = NOTE_END + x->in.info->nr_metrics, nr = 2 * x->in.nr_probes + nr_notes;
	Perfetto__InternedName *names = calloc(nr, sizeof(*names)), **ptrs = calloc(nr, sizeof(*ptrs));

	if (!names || !ptrs) {
		free(names);
		free(ptrs);
		return -ENOMEM;
	}
	for (size_t i = 0; i < nr; i++) {
		size_t probe = i < 2 * x->in.nr_probes ? i / 2 : 0;
		size_t note = i - 2 * x->in.nr_probes;	/* where it is one */
		const char *name;

		if (i >= 2 * x->in.nr_probes)
			name = note < NOTE_END ? annotation_names[note] : x->in.metric_keys[note - NOTE_END];
		else
			name = i % 2 ? x->in.probes[probe].category : x->in.probes[probe].label;
		perfetto__interned_name__init(&names[i]);
		names[i].has_iid = 1;
		names[i].iid = i >= 2 * x->in.nr_probes ? note + 1 : probe + 1;
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
	interned.n_debug_annotation_names = nr_notes;
	defaults.has_timestamp_clock_id = 1;
	defaults.timestamp_clock_id = CLOCK_MONOTONIC_ID;
	packet.trace_packet_defaults = &defaults;
	packet.interned_data = &interned;
	packet.has_sequence_flags = 1;
	packet.sequence_flags = STATE_CLEARED;
	packet.has_first_packet_on_sequence = packet.first_packet_on_sequence = 1;
	perfetto_packet(x, &packet);
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
	perfetto_packet(x, &packet);
}

void perfetto_track(struct exporter *x, Perfetto__TrackDescriptor *track, uint64_t uuid, uint64_t parent)
{
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;

	track->has_uuid = 1;
	track->uuid = uuid;
	track->has_parent_uuid = parent != 0;
	track->parent_uuid = parent;
	packet.track_descriptor = track;
	perfetto_packet(x, &packet);
}

int perfetto_preamble(struct exporter *x)
{
	put_clocks(x);
	return put_state(x);
}
