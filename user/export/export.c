// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Drives a format's writer from a session: calls, and what else happened, in order of time. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "export/export.h"
#include "export/formats.h"
#include "export/rates.h"
#include "export/shown.h"
#include "export/walk.h"

const struct export_format *const export_formats[] = {
	&export_chrome,
	&export_devtools,
	&export_perfetto,
	&export_metrics,
	&export_folded,
	&export_speedscope,
	&export_html,
	&export_csv,
	&export_jsonl,
	NULL
};

const struct export_format *export_format_by_name(const char *name)
{
	for (size_t i = 0; export_formats[i]; i++)
		if (!strcmp(export_formats[i]->name, name))
			return export_formats[i];
	return NULL;
}

const struct export_format *export_format_by_path(const char *path)
{
	const struct export_format *best = NULL;
	size_t n = strlen(path);

	if (n > 3 && !strcmp(path + n - 3, ".gz"))
		n -= 3;
	for (size_t i = 0; export_formats[i]; i++) {
		const char *ext = export_formats[i]->extension;
		size_t len = strlen(ext);

		/* the longest ending that fits; of equal ones the first in the table */
		if (n > len && !strncmp(path + n - len, ext, len) && (!best || len > strlen(best->extension)))
			best = export_formats[i];
	}
	return best;
}

/* What is told between the calls. Each list has its own place; `next_ns` is the earliest of all. */
struct run {
	const struct session *s;
	const struct export_format *format;
	struct exporter *x;
	const struct session_mark *marks;
	const struct session_loss *losses;
	const struct session_note *notes;
	size_t nr_marks, nr_losses, nr_notes, mark, loss, note;
	struct rates *rates;
	uint64_t next_ns;
	double lost[3];
};

static int tell_loss(struct run *r, const struct session_loss *l)
{
	static const char *const series[] = { "begins", "ends", "marks" };
	int rc = 0;

	if (r->format->loss)
		rc = r->format->loss(r->x, l);
	r->lost[0] += l->begins;
	r->lost[1] += l->ends;
	r->lost[2] += l->marks;
	if (!rc && r->format->counter)
		rc = r->format->counter(r->x, "lost records", UINT32_MAX, l->ts_ns, series, r->lost, 3);
	return rc;
}

/* Tells all that happened up to ns. */
static int tell_until(struct run *r, uint64_t ns)
{
	int rc = 0;

	while (!rc) {
		uint64_t mark = r->mark < r->nr_marks ? r->marks[r->mark].ts_ns : UINT64_MAX;
		uint64_t loss = r->loss < r->nr_losses ? r->losses[r->loss].ts_ns : UINT64_MAX;
		uint64_t note = r->note < r->nr_notes ? r->notes[r->note].ts_ns : UINT64_MAX;
		uint64_t rate = rates_next_ns(r->rates);
		uint64_t first = mark < loss ? mark : loss;

		first = first < note ? first : note;
		first = first < rate ? first : rate;
		r->next_ns = first;
		if (first > ns || first == UINT64_MAX)
			return 0;
		if (first == rate)
			rc = rates_tell(r->rates, r->format, r->x);
		else if (first == mark)
			rc = r->format->mark ? r->format->mark(r->x, &r->marks[r->mark]) : 0, r->mark++;
		else if (first == loss)
			rc = tell_loss(r, &r->losses[r->loss++]);
		else
			rc = r->format->note ? r->format->note(r->x, &r->notes[r->note]) : 0, r->note++;
	}
	return rc;
}

static int enter(void *arg, const struct export_event *e)
{
	struct run *r = arg;

	if (!r->format->by_thread && !e->overlapping && e->start_ns >= r->next_ns) {
		int rc = tell_until(r, e->start_ns);

		if (rc)
			return rc;
	}
	if (r->format->counter) {
		uint64_t next = rates_count(r->rates, e);

		if (next < r->next_ns)
			r->next_ns = next;
	}
	return r->format->event ? r->format->event(r->x, e) : 0;
}

static int leave(void *arg, const struct export_event *e)
{
	struct run *r = arg;

	return r->format->leave(r->x, e);
}

static int tell_tables(struct run *r)
{
	const struct export_format *f = r->format;
	size_t nr_procs, nr_threads, nr_timelines;
	const struct recording_process *procs = session_processes(r->s, &nr_procs);
	const struct recording_thread *threads = session_threads(r->s, &nr_threads);
	const struct timeline *timelines = session_timelines(r->s, &nr_timelines);
	int rc = 0;

	for (size_t i = 0; !rc && f->process && i < nr_procs; i++)
		rc = f->process(r->x, i, &procs[i]);
	for (size_t i = 0; !rc && f->thread && i < nr_threads; i++)
		rc = f->thread(r->x, i, &threads[i]);
	for (size_t i = 0; !rc && f->frame && i < nr_timelines; i++)
		rc = f->frame(r->x, &timelines[i]);
	return rc;
}

/* What is missing of the file itself: in the formats that have no other place for it, where their notes are. */
static int tell_incomplete(struct run *r)
{
	char what[INCOMPLETE_TEXT], text[INCOMPLETE_TEXT + 40];
	struct session_note note = { .ts_ns = shown_end_ns(r->s), .text = text };

	if (!r->format->note || !*session_incomplete(r->s, what, sizeof(what)))
		return 0;
	snprintf(text, sizeof(text), "the recording is not complete: %s", what);
	return r->format->note(r->x, &note);
}

static int tell_all(struct run *r)
{
	struct walk_ops ops = { .enter = enter, .leave = r->format->leave ? leave : NULL };
	struct walk_counts counts = { 0 };
	int rc = tell_tables(r);

	if (!rc && (r->format->event || r->format->leave || r->format->counter))
		rc = walk_session(r->s, r->format->by_thread, &ops, r, &counts);
	if (!rc) {
		rates_finish(r->rates);
		rc = tell_until(r, UINT64_MAX - 1);
	}
	if (!rc)
		rc = tell_incomplete(r);
	return rc ? rc : r->format->end(r->x, counts.too_deep, counts.clamped);
}

static int run(struct run *r, const struct export_options *opt, struct outfile *f)
{
	int rc = rates_new(r->s, &r->rates);

	if (rc)
		return rc;
	r->marks = session_marks(r->s, &r->nr_marks);
	r->losses = session_losses(r->s, &r->nr_losses);
	r->notes = session_notes(r->s, &r->nr_notes);
	rc = r->format->begin(r->s, opt, f, &r->x);
	if (!rc) {
		rc = tell_all(r);
		r->format->free(r->x);
	}
	rates_free(r->rates);
	return rc;
}

int export_session(const struct session *s, const struct export_format *format, const struct export_options *opt,
		   const char *path, struct error *err)
{
	struct run r = { .s = s, .format = format };
	struct outfile *f;
	int rc = outfile_open(path, &f, err);

	if (rc)
		return rc;
	rc = run(&r, opt, f);
	if (!rc)
		return outfile_commit(f, err);
	if (rc != -ENOMEM)
		return outfile_fail(f, rc, err);
	outfile_discard(f);
	return error_set(err, ERR_OTHER, rc, "out of memory while writing '%s'", path);
}
