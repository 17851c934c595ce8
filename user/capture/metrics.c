// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What events can carry beside time. */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <bpf/libbpf.h>
#include "capture/metrics.h"

/* Those of perf stat, as far as they belong to a thread. */
static const struct known {
	const char *name, *unit;
	uint8_t kind;		/* of the task's own counts; METRIC_COUNTER: of perf, by the two below */
	uint32_t type;
	uint64_t config;
} known[] = {
	{ "page-faults", "count", METRIC_PAGE_FAULTS, 0, 0 },
	{ "minor-faults", "count", METRIC_MINOR_FAULTS, 0, 0 },
	{ "major-faults", "count", METRIC_MAJOR_FAULTS, 0, 0 },
	{ "context-switches", "count", METRIC_CONTEXT_SWITCHES, 0, 0 },
	{ "involuntary-switches", "count", METRIC_INVOLUNTARY_SWITCHES, 0, 0 },
	{ "cpu-migrations", "count", METRIC_MIGRATIONS, 0, 0 },
	{ "cpu-clock", "ns", METRIC_COUNTER, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK },
	{ "instructions", "count", METRIC_COUNTER, PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS },
	{ "cycles", "count", METRIC_COUNTER, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
	{ "cache-references", "count", METRIC_COUNTER, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES },
	{ "cache-misses", "count", METRIC_COUNTER, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES },
	{ "branches", "count", METRIC_COUNTER, PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS },
	{ "branch-misses", "count", METRIC_COUNTER, PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES },
};

#define NR_KNOWN (sizeof(known) / sizeof(known[0]))

static const struct known *find(const char *name)
{
	for (size_t i = 0; i < NR_KNOWN; i++)
		if (!strcmp(known[i].name, name))
			return &known[i];
	return NULL;
}

static int unknown_metric(const char *name, struct error *err)
{
	char list[320] = "";
	size_t n = 0;

	for (size_t i = 0; i < NR_KNOWN; i++)
		n += snprintf(list + n, sizeof(list) - n, "%s%s", i ? ", " : "", known[i].name);
	return error_set(err, ERR_USAGE, -EINVAL, "there is no metric '%.64s'; known are %s", name, list);
}

/* On every CPU that is there. */
static int open_counter(struct metrics *m, const struct known *k, struct error *err)
{
	struct perf_event_attr attr = { .type = k->type, .config = k->config, .size = sizeof(attr) };
	bool any = false;
	int code = 0;

	for (int cpu = 0; cpu < m->nr_cpus; cpu++) {
		int fd = syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

		if (fd < 0)
			code = errno;
		any |= fd >= 0;
		m->fds[m->nr_counters * m->nr_cpus + cpu] = fd;
	}
	m->nr_counters++;
	if (any)
		return 0;
	if (k->type == PERF_TYPE_HARDWARE && (code == ENOENT || code == EOPNOTSUPP || code == EINVAL || code == ENODEV))
		return error_set(err, ERR_KERNEL, -code, "this machine has no counter for '%s', as most virtual ones have none; "
				 "leave it out", k->name);
	if (code == EACCES || code == EPERM)
		return error_set(err, ERR_PERMISSION, -code, "not permitted to count '%s': CAP_PERFMON is needed; run it with "
				 "sudo", k->name);
	return error_set(err, ERR_KERNEL, -code, "can't count '%s': %s", k->name, strerror(code));
}

static bool is_open(const struct metrics *m, const char *name)
{
	for (uint32_t i = 0; i < m->nr; i++)
		if (!strcmp(m->names[i], name))
			return true;
	return false;
}

int metrics_open(const char *const *names, size_t nr, struct metrics *ret, struct error *err)
{
	struct metrics m = { .nr_cpus = libbpf_num_possible_cpus() };
	int rc = 0;

	memset(ret, 0, sizeof(*ret));
	if (nr > RECORD_MAX_METRICS)
		return error_set(err, ERR_USAGE, -EINVAL, "%zu metrics are too many; %d fit into a recording", nr,
				 RECORD_MAX_METRICS);
	m.fds = malloc(sizeof(*m.fds) * m.nr_cpus * (nr ?: 1));
	if (!m.fds)
		return error_set(err, ERR_OTHER, -ENOMEM, "out of memory");
	for (size_t i = 0; i < nr && !rc; i++) {
		const struct known *k = find(names[i]);
		uint32_t at = m.nr;

		if (!k) {
			rc = unknown_metric(names[i], err);
			break;
		}
		/* named twice, counted once */
		if (is_open(&m, k->name))
			continue;
		m.names[at] = k->name;
		m.units[at] = k->unit;
		m.kinds[at] = k->kind == METRIC_COUNTER ? METRIC_COUNTER + m.nr_counters : k->kind;
		m.nr++;
		if (k->kind == METRIC_COUNTER)
			rc = open_counter(&m, k, err);
	}
	if (rc)
		metrics_close(&m);
	else
		*ret = m;
	return rc;
}

void metrics_close(struct metrics *m)
{
	for (size_t i = 0; i < m->nr_counters * m->nr_cpus; i++)
		if (m->fds[i] >= 0)
			close(m->fds[i]);
	free(m->fds);
	memset(m, 0, sizeof(*m));
}
