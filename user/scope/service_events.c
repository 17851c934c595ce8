// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* GetEvents of Profiler 1.1 as messages: the query is query/'s work. */
#include "scope/events.h"
#include "scope/jobs.h"

#define NS_PER_MS 1e6

#define EVENT_BYTES 128	/* what an event takes when encoded: more than fit into an answer are not even gathered */

/* The messages of one event, for the encoder to take before the next one is asked for. */
struct event_messages {
	const struct query_result *result;
	bool details;	/* of the type, also where what it requires isn't known */
	const atomic_bool *cancelled;
	struct bytes *payload;
	Profiler__Event event;
	Profiler__Interval interval;
	Profiler__CssSelectorMatchingEvent selector;
	Profiler__ScriptThreadEvaluationEvent thread;
	Profiler__DocumentParsingEvent document;
	Profiler__CssParsingEvent sheet;
	Profiler__ScriptCompilationEvent script;
	Profiler__PaintEvent paint;
	Profiler__Area area;
};

/* What is required and not known is sent as an empty string: a missing message makes Dragonfly throw. */
static char *text_or_empty(const char *s)
{
	return (char *)(s ? s : "");
}

static void fill_interval(Profiler__Interval *i, uint64_t start_ns, uint64_t end_ns)
{
	profiler__interval__init(i);
	i->has_start = i->has_end = 1;
	i->start = start_ns / NS_PER_MS;
	i->end = end_ns / NS_PER_MS;
}

/* An area that could not be read is an empty one, and ox and oy are always there: Dragonfly computes with them. */
static void fill_paint(struct event_messages *m, const struct event_detail *d)
{
	profiler__paint_event__init(&m->paint);
	profiler__area__init(&m->area);
	m->area.x = d->x;
	m->area.y = d->y;
	m->area.w = d->w;
	m->area.h = d->h;
	m->area.has_ox = m->area.has_oy = 1;
	m->area.ox = d->ox;
	m->area.oy = d->oy;
	m->paint.area = &m->area;
	m->event.paint = &m->paint;
}

static void fill_detail(struct event_messages *m, int type, const struct event_detail *d)
{
	switch (type) {
	case EVENT_CSS_SELECTOR_MATCHING:
		profiler__css_selector_matching_event__init(&m->selector);
		m->selector.selector = text_or_empty(d->selector);
		m->event.cssselectormatching = &m->selector;
		break;
	case EVENT_SCRIPT_THREAD_EVALUATION:
		profiler__script_thread_evaluation_event__init(&m->thread);
		m->thread.scriptthreadtype = (Profiler__ScriptThreadEvaluationEvent__ScriptThreadType)d->thread_type;
		if (d->thread_type == THREAD_TYPE_EVENT)	/* in all other cases it is not set */
			m->thread.eventname = (char *)d->event_name;
		m->event.scriptthreadevaluation = &m->thread;
		break;
	case EVENT_DOCUMENT_PARSING:
		profiler__document_parsing_event__init(&m->document);
		m->document.url = text_or_empty(d->url);
		m->event.documentparsing = &m->document;
		break;
	case EVENT_CSS_PARSING:
		profiler__css_parsing_event__init(&m->sheet);
		m->sheet.url = text_or_empty(d->url);
		m->event.cssparsing = &m->sheet;
		break;
	case EVENT_SCRIPT_COMPILATION:
		profiler__script_compilation_event__init(&m->script);
		m->script.scripttype = (Profiler__ScriptCompilationEvent__ScriptType)d->script_type;
		m->script.url = (char *)d->url;
		m->event.scriptcompilation = &m->script;
		break;
	case EVENT_PAINT:
		fill_paint(m, d);
		break;
	default:
		break;
	}
}

static const ProtobufCMessage *event_message(void *arg, size_t index)
{
	struct event_messages *m = arg;
	const struct result_event *e = &m->result->events[index];

	if (*m->cancelled)
		m->payload->failed = true;
	profiler__event__init(&m->event);
	m->event.type = (Profiler__EventType)e->type;
	m->event.time = message_ns(e, e->time_ns) / NS_PER_MS;
	m->event.overhead = e->overhead_ms;
	m->event.hits = e->hits;
	if (e->has_interval) {
		fill_interval(&m->interval, e->start_ns, e->end_ns);
		m->event.interval = &m->interval;
	}
	if (e->has_tree) {
		m->event.has_eventid = 1;
		m->event.eventid = e->id;
		m->event.has_parenteventid = e->parent != 0;
		m->event.parenteventid = e->parent;
		m->event.has_childcount = 1;
		m->event.childcount = e->child_count;
		m->event.has_aggregatedtime = 1;
		m->event.aggregatedtime = message_ns(e, e->agg_time_ns) / NS_PER_MS;
		m->event.has_aggregatedoverhead = 1;
		m->event.aggregatedoverhead = e->agg_overhead_ns / NS_PER_MS;
	}
	if (m->details)
		fill_detail(m, e->type, e->detail);
	return &m->event.base;
}

void events_encode(const struct session *s, const struct query *q, enum stp_format format, const atomic_bool *cancelled,
		   struct bytes *payload, struct error *err)
{
	Profiler__Events reply = PROFILER__EVENTS__INIT;
	struct query_result result = { 0 };
	struct event_messages messages = {
		.result = &result, .cancelled = cancelled, .payload = payload,
		.details = q->mode == MODE_ALL || q->mode == MODE_REDUCE_UNIQUE_EVENTS,
	};
	struct codec_list list = { .field = "eventList", .item = event_message, .arg = &messages };
	Profiler__Interval interval;

	if (query_events(s, q, &result, err))
		return;
	if (result.has_interval) {
		fill_interval(&interval, result.start_ns, result.end_ns);
		reply.interval = &interval;
	}
	list.nr = result.nr;
	codec_encode(format, &reply.base, &list, payload);
	query_result_free(&result);
}

static void fill_query(struct query *q, const Profiler__GetEventsArg *a)
{
	q->timeline_id = a->timelineid;
	q->mode = a->has_mode ? (int)a->mode : MODE_ALL;
	if (!q->mode)
		q->mode = -1;	/* the query takes 0 for the default; on the wire it is an unknown mode */
	q->has_event = a->has_eventid;
	q->event_id = a->eventid;
	q->has_depth = a->has_maxdepth;
	q->max_depth = a->maxdepth;
	q->has_start = a->interval && a->interval->has_start;
	q->start_ms = q->has_start ? a->interval->start : 0;
	q->has_end = a->interval && a->interval->has_end;
	q->end_ms = q->has_end ? a->interval->end : 0;
	q->nr_types = a->n_eventtypelist;
	q->types = (const uint32_t *)a->eventtypelist;
}

/* Checks the timeline's id, and puts one that the query knows in its place if it is the stand-in. */
static bool find_timeline(struct client *c, const struct request *r, const struct session *s,
			  const struct owned_session *owned, struct query *q)
{
	static const uint32_t no_type = UINT32_MAX;
	bool found = false;
	size_t n;

	for (size_t i = 0; i < owned->nr_timelines; i++)
		found |= owned->timelines[i] == q->timeline_id;
	if (!found) {
		client_fail(c, r, STATUS_BAD_REQUEST, "The session has no timeline %u; StopProfiler's answer lists them",
			    q->timeline_id);
		return false;
	}
	if (!owned->empty)
		return true;
	if (q->has_event) {
		client_fail(c, r, STATUS_BAD_REQUEST, "There is no event %u in that timeline", q->event_id);
		return false;
	}
	/* asked of another timeline, for nothing: what else is wrong with the request comes out the same */
	q->timeline_id = session_timelines(s, &n)->id;
	q->nr_types = 1;
	q->types = &no_type;
	return true;
}

/* How many events the query has to look at. */
static uint32_t query_size(const struct session *s, const struct query *q)
{
	const struct timeline *t = session_timeline_by_id(s, q->timeline_id);
	struct event_view e;

	if (q->has_event && session_event(s, q->event_id, &e))
		return e.subtree;
	return t ? t->nr_events : 0;
}

void events_reply(struct client *c, const struct request *r, const struct session *s, const struct owned_session *owned,
		  const Profiler__GetEventsArg *arg)
{
	struct bytes payload = { .max = c->host->limits.max_reply };
	const atomic_bool never = false;
	struct error err = { 0 };
	struct query q = { 0 };

	fill_query(&q, arg);
	q.max_events = c->host->limits.max_reply / EVENT_BYTES;
	if (!find_timeline(c, r, s, owned, &q))
		return;
	if (query_size(s, &q) > c->host->limits.inline_events) {
		if (jobs_add(c, r, owned->id, s, &q))
			client_fail(c, r, STATUS_OUT_OF_MEMORY, "No memory for the answer");
		return;
	}
	events_encode(s, &q, r->format, &never, &payload, &err);
	if (err.kind)
		client_fail_error(c, r, &err);
	else
		client_send(c, r, &payload);
	bytes_free(&payload);
}
