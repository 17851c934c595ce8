// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Loads calibration's probe, and keeps stop and go of the processes it hits in order. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include "capture/attach.h"
#include "calibrate/snoop.h"
#include "snoop.skel.h"

#define STOP_MS 2000	/* after which a process counts as not stopping */
#define MAX_STOPPED 64

struct snoop {
	struct snoop_bpf_skel *skel;
	struct ring_buffer *ring;
	struct bpf_link *links[SNOOP_MAX_SITES];	/* or: */
	int multi;		/* one link for all; -1: none. To take away a hundred of the others takes 10 s */
	size_t nr;
	snoop_fn fn;
	void *arg;
	pid_t stopped[MAX_STOPPED];
	size_t nr_stopped;
};

static int print_debug(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	return level == LIBBPF_DEBUG ? 0 : vfprintf(stderr, fmt, ap);
}

/* The state letter of a thread; 0 if it is gone. */
static char thread_state(pid_t tgid, const char *tid)
{
	char path[64], text[512], *end;
	FILE *f;
	size_t n;

	snprintf(path, sizeof(path), "/proc/%d/task/%.16s/stat", tgid, tid);
	f = fopen(path, "re");
	if (!f)
		return 0;
	n = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	text[n] = '\0';
	end = strrchr(text, ')');
	return end && end[1] == ' ' ? end[2] : 0;
}

static bool all_stopped(pid_t tgid)
{
	struct dirent *e;
	bool stopped = true;
	char path[32];
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/task", tgid);
	d = opendir(path);
	while (d && stopped && (e = readdir(d))) {
		char state = e->d_name[0] == '.' ? 'T' : thread_state(tgid, e->d_name);

		stopped = !state || strchr("TtZX", state);
	}
	if (d)
		closedir(d);
	return d && stopped;
}

static bool wait_stopped(pid_t tgid)
{
	const struct timespec pause = { .tv_nsec = 200000 };

	for (int i = 0; i < STOP_MS * 5; i++) {
		if (all_stopped(tgid))
			return true;
		if (kill(tgid, 0))
			return false;
		nanosleep(&pause, NULL);
	}
	return false;
}

static int on_hit(void *arg, void *data, size_t size)
{
	const struct snoop_hit *hit = data;
	struct snoop *s = arg;
	size_t i = 0;

	if (size < sizeof(*hit) || hit->site >= s->nr)
		return 0;
	while (i < s->nr_stopped && s->stopped[i] != (pid_t)hit->tgid)
		i++;
	if (i == MAX_STOPPED) {
		kill(hit->tgid, SIGCONT);
		return 0;
	}
	if (i == s->nr_stopped)
		s->stopped[s->nr_stopped++] = hit->tgid;
	if (wait_stopped(hit->tgid))
		s->fn(s->arg, hit);
	return 0;
}

int snoop_handle(struct snoop *s)
{
	int rc = ring_buffer__consume(s->ring);

	for (size_t i = 0; i < s->nr_stopped; i++)
		kill(s->stopped[i], SIGCONT);
	s->nr_stopped = 0;
	return rc < 0 ? rc : 0;
}

int snoop_fd(const struct snoop *s)
{
	return ring_buffer__epoll_fd(s->ring);
}

void snoop_budget(struct snoop *s, int hits)
{
	for (size_t i = 0; i < s->nr; i++)
		snoop_budget_of(s, i, hits);
}

void snoop_budget_of(struct snoop *s, size_t site, int hits)
{
	if (site < s->nr)
		s->skel->bss->budget[site] = hits;
}

void snoop_again(struct snoop *s, size_t site)
{
	if (site < s->nr)
		s->skel->bss->budget[site]++;
}

void snoop_spare(struct snoop *s, pid_t pid)
{
	s->skel->bss->spared_tgid = pid;
}

uint64_t snoop_calls(const struct snoop *s, size_t site)
{
	return site < s->nr ? s->skel->bss->calls[site] : 0;
}

static int load(struct snoop *s, bool multi)
{
	s->skel = snoop_bpf_skel__open();
	if (!s->skel)
		return -errno;
	bpf_program__set_expected_attach_type(s->skel->progs.snoop_call, multi ? TRACE_UPROBE_MULTI : 0);
	if (!snoop_bpf_skel__load(s->skel))
		return 0;
	snoop_bpf_skel__destroy(s->skel);
	s->skel = NULL;
	return -errno;
}

/* All at once, where the kernel can; else one by one, without those that it refuses. How many sit. */
static size_t attach_all(struct snoop *s, const char *path, const uint64_t *offsets)
{
	struct attach_site sites[SNOOP_MAX_SITES];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t attached = 0;

	for (size_t i = 0; i < s->nr; i++)
		sites[i] = (struct attach_site){ .offset = offsets[i], .cookie = i };
	if (fd >= 0 && !load(s, true))
		s->multi = attach_multi(bpf_program__fd(s->skel->progs.snoop_call), fd, sites, s->nr);
	if (fd >= 0)
		close(fd);
	if (s->multi >= 0)
		return s->nr;
	snoop_bpf_skel__destroy(s->skel);
	s->skel = NULL;
	if (load(s, false))
		return 0;
	for (size_t i = 0; i < s->nr; i++) {
		LIBBPF_OPTS(bpf_uprobe_opts, opts, .bpf_cookie = i);

		s->links[i] = bpf_program__attach_uprobe_opts(s->skel->progs.snoop_call, -1, path, offsets[i], &opts);
		attached += s->links[i] != NULL;
	}
	return attached;
}

int snoop_open(const char *path, const uint64_t *offsets, size_t nr, pid_t root, snoop_fn fn, void *arg,
	       struct snoop **ret, struct error *err)
{
	struct snoop *s = calloc(1, sizeof(*s));
	int rc = 0;

	if (!s)
		return error_set(err, ERR_OTHER, -ENOMEM, "out of memory");
	s->fn = fn;
	s->arg = arg;
	s->multi = -1;
	s->nr = nr < SNOOP_MAX_SITES ? nr : SNOOP_MAX_SITES;
	libbpf_set_print(getenv("FRAMESCOPE_DEBUG") ? print_debug : NULL);
	errno = 0;
	if (!attach_all(s, path, offsets)) {
		if (errno == EPERM)
			rc = error_set(err, ERR_PERMISSION, -EPERM, "the kernel does not let us load BPF programs; run it with sudo on "
				       "the host");
		else if (!s->skel)
			rc = error_set(err, ERR_KERNEL, -errno, "this kernel can't run calibration's program (%s); FRAMESCOPE_DEBUG=1 "
				       "shows what it says", strerror(errno));
		else
			rc = error_set(err, ERR_KERNEL, -errno, "the kernel refuses all probes on %s: %s", path, strerror(errno));
	}
	if (!rc) {
		s->ring = ring_buffer__new(bpf_map__fd(s->skel->maps.hits), on_hit, s, NULL);
		if (!s->ring)
			rc = error_set(err, ERR_OTHER, -errno, "can't map the ring buffer: %s", strerror(errno));
	}
	if (rc) {
		snoop_close(s);
		return rc;
	}
	s->skel->bss->root_tgid = root;
	*ret = s;
	return 0;
}

void snoop_close(struct snoop *s)
{
	if (!s)
		return;
	if (s->skel)
		s->skel->bss->root_tgid = 0;
	if (s->ring)
		snoop_handle(s);
	for (size_t i = 0; i < s->nr; i++)
		if (s->links[i])
			bpf_link__destroy(s->links[i]);
	if (s->multi >= 0)
		close(s->multi);
	ring_buffer__free(s->ring);
	snoop_bpf_skel__destroy(s->skel);
	free(s);
}
