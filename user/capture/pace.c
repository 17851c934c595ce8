// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What being probed costs the target's threads. */
#include <stdlib.h>
#include <string.h>
#include "capture/pace.h"

#define MAX_THREADS 65536

static struct pace_thread *slot_of(struct pace_thread *threads, size_t cap, uint32_t tid)
{
	size_t at = tid & (cap - 1);

	while (threads[at].tid && threads[at].tid != tid)
		at = (at + 1) & (cap - 1);
	return &threads[at];
}

static int grow(struct pace *p)
{
	size_t cap = p->cap ? p->cap * 2 : 64;
	struct pace_thread *bigger = cap <= MAX_THREADS * 2 ? calloc(cap, sizeof(*bigger)) : NULL;

	if (!bigger)
		return -1;
	for (size_t i = 0; i < p->cap; i++)
		if (p->threads[i].tid)
			*slot_of(bigger, cap, p->threads[i].tid) = p->threads[i];
	free(p->threads);
	p->threads = bigger;
	p->cap = cap;
	p->last = NULL;
	return 0;
}

void pace_begin(struct pace *p, uint64_t now_ns)
{
	if (p->cap)
		memset(p->threads, 0, p->cap * sizeof(*p->threads));
	memset(p->probe_cost_ns, 0, sizeof(p->probe_cost_ns));
	p->nr = 0;
	p->last = NULL;
	p->since_ns = now_ns;
}

static struct pace_thread *thread_of(struct pace *p, uint32_t tid)
{
	if (p->last && p->last->tid == tid)
		return p->last;
	if (2 * p->nr >= p->cap && grow(p))
		return NULL;
	p->last = slot_of(p->threads, p->cap, tid);
	if (!p->last->tid) {
		p->last->tid = tid;
		p->nr++;
	}
	return p->last;
}

void pace_add(struct pace *p, uint32_t tid, uint32_t probe, uint32_t calls)
{
	pace_add_ns(p, tid, probe, (uint64_t)p->cost_ns[probe % RECORD_MAX_PROBES] * calls);
}

void pace_add_ns(struct pace *p, uint32_t tid, uint32_t probe, uint64_t cost)
{
	struct pace_thread *t = thread_of(p, tid);

	if (!t)
		return;
	t->cost_ns += cost;
	p->probe_cost_ns[probe % RECORD_MAX_PROBES] += cost;
}

void pace_free(struct pace *p)
{
	free(p->threads);
	memset(p, 0, sizeof(*p));
}

const struct pace_thread *pace_busiest(const struct pace *p)
{
	const struct pace_thread *busiest = NULL;

	for (size_t i = 0; i < p->cap; i++)
		if (p->threads[i].tid && (!busiest || p->threads[i].cost_ns > busiest->cost_ns))
			busiest = &p->threads[i];
	return busiest;
}

int pace_hottest(const struct pace *p)
{
	int hottest = -1;

	for (int i = 0; i < RECORD_MAX_PROBES; i++)
		if (p->probe_cost_ns[i] && (hottest < 0 || p->probe_cost_ns[i] > p->probe_cost_ns[hottest]))
			hottest = i;
	return hottest;
}
