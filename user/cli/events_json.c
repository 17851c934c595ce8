// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Events as JSON with the field names of Profiler 1.1. */
#include "base/jsonout.h"
#include "cli/events.h"
#include "export/shown.h"

static void put_interval(struct jsonout *j, uint64_t start_ns, uint64_t end_ns)
{
	jsonout_object(j, "interval");
	jsonout_ms(j, "start", start_ns);
	jsonout_ms(j, "end", end_ns);
	jsonout_close(j);
}

static void put_optional(struct jsonout *j, const char *key, const char *text)
{
	if (text)
		jsonout_text(j, key, text);
}

static void put_required(struct jsonout *j, const char *key, const char *text)
{
	jsonout_text(j, key, text ? text : "");
}

static void put_area(struct jsonout *j, const struct event_detail *d)
{
	jsonout_object(j, "area");
	jsonout_i64(j, "x", d->x);
	jsonout_i64(j, "y", d->y);
	jsonout_i64(j, "w", d->w);
	jsonout_i64(j, "h", d->h);
	jsonout_i64(j, "ox", d->ox);
	jsonout_i64(j, "oy", d->oy);
	jsonout_close(j);
}

static void put_detail(struct jsonout *j, int type, const struct event_detail *d)
{
	switch (type) {
	case EVENT_CSS_SELECTOR_MATCHING:
		jsonout_object(j, "cssSelectorMatching");
		put_required(j, "selector", d->selector);
		break;
	case EVENT_SCRIPT_THREAD_EVALUATION:
		jsonout_object(j, "scriptThreadEvaluation");
		jsonout_u64(j, "scriptThreadType", d->thread_type);
		if (d->thread_type == THREAD_TYPE_EVENT)
			put_optional(j, "eventName", d->event_name);
		break;
	case EVENT_DOCUMENT_PARSING:
		jsonout_object(j, "documentParsing");
		put_required(j, "url", d->url);
		break;
	case EVENT_CSS_PARSING:
		jsonout_object(j, "cssParsing");
		put_required(j, "url", d->url);
		break;
	case EVENT_SCRIPT_COMPILATION:
		jsonout_object(j, "scriptCompilation");
		jsonout_u64(j, "scriptType", d->script_type);
		put_optional(j, "url", d->url);
		break;
	case EVENT_PAINT:
		jsonout_object(j, "paint");
		put_area(j, d);
		break;
	default:
		return;
	}
	jsonout_close(j);
}

static void put_metrics(struct jsonout *j, const struct session *s, uint32_t id)
{
	const struct recording_info *info = session_info(s);
	struct event_view view;
	char key[METRIC_KEY];

	if (!session_event(s, id, &view) || !view.metrics || !info->nr_metrics)
		return;
	jsonout_object(j, "metrics");
	for (uint32_t i = 0; i < info->nr_metrics; i++) {
		shown_metric(info, i, key);
		jsonout_u64(j, key, view.metrics[i]);
	}
	jsonout_close(j);
}

static void put_event(struct jsonout *j, const struct session *s, const struct result_event *e, bool details)
{
	jsonout_object(j, NULL);
	jsonout_u64(j, "type", e->type);
	jsonout_ms(j, "time", message_ns(e, e->time_ns));
	jsonout_ms(j, "overhead", e->overhead_ns);
	jsonout_u64(j, "hits", e->hits);
	if (e->has_interval)
		put_interval(j, e->start_ns, e->end_ns);
	if (e->has_tree) {
		jsonout_u64(j, "eventID", e->id);
		if (e->parent)
			jsonout_u64(j, "parentEventID", e->parent);
		jsonout_u64(j, "childCount", e->child_count);
		jsonout_ms(j, "aggregatedTime", message_ns(e, e->agg_time_ns));
		jsonout_ms(j, "aggregatedOverhead", e->agg_overhead_ns);
	}
	if (details)
		put_detail(j, e->type, e->detail);
	if (e->has_tree)
		put_metrics(j, s, e->id);
	jsonout_close(j);
}

int events_json(const struct session *s, const struct query *q, const struct query_result *r, struct error *err)
{
	bool details = q->mode == MODE_ALL || q->mode == MODE_REDUCE_UNIQUE_EVENTS;
	struct outfile *f;
	struct jsonout j;
	int rc = outfile_open("-", &f, err);

	if (rc)
		return rc;
	jsonout_init(&j, f, 2);
	jsonout_object(&j, NULL);
	if (r->has_interval)
		put_interval(&j, r->start_ns, r->end_ns);
	jsonout_array(&j, "eventList");
	for (size_t i = 0; i < r->nr; i++)
		put_event(&j, s, &r->events[i], details);
	jsonout_close(&j);
	jsonout_close(&j);
	return outfile_commit(f, err);
}
