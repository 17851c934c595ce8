// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Checks a query and finds the range of events that it is about. */
#include <errno.h>
#include <math.h>
#include "query/select.h"

/* A client hands back what it was given as milliseconds: that must come out as the same nanosecond. */
static double to_ns(double ms)
{
	double ns = ms * 1e6, whole = nearbyint(ns);

	return fabs(ns - whole) < 1e-3 * (1 + fabs(ns) * 1e-12) ? whole : ns;
}

static int set_interval(const struct query *q, struct selection *sel, struct error *err)
{
	double start = q->has_start ? q->start_ms : -INFINITY, end = q->has_end ? q->end_ms : INFINITY;

	sel->start_ns = 0;
	sel->end_ns = UINT64_MAX;
	if (isnan(start) || isnan(end))
		return error_set(err, ERR_USAGE, -EINVAL, "the interval's start or end is not a number");
	if (start > end)
		return error_set(err, ERR_USAGE, -EINVAL,
				 "the interval starts at %g ms, after its end at %g ms; exchange them", start, end);
	start = ceil(to_ns(start));
	end = floor(to_ns(end));
	if (start > 0)
		sel->start_ns = start < 0x1p63 ? start : UINT64_MAX;
	if (end < 0) {
		/* before the session began: nothing is */
		sel->start_ns = UINT64_MAX;
		sel->end_ns = 0;
	} else if (end < 0x1p63) {
		sel->end_ns = end;
	}
	return 0;
}

static int set_root(const struct query *q, struct selection *sel, struct error *err)
{
	const struct timeline *t = sel->timeline;
	uint32_t at = q->event_id - 1, first = t->first_id - 1;

	sel->from = first;
	sel->to = first + t->nr_events;
	if (!q->has_event)
		return 0;
	if (!q->event_id || at >= sel->columns->nr)
		return error_set(err, ERR_USAGE, -EINVAL, "there is no event %u in this session; the ids are those that events of the timeline show", q->event_id);
	if (at < sel->from || at >= sel->to)
		return error_set(err, ERR_USAGE, -EINVAL, "event %u belongs to another timeline than %u; name its own", q->event_id, t->id);
	sel->from = at + 1;
	sel->to = at + sel->columns->subtree[at];
	return 0;
}

int select_prepare(const struct session *s, const struct query *q, struct selection *ret, struct error *err)
{
	struct selection sel = {
		.session = s, .columns = session_columns(s), .probe_types = session_probe_types(s),
		.timeline = session_timeline_by_id(s, q->timeline_id), .types = UINT32_MAX,
	};
	int rc;

	if (!sel.timeline)
		return error_set(err, ERR_USAGE, -EINVAL, "there is no timeline %u in this session; framescope timelines shows which "
				 "there are", q->timeline_id);
	if (q->mode < 0 || q->mode > MODE_REDUCE_ALL)
		return error_set(err, ERR_USAGE, -EINVAL, "there is no mode %d", q->mode);
	if (q->has_depth && !q->max_depth)
		return error_set(err, ERR_USAGE, -EINVAL, "the smallest depth is 1: the children of the root");
	rc = set_root(q, &sel, err);
	if (rc)
		return rc;
	if (q->has_depth && q->max_depth < SELECT_MAX_DEPTH)
		sel.max_depth = q->max_depth;
	if (q->nr_types) {
		sel.types = 0;
		for (uint32_t i = 0; i < q->nr_types; i++)
			if (q->types[i] < EVENT_TYPE_END)
				sel.types |= 1u << q->types[i];
	}
	rc = set_interval(q, &sel, err);
	if (rc)
		return rc;
	sel.everything = sel.types == UINT32_MAX && !sel.start_ns && sel.end_ns == UINT64_MAX;
	*ret = sel;
	return 0;
}
