// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Records from the ring: sorted out, noted, written. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "capture/collector.h"

static void write_process(struct collector *c, const struct tracked *t)
{
	if (follow_write(t, c->w))
		c->write_failed = true;
}

static void on_thread(struct collector *c, const struct rec_task *r)
{
	const struct tracked *t = follow_find(c->follow, r->tgid);
	struct recording_thread thread = { .tid = r->hdr.tid, .pid = r->tgid, .main = r->hdr.tid == r->tgid };
	char name[sizeof(r->comm) + 1];

	if (!c->w)
		return;
	memcpy(name, r->comm, sizeof(r->comm));
	name[sizeof(r->comm)] = '\0';
	thread.name = name;
	if (thread.main && t && t->engine && t->engine->main_thread && *t->engine->main_thread)
		thread.name = t->engine->main_thread;
	for (size_t i = 0; i < c->nr_tids; i++)
		if (c->tids[i] == thread.tid)
			goto write;
	if (c->nr_tids == c->tids_cap) {
		size_t cap = c->tids_cap ? c->tids_cap * 2 : 64;
		uint32_t *bigger = realloc(c->tids, cap * sizeof(*bigger));

		if (!bigger)
			return;
		c->tids = bigger;
		c->tids_cap = cap;
	}
	c->tids[c->nr_tids++] = thread.tid;
write:
	if (recording_write_thread(c->w, &thread))
		c->write_failed = true;
}

static void on_fork(struct collector *c, const struct rec_task *r)
{
	struct tracked *t, *parent = follow_find(c->follow, r->tgid);
	const struct engine *engine = parent ? parent->engine : NULL;

	t = follow_add(c->follow, r->child_tgid, r->tgid, r->comm, r->hdr.ts_ns);
	if (!t)
		return;
	/* until it executes something else it maps what its parent does */
	t->engine = engine;
	write_process(c, t);
}

static void on_exec(struct collector *c, const struct rec_task *r)
{
	struct tracked *t = follow_find(c->follow, r->tgid);

	if (!t)
		return;
	c->look_again = t->look = true;
	follow_refresh(t);
	t->engine = table_engine_of(c->table, t->p.pid);
	write_process(c, t);
}

static void on_process_exit(struct collector *c, const struct rec_task *r)
{
	struct tracked *t = follow_find(c->follow, r->tgid);

	if (!t || t->end_ns)
		return;
	follow_read_cpu(t, c->w, r->hdr.ts_ns, true);
	follow_exit(c->follow, t, r->hdr.ts_ns);
	write_process(c, t);
}

/* Does a call of that probe become an event? */
static bool shows(const struct collector *c, uint16_t probe)
{
	return probe < c->table->nr && c->table->rec[probe].role != ROLE_SCRIPT_CALLER;
}

uint64_t collector_events(const struct collector *c)
{
	/* the end of a call that goes on isn't there; of one whose begin was lost, the end alone is */
	return (c->begun > c->ended ? c->begun : c->ended) + c->sums;
}

void collector_record(void *arg, const struct rec_header *rec)
{
	struct collector *c = arg;
	const struct rec_task *task = (const struct rec_task *)rec;
	const struct rec_begin *begin = (const struct rec_begin *)rec;
	const struct rec_end *end = (const struct rec_end *)rec;
	const struct rec_aggregate *aggregate = (const struct rec_aggregate *)rec;

	if (overhead_take(c->calibration, rec))
		return;
	switch (rec->type) {
	case REC_BEGIN:
		c->begun += shows(c, begin->probe);
		c->begins[begin->probe % RECORD_MAX_PROBES]++;
		if (begin->read_ns)
			pace_add_ns(&c->pace, rec->tid, begin->probe, begin->read_ns);
		break;
	case REC_END:
		c->ended += shows(c, end->probe);
		c->ends[end->probe % RECORD_MAX_PROBES]++;
		pace_add(&c->pace, rec->tid, end->probe, 1);
		if (end->measured_ns)
			pace_add_ns(&c->pace, rec->tid, end->probe, end->measured_ns);
		break;
	case REC_AGGREGATE:
		c->sums += shows(c, aggregate->probe);
		c->begins[aggregate->probe % RECORD_MAX_PROBES] += aggregate->hits;
		c->ends[aggregate->probe % RECORD_MAX_PROBES] += aggregate->hits;
		pace_add(&c->pace, rec->tid, aggregate->probe, aggregate->hits);
		break;
	case REC_MARK:
		c->begins[begin->probe % RECORD_MAX_PROBES]++;
		pace_add(&c->pace, rec->tid, begin->probe, 1);
		pace_add_ns(&c->pace, rec->tid, begin->probe, begin->read_ns);
		if (c->on_navigation && begin->probe < c->table->nr && c->table->rec[begin->probe].role == ROLE_NAVIGATION)
			c->on_navigation(c->navigation_arg, begin);
		break;
	case REC_THREAD:
		on_thread(c, task);
		break;
	case REC_FORK:
		on_fork(c, task);
		break;
	case REC_EXEC:
		on_exec(c, task);
		break;
	case REC_EXIT:
		on_process_exit(c, task);
		break;
	}
	if (c->w && recording_write_record(c->w, rec))
		c->write_failed = true;
}

int collector_begin(struct collector *c, struct recording_writer *w)
{
	int rc = recording_write_probes(w, c->table->rec, c->table->nr);

	c->w = w;
	c->begun = c->ended = c->sums = 0;
	memset(c->begins, 0, sizeof(c->begins));
	memset(c->ends, 0, sizeof(c->ends));
	c->nr_tids = 0;
	c->write_failed = false;
	for (size_t i = 0; i < c->follow->nr && !rc; i++) {
		struct tracked *t = &c->follow->p[i];

		t->start_ns = 0;	/* before this recording */
		if (!t->end_ns)
			rc = follow_write(t, w);
	}
	return rc;
}

void collector_free(struct collector *c)
{
	free(c->tids);
	pace_free(&c->pace);
	memset(c, 0, sizeof(*c));
}
