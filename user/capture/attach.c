// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Attaching: multi and session links by bpf(2) itself, since libbpf has them from 1.3 and 1.6 only. */
#include <errno.h>
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
#define TRACE_UPROBE_MULTI 48
#define TRACE_UPROBE_SESSION 57
#define UPROBE_MULTI_RETURN 1

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
static int multi_link(const struct loaded *l, enum program program, int fd, const struct attach_site *sites, size_t nr)
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
	attr.prog_fd = load_program_fd(l, program);
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
		 multi_link(l, program, fd, sites, nr);

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

int attach_try(const struct loaded *l)
{
	enum program program = l->rung == RUNG_SESSION ? PROGRAM_SESSION : PROGRAM_RETURN;
	struct attach_site site = { .cookie = 0 };
	struct links links = { 0 };
	int fd, rc;

	rc = twin_open(&fd, &site.offset);
	if (rc)
		return rc;
	rc = attach_some(l, &links, program, fd, &site, 1);
	links_free(&links);
	close(fd);
	return rc;
}
