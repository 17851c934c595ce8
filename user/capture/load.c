// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Loading: which programs, with which constants, on which rung. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include "capture/direct_map.h"
#include "capture/attach.h"
#include "capture/load.h"
#include "programs.skel.h"
#include "programs_counters.skel.h"

#define SLOTS_MIN 512

static const char *const rung_options[] = { "session", "multi", "links" };

const char *rung_name(enum rung r)
{
	static const char *const names[] = { "uprobe.session", "uprobe.multi", "perf links" };

	return r < RUNG_END ? names[r] : "none";
}

struct bpf_program *load_program(const struct loaded *l, enum program p)
{
	switch (p) {
	case PROGRAM_SESSION:
		return l->skel->progs.fs_session;
	case PROGRAM_BEGIN_RETURN:
		return l->skel->progs.fs_begin_return;
	case PROGRAM_RETURN:
		return l->skel->progs.fs_return;
	case PROGRAM_BEGIN:
		return l->skel->progs.fs_begin;
	case PROGRAM_EXIT:
		return l->skel->progs.fs_exit;
	}
	return NULL;
}

int load_program_fd(const struct loaded *l, enum program p)
{
	return bpf_program__fd(load_program(l, p));
}

/* Library code is silent; FRAMESCOPE_DEBUG shows what libbpf and the verifier have to say. */
static int print_debug(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	return level == LIBBPF_DEBUG ? 0 : vfprintf(stderr, fmt, ap);
}

static void set_program(struct bpf_program *p, bool wanted, int attach_type, bool sleepable)
{
	bpf_program__set_autoload(p, wanted);
	bpf_program__set_expected_attach_type(p, attach_type);
	/* not by their section's name, which libbpf would not let us take back */
	if (sleepable)
		bpf_program__set_flags(p, bpf_program__flags(p) | BPF_F_SLEEPABLE);
}

/* Both builds have the same maps and programs, so one kind of skeleton does for both. */
static struct programs *open_programs(bool counters)
{
	struct programs *s = calloc(1, sizeof(*s));
	size_t size;

	if (!s || programs__create_skeleton(s)) {
		free(s);
		errno = ENOMEM;
		return NULL;
	}
	if (counters) {
		s->skeleton->data = (void *)programs_counters__elf_bytes(&size);
		s->skeleton->data_sz = size;
	}
	if (bpf_object__open_skeleton(s->skeleton, NULL)) {
		programs__destroy(s);
		return NULL;
	}
	return s;
}

static void set_metrics(struct programs *s, const struct metrics *m, size_t slots)
{
	s->rodata->nr_metrics = m->nr;
	s->rodata->nr_counters = m->nr_counters;
	s->rodata->nr_cpus = m->nr_cpus;
	memcpy((void *)s->rodata->metric_kinds, m->kinds, sizeof(m->kinds));
	if (m->nr)
		bpf_map__set_max_entries(s->maps.metric_values, slots * RECORD_MAX_DEPTH);
	if (m->nr_counters)
		bpf_map__set_max_entries(s->maps.counters, m->nr_counters * m->nr_cpus);
}

static int set_counters(struct programs *s, const struct metrics *m)
{
	for (__u32 i = 0; i < m->nr_counters * m->nr_cpus; i++)
		if (m->fds[i] >= 0 && bpf_map_update_elem(bpf_map__fd(s->maps.counters), &i, &m->fds[i], BPF_ANY))
			return -errno;
	return 0;
}

static int load_one(const struct load_options *opt, enum rung rung, bool sleepable, bool can_walk, struct loaded *ret)
{
	struct loaded l = { .rung = rung, .sleepable = sleepable, .ncpus = libbpf_num_possible_cpus() };
	int multi = rung == RUNG_LINKS ? 0 : TRACE_UPROBE_MULTI;
	struct programs *s = open_programs(opt->metrics->nr_counters);
	size_t slots = SLOTS_MIN;
	int rc;

	if (!s)
		return -errno;
	l.skel = s;
	while (slots < opt->threads * 4 && slots < SLOTS_MAX)
		slots *= 2;
	set_program(s->progs.fs_session, rung == RUNG_SESSION, TRACE_UPROBE_SESSION, sleepable);
	set_program(s->progs.fs_begin_return, rung != RUNG_SESSION, multi, sleepable);
	set_program(s->progs.fs_return, rung != RUNG_SESSION, multi, sleepable);
	set_program(s->progs.fs_begin, true, multi, sleepable);
	set_program(s->progs.fs_exit, true, multi, sleepable);
	s->rodata->sleepable = sleepable;
	s->rodata->can_walk = can_walk;
	bpf_program__set_autoload(s->progs.fs_find_map, can_walk);
	bpf_program__set_autoload(s->progs.fs_check_map, can_walk);
	s->rodata->ring_bytes = opt->ring_bytes;
	if (opt->ring_bytes / 16 < s->rodata->buf_full)
		s->rodata->buf_full = opt->ring_bytes / 16;
	s->rodata->nr_probes = opt->max_probes;
	set_metrics(s, opt->metrics, slots);
	s->rodata->nr_buckets = slots / BUCKET_SLOTS;
	s->rodata->nr_sum_rows = opt->aggregates ? SUM_ROWS : 1;
	bpf_map__set_max_entries(s->maps.sums, s->rodata->nr_sum_rows);
	bpf_map__set_max_entries(s->maps.threads, slots);
	bpf_map__set_max_entries(s->maps.ring, opt->ring_bytes);
	bpf_map__set_max_entries(s->maps.specs, opt->max_probes);
	bpf_map__set_max_entries(s->maps.stats, opt->max_probes);
	rc = programs__load(s);
	if (!rc)
		rc = set_counters(s, opt->metrics);
	if (rc) {
		programs__destroy(s);
		return rc;
	}
	l.ctl = &s->bss->ctl;
	if (can_walk)
		direct_map_find(bpf_program__fd(s->progs.fs_find_map), bpf_program__fd(s->progs.fs_check_map), l.ctl);
	l.ring_fd = bpf_map__fd(s->maps.ring);
	l.targets_fd = bpf_map__fd(s->maps.targets);
	l.specs_fd = bpf_map__fd(s->maps.specs);
	l.stats_fd = bpf_map__fd(s->maps.stats);
	*ret = l;
	return 0;
}

static int explain(int rc, const char *rung, struct error *err)
{
	if (rc == -EPERM)
		return error_set(err, ERR_PERMISSION, rc, "the kernel does not let us load BPF programs (CAP_BPF and "
				 "CAP_PERFMON, in the initial user namespace, are needed); run it with sudo on the host");
	if (rc == -ENOMEM)
		return error_set(err, ERR_OTHER, rc, "the kernel has no memory for the ring buffer and maps; give a "
				 "smaller --buffer");
	if (rung)
		return error_set(err, ERR_KERNEL, rc, "this kernel can't attach by --rung %s (%s); leave the option out and "
				 "the best way that works is taken", rung, strerror(-rc));
	return error_set(err, ERR_KERNEL, rc, "this kernel can't run the programs (%s): 5.17 or later with "
			 "CONFIG_UPROBES, CONFIG_BPF_SYSCALL and BTF is needed; FRAMESCOPE_DEBUG=1 shows what it says",
			 strerror(-rc));
}

int load_programs(const struct load_options *opt, struct loaded *ret, struct error *err)
{
	bool can_walk = direct_map_possible();
	int rc = -EINVAL, only = -1;

	libbpf_set_print(getenv("FRAMESCOPE_DEBUG") ? print_debug : NULL);
	for (int i = 0; opt->rung && i < RUNG_END; i++)
		if (!strcmp(opt->rung, rung_options[i]))
			only = i;
	if (opt->rung && only < 0)
		return error_set(err, ERR_USAGE, -EINVAL, "there is no rung '%s'; session, multi and links are known",
				 opt->rung);
	for (int rung = 0; rung < RUNG_END; rung++) {
		if (only >= 0 && rung != only)
			continue;
		/* sleepable: 6.0 */
		for (int sleepable = !opt->metrics->nr_counters; sleepable >= 0; sleepable--) {
			rc = attach_try(rung, sleepable);
			if (!rc)
				rc = load_one(opt, rung, sleepable, can_walk, ret);
			if (!rc)
				return 0;
			if (rc == -ENOMEM || rc == -EPERM)
				return explain(rc, opt->rung, err);
		}
	}
	return explain(rc, opt->rung, err);
}

void load_free(struct loaded *l)
{
	programs__destroy(l->skel);
	memset(l, 0, sizeof(*l));
}

int load_attach_followers(struct loaded *l, struct error *err)
{
	struct programs *s = l->skel;
	struct {
		struct bpf_program *prog;
		struct bpf_link **link;
	} all[] = {
		{ s->progs.fs_fork, &s->links.fs_fork }, { s->progs.fs_exec, &s->links.fs_exec },
		{ s->progs.fs_task_exit, &s->links.fs_task_exit }, { s->progs.fs_rename, &s->links.fs_rename },
		{ s->progs.fs_switch, &s->links.fs_switch },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		*all[i].link = bpf_program__attach(all[i].prog);
		if (!*all[i].link)
			return error_set(err, ERR_KERNEL, -errno, "this kernel does not let us watch its scheduler (%s: %s); "
					 "one with BPF trampolines is needed", bpf_program__name(all[i].prog),
					 strerror(errno));
	}
	return 0;
}

int load_close_calls(struct loaded *l, uint32_t epoch, uint64_t now_ns)
{
	struct bpf_link *link;
	char buf[64];
	int fd, rc = 0;

	l->ctl->now_ns = now_ns;
	l->ctl->closing = epoch;
	link = bpf_program__attach_iter(l->skel->progs.fs_close, NULL);
	if (!link)
		return -errno;
	fd = bpf_iter_create(bpf_link__fd(link));
	if (fd < 0) {
		rc = -errno;
	} else {
		/* the program writes nothing: reading is what makes it visit every task */
		while (read(fd, buf, sizeof(buf)) > 0)
			;
		close(fd);
	}
	bpf_link__destroy(link);
	l->ctl->closing = 0;
	return rc;
}

int load_read_stats(const struct loaded *l, uint32_t probe, struct probe_stats *ret)
{
	struct probe_stats *all = calloc(l->ncpus, sizeof(*all));
	uint64_t *sum = (uint64_t *)ret;
	int rc;

	if (!all)
		return -ENOMEM;
	rc = bpf_map_lookup_elem(l->stats_fd, &probe, all);
	memset(ret, 0, sizeof(*ret));
	for (int cpu = 0; !rc && cpu < l->ncpus; cpu++) {
		const uint64_t *one = (const uint64_t *)&all[cpu];

		for (size_t i = 0; i < sizeof(*ret) / sizeof(*sum); i++)
			sum[i] += one[i];
	}
	free(all);
	return rc ? -errno : 0;
}
