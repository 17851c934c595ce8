// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Counters made of what a session knows. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "export/rates.h"
#include "export/shown.h"

struct bucket {
	uint32_t hits[EVENT_TYPE_END];
	bool any, shown;	/* counted since it was told; its last value was not zero */
};

struct rates {
	struct bucket *buckets;	/* per process */
	uint32_t *process_of;	/* per thread */
	size_t nr_procs, nr_threads;
	uint64_t start_ns;	/* of the bucket that is being filled */
	bool open, finished;
	const struct session_cpu *cpu;
	size_t nr_cpu, next_cpu;
	uint32_t *next_of;	/* per CPU reading: the same process's next one, or UINT32_MAX */
};

static int index_cpu(struct rates *r)
{
	uint32_t *last = malloc((r->nr_procs + 1) * sizeof(*last));

	r->next_of = malloc((r->nr_cpu + 1) * sizeof(*r->next_of));
	if (!last || !r->next_of) {
		free(last);
		return -ENOMEM;
	}
	memset(last, 0xff, r->nr_procs * sizeof(*last));
	for (size_t i = r->nr_cpu; i--;) {
		uint32_t p = r->cpu[i].process;

		r->next_of[i] = UINT32_MAX;
		if (p >= r->nr_procs)
			continue;
		r->next_of[i] = last[p];
		last[p] = i;
	}
	free(last);
	return 0;
}

int rates_new(const struct session *s, struct rates **ret)
{
	struct rates *r = calloc(1, sizeof(*r));
	const struct recording_process *procs;
	const struct recording_thread *threads;

	if (!r)
		return -ENOMEM;
	procs = session_processes(s, &r->nr_procs);
	threads = session_threads(s, &r->nr_threads);
	r->cpu = session_cpu(s, &r->nr_cpu);
	r->buckets = calloc(r->nr_procs + 1, sizeof(*r->buckets));
	r->process_of = calloc(r->nr_threads + 1, sizeof(*r->process_of));
	if (!r->buckets || !r->process_of || index_cpu(r)) {
		rates_free(r);
		return -ENOMEM;
	}
	for (size_t i = 0; i < r->nr_threads; i++) {
		r->process_of[i] = r->nr_procs;
		for (size_t k = r->nr_procs; k-- && r->process_of[i] == r->nr_procs;)
			if (procs[k].pid == threads[i].pid)
				r->process_of[i] = k;
	}
	*ret = r;
	return 0;
}

void rates_free(struct rates *r)
{
	if (!r)
		return;
	free(r->buckets);
	free(r->process_of);
	free(r->next_of);
	free(r);
}

uint64_t rates_count(struct rates *r, const struct export_event *e)
{
	struct bucket *b = &r->buckets[r->process_of[e->view.thread]];

	if (!r->open) {
		r->start_ns = e->start_ns - e->start_ns % RATES_BUCKET_NS;
		r->open = true;
	}
	b->any = true;
	b->hits[e->view.type < EVENT_TYPE_END ? e->view.type : 0] += e->view.hits;
	return r->start_ns + RATES_BUCKET_NS;
}

uint64_t rates_next_ns(const struct rates *r)
{
	uint64_t cpu = r->next_cpu < r->nr_cpu ? r->cpu[r->next_cpu].ts_ns : UINT64_MAX;
	uint64_t bucket = UINT64_MAX;

	if (r->open)
		bucket = r->finished ? r->start_ns : r->start_ns + RATES_BUCKET_NS;
	return cpu < bucket ? cpu : bucket;
}

/* Per cent of one CPU from this reading to the next. */
static int tell_cpu(struct rates *r, const struct export_format *format, struct exporter *x)
{
	static const char *const series[] = { "percent" };
	const struct session_cpu *now = &r->cpu[r->next_cpu];
	uint32_t next = r->next_of[r->next_cpu++];
	double value = 0;

	if (!format->counter)
		return 0;
	if (next != UINT32_MAX && r->cpu[next].ts_ns > now->ts_ns && r->cpu[next].cpu_ns > now->cpu_ns)
		value = 100.0 * (r->cpu[next].cpu_ns - now->cpu_ns) / (r->cpu[next].ts_ns - now->ts_ns);
	return format->counter(x, "CPU", now->process, now->ts_ns, series, &value, 1);
}

static int tell_bucket(struct rates *r, const struct export_format *format, struct exporter *x)
{
	const char *series[EVENT_TYPE_END];
	double values[EVENT_TYPE_END];
	int rc = 0;

	for (size_t i = 0; !rc && i <= r->nr_procs; i++) {
		struct bucket *b = &r->buckets[i];
		size_t nr = 0;

		/* a zero is only worth telling after something else */
		if (!b->any && !b->shown)
			continue;
		for (int type = 1; type < EVENT_TYPE_END; type++) {
			if (type == EVENT_PROCESS)
				continue;
			series[nr] = shown_type(type);
			values[nr++] = b->hits[type];
		}
		b->shown = b->any;
		b->any = false;
		memset(b->hits, 0, sizeof(b->hits));
		if (format->counter)
			rc = format->counter(x, "events per 10 ms", i < r->nr_procs ? i : UINT32_MAX, r->start_ns,
					     series, values, nr);
	}
	return rc;
}

int rates_tell(struct rates *r, const struct export_format *format, struct exporter *x)
{
	uint64_t ns = rates_next_ns(r);
	bool shown = false;
	int rc;

	if (r->next_cpu < r->nr_cpu && r->cpu[r->next_cpu].ts_ns <= ns)
		return tell_cpu(r, format, x);
	rc = tell_bucket(r, format, x);
	for (size_t i = 0; i <= r->nr_procs; i++)
		shown |= r->buckets[i].shown;
	/* one more bucket brings the curves back to zero; after that, wait for the next event */
	r->open = shown;
	r->start_ns += RATES_BUCKET_NS;
	return rc;
}

void rates_finish(struct rates *r)
{
	r->finished = true;
}
