// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The report as JSON: all that the text has and what it leaves out. Times are integers, nanoseconds. */
#include <errno.h>
#include <stdio.h>
#include <time.h>
#include "base/jsonout.h"
#include "cli/report.h"
#include "target/engine.h"

/* Beside the number, which readers with 53-bit numbers round: "2026-11-30T04:08:32.799Z"; null if not known. */
static void put_date(struct jsonout *j, const char *key, int64_t realtime_ns)
{
	time_t seconds = realtime_ns / 1000000000;
	char text[64];
	struct tm tm;
	size_t n = 0;

	if (realtime_ns > 0 && gmtime_r(&seconds, &tm))
		n = strftime(text, sizeof(text), "%FT%T", &tm);
	if (n)
		snprintf(text + n, sizeof(text) - n, ".%03dZ", (int)(realtime_ns / 1000000 % 1000));
	jsonout_text(j, key, n ? text : NULL);
}

static void put_info(struct jsonout *j, const struct session *s)
{
	const struct recording_info *i = session_info(s);
	uint64_t calls;

	jsonout_object(j, "info");
	jsonout_text(j, "tool", i->tool);
	jsonout_u64(j, "format", i->version);
	jsonout_text(j, "kernel", i->kernel);
	jsonout_text(j, "machine", i->machine);
	jsonout_text(j, "rung", i->rung);
	jsonout_bool(j, "direct_reads", i->direct_reads);
	jsonout_text(j, "only_under", i->only_under ? event_type_name(i->only_under) : NULL);
	jsonout_u64(j, "min_duration_ns", i->min_duration_ns);
	jsonout_u64(j, "left_out_calls", session_hidden_calls(s, &calls));
	jsonout_text(j, "overhead_source", i->overhead_source);
	jsonout_u64(j, "target_pid", i->target_pid);
	jsonout_u64(j, "begin_ns", i->begin_ns);
	jsonout_u64(j, "duration_ns", i->end_ns > i->begin_ns ? i->end_ns - i->begin_ns : 0);
	jsonout_i64(j, "begin_realtime_ns", i->begin_realtime_ns);
	put_date(j, "date", i->begin_realtime_ns);
	jsonout_bool(j, "truncated", i->truncated);
	jsonout_u64(j, "damaged_blocks", i->damaged_blocks);
	jsonout_bool(j, "cut_off", i->cut_off);
	jsonout_u64(j, "missing_records", i->missing_records);
	jsonout_bool(j, "missing_exact", i->missing_exact);
	jsonout_bool(j, "target_ended", i->target_ended);
	jsonout_array(j, "metrics");
	for (uint32_t k = 0; k < i->nr_metrics; k++) {
		jsonout_object(j, NULL);
		jsonout_text(j, "name", i->metric_names[k]);
		jsonout_text(j, "unit", i->metric_units[k]);
		jsonout_close(j);
	}
	jsonout_close(j);
	jsonout_close(j);
}

static void put_counts(struct jsonout *j, const struct session *s)
{
	const struct session_counts *c = session_get_counts(s);

	jsonout_object(j, "counts");
	jsonout_u64(j, "records", c->records);
	jsonout_u64(j, "events", c->events);
	jsonout_u64(j, "lost", c->lost);
	jsonout_u64(j, "unwound", c->unwound);
	jsonout_u64(j, "clipped", c->clipped);
	jsonout_u64(j, "no_begin", c->no_begin);
	jsonout_u64(j, "no_end", c->no_end);
	jsonout_u64(j, "orphan_ends", c->orphan_ends);
	jsonout_u64(j, "stack_switches", c->stack_switches);
	jsonout_u64(j, "too_deep", c->too_deep);
	jsonout_u64(j, "read_failed", c->read_failed);
	jsonout_u64(j, "unknown_records", c->unknown_records);
	jsonout_close(j);
}

/* Members of the object that is open. */
static void put_sums(struct jsonout *j, const struct event_sums *sum, const struct recording_info *info)
{
	jsonout_u64(j, "events", sum->events);
	jsonout_u64(j, "hits", sum->hits);
	jsonout_u64(j, "total_ns", sum->total_ns);
	jsonout_u64(j, "uncertainty_ns", sum->uncertainty_ns);
	jsonout_u64(j, "self_ns", sum->self_ns);
	jsonout_u64(j, "overhead_ns", sum->overhead_ns);
	jsonout_u64(j, "blocked_ns", sum->blocked_ns);
	jsonout_u64(j, "longest_ns", sum->longest_ns);
	jsonout_u64(j, "mostly_subtracted", sum->subtracted);
	jsonout_u64(j, "unwound", sum->unwound);
	jsonout_u64(j, "clipped", sum->clipped);
	jsonout_array(j, "metrics");
	for (uint32_t i = 0; i < info->nr_metrics; i++)
		jsonout_u64(j, NULL, sum->metrics[i]);
	jsonout_close(j);
}

static void put_types(struct jsonout *j, const struct session *s, const struct report_stats *r)
{
	jsonout_array(j, "types");
	for (int type = 0; type < EVENT_TYPE_END; type++) {
		if (!r->types[type].events)
			continue;
		jsonout_object(j, NULL);
		jsonout_text(j, "type", event_type_name(type));
		jsonout_u64(j, "number", type);
		put_sums(j, &r->types[type], session_info(s));
		jsonout_close(j);
	}
	jsonout_close(j);
	jsonout_object(j, "all");
	put_sums(j, &r->all, session_info(s));
	jsonout_close(j);
}

static void put_stats(struct jsonout *j, const struct probe_stats *st)
{
	jsonout_object(j, "kernel");
	jsonout_u64(j, "calls", st->calls);
	jsonout_u64(j, "ends", st->ends);
	jsonout_u64(j, "lost_begins", st->lost_begins);
	jsonout_u64(j, "lost_ends", st->lost_ends);
	jsonout_u64(j, "unwound", st->unwound);
	jsonout_u64(j, "orphan_exits", st->orphan_exits);
	jsonout_u64(j, "too_deep", st->too_deep);
	jsonout_u64(j, "read_failed", st->read_failed);
	jsonout_u64(j, "faulted_in", st->faulted_in);
	jsonout_u64(j, "hidden", st->hidden);
	jsonout_object(j, "unread");
	for (int f = 1; f < FIELD_END; f++)
		if (st->unread[f] && words_name(arg_field_words, f))
			jsonout_u64(j, words_name(arg_field_words, f), st->unread[f]);
	jsonout_close(j);
	jsonout_close(j);
}

static void put_probes(struct jsonout *j, const struct session *s, const struct report_stats *r)
{
	const struct recording_probe *p;
	size_t nr;

	p = session_probes(s, &nr);
	jsonout_array(j, "probes");
	for (size_t i = 0; i < nr; i++) {
		jsonout_object(j, NULL);
		jsonout_text(j, "name", p[i].name);
		jsonout_text(j, "label", p[i].label);
		jsonout_text(j, "event", event_type_name(p[i].type));
		jsonout_text(j, "kind", words_name(probe_kind_words, p[i].kind));
		jsonout_text(j, "role", words_name(probe_role_words, p[i].role));
		jsonout_text(j, "engine", p[i].engine);
		jsonout_text(j, "function", p[i].function);
		jsonout_text(j, "module", p[i].module);
		jsonout_text(j, "build_id", p[i].build_id);
		jsonout_u64(j, "offset", p[i].offset);
		jsonout_text(j, "source", p[i].source);
		jsonout_text(j, "evidence", p[i].evidence);
		jsonout_bool(j, "attached", p[i].attached);
		jsonout_text(j, "refused", *p[i].refused ? p[i].refused : NULL);
		put_sums(j, &r->probes[i], session_info(s));
		put_stats(j, &p[i].stats);
		jsonout_close(j);
	}
	jsonout_close(j);
}

static void put_detail(struct jsonout *j, const struct event_detail *d)
{
	if (d->url)
		jsonout_text(j, "url", d->url);
	if (d->selector)
		jsonout_text(j, "selector", d->selector);
	if (d->event_name)
		jsonout_text(j, "event_name", d->event_name);
	if (d->label)
		jsonout_text(j, "label", d->label);
	if (d->has & 1u << FIELD_LINE)
		jsonout_u64(j, "line", d->line);
	if (d->has & 1u << FIELD_COLUMN)
		jsonout_u64(j, "column", d->column);
}

static void put_slowest(struct jsonout *j, const struct session *s, const struct report_stats *r)
{
	const struct recording_thread *threads;
	const struct recording_probe *probes;
	size_t nr_threads, nr_probes;

	threads = session_threads(s, &nr_threads);
	probes = session_probes(s, &nr_probes);
	jsonout_array(j, "slowest");
	for (uint32_t i = 0; i < r->nr_slowest; i++) {
		const struct event_view *e = &r->slowest[i];
		const struct timeline *line = session_timeline_of(s, e->id);

		jsonout_object(j, NULL);
		jsonout_u64(j, "id", e->id);
		jsonout_u64(j, "timeline", line ? line->id : 0);
		jsonout_text(j, "type", event_type_name(e->type));
		jsonout_text(j, "probe", e->probe < nr_probes ? probes[e->probe].name : NULL);
		jsonout_u64(j, "pid", e->thread < nr_threads ? threads[e->thread].pid : 0);
		jsonout_u64(j, "tid", e->thread < nr_threads ? threads[e->thread].tid : 0);
		jsonout_u64(j, "start_ns", e->start_ns);
		jsonout_u64(j, "end_ns", e->end_ns);
		jsonout_u64(j, "self_ns", e->time_ns);
		jsonout_u64(j, "total_ns", e->agg_time_ns);
		jsonout_u64(j, "overhead_ns", e->overhead_ns);
		jsonout_u64(j, "blocked_ns", e->blocked_ns);
		jsonout_u64(j, "children", e->child_count);
		jsonout_bool(j, "unwound", e->flags & EV_UNWOUND);
		jsonout_bool(j, "clipped", e->flags & EV_CLIPPED);
		put_detail(j, e->detail);
		jsonout_close(j);
	}
	jsonout_close(j);
}

static void put_processes(struct jsonout *j, const struct session *s, const struct report_stats *r)
{
	const struct recording_process *p;
	uint64_t cpu_ns;
	size_t nr;

	p = session_processes(s, &nr);
	jsonout_array(j, "processes");
	for (size_t i = 0; i < nr; i++) {
		jsonout_object(j, NULL);
		jsonout_u64(j, "pid", p[i].pid);
		jsonout_u64(j, "inner_pid", p[i].inner_pid);
		jsonout_u64(j, "parent", p[i].parent);
		jsonout_text(j, "name", p[i].name);
		jsonout_text(j, "cmdline", p[i].cmdline);
		jsonout_text(j, "engine", *p[i].engine ? p[i].engine : NULL);
		jsonout_bool(j, "own_pages", p[i].own_pages);
		jsonout_u64(j, "events", r->process_events[i]);
		if (session_process_cpu_ns(s, i, &cpu_ns))
			jsonout_u64(j, "cpu_ns", cpu_ns);
		else
			jsonout_text(j, "cpu_ns", NULL);
		jsonout_close(j);
	}
	jsonout_close(j);
}

static void put_timelines(struct jsonout *j, const struct session *s, const struct report_stats *r)
{
	const struct recording_process *p;
	const struct timeline *t;
	size_t nr, nr_processes;

	p = session_processes(s, &nr_processes);
	t = session_timelines(s, &nr);
	jsonout_array(j, "timelines");
	for (size_t i = 0; i < nr; i++) {
		jsonout_object(j, NULL);
		jsonout_u64(j, "id", t[i].id);
		jsonout_u64(j, "frame", t[i].frame_id);
		jsonout_u64(j, "parent_frame", t[i].parent_frame_id);
		jsonout_bool(j, "main", t[i].main);
		jsonout_u64(j, "pid", t[i].process < nr_processes ? p[t[i].process].pid : 0);
		jsonout_text(j, "url", t[i].url);
		put_sums(j, &r->timelines[i], session_info(s));
		jsonout_close(j);
	}
	jsonout_close(j);
}

static void put_losses(struct jsonout *j, const struct session *s)
{
	const struct recording_probe *probes;
	const struct session_loss *l;
	size_t nr, nr_probes;

	probes = session_probes(s, &nr_probes);
	l = session_losses(s, &nr);
	jsonout_array(j, "losses");
	for (size_t i = 0; i < nr; i++) {
		jsonout_object(j, NULL);
		jsonout_text(j, "probe", l[i].probe < nr_probes ? probes[l[i].probe].name : NULL);
		jsonout_u64(j, "since_ns", l[i].since_ns);
		jsonout_u64(j, "until_ns", l[i].ts_ns);
		jsonout_u64(j, "begins", l[i].begins);
		jsonout_u64(j, "ends", l[i].ends);
		jsonout_u64(j, "marks", l[i].marks);
		jsonout_close(j);
	}
	jsonout_close(j);
}

static void put_rest(struct jsonout *j, const struct session *s)
{
	const struct recording_probe *p;
	const struct session_note *n;
	size_t nr;

	n = session_notes(s, &nr);
	jsonout_array(j, "notes");
	for (size_t i = 0; i < nr; i++) {
		jsonout_object(j, NULL);
		jsonout_u64(j, "at_ns", n[i].ts_ns);
		jsonout_text(j, "text", n[i].text);
		jsonout_close(j);
	}
	jsonout_close(j);
	p = session_probes(s, &nr);
	jsonout_array(j, "modules");
	for (size_t i = 0; i < nr; i++) {
		if (!report_is_first_of_module(p, i))
			continue;
		jsonout_object(j, NULL);
		jsonout_text(j, "path", p[i].module);
		jsonout_text(j, "build_id", *p[i].build_id ? p[i].build_id : NULL);
		jsonout_text(j, "engine", p[i].engine);
		jsonout_close(j);
	}
	jsonout_close(j);
}

int report_json(const char *path, const struct session *s, const struct report_stats *r, struct error *err)
{
	struct outfile *f;
	struct jsonout j;
	int rc = outfile_open("-", &f, err);

	if (rc)
		return rc;
	jsonout_init(&j, f, 3);
	jsonout_object(&j, NULL);
	jsonout_text(&j, "file", path);
	put_info(&j, s);
	put_counts(&j, s);
	put_types(&j, s, r);
	put_probes(&j, s, r);
	put_slowest(&j, s, r);
	put_processes(&j, s, r);
	put_timelines(&j, s, r);
	put_losses(&j, s);
	put_rest(&j, s);
	jsonout_close(&j);
	return outfile_commit(f, err);
}
