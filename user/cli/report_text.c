// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The report for a person. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/text.h"
#include "cli/report.h"
#include "cli/table.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* "1 event", "2,000 events"; before and after it stand as they are. */
static void print_number(const char *before, uint64_t v, const char *what, const char *after)
{
	char text[32];

	printf("%s%s %s%s%s", before, format_count(v, text), what,
	       v == 1 ? "" : what[strlen(what) - 1] == 's' ? "es" : "s", after);
}

static void print_safe(const char *s)
{
	char text[4096];
	size_t n = strlen(s) < sizeof(text) ? strlen(s) : sizeof(text) - 1;

	text[text_printable(s, n, text, sizeof(text) - 1)] = 0;
	fputs(text, stdout);
}

static void print_when(const struct recording_info *info)
{
	time_t seconds = info->begin_realtime_ns / 1000000000;
	char text[64];
	struct tm tm;

	if (info->begin_realtime_ns > 0 && localtime_r(&seconds, &tm) && strftime(text, sizeof(text), "%F %T %z", &tm))
		printf(", recorded %s", text);
}

/* Who was recorded, for how long, with what. */
static void print_head(const char *path, const struct session *s)
{
	const struct recording_info *info = session_info(s);
	uint64_t span = info->end_ns > info->begin_ns ? info->end_ns - info->begin_ns : 0;
	const struct recording_process *p;
	size_t nr;

	print_safe(path);
	p = session_processes(s, &nr);
	for (size_t i = 0; i < nr; i++) {
		if (p[i].pid != info->target_pid || !*p[i].name)
			continue;
		printf(": ");
		print_safe(p[i].name);
		break;
	}
	if (info->target_pid)
		printf(" (pid %u)", info->target_pid);
	printf(", %llu.%03u s", (unsigned long long)(span / 1000000000), (unsigned int)(span / 1000000 % 1000));
	print_when(info);
	putchar('\n');
	print_safe(*info->tool ? info->tool : "framescope");
	if (*info->kernel) {
		printf(" on Linux ");
		print_safe(info->kernel);
		putchar(' ');
		print_safe(info->machine);
	}
	if (*info->rung) {
		printf(", by ");
		print_safe(info->rung);
	}
	if (*info->overhead_source) {
		printf(", overhead: ");
		print_safe(info->overhead_source);
	}
	putchar('\n');
}

/* One line with what there is, and one for each thing that is not as it should be. */
static void print_summary(const struct session *s, const struct report_stats *r)
{
	const struct session_counts *c = session_get_counts(s);
	const struct recording_info *info = session_info(s);
	size_t nr_probes, nr_processes;

	session_probes(s, &nr_probes);
	session_processes(s, &nr_processes);
	print_number("\n", r->all.events, "event", "");
	if (r->all.hits != r->all.events)
		print_number(" for ", r->all.hits, "call", "");
	print_number(" in ", nr_processes, "process", "");
	printf("; %u of %zu probes were hit", r->hit, nr_probes - r->refused);
	print_number("; ", c->lost, "record", c->lost ? " LOST\n" : " lost\n");
	if (info->truncated)
		printf("! The recording is not complete: %s.\n", info->damaged_blocks ?
		       "blocks of the file are damaged and were skipped" : "the file ends early");
	if (info->target_ended)
		printf("The target ended while it was recorded.\n");
}

/* What both tables of sums have in their columns, behind the name. */
static void sums_cells(struct table *t, const struct event_sums *sum, uint32_t nr_metrics)
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
	table_ms(t, sum->overhead_ns);
	table_ms(t, sum->blocked_ns);
	table_ms(t, sum->longest_ns);
	for (uint32_t i = 0; i < nr_metrics; i++)
		table_count(t, sum->metrics[i]);
}

#define SUMS_COLUMNS 8	/* of sums_cells(), metrics aside */

static struct table *sums_table(const char *first, const struct recording_info *info, const char *last)
{
	const char *titles[TABLE_MAX_COLUMNS] = {
		first, ">hits", ">total ms", ">±", ">self ms", "", ">overhead ms", ">blocked ms", ">longest ms",
	};
	char metric[RECORD_MAX_METRICS][64];
	size_t n = 1 + SUMS_COLUMNS;

	for (uint32_t i = 0; i < info->nr_metrics && i < RECORD_MAX_METRICS; i++) {
		snprintf(metric[i], sizeof(metric[i]), ">%s", info->metric_names[i]);
		titles[n++] = metric[i];
	}
	if (last)
		titles[n++] = last;
	return table_new(titles, n);
}

static int print_types(const struct session *s, const struct report_stats *r)
{
	const struct recording_info *info = session_info(s);
	struct table *t = sums_table("type", info, NULL);
	int order[EVENT_TYPE_END], nr = 0, rc;

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
		sums_cells(t, &r->types[order[i]], info->nr_metrics);
	}
	if (nr)
		table_heading(stdout, "Time by event type");
	rc = table_finish(t, stdout, nr);
	if (!nr)
		return rc;
	printf("Total and self are time that threads really ran, without waiting and without what measuring cost. Total\n"
	       "includes what was called from there. Longest is one call by the clock on the wall.\n");
	if (r->all.subtracted)
		print_number("! Of ", r->all.subtracted, "event", " more than half of the time was subtracted as overhead.\n");
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
			sums_cells(t, sum, info->nr_metrics);
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

static int print_slowest(const struct session *s, const struct report_stats *r)
{
	static const char *const titles[] = {
		">id", ">at ms", ">longest ms", ">self ms", ">blocked ms", ">pid", "event", "about",
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

static int print_losses(const struct session *s)
{
	static const char *const titles[] = { ">begins", ">ends", ">calls", "probe" };
	struct table *t = table_new(titles, COUNT(titles));
	const struct recording_probe *p;
	size_t nr, shown = 0;

	p = session_probes(s, &nr);
	for (size_t i = 0; i < nr; i++) {
		if (!p[i].stats.lost_begins && !p[i].stats.lost_ends)
			continue;
		table_count(t, p[i].stats.lost_begins);
		table_count(t, p[i].stats.lost_ends);
		table_count(t, p[i].stats.calls);
		table_text(t, p[i].name);
		shown++;
	}
	if (shown)
		table_heading(stdout, "Lost records (record with a larger --buffer, or fewer probes)");
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

int report_text(const char *path, const struct session *s, const struct report_stats *r)
{
	int rc;

	print_head(path, s);
	print_summary(s, r);
	rc = print_types(s, r);
	if (!rc)
		rc = print_probes(s, r);
	if (!rc)
		rc = print_slowest(s, r);
	if (!rc)
		rc = print_processes(s, r);
	if (!rc)
		rc = print_oddities(s);
	if (!rc)
		rc = print_losses(s);
	if (!rc)
		rc = print_refused(s);
	if (!rc)
		rc = print_notes(s);
	if (!rc)
		rc = print_modules(s);
	return rc;
}
