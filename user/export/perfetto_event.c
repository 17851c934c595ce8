// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Events of a Perfetto trace, with their annotations; texts are interned as they are met. */
#include <string.h>
#include "base/text.h"
#include "export/perfetto.h"
#include "export/shown.h"

static void annotation_init(Perfetto__DebugAnnotation *a, uint32_t name)
{
	perfetto__debug_annotation__init(a);
	a->has_name_iid = 1;
	a->name_iid = name + 1;
}

static Perfetto__DebugAnnotation *note(struct exporter *x, enum annotation name)
{
	Perfetto__DebugAnnotation *a = &x->notes[x->nr_notes++];

	annotation_init(a, name);
	return a;
}

void perfetto_note_uint(struct exporter *x, enum annotation name, uint64_t v)
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

void perfetto_note_word(struct exporter *x, enum annotation name, const char *text)
{
	if (text)
		note_text(x, name, text, strlen(text));
}

void perfetto_note_flags(struct exporter *x, char *words)
{
	note(x, NOTE_FLAGS)->string_value = words;
}

void perfetto_note_metrics(struct exporter *x, const uint64_t *metrics)
{
	Perfetto__DebugAnnotation *a;

	if (!metrics || !x->in.info->nr_metrics)
		return;
	a = note(x, NOTE_METRICS);
	a->dict_entries = x->metric_ptrs;
	a->n_dict_entries = x->in.info->nr_metrics;
	for (uint32_t i = 0; i < x->in.info->nr_metrics; i++) {
		annotation_init(&x->metrics[i], NOTE_END + i);
		x->metrics[i].has_uint_value = 1;
		x->metrics[i].uint_value = metrics[i];
		x->metric_ptrs[i] = &x->metrics[i];
	}
}

void perfetto_note_detail(struct exporter *x, const struct event_detail *d)
{
	const char *key;
	int32_t value;

	if (d->url)
		note_text(x, NOTE_URL, d->url, shown_url(&x->in.opt, d->url));
	perfetto_note_word(x, NOTE_SELECTOR, shown_text(&x->in.opt, d->selector));
	perfetto_note_word(x, NOTE_EVENT, d->event_name);
	perfetto_note_word(x, NOTE_LABEL, shown_text(&x->in.opt, d->label));
	if (d->has & 1u << FIELD_LINE)
		perfetto_note_uint(x, NOTE_LINE, d->line);
	if (d->has & 1u << FIELD_COLUMN)
		perfetto_note_uint(x, NOTE_COLUMN, d->column);
	for (int i = 0; i < SHOWN_AREA; i++)
		if (shown_area(d, i, &key, &value))
			note_int(x, NOTE_X + i, value);
	perfetto_note_word(x, NOTE_THREAD_TYPE, shown_thread_type(d->thread_type));
	perfetto_note_word(x, NOTE_SCRIPT_TYPE, shown_script_type(d->script_type));
}

/* Writes the event with the annotations that were gathered, and what they interned. */
void perfetto_event(struct exporter *x, Perfetto__TrackEvent *event, enum event_kind type, uint64_t ts_ns, uint64_t track)
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
	perfetto_packet(x, &packet);
	x->nr_notes = x->nr_fresh = 0;
}

void perfetto_probe_event(struct exporter *x, uint16_t probe, enum event_kind type, uint64_t ts_ns, uint64_t track)
{
	Perfetto__TrackEvent event = PERFETTO__TRACK_EVENT__INIT;
	uint64_t category = (uint64_t)probe + 1;

	event.has_name_iid = 1;
	event.name_iid = (uint64_t)probe + 1;
	event.category_iids = &category;
	event.n_category_iids = 1;
	perfetto_event(x, &event, type, ts_ns, track);
}
