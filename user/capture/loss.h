/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Exact counts per probe: since arming, and what was lost since the last look, as records. */
#ifndef FRAMESCOPE_CAPTURE_LOSS_H
#define FRAMESCOPE_CAPTURE_LOSS_H

#include "capture/load.h"
#include "capture/recording_file.h"

struct loss {
	struct probe_stats *base;	/* at arming: the kernel's counters only grow */
	struct probe_stats *seen;	/* at the last look, since arming */
	size_t nr;
	uint64_t lost_base, lost_seen;	/* control.lost */
	uint64_t since_ns;
};

/* Counting begins now. -ENOMEM. */
int loss_begin(struct loss *x, const struct loaded *l, size_t nr_probes, uint64_t now_ns);
void loss_free(struct loss *x);

/* Since loss_begin(). */
int loss_stats(const struct loss *x, const struct loaded *l, uint32_t probe, struct probe_stats *ret);
uint64_t loss_total(const struct loss *x, const struct loaded *l);

/* Writes a REC_LOSS for each probe that lost something since the last call. Cheap if none did. */
int loss_write(struct loss *x, const struct loaded *l, struct recording_writer *w, uint64_t now_ns);

#endif
