// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Tables <-> payloads, both driven by one list of fields per table. What is read is bounded, repaired and clamped. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/text.h"
#include "capture/recording_format.h"
#include "capture/recording_tables.h"

enum field_kind { TEXT, NUMBER, FLAG };

struct field {
	enum field_kind kind;
	uint16_t offset, size;
};

#define TEXT_OF(type, member) { TEXT, offsetof(type, member), sizeof(const char *) }
#define NUMBER_OF(type, member) { NUMBER, offsetof(type, member), sizeof(((type *)0)->member) }

#define FLAG_OF(type, member) { FLAG, offsetof(type, member), sizeof(bool) }

#define INFO_TEXT(m) TEXT_OF(struct recording_info, m)
#define INFO_NUMBER(m) NUMBER_OF(struct recording_info, m)
static const struct field info_fields[] = {
	INFO_NUMBER(target_pid), INFO_NUMBER(begin_ns), INFO_NUMBER(end_ns), INFO_NUMBER(begin_realtime_ns),
	INFO_TEXT(tool), INFO_TEXT(kernel), INFO_TEXT(machine), INFO_TEXT(rung), INFO_TEXT(overhead_source),
	INFO_NUMBER(nr_metrics),
	INFO_TEXT(metric_names[0]), INFO_TEXT(metric_names[1]), INFO_TEXT(metric_names[2]), INFO_TEXT(metric_names[3]),
	INFO_TEXT(metric_names[4]), INFO_TEXT(metric_names[5]), INFO_TEXT(metric_names[6]), INFO_TEXT(metric_names[7]),
	INFO_TEXT(metric_units[0]), INFO_TEXT(metric_units[1]), INFO_TEXT(metric_units[2]), INFO_TEXT(metric_units[3]),
	INFO_TEXT(metric_units[4]), INFO_TEXT(metric_units[5]), INFO_TEXT(metric_units[6]), INFO_TEXT(metric_units[7]),
	FLAG_OF(struct recording_info, target_ended), FLAG_OF(struct recording_info, source_cut),
	FLAG_OF(struct recording_info, direct_reads), INFO_NUMBER(only_under), INFO_NUMBER(min_duration_ns),
};
_Static_assert(RECORD_MAX_METRICS == 8, "one field per metric");

#define PROBE_TEXT(m) TEXT_OF(struct recording_probe, m)
#define PROBE_NUMBER(m) NUMBER_OF(struct recording_probe, m)
static const struct field probe_fields[] = {
	PROBE_TEXT(name), PROBE_TEXT(label), PROBE_TEXT(category), PROBE_TEXT(engine), PROBE_TEXT(group),
	PROBE_TEXT(function), PROBE_TEXT(module), PROBE_TEXT(build_id), PROBE_TEXT(source), PROBE_TEXT(evidence),
	PROBE_TEXT(refused), PROBE_NUMBER(offset), PROBE_NUMBER(type), PROBE_NUMBER(kind), PROBE_NUMBER(role),
	PROBE_NUMBER(cost_class), FLAG_OF(struct recording_probe, attached),
	PROBE_NUMBER(stats.calls), PROBE_NUMBER(stats.ends), PROBE_NUMBER(stats.lost_begins),
	PROBE_NUMBER(stats.lost_ends), PROBE_NUMBER(stats.unwound), PROBE_NUMBER(stats.orphan_exits),
	PROBE_NUMBER(stats.too_deep), PROBE_NUMBER(stats.read_failed), PROBE_NUMBER(stats.faulted_in),
	PROBE_NUMBER(stats.hidden), PROBE_NUMBER(stats.unread[0]),
	PROBE_NUMBER(stats.unread[1]), PROBE_NUMBER(stats.unread[2]), PROBE_NUMBER(stats.unread[3]), PROBE_NUMBER(stats.unread[4]),
	PROBE_NUMBER(stats.unread[5]), PROBE_NUMBER(stats.unread[6]), PROBE_NUMBER(stats.unread[7]), PROBE_NUMBER(stats.unread[8]),
	PROBE_NUMBER(stats.unread[9]), PROBE_NUMBER(stats.unread[10]), PROBE_NUMBER(stats.unread[11]), PROBE_NUMBER(stats.unread[12]),
	PROBE_NUMBER(stats.unread[13]), PROBE_NUMBER(stats.unread[14]), PROBE_NUMBER(stats.unread[15]), PROBE_NUMBER(stats.unread[16]),
	PROBE_NUMBER(stats.unread[17]), PROBE_NUMBER(stats.unread[18]), PROBE_NUMBER(stats.unread[19]), PROBE_NUMBER(stats.unread[20]),
	PROBE_NUMBER(stats.unread[21]), PROBE_NUMBER(stats.unread[22]), PROBE_NUMBER(stats.unread[23]), PROBE_NUMBER(stats.unread[24]),
};
_Static_assert(sizeof(struct probe_stats) == (10 + 25) * 8 && FIELD_END == 25, "one field per figure");

#define PROCESS_TEXT(m) TEXT_OF(struct recording_process, m)
#define PROCESS_NUMBER(m) NUMBER_OF(struct recording_process, m)
static const struct field process_fields[] = {
	PROCESS_NUMBER(pid), PROCESS_NUMBER(inner_pid), PROCESS_NUMBER(parent), PROCESS_NUMBER(start_ns),
	PROCESS_NUMBER(end_ns), PROCESS_TEXT(name), PROCESS_TEXT(cmdline), PROCESS_TEXT(engine),
	FLAG_OF(struct recording_process, own_pages),
};

#define THREAD_NUMBER(m) NUMBER_OF(struct recording_thread, m)
static const struct field thread_fields[] = {
	THREAD_NUMBER(tid), THREAD_NUMBER(pid), TEXT_OF(struct recording_thread, name), FLAG_OF(struct recording_thread, main),
};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* --- writing --- */

static int bytes_reserve(struct bytes *b, size_t n)
{
	size_t room = b->room ? b->room : 4096;
	uint8_t *p;

	if (b->room - b->n >= n)
		return 0;
	while (room - b->n < n)
		room *= 2;
	p = realloc(b->p, room);
	if (!p)
		return -ENOMEM;
	b->p = p;
	b->room = room;
	return 0;
}

int bytes_add_varint(struct bytes *b, uint64_t v)
{
	int rc = bytes_reserve(b, VARINT_MAX);

	if (!rc)
		b->n = varint_put(b->p + b->n, v) - b->p;
	return rc;
}

static uint64_t number_at(const void *item, const struct field *f)
{
	const char *p = (const char *)item + f->offset;

	switch (f->size) {
	case 1: return *(const uint8_t *)p;
	case 2: return *(const uint16_t *)p;
	case 4: return *(const uint32_t *)p;
	default: return *(const uint64_t *)p;
	}
}

static int put_item(struct bytes *b, const void *item, const struct field *fields, size_t nr)
{
	struct bytes body = { 0 };
	int rc = 0;

	for (size_t i = 0; i < nr && !rc; i++) {
		const char *text;
		size_t n;

		if (fields[i].kind != TEXT) {
			rc = bytes_add_varint(&body, number_at(item, &fields[i]));
			continue;
		}
		text = *(const char *const *)((const char *)item + fields[i].offset);
		n = text ? strnlen(text, RECORDING_MAX_TEXT) : 0;
		rc = bytes_reserve(&body, VARINT_MAX + n);
		if (rc)
			break;
		body.n = varint_put(body.p + body.n, n) - body.p;
		memcpy(body.p + body.n, text ? text : "", n);
		body.n += n;
	}
	if (!rc)
		rc = bytes_reserve(b, VARINT_MAX + body.n);
	if (!rc) {
		b->n = varint_put(b->p + b->n, body.n) - b->p;
		memcpy(b->p + b->n, body.p, body.n);
		b->n += body.n;
	}
	free(body.p);
	return rc;
}

int table_put_info(struct bytes *b, const struct recording_info *info)
{
	return put_item(b, info, info_fields, COUNT(info_fields));
}

int table_put_probe(struct bytes *b, const struct recording_probe *p)
{
	return put_item(b, p, probe_fields, COUNT(probe_fields));
}

int table_put_process(struct bytes *b, const struct recording_process *p)
{
	return put_item(b, p, process_fields, COUNT(process_fields));
}

int table_put_thread(struct bytes *b, const struct recording_thread *t)
{
	return put_item(b, t, thread_fields, COUNT(thread_fields));
}

/* --- reading --- */

struct text_chunk {
	struct text_chunk *next;
	size_t used, room;
	char text[];
};

/* A repaired, NUL-terminated copy that lives as long as the tables. NULL: no memory. */
static const char *keep_text(struct recording_tables *t, const uint8_t *p, size_t n)
{
	struct text_chunk *c = t->texts;
	size_t need = n * TEXT_GROWTH + 1;
	char *at;

	if (!n)
		return "";
	if (t->text_bytes + need > TABLE_MAX_TEXT) {
		t->overflow = true;
		return "";
	}
	if (!c || c->room - c->used < need) {
		size_t room = need > 65536 ? need : 65536;

		c = malloc(sizeof(*c) + room);
		if (!c)
			return NULL;
		*c = (struct text_chunk){ .next = t->texts, .room = room };
		t->texts = c;
	}
	at = c->text + c->used;
	n = text_decode(ENC_UTF8, p, n, at, need - 1);
	at[n] = 0;
	c->used += n + 1;
	t->text_bytes += n + 1;
	return at;
}

static void store_number(void *item, const struct field *f, uint64_t v)
{
	char *p = (char *)item + f->offset;

	switch (f->size) {
	case 1: *(uint8_t *)p = v > UINT8_MAX ? UINT8_MAX : v; break;
	case 2: *(uint16_t *)p = v > UINT16_MAX ? UINT16_MAX : v; break;
	case 4: *(uint32_t *)p = v > UINT32_MAX ? UINT32_MAX : v; break;
	default: *(uint64_t *)p = v;
	}
}

static const uint8_t no_bytes[1];

/* Fills every field of *item, with 0 and "" for what is not there. */
static int get_item(struct recording_tables *t, struct cursor *c, void *item, const struct field *fields, size_t nr)
{
	uint64_t size = cursor_varint(c);
	const uint8_t *p = size <= RECORDING_MAX_RAW ? cursor_bytes(c, size) : NULL;
	struct cursor body = { .p = p ? p : no_bytes, .end = p ? p + size : no_bytes };

	for (size_t i = 0; i < nr; i++) {
		uint64_t v = body.p != body.end ? cursor_varint(&body) : 0;

		if (fields[i].kind == FLAG) {
			*(bool *)((char *)item + fields[i].offset) = v != 0;
		} else if (fields[i].kind == NUMBER) {
			store_number(item, &fields[i], v);
		} else {
			const uint8_t *from = v <= RECORDING_MAX_TEXT ? cursor_bytes(&body, v) : NULL;
			const char *text = keep_text(t, from, from ? v : 0);

			if (!text)
				return -ENOMEM;
			if (v && !from)
				body.bad = true;
			*(const char **)((char *)item + fields[i].offset) = text;
		}
	}
	return !p || body.bad ? -EBADMSG : 0;
}

static int take_info(struct recording_tables *t, struct cursor *c)
{
	struct recording_info info = t->info;	/* what is not in the file stays */
	int rc = get_item(t, c, &info, info_fields, COUNT(info_fields));

	if (rc)
		return rc;
	if (info.nr_metrics > RECORD_MAX_METRICS)
		info.nr_metrics = RECORD_MAX_METRICS;
	t->info = info;
	return 0;
}

static void clamp_probe(struct recording_probe *p)
{
	if (!p->type || p->type >= EVENT_TYPE_END)
		p->type = EVENT_GENERIC;
	if (!p->kind || p->kind > PROBE_KIND_FLOW_END)
		p->kind = PROBE_KIND_SPAN;
	if (p->role > ROLE_PAINT_AREA)
		p->role = ROLE_NONE;
	if (p->cost_class >= COST_CLASSES)
		p->cost_class = COST_UNKNOWN;
}

static const struct recording_probe no_probe = {
	.name = "", .label = "", .category = "", .engine = "", .group = "", .function = "", .module = "",
	.build_id = "", .source = "", .evidence = "", .refused = "", .type = EVENT_GENERIC, .kind = PROBE_KIND_SPAN,
};

static int take_probes(struct recording_tables *t, struct cursor *c, uint32_t count)
{
	uint64_t first = cursor_varint(c);
	struct recording_probe *probes;

	if (c->bad || first > RECORD_MAX_PROBES || count > RECORD_MAX_PROBES - first)
		return -EBADMSG;
	if (first + count > t->nr_probes) {
		probes = realloc(t->probes, (first + count) * sizeof(*probes));
		if (!probes)
			return -ENOMEM;
		t->probes = probes;
		while (t->nr_probes < first + count)
			probes[t->nr_probes++] = no_probe;
	}
	for (uint64_t i = first; i < first + count; i++) {
		struct recording_probe p;
		int rc = get_item(t, c, &p, probe_fields, COUNT(probe_fields));

		if (rc)
			return rc;
		clamp_probe(&p);
		t->probes[i] = p;
	}
	return 0;
}

/* Room for one more entry of `size` bytes in *array. */
static int grow(void **array, size_t *room, size_t nr, size_t size)
{
	size_t more = *room ? 2 * *room : 64;
	void *p;

	if (nr < *room)
		return 0;
	p = realloc(*array, more * size);
	if (!p)
		return -ENOMEM;
	*array = p;
	*room = more;
	return 0;
}

static int take_process(struct recording_tables *t, struct cursor *c)
{
	struct recording_process p;
	uint32_t at;
	int rc = get_item(t, c, &p, process_fields, COUNT(process_fields));

	if (rc)
		return rc;
	if (t->nr_processes == TABLE_MAX_PROCESSES) {
		t->overflow = true;
		return 0;
	}
	if (grow((void **)&t->processes, &t->room_processes, t->nr_processes, sizeof(p)) ||
	    key_index_find(&t->process_index, p.pid, t->nr_processes, &at))
		return -ENOMEM;
	t->nr_processes += at == t->nr_processes;
	t->processes[at] = p;
	return 0;
}

static int take_thread(struct recording_tables *t, struct cursor *c)
{
	struct recording_thread thread;
	uint32_t at;
	int rc = get_item(t, c, &thread, thread_fields, COUNT(thread_fields));

	if (rc)
		return rc;
	if (t->nr_threads == TABLE_MAX_THREADS) {
		t->overflow = true;
		return 0;
	}
	/* a thread id that another process uses again is another thread */
	if (grow((void **)&t->threads, &t->room_threads, t->nr_threads, sizeof(thread)) ||
	    key_index_find(&t->thread_index, (uint64_t)thread.pid << 32 | thread.tid, t->nr_threads, &at))
		return -ENOMEM;
	t->nr_threads += at == t->nr_threads;
	t->threads[at] = thread;
	return 0;
}

void tables_init(struct recording_tables *t)
{
	struct cursor nothing = { .p = no_bytes, .end = no_bytes };

	memset(t, 0, sizeof(*t));
	/* every text becomes "" */
	get_item(t, &nothing, &t->info, info_fields, COUNT(info_fields));
}

int tables_take(struct recording_tables *t, int block_type, uint32_t count, const uint8_t *payload, size_t n)
{
	struct cursor c = { .p = payload, .end = payload + n };
	int rc = 0;

	if (block_type == BLOCK_INFO)
		return take_info(t, &c);
	if (block_type == BLOCK_PROBES)
		return take_probes(t, &c, count);
	for (uint32_t i = 0; i < count && !rc; i++) {
		if (block_type == BLOCK_PROCESSES)
			rc = take_process(t, &c);
		else if (block_type == BLOCK_THREADS)
			rc = take_thread(t, &c);
		else
			return -EBADMSG;
	}
	return rc;
}

void tables_release(struct recording_tables *t)
{
	struct text_chunk *c = t->texts;

	while (c) {
		struct text_chunk *next = c->next;

		free(c);
		c = next;
	}
	free(t->probes);
	free(t->processes);
	free(t->threads);
	key_index_release(&t->process_index);
	key_index_release(&t->thread_index);
}
