// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The limit of what any tool with probes on entry and return can reach: programs that do nothing, on the function at
 * ADDRESS of process PID, in the way of `kind` (session or multi). Says "ready", stays until its input ends.
 * usage: empty-pair session|multi|entry PID ADDRESS
 */
#include <errno.h>
#include <linux/bpf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "target/maps.h"
#include "target/modules.h"

#define LINK_CREATE 28
#define TRACE_UPROBE_MULTI 48	/* uapi/linux/bpf.h, 6.6 */
#define TRACE_UPROBE_SESSION 57	/* and 6.13 */

struct wanted {
	uint64_t address, offset;
	struct module module;
};

static int find(void *arg, const struct map_entry *m)
{
	struct wanted *w = arg;

	if (w->address < m->start || w->address >= m->end)
		return 0;
	w->offset = w->address - m->start + m->offset;
	w->module.start = m->start;
	w->module.end = m->end;
	w->module.path = strdup(m->path);
	return 1;
}

static int load(int attach_type)
{
	struct bpf_insn insns[] = { { .code = BPF_ALU64 | BPF_MOV | BPF_K, .imm = 0 }, { .code = BPF_JMP | BPF_EXIT } };
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_KPROBE, .insns = (uintptr_t)insns, .insn_cnt = 2, .license = (uintptr_t)"GPL",
		.expected_attach_type = attach_type,
	};

	return syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
}

static int attach(int prog, int attach_type, int fd, uint64_t offset, uint32_t flags)
{
	struct {
		uint32_t prog_fd, target_fd, attach_type, flags;
		uint64_t path, offsets, ref_ctr_offsets, cookies;
		uint32_t cnt, multi_flags, pid, pad;
	} attr = { .prog_fd = prog, .attach_type = attach_type, .cnt = 1, .multi_flags = flags };
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	attr.path = (uintptr_t)path;
	attr.offsets = (uintptr_t)&offset;
	return syscall(SYS_bpf, LINK_CREATE, &attr, sizeof(attr));
}

int main(int argc, char **argv)
{
	struct wanted w = { 0 };
	struct error err;
	int type, fd, prog;
	char c;

	if (argc != 4)
		return 2;
	type = strcmp(argv[1], "session") ? TRACE_UPROBE_MULTI : TRACE_UPROBE_SESSION;
	w.module.pid = atoi(argv[2]);
	w.address = strtoull(argv[3], NULL, 16);
	if (maps_each(w.module.pid, find, &w) != 1 || module_open(&w.module, &fd, &err)) {
		fprintf(stderr, "empty-pair: nothing is mapped there\n");
		return 1;
	}
	prog = load(type);
	if (prog < 0 || attach(prog, type, fd, w.offset, 0) < 0 ||
	    (!strcmp(argv[1], "multi") && attach(load(type), type, fd, w.offset, 1) < 0)) {
		fprintf(stderr, "empty-pair: can't attach: %s\n", strerror(errno));
		return 1;
	}
	puts("ready");
	fflush(stdout);
	while (read(0, &c, 1) > 0)
		;
	return 0;
}
