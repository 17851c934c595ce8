// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Events for a person: the tree as it nests, or sums with the most time first. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/text.h"
#include "cli/events.h"
#include "cli/report_stats.h"
#include "cli/table.h"
#include "export/shown.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define MAX_BRANCHES 24	/* deeper ones are drawn as deep as that */

/* --- the tree --- */

/* One row: an event with its place among the rows. */
struct row {
	const struct result_event *e;
	uint32_t depth;
	uint32_t more;	/* bit per depth: a later row hangs on that branch */
};

static int by_id(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	return x->e->id < y->e->id ? -1 : x->e->id > y->e->id;
}

/* An event hangs below the nearest one around it that is listed: filters leave gaps. */
static int find_depths(const struct session *s, struct row *rows, size_t nr)
{
	uint32_t *ends = malloc((nr + 1) * sizeof(*ends)), depth = 0, more = 0;
	struct event_view e;

	if (!ends)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		while (depth && ends[depth - 1] <= rows[i].e->id)
			depth--;
		rows[i].depth = depth;
		ends[depth++] = session_event(s, rows[i].e->id, &e) ? e.id + e.subtree : 0;
	}
	free(ends);
	for (size_t i = nr; i-- > 0; ) {
		uint32_t at = rows[i].depth < MAX_BRANCHES ? rows[i].depth : MAX_BRANCHES;

		more &= (2u << at) - 1;	/* deeper branches end above this row */
		rows[i].more = more;
		more |= 1u << at;
	}
	return 0;
}

static size_t draw_branches(const struct row *row, char *ret, size_t size)
{
	uint32_t depth = row->depth < MAX_BRANCHES ? row->depth : MAX_BRANCHES;
	size_t n = 0;

	*ret = '\0';
	for (uint32_t i = 1; i <= depth; i++) {
		bool more = row->more >> i & 1;

		n += snprintf(ret + n, size - n, "%s", i < depth ? (more ? "│  " : "   ") : more ? "├─ " : "└─ ");
	}
	return n;
}

/* What events of a sum have in common: the message of their type, not what the first of them is about beside it. */
static struct event_detail common_detail(int type, const struct event_detail *d)
{
	struct event_detail common = { .thread_type = d->thread_type, .script_type = d->script_type };

	switch (type) {
	case EVENT_CSS_SELECTOR_MATCHING:
		common.selector = d->selector;
		break;
	case EVENT_SCRIPT_THREAD_EVALUATION:
		common.event_name = d->thread_type == THREAD_TYPE_EVENT ? d->event_name : NULL;
		break;
	case EVENT_PAINT:
		common = *d;
		common.url = common.label = NULL;
		break;
	default:
		common.url = d->url;
	}
	return common;
}

/* "LAYOUT", "GENERIC PrePaint  http://…", "SCRIPT_COMPILATION INLINE", with what is odd about it behind. */
static void describe(const struct session *s, const struct result_event *e, char *ret, size_t size)
{
	struct event_detail d = e->has_tree ? *e->detail : common_detail(e->type, e->detail);
	const char *kind = e->type == EVENT_SCRIPT_COMPILATION ? shown_script_type(d.script_type) :
			   e->type == EVENT_SCRIPT_THREAD_EVALUATION ? shown_thread_type(d.thread_type) : NULL;
	const struct recording_probe *probes;
	char detail[4096], flags[128];
	struct event_view view;
	size_t nr, n;

	probes = session_probes(s, &nr);
	if (e->has_tree && e->type == EVENT_GENERIC && e->probe < nr)
		kind = *probes[e->probe].label ? probes[e->probe].label : probes[e->probe].name;
	n = snprintf(ret, size, "%s%s%s", event_type_name(e->type), kind ? " " : "", kind ? kind : "");
	report_detail(&d, detail, sizeof(detail));
	if (*detail && n < size)
		n += snprintf(ret + n, size - n, "  %s", detail);
	if (!e->has_tree || n >= size || !session_event(s, e->id, &view))
		return;
	shown_flags(view.flags, flags, sizeof(flags));
	if (*flags)
		snprintf(ret + n, size - n, "  [%s]", flags);
}

/* Cells that are 0 in most rows stay empty. */
static void some_ms(struct table *t, uint64_t ns)
{
	if (ns)
		table_ms(t, ns);
	else
		table_text(t, "");
}

static struct table *tree_table(const struct recording_info *info)
{
	const char *titles[TABLE_MAX_COLUMNS] = { ">start ms", ">wall ms", ">self ms", ">overhead ms", ">blocked ms", ">hits" };
	char metric[RECORD_MAX_METRICS][METRIC_TITLE];
	size_t n = 6;

	for (uint32_t i = 0; i < info->nr_metrics; i++)
		titles[n++] = table_metric_title(info->metric_names[i], info->metric_units[i], metric[i]);
	titles[n++] = ">id";
	titles[n++] = "event";
	return table_new(titles, n);
}

static void metric_cells(struct table *t, const struct session *s, uint32_t id)
{
	const struct recording_info *info = session_info(s);
	struct event_view view;
	bool any = info->nr_metrics && session_event(s, id, &view) && view.metrics;

	for (uint32_t i = 0; i < info->nr_metrics; i++)
		if (any)
			table_metric(t, info->metric_units[i], view.metrics[i]);
		else
			table_text(t, "");
}

static int print_tree(const struct session *s, const struct query_result *r, size_t shown)
{
	struct row *rows = malloc((r->nr + 1) * sizeof(*rows));
	struct table *t = tree_table(session_info(s));
	char text[8192];
	int rc = rows ? 0 : -ENOMEM;

	for (size_t i = 0; !rc && i < r->nr; i++)
		rows[i].e = &r->events[i];
	if (!rc && r->nr) {
		qsort(rows, r->nr, sizeof(*rows), by_id);
		rc = find_depths(s, rows, r->nr);
	}
	for (size_t i = 0; !rc && i < shown; i++) {
		const struct result_event *e = rows[i].e;
		size_t n = draw_branches(&rows[i], text, sizeof(text));

		table_ms(t, e->start_ns);
		table_ms(t, e->end_ns - e->start_ns);
		table_ms(t, e->time_ns);
		some_ms(t, e->overhead_ns);
		some_ms(t, e->blocked_ns);
		if (e->hits == 1)
			table_text(t, "");
		else
			table_count(t, e->hits);
		metric_cells(t, s, e->id);
		table_format(t, "%u", e->id);
		describe(s, e, text + n, sizeof(text) - n);
		table_text(t, text);
	}
	free(rows);
	return table_finish(t, stdout, rc ? 0 : shown) || rc ? -ENOMEM : 0;
}

/* --- sums --- */

static int by_time(const void *a, const void *b)
{
	const struct result_event *x = *(const struct result_event *const *)a, *y = *(const struct result_event *const *)b;

	if (x->time_ns != y->time_ns)
		return x->time_ns > y->time_ns ? -1 : 1;
	return x < y ? -1 : x > y;
}

static int print_sums(const struct session *s, const struct query_result *r, size_t shown)
{
	static const char *const titles[] = {
		">self ms", ">%", ">overhead ms", ">blocked ms", ">hits", ">first ms", ">last ms", "event",
	};
	const struct result_event **order = malloc((r->nr + 1) * sizeof(*order));
	struct table *t = table_new(titles, COUNT(titles));
	uint64_t all = 0;
	char text[8192];

	if (!order) {
		table_finish(t, stdout, 0);
		return -ENOMEM;
	}
	for (size_t i = 0; i < r->nr; i++) {
		order[i] = &r->events[i];
		all += r->events[i].type == EVENT_PROCESS ? 0 : r->events[i].time_ns;
	}
	qsort(order, r->nr, sizeof(*order), by_time);
	for (size_t i = 0; i < shown; i++) {
		const struct result_event *e = order[i];

		table_ms(t, e->time_ns);
		if (all && e->type != EVENT_PROCESS)
			table_format(t, "%.1f", 100.0 * e->time_ns / all);
		else
			table_text(t, "");
		some_ms(t, e->overhead_ns);
		some_ms(t, e->blocked_ns);
		table_count(t, e->hits);
		table_ms(t, e->start_ns);
		table_ms(t, e->end_ns);
		describe(s, e, text, sizeof(text));
		table_text(t, text);
	}
	free(order);
	return table_finish(t, stdout, shown);
}

/* --- */

static void print_head(const struct session *s, const struct query *q, const struct query_result *r)
{
	const struct timeline *t = session_timeline_by_id(s, q->timeline_id);
	char a[32], b[32], c[32], url[512];
	size_t nr;

	printf("Timeline %u: ", t->id);
	if (t->frame_id)
		printf("frame %u%s", t->frame_id, t->main ? " (main)" : "");
	else
		printf("process %u, events of no frame", session_processes(s, &nr)[t->process].pid);
	if (t->url) {
		url[text_printable(t->url, strnlen(t->url, sizeof(url) - 1), url, sizeof(url) - 1)] = '\0';
		printf(", %s", url);
	}
	if (r->has_interval)
		printf("; %s %s%s, %s to %s ms\n", format_count(r->nr, a), q->mode == MODE_ALL ? "event" : "sum",
		       r->nr == 1 ? "" : "s", format_ms(r->start_ns, b), format_ms(r->end_ns, c));
	else
		printf("; no events\n");
}

int events_text(const struct session *s, const struct query *q, const struct query_result *r, size_t limit)
{
	size_t shown = limit && r->nr > limit ? limit : r->nr;
	char left[32];
	int rc;

	print_head(s, q, r);
	rc = q->mode == MODE_ALL ? print_tree(s, r, shown) : print_sums(s, r, shown);
	if (!rc && shown < r->nr)
		printf("… and %s more: --limit 0 shows all; --depth, --type, --from and --to select\n",
		       format_count(r->nr - shown, left));
	return rc;
}
