// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Reading a session. */
#include "model/builder.h"

void session_free(struct session *s)
{
	if (!s)
		return;
	tables_free(&s->tables);
	pool_free(s->pool);
	free(s->details);
	columns_free(&s->columns);
	free(s->timelines.items);
	free(s->marks.items);
	free(s->losses.items);
	free(s->cpu.items);
	free(s->notes.items);
	free(s);
}

const struct recording_info *session_info(const struct session *s)
{
	return &s->tables.info;
}

#define LIST(function, type, member) \
const type *function(const struct session *s, size_t *ret_nr) \
{ \
	*ret_nr = s->member.nr; \
	return s->member.items; \
}

LIST(session_probes, struct recording_probe, tables.probes)
LIST(session_processes, struct recording_process, tables.processes)
LIST(session_threads, struct recording_thread, tables.threads)
LIST(session_timelines, struct timeline, timelines)
LIST(session_marks, struct session_mark, marks)
LIST(session_losses, struct session_loss, losses)
LIST(session_cpu, struct session_cpu, cpu)
LIST(session_notes, struct session_note, notes)

const struct session_counts *session_get_counts(const struct session *s)
{
	return &s->counts;
}

size_t session_memory(const struct session *s)
{
	return sizeof(*s) + tables_memory(&s->tables) + pool_memory(s->pool) +
	       s->nr_details * sizeof(*s->details) + columns_memory(&s->columns) +
	       s->timelines.cap * sizeof(*s->timelines.items) + s->marks.cap * sizeof(*s->marks.items) +
	       s->losses.cap * sizeof(*s->losses.items) + s->cpu.cap * sizeof(*s->cpu.items) +
	       s->notes.cap * sizeof(*s->notes.items);
}

const struct timeline *session_timeline_by_id(const struct session *s, uint32_t timeline_id)
{
	/* timelines_make() numbers them from 1 */
	return timeline_id && timeline_id <= s->timelines.nr ? &s->timelines.items[timeline_id - 1] : NULL;
}

const struct timeline *session_timeline_of(const struct session *s, uint32_t event_id)
{
	size_t low = 0, high = s->timelines.nr;

	/* their events follow each other as they do: the last one that begins no later, which isn't an empty one */
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (s->timelines.items[middle].first_id <= event_id)
			low = middle + 1;
		else
			high = middle;
	}
	return low && event_id - s->timelines.items[low - 1].first_id < s->timelines.items[low - 1].nr_events ?
	       &s->timelines.items[low - 1] : NULL;
}

/*
 * The clock's difference over the recording. A process that began while recording counted from 0; of any other, one
 * reading alone says nothing.
 */
bool session_process_cpu_ns(const struct session *s, uint32_t process, uint64_t *ret_ns)
{
	const struct session_cpu *first = NULL, *last = NULL;
	uint64_t from;
	bool young;	/* all that it ever ran, it ran in this session */

	if (process >= s->tables.processes.nr)
		return false;
	for (size_t i = 0; i < s->cpu.nr; i++) {
		const struct session_cpu *c = &s->cpu.items[i];

		if (c->process != process)
			continue;
		if (!first || c->ts_ns < first->ts_ns)
			first = c;
		if (!last || c->ts_ns >= last->ts_ns)
			last = c;
	}
	/* a server's processes may have started while it waited for this session */
	young = s->tables.processes.items[process].start_ns >= max_u64(s->tables.info.begin_ns, 1);
	if (!last || (first == last && !young))
		return false;
	from = young ? 0 : first->cpu_ns;
	*ret_ns = last->cpu_ns > from ? last->cpu_ns - from : 0;
	return true;
}

const struct columns *session_columns(const struct session *s)
{
	return &s->columns;
}

const uint8_t *session_probe_types(const struct session *s)
{
	return s->tables.types;
}

const struct event_detail *session_details(const struct session *s, uint32_t *ret_nr)
{
	*ret_nr = s->nr_details;
	return s->details;
}
