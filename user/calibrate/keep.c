// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Puts the verdicts into the entries, and leaves one entry of each probe. */
#include <stdio.h>
#include <string.h>
#include "calibrate/keep.h"
#include "snoop_hit.h"

struct keeping {
	const struct site_entry *entries;
	const struct call_log *logs;
	const struct calls_verdict *verdicts;
	size_t nr;
};

static bool is_rival(const struct keeping *k, size_t i, size_t other)
{
	return i != other && k->logs[i].site->probe == k->logs[other].site->probe;
}

static bool stays(const struct keeping *k, size_t i)
{
	const struct calls_verdict *v = &k->verdicts[i];

	/* the end of frames and documents may come later than that of the pages, and their argument is sure */
	if (v->verdict == COMPARE_OTHER ||
	    (v->verdict == COMPARE_NOT && !k->logs[i].calls && !objects_field(k->logs[i].site->probe->role)))
		return false;
	for (size_t o = 0; o < k->nr; o++) {
		enum compare_verdict other = k->verdicts[o].verdict;

		if (!is_rival(k, i, o))
			continue;
		/* all are wrong: the first one speaks for them */
		if (v->verdict == COMPARE_DROPPED && (other == COMPARE_EQUAL || (other == COMPARE_DROPPED && o < i)))
			return false;
		if (v->verdict == COMPARE_NOT && (other != COMPARE_NOT || k->logs[o].calls))
			return false;
	}
	return true;
}

static void settle(const struct keeping *k, size_t i, struct site_entry *ret)
{
	const struct calls_verdict *v = &k->verdicts[i];
	char looked_into[sizeof(ret->evidence)];
	bool rivals = false;

	for (size_t o = 0; o < k->nr; o++)
		rivals |= is_rival(k, i, o);
	*ret = k->entries[i];
	ret->compared = v->verdict != COMPARE_NOT;
	ret->calls = v->calls;
	ret->reported = v->events;
	if (v->verdict == COMPARE_DROPPED) {
		ret->nr_args = 0;
		ret->evidence[0] = '\0';
		snprintf(ret->dropped, sizeof(ret->dropped), "%s%s", rivals ? "none of several candidates is right, one has " : "", v->text);
		return;
	}
	snprintf(looked_into, sizeof(looked_into), "%s", ret->evidence);
	snprintf(ret->evidence, sizeof(ret->evidence), "%s%s; %.120s", v->text,
		 rivals && v->verdict == COMPARE_EQUAL ? ", alone of several candidates" : "", looked_into);
}

size_t keep_entries(struct site_entry *entries, const struct call_log *logs, const struct calls_verdict *verdicts, size_t nr)
{
	struct keeping k = { entries, logs, verdicts, nr };
	bool keep[SNOOP_MAX_SITES];
	size_t kept = 0;

	nr = nr < SNOOP_MAX_SITES ? nr : SNOOP_MAX_SITES;
	for (size_t i = 0; i < nr; i++)
		keep[i] = stays(&k, i);
	for (size_t i = 0; i < nr; i++) {
		struct site_entry e;

		if (!keep[i])
			continue;
		settle(&k, i, &e);
		entries[kept++] = e;
	}
	return kept;
}
