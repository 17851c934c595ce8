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
#include <time.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include "capture/calibrate.h"
#include "capture/twin.h"
#include "wire.h"

#define CALLS_MAX 60		/* of one burst, */
#define CALLS_MIN 12		/* and fewer where they take long: */
#define BURST_NS 200000
#define FAR_OUT 8		/* times the median */
#define WARM_UP 3		/* calls before those that count */
#define EVERY_NS 50000000ull
#define SHARE 300		/* times a burst's own time until the next one: 0.3 % */
#define FIRST_ROUNDS 2		/* bursts of each class at once */
#define ONLY_ROUNDS 9		/* the same if there are to be no others */
#define IDLE_NS 1000000000ull	/* every class is measured as often as this, whatever the target calls */
#define PERIOD_MAX_NS 20000	/* calls farther apart don't cost much more, and it would take too long */
#define PERIOD_FIRST_NS 3000	/* until it is known */
#define LATE_NS 100000000ull	/* after a burst, its records have come or never will */
#define BURSTS 8		/* that wait for their records, */
#define SAMPLES 512		/* and calls that wait for their burst's end: powers of two */
#define POWERS 32
#define FIRST_ROW (RECORD_MAX_PROBES - COST_CLASSES)
#define CALLER_ROW (FIRST_ROW + (COST_TEXT | COST_ARGS))	/* no class: it is one or the other */

struct burst {
	unsigned int class;
	uint64_t begin_ns, end_ns;
	unsigned int nr;		/* calls that count */
	uint64_t wall_ns, spread_ns;	/* what probing added to one, and half its quartiles' distance */
};

/* A twin's call, from its record. */
struct sample {
	uint64_t begin_ns, inner_ns;
};

struct calibration {
	const struct loaded *l;
	struct links *links;
	const struct probe_table *table;
	twin_fn twin[COST_CLASSES];	/* attached */
	bool tried[COST_CLASSES];
	twin_caller_fn caller;		/* the same; they are called from it */
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
	/* what the target's records show; plain words, a torn or late one does no harm */
	volatile uint32_t last_tid, calls[COST_CLASSES], period_ns;
	uint64_t last_ns;
	uint32_t periods[POWERS], nr_periods;	/* by their logarithm */
	uint64_t cost_ns[COST_CLASSES];	/* as last written */
};

static uint64_t now_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/*
 * Sorts them. What many calls cost is their mean times their number, and costs are skewed, by interrupts for one: the
 * median would be some 5 % too low. The mean, then, but without calls that were preempted.
 */
static uint64_t typical(uint64_t *v, unsigned int nr)
{
	unsigned int used = 0;
	uint64_t sum = 0;

	qsort(v, nr, sizeof(*v), by_value);
	while (used < nr && v[used] <= v[nr / 2] * FAR_OUT)
		sum += v[used++];
	return used ? sum / used : 0;
}

/* --- the twins --- */

/* Which of the nine of its kind. */
static unsigned int twin_number(unsigned int class)
{
	return (class & COST_MARK ? 6 : class & COST_EXITS ? 3 : 0) + (class & COST_TEXT ? 1 : class & COST_ARGS ? 2 : 0);
}

static void describe(struct probe_spec *spec, unsigned int class, bool opener)
{
	const struct arg_spec text = { .field = FIELD_LABEL, .kind = KIND_CSTR, .max_bytes = COOKIE_CSTR_MAX };

	memset(spec, 0, sizeof(*spec));
	spec->type = EVENT_GENERIC;
	spec->flags = class & COST_MARK ? PROBE_MARK : class & COST_EXITS ? PROBE_EXITS : 0;
	/* else --only-under would hide it */
	if (opener)
		spec->flags |= PROBE_UNDER;
	if (class & (COST_TEXT | COST_ARGS))
		spec->args[spec->nr_args++] = text;
	if (class & COST_ARGS)
		spec->args[spec->nr_args++] = (struct arg_spec){ .field = FIELD_COUNT, .kind = KIND_INT, .reg = 1 };
}

static void on_refused(void *arg, uint64_t cookie, const char *reason)
{
	bool *refused = arg;

	(void)cookie;
	(void)reason;
	*refused = true;
}

/* The call that the twins' calls stand in. */
static int attach_caller(struct calibration *c)
{
	enum program programs[] = { PROGRAM_RETURN, PROGRAM_BEGIN_RETURN };
	unsigned int nr = c->l->rung == RUNG_SESSION ? 1 : 2;
	twin_caller_fn caller = twin_caller();
	uint32_t row = CALLER_ROW;
	struct attach_site site;
	struct probe_spec spec;
	bool refused = false;
	int fd, rc;

	if (c->caller || !caller || twin_open((const void *)(uintptr_t)caller, &fd, &site.offset))
		return 0;
	describe(&spec, COST_EMULATED, c->l->ctl->only_under);
	site.cookie = table_cookie(row, site.offset, &spec);
	rc = bpf_map_update_elem(c->l->specs_fd, &row, &spec, BPF_ANY) ? -errno : 0;
	if (nr == 1)
		programs[0] = PROGRAM_SESSION;
	for (unsigned int i = 0; i < nr && !rc; i++)
		rc = attach_sites(c->l, c->links, programs[i], fd, &site, 1, on_refused, &refused);
	close(fd);
	if (!rc && !refused)
		c->caller = caller;
	return rc;
}

static int attach_twin(struct calibration *c, unsigned int class)
{
	static const enum program session[] = { PROGRAM_SESSION }, pair[] = { PROGRAM_RETURN, PROGRAM_BEGIN_RETURN },
				  exits[] = { PROGRAM_EXIT, PROGRAM_BEGIN };
	const enum program *programs = class & (COST_MARK | COST_EXITS) ? exits :
				       c->l->rung == RUNG_SESSION ? session : pair;
	unsigned int exit, first = class & COST_MARK ? 1 : 0, nr = programs == session ? 1 : 2;
	twin_fn twin = twin_of(class & COST_KIND, twin_number(class), &exit);
	uint32_t row = FIRST_ROW + class;
	struct attach_site site;
	struct probe_spec spec;
	bool refused = false;
	uint64_t offset;
	int fd, rc;

	if (!twin || twin_open((const void *)(uintptr_t)twin, &fd, &offset))
		return 0;
	describe(&spec, class, c->l->ctl->only_under);
	site.cookie = table_cookie(row, offset, &spec);
	rc = bpf_map_update_elem(c->l->specs_fd, &row, &spec, BPF_ANY) ? -errno : 0;
	for (unsigned int i = first; i < nr && !rc; i++) {
		site.offset = programs[i] == PROGRAM_EXIT ? offset + exit : offset;
		rc = attach_sites(c->l, c->links, programs[i], fd, &site, 1, on_refused, &refused);
	}
	close(fd);
	if (!rc && !refused)
		__atomic_store_n(&c->twin[class], twin, __ATOMIC_RELEASE);
	return rc;
}

int calibrate_attach(struct calibration *c)
{
	int rc = attach_caller(c);

	for (size_t i = 0; i < c->table->nr && !rc; i++) {
		unsigned int class = c->table->plan[i].spec.cost_class;

		if (c->table->plan[i].kind == ATTACH_NONE || class >= COST_CLASSES || c->tried[class])
			continue;
		c->tried[class] = true;
		rc = attach_twin(c, class);
	}
	return rc;
}

bool calibrate_has_twins(const struct calibration *c)
{
	for (unsigned int i = 0; i < COST_CLASSES; i++)
		if (c->twin[i])
			return true;
	return false;
}

/* --- the thread --- */

/* The CPU that the target was on last: it rotates as the target does. */
static void follow_target(struct calibration *c)
{
	char path[40], line[1024], *p;
	int cpu = -1;
	cpu_set_t set;
	FILE *f;

	if (!c->last_tid)
		return;
	snprintf(path, sizeof(path), "/proc/%u/stat", c->last_tid);
	f = fopen(path, "re");
	if (!f)
		return;
	p = fgets(line, sizeof(line), f) ? strrchr(line, ')') : NULL;
	fclose(f);
	/* proc(5): the name is field 2, the processor field 39 */
	for (int field = 2; p && field < 39; field++)
		p = strchr(p + 1, ' ');
	if (p)
		cpu = atoi(p);
	if (cpu < 0 || cpu == c->cpu || cpu >= CPU_SETSIZE || !CPU_ISSET(cpu, &c->allowed))
		return;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (!sched_setaffinity(0, sizeof(set), &set))
		c->cpu = cpu;
}

/* Calls of the twin, each followed by one of its unprobed like, as far apart as the target's. */
struct measuring {
	const struct calibration *c;
	twin_fn twin;
	struct burst *b;
	uint64_t with[CALLS_MAX], without[CALLS_MAX];
};

static void measure(void *arg)
{
	struct measuring *m = arg;
	struct burst *b = m->b;
	static const char text[] __attribute__((aligned(64))) = "div.menu > a.current";
	unsigned int exit, total = CALLS_MAX + WARM_UP;
	twin_fn plain = twin_of(b->class & COST_KIND, TWINS, &exit);
	uint64_t period = m->c->period_ns, start = now_ns(CLOCK_MONOTONIC), last = start, t0, t1, t2;

	for (unsigned int i = 0; i < total; i++) {
		do
			t0 = now_ns(CLOCK_MONOTONIC);
		while (t0 - last < period);
		last = t0;
		if (i == WARM_UP)
			b->begin_ns = t0;
		else if (t0 - start > BURST_NS && i >= CALLS_MIN + WARM_UP)
			break;
		t0 = now_ns(CLOCK_MONOTONIC);
		m->twin(text, i);
		t1 = now_ns(CLOCK_MONOTONIC);
		plain(text, i);
		t2 = now_ns(CLOCK_MONOTONIC);
		if (i < WARM_UP)
			continue;
		m->with[b->nr] = t1 - t0;
		m->without[b->nr++] = t2 - t1;
	}
	b->end_ns = last;
}

static void finish_burst(struct burst *b, uint64_t *with, uint64_t *without)
{
	uint64_t plain = typical(without, b->nr), all = typical(with, b->nr);

	b->wall_ns = all > plain ? all - plain : 0;
	b->spread_ns = (with[b->nr * 3 / 4] - with[b->nr / 4]) / 2;
}

/* Returns the CPU time that it took. */
static uint64_t run_burst(struct calibration *c, unsigned int class, twin_fn twin)
{
	uint64_t cpu = now_ns(CLOCK_THREAD_CPUTIME_ID);
	struct burst b = { .class = class };
	struct measuring m = { .c = c, .twin = twin, .b = &b };

	follow_target(c);
	if (c->caller)
		c->caller(measure, &m);
	else
		measure(&m);
	finish_burst(&b, m.with, m.without);
	pthread_mutex_lock(&c->lock);
	/* nobody came for the oldest one */
	if (c->nr_bursts == BURSTS)
		memmove(c->bursts, c->bursts + 1, --c->nr_bursts * sizeof(b));
	c->bursts[c->nr_bursts++] = b;
	pthread_mutex_unlock(&c->lock);
	c->done_ns[class] = b.end_ns;
	return now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
}

/* One that hasn't been measured for long, else that with the most calls since it was; COST_CLASSES: none. */
static unsigned int next_class(struct calibration *c, uint64_t now)
{
	unsigned int best = COST_CLASSES;

	for (unsigned int class = 0; class < COST_CLASSES; class++) {
		if (!__atomic_load_n(&c->twin[class], __ATOMIC_ACQUIRE))
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
static bool wait_ns(struct calibration *c, uint64_t ns)
{
	uint64_t until = now_ns(CLOCK_MONOTONIC) + ns;
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

static void *calibrate_thread(void *arg)
{
	struct calibration *c = arg;
	unsigned int rounds = c->rolling ? FIRST_ROUNDS : ONLY_ROUNDS, class;
	uint64_t took = 0;

	prctl(PR_SET_NAME, "fs-calibrate");
	__atomic_store_n(&c->tid, gettid(), __ATOMIC_RELEASE);
	c->l->ctl->twin_tid = c->tid;
	for (unsigned int i = 0; i < rounds; i++)
		for (class = 0; class < COST_CLASSES; class++) {
			if (!c->twin[class])
				continue;
			took += run_burst(c, class, c->twin[class]);
			if (wait_ns(c, 5000000))
				return NULL;
		}
	while (c->rolling && !wait_ns(c, took * SHARE > EVERY_NS ? took * SHARE : EVERY_NS)) {
		class = next_class(c, now_ns(CLOCK_MONOTONIC));
		took = class < COST_CLASSES ? run_burst(c, class, c->twin[class]) : 0;
	}
	return NULL;
}

int calibrate_begin(struct calibration *c, bool rolling)
{
	sigset_t all, old;
	int rc;

	if (!calibrate_has_twins(c))
		return 0;
	c->rolling = rolling;
	c->stop = false;
	c->nr_bursts = c->nr_samples = 0;
	c->cpu = -1;
	c->last_tid = 0;
	c->period_ns = PERIOD_FIRST_NS;
	memset(c->periods, 0, sizeof(c->periods));
	c->nr_periods = 0;
	if (sched_getaffinity(0, sizeof(c->allowed), &c->allowed))
		CPU_ZERO(&c->allowed);
	/* signals are the main thread's */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	rc = -pthread_create(&c->thread, NULL, calibrate_thread, c);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	c->running = !rc;
	return rc;
}

void calibrate_end(struct calibration *c)
{
	if (!c || !c->running)
		return;
	pthread_mutex_lock(&c->lock);
	c->stop = true;
	pthread_cond_signal(&c->wake);
	pthread_mutex_unlock(&c->lock);
	pthread_join(c->thread, NULL);
	c->running = false;
	c->l->ctl->twin_tid = 0;
}

/* --- the records --- */

/* How far apart a thread's calls begin: the median, by powers of two. */
static void learn_period(struct calibration *c, uint64_t period)
{
	unsigned int at = period ? 63 - __builtin_clzll(period) : 0, sum = 0;

	c->periods[at < POWERS ? at : POWERS - 1]++;
	if (++c->nr_periods < 1024)
		return;
	for (at = 0; at < POWERS && sum + c->periods[at] < c->nr_periods / 2; at++)
		sum += c->periods[at];
	/* somewhere in that power of two */
	period = (1ull << at) + (1ull << at) * (c->nr_periods / 2 - sum) / (c->periods[at] ?: 1);
	c->period_ns = period < PERIOD_MAX_NS ? period : PERIOD_MAX_NS;
	c->nr_periods = 0;
	for (at = 0; at < POWERS; at++)
		c->nr_periods += c->periods[at] /= 2;
}

static void learn(struct calibration *c, const struct rec_header *rec)
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
	if (rec->type != REC_BEGIN && probe < c->table->nr)
		c->calls[c->table->plan[probe].spec.cost_class % COST_CLASSES]++;
}

bool calibrate_take(struct calibration *c, const struct rec_header *rec)
{
	const struct rec_end *end = (const struct rec_end *)rec;

	if (rec->tid != __atomic_load_n(&c->tid, __ATOMIC_RELAXED)) {
		learn(c, rec);
		return false;
	}
	/* one that was interrupted says nothing */
	if (rec->type == REC_END && end->probe >= FIRST_ROW && !end->off_cpu_ns)
		c->samples[c->nr_samples++ % SAMPLES] = (struct sample){ end->begin_ns, end->hdr.ts_ns - end->begin_ns };
	return true;
}

/* Its calls' records that are here. */
static unsigned int find_samples(const struct calibration *c, const struct burst *b, uint64_t *inner_ns)
{
	unsigned int nr = 0;

	for (unsigned int i = 0; i < SAMPLES && nr < CALLS_MAX; i++)
		if (c->samples[i].begin_ns >= b->begin_ns && c->samples[i].begin_ns <= b->end_ns)
			inner_ns[nr++] = c->samples[i].inner_ns;
	return nr;
}

/* -EAGAIN: its records may yet come; -ENODATA: they never will. */
static int settle(const struct calibration *c, const struct burst *b, struct rec_cost *ret)
{
	uint64_t inner_ns[CALLS_MAX], inner = 0;
	unsigned int nr;

	if (!(b->class & COST_MARK)) {
		nr = find_samples(c, b, inner_ns);
		if (nr < b->nr && now_ns(CLOCK_MONOTONIC) - b->end_ns < LATE_NS)
			return -EAGAIN;
		if (nr < b->nr / 2)
			return -ENODATA;
		inner = typical(inner_ns, nr);
	}
	*ret = (struct rec_cost){
		.hdr = { .type = REC_COST, .size = sizeof(*ret), .ts_ns = b->begin_ns + (b->end_ns - b->begin_ns) / 2 },
		.cost_class = b->class, .samples = b->nr, .inner_ns = inner,
		.outer_ns = b->wall_ns > inner ? b->wall_ns - inner : 0, .spread_ns = b->spread_ns,
	};
	return 0;
}

int calibrate_write(struct calibration *c, struct recording_writer *w)
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

uint64_t calibrate_cost_ns(const struct calibration *c, unsigned int class)
{
	return class < COST_CLASSES ? c->cost_ns[class] : 0;
}

/* --- the whole --- */

int calibrate_open(const struct loaded *l, struct links *links, const struct probe_table *table, struct calibration **ret)
{
	struct calibration *c = calloc(1, sizeof(*c));
	pthread_condattr_t attr;

	if (!c)
		return -ENOMEM;
	c->l = l;
	c->links = links;
	c->table = table;
	pthread_mutex_init(&c->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&c->wake, &attr);
	pthread_condattr_destroy(&attr);
	*ret = c;
	return 0;
}

void calibrate_close(struct calibration *c)
{
	if (!c)
		return;
	calibrate_end(c);
	pthread_cond_destroy(&c->wake);
	pthread_mutex_destroy(&c->lock);
	free(c);
}
