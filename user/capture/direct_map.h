/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Whether the programs can read the target's memory without asking the kernel each time (direct.bpf.h), and from where. */
#ifndef FRAMESCOPE_CAPTURE_DIRECT_MAP_H
#define FRAMESCOPE_CAPTURE_DIRECT_MAP_H

#include <stdbool.h>
#include "control.h"

/*
 * Has this kernel what it takes, and does the user want it? Not with FRAMESCOPE_DIRECT=no in the environment, on other
 * machines than x86-64 or before Linux 6.2.
 */
bool direct_map_possible(void);
/*
 * Lets the programs find the kernel's mapping of all memory and tries them on pages of ours of several kinds, whose places
 * /proc/self/pagemap tells (CAP_SYS_ADMIN). Unless all are right, ctl->direct_map stays 0 and every read is the kernel's.
 */
void direct_map_find(int find_fd, int check_fd, struct control *ctl);

#endif
