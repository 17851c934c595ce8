/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What this kernel and our rights allow; every refusal as one sentence with its remedy. */
#ifndef FRAMESCOPE_CAPTURE_FEATURES_H
#define FRAMESCOPE_CAPTURE_FEATURES_H

#include <stdbool.h>
#include "base/error.h"

/* ERR_PERMISSION with the missing capabilities, ERR_KERNEL with what the kernel lacks (BTF, uprobes, parts of BPF), or
 * where our pids are not the kernel's. Tried, not told from the version. */
int features_check(struct error *err);

/* Kernels 6.11 to 6.13 return from a probed function by a system call that a seccomp filter may answer with death;
 * since 6.14 seccomp lets it pass. There is no harmless way to try, so this goes by the version. */
bool features_return_is_syscall_under_seccomp(void);

#endif
