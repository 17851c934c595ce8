// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Some calls of a twin, timed. */
#include <stdlib.h>
#include "base/clock.h"
#include "capture/burst.h"
#include "record.h"

#define CALLS_MIN 6		/* fewer than BURST_CALLS where they take long: */
#define BURST_NS 60000
#define WARM_UP 4		/* calls before those that count */
#define FAR_OUT 8		/* times the median */

/* The finest clock there is, which suffers least from what happened just before; in units of its own. */
static inline uint64_t ticks(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#else
	return clock_ns(CLOCK_MONOTONIC);
#endif
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

uint64_t burst_typical(uint64_t *ns, unsigned int nr)
{
	uint64_t sum = 0, limit;
	unsigned int used = 0;

	qsort(ns, nr, sizeof(*ns), by_value);
	limit = nr ? ns[nr / 2] * FAR_OUT : 0;
	while (used < nr && ns[used] <= limit)
		sum += ns[used++];
	return used ? sum / used : 0;
}

/* Calls of the twin, each after one of its unprobed like. */
struct measuring {
	struct burst *b;
	twin_fn twin;
	uint64_t period_ns;
	uint64_t with[BURST_CALLS], without[BURST_CALLS];	/* ticks, then ns */
};

/* What a caller does next: the kernel leaves it a processor that has to find its way in the program again. */
static void go_on(void)
{
	for (unsigned int i = 0; i < 512; i++)
		__asm__ volatile("" : "+r"(i));
}

static void measure(void *arg)
{
	static const char text[] __attribute__((aligned(64))) = "div.menu > a.current";
	struct measuring *m = arg;
	struct burst *b = m->b;
	unsigned int exit;
	twin_fn plain = twin_of(b->class & COST_KIND, TWINS, &exit);
	uint64_t start = clock_ns(CLOCK_MONOTONIC), last = start, now, t0, t1, t2, first_tick = ticks();
	double ns;

	for (unsigned int i = 0; b->nr < BURST_CALLS; i++) {
		do
			now = clock_ns(CLOCK_MONOTONIC);
		while (now - last < m->period_ns);
		last = now;
		if (i == WARM_UP)
			b->begin_ns = now;
		else if (now - start > BURST_NS && b->nr >= CALLS_MIN)
			break;
		/* the plain one first: what follows a probed call is slower for a while, which is part of what that costs */
		t0 = ticks();
		plain(text, i);
		go_on();
		t1 = ticks();
		m->twin(text, i);
		go_on();
		t2 = ticks();
		if (i < WARM_UP)
			continue;
		m->without[b->nr] = t1 - t0;
		m->with[b->nr++] = t2 - t1;
	}
	b->end_ns = clock_ns(CLOCK_MONOTONIC);
	ns = (double)(b->end_ns - start) / (ticks() - first_tick ?: 1);
	for (unsigned int i = 0; i < b->nr; i++) {
		m->with[i] = m->with[i] * ns;
		m->without[i] = m->without[i] * ns;
	}
}

void burst_run(struct burst *b, twin_fn twin, twin_caller_fn caller, uint64_t period_ns)
{
	struct measuring m = { .b = b, .twin = twin, .period_ns = period_ns };
	uint64_t all, plain;

	if (caller)
		caller(measure, &m);
	else
		measure(&m);
	all = burst_typical(m.with, b->nr);
	plain = burst_typical(m.without, b->nr);
	b->wall_ns = all > plain ? all - plain : 0;
	b->spread_ns = (m.with[b->nr * 3 / 4] - m.with[b->nr / 4]) / 2;
}
