// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The tables of the report for a person, beside those of sums. Those without a row are left out. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/text.h"
#include "cli/report.h"
#include "cli/table.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static int print_slowest(const struct session *s, const struct report_stats *r)
{
	static const char *const titles[] = {
		">id", ">at ms", ">wall ms", ">self ms", ">blocked ms", ">pid", ">timeline", "event", "about",
	};
	const struct recording_thread *threads;
	const struct recording_probe *probes;
	struct table *t = table_new(titles, COUNT(titles));
	size_t nr_threads, nr_probes;
	char detail[8192];

	threads = session_threads(s, &nr_threads);
	probes = session_probes(s, &nr_probes);
	for (uint32_t i = 0; i < r->nr_slowest; i++) {
		const struct event_view *e = &r->slowest[i];
		const struct timeline *line = session_timeline_of(s, e->id);

		table_format(t, "%u", e->id);
		table_ms(t, e->start_ns);
		table_ms(t, e->end_ns - e->start_ns);
		table_ms(t, e->time_ns);
		table_ms(t, e->blocked_ns);
		table_format(t, "%u", e->thread < nr_threads ? threads[e->thread].pid : 0);
		table_format(t, "%u", line ? line->id : 0);
		table_text(t, e->probe < nr_probes && *probes[e->probe].label ? probes[e->probe].label :
			   event_type_name(e->type));
		table_text(t, report_detail(e->detail, detail, sizeof(detail)));
	}
	if (r->nr_slowest)
		table_heading(stdout, "Slowest events");
	return table_finish(t, stdout, r->nr_slowest);
}

static int print_processes(const struct session *s, const struct report_stats *r)
{
	static const char *const titles[] = { ">pid", ">events", ">CPU ms", "engine", "process" };
	struct table *t = table_new(titles, COUNT(titles));
	const struct recording_process *p;
	size_t nr, shown = 0;
	bool inner = false;

	p = session_processes(s, &nr);
	for (size_t i = 0; i < nr; i++) {
		uint64_t cpu_ns;

		if (!r->process_events[i])
			continue;
		if (p[i].inner_pid && p[i].inner_pid != p[i].pid)
			table_format(t, "%u (%u)", p[i].pid, p[i].inner_pid);
		else
			table_format(t, "%u", p[i].pid);
		inner |= p[i].inner_pid && p[i].inner_pid != p[i].pid;
		table_count(t, r->process_events[i]);
		if (session_process_cpu_ns(s, i, &cpu_ns))
			table_ms(t, cpu_ns);
		else
			table_text(t, "unknown");
		table_text(t, p[i].engine);
		table_text(t, p[i].name);
		shown++;
	}
	if (shown)
		table_heading(stdout, inner ? "Processes with events (in brackets: the pid inside the container or sandbox)" :
				      "Processes with events");
	return table_finish(t, stdout, shown);
}

/* Where the time went, frame by frame where frames are known; of no use where there is one. */
static int print_timelines(const struct session *s, const struct report_stats *r)
{
	static const char *const titles[] = {
		">timeline", ">frame", ">pid", ">events", ">total ms", ">blocked ms", "document",
	};
	struct table *t = table_new(titles, COUNT(titles));
	const struct recording_process *p;
	const struct timeline *line;
	size_t nr, nr_processes, shown = 0;

	p = session_processes(s, &nr_processes);
	line = session_timelines(s, &nr);
	for (size_t i = 0; i < nr; i++) {
		if (!line[i].nr_events)
			continue;
		table_format(t, "%u", line[i].id);
		if (line[i].frame_id)
			table_format(t, "%u%s", line[i].frame_id, line[i].main ? " main" : "");
		else
			table_text(t, "");
		table_format(t, "%u", line[i].process < nr_processes ? p[line[i].process].pid : 0);
		table_count(t, r->timelines[i].events);
		table_ms(t, r->timelines[i].total_ns);
		table_ms(t, r->timelines[i].blocked_ns);
		table_text(t, line[i].url);
		shown++;
	}
	if (shown < 2)
		shown = 0;
	else
		table_heading(stdout, "Time by timeline");
	return table_finish(t, stdout, shown);
}

/* One of them, and several. */
static const struct { size_t offset; const char *one, *text; } oddities[] = {
#define ODD(member, one, more, what) { offsetof(struct session_counts, member), one what, more what }
	ODD(unwound, "event", "events", " ended by an exception or a longjmp"),
	ODD(clipped, "event", "events", " still open when recording stopped or the thread ended"),
	ODD(no_begin, "event", "events", " whose begin was lost: without URL, selector and the like"),
	ODD(no_end, "event", "events", " whose end was lost: it is taken from what came next, so the time is at most that long"),
	ODD(orphan_ends, "end", "ends", " without an event"),
	ODD(stack_switches, "call", "calls", " on another stack than the caller's"),
	ODD(too_deep, "call", "calls", " too deep to be recorded"),
	ODD(read_failed, "call", "calls", " of which an argument or several could not be read"),
	ODD(unknown_records, "record", "records", " of a kind that this framescope does not know"),
};

static int print_oddities(const struct session *s)
{
	static const char *const titles[] = { ">", "" };
	const struct session_counts *c = session_get_counts(s);
	struct table *t = table_new(titles, COUNT(titles));
	size_t shown = 0;

	for (size_t i = 0; i < COUNT(oddities); i++) {
		uint64_t v = *(const uint64_t *)((const char *)c + oddities[i].offset);

		if (!v)
			continue;
		table_count(t, v);
		table_text(t, v == 1 ? oddities[i].one : oddities[i].text);
		shown++;
	}
	if (shown)
		table_heading(stdout, "Irregular");
	return table_finish(t, stdout, shown);
}

static int print_losses(const struct session *s, const struct report_stats *r)
{
	static const char *const titles[] = { ">begins", ">ends", ">marks", ">of calls", ">from ms", ">to ms", "probe" };
	struct table *t = table_new(titles, COUNT(titles));
	const struct recording_probe *p;
	size_t nr, shown = 0;

	p = session_probes(s, &nr);
	for (size_t i = 0; i <= nr; i++) {
		const struct loss_sums *l = &r->losses[i];

		if (!l->begins && !l->ends && !l->marks)
			continue;
		table_count(t, l->begins);
		table_count(t, l->ends);
		table_count(t, l->marks);
		if (i < nr && p[i].stats.calls)
			table_count(t, p[i].stats.calls);
		else
			table_text(t, "");
		if (l->until_ns) {
			table_ms(t, l->since_ns);
			table_ms(t, l->until_ns);
		} else {
			table_text(t, "");
			table_text(t, "");
		}
		table_text(t, i < nr ? p[i].name : "unknown");
		shown++;
	}
	if (shown)
		table_heading(stdout, "Lost records (record with a larger --buffer or fewer probes to keep them)");
	return table_finish(t, stdout, shown);
}

static int print_refused(const struct session *s)
{
	static const char *const titles[] = { "probe", "reason" };
	struct table *t = table_new(titles, COUNT(titles));
	const struct recording_probe *p;
	size_t nr, shown = 0;

	p = session_probes(s, &nr);
	for (size_t i = 0; i < nr; i++) {
		if (p[i].attached)
			continue;
		table_text(t, p[i].name);
		table_text(t, *p[i].refused ? p[i].refused : "no reason was recorded");
		shown++;
	}
	if (shown)
		table_heading(stdout, "Probes that were not attached");
	return table_finish(t, stdout, shown);
}

static int print_notes(const struct session *s)
{
	static const char *const titles[] = { ">at ms", "note" };
	struct table *t = table_new(titles, COUNT(titles));
	const struct session_note *notes;
	size_t nr;

	notes = session_notes(s, &nr);
	for (size_t i = 0; i < nr; i++) {
		table_ms(t, notes[i].ts_ns);
		table_text(t, notes[i].text);
	}
	if (nr)
		table_heading(stdout, "Notes");
	return table_finish(t, stdout, nr);
}

static int print_modules(const struct session *s)
{
	static const char *const titles[] = { "engine", "build-id", "module" };
	struct table *t = table_new(titles, COUNT(titles));
	const struct recording_probe *p;
	size_t nr, shown = 0;

	p = session_probes(s, &nr);
	for (size_t i = 0; i < nr; i++) {
		if (!report_is_first_of_module(p, i))
			continue;
		table_text(t, p[i].engine);
		table_text(t, *p[i].build_id ? p[i].build_id : "none");
		table_text(t, p[i].module);
		shown++;
	}
	if (shown)
		table_heading(stdout, "Modules");
	return table_finish(t, stdout, shown);
}

int report_tables(const struct session *s, const struct report_stats *r)
{
	return report_sums(s, r) ?: print_slowest(s, r) ?: print_timelines(s, r) ?: print_processes(s, r) ?: print_oddities(s) ?:
	       report_unread(s) ?: print_losses(s, r) ?: print_refused(s) ?: print_notes(s) ?: print_modules(s);
}
