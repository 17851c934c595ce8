// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What this kernel and our rights allow. */
#include <cap-ng.h>
#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>
#include "capture/features.h"
#include "target/process.h"

#ifndef CAP_PERFMON
#define CAP_PERFMON 38
#define CAP_BPF 39
#define CAP_CHECKPOINT_RESTORE 40
#endif

#define BTF_PATH "/sys/kernel/btf/vmlinux"

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
		return error_set(err, ERR_PERMISSION, -EPERM, "not permitted to attach: %s missing; run it with sudo, "
				 "or give the container these capabilities", missing);
	return 0;
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
