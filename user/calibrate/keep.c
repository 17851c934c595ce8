// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Puts the verdicts into the entries, and leaves one entry of each probe. */
#include <stdio.h>
#include <string.h>
#include "calibrate/entry.h"
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

static bool is_told(uint8_t field)
{
	return field == FIELD_EVENT_NAME || (field >= FIELD_X && field <= FIELD_H);
}

/* What the browser tells of a call's arguments is as it was read, or it isn't read any more; nor is a URL that was none. */
static void settle_told(const struct calls_verdict *v, struct site_entry *e)
{
	size_t kept = 0, told = 0, urls = 0;

	for (size_t i = 0; i < e->nr_args; i++) {
		bool wrong = v->told_wrong && is_told(e->args[i].field), no_url = v->no_urls && e->args[i].field == FIELD_URL;

		told += wrong;
		urls += no_url;
		if (!wrong && !no_url)
			e->args[kept++] = e->args[i];
	}
	if (urls)
		entry_note(e, ", but no URL at %u when recorded", v->no_urls);
	if (told)
		entry_note(e, ", but not at %u of %u reported", v->told_wrong, v->told);
	else if (v->told_right)
		entry_note(e, ", %u of %u reported", v->told_right, v->told);
	e->nr_args = kept;
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
	settle_told(v, ret);
	snprintf(looked_into, sizeof(looked_into), "%s", ret->evidence);
	snprintf(ret->evidence, sizeof(ret->evidence), "%s%s; %.155s", v->text,
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
