// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The tables of the report for a person. Those without a row are left out. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/text.h"
#include "cli/report.h"
#include "cli/table.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* Was there any calibration? Without one the overhead is not nothing, but unknown. */
static bool knows_overhead(const struct recording_info *info)
{
	return *info->overhead_source && strcmp(info->overhead_source, "none");
}

/* What both tables of sums have in their columns, behind the name. */
static void sums_cells(struct table *t, const struct event_sums *sum, const struct recording_info *info)
{
	table_count(t, sum->hits);
	table_ms(t, sum->total_ns);
	if (sum->uncertainty_ns) {
		char text[32];

		table_format(t, "± %s", format_ms(sum->uncertainty_ns, text));
	} else {
		table_text(t, "");
	}
	table_ms(t, sum->self_ns);
	table_format(t, "%s", sum->subtracted ? "!" : "");
	if (knows_overhead(info))
		table_ms(t, sum->overhead_ns);
	else
		table_text(t, "");
	table_ms(t, sum->blocked_ns);
	table_ms(t, sum->longest_ns);
	for (uint32_t i = 0; i < info->nr_metrics; i++)
		table_metric(t, info->metric_units[i], sum->metrics[i]);
}

#define SUMS_COLUMNS 8	/* of sums_cells(), metrics aside */

static struct table *sums_table(const char *first, const struct recording_info *info, const char *last)
{
	const char *titles[TABLE_MAX_COLUMNS] = {
		first, ">hits", ">total ms", ">±", ">self ms", "", ">overhead ms", ">blocked ms", ">longest ms",
	};
	char metric[RECORD_MAX_METRICS][METRIC_TITLE];
	size_t n = 1 + SUMS_COLUMNS;

	for (uint32_t i = 0; i < info->nr_metrics; i++)
		titles[n++] = table_metric_title(info->metric_names[i], info->metric_units[i], metric[i]);
	if (last)
		titles[n++] = last;
	return table_new(titles, n);
}

static int print_types(const struct session *s, const struct report_stats *r)
{
	const struct recording_info *info = session_info(s);
	struct table *t = sums_table("type", info, NULL);
	int order[EVENT_TYPE_END], nr = 0, rc;
	char text[32];

	/* the most time first */
	for (int type = 0; type < EVENT_TYPE_END; type++) {
		int at = nr;

		if (!r->types[type].events)
			continue;
		for (; at && r->types[order[at - 1]].self_ns < r->types[type].self_ns; at--)
			order[at] = order[at - 1];
		order[at] = type;
		nr++;
	}
	for (int i = 0; i < nr; i++) {
		table_text(t, event_type_name(order[i]));
		sums_cells(t, &r->types[order[i]], info);
	}
	if (nr)
		table_heading(stdout, "Time by event type");
	rc = table_finish(t, stdout, nr);
	if (!nr)
		return rc;
	printf("Total and self are time that threads really ran, without waiting%s.\n"
	       "Total includes what was called from there. Longest is one call by the clock on the wall.\n",
	       knows_overhead(info) ? " and without what measuring cost" :
	       "; what measuring cost was not measured and is in them");
	if (r->all.subtracted)
		printf("! The overhead subtracted from %s event%s is more than half of the time shown.\n",
		       format_count(r->all.subtracted, text), r->all.subtracted > 1 ? "s" : "");
	return rc;
}

/* The most time first, then the most hits; those that were never hit are left out. Returns how many. */
static size_t order_probes(const struct recording_probe *p, size_t nr, const struct event_sums *sums, size_t *order)
{
	size_t shown = 0;

	for (size_t i = 0; i < nr; i++) {
		size_t at = shown;

		if (!sums[i].events && !p[i].stats.calls)
			continue;
		for (; at; at--) {
			const struct event_sums *before = &sums[order[at - 1]];

			if (before->self_ns > sums[i].self_ns ||
			    (before->self_ns == sums[i].self_ns && before->hits >= sums[i].hits))
				break;
			order[at] = order[at - 1];
		}
		order[at] = i;
		shown++;
	}
	return shown;
}

/* What tells the probe from others with its label. */
static const char *other_name(const struct recording_probe *p)
{
	if (*p->label && strcmp(p->label, p->name))
		return p->name;
	return strcmp(p->function, p->name) ? p->function : "";
}

static int print_probes(const struct session *s, const struct report_stats *r)
{
	const struct recording_info *info = session_info(s);
	struct table *t = sums_table("probe", info, "function");
	const struct recording_probe *p;
	size_t nr, shown, *order;

	p = session_probes(s, &nr);
	order = calloc(nr + 1, sizeof(*order));
	if (!order) {
		table_finish(t, stdout, 0);
		return -ENOMEM;
	}
	shown = order_probes(p, nr, r->probes, order);
	for (size_t i = 0; i < shown; i++) {
		const struct recording_probe *probe = &p[order[i]];
		const struct event_sums *sum = &r->probes[order[i]];

		table_text(t, *probe->label ? probe->label : probe->name);
		if (sum->events) {
			sums_cells(t, sum, info);
		} else {
			/* marks take no time */
			table_count(t, probe->stats.calls);
			for (uint32_t k = 0; k < SUMS_COLUMNS - 1 + info->nr_metrics; k++)
				table_text(t, "");
		}
		table_text(t, other_name(probe));
	}
	free(order);
	if (shown)
		table_heading(stdout, "Time by probe");
	return table_finish(t, stdout, shown);
}

/* Those that no call came by, in one line. */
static void print_idle(const struct session *s, const struct report_stats *r)
{
	const struct recording_probe *p;
	char name[512];
	size_t nr, shown = 0;

	p = session_probes(s, &nr);
	for (size_t i = 0; i < nr; i++) {
		if (!p[i].attached || r->probes[i].events || p[i].stats.calls)
			continue;
		name[text_printable(p[i].name, strnlen(p[i].name, sizeof(name) - 1), name, sizeof(name) - 1)] = '\0';
		printf("%s%s", shown++ ? ", " : "\nNo hits (not called, or inlined into all callers): ", name);
	}
	if (shown)
		putchar('\n');
}

static int print_slowest(const struct session *s, const struct report_stats *r)
{
	static const char *const titles[] = {
		">id", ">at ms", ">wall ms", ">self ms", ">blocked ms", ">pid", "event", "about",
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

		table_format(t, "%u", e->id);
		table_ms(t, e->start_ns);
		table_ms(t, e->end_ns - e->start_ns);
		table_ms(t, e->time_ns);
		table_ms(t, e->blocked_ns);
		table_format(t, "%u", e->thread < nr_threads ? threads[e->thread].pid : 0);
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

	p = session_processes(s, &nr);
	for (size_t i = 0; i < nr; i++) {
		uint64_t cpu_ns;

		if (!r->process_events[i])
			continue;
		if (p[i].inner_pid && p[i].inner_pid != p[i].pid)
			table_format(t, "%u (%u)", p[i].pid, p[i].inner_pid);
		else
			table_format(t, "%u", p[i].pid);
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
		table_heading(stdout, "Processes with events");
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

static const struct { size_t offset; const char *text; } oddities[] = {
#define ODD(member, what) { offsetof(struct session_counts, member), what }
	ODD(unwound, "events ended by an exception or a longjmp"),
	ODD(clipped, "events still open when recording stopped or their thread ended"),
	ODD(no_begin, "events whose begin was lost: what they are about is not known"),
	ODD(no_end, "events whose end was lost: it is taken from what came next"),
	ODD(orphan_ends, "ends that belong to no event"),
	ODD(stack_switches, "calls on another stack than their caller's"),
	ODD(too_deep, "calls too deep to be recorded"),
	ODD(read_failed, "arguments that could not be read"),
	ODD(unknown_records, "records of a kind that this framescope does not know"),
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
		table_text(t, oddities[i].text);
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
	int rc = print_types(s, r) ?: print_probes(s, r);

	if (!rc)
		print_idle(s, r);
	return rc ?: print_slowest(s, r) ?: print_timelines(s, r) ?: print_processes(s, r) ?: print_oddities(s) ?:
	       print_losses(s, r) ?: print_refused(s) ?: print_notes(s) ?: print_modules(s);
}
