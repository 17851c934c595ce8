// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Copies a recording's tables. */
#include <string.h>
#include "base/text.h"
#include "model/columns.h"
#include "model/tables.h"

static int copy(struct pool *pool, const char **text)
{
	*text = pool_copy(pool, *text);
	return *text ? 0 : -ENOMEM;
}

static int copy_info(struct tables *t, struct pool *pool, const struct recording_info *info)
{
	t->info = *info;
	if (t->info.nr_metrics > RECORD_MAX_METRICS)
		t->info.nr_metrics = RECORD_MAX_METRICS;
	for (uint32_t i = 0; i < t->info.nr_metrics; i++)
		if (copy(pool, &t->info.metric_names[i]) || copy(pool, &t->info.metric_units[i]))
			return -ENOMEM;
	if (copy(pool, &t->info.tool) || copy(pool, &t->info.kernel) || copy(pool, &t->info.machine) ||
	    copy(pool, &t->info.rung) || copy(pool, &t->info.overhead_source))
		return -ENOMEM;
	return 0;
}

static int copy_probes(struct tables *t, struct pool *pool, const struct recording_probe *probes, size_t nr)
{
	if (nr > MAX_PROBES)
		nr = MAX_PROBES;
	t->types = calloc(nr + 1, 1);
	if (!t->types)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		struct recording_probe p = probes[i];
		const char **texts[] = {
			&p.name, &p.label, &p.category, &p.engine, &p.group, &p.function, &p.module, &p.build_id,
			&p.source, &p.evidence, &p.refused,
		};

		for (size_t j = 0; j < sizeof(texts) / sizeof(texts[0]); j++)
			if (copy(pool, texts[j]))
				return -ENOMEM;
		/* PROCESS is no engine event: only the CPU clock makes one */
		if (!p.type || p.type >= EVENT_TYPE_END || p.type == EVENT_PROCESS)
			p.type = EVENT_GENERIC;
		t->types[i] = p.type;
		if (VEC_PUSH(&t->probes, p))
			return -ENOMEM;
	}
	return 0;
}

static uint64_t thread_key(uint32_t tid, uint32_t pid)
{
	return (uint64_t)pid << 32 | tid;
}

int tables_copy(struct tables *t, struct pool *pool, const struct recording_info *info,
		const struct recording_probe *probes, size_t nr_probes, const struct recording_process *procs,
		size_t nr_procs, const struct recording_thread *threads, size_t nr_threads)
{
	tables_free(t);
	memset(t, 0, sizeof(*t));
	if (copy_info(t, pool, info) || copy_probes(t, pool, probes, nr_probes))
		return -ENOMEM;
	for (size_t i = 0; i < nr_procs; i++) {
		struct recording_process p = procs[i];

		if (copy(pool, &p.name) || copy(pool, &p.cmdline) || copy(pool, &p.engine) || VEC_PUSH(&t->processes, p) ||
		    map_set(&t->process_map, p.pid, i))
			return -ENOMEM;
	}
	for (size_t i = 0; i < nr_threads && i < MAX_THREADS; i++) {
		struct recording_thread p = threads[i];

		if (copy(pool, &p.name) || VEC_PUSH(&t->threads, p) || map_set(&t->thread_map, thread_key(p.tid, p.pid), i))
			return -ENOMEM;
	}
	t->nr_named = t->threads.nr;
	return 0;
}

void tables_free(struct tables *t)
{
	free(t->probes.items);
	free(t->processes.items);
	free(t->threads.items);
	free(t->types);
	map_free(&t->process_map);
	map_free(&t->thread_map);
}

size_t tables_memory(const struct tables *t)
{
	return t->probes.cap * sizeof(*t->probes.items) + t->processes.cap * sizeof(*t->processes.items) +
	       t->threads.cap * sizeof(*t->threads.items) + t->probes.nr + 1;
}

/* The last one wins: of two processes with one pid in a recording, the later is the one with the events. */
int tables_process(struct tables *t, struct pool *pool, uint32_t pid, uint32_t *ret)
{
	struct recording_process p = { .pid = pid, .inner_pid = pid };

	*ret = map_get(&t->process_map, pid);
	if (*ret != MAP_NONE)
		return 0;
	p.name = p.cmdline = p.engine = pool_copy(pool, "");
	*ret = t->processes.nr;
	if (!p.name || map_set(&t->process_map, pid, *ret))
		return -ENOMEM;
	return VEC_PUSH(&t->processes, p);
}

int tables_thread(struct tables *t, struct pool *pool, uint32_t tid, uint32_t pid, uint32_t *ret)
{
	struct recording_thread p = { .tid = tid, .pid = pid, .main = tid == pid };

	*ret = map_get(&t->thread_map, thread_key(tid, pid));
	if (*ret != MAP_NONE)
		return 0;
	p.name = pool_copy(pool, "");
	*ret = t->threads.nr;
	if (!p.name || map_set(&t->thread_map, thread_key(tid, pid), *ret))
		return -ENOMEM;
	return VEC_PUSH(&t->threads, p);
}

int tables_thread_name(struct tables *t, struct pool *pool, uint32_t index, const char *comm, size_t n)
{
	char text[16 * TEXT_GROWTH];
	struct recording_thread *thread = &t->threads.items[index];
	size_t len;

	if (index < t->nr_named && *thread->name)
		return 0;
	len = text_decode(ENC_UTF8, comm, strnlen(comm, n), text, sizeof(text));
	thread->name = pool_intern(pool, text, len);
	if (!thread->name) {
		thread->name = "";
		return -ENOMEM;
	}
	return 0;
}
