// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Measuring what a probed call costs, all the time. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>
#include "base/clock.h"
#include "capture/burst.h"
#include "capture/overhead.h"
#include "capture/twins.h"
#include "wire.h"

#define EVERY_NS 10000000ull	/* bursts at most, */
#define SHARE 220		/* and so many times what the last one took, sleeping and waking up included: 0.45 % */
#define NOTHING_NS 50000000ull	/* looks for calls while there are none */
#define FIRST_ROUNDS 6		/* bursts of each class at once */
#define ONLY_ROUNDS 24		/* the same if there are to be no others */
#define IDLE_NS 1000000000ull	/* every class is measured as often as this, whatever the target calls */
#define PERIOD_MAX_NS 20000	/* calls farther apart don't cost much more, and it would take too long */
#define PERIOD_FIRST_NS 3000	/* until it is known */
#define LATE_NS 100000000ull	/* after a burst, its records have come or never will */
#define BURSTS 32		/* that wait for their records, */
#define SAMPLES 1024		/* and calls that wait for their burst's end: powers of two */
#define PERIODS 128		/* four to an octave */

/* A twin's call, from its record. */
struct sample {
	uint64_t begin_ns, inner_ns, read_ns;
};

struct overhead_meter {
	struct twins twins;
	/* of the thread, which the others only look at */
	pthread_t thread;
	bool running, rolling, stop;
	uint32_t tid;
	uint64_t done_ns[COST_CLASSES];	/* last burst */
	int cpu;			/* pinned to; -1: not yet */
	cpu_set_t allowed;
	pthread_mutex_t lock;		/* of stop and finished bursts */
	pthread_cond_t wake;
	struct burst bursts[BURSTS];
	unsigned int nr_bursts;
	struct sample samples[SAMPLES];	/* the newest */
	unsigned int nr_samples;
	uint64_t begin_ns, read_ns;	/* of the twin's call that began last */
	/* what the target's records show; plain words, a torn or late one does no harm */
	volatile uint32_t last_tid, calls[COST_CLASSES], period_ns;
	uint64_t last_ns;
	uint32_t periods[PERIODS], nr_periods;	/* by their logarithm */
	uint64_t cost_ns[COST_CLASSES];	/* as last written */
};

int overhead_attach(struct overhead_meter *c)
{
	return twins_attach(&c->twins);
}

bool overhead_has_twins(const struct overhead_meter *c)
{
	for (unsigned int i = 0; i < COST_CLASSES; i++)
		if (c->twins.fn[i])
			return true;
	return false;
}

/* --- the thread --- */

/* To the CPU that the target was on last: it rotates as the target does. */
static void follow_target(struct overhead_meter *c)
{
	unsigned int cpu = c->twins.l->ctl->cpu;
	cpu_set_t set;

	if (cpu == (unsigned int)c->cpu || cpu >= CPU_SETSIZE || !CPU_ISSET(cpu, &c->allowed))
		return;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (!sched_setaffinity(0, sizeof(set), &set))
		c->cpu = cpu;
}

static void run_burst(struct overhead_meter *c, unsigned int class, twin_fn twin)
{
	struct burst b = { .class = class };

	follow_target(c);
	burst_run(&b, twin, c->twins.caller, c->period_ns);
	pthread_mutex_lock(&c->lock);
	/* nobody came for the oldest one */
	if (c->nr_bursts == BURSTS)
		memmove(c->bursts, c->bursts + 1, --c->nr_bursts * sizeof(b));
	c->bursts[c->nr_bursts++] = b;
	pthread_mutex_unlock(&c->lock);
	c->done_ns[class] = b.end_ns;
}

/* One that hasn't been measured for long, else that with the most calls since it was; COST_CLASSES: none. */
static unsigned int next_class(struct overhead_meter *c, uint64_t now)
{
	unsigned int best = COST_CLASSES;

	for (unsigned int class = 0; class < COST_CLASSES; class++) {
		if (!__atomic_load_n(&c->twins.fn[class], __ATOMIC_ACQUIRE))
			continue;
		if (now - c->done_ns[class] >= IDLE_NS) {
			best = class;
			break;
		}
		if (c->calls[class] && (best == COST_CLASSES || c->calls[class] > c->calls[best]))
			best = class;
	}
	if (best < COST_CLASSES)
		c->calls[best] = 0;
	return best;
}

/* True: to be ended. */
static bool wait_ns(struct overhead_meter *c, uint64_t ns)
{
	uint64_t until = clock_ns(CLOCK_MONOTONIC) + ns;
	struct timespec ts = { .tv_sec = until / 1000000000, .tv_nsec = until % 1000000000 };
	bool stop;
	int rc = 0;

	pthread_mutex_lock(&c->lock);
	while (!c->stop && rc != ETIMEDOUT)
		rc = pthread_cond_timedwait(&c->wake, &c->lock, &ts);
	stop = c->stop;
	pthread_mutex_unlock(&c->lock);
	return stop;
}

/* True: to be ended. */
static bool first_bursts(struct overhead_meter *c)
{
	for (unsigned int i = 0; i < (c->rolling ? FIRST_ROUNDS : ONLY_ROUNDS); i++) {
		for (unsigned int class = 0; class < COST_CLASSES; class++) {
			if (!c->twins.fn[class])
				continue;
			run_burst(c, class, c->twins.fn[class]);
			if (wait_ns(c, 5000000))
				return true;
		}
	}
	return false;
}

/* Until the next burst, by what the last one has cost: *cpu_ns is the thread's CPU time when that was asked before. */
static uint64_t pause_ns(bool measured, uint64_t *cpu_ns)
{
	uint64_t cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID), took = cpu - *cpu_ns;

	*cpu_ns = cpu;
	if (!measured)
		return NOTHING_NS;
	return took * SHARE > EVERY_NS ? took * SHARE : EVERY_NS;
}

static void *overhead_thread(void *arg)
{
	struct overhead_meter *c = arg;
	bool measured = true;
	uint64_t cpu_ns, now;
	unsigned int class;

	prctl(PR_SET_NAME, "fs-calibrate");
	__atomic_store_n(&c->tid, gettid(), __ATOMIC_RELEASE);
	c->twins.l->ctl->twin_tid = c->tid;
	if (first_bursts(c))
		return NULL;
	cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	while (c->rolling && !wait_ns(c, pause_ns(measured, &cpu_ns))) {
		now = clock_ns(CLOCK_MONOTONIC);
		class = next_class(c, now);
		measured = class < COST_CLASSES;
		if (measured)
			run_burst(c, class, c->twins.fn[class]);
	}
	return NULL;
}

int overhead_begin(struct overhead_meter *c, bool rolling)
{
	sigset_t all, old;
	int rc;

	if (!overhead_has_twins(c))
		return 0;
	c->rolling = rolling;
	c->stop = false;
	c->nr_bursts = c->nr_samples = 0;
	c->cpu = -1;
	c->twins.l->ctl->cpu = UINT32_MAX;
	c->last_tid = 0;
	c->period_ns = PERIOD_FIRST_NS;
	memset(c->periods, 0, sizeof(c->periods));
	c->nr_periods = 0;
	if (sched_getaffinity(0, sizeof(c->allowed), &c->allowed))
		CPU_ZERO(&c->allowed);
	/* signals are the main thread's */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	rc = -pthread_create(&c->thread, NULL, overhead_thread, c);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	c->running = !rc;
	return rc;
}

void overhead_end(struct overhead_meter *c)
{
	if (!c || !c->running)
		return;
	pthread_mutex_lock(&c->lock);
	c->stop = true;
	pthread_cond_signal(&c->wake);
	pthread_mutex_unlock(&c->lock);
	pthread_join(c->thread, NULL);
	c->running = false;
	c->twins.l->ctl->twin_tid = 0;
}

/* --- the records --- */

/* How far apart a thread's calls begin: the median. */
static void learn_period(struct overhead_meter *c, uint64_t period)
{
	unsigned int octave = period > 7 ? 63 - __builtin_clzll(period) : 3, at = octave * 4 + (period >> (octave - 2) & 3);
	unsigned int sum = 0;

	c->periods[at < PERIODS ? at : PERIODS - 1]++;
	if (++c->nr_periods < 1024)
		return;
	for (at = 0; at < PERIODS - 1 && sum + c->periods[at] < c->nr_periods / 2; at++)
		sum += c->periods[at];
	/* the middle of that quarter of an octave */
	period = at < 16 ? 0 : (9 + 2 * (at & 3)) * (1ull << (at / 4 - 3));
	c->period_ns = period < PERIOD_MAX_NS ? period : PERIOD_MAX_NS;
	c->nr_periods = 0;
	for (at = 0; at < PERIODS; at++)
		c->nr_periods += c->periods[at] /= 2;
}

static void learn(struct overhead_meter *c, const struct rec_header *rec)
{
	uint32_t probe;

	if (rec->type == REC_END)
		probe = ((const struct rec_end *)rec)->probe;
	else if (rec->type == REC_BEGIN || rec->type == REC_MARK)
		probe = ((const struct rec_begin *)rec)->probe;
	else
		return;
	if (rec->type == REC_BEGIN) {
		if (rec->tid == c->last_tid && rec->ts_ns > c->last_ns)
			learn_period(c, rec->ts_ns - c->last_ns);
		c->last_tid = rec->tid;
		c->last_ns = rec->ts_ns;
	}
	if (rec->type != REC_BEGIN && probe < c->twins.table->nr)
		c->calls[c->twins.table->plan[probe].spec.cost_class % COST_CLASSES]++;
}

bool overhead_take(struct overhead_meter *c, const struct rec_header *rec)
{
	const struct rec_begin *begin = (const struct rec_begin *)rec;
	const struct rec_end *end = (const struct rec_end *)rec;
	struct sample s = { .begin_ns = rec->ts_ns };

	if (rec->tid != __atomic_load_n(&c->tid, __ATOMIC_RELAXED)) {
		learn(c, rec);
		return false;
	}
	if (rec->type == REC_BEGIN) {
		c->begin_ns = rec->ts_ns;
		c->read_ns = begin->read_ns;
		return true;
	}
	if (rec->type == REC_MARK) {
		s.read_ns = begin->read_ns;
	} else {
		/* one that was interrupted, or sent the buffer, says nothing */
		if (rec->type != REC_END || end->probe < TWINS_ROW || end->off_cpu_ns || end->measured_ns)
			return true;
		s.begin_ns = end->begin_ns;
		s.inner_ns = rec->ts_ns - end->begin_ns;
		s.read_ns = end->begin_ns == c->begin_ns ? c->read_ns : 0;
	}
	c->samples[c->nr_samples++ % SAMPLES] = s;
	return true;
}

/* Its calls' records that are here. */
static unsigned int find_samples(const struct overhead_meter *c, const struct burst *b, uint64_t *inner_ns,
				 uint64_t *read_ns)
{
	unsigned int nr = 0;

	for (unsigned int i = 0; i < SAMPLES && nr < BURST_CALLS; i++)
		if (c->samples[i].begin_ns >= b->begin_ns && c->samples[i].begin_ns <= b->end_ns) {
			inner_ns[nr] = c->samples[i].inner_ns;
			read_ns[nr++] = c->samples[i].read_ns;
		}
	return nr;
}

/* -EAGAIN: its records may yet come; -ENODATA: they never will. */
static int settle(const struct overhead_meter *c, const struct burst *b, struct rec_cost *ret)
{
	uint64_t inner_ns[BURST_CALLS], read_ns[BURST_CALLS], inner, read;
	unsigned int nr = find_samples(c, b, inner_ns, read_ns);

	if (nr < b->nr && clock_ns(CLOCK_MONOTONIC) - b->end_ns < LATE_NS)
		return -EAGAIN;
	if (nr < b->nr / 2)
		return -ENODATA;
	inner = burst_typical(inner_ns, nr);
	/* each call of the target tells its own, whatever it reads */
	read = burst_typical(read_ns, nr);
	*ret = (struct rec_cost){
		.hdr = { .type = REC_COST, .size = sizeof(*ret), .ts_ns = b->begin_ns + (b->end_ns - b->begin_ns) / 2 },
		.cost_class = b->class, .samples = b->nr, .inner_ns = inner,
		.outer_ns = b->wall_ns > inner + read ? b->wall_ns - inner - read : 0, .spread_ns = b->spread_ns,
	};
	return 0;
}

int overhead_write(struct overhead_meter *c, struct recording_writer *w)
{
	struct rec_cost costs[BURSTS];
	unsigned int nr = 0;
	int rc = 0;

	pthread_mutex_lock(&c->lock);
	while (c->nr_bursts) {
		int settled = settle(c, c->bursts, &costs[nr]);

		if (settled == -EAGAIN)
			break;
		nr += !settled;
		memmove(c->bursts, c->bursts + 1, --c->nr_bursts * sizeof(*c->bursts));
	}
	pthread_mutex_unlock(&c->lock);
	for (unsigned int i = 0; i < nr && !rc; i++) {
		c->cost_ns[costs[i].cost_class % COST_CLASSES] = costs[i].inner_ns + costs[i].outer_ns;
		rc = recording_write_record(w, &costs[i].hdr);
	}
	return rc;
}

uint64_t overhead_cost_ns(const struct overhead_meter *c, unsigned int class)
{
	return class < COST_CLASSES ? c->cost_ns[class] : 0;
}

/* --- the whole --- */

int overhead_open(const struct loaded *l, struct links *links, const struct probe_table *table, struct overhead_meter **ret)
{
	struct overhead_meter *c = calloc(1, sizeof(*c));
	pthread_condattr_t attr;

	if (!c)
		return -ENOMEM;
	c->twins = (struct twins){ .l = l, .links = links, .table = table };
	pthread_mutex_init(&c->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&c->wake, &attr);
	pthread_condattr_destroy(&attr);
	*ret = c;
	return 0;
}

void overhead_close(struct overhead_meter *c)
{
	if (!c)
		return;
	overhead_end(c);
	pthread_cond_destroy(&c->wake);
	pthread_mutex_destroy(&c->lock);
	free(c);
}
