// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A hash table of open async operations and flows, bounded. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "export/pairs.h"

#define SLOTS (2 * PAIRS_MAX)

struct pairs {
	struct pair *slots;	/* open addressing; number 0: empty */
	uint64_t next;
	size_t nr;
	size_t sweep, hand;	/* where draining and giving up stand */
	uint32_t *group_of;	/* per probe */
	uint32_t *process_of;	/* per thread */
	size_t nr_probes, nr_threads;
};

/* Threads name their process by pid; a pid that was used again goes to its last process. */
static int find_processes(struct pairs *p, const struct session *s)
{
	size_t nr_procs;
	const struct recording_process *procs = session_processes(s, &nr_procs);
	const struct recording_thread *threads = session_threads(s, &p->nr_threads);

	p->process_of = malloc((p->nr_threads + 1) * sizeof(*p->process_of));
	if (!p->process_of)
		return -ENOMEM;
	for (size_t i = 0; i < p->nr_threads; i++) {
		p->process_of[i] = UINT32_MAX;
		for (size_t k = nr_procs; k-- && p->process_of[i] == UINT32_MAX;)
			if (procs[k].pid == threads[i].pid)
				p->process_of[i] = k;
	}
	return 0;
}

int pairs_new(const struct session *s, struct pairs **ret)
{
	struct pairs *p = calloc(1, sizeof(*p));
	const struct recording_probe *probes = session_probes(s, &p->nr_probes);

	if (!p)
		return -ENOMEM;
	p->next = 1;
	p->slots = calloc(SLOTS, sizeof(*p->slots));
	p->group_of = calloc(p->nr_probes + 1, sizeof(*p->group_of));
	if (!p->slots || !p->group_of || find_processes(p, s)) {
		pairs_free(p);
		return -ENOMEM;
	}
	for (size_t i = 0; i < p->nr_probes; i++) {
		p->group_of[i] = i;
		for (size_t k = 0; k < i; k++)
			if (!strcmp(probes[i].group, probes[k].group)) {
				p->group_of[i] = k;
				break;
			}
	}
	*ret = p;
	return 0;
}

void pairs_free(struct pairs *p)
{
	if (!p)
		return;
	free(p->slots);
	free(p->group_of);
	free(p->process_of);
	free(p);
}

uint32_t pairs_process(const struct pairs *p, uint32_t thread)
{
	return thread < p->nr_threads ? p->process_of[thread] : UINT32_MAX;
}

static size_t hash(uint32_t group, uint32_t process, uint64_t id)
{
	uint64_t h = (id ^ ((uint64_t)group << 48) ^ ((uint64_t)process << 32)) * 0x9e3779b97f4a7c15ull;

	return (h ^ h >> 29) * 0xbf58476d1ce4e5b9ull >> 40 & (SLOTS - 1);
}

/* The slot that holds it, or the empty one where it would go. */
static size_t locate(const struct pairs *p, const struct session_mark *m)
{
	uint32_t group = m->probe < p->nr_probes ? p->group_of[m->probe] : UINT32_MAX;
	uint32_t process = pairs_process(p, m->thread);
	size_t i = hash(group, process, m->id);

	for (; p->slots[i].number; i = (i + 1) & (SLOTS - 1))
		if (p->slots[i].id == m->id && p->slots[i].group == group && p->slots[i].process == process)
			break;
	return i;
}

/* Empties slot i and moves up what was pushed past it. */
static void empty(struct pairs *p, size_t i)
{
	size_t next = i;

	p->nr--;
	for (;;) {
		p->slots[i].number = 0;
		for (;;) {
			size_t home;

			next = (next + 1) & (SLOTS - 1);
			if (!p->slots[next].number)
				return;
			home = hash(p->slots[next].group, p->slots[next].process, p->slots[next].id);
			/* may stay if its home lies cyclically in (i, next] */
			if (i <= next ? i < home && home <= next : i < home || home <= next)
				continue;
			break;
		}
		p->slots[i] = p->slots[next];
		i = next;
	}
}

/* The hand goes round, so that what is never closed cannot keep new ones out for ever. */
static void give_up_one(struct pairs *p)
{
	do
		p->hand = (p->hand + 1) & (SLOTS - 1);
	while (!p->slots[p->hand].number);
	empty(p, p->hand);
}

const struct pair *pairs_open(struct pairs *p, const struct session_mark *m, bool *ret_again)
{
	size_t i = locate(p, m);

	*ret_again = p->slots[i].number;
	if (*ret_again)
		return &p->slots[i];
	if (p->nr == PAIRS_MAX) {
		give_up_one(p);
		i = locate(p, m);
	}
	p->slots[i] = (struct pair){
		.number = p->next++,
		.group = m->probe < p->nr_probes ? p->group_of[m->probe] : UINT32_MAX,
		.process = pairs_process(p, m->thread),
		.id = m->id, .thread = m->thread, .probe = m->probe,
	};
	p->nr++;
	return &p->slots[i];
}

const struct pair *pairs_find(const struct pairs *p, const struct session_mark *m)
{
	size_t i = locate(p, m);

	return p->slots[i].number ? &p->slots[i] : NULL;
}

bool pairs_close(struct pairs *p, const struct session_mark *m, struct pair *ret)
{
	size_t i = locate(p, m);

	if (!p->slots[i].number)
		return false;
	*ret = p->slots[i];
	empty(p, i);
	return true;
}

bool pairs_drain(struct pairs *p, struct pair *ret)
{
	for (; p->sweep < SLOTS; p->sweep++)
		if (p->slots[p->sweep].number) {
			*ret = p->slots[p->sweep];
			p->slots[p->sweep].number = 0;
			p->nr--;
			return true;
		}
	return false;
}
