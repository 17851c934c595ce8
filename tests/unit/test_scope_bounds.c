// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Clients that harm: slow, silent, greedy or broken ones. The host bounds each, and goes on answering the others. */
#include "unit/scope_peer.h"
#include <sys/un.h>

/* Opens a client, feeds it bytes behind the handshake (or before it), and expects to be thrown out. */
static void expect_closed(struct world *w, bool handshake, const void *data, size_t n, const char *why)
{
	struct peer p;

	peer_open(w, &p);
	if (handshake)
		peer_handshake(w, &p);
	w->log[0] = '\0';
	peer_write(&p, data, n);
	WAIT_FOR(w, &p, p.eof);
	if (!strstr(w->log, why))
		fail_msg("the log says '%s', not '%s'", w->log, why);
	peer_close(&p);
}

static void test_garbage(void **state)
{
	static const uint8_t too_long[] = { 'S', 'T', 'P', 1, 0x81, 0x80, 0x10 };	/* 256 KiB and one byte */
	static const uint8_t huge[] = { 'S', 'T', 'P', 1, 0xff, 0xff, 0xff, 0xff, 0x0f };
	static const uint8_t stp0[] = { 0, '1', 0, '3', 0, ' ', 0, '*', 0, 'e', 0, 'n', 0, 'a', 0, 'b', 0, 'l', 0, 'e', 0, ' ',
					0, 's', 0, 't', 0, 'p', 0, '-', 0, '0' };
	struct world w;
	struct peer good;

	(void)state;
	world_open(&w, NULL);
	peer_ready(&w, &good);
	expect_closed(&w, false, "GET / HTTP/1.1\r\n\r\n", 18, "not STP/1");
	expect_closed(&w, false, stp0, sizeof(stp0), "Only STP/1");
	expect_closed(&w, false, "\0009\0009\0009\0009", 8, "too long");
	expect_closed(&w, true, "\x16\x03\x01", 3, "not STP/1");
	expect_closed(&w, true, "STP\x01\x00", 5, "not STP/1");
	expect_closed(&w, true, "STP\x01\x05\x01\xff\xff\xff\xff", 10, "not STP/1");
	expect_closed(&w, true, too_long, sizeof(too_long), "too long");
	expect_closed(&w, true, huge, sizeof(huge), "too long");
	expect(&w, &good, "window-manager", 1, "[]", "[1]");
	peer_close(&good);
	world_close(&w);
}

/* A connected client is told why it is thrown out. */
static void test_last_words(void **state)
{
	struct world w;
	struct peer p;
	struct answer a;

	(void)state;
	world_open(&w, NULL);
	peer_ready(&w, &p);
	peer_write(&p, "STP\x01\x00", 5);
	a = peer_next(&w, &p);
	assert_int_equal(a.type, STP_EVENT);
	assert_int_equal(a.m->commandid, 9);
	answer_free(&a);
	WAIT_FOR(&w, &p, p.eof);
	peer_close(&p);
	world_close(&w);
}

static void test_deadlines(void **state)
{
	struct scope_host_options opt = { .limits = { .handshake_ms = 60, .frame_ms = 60, .connect_ms = 60 } };
	struct world w;
	struct peer good, p;

	(void)state;
	world_open(&w, &opt);
	peer_ready(&w, &good);
	expect_closed(&w, false, "", 0, "*enable stp-1");
	expect_closed(&w, false, enable_stp1, sizeof(enable_stp1) - 1, "*enable stp-1");
	expect_closed(&w, true, "", 0, "scope.Connect");
	expect_closed(&w, true, "STP\x01\x80", 5, "the rest of a frame");
	expect_closed(&w, true, "S", 1, "the rest of a frame");

	/* half a frame from a client that had been well until then; a byte now and then is no excuse */
	peer_ready(&w, &p);
	peer_write(&p, "STP\x01\x7f", 5);
	for (uint64_t end = now_ms() + 20000; !p.eof && now_ms() < end; ) {
		peer_write(&p, "\x01", 1);
		pump(w.base, NULL);
		peer_read(&p, SIZE_MAX);
		usleep(5000);
	}
	assert_true(p.eof);
	peer_close(&p);
	/* one that is connected may be silent for as long as it likes */
	expect(&w, &good, "window-manager", 1, "[]", "[1]");
	peer_close(&good);
	world_close(&w);
}

/* Answers that nobody takes: no more commands are read, and after a while the client is closed. */
static void test_slow_reader(void **state)
{
	struct scope_host_options opt = { .limits = { .high_water = 65536, .write_ms = 300 } };
	struct bytes b = make_command("scope", 7, FORMAT_JSON, 1, "[\"ecmascript-debugger\"]", 23);
	size_t asked = 0, answered = 0;
	struct world w;
	struct peer good, slow;
	struct answer a;

	(void)state;
	world_open(&w, &opt);
	peer_ready(&w, &good);
	peer_ready(&w, &slow);
	/* as many as the socket takes: far more than the host would hold answers for */
	for (int i = 0; i < 100000; i++) {
		ssize_t n = send(slow.fd, b.p, b.n, MSG_NOSIGNAL);

		if (n != (ssize_t)b.n) {
			if (n > 0)
				asked++;	/* cut off: the rest does not count */
			break;
		}
		asked++;
		pump(w.base, NULL);
	}
	assert_true(asked > 100 && asked < 100000);
	expect(&w, &good, "window-manager", 1, "[]", "[1]");
	/* when it reads at last, everything is there */
	w.log[0] = '\0';
	while (answered < asked - 1) {
		WAIT_FOR(&w, &slow, (a = peer_take(&slow)).m || slow.eof);
		if (!a.m)
			break;
		assert_int_equal(a.type, STP_RESPONSE);
		answer_free(&a);
		answered++;
	}
	assert_int_equal(answered, asked - 1);
	/* and when it doesn't, it is closed */
	peer_close(&slow);
	peer_ready(&w, &slow);
	for (uint64_t end = now_ms() + 20000; !strstr(w.log, "does not read") && now_ms() < end; ) {
		if (send(slow.fd, b.p, b.n, MSG_NOSIGNAL) < 0 && errno != EAGAIN)
			break;
		pump(w.base, NULL);
	}
	assert_non_null(strstr(w.log, "does not read"));
	expect(&w, &good, "window-manager", 1, "[]", "[1]");
	bytes_free(&b);
	peer_close(&slow);
	peer_close(&good);
	world_close(&w);
}

/* A window that changes meanwhile is not forgotten, and not queued a thousand times. */
static void test_slow_reader_of_events(void **state)
{
	struct scope_host_options opt = { .limits = { .high_water = 4096 } };
	struct bytes b = make_command("scope", 7, FORMAT_JSON, 1, "[\"ecmascript-debugger\"]", 23);
	struct world w;
	struct peer p;
	int events = 0;

	(void)state;
	world_open(&w, &opt);
	peer_ready(&w, &p);
	/* until the host stops reading, and the socket is full both ways */
	for (bool full = false; !full; ) {
		full = true;
		for (int i = 0; i < 100; i++)
			if (send(p.fd, b.p, b.n, MSG_NOSIGNAL) == (ssize_t)b.n)
				full = false;
		for (int i = 0; i < 10; i++)
			pump(w.base, NULL);
	}
	bytes_free(&b);
	for (int i = 0; i < 1000; i++) {
		w.fake.windows[0].title = i & 1 ? "odd" : "even";
		scope_host_windows_changed(w.host);
	}
	for (uint64_t end = now_ms() + 20000; now_ms() < end && !events; ) {
		struct answer a;

		pump(w.base, NULL);
		peer_read(&p, SIZE_MAX);
		while ((a = peer_take(&p)).m) {
			if (a.type == STP_EVENT) {
				assert_non_null(memmem(a.m->payload.data, a.m->payload.len, "odd", 3));
				events++;
			}
			answer_free(&a);
		}
	}
	assert_int_equal(events, 1);
	peer_close(&p);
	world_close(&w);
}

/* Thousands of commands at once: the other client's turn comes long before they are done. */
static void test_flood(void **state)
{
	struct bytes one = make_command("window-manager", 1, FORMAT_JSON, 1, "[]", 2);
	struct bytes all = { .max = 1 << 24 };
	struct world w;
	struct peer flood, good;
	struct answer a;
	int before = 0;

	(void)state;
	world_open(&w, NULL);
	peer_ready(&w, &flood);
	peer_ready(&w, &good);
	for (int i = 0; i < 2000; i++)
		bytes_add(&all, one.p, one.n);
	peer_write(&flood, all.p, all.n);
	peer_command(&good, "window-manager", 1, FORMAT_JSON, 7, "[]", 2);
	a = peer_next(&w, &good);
	assert_int_equal(a.type, STP_RESPONSE);
	answer_free(&a);
	peer_read(&flood, SIZE_MAX);
	while ((a = peer_take(&flood)).m) {
		before++;
		answer_free(&a);
	}
	assert_true(before < 200);
	bytes_free(&all);
	bytes_free(&one);
	peer_close(&flood);
	peer_close(&good);
	world_close(&w);
}

static void test_large_answer(void **state)
{
	struct scope_host_options opt = { .limits = { .max_reply = 1000 } };
	struct world w;
	struct peer p;

	(void)state;
	world_open(&w, &opt);
	peer_ready(&w, &p);
	expect_error(&w, &p, "scope", 7, "[\"ecmascript-debugger\"]", STATUS_OUT_OF_MEMORY);
	expect(&w, &p, "window-manager", 1, "[]", "[1]");
	peer_close(&p);
	world_close(&w);
}

static void test_many_clients(void **state)
{
	struct scope_host_options opt = { .max_clients = 3, .limits = { .idle_ms = 50 } };
	struct world w;
	struct peer p[3], q;
	struct error err = { 0 };
	int fd[2];

	(void)state;
	world_open(&w, &opt);
	for (int i = 0; i < 3; i++)
		peer_ready(&w, &p[i]);
	expect(&w, &p[1], "profiler", 1, "[1,1]", "[1]");
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
	assert_int_equal(scope_host_add_client(w.host, fd[1], &err), -EUSERS);
	close(fd[0]);
	/* the longest idle one gives way, but not the one that records */
	usleep(60000);
	expect(&w, &p[2], "window-manager", 1, "[]", "[1]");
	peer_ready(&w, &q);
	WAIT_FOR(&w, &p[0], p[0].eof);
	expect(&w, &p[1], "profiler", 2, "[1]", "[1,1,[[1]]]");
	for (int i = 0; i < 3; i++)
		peer_close(&p[i]);
	peer_close(&q);
	world_close(&w);
}

/* Who only connects keeps nobody out: the oldest of them gives way at once, those that speak stay. */
static void test_silent_clients(void **state)
{
	struct scope_host_options opt = { .max_clients = 4 };
	struct world w;
	struct peer ready, silent[3], late[3];

	(void)state;
	world_open(&w, &opt);
	peer_ready(&w, &ready);
	for (int i = 0; i < 3; i++) {
		peer_open(&w, &silent[i]);
		usleep(2000);
	}
	for (int i = 0; i < 3; i++) {
		assert_int_equal(scope_host_clients(w.host), 4);
		peer_ready(&w, &late[i]);
		WAIT_FOR(&w, &silent[i], silent[i].eof);
		if (i < 2)
			assert_false(silent[i + 1].eof);
	}
	expect(&w, &ready, "window-manager", 1, "[]", "[1]");
	for (int i = 0; i < 3; i++) {
		expect(&w, &late[i], "window-manager", 1, "[]", "[1]");
		peer_close(&silent[i]);
		peer_close(&late[i]);
	}
	peer_close(&ready);
	world_close(&w);
}

/* --- broken conversations --- */

/* A valid conversation as a client sends it, in either format, and in both for what takes arguments. */
static struct bytes make_conversation(int format)
{
	static const struct { const char *service; uint32_t id; const char *json, *pb; size_t nr; } steps[] = {
		{ "scope", 10, "[]", "", 0 }, { "scope", 3, "[\"json\"]", "\x0a\x08protobuf", 10 },
		{ "scope", 12, "[\"profiler\",[],1]", "\x0a\x08profiler\x18\x01", 12 },
		{ "scope", 7, "[\"profiler\"]", "\x0a\x08profiler", 10 },
		{ "scope", 11, "[\"profiler\",[1,2],1]", "\x0a\x08profiler\x10\x01\x10\x02\x18\x01", 16 },
		{ "scope", 5, "[\"window-manager\"]", "\x0a\x0ewindow-manager", 16 },
		{ "scope", 5, "[\"profiler\"]", "\x0a\x08profiler", 10 },
		{ "window-manager", 2, "[]", "", 0 },
		{ "window-manager", 3, "[1,[1,2],[\"*\"]]", "\x08\x01\x10\x01\x10\x02\x1a\x01*", 9 },
		{ "window-manager", 11, "[\"append\",[\"info\"]]", "\x0a\x04info\x12\x06" "append", 14 },
		{ "profiler", 1, "[1,1]", "\x08\x01\x10\x01", 4 }, { "profiler", 2, "[1]", "\x08\x01", 2 },
		{ "profiler", 3, "[1,1,1,null,null,[7,8],[0,262]]",
		  "\x08\x01\x10\x01\x18\x01\x30\x07\x30\x08\x3a\x09\x09\0\0\0\0\0\0\x14\x40", 21 },
		{ "profiler", 3, "[1,1,3,2,1,[9]]", "\x08\x01\x10\x01\x18\x03\x20\x02\x28\x01\x30\x09", 12 },
		{ "profiler", 4, "[null]", "", 0 }, { "scope", 6, "[\"profiler\"]", "\x0a\x08profiler", 10 },
		{ "scope", 4, "[]", "", 0 },
	};
	struct bytes all = { .max = 1 << 20 };

	bytes_add(&all, enable_stp1, sizeof(enable_stp1));
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		bool json = format == FORMAT_JSON;
		struct bytes b = make_command(steps[i].service, steps[i].id, format, i, json ? steps[i].json : steps[i].pb,
					      json ? strlen(steps[i].json) : steps[i].nr);

		bytes_add(&all, b.p, b.n);
		bytes_free(&b);
	}
	return all;
}

/* Feeds it to a new client, lets the host deal with it, and goes. */
static void feed(struct world *w, const uint8_t *data, size_t n)
{
	struct peer p;

	peer_open(w, &p);
	peer_write(&p, data, n);
	for (int i = 0; i < 8; i++)
		pump(w->base, &w->fake);
	peer_close(&p);
	for (int i = 0; i < 2; i++)
		pump(w->base, &w->fake);
}

/* The host is alive: nothing runs, nobody is left but the asking client. */
static void check_alive(struct world *w, struct peer *good)
{
	WAIT_FOR(w, good, scope_host_clients(w->host) == 1);
	assert_int_equal(w->fake.running, 0);
	assert_int_equal(w->fake.stopping, 0);
	expect(w, good, "window-manager", 1, "[]", "[1]");
}

static void test_truncated(void **state)
{
	struct world w;
	struct peer good;

	(void)state;
	world_open(&w, NULL);
	peer_ready(&w, &good);
	for (int format = FORMAT_PROTOBUF; format <= FORMAT_JSON; format++) {
		struct bytes talk = make_conversation(format);

		for (size_t n = 0; n <= talk.n; n++) {
			feed(&w, talk.p, n);
			if (n % 64 == 0)
				check_alive(&w, &good);
		}
		bytes_free(&talk);
	}
	check_alive(&w, &good);
	peer_close(&good);
	world_close(&w);
}

static uint32_t next_random(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005 + 1442695040888963407;
	return *seed >> 33;
}

/* One to four changes: a byte, a bit, a piece cut out, doubled or swapped for one of the other conversation. */
static size_t mutate(uint8_t *data, size_t n, size_t room, const struct bytes *other, uint64_t *seed)
{
	for (uint32_t changes = 1 + next_random(seed) % 4; changes; changes--) {
		size_t at = next_random(seed) % n, len = 1 + next_random(seed) % 24;

		if (len > n - at)
			len = n - at;
		switch (next_random(seed) % 5) {
		case 0:
			data[at] = next_random(seed);
			break;
		case 1:
			data[at] ^= 1u << next_random(seed) % 8;
			break;
		case 2:
			memmove(data + at, data + at + len, n - at - len);
			n -= len < n ? len : 0;
			break;
		case 3:
			if (n + len > room)
				break;
			memmove(data + at + len, data + at, n - at);
			n += len;
			break;
		case 4:
			if (at + len < other->n)
				memcpy(data + at, other->p + at, len);
			break;
		}
	}
	return n;
}

static void test_mutated(void **state)
{
	struct bytes talks[2] = { make_conversation(FORMAT_PROTOBUF), make_conversation(FORMAT_JSON) };
	uint64_t seed = 20111231;
	struct world w;
	struct peer good;

	(void)state;
	world_open(&w, NULL);
	peer_ready(&w, &good);
	for (int i = 0; i < 10000; i++) {
		const struct bytes *talk = &talks[i & 1];
		uint8_t data[4096];
		size_t n = talk->n;

		assert_true(n < sizeof(data) / 2);
		memcpy(data, talk->p, n);
		/* mostly behind the handshake, without which nothing is looked at */
		if (i % 8)
			n = sizeof(enable_stp1) + mutate(data + sizeof(enable_stp1), n - sizeof(enable_stp1),
							 sizeof(data) - sizeof(enable_stp1), &talks[!(i & 1)], &seed);
		else
			n = mutate(data, n, sizeof(data), &talks[!(i & 1)], &seed);
		feed(&w, data, n);
		if (i % 100 == 0)
			check_alive(&w, &good);
	}
	check_alive(&w, &good);
	bytes_free(&talks[0]);
	bytes_free(&talks[1]);
	peer_close(&good);
	world_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_garbage),
		cmocka_unit_test(test_last_words),
		cmocka_unit_test(test_deadlines),
		cmocka_unit_test(test_slow_reader),
		cmocka_unit_test(test_slow_reader_of_events),
		cmocka_unit_test(test_flood),
		cmocka_unit_test(test_large_answer),
		cmocka_unit_test(test_many_clients), cmocka_unit_test(test_silent_clients),
		cmocka_unit_test(test_truncated),
		cmocka_unit_test(test_mutated),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
