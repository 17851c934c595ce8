// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The limits of what any tool with probes on entry and return can reach, on the function at ADDRESS of process PID: programs
 * that do nothing, in one of two ways (session or multi), or (least) a session's that does the least of what records a call
 * with a text: it reads both times and, at entry, the text, and keeps nothing. Says "ready", stays until its input ends.
 * usage: empty-pair session|multi|least PID ADDRESS
 */
#include <errno.h>
#include <linux/bpf.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/user.h>
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

#if defined(__x86_64__)
#define ARG0 offsetof(struct user_regs_struct, rdi)
#define IP offsetof(struct user_regs_struct, rip)
#else
#define ARG0 offsetof(struct user_regs_struct, regs)
#define IP offsetof(struct user_regs_struct, pc)
#endif
#define TEXT 32	/* bytes; on the stack */
#define CALL(helper) { .code = BPF_JMP | BPF_CALL, .imm = (helper) }
#define MOVE(to, from) { .code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = (to), .src_reg = (from) }
#define LOAD(to, from, at) { .code = BPF_LDX | BPF_MEM | BPF_DW, .dst_reg = (to), .src_reg = (from), .off = (at) }
#define RETURN_0 { .code = BPF_ALU64 | BPF_MOV | BPF_K }, { .code = BPF_JMP | BPF_EXIT }

static const struct bpf_insn empty[] = { RETURN_0 };

static const struct bpf_insn least[] = {
	LOAD(BPF_REG_6, BPF_REG_1, IP),
	LOAD(BPF_REG_7, BPF_REG_1, ARG0),
	/* a session's return, where the function isn't what runs: just the time */
	CALL(BPF_FUNC_get_func_ip),
	{ .code = BPF_JMP | BPF_JNE | BPF_X, .dst_reg = BPF_REG_0, .src_reg = BPF_REG_6, .off = 5 },
	MOVE(BPF_REG_1, BPF_REG_10),
	{ .code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = BPF_REG_1, .imm = -TEXT },
	{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_2, .imm = TEXT },
	MOVE(BPF_REG_3, BPF_REG_7),
	CALL(BPF_FUNC_probe_read_user_str),
	CALL(BPF_FUNC_ktime_get_ns),
	RETURN_0,
};

static int load(const struct bpf_insn *insns, size_t bytes, int attach_type)
{
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_KPROBE, .insns = (uintptr_t)insns, .insn_cnt = bytes / sizeof(*insns),
		.license = (uintptr_t)"GPL", .expected_attach_type = attach_type,
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
	type = strcmp(argv[1], "multi") ? TRACE_UPROBE_SESSION : TRACE_UPROBE_MULTI;
	w.module.pid = atoi(argv[2]);
	w.address = strtoull(argv[3], NULL, 16);
	if (maps_each(w.module.pid, find, &w) != 1 || module_open(&w.module, &fd, &err)) {
		fprintf(stderr, "empty-pair: nothing is mapped there\n");
		return 1;
	}
	prog = strcmp(argv[1], "least") ? load(empty, sizeof(empty), type) : load(least, sizeof(least), type);
	if (prog < 0 || attach(prog, type, fd, w.offset, 0) < 0 ||
	    (!strcmp(argv[1], "multi") && attach(load(empty, sizeof(empty), type), type, fd, w.offset, 1) < 0)) {
		fprintf(stderr, "empty-pair: can't attach: %s\n", strerror(errno));
		return 1;
	}
	puts("ready");
	fflush(stdout);
	while (read(0, &c, 1) > 0)
		;
	return 0;
}
