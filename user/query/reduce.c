// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Sums events up: all of them, by type, or by type and type-specific data. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "query/message.h"
#include "query/reduce.h"

/* A sum over events of one kind. */
struct group {
	uint64_t time_ns, overhead_ns, blocked_ns;
	uint64_t hits;
	uint64_t start_ns, end_ns;	/* hull of the intervals */
	uint32_t detail;
	uint32_t events;
	int type;
};

static inline void group_add(struct group *g, const struct columns *c, uint32_t at)
{
	uint64_t start = column_start(c, at), end = start + column_duration(c, at);

	g->time_ns += c->time[at + 1] - c->time[at];
	g->overhead_ns += c->overhead[at + 1] - c->overhead[at];
	g->blocked_ns += c->blocked[at + 1] - c->blocked[at];
	g->hits += column_hits(c, at);
	g->start_ns = !g->events || start < g->start_ns ? start : g->start_ns;
	g->end_ns = end > g->end_ns ? end : g->end_ns;
	g->events++;
}

static void group_result(const struct selection *sel, const struct group *g, struct result_event *ret)
{
	uint32_t nr;

	memset(ret, 0, sizeof(*ret));
	ret->type = g->type;
	ret->time_ns = g->time_ns;
	ret->overhead_ns = g->overhead_ns;
	ret->blocked_ns = g->blocked_ns;
	ret->hits = g->hits > UINT32_MAX ? UINT32_MAX : g->hits;
	ret->has_interval = true;
	ret->start_ns = g->start_ns;
	ret->end_ns = g->end_ns;
	ret->detail = &session_details(sel->session, &nr)[g->detail];
	ret->has_detail = g->detail && message_present(g->type, ret->detail);
}

/* Turns `nr` groups into the result, leaving out those without events. */
static int finish(const struct selection *sel, const struct group *groups, size_t nr, struct query_result *ret)
{
	ret->events = malloc((nr + 1) * sizeof(*ret->events));	/* REDUCE_ALL may add one */
	if (!ret->events)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		if (groups[i].events)
			group_result(sel, &groups[i], &ret->events[ret->nr++]);
	for (size_t i = 0; i < ret->nr; i++)
		ret->events[i].id = i;	/* order of what starts together; not handed out */
	return 0;
}

int reduce_all(const struct selection *sel, struct query_result *ret)
{
	struct group all = { .type = EVENT_GENERIC };
	struct select_walk w = { .at = sel->from };
	uint32_t at;

	while (select_next(sel, &w, &at))
		if (select_matches(sel, at))
			group_add(&all, sel->columns, at);
	return finish(sel, &all, 1, ret);
}

int reduce_types(const struct selection *sel, struct query_result *ret)
{
	struct group groups[EVENT_TYPE_END] = { 0 };
	struct select_walk w = { .at = sel->from };
	uint32_t at;

	for (int i = 0; i < EVENT_TYPE_END; i++)
		groups[i].type = i;
	while (select_next(sel, &w, &at))
		if (select_matches(sel, at))
			group_add(&groups[sel->probe_types[column_probe(sel->columns, at)]], sel->columns, at);
	return finish(sel, groups, EVENT_TYPE_END, ret);
}

/* --- unique events: groups are found by type and detail; details with equal messages share one --- */

struct unique {
	const struct selection *sel;
	const struct event_detail *details;
	uint32_t nr_details;
	uint32_t *by_detail[EVENT_TYPE_END];	/* per detail: group + 1; 0: not met yet */
	struct group *groups;
	size_t nr, cap;
	uint32_t *table;	/* by message: group + 1 */
	size_t table_cap;
};

static int grow(struct unique *u)
{
	size_t cap = u->table_cap ? 2 * u->table_cap : 64;
	uint32_t *table = calloc(cap, sizeof(*table));
	struct group *groups = realloc(u->groups, cap * sizeof(*groups));

	if (groups)
		u->groups = groups;
	if (!table || !groups) {
		free(table);
		return -ENOMEM;
	}
	for (size_t i = 0; i < u->nr; i++) {
		size_t slot = message_hash(groups[i].type, &u->details[groups[i].detail]) & (cap - 1);

		while (table[slot])
			slot = (slot + 1) & (cap - 1);
		table[slot] = i + 1;
	}
	free(u->table);
	u->table = table;
	u->table_cap = cap;
	return 0;
}

/* The group of a type and detail that are met for the first time. */
static int find_group(struct unique *u, int type, uint32_t detail, uint32_t *ret)
{
	const struct event_detail *d = &u->details[detail];
	size_t slot;

	if (2 * u->nr >= u->table_cap && grow(u))
		return -ENOMEM;
	for (slot = message_hash(type, d) & (u->table_cap - 1); u->table[slot]; slot = (slot + 1) & (u->table_cap - 1)) {
		const struct group *g = &u->groups[u->table[slot] - 1];

		if (g->type == type && message_equal(type, &u->details[g->detail], d)) {
			*ret = u->table[slot];
			return 0;
		}
	}
	u->groups[u->nr] = (struct group){ .type = type, .detail = detail };
	*ret = u->table[slot] = ++u->nr;
	return 0;
}

static int unique_add(struct unique *u, uint32_t at)
{
	const struct columns *c = u->sel->columns;
	int type = u->sel->probe_types[column_probe(c, at)];
	uint32_t detail = message_possible(type) ? c->detail[at] : 0, *slot;

	if (!u->by_detail[type]) {
		u->by_detail[type] = calloc(u->nr_details, sizeof(uint32_t));
		if (!u->by_detail[type])
			return -ENOMEM;
	}
	slot = &u->by_detail[type][detail];
	if (!*slot && find_group(u, type, detail, slot))
		return -ENOMEM;
	group_add(&u->groups[*slot - 1], c, at);
	return 0;
}

int reduce_events(const struct selection *sel, struct query_result *ret)
{
	struct unique u = { .sel = sel };
	struct select_walk w = { .at = sel->from };
	uint32_t at;
	int rc = 0;

	u.details = session_details(sel->session, &u.nr_details);
	while (!rc && select_next(sel, &w, &at))
		if (select_matches(sel, at))
			rc = unique_add(&u, at);
	if (!rc)
		rc = finish(sel, u.groups, u.nr, ret);
	for (int i = 0; i < EVENT_TYPE_END; i++)
		free(u.by_detail[i]);
	free(u.groups);
	free(u.table);
	return rc;
}
