// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Turns collected items into records: calls nested on their threads, in order of time. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/vec.h"
#include "export/heap.h"
#include "export/import_state.h"

struct open_call {
	uint64_t id, start_ns, end_ns, child_wall_ns, child_off_ns;
	uint32_t item, first_sum;	/* of those below it: index + 1 */
	uint64_t metrics[RECORD_MAX_METRICS];	/* of what it has called so far */
};

struct stack {
	struct open_call *open;
	uint32_t nr, cap;
	uint64_t floor_ns;	/* what ended last */
};

struct write {
	struct import *im;
	struct recording_writer *w;
	struct import_counts *counts;
	struct stack *stacks;
	struct heap ends;	/* of open calls; value: thread, third: call id */
	uint32_t *order, *next_sum;
	uint64_t next_id;
	union {
		uint8_t bytes[RECORD_MAX_SIZE];
		uint64_t align;
	} buf;
};

static const struct import *sorting;	/* qsort() has no argument for it, and qsort_r() differs between libraries */

static int by_start(const void *a, const void *b)
{
	const struct import_item *p = &sorting->items[*(const uint32_t *)a], *q = &sorting->items[*(const uint32_t *)b];

	if (p->start_ns != q->start_ns)
		return p->start_ns < q->start_ns ? -1 : 1;
	if (p->kind != q->kind)
		return p->kind < q->kind ? -1 : 1;
	if (p->end_ns != q->end_ns)
		return p->end_ns > q->end_ns ? -1 : 1;
	return p < q ? -1 : p > q;
}

/* Puts the item's arguments behind the fixed part, and gives the record its size. */
static uint16_t put_args(struct write *wr, const struct import_item *item, size_t fixed)
{
	struct rec_header *h = (struct rec_header *)wr->buf.bytes;
	const uint8_t *args = item->args == IMPORT_NONE ? NULL : wr->im->args + 4ull * item->args;
	uint32_t n = 0;

	if (args)
		memcpy(&n, args, 4);
	if (n)
		memcpy(wr->buf.bytes + fixed, args + 4, n);
	h->size = (fixed + n + 7) / 8 * 8;
	memset(wr->buf.bytes + fixed + n, 0, h->size - fixed - n);
	return n;
}

static int put(struct write *wr)
{
	return recording_write_record(wr->w, (struct rec_header *)wr->buf.bytes);
}

/* What measuring cost in the calls, behind the record's arguments. */
static void put_overhead(struct rec_aggregate *a, uint64_t ns)
{
	if (!ns)
		return;
	a->flags |= REC_F_OVERHEAD;
	memcpy((char *)a + a->hdr.size, &ns, sizeof(ns));
	a->hdr.size += sizeof(ns);
}

/* How long all calls of a sum took. */
static uint64_t sum_ns(const struct import_item *sum)
{
	return sum->cpu_ns + sum->overhead_ns;
}

static int put_sum(struct write *wr, const struct open_call *parent, uint16_t depth, const struct import_item *item)
{
	struct rec_aggregate *a = (struct rec_aggregate *)wr->buf.bytes;
	const struct import_task *t = &wr->im->threads.items[item->thread];
	uint64_t end = max_u64(item->end_ns, item->start_ns + sum_ns(item));

	if (parent)
		end = min_u64(end, parent->end_ns);
	*a = (struct rec_aggregate){
		.hdr = { .type = REC_AGGREGATE, .tid = t->number, .ts_ns = end }, .first_ns = min_u64(item->start_ns, end),
		.total_ns = sum_ns(item), .call_id = wr->next_id++, .parent_id = parent ? parent->id : 0, .hits = item->hits,
		.probe = item->probe, .tgid = import_pid(wr->im, item->thread), .depth = depth,
	};
	if (parent && a->first_ns < parent->start_ns)
		a->first_ns = min_u64(parent->start_ns, end);
	a->arg_bytes = put_args(wr, item, sizeof(*a));
	put_overhead(a, item->overhead_ns);
	wr->im->probes[item->probe].stats.calls += item->hits;
	wr->im->probes[item->probe].stats.ends += item->hits;
	wr->counts->sums++;
	return put(wr);
}

/*
 * The thread's off-CPU time in the call. Where the profile says what is self time, all that is neither that, nor what
 * measuring cost, nor a child's counts as blocked.
 */
static uint64_t off_cpu(const struct open_call *c, const struct import_item *item)
{
	uint64_t wall = c->end_ns - c->start_ns, own = wall - min_u64(c->child_wall_ns, wall);

	if (item->self_ns != UINT64_MAX)
		return c->child_off_ns + own - min_u64(item->self_ns + min_u64(item->overhead_ns, own), own);
	if (item->cpu_ns != UINT64_MAX)
		return wall - min_u64(item->cpu_ns, wall);
	return 0;
}

/* The call's metrics, what it called included: behind the record's fixed part, and to its caller. */
static void put_metrics(struct write *wr, const struct open_call *c, struct open_call *outer)
{
	struct rec_end *e = (struct rec_end *)wr->buf.bytes;
	uint32_t nr = wr->im->nr_metrics;

	for (uint32_t i = 0; i < nr; i++) {
		uint64_t value = c->metrics[i] + wr->im->metrics[(size_t)c->item * nr + i];

		/* far below UINT64_MAX, which says that there is none */
		value = min_u64(value, UINT64_MAX / 2);
		memcpy(wr->buf.bytes + sizeof(*e) + 8 * i, &value, 8);
		if (outer)
			outer->metrics[i] = min_u64(outer->metrics[i] + value, UINT64_MAX / 2);
	}
	e->nr_metrics = nr;
	e->hdr.size = sizeof(*e) + 8 * nr;
}

/* Ends the innermost call of the thread, after the sums below it. */
static int close_call(struct write *wr, uint32_t thread)
{
	struct stack *st = &wr->stacks[thread];
	struct open_call c = st->open[--st->nr];
	struct open_call *outer = st->nr ? &st->open[st->nr - 1] : NULL;
	const struct import_item *item = &wr->im->items[c.item];
	const struct import_task *t = &wr->im->threads.items[thread];
	struct rec_end *e = (struct rec_end *)wr->buf.bytes;
	uint64_t off;
	int rc = 0;

	for (uint32_t i = c.first_sum; !rc && i; i = wr->next_sum[i - 1]) {
		const struct import_item *sum = &wr->im->items[i - 1];

		for (uint32_t k = 0; k < wr->im->nr_metrics; k++)
			c.metrics[k] = min_u64(c.metrics[k] + wr->im->metrics[(i - 1ull) * wr->im->nr_metrics + k], UINT64_MAX / 2);
		rc = put_sum(wr, &c, st->nr + 1, sum);
		c.child_wall_ns += sum_ns(sum);
	}
	off = off_cpu(&c, item);
	*e = (struct rec_end){
		.hdr = { REC_END, sizeof(*e), t->number, c.end_ns }, .begin_ns = c.start_ns, .call_id = c.id,
		.parent_id = outer ? outer->id : 0, .sp = 0x7fff00000000 - 64ull * st->nr, .off_cpu_ns = off,
		.probe = item->probe, .tgid = import_pid(wr->im, item->thread), .depth = st->nr, .flags = item->flags,
	};
	put_metrics(wr, &c, outer);
	if (item->overhead_ns) {
		e->flags |= REC_F_OVERHEAD;
		e->hidden_ns = item->overhead_ns;
	}
	if (st->floor_ns < c.end_ns)
		st->floor_ns = c.end_ns;
	if (outer) {
		outer->child_wall_ns += c.end_ns - c.start_ns;
		outer->child_off_ns += off;
	}
	wr->im->probes[item->probe].stats.ends++;
	return rc ? rc : put(wr);
}

static int close_until(struct write *wr, uint64_t ns)
{
	while (wr->ends.nr && wr->ends.items[0].key < ns) {
		uint32_t thread = wr->ends.items[0].value;
		uint64_t id = wr->ends.items[0].third;
		struct stack *st = &wr->stacks[thread];
		int rc;

		heap_pop(&wr->ends);
		if (!st->nr || st->open[st->nr - 1].id != id)
			continue;
		rc = close_call(wr, thread);
		if (rc)
			return rc;
	}
	return 0;
}

static int open_call(struct write *wr, uint32_t index, struct open_call c)
{
	const struct import_item *item = &wr->im->items[index];
	const struct import_task *t = &wr->im->threads.items[item->thread];
	struct stack *st = &wr->stacks[item->thread];
	struct rec_begin *b = (struct rec_begin *)wr->buf.bytes;
	int rc;

	if (st->nr == st->cap) {
		uint32_t cap = st->cap ? 2 * st->cap : 16;
		struct open_call *open = reallocarray(st->open, cap, sizeof(*open));

		if (!open)
			return -ENOMEM;
		st->open = open;
		st->cap = cap;
	}
	*b = (struct rec_begin){
		.hdr = { .type = REC_BEGIN, .tid = t->number, .ts_ns = c.start_ns }, .call_id = c.id,
		.parent_id = st->nr ? st->open[st->nr - 1].id : 0, .sp = 0x7fff00000000 - 64ull * st->nr,
		.probe = item->probe, .tgid = import_pid(wr->im, item->thread), .depth = st->nr,
	};
	b->arg_bytes = put_args(wr, item, sizeof(*b));
	rc = put(wr);
	if (rc)
		return rc;
	st->open[st->nr++] = c;
	wr->im->probes[item->probe].stats.calls++;
	wr->counts->events++;
	return heap_push(&wr->ends, &(struct heap_item){ .key = c.end_ns, .second = ~(uint64_t)st->nr, .third = c.id,
							 .value = item->thread });
}

static int write_span(struct write *wr, uint32_t index)
{
	const struct import_item *item = &wr->im->items[index];
	struct stack *st = &wr->stacks[item->thread];
	struct open_call c = { .item = index, .start_ns = item->start_ns,
			       .end_ns = item->end_ns < item->start_ns ? item->start_ns : item->end_ns };
	int rc;

	while (st->nr && st->open[st->nr - 1].end_ns <= item->start_ns) {
		rc = close_call(wr, item->thread);
		if (rc)
			return rc;
	}
	if (st->nr == RECORD_MAX_DEPTH) {
		wr->counts->too_deep++;
		return 0;
	}
	if (c.start_ns < st->floor_ns)
		c.start_ns = st->floor_ns;
	if (st->nr && c.start_ns > st->open[st->nr - 1].end_ns)
		c.start_ns = st->open[st->nr - 1].end_ns;
	if (st->nr && c.end_ns > st->open[st->nr - 1].end_ns)
		c.end_ns = st->open[st->nr - 1].end_ns;
	if (c.end_ns < c.start_ns)
		c.end_ns = c.start_ns;
	wr->counts->cut += c.start_ns != item->start_ns || c.end_ns != item->end_ns;
	/* behind those of the sums of calls that have ended: ids only grow */
	c.id = wr->next_id++;
	/* sums that came with the item stand in its list */
	c.first_sum = item->hits;
	return open_call(wr, index, c);
}

static int write_sum(struct write *wr, uint32_t index)
{
	const struct import_item *item = &wr->im->items[index];
	struct stack *st = &wr->stacks[item->thread];

	/* those with a parent were put into its list before */
	if (item->parent != IMPORT_NONE)
		return 0;
	while (st->nr && st->open[st->nr - 1].end_ns < item->start_ns) {
		int rc = close_call(wr, item->thread);

		if (rc)
			return rc;
	}
	if (!st->nr)
		return put_sum(wr, NULL, 0, item);
	wr->next_sum[index] = st->open[st->nr - 1].first_sum;
	st->open[st->nr - 1].first_sum = index + 1;
	return 0;
}

static int write_mark(struct write *wr, const struct import_item *item)
{
	const struct import_task *t = &wr->im->threads.items[item->thread];
	struct stack *st = &wr->stacks[item->thread];
	struct rec_begin *b = (struct rec_begin *)wr->buf.bytes;

	while (st->nr && st->open[st->nr - 1].end_ns < item->start_ns) {
		int rc = close_call(wr, item->thread);

		if (rc)
			return rc;
	}
	*b = (struct rec_begin){
		.hdr = { .type = REC_MARK, .tid = t->number, .ts_ns = item->start_ns }, .call_id = wr->next_id++,
		.parent_id = st->nr ? st->open[st->nr - 1].id : 0, .sp = 0x7fff00000000 - 64ull * st->nr,
		.probe = item->probe, .tgid = import_pid(wr->im, item->thread), .depth = st->nr,
	};
	b->arg_bytes = put_args(wr, item, sizeof(*b));
	wr->im->probes[item->probe].stats.calls++;
	wr->counts->marks++;
	return put(wr);
}

static int write_loss(struct write *wr, const struct import_item *item)
{
	struct rec_loss *l = (struct rec_loss *)wr->buf.bytes;

	*l = (struct rec_loss){
		.hdr = { .type = REC_LOSS, .size = sizeof(*l), .ts_ns = item->end_ns }, .since_ns = item->start_ns,
		.probe = item->probe, .lost_begins = item->hits, .lost_ends = item->ends, .lost_marks = item->marks,
	};
	wr->im->probes[item->probe].stats.lost_begins += item->hits;
	wr->im->probes[item->probe].stats.lost_ends += item->ends;
	return put(wr);
}

/* Sums that name their item go into that item's list; the item's `hits` is its head. */
static void hang_sums(struct write *wr)
{
	struct import *im = wr->im;

	for (size_t i = 0; i < im->nr_items; i++)
		if (im->items[i].kind == IMPORT_SPAN)
			im->items[i].hits = 0;
	for (size_t i = im->nr_items; i--;) {
		struct import_item *item = &im->items[i], *parent;

		if (item->kind != IMPORT_SUM || item->parent == IMPORT_NONE)
			continue;
		parent = import_item(im, item->parent);
		if (!parent || parent->kind != IMPORT_SPAN || parent->thread != item->thread) {
			item->parent = IMPORT_NONE;
			continue;
		}
		wr->next_sum[i] = parent->hits;
		parent->hits = i + 1;
	}
}

static int write_items(struct write *wr)
{
	struct import *im = wr->im;
	int rc = 0;

	for (size_t i = 0; i < im->nr_items; i++)
		wr->order[i] = i;
	sorting = im;
	qsort(wr->order, im->nr_items, sizeof(*wr->order), by_start);
	hang_sums(wr);
	for (size_t i = 0; !rc && i < im->nr_items; i++) {
		const struct import_item *item = &im->items[wr->order[i]];

		rc = close_until(wr, item->start_ns);
		if (rc)
			break;
		switch (item->kind) {
		case IMPORT_SPAN: rc = write_span(wr, wr->order[i]); break;
		case IMPORT_SUM: rc = write_sum(wr, wr->order[i]); break;
		case IMPORT_FRAME:
		case IMPORT_MARK: rc = write_mark(wr, item); break;
		default: rc = write_loss(wr, item);
		}
	}
	if (!rc)
		rc = close_until(wr, UINT64_MAX);
	for (size_t i = 0; !rc && i < im->threads.nr; i++)
		while (!rc && wr->stacks[i].nr)
			rc = close_call(wr, i);
	return rc;
}

static int write_tables(struct write *wr)
{
	struct import *im = wr->im;
	int rc = recording_write_probes(wr->w, im->probes, im->nr_probes);

	for (size_t i = 0; !rc && i < im->procs.nr; i++) {
		const struct import_task *task = &im->procs.items[i];
		const struct recording_process p = { .pid = task->number, .inner_pid = task->number, .name = task->name,
						     .cmdline = "", .engine = "import" };

		rc = recording_write_process(wr->w, &p);
	}
	for (size_t i = 0; !rc && i < im->threads.nr; i++) {
		const struct import_task *task = &im->threads.items[i];
		const struct recording_thread t = { .tid = task->number, .pid = import_pid(im, i), .name = task->name,
			.main = task->number == import_pid(im, i) || !strcmp(task->name, "CrRendererMain") };

		rc = recording_write_thread(wr->w, &t);
	}
	return rc;
}

static void find_range(const struct import *im, uint64_t *base_ns, uint64_t *end_ns)
{
	for (size_t i = 0; i < im->nr_items; i++) {
		const struct import_item *item = &im->items[i];

		if (item->start_ns < *base_ns)
			*base_ns = item->start_ns;
		if (item->end_ns > *end_ns)
			*end_ns = item->end_ns;
	}
	if (*base_ns == UINT64_MAX)
		*base_ns = 0;
}

int import_write(struct import *im, struct recording_writer *w, const char *name, struct import_range range,
		 struct import_counts *counts, struct error *err)
{
	struct write wr = { .im = im, .w = w, .counts = counts, .next_id = 1 };
	struct recording_info info = { .version = 1, .tool = "framescope import", .kernel = "", .machine = "",
				       .rung = "import", .overhead_source = "none" };
	int rc = -ENOMEM;

	find_range(im, &range.base_ns, &range.end_ns);
	for (size_t i = 0; i < im->nr_items; i++)
		if (im->items[i].overhead_ns)
			info.overhead_source = "imported";
	wr.order = malloc((im->nr_items + 1) * sizeof(*wr.order));
	wr.next_sum = calloc(im->nr_items + 1, sizeof(*wr.next_sum));
	wr.stacks = calloc(im->threads.nr + 1, sizeof(*wr.stacks));
	if (wr.order && wr.next_sum && wr.stacks)
		rc = strcmp(info.overhead_source, "none") ? recording_writer_features(w, RECORDING_FEATURE_OVERHEAD) : 0;
	if (!rc)
		rc = write_tables(&wr);
	if (!rc)
		rc = write_items(&wr);
	for (size_t i = 0; wr.stacks && i < im->threads.nr; i++)
		free(wr.stacks[i].open);
	free(wr.stacks);
	free(wr.order);
	free(wr.next_sum);
	heap_free(&wr.ends);
	if (rc) {
		recording_writer_abort(w);
		return error_set(err, rc == -ENOMEM ? ERR_OTHER : ERR_OUTPUT, rc, "can't write what '%s' says as a recording: %s",
				 name, strerror(-rc));
	}
	if (counts->skipped && !im->nr_items && !range.end_ns) {
		recording_writer_abort(w);
		return error_set(err, ERR_INPUT, -EINVAL, "nothing in '%s' has a place in a recording: its items lack a time, "
				 "a phase or a stack, or are no JSON", name);
	}
	if (counts->truncated && !counts->events && !counts->sums && !counts->marks) {
		recording_writer_abort(w);
		return error_set(err, ERR_INPUT, -EINVAL, "'%s' ends before anything that could be taken over; is it whole?", name);
	}
	info.begin_ns = range.base_ns;
	info.end_ns = range.end_ns > range.base_ns ? range.end_ns : range.base_ns + 1;
	info.target_pid = im->procs.nr ? im->procs.items[0].number : 0;
	info.truncated = info.source_cut = counts->truncated;
	info.nr_metrics = im->nr_metrics;
	for (uint32_t i = 0; i < im->nr_metrics; i++) {
		info.metric_names[i] = im->metric_names[i];
		info.metric_units[i] = im->metric_units[i];
	}
	return recording_writer_finish(w, &info, im->probes, im->nr_probes, err);
}
