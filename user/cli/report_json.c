// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The report as JSON: all that the text has and what it leaves out. Times are integers, nanoseconds. */
#include <errno.h>
#include "base/json.h"
#include "cli/report.h"

static void put_info(struct json *j, const struct session *s)
{
	const struct recording_info *i = session_info(s);

	json_object(j, "info");
	json_text(j, "tool", i->tool);
	json_u64(j, "format", i->version);
	json_text(j, "kernel", i->kernel);
	json_text(j, "machine", i->machine);
	json_text(j, "rung", i->rung);
	json_text(j, "overhead_source", i->overhead_source);
	json_u64(j, "target_pid", i->target_pid);
	json_u64(j, "begin_ns", i->begin_ns);
	json_u64(j, "duration_ns", i->end_ns > i->begin_ns ? i->end_ns - i->begin_ns : 0);
	json_i64(j, "begin_realtime_ns", i->begin_realtime_ns);
	json_bool(j, "truncated", i->truncated);
	json_u64(j, "damaged_blocks", i->damaged_blocks);
	json_bool(j, "target_ended", i->target_ended);
	json_array(j, "metrics");
	for (uint32_t k = 0; k < i->nr_metrics; k++) {
		json_object(j, NULL);
		json_text(j, "name", i->metric_names[k]);
		json_text(j, "unit", i->metric_units[k]);
		json_close(j);
	}
	json_close(j);
	json_close(j);
}

static void put_counts(struct json *j, const struct session *s)
{
	const struct session_counts *c = session_get_counts(s);

	json_object(j, "counts");
	json_u64(j, "records", c->records);
	json_u64(j, "events", c->events);
	json_u64(j, "lost", c->lost);
	json_u64(j, "unwound", c->unwound);
	json_u64(j, "clipped", c->clipped);
	json_u64(j, "no_begin", c->no_begin);
	json_u64(j, "no_end", c->no_end);
	json_u64(j, "orphan_ends", c->orphan_ends);
	json_u64(j, "stack_switches", c->stack_switches);
	json_u64(j, "too_deep", c->too_deep);
	json_u64(j, "read_failed", c->read_failed);
	json_u64(j, "unknown_records", c->unknown_records);
	json_close(j);
}

/* Members of the object that is open. */
static void put_sums(struct json *j, const struct event_sums *sum, const struct recording_info *info)
{
	json_u64(j, "events", sum->events);
	json_u64(j, "hits", sum->hits);
	json_u64(j, "total_ns", sum->total_ns);
	json_u64(j, "uncertainty_ns", sum->uncertainty_ns);
	json_u64(j, "self_ns", sum->self_ns);
	json_u64(j, "overhead_ns", sum->overhead_ns);
	json_u64(j, "blocked_ns", sum->blocked_ns);
	json_u64(j, "longest_ns", sum->longest_ns);
	json_u64(j, "mostly_subtracted", sum->subtracted);
	json_u64(j, "unwound", sum->unwound);
	json_u64(j, "clipped", sum->clipped);
	json_array(j, "metrics");
	for (uint32_t i = 0; i < info->nr_metrics; i++)
		json_u64(j, NULL, sum->metrics[i]);
	json_close(j);
}

static void put_types(struct json *j, const struct session *s, const struct report_stats *r)
{
	json_array(j, "types");
	for (int type = 0; type < EVENT_TYPE_END; type++) {
		if (!r->types[type].events)
			continue;
		json_object(j, NULL);
		json_text(j, "type", event_type_name(type));
		json_u64(j, "number", type);
		put_sums(j, &r->types[type], session_info(s));
		json_close(j);
	}
	json_close(j);
	json_object(j, "all");
	put_sums(j, &r->all, session_info(s));
	json_close(j);
}

static void put_stats(struct json *j, const struct probe_stats *st)
{
	json_object(j, "kernel");
	json_u64(j, "calls", st->calls);
	json_u64(j, "ends", st->ends);
	json_u64(j, "lost_begins", st->lost_begins);
	json_u64(j, "lost_ends", st->lost_ends);
	json_u64(j, "unwound", st->unwound);
	json_u64(j, "orphan_exits", st->orphan_exits);
	json_u64(j, "too_deep", st->too_deep);
	json_u64(j, "read_failed", st->read_failed);
	json_u64(j, "faulted_in", st->faulted_in);
	json_u64(j, "hidden", st->hidden);
	json_close(j);
}

static void put_probes(struct json *j, const struct session *s, const struct report_stats *r)
{
	const struct recording_probe *p;
	size_t nr;

	p = session_probes(s, &nr);
	json_array(j, "probes");
	for (size_t i = 0; i < nr; i++) {
		json_object(j, NULL);
		json_text(j, "name", p[i].name);
		json_text(j, "label", p[i].label);
		json_text(j, "event", event_type_name(p[i].type));
		json_text(j, "engine", p[i].engine);
		json_text(j, "function", p[i].function);
		json_text(j, "module", p[i].module);
		json_text(j, "build_id", p[i].build_id);
		json_u64(j, "offset", p[i].offset);
		json_text(j, "source", p[i].source);
		json_text(j, "evidence", p[i].evidence);
		json_bool(j, "attached", p[i].attached);
		json_text(j, "refused", *p[i].refused ? p[i].refused : NULL);
		put_sums(j, &r->probes[i], session_info(s));
		put_stats(j, &p[i].stats);
		json_close(j);
	}
	json_close(j);
}

static void put_detail(struct json *j, const struct event_detail *d)
{
	if (d->url)
		json_text(j, "url", d->url);
	if (d->selector)
		json_text(j, "selector", d->selector);
	if (d->event_name)
		json_text(j, "event_name", d->event_name);
	if (d->label)
		json_text(j, "label", d->label);
	if (d->has & 1u << FIELD_LINE)
		json_u64(j, "line", d->line);
	if (d->has & 1u << FIELD_COLUMN)
		json_u64(j, "column", d->column);
}

static void put_slowest(struct json *j, const struct session *s, const struct report_stats *r)
{
	const struct recording_thread *threads;
	const struct recording_probe *probes;
	size_t nr_threads, nr_probes;

	threads = session_threads(s, &nr_threads);
	probes = session_probes(s, &nr_probes);
	json_array(j, "slowest");
	for (uint32_t i = 0; i < r->nr_slowest; i++) {
		const struct event_view *e = &r->slowest[i];

		json_object(j, NULL);
		json_u64(j, "id", e->id);
		json_text(j, "type", event_type_name(e->type));
		json_text(j, "probe", e->probe < nr_probes ? probes[e->probe].name : NULL);
		json_u64(j, "pid", e->thread < nr_threads ? threads[e->thread].pid : 0);
		json_u64(j, "tid", e->thread < nr_threads ? threads[e->thread].tid : 0);
		json_u64(j, "start_ns", e->start_ns);
		json_u64(j, "end_ns", e->end_ns);
		json_u64(j, "self_ns", e->time_ns);
		json_u64(j, "total_ns", e->agg_time_ns);
		json_u64(j, "overhead_ns", e->overhead_ns);
		json_u64(j, "blocked_ns", e->blocked_ns);
		json_u64(j, "children", e->child_count);
		json_bool(j, "unwound", e->flags & EV_UNWOUND);
		json_bool(j, "clipped", e->flags & EV_CLIPPED);
		put_detail(j, e->detail);
		json_close(j);
	}
	json_close(j);
}

static void put_processes(struct json *j, const struct session *s, const struct report_stats *r)
{
	const struct recording_process *p;
	uint64_t cpu_ns;
	size_t nr;

	p = session_processes(s, &nr);
	json_array(j, "processes");
	for (size_t i = 0; i < nr; i++) {
		json_object(j, NULL);
		json_u64(j, "pid", p[i].pid);
		json_u64(j, "inner_pid", p[i].inner_pid);
		json_u64(j, "parent", p[i].parent);
		json_text(j, "name", p[i].name);
		json_text(j, "cmdline", p[i].cmdline);
		json_text(j, "engine", *p[i].engine ? p[i].engine : NULL);
		json_u64(j, "events", r->process_events[i]);
		if (session_process_cpu_ns(s, i, &cpu_ns))
			json_u64(j, "cpu_ns", cpu_ns);
		else
			json_text(j, "cpu_ns", NULL);
		json_close(j);
	}
	json_close(j);
}

static void put_timelines(struct json *j, const struct session *s)
{
	const struct recording_process *p;
	const struct timeline *t;
	size_t nr, nr_processes;

	p = session_processes(s, &nr_processes);
	t = session_timelines(s, &nr);
	json_array(j, "timelines");
	for (size_t i = 0; i < nr; i++) {
		json_object(j, NULL);
		json_u64(j, "id", t[i].id);
		json_u64(j, "frame", t[i].frame_id);
		json_u64(j, "parent_frame", t[i].parent_frame_id);
		json_bool(j, "main", t[i].main);
		json_u64(j, "pid", t[i].process < nr_processes ? p[t[i].process].pid : 0);
		json_text(j, "url", t[i].url);
		json_u64(j, "events", t[i].nr_events);
		json_close(j);
	}
	json_close(j);
}

static void put_losses(struct json *j, const struct session *s)
{
	const struct recording_probe *probes;
	const struct session_loss *l;
	size_t nr, nr_probes;

	probes = session_probes(s, &nr_probes);
	l = session_losses(s, &nr);
	json_array(j, "losses");
	for (size_t i = 0; i < nr; i++) {
		json_object(j, NULL);
		json_text(j, "probe", l[i].probe < nr_probes ? probes[l[i].probe].name : NULL);
		json_u64(j, "since_ns", l[i].since_ns);
		json_u64(j, "until_ns", l[i].ts_ns);
		json_u64(j, "begins", l[i].begins);
		json_u64(j, "ends", l[i].ends);
		json_u64(j, "marks", l[i].marks);
		json_close(j);
	}
	json_close(j);
}

static void put_rest(struct json *j, const struct session *s)
{
	const struct recording_probe *p;
	const struct session_note *n;
	size_t nr;

	n = session_notes(s, &nr);
	json_array(j, "notes");
	for (size_t i = 0; i < nr; i++) {
		json_object(j, NULL);
		json_u64(j, "at_ns", n[i].ts_ns);
		json_text(j, "text", n[i].text);
		json_close(j);
	}
	json_close(j);
	p = session_probes(s, &nr);
	json_array(j, "modules");
	for (size_t i = 0; i < nr; i++) {
		if (!report_is_first_of_module(p, i))
			continue;
		json_object(j, NULL);
		json_text(j, "path", p[i].module);
		json_text(j, "build_id", *p[i].build_id ? p[i].build_id : NULL);
		json_text(j, "engine", p[i].engine);
		json_close(j);
	}
	json_close(j);
}

int report_json(const char *path, const struct session *s, const struct report_stats *r, struct error *err)
{
	struct outfile *f;
	struct json j;
	int rc = outfile_open("-", &f, err);

	if (rc)
		return rc;
	json_init(&j, f, 3);
	json_object(&j, NULL);
	json_text(&j, "file", path);
	put_info(&j, s);
	put_counts(&j, s);
	put_types(&j, s, r);
	put_probes(&j, s, r);
	put_slowest(&j, s, r);
	put_processes(&j, s, r);
	put_timelines(&j, s);
	put_losses(&j, s);
	put_rest(&j, s);
	json_close(&j);
	return outfile_commit(f, err);
}
