// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What a recording leaves out since it was asked to, in words: the same in the report and in the exports. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "model/builder.h"

uint64_t session_hidden_calls(const struct session *s, uint64_t *ret_calls)
{
	uint64_t hidden = 0, calls = 0;
	size_t nr;
	const struct recording_probe *p = session_probes(s, &nr);

	for (size_t i = 0; i < nr; i++) {
		hidden += p[i].stats.hidden;
		calls += p[i].stats.calls;
	}
	*ret_calls = hidden + calls;
	return hidden;
}

const char *session_left_out(const struct session *s, char *buf, size_t n)
{
	const struct recording_info *i = session_info(s);
	uint64_t calls, hidden = session_hidden_calls(s, &calls);
	char under[48] = "", shorter[48] = "";

	*buf = '\0';
	if (i->only_under)
		snprintf(under, sizeof(under), "calls not under %s", event_type_name(i->only_under));
	if (i->min_duration_ns)
		snprintf(shorter, sizeof(shorter), "calls under %.10g ms", i->min_duration_ns / 1e6);
	if (!*under && !*shorter)
		return buf;
	snprintf(buf, n, "%s%s%s", under, *under && *shorter ? "; " : "", shorter);
	/* the kernel's counters come with the end of a recording */
	if (calls) {
		size_t used = strlen(buf);

		snprintf(buf + used, n - used, ": %" PRIu64 " of %" PRIu64 " calls", hidden, calls);
	}
	return buf;
}
