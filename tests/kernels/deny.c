// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Runs a program on a kernel that seems to lack something: deny ringbuf|uprobes PROGRAM [ARG]… */
/*
 * bpf(2) of the program and its threads is intercepted and answered as a kernel without that feature would:
 *   ringbuf	no such map type (before 5.8)
 *   uprobes	no uprobe_multi links (CONFIG_UPROBE_EVENTS off); the PMU's folder in sysfs is the caller's to hide
 */
#include <errno.h>
#include <linux/bpf.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define ATTACH_UPROBE_MULTI 48	/* enum bpf_attach_type of 6.6 and 6.13: newer than the headers may be */
#define ATTACH_UPROBE_SESSION 57

static uint32_t peek(pid_t pid, uint64_t at)
{
	uint32_t value = 0;
	struct iovec local = { &value, sizeof(value) }, remote = { (void *)at, sizeof(value) };

	process_vm_readv(pid, &local, 1, &remote, 1, 0);
	return value;
}

/* The answer to this call, or 0: let it through. */
static int denied(pid_t pid, const char *what, const struct user_regs_struct *r)
{
	if (r->orig_rax != SYS_bpf)
		return 0;
	if (!strcmp(what, "ringbuf"))
		return r->rdi == BPF_MAP_CREATE && peek(pid, r->rsi) == BPF_MAP_TYPE_RINGBUF ? -EINVAL : 0;
	if (r->rdi == BPF_LINK_CREATE) {
		uint32_t type = peek(pid, r->rsi + offsetof(union bpf_attr, link_create.attach_type));

		if (type == ATTACH_UPROBE_MULTI || type == ATTACH_UPROBE_SESSION)
			return -EOPNOTSUPP;
	}
	return 0;
}

/* At the entry of a system call: replaces it by none and leaves the answer where it would have put it. */
static void step(pid_t pid, const char *what)
{
	struct user_regs_struct r;
	struct __ptrace_syscall_info info;
	int answer;

	if (ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof(info), &info) <= 0 || info.op != PTRACE_SYSCALL_INFO_ENTRY ||
	    ptrace(PTRACE_GETREGS, pid, 0, &r))
		return;
	answer = denied(pid, what, &r);
	if (!answer)
		return;
	r.orig_rax = -1;
	r.rax = answer;
	ptrace(PTRACE_SETREGS, pid, 0, &r);
}

int main(int argc, char **argv)
{
	pid_t child, pid;
	int status;

	if (argc < 3)
		return 2;
	child = fork();
	if (!child) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		raise(SIGSTOP);
		execv(argv[2], argv + 2);
		_exit(127);
	}
	waitpid(child, &status, 0);
	ptrace(PTRACE_SETOPTIONS, child, 0,
	       PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_EXITKILL);
	ptrace(PTRACE_SYSCALL, child, 0, 0);
	while ((pid = waitpid(-1, &status, __WALL)) > 0) {
		int sig = 0;

		if (pid == child && WIFEXITED(status))
			return WEXITSTATUS(status);
		if (pid == child && WIFSIGNALED(status))
			return 128 + WTERMSIG(status);
		if (!WIFSTOPPED(status))
			continue;
		if (WSTOPSIG(status) == (SIGTRAP | 0x80))
			step(pid, argv[1]);
		else if (WSTOPSIG(status) != SIGTRAP && WSTOPSIG(status) != SIGSTOP)
			sig = WSTOPSIG(status);
		ptrace(PTRACE_SYSCALL, pid, 0, sig);
	}
	return 1;
}
