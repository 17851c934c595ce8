// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What the report for a person sums up: by event type and by probe, with what the columns mean. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/text.h"
#include "cli/command.h"
#include "cli/report.h"
#include "cli/table.h"
#include "target/engine.h"

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
	/* what was summed up in the kernel has no single call to tell of */
	if (sum->single)
		table_ms(t, sum->longest_ns);
	else
		table_text(t, "");
	for (uint32_t i = 0; i < info->nr_metrics; i++)
		if (sum->measured)
			table_metric(t, info->metric_units[i], sum->metrics[i]);
		else
			table_text(t, "");
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

static void explain_columns(const struct recording_info *info, const struct report_stats *r)
{
	char text[32];

	printf("Total and self are time that threads really ran, without waiting%s.\n"
	       "Total includes what was called from there. Blocked is waiting in the calls themselves. Longest is one call by the\n"
	       "clock on the wall.\n",
	       knows_overhead(info) ? " and without what measuring cost" :
	       "; what measuring cost was not measured and is in them");
	if (r->all.uncertainty_ns)
		printf("± is how far total may be off, since costs vary: for each call in it, half the distance between the quartiles of\n"
		       "what calls have cost in calibration.\n");
	for (uint32_t i = 0; i < info->nr_metrics; i++) {
		char name[256];

		name[text_printable(info->metric_names[i], strnlen(info->metric_names[i], 100), name, sizeof(name) - 1)] = '\0';
		printf("%s%s", i ? ", " : "Like total, with what was called from there: ", name);
	}
	if (info->nr_metrics)
		printf(".\n");
	if (r->all.subtracted)
		printf("! The overhead subtracted from %s %s is more than half of the time shown.\n",
		       format_count(r->all.subtracted, text), r->all.subtracted == 1 ? "event" : "events");
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
		sums_cells(t, &r->types[order[i]], info);
	}
	if (nr)
		table_heading(stdout, "Time by event type");
	rc = table_finish(t, stdout, nr);
	if (nr)
		explain_columns(info, r);
	return rc;
}

/* The most time first, then the most hits; those that were never hit are left out. Returns how many. */
static size_t order_probes(const struct recording_probe *p, size_t nr, const struct report_stats *r, size_t *order)
{
	const struct event_sums *sums = r->probes;
	size_t shown = 0;

	for (size_t i = 0; i < nr; i++) {
		size_t at = shown;

		if (!report_was_hit(r, p, i))
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
	shown = order_probes(p, nr, r, order);
	for (size_t i = 0; i < shown; i++) {
		const struct recording_probe *probe = &p[order[i]];
		const struct event_sums *sum = &r->probes[order[i]];
		const char *no_event;

		table_text(t, *probe->label ? probe->label : probe->name);
		if (sum->events) {
			sums_cells(t, sum, info);
		} else {
			/* marks take no time, and what was lost told none */
			table_count(t, report_hits(r, p, order[i]));
			for (uint32_t k = 0; k < SUMS_COLUMNS - 1 + info->nr_metrics; k++)
				table_text(t, "");
		}
		no_event = words_of_no_event(probe->kind, probe->role);
		if (no_event)
			table_format(t, "%s%s(%s)", other_name(probe), *other_name(probe) ? " " : "", no_event);
		else
			table_text(t, other_name(probe));
	}
	free(order);
	if (shown)
		table_heading(stdout, "Time by probe");
	return table_finish(t, stdout, shown);
}

/* Those that no call came by, in one line, or those that were called, but left out in the kernel. */
static void print_idle(const struct session *s, const struct report_stats *r, bool left_out, const char *title)
{
	const struct recording_probe *p;
	char name[512];
	size_t nr, shown = 0;

	p = session_probes(s, &nr);
	for (size_t i = 0; i < nr; i++) {
		if (!p[i].attached || report_was_hit(r, p, i) || report_is_left_out(r, p, i) != left_out)
			continue;
		name[text_printable(p[i].name, strnlen(p[i].name, sizeof(name) - 1), name, sizeof(name) - 1)] = '\0';
		if (!shown++)
			printf("\n%s: ", title);
		else
			printf(", ");
		printf("%s", name);
	}
	if (shown)
		putchar('\n');
}

int report_sums(const struct session *s, const struct report_stats *r)
{
	const struct recording_info *info = session_info(s);
	int rc = print_types(s, r) ?: print_probes(s, r);
	char title[96];

	if (rc)
		return rc;
	snprintf(title, sizeof(title), "Called, but left out by %s", command_filters(info->only_under, info->min_duration_ns));
	print_idle(s, r, true, title);
	print_idle(s, r, false, info->truncated ? "No hits in what is left of the recording" :
		   "No hits (not called, or inlined into all callers)");
	return 0;
}
