// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Conversations with the Scope host: what each service answers, and what several clients see of each other. */
#include "unit/scope_peer.h"
#include <jansson.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <arpa/inet.h>
#include <netinet/in.h>

static void test_handshake(void **state)
{
	char text[STP0_MAX_UNITS + 1];
	struct world w;
	struct peer p;
	struct answer a;

	(void)state;
	world_open(&w, NULL);
	peer_open(&w, &p);
	peer_greeting(&w, &p, text);
	assert_string_equal(text, "*services scope,window-manager,profiler,exec,ecmascript-debugger,console-logger,stp-1,"
			    "core-2-12-388");
	/* nothing else until the client has chosen */
	for (int i = 0; i < 10; i++)
		pump(w.base, NULL);
	peer_read(&p, SIZE_MAX);
	assert_int_equal(p.nr_in, 0);
	/* a byte at a time, and frames right behind */
	for (size_t i = 0; i < sizeof(enable_stp1); i++) {
		peer_write(&p, &enable_stp1[i], 1);
		pump(w.base, NULL);
	}
	struct bytes b = make_command("scope", 10, FORMAT_PROTOBUF, 0, NULL, 0);
	for (size_t i = 0; i < b.n; i++) {
		peer_write(&p, &b.p[i], 1);
		pump(w.base, NULL);
	}
	bytes_free(&b);
	WAIT_FOR(&w, &p, p.nr_in > 6);
	assert_memory_equal(p.in, "STP/1\n", 6);
	peer_drop(&p, 6);
	a = peer_next(&w, &p);
	assert_int_equal(a.type, STP_RESPONSE);
	assert_true(a.m->has_tag && a.m->tag == 0 && !a.m->has_status);
	assert_int_equal(a.m->format, FORMAT_PROTOBUF);
	answer_free(&a);
	peer_close(&p);
	world_close(&w);
}

/* Everything in one segment. */
static void test_pipelined(void **state)
{
	char text[STP0_MAX_UNITS + 1];
	struct bytes all = { .max = 65536 };
	struct world w;
	struct peer p;

	(void)state;
	world_open(&w, NULL);
	peer_open(&w, &p);
	peer_greeting(&w, &p, text);
	bytes_add(&all, enable_stp1, sizeof(enable_stp1));
	for (uint32_t tag = 0; tag < 20; tag++) {	/* more than one turn of the loop takes */
		struct bytes b = make_command("scope", tag ? 10 : 3, FORMAT_JSON, tag / 2, tag ? "[]" : "[\"json\"]", tag ? 2 : 8);

		bytes_add(&all, b.p, b.n);
		bytes_free(&b);
	}
	peer_write(&p, all.p, all.n);
	bytes_free(&all);
	WAIT_FOR(&w, &p, p.nr_in >= 6);
	peer_drop(&p, 6);
	for (uint32_t tag = 0; tag < 20; tag++) {
		struct answer a = peer_next(&w, &p);

		assert_int_equal(a.type, STP_RESPONSE);
		assert_int_equal(a.m->tag, tag / 2);
		answer_free(&a);
	}
	peer_close(&p);
	world_close(&w);
}

static void test_scope(void **state)
{
	struct world w;
	struct peer p;
	struct answer a;
	json_t *info;

	(void)state;
	world_open(&w, NULL);
	peer_open(&w, &p);
	peer_handshake(&w, &p);
	/* HostInfo is for everybody, enabling is not */
	a = ask(&w, &p, "scope", 10, "[]");
	info = json_loadb((char *)a.m->payload.data, a.m->payload.len, 0, NULL);
	assert_int_equal(json_integer_value(json_array_get(info, 0)), 1);
	assert_string_equal(json_string_value(json_array_get(info, 1)), "2.12.388");
	assert_int_equal(json_array_size(json_array_get(info, 5)), 6);
	json_decref(info);
	answer_free(&a);
	expect_error(&w, &p, "scope", 5, "[\"profiler\"]", STATUS_BAD_REQUEST);
	expect_error(&w, &p, "scope", 3, "[\"xml\"]", STATUS_BAD_REQUEST);
	expect_error(&w, &p, "scope", 3, "[]", STATUS_BAD_REQUEST);
	expect(&w, &p, "scope", 3, "[\"json\"]", "[]");
	expect_error(&w, &p, "profiler", 2, "[1]", STATUS_SERVICE_NOT_ENABLED);
	expect_error(&w, &p, "profiler", 99, "[1]", STATUS_SERVICE_NOT_ENABLED);
	expect_error(&w, &p, "nobody", 1, "[]", STATUS_SERVICE_NOT_FOUND);
	expect_error(&w, &p, "scope", 99, "[]", STATUS_COMMAND_NOT_FOUND);
	for (uint32_t id = 5; id <= 6; id++) {
		expect_error(&w, &p, "scope", id, "[\"nobody\"]", STATUS_SERVICE_NOT_FOUND);
		expect_error(&w, &p, "scope", id, "[\"scope\"]", STATUS_BAD_REQUEST);
	}
	expect_error(&w, &p, "scope", 6, "[\"profiler\"]", STATUS_SERVICE_NOT_ENABLED);
	expect(&w, &p, "scope", 5, "[\"profiler\"]", "[\"profiler\"]");
	expect_error(&w, &p, "scope", 5, "[\"profiler\"]", STATUS_SERVICE_ALREADY_ENABLED);
	expect_error(&w, &p, "profiler", 99, "[1]", STATUS_COMMAND_NOT_FOUND);
	expect(&w, &p, "scope", 6, "[\"profiler\"]", "[\"profiler\"]");
	expect_error(&w, &p, "profiler", 2, "[1]", STATUS_SERVICE_NOT_ENABLED);
	expect_error(&w, &p, "scope", 7, "[\"no\\\"body\"]", STATUS_SERVICE_NOT_FOUND);
	expect_error(&w, &p, "scope", 11, "[\"profiler\",[999]]", STATUS_BAD_REQUEST);
	expect_error(&w, &p, "scope", 12, "[\"profiler\",[0]]", STATUS_BAD_REQUEST);
	expect(&w, &p, "scope", 12, "[\"console-logger\",[],1]", "[[]]");
	expect(&w, &p, "scope", 11, "[\"console-logger\",[],1,1]", "[[[1,\"Default\",[]]]]");
	expect(&w, &p, "scope", 7, "[\"console-logger\"]", "[[[\"Clear\",2,1,1],[\"ListMessages\",3,1,1]],"
	       "[[\"OnConsoleMessage\",1,1]]]");
	expect(&w, &p, "scope", 7, "[\"profiler\"]", "[[[\"StartProfiler\",1,1,2],[\"StopProfiler\",2,3,4],[\"GetEvents\",3,5,6],"
	       "[\"ReleaseSession\",4,7,8]],[]]");
	expect(&w, &p, "scope", 8, "[]", "[]");
	/* Connect and Disconnect leave nothing enabled */
	expect(&w, &p, "scope", 5, "[\"profiler\"]", "[\"profiler\"]");
	expect(&w, &p, "scope", 3, "[\"json\"]", "[]");
	expect_error(&w, &p, "profiler", 4, "[]", STATUS_SERVICE_NOT_ENABLED);
	expect(&w, &p, "scope", 5, "[\"profiler\"]", "[\"profiler\"]");
	expect(&w, &p, "scope", 4, "[]", "[]");
	expect_error(&w, &p, "profiler", 4, "[]", STATUS_SERVICE_NOT_ENABLED);
	peer_close(&p);
	world_close(&w);
}

/* An answer has its command's format; a client that speaks XML is told so in XML. */
static void test_formats(void **state)
{
	struct world w;
	struct peer p;
	struct answer a;

	(void)state;
	world_open(&w, NULL);
	peer_ready(&w, &p);
	peer_command(&p, "window-manager", 1, FORMAT_PROTOBUF, 5, NULL, 0);
	a = peer_next(&w, &p);
	assert_int_equal(a.type, STP_RESPONSE);
	assert_int_equal(a.m->format, FORMAT_PROTOBUF);
	assert_int_equal(a.m->payload.len, 2);
	assert_memory_equal(a.m->payload.data, "\x08\x01", 2);
	answer_free(&a);
	peer_command(&p, "profiler", 2, FORMAT_PROTOBUF, 6, "\x08", 1);
	a = peer_next(&w, &p);
	assert_int_equal(a.type, STP_ERROR);
	assert_int_equal(a.m->status, STATUS_BAD_REQUEST);
	assert_int_equal(a.m->payload.data[0], 0x0a);
	answer_free(&a);
	peer_command(&p, "scope", 10, FORMAT_XML, 7, "<Default/>", 10);
	a = peer_next(&w, &p);
	assert_int_equal(a.type, STP_ERROR);
	assert_int_equal(a.m->status, STATUS_BAD_REQUEST);
	assert_int_equal(a.m->format, FORMAT_XML);
	assert_memory_equal(a.m->payload.data, "<ErrorInfo><description>", 24);
	answer_free(&a);
	peer_command(&p, "scope", 10, 9, 8, NULL, 0);
	a = peer_next(&w, &p);
	assert_int_equal(a.m->status, STATUS_BAD_REQUEST);
	answer_free(&a);
	peer_close(&p);
	world_close(&w);
}

static void test_stubs(void **state)
{
	struct scope_host_options opt = { .no_stubs = true };
	char text[STP0_MAX_UNITS + 1];
	struct world w;
	struct peer p;

	(void)state;
	world_open(&w, NULL);
	peer_ready(&w, &p);
	expect(&w, &p, "scope", 5, "[\"exec\"]", "[\"exec\"]");
	expect(&w, &p, "exec", 1, "[[[\"reload\",null,1]]]", "[]");
	expect(&w, &p, "exec", 2, "[]", "[[]]");
	expect(&w, &p, "scope", 5, "[\"ecmascript-debugger\"]", "[\"ecmascript-debugger\"]");
	expect(&w, &p, "ecmascript-debugger", 1, "[[],1]", "[]");
	expect(&w, &p, "ecmascript-debugger", 3, "[1,0,0,\"return 1\",[[\"a\",1]]]", "[]");
	peer_close(&p);
	world_close(&w);

	world_open(&w, &opt);
	peer_open(&w, &p);
	peer_greeting(&w, &p, text);
	assert_string_equal(text, "*services scope,window-manager,profiler,stp-1,core-2-12-388");
	peer_write(&p, enable_stp1, sizeof(enable_stp1));
	WAIT_FOR(&w, &p, p.nr_in >= 6);
	peer_drop(&p, 6);
	expect(&w, &p, "scope", 3, "[\"json\"]", "[]");
	expect_error(&w, &p, "scope", 5, "[\"exec\"]", STATUS_SERVICE_NOT_FOUND);
	expect_error(&w, &p, "exec", 1, "[]", STATUS_SERVICE_NOT_FOUND);
	peer_close(&p);
	world_close(&w);
}

static void test_windows(void **state)
{
	struct world w;
	struct peer p;
	struct answer a;

	(void)state;
	world_open(&w, NULL);
	peer_ready(&w, &p);
	expect(&w, &p, "window-manager", 1, "[]", "[1]");
	expect(&w, &p, "window-manager", 2, "[]", "[[[1,\"One\",\"normal\",0],[2,\"Two\",\"normal\",0]]]");
	expect(&w, &p, "window-manager", 3, "[1,[1]]", "[]");
	expect(&w, &p, "window-manager", 3, "[0,[],[\"*\"]]", "[]");
	expect_error(&w, &p, "window-manager", 3, "[0,[],[\"a*\"]]", STATUS_BAD_REQUEST);
	expect_error(&w, &p, "window-manager", 8, "[]", STATUS_INTERNAL_ERROR);
	expect_error(&w, &p, "window-manager", 9, "[1]", STATUS_INTERNAL_ERROR);
	expect_error(&w, &p, "window-manager", 9, "[3]", STATUS_BAD_REQUEST);
	expect_error(&w, &p, "window-manager", 10, "[3,\"about:blank\"]", STATUS_BAD_REQUEST);
	expect(&w, &p, "window-manager", 11, "[\"replace\",[\"normal\"]]", "[]");
	expect(&w, &p, "window-manager", 2, "[]", "[[]]");
	expect(&w, &p, "window-manager", 11, "[\"default\"]", "[]");
	expect_error(&w, &p, "window-manager", 11, "[\"append\",[\"unheard-of\"]]", STATUS_BAD_REQUEST);
	expect_error(&w, &p, "window-manager", 11, "[\"prepend\",[\"normal\"]]", STATUS_BAD_REQUEST);

	/* a new title, a window gone, a new one that is active: and each told of once */
	w.fake.windows[0].title = "First";
	w.fake.windows[1] = (struct scope_window){ .id = 3, .title = "\xff", .type = "normal", .opener = 1 };
	w.fake.active = 3;
	scope_host_windows_changed(w.host);
	scope_host_windows_changed(w.host);
	static const struct { uint32_t id; const char *json; } want[] = {
		{ 4, "[1,\"First\",\"normal\",0]" }, { 4, "[3,\"\xef\xbf\xbd\",\"normal\",1]" }, { 5, "[2]" }, { 6, "[3]" },
	};
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		a = peer_next(&w, &p);
		assert_int_equal(a.type, STP_EVENT);
		assert_int_equal(a.m->commandid, want[i].id);
		assert_false(a.m->has_tag || a.m->has_status);
		assert_int_equal(a.m->payload.len, strlen(want[i].json));
		assert_memory_equal(a.m->payload.data, want[i].json, a.m->payload.len);
		answer_free(&a);
	}
	/* nothing more, and nothing to a client that has not enabled the service */
	expect(&w, &p, "scope", 6, "[\"window-manager\"]", "[\"window-manager\"]");
	w.fake.nr_windows = 0;
	w.fake.active = 0;
	scope_host_windows_changed(w.host);
	expect(&w, &p, "scope", 5, "[\"window-manager\"]", "[\"window-manager\"]");
	expect_error(&w, &p, "window-manager", 1, "[]", STATUS_INTERNAL_ERROR);
	expect(&w, &p, "window-manager", 2, "[]", "[[]]");
	peer_close(&p);
	world_close(&w);
}

static void test_profiler(void **state)
{
	struct world w;
	struct peer p;

	(void)state;
	world_open(&w, NULL);
	peer_ready(&w, &p);
	expect_error(&w, &p, "profiler", 1, "[7,1]", STATUS_BAD_REQUEST);
	expect_error(&w, &p, "profiler", 1, "[1,0]", STATUS_BAD_REQUEST);
	expect_error(&w, &p, "profiler", 1, "[1,9]", STATUS_BAD_REQUEST);
	expect_error(&w, &p, "profiler", 2, "[1]", STATUS_BAD_REQUEST);
	expect_error(&w, &p, "profiler", 2, "[null]", STATUS_BAD_REQUEST);
	expect(&w, &p, "profiler", 4, "[]", "[]");
	expect(&w, &p, "profiler", 4, "[null]", "[]");
	expect(&w, &p, "profiler", 1, "[1,1]", "[1]");
	expect_error(&w, &p, "profiler", 1, "[1,1]", STATUS_BAD_REQUEST);
	expect_error(&w, &p, "profiler", 2, "[2]", STATUS_BAD_REQUEST);
	expect_error(&w, &p, "profiler", 3, "[1,1]", STATUS_BAD_REQUEST);
	expect_error(&w, &p, "profiler", 4, "[1]", STATUS_BAD_REQUEST);
	expect(&w, &p, "profiler", 4, "[]", "[]");	/* spares it */
	expect(&w, &p, "profiler", 2, "[1]", "[1,1,[[1]]]");
	expect_error(&w, &p, "profiler", 2, "[1]", STATUS_BAD_REQUEST);
	expect(&w, &p, "profiler", 3, "[1,1,1,null,null,[7,8,10,11],null]",
	       "[[1,11.5],[[7,2,0,1,[1,9],1,null,1,8,0],[8,4,0,1,[2,8],2,1,2,6,0],"
	       "[11,0.5,0,1,[11,11.5],5,null,0,0.5,0,null,null,null,null,null,[[1,2,30,40,0,0]]]]]");
	expect(&w, &p, "profiler", 3, "[1,1,3,2,null,[9],[0,262]]",
	       "[[3,6],[[9,2,0,2,[3,6],null,null,null,null,null,[\"#foo .bar\"]]]]");
	expect(&w, &p, "profiler", 3, "[1,1,2,null,1]", "[[1,11.5],[[7,2,0,1,[1,9]],[11,0.5,0,1,[11,11.5]]]]");
	expect(&w, &p, "profiler", 3, "[1,1,1,null,null,[],[100]]", "[null,[]]");
	expect_error(&w, &p, "profiler", 3, "[1,1,9]", STATUS_BAD_REQUEST);
	expect_error(&w, &p, "profiler", 3, "[1,1,0]", STATUS_BAD_REQUEST);
	expect_error(&w, &p, "profiler", 3, "[1,99]", STATUS_BAD_REQUEST);
	expect_error(&w, &p, "profiler", 3, "[1,0]", STATUS_BAD_REQUEST);
	expect_error(&w, &p, "profiler", 3, "[1,1,1,99]", STATUS_BAD_REQUEST);
	expect_error(&w, &p, "profiler", 3, "[1,1,1,null,0]", STATUS_BAD_REQUEST);
	expect_error(&w, &p, "profiler", 3, "[1,1,1,null,null,[],[5,4]]", STATUS_BAD_REQUEST);
	expect_error(&w, &p, "profiler", 3, "[2,1]", STATUS_BAD_REQUEST);
	expect_error(&w, &p, "profiler", 4, "[2]", STATUS_BAD_REQUEST);
	expect(&w, &p, "profiler", 4, "[1]", "[]");
	expect_error(&w, &p, "profiler", 3, "[1,1]", STATUS_BAD_REQUEST);
	expect_error(&w, &p, "profiler", 4, "[1]", STATUS_BAD_REQUEST);
	/* two, and both released at once */
	expect(&w, &p, "profiler", 1, "[2,1]", "[2]");
	expect(&w, &p, "profiler", 2, "[2]", "[2,1,[[1]]]");
	expect(&w, &p, "profiler", 1, "[1,1]", "[3]");
	expect(&w, &p, "profiler", 4, "[null]", "[]");
	expect_error(&w, &p, "profiler", 3, "[2,1]", STATUS_BAD_REQUEST);
	expect(&w, &p, "profiler", 2, "[3]", "[3,1,[[1]]]");
	expect(&w, &p, "scope", 6, "[\"profiler\"]", "[\"profiler\"]");
	expect(&w, &p, "scope", 5, "[\"profiler\"]", "[\"profiler\"]");
	expect_error(&w, &p, "profiler", 3, "[3,1]", STATUS_BAD_REQUEST);
	assert_false(w.fake.stopped[3]);
	peer_close(&p);
	world_close(&w);
}

/* A window none of whose timelines were seen has one all the same. */
static void test_empty_window(void **state)
{
	struct world w;
	struct peer p;

	(void)state;
	world_open(&w, NULL);
	peer_ready(&w, &p);
	expect(&w, &p, "profiler", 1, "[1,2]", "[1]");
	expect(&w, &p, "profiler", 2, "[1]", "[1,2,[[2]]]");
	expect(&w, &p, "profiler", 3, "[1,2]", "[null,[]]");
	expect(&w, &p, "profiler", 3, "[1,2,4]", "[null,[]]");
	expect_error(&w, &p, "profiler", 3, "[1,2,9]", STATUS_BAD_REQUEST);
	expect_error(&w, &p, "profiler", 3, "[1,2,1,1]", STATUS_BAD_REQUEST);
	expect_error(&w, &p, "profiler", 3, "[1,2,1,null,0]", STATUS_BAD_REQUEST);
	expect_error(&w, &p, "profiler", 3, "[1,1]", STATUS_BAD_REQUEST);	/* another window's */
	peer_close(&p);
	world_close(&w);
}

/* While the timelines are being built everything else goes on. */
static void test_stop_takes_time(void **state)
{
	struct world w;
	struct peer p, q;
	struct answer a;

	(void)state;
	world_open(&w, NULL);
	peer_ready(&w, &p);
	peer_ready(&w, &q);
	w.fake.late = true;
	expect(&w, &p, "profiler", 1, "[1,1]", "[1]");
	expect_error(&w, &q, "profiler", 1, "[1,1]", STATUS_BAD_REQUEST);	/* one at a time */
	peer_command(&p, "profiler", 2, FORMAT_PROTOBUF, 4001, "\x08\x01", 2);
	expect(&w, &p, "window-manager", 1, "[]", "[1]");
	expect_error(&w, &p, "profiler", 2, "[1]", STATUS_BAD_REQUEST);	/* an impatient double click */
	expect_error(&w, &p, "profiler", 3, "[1,1]", STATUS_BAD_REQUEST);
	expect_error(&w, &p, "profiler", 4, "[1]", STATUS_BAD_REQUEST);
	expect(&w, &p, "profiler", 4, "[]", "[]");
	expect(&w, &q, "window-manager", 1, "[]", "[1]");
	fake_finish(&w.fake);
	a = peer_next(&w, &p);
	assert_int_equal(a.type, STP_RESPONSE);
	assert_int_equal(a.m->tag, 4001);
	assert_int_equal(a.m->payload.len, 8);
	assert_memory_equal(a.m->payload.data, "\x08\x01\x10\x01\x1a\x02\x08\x01", 8);
	answer_free(&a);
	/* sessions are their client's own */
	expect_error(&w, &q, "profiler", 3, "[1,1]", STATUS_BAD_REQUEST);
	expect_error(&w, &q, "profiler", 4, "[1]", STATUS_BAD_REQUEST);
	expect(&w, &q, "profiler", 4, "[]", "[]");
	assert_true(w.fake.stopped[1]);

	/* what can't be built is an error, and no session */
	w.fake.fail = true;
	w.fake.late = false;
	expect(&w, &p, "profiler", 1, "[1,1]", "[2]");
	expect_error(&w, &p, "profiler", 2, "[2]", STATUS_INTERNAL_ERROR);
	expect_error(&w, &p, "profiler", 4, "[2]", STATUS_BAD_REQUEST);
	peer_close(&p);
	peer_close(&q);
	world_close(&w);
}

/* A StopProfiler that Disable overtakes is answered, too; Connect and Disconnect begin anew, and Connect's answer is
 * the next thing that comes: dragonkeeper takes that for it. */
static void test_stop_overtaken(void **state)
{
	static const struct { uint32_t command; const char *json; bool answered; } rows[] = {
		{ 6, "[\"profiler\"]", true }, { 4, "[]", true }, { 3, "[\"json\"]", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct answer a;
		struct world w;
		struct peer p;

		world_open(&w, NULL);
		peer_ready(&w, &p);
		w.fake.late = true;
		expect(&w, &p, "profiler", 1, "[1,1]", "[1]");
		peer_command(&p, "profiler", 2, FORMAT_JSON, 4001, "[1]", 3);
		peer_command(&p, "scope", rows[i].command, FORMAT_JSON, 4002, rows[i].json, strlen(rows[i].json));
		if (rows[i].answered) {
			a = peer_next(&w, &p);
			assert_int_equal(a.type, STP_ERROR);
			assert_int_equal(a.m->tag, 4001);
			assert_int_equal(a.m->status, STATUS_SERVICE_NOT_ENABLED);
			answer_free(&a);
		}
		a = peer_next(&w, &p);
		assert_int_equal(a.type, STP_RESPONSE);
		assert_int_equal(a.m->tag, 4002);
		answer_free(&a);
		assert_false(w.fake.stopped[1]);
		peer_close(&p);
		world_close(&w);
	}
}

/* Answers that are made on another thread are the same, and keep their order. */
static void test_large_queries(void **state)
{
	struct scope_host_options opt = { .limits = { .inline_events = 1 } };
	struct world w;
	struct peer p, q;

	(void)state;
	world_open(&w, &opt);
	peer_ready(&w, &p);
	peer_ready(&w, &q);
	expect(&w, &p, "profiler", 1, "[1,1]", "[1]");
	expect(&w, &p, "profiler", 2, "[1]", "[1,1,[[1]]]");
	expect(&w, &p, "profiler", 3, "[1,1,3,2,null,[9],[0,262]]",
	       "[[3,6],[[9,2,0,2,[3,6],null,null,null,null,null,[\"#foo .bar\"]]]]");
	expect(&w, &p, "profiler", 3, "[1,1,1,null,null,[99]]", "[null,[]]");
	expect_error(&w, &p, "profiler", 3, "[1,1,9]", STATUS_BAD_REQUEST);
	/* what is pipelined behind such a query waits for it, also what takes the session away */
	peer_command(&p, "profiler", 3, FORMAT_JSON, 1, "[1,1,2,null,1]", 14);
	peer_command(&p, "window-manager", 1, FORMAT_JSON, 2, "[]", 2);
	peer_command(&p, "profiler", 3, FORMAT_JSON, 3, "[1,1,2,null,1]", 14);
	peer_command(&p, "profiler", 4, FORMAT_JSON, 4, "[1]", 3);
	peer_command(&p, "profiler", 3, FORMAT_JSON, 5, "[1,1]", 5);
	for (uint32_t tag = 1; tag <= 5; tag++) {
		struct answer a = peer_next(&w, &p);

		assert_int_equal(a.m->tag, tag);
		assert_int_equal(a.type, tag == 5 ? STP_ERROR : STP_RESPONSE);
		answer_free(&a);
	}
	/* a client that goes meanwhile takes its session with it, but not before the query is done with it */
	for (int i = 0; i < 20; i++) {
		char text[32];

		snprintf(text, sizeof(text), "[%u]", w.fake.last_id + 1);
		expect(&w, &p, "profiler", 1, "[1,1]", text);
		peer_command(&p, "profiler", 2, FORMAT_JSON, 1, text, strlen(text));
		struct answer a = peer_next(&w, &p);
		answer_free(&a);
		snprintf(text, sizeof(text), "[%u,1]", w.fake.last_id);
		peer_command(&p, "profiler", 3, FORMAT_JSON, 1, text, strlen(text));
		for (int k = 0; k < i % 4; k++)
			pump(w.base, NULL);
		peer_close(&p);
		expect(&w, &q, "window-manager", 1, "[]", "[1]");
		WAIT_FOR(&w, &q, scope_host_clients(w.host) == 1 && !w.fake.stopped[w.fake.last_id % FAKE_SESSIONS]);
		peer_ready(&w, &p);
	}
	/* and so does one whose host goes */
	expect(&w, &q, "profiler", 1, "[1,1]", "[22]");
	expect(&w, &q, "profiler", 2, "[22]", "[22,1,[[1]]]");
	peer_command(&q, "profiler", 3, FORMAT_JSON, 1, "[22,1]", 6);
	pump(w.base, NULL);
	world_close(&w);
	peer_close(&p);
	peer_close(&q);
}

/* Whoever goes, by whichever way, leaves nothing behind, and nothing running. */
static void test_leaving(void **state)
{
	struct world w;
	struct peer p, q;

	(void)state;
	world_open(&w, NULL);
	peer_ready(&w, &q);
	for (int i = 0; i < 4; i++) {
		int id = 2 * i + 1;
		char text[32];

		peer_ready(&w, &p);
		w.fake.late = false;
		snprintf(text, sizeof(text), "[%d]", id);
		expect(&w, &p, "profiler", 1, "[1,1]", text);
		peer_command(&p, "profiler", 2, FORMAT_JSON, 1, text, strlen(text));
		struct answer a = peer_next(&w, &p);
		answer_free(&a);
		snprintf(text, sizeof(text), "[%d]", id + 1);
		expect(&w, &p, "profiler", 1, "[1,1]", text);
		w.fake.late = true;
		if (i & 1) {	/* in the middle of stopping */
			peer_command(&p, "profiler", 2, FORMAT_JSON, 1, text, strlen(text));
			expect(&w, &p, "window-manager", 1, "[]", "[1]");
			assert_int_equal(w.fake.stopping, id + 1);
		}
		if (i & 2)
			expect(&w, &p, "scope", 3, "[\"json\"]", "[]");
		peer_close(&p);
		WAIT_FOR(&w, &q, scope_host_clients(w.host) == 1);
		assert_int_equal(w.fake.running, 0);
		assert_int_equal(w.fake.stopping, 0);
		assert_false(w.fake.stopped[id]);
		assert_int_equal(w.fake.discards, 2 * (i + 1));
	}
	w.fake.late = false;
	expect(&w, &q, "profiler", 1, "[1,1]", "[9]");
	peer_close(&q);
	world_close(&w);
}

static void test_quit(void **state)
{
	struct world w;
	struct peer p;
	struct answer a;

	(void)state;
	world_open(&w, NULL);
	peer_ready(&w, &p);
	world_close(&w);
	peer_read(&p, SIZE_MAX);
	a = peer_take(&p);
	assert_int_equal(a.type, STP_EVENT);
	assert_string_equal(a.m->service, "scope");
	assert_int_equal(a.m->commandid, 1);
	answer_free(&a);
	peer_read(&p, SIZE_MAX);
	assert_true(p.eof);
	peer_close(&p);
}

/* Frames of other versions and types are skipped. */
static void test_unknown_frames(void **state)
{
	struct bytes b = make_command("scope", 10, FORMAT_JSON, 1, "[]", 2);
	struct world w;
	struct peer p;

	(void)state;
	world_open(&w, NULL);
	peer_ready(&w, &p);
	b.p[3] = 0;
	peer_write(&p, b.p, b.n);
	b.p[3] = 2;
	peer_write(&p, b.p, b.n);
	b.p[3] = 1;
	b.p[5] = 9;	/* TYPE */
	peer_write(&p, b.p, b.n);
	bytes_free(&b);
	expect(&w, &p, "window-manager", 1, "[]", "[1]");
	peer_close(&p);
	world_close(&w);
}

static int connect_unix(const char *path)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(sa.sun_path, sizeof(sa.sun_path), "%s", path);
	if (connect(fd, (struct sockaddr *)&sa, sizeof(sa))) {
		close(fd);
		return -1;
	}
	return fd;
}

static void test_unix_socket(void **state)
{
	char dir[] = "/tmp/framescope-test-XXXXXX", path[64], plain[64];
	struct scope_host_options opt = { .unix_path = path };
	struct scope_host *second;
	struct error err = { 0 };
	struct stat st;
	struct world w;
	struct peer p;
	int fd;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/s", dir);
	snprintf(plain, sizeof(plain), "%s/plain", dir);
	world_open(&w, &opt);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode, S_IFSOCK | 0600);
	fd = connect_unix(path);
	assert_true(fd >= 0);
	peer_adopt(&p, fd);
	peer_handshake(&w, &p);
	expect(&w, &p, "scope", 3, "[\"json\"]", "[]");
	/* somebody listens there */
	assert_int_equal(scope_host_new(w.base, &opt, &w.fake.backend, &second, &err), -EADDRINUSE);
	peer_close(&p);
	world_close(&w);
	assert_int_equal(stat(path, &st), -1);

	/* a leftover is replaced, a file is not */
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	snprintf(sa.sun_path, sizeof(sa.sun_path), "%s", path);
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
	close(fd);
	world_open(&w, &opt);
	close(open(plain, O_CREAT | O_WRONLY, 0600));
	opt.unix_path = plain;
	assert_int_equal(scope_host_new(w.base, &opt, &w.fake.backend, &second, &err), -EEXIST);
	assert_int_equal(stat(plain, &st), 0);
	world_close(&w);
	unlink(plain);
	assert_int_equal(rmdir(dir), 0);
}

static void test_addresses(void **state)
{
	static const struct { const char *address; int rc; } cases[] = {
		{ "0.0.0.0:0", -EPERM }, { "[::]:0", -EPERM }, { "192.0.2.1:7001", -EPERM }, { "7001", -EINVAL }, { ":7001", -EINVAL },
		{ "127.0.0.1:", -EINVAL }, { "127.0.0.1:http-of-sorts", -EINVAL }, { "[::ffff:192.0.2.1]:7001", -EPERM },
	};
	struct event_base *base = event_base_new();
	struct scope_backend backend = { 0 };
	struct scope_host *h;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct scope_host_options listening = { .listen = cases[i].address }, dialling = { .dial = cases[i].address };
		struct error err = { 0 };

		assert_int_equal(scope_host_new(base, &listening, &backend, &h, &err), cases[i].rc);
		assert_int_equal(err.kind, ERR_USAGE);
		assert_int_equal(scope_host_new(base, &dialling, &backend, &h, &err), cases[i].rc);
	}
	struct scope_host_options any = { .listen = "0.0.0.0:0", .insecure_bind = true };
	assert_int_equal(scope_host_new(base, &any, &backend, &h, NULL), 0);
	assert_true(scope_host_port(h));

	/* where another one listens; what isn't ours */
	char taken[32];
	struct error err = { 0 };
	struct scope_host *other;
	snprintf(taken, sizeof(taken), "127.0.0.1:%u", scope_host_port(h));
	any.listen = taken;
	assert_int_equal(scope_host_new(base, &any, &backend, &other, &err), -EADDRINUSE);
	assert_non_null(strstr(err.text, "another program listens on 127.0.0.1:"));
	assert_non_null(strstr(err.text, "--listen"));
	any.listen = "192.0.2.1:7001";
	assert_int_equal(scope_host_new(base, &any, &backend, &other, &err), -EADDRNOTAVAIL);
	assert_non_null(strstr(err.text, "no address of this machine"));
	scope_host_free(h);
	event_base_free(base);
}

static int listen_tcp(uint16_t *port)
{
	struct sockaddr_in sa = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons(*port) };
	socklen_t n = sizeof(sa);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), on = 1;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	assert_int_equal(bind(fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
	assert_int_equal(listen(fd, 1), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&sa, &n), 0);
	*port = ntohs(sa.sin_port);
	return fd;
}

/* The host dials, is let down, and dials again. */
static void test_dial(void **state)
{
	struct scope_host_options opt = { 0 };
	struct peer dummy = { .fd = -1 }, p;
	char address[32];
	uint16_t port = 0;
	struct world w;
	int fd, conn;

	(void)state;
	fd = listen_tcp(&port);
	snprintf(address, sizeof(address), "127.0.0.1:%u", port);
	close(fd);
	opt.dial = address;
	world_open(&w, &opt);
	WAIT_FOR(&w, &dummy, strstr(w.log, "can't reach the client"));
	fd = listen_tcp(&port);
	for (int i = 0; i < 2; i++) {
		WAIT_FOR(&w, &dummy, (conn = accept(fd, NULL, NULL)) >= 0);
		peer_adopt(&p, conn);
		peer_handshake(&w, &p);
		expect(&w, &p, "scope", 3, "[\"json\"]", "[]");
		assert_int_equal(scope_host_clients(w.host), 1);
		peer_close(&p);
	}
	close(fd);
	free(dummy.in);
	world_close(&w);
}

static void test_listen(void **state)
{
	struct scope_host_options opt = { .listen = "127.0.0.1:0" };
	struct sockaddr_in sa = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct world w;
	struct peer p;
	int fd;

	(void)state;
	world_open(&w, &opt);
	sa.sin_port = htons(scope_host_port(w.host));
	fd = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
	peer_adopt(&p, fd);
	peer_handshake(&w, &p);
	expect(&w, &p, "scope", 3, "[\"json\"]", "[]");
	peer_close(&p);
	world_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_handshake),
		cmocka_unit_test(test_pipelined),
		cmocka_unit_test(test_scope),
		cmocka_unit_test(test_formats),
		cmocka_unit_test(test_stubs),
		cmocka_unit_test(test_windows),
		cmocka_unit_test(test_profiler),
		cmocka_unit_test(test_empty_window),
		cmocka_unit_test(test_stop_takes_time), cmocka_unit_test(test_stop_overtaken),
		cmocka_unit_test(test_large_queries),
		cmocka_unit_test(test_leaving),
		cmocka_unit_test(test_quit),
		cmocka_unit_test(test_unknown_frames),
		cmocka_unit_test(test_unix_socket),
		cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_dial),
		cmocka_unit_test(test_listen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
