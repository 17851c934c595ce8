/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What calibration's probe tells of a call: sent, the process is stopped until its memory has been looked at. */
#ifndef FRAMESCOPE_SNOOP_HIT_H
#define FRAMESCOPE_SNOOP_HIT_H

#ifndef __bpf__
#include <linux/types.h>
#endif

#define SNOOP_MAX_SITES 256
#define SNOOP_REGS 34	/* as numbered in target/arch.h, of the machine with the most */

struct snoop_hit {
	__u64 ts_ns;
	__u32 tid, tgid;	/* of the initial pid namespace */
	__u32 site;		/* index, given when it was attached */
	__u32 pad;
	__u64 regs[SNOOP_REGS];
};

#endif
