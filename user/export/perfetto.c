// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Perfetto's own format: TrackEvents with interned names, for its UI and its trace processor. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include "export/formats.h"
#include "export/perfetto.h"
#include "export/shown.h"

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
	if (!rc)
		rc = perfetto_preamble(x);
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
	perfetto_track(x, &track, track_uuid(TRACK_PROCESS, index), 0);
	return x->out.error;
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
	perfetto_track(x, &track, track_uuid(TRACK_THREAD, index), process_track(x, pairs_process(x->pairs, index)));
	return x->out.error;
}

/* Sums of calls overlap each other, so they can't be slices of one track: instants at the first call, with the rest said. */
static uint64_t sums_track(struct exporter *x, uint32_t index)
{
	uint64_t uuid = track_uuid(TRACK_SUMS, index);

	if (!x->sums_track[index]) {
		Perfetto__TrackDescriptor track = PERFETTO__TRACK_DESCRIPTOR__INIT;

		track.name = (char *)"calls summed up";
		perfetto_track(x, &track, uuid, track_uuid(TRACK_THREAD, index));
		x->sums_track[index] = true;
	}
	return uuid;
}

static int event(struct exporter *x, const struct export_event *e)
{
	const struct event_view *v = &e->view;
	char words[128];

	perfetto_note_word(x, NOTE_TYPE, event_type_name(v->type));
	perfetto_note_uint(x, NOTE_SELF, v->time_ns);
	perfetto_note_uint(x, NOTE_OVERHEAD, v->overhead_ns);
	perfetto_note_uint(x, NOTE_BLOCKED, v->blocked_ns);
	if (v->hits != 1)
		perfetto_note_uint(x, NOTE_HITS, v->hits);
	if (e->timeline->frame_id)
		perfetto_note_uint(x, NOTE_FRAME, e->timeline->frame_id);
	perfetto_note_detail(x, v->detail);
	perfetto_note_metrics(x, v->metrics);
	if (*shown_flags(v->flags, words, sizeof(words)))
		perfetto_note_flags(x, words);
	if (e->overlapping) {
		perfetto_note_uint(x, NOTE_LAST, x->begin_ns + e->end_ns);
		perfetto_probe_event(x, v->probe, INSTANT, e->start_ns, sums_track(x, v->thread));
	} else {
		perfetto_probe_event(x, v->probe, SLICE_BEGIN, e->start_ns, track_uuid(TRACK_THREAD, v->thread));
	}
	return x->out.error;
}

static int leave(struct exporter *x, const struct export_event *e)
{
	Perfetto__TrackEvent event = PERFETTO__TRACK_EVENT__INIT;

	perfetto_event(x, &event, SLICE_END, e->end_ns, track_uuid(TRACK_THREAD, e->view.thread));
	return x->out.error;
}

const struct export_format export_perfetto = {
	.name = "perfetto",
	.extension = ".pftrace",
	.summary = "Perfetto's protobuf, for ui.perfetto.dev and its trace processor",
	.begin = begin,
	.process = process,
	.thread = thread,
	.frame = perfetto_frame,
	.event = event,
	.leave = leave,
	.mark = perfetto_mark,
	.counter = perfetto_counter,
	.loss = perfetto_loss,
	.note = perfetto_note,
	.end = perfetto_end,
	.free = free_state,
};
