// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* All of a Chrome trace that isn't a call: instants, operations, flows, objects, counters, losses, metadata. */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include "export/chrome.h"
#include "export/shown.h"

static void id_member(struct exporter *x, uint64_t id)
{
	emit_text(&x->out, ",\"id\":\"0x");
	emit_hex(&x->out, id, id >> 32 ? 16 : 8);
	emit_text(&x->out, "\"");
}

static void instant(struct exporter *x, const struct session_mark *m, const struct recording_probe *p)
{
	size_t nr;
	const struct timeline *t = session_timelines(x->in.s, &nr);

	chrome_item(x, x->instant, m->ts_ns, m->thread);
	/* what concerns frames, documents and windows is the process's; the rest is drawn on the thread */
	if (p->role == ROLE_NONE || p->role >= ROLE_SCRIPT_CALLER)
		emit_text(&x->out, ",\"s\":\"t\"");
	else
		emit_text(&x->out, ",\"s\":\"p\"");
	chrome_name(x, p->label, p->category);
	chrome_data(x, &x->out, p->label, m->detail, m->timeline < nr ? &t[m->timeline] : NULL, p->type, 0, true);
	emit_text(&x->out, "}}");
}

/* b, n and e of one operation agree in category and id, b and e in their name, too; n is named after what happened in it. */
static void operation(struct exporter *x, char phase, uint64_t ts_ns, uint32_t thread, const struct pair *pair,
		      const struct session_mark *m)
{
	const struct recording_probe *p = &x->in.probes[pair->group];
	const char *name = phase == 'n' ? x->in.probes[m->probe].label : p->group;

	chrome_item(x, phase, ts_ns, thread);
	id_member(x, pair->number);
	chrome_name(x, name, p->category);
	if (m)
		chrome_data(x, &x->out, name, m->detail, NULL, x->in.probes[m->probe].type, 0, true);
	emit_text(&x->out, "}}");
}

static void flow(struct exporter *x, char phase, const struct session_mark *m, const struct pair *pair)
{
	const struct recording_probe *p = &x->in.probes[pair->group];

	chrome_item(x, phase, m->ts_ns, m->thread);
	id_member(x, pair->number);
	/* the arrow ends at the event around the mark, or at the next one that starts on this thread */
	if (phase == 'f' && m->enclosing)
		emit_text(&x->out, ",\"bp\":\"e\"");
	chrome_name(x, p->group, p->category);
	emit_text(&x->out, "}}");
}

static void document(struct exporter *x, char phase, const struct session_mark *m, const struct recording_probe *p)
{
	chrome_item(x, phase, m->ts_ns, m->thread);
	id_member(x, m->id);
	chrome_name(x, "Document", p->category);
	if (phase == 'O') {
		emit_text(&x->out, "\"snapshot\":{\"url\":");
		if (m->detail->url)
			emit_json_n(&x->out, m->detail->url, shown_url(&x->in.opt, m->detail->url));
		else
			emit_text(&x->out, "\"\"");
		emit_text(&x->out, "}");
	}
	emit_text(&x->out, "}}");
}

/* An operation or a flow; false if the mark stays without its counterpart and is to be shown as an instant. */
static bool paired(struct exporter *x, const struct session_mark *m, const struct recording_probe *p)
{
	const struct pair *open;
	struct pair pair;
	bool again;

	switch (p->kind) {
	case PROBE_KIND_ASYNC_BEGIN:
		open = pairs_open(x->pairs, m, &again);
		operation(x, again ? 'n' : 'b', m->ts_ns, m->thread, open, m);
		return true;
	case PROBE_KIND_ASYNC_END:
		if (!pairs_close(x->pairs, m, &pair))
			return false;
		operation(x, 'e', m->ts_ns, m->thread, &pair, m);
		return true;
	case PROBE_KIND_FLOW_BEGIN:
		/* an arrow starts in a slice: without one there is nothing to draw it from */
		if (!m->enclosing)
			return false;
		open = pairs_open(x->pairs, m, &again);
		flow(x, again ? 't' : 's', m, open);
		return true;
	case PROBE_KIND_FLOW_END:
		if (!pairs_close(x->pairs, m, &pair))
			return false;
		flow(x, 'f', m, &pair);
		return true;
	default:
		open = *p->group ? pairs_find(x->pairs, m) : NULL;
		if (open)
			operation(x, 'n', m->ts_ns, m->thread, open, m);
		return open;
	}
}

int chrome_mark(struct exporter *x, const struct session_mark *m)
{
	const struct recording_probe *p;

	if (m->probe >= x->in.nr_probes)
		return 0;
	p = &x->in.probes[m->probe];
	if (p->role == ROLE_SCRIPT_CALLER)
		return 0;
	if (p->role == ROLE_DOCUMENT_CREATED && m->id) {
		document(x, 'N', m, p);
		document(x, 'O', m, p);
	} else if (p->role == ROLE_DOCUMENT_REMOVED && m->id) {
		document(x, 'D', m, p);
	}
	if (!paired(x, m, p))
		instant(x, m, p);
	return x->out.error;
}

/* The object that the parent frame is. */
static void parent_member(struct exporter *x, const struct timeline *t)
{
	size_t nr;
	const struct timeline *all = session_timelines(x->in.s, &nr);

	for (size_t i = 0; t->parent_frame_id && i < nr; i++)
		if (all[i].frame_id == t->parent_frame_id) {
			emit_text(&x->out, ",\"parent\":\"0x");
			emit_hex(&x->out, all[i].id, 8);
			emit_text(&x->out, "\"");
			return;
		}
}

static void frame_object(struct exporter *x, char phase, const struct timeline *t, uint64_t ts_ns)
{
	chrome_process_item(x, phase, ts_ns, t->process);
	id_member(x, t->id);
	chrome_name(x, "Frame", "frame");
	if (phase == 'O') {
		emit_text(&x->out, "\"snapshot\":{\"url\":");
		if (t->url)
			emit_json_n(&x->out, t->url, shown_url(&x->in.opt, t->url));
		else
			emit_text(&x->out, "\"\"");
		emit_text(&x->out, ",\"main\":");
		emit_string(&x->out, t->main ? "true" : "false");
		emit_member_u64(&x->out, "frameID", t->frame_id);
		emit_member_u64(&x->out, "parentFrameID", t->parent_frame_id);
		parent_member(x, t);
		emit_text(&x->out, "}");
	}
	emit_text(&x->out, "}}");
}

int chrome_frame(struct exporter *x, const struct timeline *t)
{
	uint64_t end = shown_end_ns(x->in.s);

	if (!t->frame)
		return 0;
	frame_object(x, 'N', t, t->created_ns);
	frame_object(x, 'O', t, t->created_ns);
	if (t->removed_ns <= end)
		frame_object(x, 'D', t, t->removed_ns);
	return x->out.error;
}

int chrome_counter(struct exporter *x, const char *name, uint32_t process, uint64_t ts_ns, const char *const *series,
		   const double *values, size_t nr)
{
	chrome_process_item(x, 'C', ts_ns, process);
	chrome_name(x, name, "framescope");
	for (size_t i = 0; i < nr; i++) {
		if (i)
			emit_text(&x->out, ",");
		emit_json(&x->out, series[i]);
		emit_text(&x->out, ":");
		emit_double(&x->out, values[i]);
	}
	emit_text(&x->out, "}}");
	return x->out.error;
}

void chrome_global(struct exporter *x, uint64_t ts_ns, const char *name)
{
	chrome_process_item(x, x->instant, ts_ns, UINT32_MAX);
	emit_text(&x->out, ",\"s\":\"g\"");
	chrome_name(x, name, "framescope");
}

int chrome_loss(struct exporter *x, const struct session_loss *l)
{
	chrome_global(x, l->ts_ns, "Records lost");
	emit_text(&x->out, "\"data\":{\"probe\":");
	emit_json(&x->out, input_probe(&x->in, l->probe)->name);
	emit_member(&x->out, "label", input_probe(&x->in, l->probe)->label);
	emit_member_u64(&x->out, "begins", l->begins);
	emit_member_u64(&x->out, "ends", l->ends);
	emit_member_u64(&x->out, "marks", l->marks);
	emit_text(&x->out, ",\"since\":");
	emit_us(&x->out, l->since_ns + CHROME_START_NS);
	emit_text(&x->out, "}}}");
	return x->out.error;
}

int chrome_note(struct exporter *x, const struct session_note *n)
{
	chrome_global(x, n->ts_ns, "Note");
	emit_text(&x->out, "\"data\":{\"text\":");
	emit_json(&x->out, n->text);
	emit_text(&x->out, "}");
	emit_member(&x->out, "detail", n->text);
	emit_text(&x->out, "}}");
	return x->out.error;
}

static void wall_clock(struct emit *out, const struct recording_info *info)
{
	time_t sec = info->begin_realtime_ns / 1000000000;
	struct tm tm;
	char text[40];

	if (info->begin_realtime_ns <= 0 || !gmtime_r(&sec, &tm))
		return;
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(text + strlen(text), sizeof(text) - strlen(text), ".%03dZ",
		 (int)(info->begin_realtime_ns / 1000000 % 1000));
	emit_member(out, "startTime", text);
}

static void metadata(struct exporter *x, uint64_t too_deep, uint64_t clamped)
{
	const struct recording_info *info = x->in.info;
	const struct session_counts *c = session_get_counts(x->in.s);
	struct emit *out = &x->out;

	emit_text(out, "\"metadata\":{\"tool\":");
	emit_json(out, info->tool);
	emit_text(out, ",\"clock\":\"CLOCK_MONOTONIC, microseconds since the recording began plus one\"");
	wall_clock(out, info);
	emit_member(out, "kernel", info->kernel);
	emit_member(out, "machine", info->machine);
	emit_member(out, "rung", info->rung);
	emit_member(out, "overheadSource", info->overhead_source);
	emit_member_u64(out, "targetPid", info->target_pid);
	shown_left_out(out, x->in.s, "leftOut");
	emit_member_u64(out, "events", c->events);
	emit_member_u64(out, "lost", c->lost);
	emit_member_u64(out, "unwound", c->unwound);
	emit_member_u64(out, "clipped", c->clipped);
	emit_member_u64(out, "tooDeep", c->too_deep + too_deep);
	emit_member_u64(out, "cut", clamped);
	emit_member_u64(out, "truncated", info->truncated);
	shown_incomplete(out, x->in.s, "incomplete");
	emit_text(out, "}");
}

int chrome_end(struct exporter *x, uint64_t too_deep, uint64_t clamped)
{
	uint64_t end = shown_end_ns(x->in.s);
	struct pair pair;

	/* operations that go on end with the recording */
	while (pairs_drain(x->pairs, &pair))
		if (x->in.probes[pair.probe].kind == PROBE_KIND_ASYNC_BEGIN)
			operation(x, 'e', end, pair.thread, &pair, NULL);
	chrome_global(x, end, "Recording stopped");
	emit_text(&x->out, "}}");
	emit_text(&x->out, "\n],\"displayTimeUnit\":\"ms\",");
	metadata(x, too_deep, clamped);
	emit_text(&x->out, "}\n");
	return emit_flush(&x->out);
}
