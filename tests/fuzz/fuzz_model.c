// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Hostile records: whatever they say, the session that comes out is one, and the queries answer.
 * sources: user/model/*.c user/query/events.c user/query/message.c user/query/reduce.c user/query/select.c user/base/error.c user/base/text.c
 */
#include <stdio.h>
#include <string.h>
#include "query/events.h"
#include "replay/invariants.h"

#define PROBES 12

static struct session *build(const uint8_t *data, size_t size)
{
	struct recording_probe probes[PROBES] = { 0 };
	struct recording_info info = { .nr_metrics = size & 1, .begin_ns = 1000, .target_pid = 1 };
	struct session_builder *b;
	uint64_t words[RECORD_MAX_SIZE / 8];
	struct rec_header *h = (struct rec_header *)words;
	struct session *s;

	for (int i = 0; i < PROBES; i++) {
		probes[i].type = i;
		probes[i].role = i < 10 ? 0 : ROLE_SCRIPT_CALLER;
		probes[i].cost_class = i & 3;
		probes[i].attached = true;
	}
	for (int role = ROLE_NAVIGATION; role <= ROLE_WINDOW_CLOSED; role++)
		probes[role].role = role;
	if (session_builder_new(&b) || session_builder_tables(b, &info, probes, PROBES, NULL, 0, NULL, 0))
		abort();
	while (size >= sizeof(*h)) {
		memset(words, 0, sizeof(words));
		memcpy(h, data, sizeof(*h));
		h->size = h->size % 256 < sizeof(*h) ? sizeof(*h) : h->size % 256;
		if (h->size > size)
			h->size = size;
		memcpy(words, data, h->size);
		h->size = h->size % 256 < sizeof(*h) ? sizeof(*h) : h->size % 256;
		if (session_builder_add(b, h))
			abort();
		data += h->size < size ? h->size : size;
		size -= h->size < size ? h->size : size;
	}
	if (session_builder_finish(b, &s))
		abort();
	return s;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct invariants inv = { .moved = true, .hidden = true };
	struct session *s = build(data, size);
	const char *wrong = invariants_check(s, &inv);
	const struct timeline *t;
	size_t nr;

	if (wrong) {
		fprintf(stderr, "%s\n", wrong);
		abort();
	}
	t = session_timelines(s, &nr);
	for (size_t i = 0; i < nr; i++) {
		for (int mode = MODE_ALL; mode <= MODE_REDUCE_ALL; mode++) {
			struct query q = { .timeline_id = t[i].id, .mode = mode };
			struct query_result r;

			if (query_events(s, &q, &r, NULL))
				abort();
			query_result_free(&r);
			q.has_depth = true;
			q.max_depth = 1 + size % 3;
			if (query_events(s, &q, &r, NULL))
				abort();
			query_result_free(&r);
		}
	}
	session_free(s);
	return 0;
}
