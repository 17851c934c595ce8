// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What this kernel and our rights allow. */
#include <cap-ng.h>
#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include "capture/features.h"
#include "target/process.h"

#ifndef CAP_PERFMON
#define CAP_PERFMON 38
#define CAP_BPF 39
#define CAP_CHECKPOINT_RESTORE 40
#endif

#define BTF_PATH "/sys/kernel/btf/vmlinux"
#define PMU_PATH "/sys/bus/event_source/devices/uprobe/type"	/* there if the kernel has uprobes at all */

/* Each right and the wider one that contains it. */
static const struct {
	unsigned int cap, wider;
	const char *name;
} needed[] = {
	{ CAP_BPF, CAP_SYS_ADMIN, "CAP_BPF" },
	{ CAP_PERFMON, CAP_SYS_ADMIN, "CAP_PERFMON" },
	{ CAP_CHECKPOINT_RESTORE, CAP_SYS_ADMIN, "CAP_CHECKPOINT_RESTORE" },
	{ CAP_SYS_PTRACE, CAP_SYS_PTRACE, "CAP_SYS_PTRACE" },
};

static int check_capabilities(struct error *err)
{
	char missing[160] = "";

	if (capng_get_caps_process())
		return error_set(err, ERR_PERMISSION, -EPERM, "can't read our own capabilities; run it with sudo");
	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
		size_t n = strlen(missing);

		if (!capng_have_capability(CAPNG_EFFECTIVE, needed[i].cap) &&
		    !capng_have_capability(CAPNG_EFFECTIVE, needed[i].wider))
			snprintf(missing + n, sizeof(missing) - n, "%s%s", n ? ", " : "", needed[i].name);
	}
	if (*missing)
		return error_set(err, ERR_PERMISSION, -EPERM, "not permitted to attach: %s missing%s or give the container these "
				 "capabilities", missing, geteuid() ? "; run it with sudo," : ", also for root here; run it outside,");
	return 0;
}

/* Everything that all rungs need. */
static const struct {
	const char *name;
	enum bpf_map_type map;	/* or */
	enum bpf_func_id helper;
} parts[] = {
	{ "the BPF ring buffer (Linux 5.8)", BPF_MAP_TYPE_RINGBUF, 0 },
	{ "BPF task storage (5.11)", BPF_MAP_TYPE_TASK_STORAGE, 0 },
	{ "attach cookies (5.15)", 0, BPF_FUNC_get_attach_cookie },
	{ "bpf_loop (5.17)", 0, BPF_FUNC_loop },
};

/* Does bpf(2) do anything at all? Otherwise every part below would seem to be missing. */
static int check_bpf(struct error *err)
{
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "fs_try", 4, 4, 1, NULL);

	if (fd >= 0) {
		close(fd);
		return 0;
	}
	if (fd == -ENOSYS)
		return error_set(err, ERR_KERNEL, fd, "this kernel has no bpf system call; one built with "
				 "CONFIG_BPF_SYSCALL=y is needed");
	if (fd == -EPERM || fd == -EACCES)
		return error_set(err, ERR_PERMISSION, fd, "the bpf system call is not permitted here; run it with sudo on "
				 "the host, not in a container that filters system calls");
	return error_set(err, ERR_OTHER, fd, "the kernel can't create a BPF map: %s", strerror(-fd));
}

static int check_parts(struct error *err)
{
	char missing[256] = "";
	struct utsname u = { .release = "?" };
	int has;

	libbpf_set_print(NULL);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		size_t n = strlen(missing);

		has = parts[i].map ? libbpf_probe_bpf_map_type(parts[i].map, NULL) :
		      libbpf_probe_bpf_helper(BPF_PROG_TYPE_KPROBE, parts[i].helper, NULL);
		if (!has)
			snprintf(missing + n, sizeof(missing) - n, "%s%s", n ? ", " : "", parts[i].name);
	}
	if (!*missing)
		return 0;
	uname(&u);
	return error_set(err, ERR_KERNEL, -ENOTSUP, "this kernel (%s) lacks %s; Linux 5.17 or later is needed", u.release,
			 missing);
}

int features_check(struct error *err)
{
	int rc = check_capabilities(err);

	if (rc)
		return rc;
	if (access(BTF_PATH, R_OK))
		return error_set(err, ERR_KERNEL, -ENOENT, "this kernel does not describe its types (%s: %s); one built "
				 "with CONFIG_DEBUG_INFO_BTF=y is needed, as every distribution's has been since 2021",
				 BTF_PATH, strerror(errno));
	rc = check_bpf(err);
	if (!rc)
		rc = check_parts(err);
	if (rc)
		return rc;
	if (access(PMU_PATH, R_OK))
		return error_set(err, ERR_KERNEL, -ENOENT, "this kernel has no uprobes (%s: %s); one built with "
				 "CONFIG_UPROBE_EVENTS=y is needed, as every distribution's is", PMU_PATH, strerror(errno));
	if (!process_in_initial_namespace())
		return error_set(err, ERR_KERNEL, -ENOTSUP, "this is a pid namespace of its own, where process numbers "
				 "differ from the kernel's; run it on the host or in a container with --pid=host");
	return 0;
}

bool features_return_is_syscall_under_seccomp(void)
{
	unsigned int major = 0, minor = 0;
	struct utsname u;

	if (uname(&u) || sscanf(u.release, "%u.%u", &major, &minor) != 2)
		return false;
	return major == 6 && minor >= 11 && minor <= 13;
}
