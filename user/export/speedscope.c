// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * speedscope's own format, in which it shows more than of a Chrome trace: a profile per thread in nanoseconds, calls
 * told apart by what they are about, and what the kernel summed up as a profile of its own.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/text.h"
#include "export/emit.h"
#include "export/input.h"
#include "export/selectors.h"
#include "export/shown.h"
#include "export/trie.h"

#define SUMS_MAX 65536		/* different details of summed-up calls that are shown */

struct exporter {
	struct export_input in;
	struct emit out;
	struct trie frames;	/* only its frames are used */
	struct selector_table sums;	/* by detail */
	uint16_t *sum_probes;	/* of each sum */
	uint32_t thread;	/* whose profile is open; TRIE_NONE: none */
	bool any_profile, any_event;
	uint64_t last_ns;
};

static void free_state(struct exporter *x)
{
	trie_free(&x->frames);
	selector_table_free(&x->sums);
	free(x->sum_probes);
	emit_close(&x->out);
	free(x);
}

static int begin(const struct session *s, const struct export_options *opt, struct outfile *f, struct exporter **ret)
{
	struct exporter *x = calloc(1, sizeof(*x));
	char what[INCOMPLETE_TEXT], name[INCOMPLETE_TEXT + 40];
	int rc;

	if (!x)
		return -ENOMEM;
	export_input_open(&x->in, s, opt);
	x->thread = TRIE_NONE;
	x->sum_probes = calloc(SUMS_MAX, sizeof(*x->sum_probes));
	rc = emit_open(&x->out, f);
	if (!rc)
		rc = x->sum_probes ? trie_init(&x->frames) : -ENOMEM;
	if (rc) {
		free_state(x);
		return rc;
	}
	emit_text(&x->out, "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\"");
	emit_member(&x->out, "exporter", session_info(s)->tool);
	/* its title there, and the only text of the whole file that is shown */
	snprintf(name, sizeof(name), "%u%s%s", session_info(s)->target_pid,
		 *session_incomplete(s, what, sizeof(what)) ? ", not complete: " : "", what);
	emit_member(&x->out, "name", name);
	emit_text(&x->out, ",\"activeProfileIndex\":0,\"profiles\":[");
	*ret = x;
	return x->out.error;
}

static void close_profile(struct exporter *x)
{
	if (x->thread == TRIE_NONE)
		return;
	emit_text(&x->out, "\n],\"endValue\":");
	emit_u64(&x->out, x->last_ns);
	emit_text(&x->out, "}");
	x->thread = TRIE_NONE;
}

static void open_profile(struct exporter *x, uint32_t thread)
{
	const struct recording_thread *t = &x->in.threads[thread];
	char name[256];
	snprintf(name, sizeof(name), "%.100s (%u), %.60s (%u)", input_process_name(&x->in, t->pid), t->pid, t->name, t->tid);
	emit_string(&x->out, x->any_profile ? ",\n" : "\n");
	emit_text(&x->out, "{\"type\":\"evented\",\"name\":");
	emit_json(&x->out, name);
	emit_text(&x->out, ",\"unit\":\"nanoseconds\",\"startValue\":0,\"events\":[");
	x->any_profile = true;
	x->any_event = false;
	x->thread = thread;
	x->last_ns = 0;
}

static void put(struct exporter *x, char type, uint32_t frame, uint64_t ns)
{
	if (x->any_event)
		emit_text(&x->out, ",\n{\"type\":\"");
	else
		emit_text(&x->out, "\n{\"type\":\"");
	x->any_event = true;
	emit_bytes(&x->out, &type, 1);
	emit_text(&x->out, "\",\"frame\":");
	emit_u64(&x->out, frame);
	emit_text(&x->out, ",\"at\":");
	emit_u64(&x->out, ns);
	emit_text(&x->out, "}");
	x->last_ns = ns;
}

/* A full table: calls are told apart by their probe alone. Probes are fewer than it has room for, but may come too late. */
static uint32_t frame_of(struct exporter *x, const struct event_view *v)
{
	uint32_t frame = trie_frame(&x->frames, v->probe, v->detail);

	if (frame == TRIE_NONE)
		frame = trie_frame(&x->frames, v->probe, NULL);
	return frame == TRIE_NONE ? 0 : frame;
}

static int event(struct exporter *x, const struct export_event *e)
{
	if (e->overlapping) {
		size_t before = x->sums.nr;
		int rc = before < SUMS_MAX ? selector_table_add(&x->sums, &e->view) : 0;

		if (x->sums.nr > before)
			x->sum_probes[before] = e->view.probe;
		return rc;
	}
	if (x->thread != e->view.thread) {
		close_profile(x);
		open_profile(x, e->view.thread);
	}
	put(x, 'O', frame_of(x, &e->view), e->start_ns);
	return x->out.error;
}

static int leave(struct exporter *x, const struct export_event *e)
{
	put(x, 'C', frame_of(x, &e->view), e->end_ns);
	return x->out.error;
}

/* What was summed up has no place in time: as samples with weights. */
static void write_sums(struct exporter *x)
{
	uint64_t total = 0;

	if (!x->sums.nr)
		return;
	emit_string(&x->out, x->any_profile ? ",\n" : "\n");
	emit_text(&x->out, "{\"type\":\"sampled\",\"name\":\"calls summed up\",\"unit\":\"nanoseconds\",\"startValue\":0,"
			   "\"samples\":[");
	for (size_t i = 0; i < x->sums.nr; i++) {
		struct event_view v = { .probe = x->sum_probes[i], .detail = x->sums.sums[i].detail };

		emit_string(&x->out, i ? ",[" : "[");
		emit_u64(&x->out, frame_of(x, &v));
		emit_text(&x->out, "]");
	}
	emit_text(&x->out, "],\"weights\":[");
	for (size_t i = 0; i < x->sums.nr; i++) {
		if (i)
			emit_text(&x->out, ",");
		emit_u64(&x->out, x->sums.sums[i].time_ns);
		total += x->sums.sums[i].time_ns;
	}
	emit_text(&x->out, "],\"endValue\":");
	emit_u64(&x->out, total);
	emit_text(&x->out, "}");
	x->any_profile = true;
}

static void write_frame(struct exporter *x, const struct trie_frame *f)
{
	const struct event_detail *d = f->detail;
	const char *about = NULL;
	char name[1280];

	if (d)
		about = d->selector ? shown_text(&x->in.opt, d->selector) : d->event_name;
	snprintf(name, sizeof(name), "%.200s%s%.1000s", input_probe(&x->in, f->probe)->label,
		 about ? " " : "", about ? about : "");
	emit_text(&x->out, "{\"name\":");
	emit_json_n(&x->out, name, text_valid_prefix(name, strlen(name)));
	if (d && d->url) {
		emit_text(&x->out, ",\"file\":");
		emit_json_n(&x->out, d->url, shown_url(&x->in.opt, d->url));
	}
	if (d && d->has & 1u << FIELD_LINE)
		emit_member_u64(&x->out, "line", d->line);
	if (d && d->has & 1u << FIELD_COLUMN)
		emit_member_u64(&x->out, "col", d->column);
	emit_text(&x->out, "}");
}

static int end(struct exporter *x, uint64_t too_deep, uint64_t clamped)
{
	(void)too_deep;
	(void)clamped;
	close_profile(x);
	write_sums(x);
	/* speedscope opens no file without a profile */
	if (!x->any_profile)
		emit_text(&x->out, "{\"type\":\"evented\",\"name\":\"no events\",\"unit\":\"nanoseconds\",\"startValue\":0,"
				   "\"endValue\":0,\"events\":[]}");
	emit_text(&x->out, "\n],\"shared\":{\"frames\":[");
	for (uint32_t i = 0; i < x->frames.nr_frames; i++) {
		emit_string(&x->out, i ? ",\n" : "\n");
		write_frame(x, &x->frames.frames[i]);
	}
	emit_text(&x->out, "\n]}}\n");
	return emit_flush(&x->out);
}

const struct export_format export_speedscope = {
	.name = "speedscope",
	.extension = ".speedscope.json",
	.summary = "speedscope's own format: a profile per thread",
	.by_thread = true,
	.begin = begin,
	.event = event,
	.leave = leave,
	.end = end,
	.free = free_state,
};
