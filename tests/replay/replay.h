/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Record streams with the tables of a recording around them, and the session that the model makes of both.
 *
 *	struct replay r = { 0 };
 *	int layout = replay_probe(&r, "Layout", EVENT_LAYOUT);
 *
 *	replay_begin(&r, 1, 10, layout);		thread 1 of process REPLAY_PID, 10 ns after the begin
 *	stream_text(&r.stream, FIELD_URL, "http://x/");	arguments of the record before (stream.h)
 *	stream_lose(&r.stream);				the next record is lost
 *	replay_end(&r, 1, 20);				the innermost open call returns
 *	struct session *m = replay_session(&r);		builds the model; frees the stream
 *
 * Times are ns since the session began. Every failure of the harness itself aborts.
 */
#ifndef FRAMESCOPE_TESTS_REPLAY_REPLAY_H
#define FRAMESCOPE_TESTS_REPLAY_REPLAY_H

#include <stdio.h>
#include "model/session.h"
#include "replay/stream.h"

#define REPLAY_BEGIN_NS 1000000000000ull
#define REPLAY_PID 100
#define REPLAY_PROBES 64
#define REPLAY_PROCESSES 16
#define REPLAY_UNUSED __attribute__((unused))

struct replay {
	struct stream stream;
	struct recording_info info;
	struct recording_probe probes[REPLAY_PROBES];
	struct recording_process processes[REPLAY_PROCESSES];
	size_t nr_probes, nr_processes;
};

/* `name` must outlive the replay. Returns the probe's number. */
static REPLAY_UNUSED int replay_probe(struct replay *r, const char *name, enum event_type type)
{
	struct recording_probe *p = &r->probes[r->nr_probes];

	if (r->nr_probes == REPLAY_PROBES)
		abort();
	p->name = p->label = p->function = name;
	p->category = p->engine = p->group = p->module = p->build_id = p->source = p->evidence = p->refused = "";
	p->type = type;
	p->kind = PROBE_KIND_SPAN;
	p->cost_class = COST_EMULATED;
	p->attached = true;
	return r->nr_probes++;
}

static REPLAY_UNUSED int replay_role(struct replay *r, const char *name, enum probe_kind kind, enum probe_role role)
{
	int probe = replay_probe(r, name, EVENT_GENERIC);

	r->probes[probe].kind = kind;
	r->probes[probe].role = role;
	return probe;
}

/* start_ns 0: it ran before the recording began. */
static REPLAY_UNUSED void replay_process(struct replay *r, uint32_t pid, const char *name, uint64_t start_ns)
{
	struct recording_process *p = &r->processes[r->nr_processes];

	if (r->nr_processes++ == REPLAY_PROCESSES)
		abort();
	p->pid = p->inner_pid = pid;
	p->name = name;
	p->cmdline = p->engine = "";
	p->start_ns = start_ns ? REPLAY_BEGIN_NS + start_ns : 0;
}

/* A thread belongs to REPLAY_PID unless this puts it elsewhere before its first record. */
static REPLAY_UNUSED struct stream_thread *replay_thread(struct replay *r, uint32_t tid, uint32_t pid)
{
	struct stream_thread *t = stream_thread(&r->stream, tid);

	if (pid || t->tgid == tid)
		t->tgid = pid ? pid : REPLAY_PID;
	return t;
}

static REPLAY_UNUSED uint64_t replay_sp(struct replay *r, uint32_t tid)
{
	return 0x7ffc00000000ull + tid * 0x1000000ull - 64 * (stream_thread(&r->stream, tid)->depth + 1);
}

static REPLAY_UNUSED struct rec_begin *replay_begin(struct replay *r, uint32_t tid, uint64_t ts_ns, int probe)
{
	replay_thread(r, tid, 0);
	return stream_begin(&r->stream, tid, REPLAY_BEGIN_NS + ts_ns, probe, replay_sp(r, tid));
}

static REPLAY_UNUSED struct rec_end *replay_end(struct replay *r, uint32_t tid, uint64_t ts_ns)
{
	return stream_end(&r->stream, tid, REPLAY_BEGIN_NS + ts_ns);
}

/* A whole call without children. */
static REPLAY_UNUSED struct rec_end *replay_call(struct replay *r, uint32_t tid, uint64_t begin_ns, uint64_t end_ns, int probe)
{
	replay_begin(r, tid, begin_ns, probe);
	return replay_end(r, tid, end_ns);
}

static REPLAY_UNUSED struct rec_begin *replay_mark(struct replay *r, uint32_t tid, uint64_t ts_ns, int probe)
{
	replay_thread(r, tid, 0);
	return stream_mark(&r->stream, tid, REPLAY_BEGIN_NS + ts_ns, probe, replay_sp(r, tid));
}

static REPLAY_UNUSED struct rec_aggregate *replay_aggregate(struct replay *r, uint32_t tid, uint64_t first_ns,
							    uint64_t last_ns, int probe, uint64_t hits, uint64_t total_ns)
{
	replay_thread(r, tid, 0);
	return stream_aggregate(&r->stream, tid, REPLAY_BEGIN_NS + first_ns, REPLAY_BEGIN_NS + last_ns, probe, hits,
				total_ns);
}

static REPLAY_UNUSED void replay_cost(struct replay *r, uint64_t ts_ns, uint64_t inner_ns, uint64_t outer_ns, uint64_t spread_ns)
{
	stream_cost(&r->stream, REPLAY_BEGIN_NS + ts_ns, COST_EMULATED, inner_ns, outer_ns)->spread_ns = spread_ns;
}

/* The recording stops: what is open is closed and marked, as capture does. */
static REPLAY_UNUSED void replay_stop(struct replay *r, uint64_t ts_ns)
{
	for (size_t i = 0; i < STREAM_THREADS && r->stream.threads[i]; i++)
		while (r->stream.threads[i]->depth)
			replay_end(r, r->stream.threads[i]->tid, ts_ns)->flags = REC_F_CLIPPED;
	r->info.end_ns = REPLAY_BEGIN_NS + ts_ns;
}

static REPLAY_UNUSED struct session *replay_session(struct replay *r)
{
	struct session_builder *b;
	struct session *m;

	r->info.begin_ns = REPLAY_BEGIN_NS;
	if (!r->info.target_pid)
		r->info.target_pid = REPLAY_PID;
	r->info.tool = r->info.kernel = r->info.machine = r->info.rung = r->info.overhead_source = "test";
	for (int i = 0; i < RECORD_MAX_METRICS; i++)
		if (!r->info.metric_names[i])
			r->info.metric_names[i] = r->info.metric_units[i] = "";
	if (session_builder_new(&b) ||
	    session_builder_tables(b, &r->info, r->probes, r->nr_probes, r->processes, r->nr_processes, NULL, 0))
		abort();
	for (const struct rec_header *h = stream_next(&r->stream, NULL); h; h = stream_next(&r->stream, h))
		if (session_builder_add(b, h))
			abort();
	if (session_builder_finish(b, &m))
		abort();
	stream_free(&r->stream);
	return m;
}

/* The tree of a timeline as text, one line per top-level event: "Reflow[10-90](Style[20-60] Layout[60-80])". Flags
 * follow the interval: u unwound, c clipped, b no begin, e no end, m moved; "x3" are hits. */
static REPLAY_UNUSED void replay_describe(const struct session *m, const struct timeline *t, char *out, size_t size)
{
	uint32_t open[1024] = { 0 }, depth = 0, id = t->first_id;
	size_t nr, used = 0;
	const struct recording_probe *probes = session_probes(m, &nr);
	struct event_view e;

	*out = '\0';
	for (; id < t->first_id + t->nr_events && used + 128 < size && session_event(m, id, &e); id++) {
		for (; depth && id >= open[depth - 1]; depth--)
			used += snprintf(out + used, size - used, ")");
		used += snprintf(out + used, size - used, "%s%s[%llu-%llu]%s%s%s%s%s",
				 !used || out[used - 1] == '(' ? "" : depth ? " " : "\n", probes[e.probe].name,
				 (unsigned long long)e.start_ns, (unsigned long long)e.end_ns,
				 e.flags & EV_UNWOUND ? "u" : "", e.flags & EV_CLIPPED ? "c" : "",
				 e.flags & EV_NO_BEGIN ? "b" : "", e.flags & EV_NO_END ? "e" : "",
				 e.flags & EV_MOVED ? "m" : "");
		if (e.hits != 1)
			used += snprintf(out + used, size - used, "x%u", e.hits);
		if (e.subtree > 1 && depth < 1024) {
			open[depth++] = id + e.subtree;
			used += snprintf(out + used, size - used, "(");
		}
	}
	while (depth-- && used + 2 < size)
		used += snprintf(out + used, size - used, ")");
}

#endif
