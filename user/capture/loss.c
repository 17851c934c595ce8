// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Exact counts per probe, and losses as records. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "capture/loss.h"

int loss_begin(struct loss *x, const struct loaded *l, size_t nr_probes, uint64_t now_ns)
{
	int rc = 0;

	loss_free(x);
	/* all rows: modules that are mapped later add probes */
	x->base = calloc(RECORD_MAX_PROBES, sizeof(*x->base));
	x->seen = calloc(RECORD_MAX_PROBES, sizeof(*x->seen));
	if (!x->base || !x->seen)
		return -ENOMEM;
	x->nr = nr_probes;
	for (size_t i = 0; i < nr_probes && !rc; i++)
		rc = load_read_stats(l, i, &x->base[i]);
	x->lost_base = x->lost_seen = l->ctl->lost;
	x->since_ns = now_ns;
	return rc;
}

void loss_free(struct loss *x)
{
	free(x->base);
	free(x->seen);
	memset(x, 0, sizeof(*x));
}

int loss_stats(const struct loss *x, const struct loaded *l, uint32_t probe, struct probe_stats *ret)
{
	const uint64_t *base = (const uint64_t *)&x->base[probe];
	uint64_t *now = (uint64_t *)ret;
	int rc = load_read_stats(l, probe, ret);

	for (size_t i = 0; !rc && i < sizeof(*ret) / sizeof(*now); i++)
		now[i] -= base[i];
	return rc;
}

uint64_t loss_total(const struct loss *x, const struct loaded *l)
{
	return l->ctl->lost - x->lost_base;
}

int loss_write(struct loss *x, const struct loaded *l, struct recording_writer *w, uint64_t now_ns)
{
	uint64_t lost = l->ctl->lost, since = x->since_ns;
	int rc = 0;

	x->since_ns = now_ns;
	if (lost == x->lost_seen)
		return 0;
	x->lost_seen = lost;
	for (size_t i = 0; i < x->nr && !rc; i++) {
		struct rec_loss r = {
			.hdr = { .type = REC_LOSS, .size = sizeof(r), .ts_ns = now_ns }, .since_ns = since, .probe = i,
		};
		struct probe_stats s;

		rc = loss_stats(x, l, i, &s);
		if (rc)
			break;
		r.lost_begins = s.lost_begins - x->seen[i].lost_begins;
		r.lost_ends = s.lost_ends - x->seen[i].lost_ends;
		x->seen[i] = s;
		if (r.lost_begins || r.lost_ends)
			rc = recording_write_record(w, &r.hdr);
	}
	return rc;
}
