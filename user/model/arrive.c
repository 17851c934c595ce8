// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Files each record under its thread and joins the end of a call with its begin, by call id alone. */
#include <string.h>
#include "model/builder.h"

int arrive_new_thread(struct session_builder *b, uint32_t tid, uint32_t tgid, struct raw_thread **ret)
{
	uint64_t key = (uint64_t)tgid << 32 | tid;
	struct raw_thread *t;
	uint32_t at;

	*ret = NULL;
	at = map_get(&b->thread_map, key);
	if (at != MAP_NONE) {
		*ret = b->last_thread = b->threads.items[at];
		return 0;
	}
	if (b->session->tables.threads.nr >= MAX_THREADS)
		return 0;
	t = calloc(1, sizeof(*t));
	if (!t)
		return -ENOMEM;
	t->tid = tid;
	t->tgid = tgid;
	if (map_set(&b->thread_map, key, b->threads.nr) ||
	    tables_thread(&b->session->tables, b->session->pool, tid, tgid, &t->index) ||
	    VEC_PUSH(&b->threads, t)) {
		free(t);
		map_set(&b->thread_map, key, MAP_NONE);
		return -ENOMEM;
	}
	*ret = b->last_thread = t;
	return 0;
}

static int role_of(const struct session_builder *b, uint32_t probe)
{
	return b->session->tables.probes.items[probe].role;
}

/* The arguments behind a record, from before they are needed. What doesn't fit into the record is left out. */
struct pending_args {
	const void *bytes;
	size_t n;
	struct hash128 hash;
};

static struct pending_args find_args(const struct session_builder *b, const struct rec_header *hdr, size_t fixed,
				     uint16_t arg_bytes)
{
	size_t room = hdr->size - fixed;
	struct pending_args p = { .bytes = (const char *)hdr + fixed, .n = arg_bytes < room ? arg_bytes : room };

	p.hash = details_prepare(b->details, p.bytes, p.n);
	return p;
}

static int read_args(struct session_builder *b, const struct pending_args *p, struct args *ret)
{
	return details_read(b->details, p->hash, p->bytes, p->n, ret);
}

static int note_place(struct session_builder *b, uint32_t tgid, uint64_t ts_ns, uint32_t probe, const struct args *args,
		      uint32_t *ret)
{
	*ret = PLACE_NONE;
	if (!args->frame && !args->document)
		return 0;
	return frames_note(&b->frames, tgid, ts_ns, role_of(b, probe), args,
			   details_get(b->details, args->detail)->url, ret);
}

/* The index of ev's extra, making one if it has none; -ENOMEM. */
static int get_extra(struct session_builder *b, struct raw_event *ev, struct raw_extra **ret)
{
	struct raw_extra none = { .hits = 1 };

	if (!ev->extra) {
		if (!b->extras.nr && VEC_PUSH(&b->extras, none))
			return -ENOMEM;
		if (VEC_PUSH(&b->extras, none))
			return -ENOMEM;
		ev->extra = b->extras.nr - 1;
	}
	*ret = &b->extras.items[ev->extra];
	return 0;
}

#define AREA (1u << FIELD_X | 1u << FIELD_Y | 1u << FIELD_W | 1u << FIELD_H)

static void move_area(struct event_detail *from, struct event_detail *to)
{
	to->x = from->x;
	to->y = from->y;
	to->w = from->w;
	to->h = from->h;
	to->has |= from->has & AREA;
	from->x = from->y = from->w = from->h = 0;
	from->has &= ~AREA;
}

/* What is painted may be known only inside of the call that paints: it is told of the PAINT event around a call of that depth. */
static int give_area(struct session_builder *b, struct raw_thread *t, uint32_t depth, uint32_t *detail)
{
	struct event_detail from = *details_get(b->details, *detail), to;

	for (size_t i = t->open.nr; i-- && (from.has & AREA) == AREA;) {
		struct raw_event *ev = t->open.items[i];

		if (ev->depth >= depth || b->session->tables.probes.items[ev->probe].type != EVENT_PAINT)
			continue;
		to = *details_get(b->details, ev->detail);
		if (to.has & AREA)
			return 0;
		move_area(&from, &to);
		return details_intern(b->details, &to, &ev->detail) ?: details_intern(b->details, &from, detail);
	}
	return 0;
}

/* A place for an event beside the in-order ones. */
static struct loose *loose_add(struct raw_thread *t, enum loose_kind kind)
{
	struct loose empty = { .kind = kind };

	return VEC_PUSH(&t->loose, empty) ? NULL : &t->loose.items[t->loose.nr - 1];
}

static int fill_begin(struct session_builder *b, const struct rec_begin *rec, const struct pending_args *pending,
		      struct raw_event *ev)
{
	struct raw_extra *extra;
	struct args args;

	memset(ev, 0, sizeof(*ev));
	ev->call_id = rec->call_id;
	ev->parent_id = rec->parent_id;
	ev->start_ns = builder_time(b, rec->hdr.ts_ns);
	ev->probe = rec->probe;
	ev->depth = rec->depth;
	ev->read_ns = rec->read_ns;
	ev->state = RAW_BEGUN;
	if (rec->flags & REC_F_STACK_SWITCH) {
		ev->state |= RAW_SWITCH;
		b->session->counts.stack_switches++;
	}
	if (role_of(b, rec->probe) == ROLE_SCRIPT_CALLER)
		ev->state |= RAW_HIDDEN;
	if (rec->flags & REC_F_READ_FAILED)
		b->session->counts.read_failed++;
	if (read_args(b, pending, &args) || note_place(b, rec->tgid, ev->start_ns, rec->probe, &args, &ev->place))
		return -ENOMEM;
	ev->detail = args.detail;
	if (args.present & 1u << FIELD_COUNT) {
		if (get_extra(b, ev, &extra))
			return -ENOMEM;
		extra->hits = args.count;
		ev->state |= RAW_COUNTED;
	}
	return 0;
}

int arrive_begin(struct session_builder *b, const struct rec_begin *rec)
{
	struct pending_args args = find_args(b, &rec->hdr, sizeof(*rec), rec->arg_bytes);
	struct raw_event *ev;
	struct raw_thread *t;
	struct loose *loose;

	if (arrive_thread(b, rec->hdr.tid, rec->tgid, &t))
		return -ENOMEM;
	if (!t || b->nr_calls == UINT32_MAX - 1) {
		b->session->counts.unknown_records++;
		return 0;
	}
	b->nr_calls++;
	if (rec->call_id <= t->last_id) {
		/* hostile or damaged: ids only grow */
		loose = loose_add(t, LOOSE_EVENT);
		return loose ? fill_begin(b, rec, &args, &loose->ev) : -ENOMEM;
	}
	ev = raw_append(t);
	if (!ev)
		return -ENOMEM;
	t->last_id = rec->call_id;
	/* what is open and not less deep has ended, though its end was lost; the tree says when */
	while (t->open.nr && t->open.items[t->open.nr - 1]->depth >= rec->depth)
		t->open.nr--;
	if (VEC_PUSH(&t->open, ev)) {
		t->nr--;
		return -ENOMEM;
	}
	if (fill_begin(b, rec, &args, ev))
		return -ENOMEM;
	return role_of(b, rec->probe) == ROLE_PAINT_AREA ? give_area(b, t, rec->depth, &ev->detail) : 0;
}

static int fill_end(struct session_builder *b, const struct rec_end *rec, struct raw_event *ev)
{
	const uint32_t want = b->session->tables.info.nr_metrics;
	struct raw_extra *extra;
	uint64_t value;

	ev->end_ns = builder_time(b, rec->hdr.ts_ns);
	ev->off_cpu_ns = rec->off_cpu_ns;
	ev->state |= RAW_ENDED;
	if (rec->flags & REC_F_UNWOUND)
		ev->flags |= EV_UNWOUND;
	if (rec->flags & REC_F_CLIPPED)
		ev->flags |= EV_CLIPPED;
	if (rec->flags & REC_F_DEEP)
		ev->flags |= EV_DEEP;
	if (rec->flags & REC_F_NO_RETURN)
		ev->flags |= EV_NO_END;
	if (rec->flags & REC_F_OVERHEAD)
		ev->state |= RAW_OVERHEAD;
	if (rec->hidden_hits || rec->measured_ns || rec->flags & REC_F_OVERHEAD) {
		if (get_extra(b, ev, &extra))
			return -ENOMEM;
		extra->hidden_hits = rec->flags & REC_F_OVERHEAD ? 0 : rec->hidden_hits;
		extra->hidden_ns = rec->hidden_ns;
		extra->measured_ns = rec->flags & REC_F_OVERHEAD ? 0 : rec->measured_ns;
	}
	if (!want || rec->nr_metrics < want || rec->hdr.size < sizeof(*rec) + want * sizeof(value))
		return 0;
	if (get_extra(b, ev, &extra))
		return -ENOMEM;
	extra->metrics = b->metrics.nr;
	ev->state |= RAW_METRICS;
	for (uint32_t i = 0; i < want; i++) {
		memcpy(&value, (const char *)(rec + 1) + i * sizeof(value), sizeof(value));
		if (VEC_PUSH(&b->metrics, value))
			return -ENOMEM;
	}
	return 0;
}

/* The begin of that call if it is known and still without an end. */
static struct raw_event *find_open(struct raw_thread *t, uint64_t call_id, bool *ret_known)
{
	struct raw_event *ev;

	*ret_known = true;
	if (t->open.nr && t->open.items[t->open.nr - 1]->call_id == call_id)
		return t->open.items[--t->open.nr];
	ev = raw_find(t, call_id);
	*ret_known = ev;
	return ev && !(ev->state & RAW_ENDED) ? ev : NULL;
}

int arrive_end(struct session_builder *b, const struct rec_end *rec)
{
	struct raw_event *ev;
	struct raw_thread *t;
	struct loose *loose;
	bool known;

	if (arrive_thread(b, rec->hdr.tid, rec->tgid, &t))
		return -ENOMEM;
	if (!t) {
		b->session->counts.unknown_records++;
		return 0;
	}
	ev = find_open(t, rec->call_id, &known);
	if (ev)
		return fill_end(b, rec, ev);
	if (known || b->nr_calls == UINT32_MAX - 1) {
		b->session->counts.orphan_ends++;
		return 0;
	}
	loose = loose_add(t, LOOSE_EVENT);
	if (!loose)
		return -ENOMEM;
	b->nr_calls++;
	ev = &loose->ev;
	ev->call_id = rec->call_id;
	ev->parent_id = rec->parent_id;
	ev->start_ns = builder_time(b, rec->begin_ns);
	ev->probe = rec->probe;
	ev->depth = rec->depth;
	ev->place = PLACE_NONE;
	ev->flags = EV_NO_BEGIN;
	if (role_of(b, rec->probe) == ROLE_SCRIPT_CALLER)
		ev->state |= RAW_HIDDEN;
	return fill_end(b, rec, ev);
}

int arrive_mark(struct session_builder *b, const struct rec_begin *rec)
{
	struct pending_args pending = find_args(b, &rec->hdr, sizeof(*rec), rec->arg_bytes);
	struct raw_mark mark = { .ts_ns = builder_time(b, rec->hdr.ts_ns), .tgid = rec->tgid, .probe = rec->probe };
	struct raw_thread *t;
	struct loose *loose;
	struct args args;

	if (arrive_thread(b, rec->hdr.tid, rec->tgid, &t))
		return -ENOMEM;
	if (!t || b->marks.nr == UINT32_MAX) {
		b->session->counts.unknown_records++;
		return 0;
	}
	if (rec->flags & REC_F_READ_FAILED)
		b->session->counts.read_failed++;
	if (read_args(b, &pending, &args) || note_place(b, rec->tgid, mark.ts_ns, rec->probe, &args, &mark.place))
		return -ENOMEM;
	mark.detail = args.detail;
	if (role_of(b, rec->probe) == ROLE_PAINT_AREA && give_area(b, t, rec->depth, &mark.detail))
		return -ENOMEM;
	mark.thread = t->index;
	mark.id = args.present & 1u << FIELD_ID ? args.id : args.frame ? args.frame : args.document ? args.document : args.id;
	loose = loose_add(t, LOOSE_MARK);
	if (!loose || VEC_PUSH(&b->marks, mark))
		return -ENOMEM;
	loose->mark = b->marks.nr - 1;
	loose->ev.call_id = rec->call_id ? rec->call_id : t->last_id;
	loose->ev.parent_id = rec->parent_id;
	loose->ev.depth = rec->depth;
	loose->ev.probe = rec->probe;
	loose->ev.read_ns = rec->read_ns;
	loose->ev.start_ns = mark.ts_ns;
	loose->ev.state = rec->flags & REC_F_STACK_SWITCH ? RAW_SWITCH : 0;
	return 0;
}

/* What measuring cost, as another profiler has said. */
static int note_overhead(struct session_builder *b, const struct rec_aggregate *rec, struct raw_event *ev)
{
	size_t at = (sizeof(*rec) + rec->arg_bytes + 7) / 8 * 8;
	struct raw_extra *extra;

	if (!(rec->flags & REC_F_OVERHEAD) || rec->hdr.size < at + sizeof(extra->hidden_ns))
		return 0;
	if (get_extra(b, ev, &extra))
		return -ENOMEM;
	memcpy(&extra->hidden_ns, (const char *)rec + at, sizeof(extra->hidden_ns));
	ev->state |= RAW_OVERHEAD;
	return 0;
}

int arrive_aggregate(struct session_builder *b, const struct rec_aggregate *rec)
{
	struct pending_args pending = find_args(b, &rec->hdr, sizeof(*rec), rec->arg_bytes);
	struct raw_event *ev;
	struct raw_thread *t;
	struct loose *loose;
	struct args args;

	if (arrive_thread(b, rec->hdr.tid, rec->tgid, &t))
		return -ENOMEM;
	if (!t || !rec->hits || b->nr_calls == UINT32_MAX - 1) {
		b->session->counts.unknown_records++;
		return 0;
	}
	loose = loose_add(t, LOOSE_AGGREGATE);
	if (!loose)
		return -ENOMEM;
	b->nr_calls++;
	ev = &loose->ev;
	ev->call_id = rec->call_id;
	ev->parent_id = rec->parent_id;
	ev->start_ns = builder_time(b, rec->first_ns);
	ev->end_ns = builder_time(b, rec->hdr.ts_ns);
	ev->probe = rec->probe;
	ev->depth = rec->depth;
	ev->flags = EV_AGGREGATE;
	ev->state = RAW_BEGUN | RAW_ENDED;
	loose->total_ns = rec->total_ns;
	loose->hits = rec->hits;
	if (note_overhead(b, rec, ev))
		return -ENOMEM;
	if (read_args(b, &pending, &args) || note_place(b, rec->tgid, ev->start_ns, rec->probe, &args, &ev->place))
		return -ENOMEM;
	ev->detail = args.detail;
	if (role_of(b, rec->probe) == ROLE_SCRIPT_CALLER)
		t->loose.nr--;	/* calls without insides: nothing to tell */
	return 0;
}
