// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Which timelines are a window's, where its page moves to another process and where another window is opened. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "replay/replay.h"
#include "scope/events.h"

#define MS 1000000ull
#define OTHER_PID 200
#define THIRD_PID 300

struct page {
	struct replay r;
	int parse, layout, navigation;
};

static void begin(struct page *p)
{
	*p = (struct page){ 0 };
	p->parse = replay_probe(&p->r, "Parse", EVENT_DOCUMENT_PARSING);
	p->layout = replay_probe(&p->r, "Layout", EVENT_LAYOUT);
	p->navigation = replay_role(&p->r, "Navigation", PROBE_KIND_MARK, ROLE_NAVIGATION);
	replay_thread(&p->r, 2, OTHER_PID);
	replay_thread(&p->r, 3, THIRD_PID);
	replay_thread(&p->r, 9, 50);	/* the browser's own process */
}

static void parse(struct page *p, uint32_t tid, uint64_t ms, const char *url)
{
	replay_begin(&p->r, tid, ms * MS, p->parse);
	stream_int(&p->r.stream, FIELD_FRAME, 0x1000 * tid);
	if (url)
		stream_text(&p->r.stream, FIELD_URL, url);
	replay_end(&p->r, tid, (ms + 1) * MS);
}

static void work(struct page *p, uint32_t tid, uint64_t ms)
{
	replay_begin(&p->r, tid, ms * MS, p->layout);
	stream_int(&p->r.stream, FIELD_FRAME, 0x1000 * tid);
	replay_end(&p->r, tid, (ms + 1) * MS);
}

static void navigate(struct page *p, uint64_t ms)
{
	replay_mark(&p->r, 9, ms * MS, p->navigation);
}

/* The processes of the window's timelines, the first one's first. */
static void check(struct page *p, const char *wanted)
{
	const struct recording_process *procs;
	const struct timeline *t;
	struct session *s;
	char text[256] = "";
	uint32_t *indices;
	size_t nr, n, used = 0;

	replay_stop(&p->r, 20000 * MS);
	s = replay_session(&p->r);
	t = session_timelines(s, &n);
	procs = session_processes(s, &n);
	assert_int_equal(window_timelines(s, REPLAY_PID, &indices, &nr), 0);
	for (size_t i = 0; i < nr; i++)
		used += snprintf(text + used, sizeof(text) - used, "%s%u", i ? " " : "", procs[t[indices[i]].process].pid);
	assert_string_equal(text, wanted);
	free(indices);
	session_free(s);
}

static void test_own(void **state)
{
	struct page p;

	(void)state;
	begin(&p);
	work(&p, 1, 10);
	parse(&p, 2, 20, "http://b/");	/* no navigation was seen */
	check(&p, "100");
}

static void test_moved(void **state)
{
	struct page p;

	(void)state;
	begin(&p);
	work(&p, 1, 10);
	navigate(&p, 100);
	work(&p, 1, 120);
	parse(&p, 2, 150, "http://b/");
	work(&p, 1, 160);	/* a last handler */
	for (int i = 0; i < 20; i++)
		work(&p, 2, 200 + 400 * i);
	check(&p, "200 100");
}

/* Nothing is left of the page that was there: the window's process had been silent. */
static void test_moved_from_silence(void **state)
{
	struct page p;

	(void)state;
	begin(&p);
	navigate(&p, 100);
	parse(&p, 2, 150, NULL);
	check(&p, "200");
}

/* The window goes on: what comes up in another process is another window's. */
static void test_opened_beside(void **state)
{
	struct page p;

	(void)state;
	begin(&p);
	parse(&p, 1, 10, "http://a/");
	navigate(&p, 100);
	parse(&p, 2, 150, "http://b/");
	for (int i = 0; i < 20; i++)
		work(&p, 1, 200 + 400 * i);
	for (int i = 0; i < 40; i++)
		work(&p, 2, 200 + 200 * i);
	check(&p, "100");
}

/* Where URLs are known, a document without one is nobody's destination. */
static void test_no_document(void **state)
{
	struct page p;

	(void)state;
	begin(&p);
	work(&p, 1, 10);
	navigate(&p, 100);
	parse(&p, 2, 150, "http://b/");
	parse(&p, 3, 160, NULL);
	work(&p, 2, 200);
	check(&p, "200 100");
	begin(&p);
	work(&p, 1, 10);
	work(&p, 2, 20);	/* it worked before: it is a window of its own */
	navigate(&p, 100);
	parse(&p, 2, 150, "http://b/");
	check(&p, "100");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_own), cmocka_unit_test(test_moved), cmocka_unit_test(test_moved_from_silence),
		cmocka_unit_test(test_opened_beside), cmocka_unit_test(test_no_document),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
