// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* session_builder: takes a recording's records one by one and makes a session of them. */
#include <string.h>
#include "base/text.h"
#include "model/builder.h"

int session_builder_new(struct session_builder **ret)
{
	struct session_builder *b = calloc(1, sizeof(*b));

	if (!b)
		return -ENOMEM;
	b->session = calloc(1, sizeof(*b->session));
	if (b->session)
		b->session->pool = pool_new();
	if (b->session && b->session->pool)
		b->details = details_new(b->session->pool);
	if (!b->details || session_builder_tables(b, &(struct recording_info){ 0 }, NULL, 0, NULL, 0, NULL, 0)) {
		session_builder_free(b);
		return -ENOMEM;
	}
	*ret = b;
	return 0;
}

int session_builder_tables(struct session_builder *b, const struct recording_info *info,
			   const struct recording_probe *probes, size_t nr_probes,
			   const struct recording_process *procs, size_t nr_procs,
			   const struct recording_thread *threads, size_t nr_threads)
{
	struct tables *t = &b->session->tables;
	int rc = tables_copy(t, b->session->pool, info, probes, nr_probes, procs, nr_procs, threads, nr_threads);

	b->frames.creations = false;
	for (size_t i = 0; !rc && i < t->probes.nr; i++)
		if (t->probes.items[i].role == ROLE_FRAME_CREATED && t->probes.items[i].attached)
			b->frames.creations = true;
	return rc;
}

void session_builder_missing(struct session_builder *b, const struct recording_info *info)
{
	struct recording_info *own = &b->session->tables.info;

	own->truncated = info->truncated;
	own->damaged_blocks = info->damaged_blocks;
	own->missing_records = info->missing_records;
}

static int add_task(struct session_builder *b, const struct rec_task *rec)
{
	struct session *s = b->session;
	struct gone gone = { .ts_ns = builder_time(b, rec->hdr.ts_ns), .tgid = rec->tgid };
	struct raw_thread *t;
	uint32_t process;

	if (tables_process(&s->tables, s->pool, rec->tgid, &process))
		return -ENOMEM;
	switch (rec->hdr.type) {
	case REC_THREAD:
		if (arrive_thread(b, rec->hdr.tid, rec->tgid, &t))
			return -ENOMEM;
		return t ? tables_thread_name(&s->tables, s->pool, t->index, rec->comm, sizeof(rec->comm)) : 0;
	case REC_FORK:
		if (tables_process(&s->tables, s->pool, rec->child_tgid, &process))
			return -ENOMEM;
		if (!s->tables.processes.items[process].start_ns)
			s->tables.processes.items[process].start_ns = rec->hdr.ts_ns;
		if (!s->tables.processes.items[process].parent)
			s->tables.processes.items[process].parent = rec->tgid;
		return 0;
	case REC_EXIT:
		if (!s->tables.processes.items[process].end_ns)
			s->tables.processes.items[process].end_ns = rec->hdr.ts_ns;
		/* fall through */
	default:
		return VEC_PUSH(&b->gone, gone);
	}
}

static int add_cpu(struct session_builder *b, const struct rec_cpu *rec)
{
	struct session_cpu cpu = {
		.ts_ns = builder_time(b, rec->hdr.ts_ns), .cpu_ns = rec->cpu_ns, .final = rec->final,
	};

	if (tables_process(&b->session->tables, b->session->pool, rec->hdr.tid, &cpu.process))
		return -ENOMEM;
	return VEC_PUSH(&b->session->cpu, cpu);
}

static int add_cost(struct session_builder *b, const struct rec_cost *rec)
{
	uint64_t begin = b->session->tables.info.begin_ns, ts = rec->hdr.ts_ns;

	/* calibration may have begun before the recording did */
	return cost_table_add(&b->costs, ts < begin ? -(int64_t)min_u64(begin - ts, TIME_MAX) : (int64_t)builder_time(b, ts), rec);
}

static int add_loss(struct session_builder *b, const struct rec_loss *rec)
{
	struct session_loss loss = {
		.since_ns = builder_time(b, rec->since_ns), .ts_ns = builder_time(b, rec->hdr.ts_ns), .probe = rec->probe,
		.begins = rec->lost_begins, .ends = rec->lost_ends, .marks = rec->lost_marks,
	};

	if (rec->probe >= b->session->tables.probes.nr) {
		b->session->counts.unknown_records++;
		return 0;
	}
	b->lost += (uint64_t)rec->lost_begins + rec->lost_ends + rec->lost_marks;
	return VEC_PUSH(&b->session->losses, loss);
}

static int add_note(struct session_builder *b, const struct rec_note *rec)
{
	char text[TEXT_GROWTH * 1024];
	size_t room = rec->hdr.size - sizeof(*rec), n = rec->text_bytes < room ? rec->text_bytes : room;
	struct session_note note = { .ts_ns = builder_time(b, rec->hdr.ts_ns) };

	note.text = pool_intern(b->session->pool, text, text_decode(ENC_UTF8, rec + 1, n, text, sizeof(text)));
	return note.text ? VEC_PUSH(&b->session->notes, note) : -ENOMEM;
}

/* Fixed part of the records that are rarer than calls; 0: unknown. */
static size_t fixed_size(unsigned int type)
{
	switch (type) {
	case REC_THREAD:
	case REC_FORK:
	case REC_EXEC:
	case REC_EXIT:
		return sizeof(struct rec_task);
	case REC_CPU:
		return sizeof(struct rec_cpu);
	case REC_COST:
		return sizeof(struct rec_cost);
	case REC_LOSS:
		return sizeof(struct rec_loss);
	case REC_NOTE:
		return sizeof(struct rec_note);
	default:
		return 0;
	}
}

static int add_other(struct session_builder *b, const struct rec_header *rec)
{
	switch (rec->type) {
	case REC_CPU:
		return add_cpu(b, (const struct rec_cpu *)rec);
	case REC_COST:
		return add_cost(b, (const struct rec_cost *)rec);
	case REC_LOSS:
		return add_loss(b, (const struct rec_loss *)rec);
	case REC_NOTE:
		return add_note(b, (const struct rec_note *)rec);
	default:
		return add_task(b, (const struct rec_task *)rec);
	}
}

/* Is the record as long as its type, and does the table know its probe? */
#define WHOLE(b, rec, type) \
	((rec)->size >= sizeof(type) && ((const type *)(rec))->probe < (b)->session->tables.probes.nr)

int session_builder_add(struct session_builder *b, const struct rec_header *rec)
{
	size_t fixed;

	b->session->counts.records++;
	b->last_ns = max_u64(b->last_ns, builder_time(b, rec->ts_ns));
	switch (rec->type) {
	case REC_BEGIN:
		if (WHOLE(b, rec, struct rec_begin))
			return arrive_begin(b, (const struct rec_begin *)rec);
		break;
	case REC_END:
		if (WHOLE(b, rec, struct rec_end))
			return arrive_end(b, (const struct rec_end *)rec);
		break;
	case REC_MARK:
		if (WHOLE(b, rec, struct rec_begin))
			return arrive_mark(b, (const struct rec_begin *)rec);
		break;
	case REC_AGGREGATE:
		if (WHOLE(b, rec, struct rec_aggregate))
			return arrive_aggregate(b, (const struct rec_aggregate *)rec);
		break;
	default:
		fixed = fixed_size(rec->type);
		if (fixed && rec->size >= fixed)
			return add_other(b, rec);
	}
	b->session->counts.unknown_records++;
	return 0;
}

static int by_process(const void *a, const void *b)
{
	const struct gone *x = a, *y = b;

	if (x->tgid != y->tgid)
		return x->tgid < y->tgid ? -1 : 1;
	return x->ts_ns < y->ts_ns ? -1 : x->ts_ns > y->ts_ns;
}

static uint32_t mark_timeline(const struct session_builder *b, const struct raw_mark *m)
{
	const struct timeline *around;
	uint32_t place = m->place;

	if (place >= PLACE_DOCUMENT && place != PLACE_NONE)
		place = b->frames.documents.items[place & ~PLACE_DOCUMENT].place;
	if (place != PLACE_NONE)
		return b->frames.places.items[place].timeline;
	if (m->enclosing) {
		around = session_timeline_of(b->session, m->enclosing);
		return around ? around - b->session->timelines.items : UINT32_MAX;
	}
	place = map_get(&b->frames.process_map, m->tgid);
	return place != MAP_NONE && b->frames.places.items[place].events ? b->frames.places.items[place].timeline : UINT32_MAX;
}

static int finish_marks(struct session_builder *b)
{
	for (size_t i = 0; i < b->marks.nr; i++) {
		const struct raw_mark *m = &b->marks.items[i];
		struct session_mark mark = {
			.ts_ns = m->ts_ns, .probe = m->probe, .thread = m->thread, .timeline = mark_timeline(b, m),
			.enclosing = m->enclosing, .id = m->id, .detail = &b->session->details[m->detail],
		};

		if (VEC_PUSH(&b->session->marks, mark))
			return -ENOMEM;
	}
	return 0;
}

static void finish_counts(struct session_builder *b)
{
	const struct tables *t = &b->session->tables;
	struct session_counts *c = &b->session->counts;
	uint64_t lost = 0;

	for (size_t i = 0; i < t->probes.nr; i++) {
		lost += t->probes.items[i].stats.lost_begins + t->probes.items[i].stats.lost_ends;
		c->too_deep += t->probes.items[i].stats.too_deep;
	}
	/* a recording that was cut off has no totals, but what it noticed on the way */
	c->lost = max_u64(lost, b->lost);
}

static int finish(struct session_builder *b)
{
	struct session *s = b->session;

	if (b->gone.nr)
		qsort(b->gone.items, b->gone.nr, sizeof(*b->gone.items), by_process);
	if (cost_table_sort(&b->costs))
		return -ENOMEM;
	for (size_t i = 0; i < b->threads.nr; i++)
		if (tree_make(b, b->threads.items[i]))
			return -ENOMEM;
	frames_sort(&b->frames);
	if (timelines_make(b) || layout_make(b))
		return -ENOMEM;
	s->details = details_take(b->details, &s->nr_details);
	b->details = NULL;
	if (finish_marks(b))
		return -ENOMEM;
	finish_counts(b);
	return 0;
}

int session_builder_finish(struct session_builder *b, struct session **ret)
{
	int rc = finish(b);

	if (!rc) {
		*ret = b->session;
		b->session = NULL;
	}
	session_builder_free(b);
	return rc;
}

void session_builder_free(struct session_builder *b)
{
	if (!b)
		return;
	for (size_t i = 0; i < b->threads.nr; i++)
		raw_thread_free(b->threads.items[i]);
	free(b->threads.items);
	map_free(&b->thread_map);
	details_free(b->details);
	frames_free(&b->frames);
	cost_table_free(&b->costs);
	free(b->extras.items);
	free(b->metrics.items);
	free(b->marks.items);
	free(b->gone.items);
	session_free(b->session);
	free(b);
}
