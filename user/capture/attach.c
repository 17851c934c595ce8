// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Attaching: multi and session links by bpf(2) itself, since libbpf has them from 1.3 and 1.6 only. */
#include <errno.h>
#include <linux/perf_event.h>
#include <linux/types.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include "capture/attach.h"
#include "capture/twin.h"

/* uapi/linux/bpf.h of 6.13, which Debian 12's headers don't have yet. */
#define LINK_CREATE 28
#define UPROBE_MULTI_RETURN 1

#define UPROBE_PMU "/sys/bus/event_source/devices/uprobe/type"

#define KERNEL_ENOTSUPP 524	/* the kernel's own, which strerror() doesn't know */

struct link_create_attr {
	__u32 prog_fd, target_fd, attach_type, flags;
	__u64 path, offsets, ref_ctr_offsets, cookies;
	__u32 cnt, multi_flags, pid, pad;
};

static int links_add(struct links *links, int fd, struct bpf_link *link)
{
	if (links->nr == links->cap) {
		size_t cap = links->cap ? links->cap * 2 : 16;
		struct link *bigger = realloc(links->l, cap * sizeof(*bigger));

		if (!bigger)
			return -ENOMEM;
		links->l = bigger;
		links->cap = cap;
	}
	links->l[links->nr++] = (struct link){ fd, link };
	return 0;
}

void links_free(struct links *links)
{
	for (size_t i = links->nr; i--;) {
		if (links->l[i].link)
			bpf_link__destroy(links->l[i].link);
		else
			close(links->l[i].fd);
	}
	free(links->l);
	memset(links, 0, sizeof(*links));
}

/* A link's descriptor or -errno. */
static int multi_link(int program_fd, enum program program, int fd, const struct attach_site *sites, size_t nr)
{
	uint64_t *offsets = calloc(nr, sizeof(*offsets)), *cookies = calloc(nr, sizeof(*cookies));
	struct link_create_attr attr = { .cnt = nr };
	char path[32];
	int rc = -ENOMEM;

	if (!offsets || !cookies)
		goto out;
	for (size_t i = 0; i < nr; i++) {
		offsets[i] = sites[i].offset;
		cookies[i] = sites[i].cookie;
	}
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	attr.prog_fd = program_fd;
	attr.attach_type = program == PROGRAM_SESSION ? TRACE_UPROBE_SESSION : TRACE_UPROBE_MULTI;
	attr.path = (uintptr_t)path;
	attr.offsets = (uintptr_t)offsets;
	attr.cookies = (uintptr_t)cookies;
	attr.multi_flags = program == PROGRAM_RETURN ? UPROBE_MULTI_RETURN : 0;
	rc = syscall(SYS_bpf, LINK_CREATE, &attr, sizeof(attr));
	if (rc < 0)
		rc = -errno;
out:
	free(offsets);
	free(cookies);
	return rc;
}

int attach_multi(int program_fd, int fd, const struct attach_site *sites, size_t nr)
{
	return multi_link(program_fd, PROGRAM_BEGIN, fd, sites, nr);
}

static int perf_link(const struct loaded *l, enum program program, int fd, const struct attach_site *site,
		     struct bpf_link **ret)
{
	LIBBPF_OPTS(bpf_uprobe_opts, opts, .bpf_cookie = site->cookie, .retprobe = program == PROGRAM_RETURN);
	struct bpf_link *link;
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	link = bpf_program__attach_uprobe_opts(load_program(l, program), -1, path, site->offset, &opts);
	if (!link)
		return -errno;
	*ret = link;
	return 0;
}

static int attach_some(const struct loaded *l, struct links *links, enum program program, int fd,
		       const struct attach_site *sites, size_t nr)
{
	struct bpf_link *link = NULL;
	int rc = l->rung == RUNG_LINKS ? perf_link(l, program, fd, sites, &link) :
		 multi_link(load_program_fd(l, program), program, fd, sites, nr);

	if (rc < 0)
		return rc;
	if (links_add(links, rc, link)) {
		if (link)
			bpf_link__destroy(link);
		else
			close(rc);
		return -ENOMEM;
	}
	return 0;
}

static const char *reason_of(int code, char *buf, size_t cap)
{
	if (code == -KERNEL_ENOTSUPP || code == -EOPNOTSUPP)
		return "the kernel can't probe this instruction";
	if (code == -EINVAL)
		return "the kernel refuses this place: no instruction that it knows starts there";
	if (code == -EPERM || code == -EACCES)
		return "not permitted; CAP_PERFMON is needed";
	snprintf(buf, cap, "the kernel refused it: %s", strerror(-code));
	return buf;
}

/* One refused place fails a whole link: halves are tried until it stands alone. */
int attach_sites(const struct loaded *l, struct links *links, enum program program, int fd,
		 const struct attach_site *sites, size_t nr,
		 void (*refused)(void *arg, uint64_t cookie, const char *reason), void *arg)
{
	size_t part = l->rung == RUNG_LINKS ? 1 : nr / 2;
	char buf[128];
	int rc;

	if (!nr)
		return 0;
	if (l->rung != RUNG_LINKS || nr == 1) {
		rc = attach_some(l, links, program, fd, sites, nr);
		if (!rc || rc == -ENOMEM)
			return rc;
		if (nr == 1) {
			refused(arg, sites->cookie, reason_of(rc, buf, sizeof(buf)));
			return 0;
		}
	}
	rc = attach_sites(l, links, program, fd, sites, part, refused, arg);
	if (rc)
		return rc;
	return attach_sites(l, links, program, fd, sites + part, nr - part, refused, arg);
}

/* As bpf_program__attach_uprobe_opts() does it, but for a program that libbpf knows nothing of. */
static int perf_link_raw(int program_fd, int fd, const struct attach_site *site)
{
	LIBBPF_OPTS(bpf_link_create_opts, opts, .perf_event.bpf_cookie = 1);
	struct perf_event_attr attr = { .size = sizeof(attr), .config2 = site->offset };
	char path[32];
	int event, link;
	FILE *f = fopen(UPROBE_PMU, "re");

	if (!f)
		return -errno;
	if (fscanf(f, "%u", &attr.type) != 1) {
		fclose(f);
		return -ENODATA;
	}
	fclose(f);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	attr.config1 = (uintptr_t)path;
	event = syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
	if (event < 0)
		return -errno;
	link = bpf_link_create(program_fd, event, BPF_PERF_EVENT, &opts);
	close(event);
	return link;
}

int attach_try(enum rung rung, bool sleepable)
{
	static const struct bpf_insn nothing[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .prog_flags = sleepable ? BPF_F_SLEEPABLE : 0,
		    .expected_attach_type = rung == RUNG_SESSION ? TRACE_UPROBE_SESSION :
					    rung == RUNG_MULTI ? TRACE_UPROBE_MULTI : 0);
	enum program program = rung == RUNG_SESSION ? PROGRAM_SESSION : PROGRAM_RETURN;
	struct attach_site site = { .cookie = 0 };
	int fd, link, program_fd = bpf_prog_load(BPF_PROG_TYPE_KPROBE, "fs_try", "GPL", nothing, 2, &opts);

	if (program_fd < 0)
		return program_fd;
	link = twin_open((const void *)(uintptr_t)twin_function, &fd, &site.offset);
	if (!link) {
		link = rung == RUNG_LINKS ? perf_link_raw(program_fd, fd, &site) :
		       multi_link(program_fd, program, fd, &site, 1);
		close(fd);
	}
	close(program_fd);
	if (link < 0)
		return link;
	close(link);
	return 0;
}
