// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Chrome trace events: X (or B and E) for calls, for chrome://tracing, Perfetto, speedscope and DevTools alike. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include "export/chrome.h"
#include "export/shown.h"

static int open_state(struct exporter *x, struct outfile *f)
{
	int rc;

	rc = emit_open(&x->out, f);
	if (!rc)
		rc = emit_open(&x->scratch, NULL);
	if (!rc)
		rc = pairs_new(x->in.s, &x->pairs);
	if (rc)
		return rc;
	x->tails = calloc(CHROME_TAILS, sizeof(*x->tails));
	x->ids = calloc(x->in.nr_threads + 1, sizeof(*x->ids));
	x->ends = calloc(x->in.nr_threads + 1, sizeof(*x->ends));
	if (!x->tails || !x->ids || !x->ends)
		return -ENOMEM;
	for (size_t i = 0; i < x->in.nr_threads; i++)
		snprintf(x->ids[i], sizeof(x->ids[i]), ",\"pid\":%u,\"tid\":%u", x->in.threads[i].pid, x->in.threads[i].tid);
	return 0;
}

int chrome_begin(const struct session *s, const struct export_options *opt, struct outfile *f, struct exporter **ret)
{
	struct exporter *x = calloc(1, sizeof(*x));
	int rc;

	if (!x)
		return -ENOMEM;
	export_input_open(&x->in, s, opt);
	x->instant = 'i';
	rc = open_state(x, f);
	if (rc) {
		chrome_free(x);
		return rc;
	}
	emit_text(&x->out, "{\"traceEvents\":[");
	chrome_global(x, 0, "Recording started");
	emit_text(&x->out, "}}");
	*ret = x;
	return x->out.error;
}

void chrome_free(struct exporter *x)
{
	if (!x)
		return;
	for (size_t i = 0; x->tails && i < CHROME_TAILS; i++)
		free(x->tails[i].text);
	free(x->tails);
	free(x->ids);
	for (size_t i = 0; x->ends && i < x->in.nr_threads; i++)
		free(x->ends[i].us);
	free(x->ends);
	free(x->profile);
	selector_table_free(&x->selectors);
	pairs_free(x->pairs);
	emit_close(&x->out);
	emit_close(&x->scratch);
	free(x);
}

/* The one place that knows whether a comma is due. */
static void item_start(struct exporter *x, char phase)
{
	if (x->any)
		emit_text(&x->out, ",\n{\"ph\":\"");
	else
		emit_text(&x->out, "\n{\"ph\":\"");
	x->any = true;
	emit_bytes(&x->out, &phase, 1);
	emit_text(&x->out, "\"");
}

void chrome_item(struct exporter *x, char phase, uint64_t ts_ns, uint32_t thread)
{
	item_start(x, phase);
	emit_text(&x->out, ",\"ts\":");
	emit_us(&x->out, ts_ns + CHROME_START_NS);
	if (thread < x->in.nr_threads)
		emit_string(&x->out, x->ids[thread]);
	else
		emit_text(&x->out, ",\"pid\":0,\"tid\":0");
}

void chrome_process_item(struct exporter *x, char phase, uint64_t ts_ns, uint32_t process)
{
	uint32_t pid = process < x->in.nr_procs ? x->in.procs[process].pid : x->in.info->target_pid;

	item_start(x, phase);
	emit_text(&x->out, ",\"ts\":");
	emit_us(&x->out, ts_ns + CHROME_START_NS);
	emit_member_u64(&x->out, "pid", pid);
	emit_member_u64(&x->out, "tid", pid);
}

void chrome_name(struct exporter *x, const char *name, const char *cat)
{
	emit_member(&x->out, "name", *name ? name : "?");
	emit_member(&x->out, "cat", *cat ? cat : "framescope");
	emit_text(&x->out, ",\"args\":{");
}

static void meta(struct exporter *x, const char *name, uint32_t pid, uint32_t tid)
{
	item_start(x, 'M');
	emit_member_u64(&x->out, "pid", pid);
	emit_member_u64(&x->out, "tid", tid);
	chrome_name(x, name, "__metadata");
}

void chrome_meta_string(struct exporter *x, const char *name, uint32_t pid, uint32_t tid, const char *value,
			const char *key)
{
	meta(x, name, pid, tid);
	emit_text(&x->out, "\"");
	emit_string(&x->out, key);
	emit_text(&x->out, "\":");
	emit_json(&x->out, value);
	emit_text(&x->out, "}}");
}

void chrome_meta_number(struct exporter *x, const char *name, uint32_t pid, uint32_t tid, int64_t value)
{
	meta(x, name, pid, tid);
	emit_text(&x->out, "\"sort_index\":");
	emit_i64(&x->out, value);
	emit_text(&x->out, "}}");
}

int chrome_process(struct exporter *x, uint32_t index, const struct recording_process *p)
{
	char label[64];

	chrome_meta_string(x, "process_name", p->pid, p->pid, p->name, "name");
	chrome_meta_number(x, "process_sort_index", p->pid, p->pid, index);
	if (p->inner_pid && p->inner_pid != p->pid) {
		snprintf(label, sizeof(label), "pid %u in its container", p->inner_pid);
		chrome_meta_string(x, "process_labels", p->pid, p->pid, label, "labels");
	}
	return x->out.error;
}

int chrome_thread(struct exporter *x, uint32_t index, const struct recording_thread *t)
{
	chrome_meta_string(x, "thread_name", t->pid, t->tid, t->name, "name");
	/* the engine's main thread comes first in its process */
	chrome_meta_number(x, "thread_sort_index", t->pid, t->tid, t->main ? -1 : (int64_t)index);
	return x->out.error;
}

static double microseconds(uint64_t ns)
{
	return ns / 1000.0;	/* rounded correctly: what a reader makes of the text */
}

uint64_t chrome_duration(struct exporter *x, const struct export_event *e)
{
	struct chrome_ends *ends = &x->ends[e->view.thread];
	double start = microseconds(e->start_ns + CHROME_START_NS), limit = microseconds(e->end_ns + CHROME_START_NS);
	uint64_t dur = e->end_ns - e->start_ns;

	if (ends->cap <= e->thread_depth) {
		uint32_t cap = ends->cap ? 2 * ends->cap : 16;
		double *us;

		while (cap <= e->thread_depth)
			cap *= 2;
		us = reallocarray(ends->us, cap, sizeof(*us));
		if (!us) {
			x->out.error = -ENOMEM;
			return dur;
		}
		memset(us + ends->cap, 0, (cap - ends->cap) * sizeof(*us));
		ends->us = us;
		ends->cap = cap;
	}
	if (e->thread_depth && ends->us[e->thread_depth - 1] < limit)
		limit = ends->us[e->thread_depth - 1];
	/* an ulp is below a nanosecond for eleven days: two steps at most */
	for (int step = 0; step < 2 && dur && start + microseconds(dur) > limit; step++)
		dur--;
	ends->us[e->thread_depth] = start + microseconds(dur);
	return dur;
}

void chrome_complete(struct exporter *x, const struct export_event *e, uint64_t wall)
{
	uint64_t blocked = e->view.agg_blocked_ns < wall ? e->view.agg_blocked_ns : wall;

	chrome_item(x, x->in.opt.begin_end ? 'B' : 'X', e->start_ns, e->view.thread);
	if (!x->in.opt.begin_end) {
		emit_text(&x->out, ",\"dur\":");
		emit_us(&x->out, wall);
		emit_text(&x->out, ",\"tdur\":");
		emit_us(&x->out, wall - blocked);
	}
	/* no viewer's fields, and ignored by all: what a reader needs to get the recording's numbers back */
	emit_text(&x->out, ",\"self\":");
	emit_us(&x->out, e->view.time_ns);
	if (e->view.overhead_ns) {
		emit_text(&x->out, ",\"overhead\":");
		emit_us(&x->out, e->view.overhead_ns);
	}
}

void chrome_call(struct exporter *x, const struct export_event *e, uint64_t lasts_ns, bool end)
{
	emit_text(&x->out, ",\"call\":true");
	if (end)
		return;
	emit_text(&x->out, ",\"lasts\":");
	emit_us(&x->out, lasts_ns);
	emit_text(&x->out, ",\"self\":");
	emit_us(&x->out, e->view.time_ns);
	emit_text(&x->out, ",\"overhead\":");
	emit_us(&x->out, e->view.overhead_ns);
	if (e->overlapping)
		emit_member_u64(&x->out, "hits", e->view.hits);
}

bool chrome_in_statistics(const struct exporter *x, const struct event_view *v)
{
	struct event_view up = *v;

	if (v->type != EVENT_CSS_SELECTOR_MATCHING)
		return false;
	while (up.parent && session_event(x->in.s, up.parent, &up))
		if (up.type == EVENT_STYLE_RECALCULATION)
			return true;
	return false;
}

/*
 * Calls that were summed up in the kernel overlap their siblings, so they cannot be slices. Those of selectors stand
 * in the statistics of the recalculation that they belong to; others become operations from their first to last call.
 */
static void overlapping(struct exporter *x, const struct export_event *e)
{
	const struct recording_probe *p = input_probe(&x->in, e->view.probe);

	if (chrome_in_statistics(x, &e->view))
		return;
	for (int end = 0; end < 2; end++) {
		chrome_item(x, end ? 'e' : 'b', end ? e->end_ns : e->start_ns, e->view.thread);
		emit_text(&x->out, ",\"id\":\"0x");
		emit_hex(&x->out, e->view.id, 8);
		emit_text(&x->out, "\"");
		chrome_call(x, e, e->end_ns - e->start_ns, end);
		if (!end) {
			chrome_tail(x, e, p->label, p->category);
		} else {
			chrome_name(x, p->label, p->category);
			emit_text(&x->out, "}}");
		}
	}
}

static int chrome_event(struct exporter *x, const struct export_event *e)
{
	const struct recording_probe *p = input_probe(&x->in, e->view.probe);

	if (e->overlapping) {
		overlapping(x, e);
		return x->out.error;
	}
	chrome_complete(x, e, chrome_duration(x, e));
	chrome_tail(x, e, p->label, p->category);
	if (e->view.type == EVENT_STYLE_RECALCULATION)
		chrome_selector_stats(x, e);
	return x->out.error;
}

static int chrome_leave(struct exporter *x, const struct export_event *e)
{
	const struct recording_probe *p = input_probe(&x->in, e->view.probe);

	if (!x->in.opt.begin_end)
		return 0;
	chrome_item(x, 'E', e->end_ns, e->view.thread);
	chrome_name(x, p->label, p->category);
	emit_text(&x->out, "}}");
	return x->out.error;
}

const struct export_format export_chrome = {
	.name = "chrome",
	.extension = ".json",
	.pairs = true,
	.summary = "Chrome trace events, for chrome://tracing, ui.perfetto.dev, speedscope, DevTools, Firefox",
	.begin = chrome_begin,
	.process = chrome_process,
	.thread = chrome_thread,
	.frame = chrome_frame,
	.event = chrome_event,
	.leave = chrome_leave,
	.mark = chrome_mark,
	.counter = chrome_counter,
	.loss = chrome_loss,
	.note = chrome_note,
	.end = chrome_end,
	.free = chrome_free,
};
