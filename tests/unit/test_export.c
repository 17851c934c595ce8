// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The exporters' common parts: merging, numbers and texts, redaction, pairs, tries. */
#include <errno.h>
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "base/text.h"
#include "export/emit.h"
#include "export/heap.h"
#include "export/pairs.h"
#include "export/shown.h"
#include "export/trie.h"
#include "export/walk.h"
#include "replay/stream.h"

static uint64_t seed;

static uint64_t rnd(uint64_t below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed % below;
}

/* --- emit --- */

static const char *taken(struct emit *e)
{
	static char text[256];

	assert_true(e->nr < sizeof(text));
	memcpy(text, e->data, e->nr);
	text[e->nr] = '\0';
	e->nr = 0;
	return text;
}

static void test_numbers(void **state)
{
	struct emit e;

	(void)state;
	/* a comma instead of the point would be no JSON */
	setlocale(LC_ALL, "de_DE.UTF-8");
	assert_int_equal(emit_open(&e, NULL), 0);
	emit_us(&e, 1236);
	assert_string_equal(taken(&e), "1.236");
	emit_us(&e, 1000);
	assert_string_equal(taken(&e), "1");
	emit_us(&e, 10);
	assert_string_equal(taken(&e), "0.01");
	emit_us(&e, UINT64_MAX);
	assert_string_equal(taken(&e), "18446744073709551.615");
	emit_ms(&e, 1000001);
	assert_string_equal(taken(&e), "1.000001");
	emit_i64(&e, INT64_MIN);
	assert_string_equal(taken(&e), "-9223372036854775808");
	emit_u64(&e, 0);
	assert_string_equal(taken(&e), "0");
	emit_hex(&e, 0xabc, 8);
	assert_string_equal(taken(&e), "00000abc");
	emit_double(&e, 99.9996);
	assert_string_equal(taken(&e), "100");
	emit_double(&e, -0.0125);
	assert_string_equal(taken(&e), "-0.013");
	emit_double(&e, 1.0 / 0.0);
	assert_string_equal(taken(&e), "0");
	emit_double(&e, 0.0 / 0.0);
	assert_string_equal(taken(&e), "0");
	for (int i = 0; i < 2000; i++) {
		uint64_t v = rnd(UINT64_MAX) >> rnd(64);
		char want[32];

		snprintf(want, sizeof(want), "%llu", (unsigned long long)v);
		emit_u64(&e, v);
		assert_string_equal(taken(&e), want);
	}
	emit_close(&e);
	setlocale(LC_ALL, "C");
}

static void test_texts(void **state)
{
	struct emit e;
	char *big = malloc(1 << 20);

	(void)state;
	assert_int_equal(emit_open(&e, NULL), 0);
	emit_json(&e, "a\"b\\\x01\n");
	assert_string_equal(taken(&e), "\"a\\\"b\\\\\\u0001\\n\"");
	emit_json_n(&e, "\xc3(", 2);
	assert_string_equal(taken(&e), "\"\xef\xbf\xbd(\"");
	emit_json(&e, "xenhancedTraceVersion");
	assert_string_equal(taken(&e), "\"xenhancedTraceVersio\\u006e\"");
	/* a selector of a megabyte, of characters that grow: cut on a boundary, and said so */
	for (int i = 0; i < 1 << 20; i++)
		big[i] = i % 3 == 0 ? '\xe2' : i % 3 == 1 ? '\x82' : '\xac';
	emit_json_n(&e, big, 1 << 20);
	assert_true(e.nr <= EXPORT_MAX_TEXT + 16);
	assert_memory_equal(e.data + e.nr - 7, "\xe2\x82\xac…\"", 7);
	assert_int_equal(text_valid_prefix(e.data, e.nr), e.nr);
	e.nr = 0;
	memset(big, 1, 1 << 20);
	emit_json_n(&e, big, 1 << 20);
	assert_int_equal(e.error, 0);
	emit_close(&e);
	free(big);
}

/* --- redaction --- */

static void test_redaction(void **state)
{
	static const struct { const char *url, *shown; } urls[] = {
		{ "https://host.example/secret?q=1#f", "https://host.example" }, { "https://host:8080", "https://host:8080" },
		{ "https://user:word@host/x", "https://" }, { "file:///home/me/x.html", "file://" }, { "data:text/html,secret", "data:" },
		{ "about:blank", "about:" }, { "blob:https://host/id", "blob:" }, { "no url", "" }, { "http://h?q", "http://h" },
		{ "http://h\\secret", "http://h" }, { "", "" },
	};
	struct export_options opt = { .redact = true }, open = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(urls) / sizeof(urls[0]); i++) {
		assert_int_equal(shown_url(&opt, urls[i].url), strlen(urls[i].shown));
		assert_memory_equal(urls[i].url, urls[i].shown, strlen(urls[i].shown));
		assert_int_equal(shown_url(&open, urls[i].url), strlen(urls[i].url));
	}
	assert_string_equal(shown_text(&opt, "#id"), "(redacted)");
	assert_null(shown_text(&opt, NULL));
	assert_string_equal(shown_text(&open, "#id"), "#id");
}

/* --- heap, trie --- */

static void test_heap(void **state)
{
	struct heap h = { 0 };
	uint64_t last = 0;

	(void)state;
	for (int i = 0; i < 1000; i++)
		assert_int_equal(heap_push(&h, &(struct heap_item){ .key = rnd(100), .second = rnd(100), .value = i }), 0);
	heap_replace(&h, &(struct heap_item){ .key = 50 });
	for (int i = 0; i < 1000; i++) {
		uint64_t key = h.items[0].key * 1000 + h.items[0].second;

		assert_true(key >= last);
		last = key;
		heap_pop(&h);
	}
	assert_int_equal(h.nr, 0);
	heap_free(&h);
}

static void test_trie(void **state)
{
	struct event_detail *details = calloc(2 * TRIE_MAX_NODES, sizeof(*details));
	struct trie t;
	uint32_t root, last;

	(void)state;
	assert_non_null(details);
	assert_int_equal(trie_init(&t), 0);
	root = trie_child(&t, TRIE_NONE, 0, 1, &details[0]);
	assert_int_equal(trie_child(&t, TRIE_NONE, 0, 1, &details[0]), root);
	assert_int_not_equal(trie_child(&t, TRIE_NONE, 1, 1, &details[0]), root);
	last = trie_child(&t, root, 0, 2, &details[1]);
	assert_int_equal(t.nodes[last].parent, root);
	/* full: new details are told apart no more, and nothing is lost but that */
	for (uint32_t i = 0; i < 2 * TRIE_MAX_NODES; i++)
		last = trie_child(&t, root, 0, 3, &details[i]);
	assert_true(trie_full(&t));
	assert_int_equal(last, root);
	assert_int_equal(trie_child(&t, TRIE_NONE, 7, 3, &details[0]), TRIE_NONE);
	trie_clear(&t);
	assert_int_equal(trie_child(&t, TRIE_NONE, 7, 3, &details[0]), 0);
	trie_free(&t);
	free(details);
}

/* --- sessions of any records --- */

enum { NR_PROBES = 5 };

static struct session *build(const struct stream *s)
{
	static struct recording_probe probes[NR_PROBES];
	const struct recording_process procs[] = {
		{ .pid = 5000000, .inner_pid = 1, .name = "a", .cmdline = "", .engine = "e" },
		{ .pid = 5000001, .inner_pid = 2, .name = "b", .cmdline = "", .engine = "e" },
	};
	const struct recording_thread threads[] = {
		{ .tid = 5000000, .pid = 5000000, .name = "t", .main = true }, { .tid = 5000001, .pid = 5000001, .name = "u", .main = true },
		{ .tid = 5000002, .pid = 5000000, .name = "v" },
	};
	const struct recording_info info = { .version = 1, .begin_ns = 1000, .end_ns = 100000000, .tool = "", .kernel = "", .machine = "",
					     .rung = "", .overhead_source = "" };
	struct session_builder *b;
	struct session *ret;

	for (int i = 0; i < NR_PROBES; i++)
		probes[i] = (struct recording_probe){ .name = "p", .label = "p", .category = "c", .engine = "e",
			.group = i == 4 ? "group" : "", .function = "", .module = "", .build_id = "", .source = "", .evidence = "",
			.refused = "", .type = EVENT_GENERIC + i * 2, .kind = i == 4 ? PROBE_KIND_ASYNC_BEGIN : i == 3 ?
			PROBE_KIND_AGGREGATE : PROBE_KIND_SPAN, .attached = true };
	assert_int_equal(session_builder_new(&b), 0);
	assert_int_equal(session_builder_tables(b, &info, probes, NR_PROBES, procs, 2, threads, 3), 0);
	for (const struct rec_header *r = stream_next(s, NULL); r; r = stream_next(s, r))
		assert_int_equal(session_builder_add(b, r), 0);
	assert_int_equal(session_builder_finish(b, &ret), 0);
	return ret;
}

/* Any stream: losses, equal times, frames, contradictory ends. */
static void random_stream(struct stream *s, unsigned int loss)
{
	static const uint32_t tids[] = { 5000000, 5000001, 5000002 };
	uint64_t ns = 1000;

	stream_process(s, 5000002, 5000000);
	for (int i = 0; i < 600; i++, ns += rnd(3) ? rnd(5000) : 0) {
		uint32_t tid = tids[rnd(3)];

		if (rnd(100) < loss)
			stream_lose(s);
		if (stream_thread(s, tid)->depth && (rnd(2) || stream_thread(s, tid)->depth > 400)) {
			struct rec_end *e = stream_end(s, tid, ns);

			if (!rnd(30))
				e->begin_ns = rnd(2 * ns);
			if (!rnd(30))
				e->hdr.ts_ns = rnd(2 * ns);
			e->off_cpu_ns = rnd(4) ? 0 : rnd(2 * ns);
		} else if (!rnd(8)) {
			stream_aggregate(s, tid, rnd(2 * ns), ns, 3, rnd(9), rnd(99999));
		} else {
			stream_begin(s, tid, ns, rnd(3), 0x7000 - 8 * stream_thread(s, tid)->depth);
			stream_int(s, FIELD_FRAME, rnd(3));
		}
	}
}

struct seen { uint64_t start, end; uint32_t thread, depth, id; };

struct check {
	struct seen events[2000];
	size_t nr, left;
	uint64_t last_start, last_end;
	uint32_t by_thread;
};

static int check_enter(void *arg, const struct export_event *e)
{
	struct check *c = arg;

	assert_true(e->start_ns <= e->end_ns);
	if (e->overlapping)
		return 0;
	assert_true(c->nr < 2000);
	c->events[c->nr++] = (struct seen){ e->start_ns, e->end_ns, e->view.thread, e->thread_depth, e->view.id };
	return 0;
}

static int check_leave(void *arg, const struct export_event *e)
{
	struct check *c = arg;

	assert_false(e->overlapping);
	if (!c->by_thread)
		assert_true(e->end_ns >= c->last_end);
	c->last_end = e->end_ns;
	c->left++;
	return 0;
}

/* Each pair of a thread is nested or disjoint, and as deep as it lies. */
static void check_nesting(const struct check *c)
{
	for (size_t i = 0; i < c->nr; i++) {
		const struct seen *a = &c->events[i];

		for (size_t k = i + 1; k < c->nr; k++) {
			const struct seen *b = &c->events[k];

			if (a->thread != b->thread)
				continue;
			assert_true(b->start >= a->end || b->end <= a->end);
			assert_true(b->start >= a->start);
		}
	}
}

static void test_walk(void **state)
{
	struct check *c = malloc(sizeof(*c));

	(void)state;
	assert_non_null(c);
	for (int round = 0; round < 60; round++) {
		struct stream s = { 0 };
		struct walk_ops ops = { check_enter, check_leave };
		struct walk_counts counts;
		struct session *session;
		uint64_t spans = 0, sums;

		seed = round * 7919 + 1;
		random_stream(&s, round % 3 * 25);
		session = build(&s);
		for (int by_thread = 0; by_thread < 2; by_thread++) {
			memset(c, 0, sizeof(*c));
			c->by_thread = by_thread;
			assert_int_equal(walk_session(session, by_thread, &ops, c, &counts), 0);
			assert_int_equal(c->left, c->nr);
			check_nesting(c);
			assert_int_equal(counts.events + counts.too_deep, session_get_counts(session)->events);
			if (by_thread)
				assert_int_equal(spans, c->nr);
			spans = c->nr;
			for (size_t i = 1; by_thread && i < c->nr; i++)
				assert_true(c->events[i].thread >= c->events[i - 1].thread);
		}
		sums = counts.events - spans;
		assert_true(sums <= counts.events);
		session_free(session);
		stream_free(&s);
	}
	free(c);
}

static int refuse(void *arg, const struct export_event *e)
{
	(void)e;
	return --*(int *)arg ? 0 : -ENOSPC;
}

static void test_walk_stops(void **state)
{
	struct walk_ops ops = { .enter = refuse };
	struct walk_counts counts;
	struct stream s = { 0 };
	struct session *session;
	int left = 10;

	(void)state;
	seed = 5;
	random_stream(&s, 0);
	session = build(&s);
	assert_int_equal(walk_session(session, false, &ops, &left, &counts), -ENOSPC);
	assert_int_equal(left, 0);
	session_free(session);
	stream_free(&s);
}

/* --- pairs --- */

static void test_pairs(void **state)
{
	struct stream s = { 0 };
	struct session *session = build(&s);
	struct session_mark m = { .probe = 4, .thread = 0, .id = 77 };
	struct pairs *p;
	struct pair pair;
	bool again;
	uint64_t first, nr = 0;

	(void)state;
	assert_int_equal(pairs_new(session, &p), 0);
	first = pairs_open(p, &m, &again)->number;
	assert_false(again);
	assert_int_equal(pairs_open(p, &m, &again)->number, first);
	assert_true(again);
	/* the same identity in another process is another operation; another thread of the process is not */
	m.thread = 1;
	assert_null(pairs_find(p, &m));
	m.thread = 2;
	assert_int_equal(pairs_find(p, &m)->number, first);
	assert_true(pairs_close(p, &m, &pair));
	assert_false(pairs_close(p, &m, &pair));
	assert_int_not_equal(pairs_open(p, &m, &again)->number, first);
	/* what never ends keeps nothing out */
	for (m.id = 1000; m.id < 1000 + 3 * PAIRS_MAX; m.id++) {
		pairs_open(p, &m, &again);
		assert_false(again);
		assert_non_null(pairs_find(p, &m));
	}
	while (pairs_drain(p, &pair))
		nr++;
	assert_int_equal(nr, PAIRS_MAX);
	pairs_free(p);
	session_free(session);
	stream_free(&s);
}

static void test_formats(void **state)
{
	(void)state;
	assert_string_equal(export_format_by_path("a.json")->name, "chrome");
	assert_string_equal(export_format_by_path("a.json.gz")->name, "chrome");
	assert_string_equal(export_format_by_path("a.devtools.json.gz")->name, "devtools");
	assert_string_equal(export_format_by_path("x/a.pftrace")->name, "perfetto");
	assert_null(export_format_by_path("json"));
	assert_null(export_format_by_path("a.txt"));
	assert_string_equal(export_format_by_name("html")->extension, ".html");
	assert_null(export_format_by_name("HTML"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers), cmocka_unit_test(test_texts), cmocka_unit_test(test_redaction), cmocka_unit_test(test_heap),
		cmocka_unit_test(test_trie), cmocka_unit_test(test_walk), cmocka_unit_test(test_walk_stops), cmocka_unit_test(test_pairs),
		cmocka_unit_test(test_formats),
	};

	seed = 88172645463325252ull;
	return cmocka_run_group_tests_name("export", tests, NULL, NULL);
}
