// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The Scope wire against bytes that were put together by hand: STP/0, STP/1, and payloads in both encodings. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "scope/codec.h"
#include "scope/describe.h"
#include "scope/profiler.pb-c.h"
#include "scope/window_manager.pb-c.h"

#define MAX 65536

/* "0a 05 73" -> bytes */
static size_t unhex(const char *hex, uint8_t *out)
{
	size_t n = 0;

	for (; *hex; hex += hex[2] ? 3 : 2)
		out[n++] = strtoul((char[]){ hex[0], hex[1], 0 }, NULL, 16);
	return n;
}

static void assert_bytes(struct bytes *b, const char *hex)
{
	uint8_t want[1024];
	size_t n = unhex(hex, want);

	assert_false(b->failed);
	assert_int_equal(b->n, n);
	assert_memory_equal(b->p, want, n);
	bytes_free(b);
}

static void assert_text(struct bytes *b, const char *want)
{
	bytes_add(b, "", 1);
	assert_false(b->failed);
	assert_string_equal((char *)b->p, want);
	bytes_free(b);
}

#define ENABLE "00 31 00 33 00 20 00 2a 00 65 00 6e 00 61 00 62 00 6c 00 65 00 20 00 73 00 74 00 70 00 2d 00 31"

static void test_stp0(void **state)
{
	struct bytes b = { .max = MAX };
	char text[STP0_MAX_UNITS + 1];
	uint8_t in[256];
	size_t n = unhex(ENABLE, in);

	(void)state;
	stp0_write(&b, "*services scope,profiler,stp-0,stp-1");
	assert_int_equal(b.n, 2 * (3 + 36));
	b.n = 10;
	assert_bytes(&b, "00 33 00 36 00 20 00 2a 00 73");

	for (size_t i = 0; i < n; i++)
		assert_int_equal(stp0_parse(in, i, text), 0);
	in[n] = 'S';
	assert_int_equal(stp0_parse(in, n + 1, text), n);
	assert_string_equal(text, "*enable stp-1");
}

static void test_stp0_malformed(void **state)
{
	char text[STP0_MAX_UNITS + 1];
	uint8_t in[64];

	(void)state;
	assert_int_equal(stp0_parse(in, unhex("47 45 54 20", in), text), -EBADMSG);	/* GET */
	assert_int_equal(stp0_parse(in, unhex("00 20", in), text), -EBADMSG);
	assert_int_equal(stp0_parse(in, unhex("00 2d 00 31 00 20", in), text), -EBADMSG);
	assert_int_equal(stp0_parse(in, unhex("00 39 00 39 00 39", in), text), -EMSGSIZE);
	assert_int_equal(stp0_parse(in, unhex("00 30 00 30 00 30 00 30 00 30 00 30 00 30 00 30 00 30 00 30", in), text),
			 -EMSGSIZE);
	/* empty, and with a character beyond ASCII */
	assert_int_equal(stp0_parse(in, unhex("00 30 00 20", in), text), 4);
	assert_string_equal(text, "");
	assert_int_equal(stp0_parse(in, unhex("00 32 00 20 20 ac 00 41", in), text), 8);
	assert_string_equal(text, "?A");
}

static void test_stp1_head(void **state)
{
	uint8_t in[64], version;
	uint32_t size;
	size_t head;

	(void)state;
	assert_int_equal(stp1_head(in, unhex("53 54 50 01 ac 02", in), &version, &head, &size), 1);
	assert_int_equal(version, 1);
	assert_int_equal(head, 6);
	assert_int_equal(size, 300);
	for (size_t i = 1; i < 6; i++)
		assert_int_equal(stp1_head(in, i, &version, &head, &size), 0);
	assert_int_equal(stp1_head(in, unhex("53 54 50 00 05", in), &version, &head, &size), 1);
	assert_int_equal(version, 0);
	assert_int_equal(stp1_head(in, unhex("53 54 50 01 ff ff ff ff 0f", in), &version, &head, &size), 1);
	assert_true(size == UINT32_MAX);
	assert_int_equal(stp1_head(in, unhex("53 54 50 01 ff ff ff ff 1f", in), &version, &head, &size), -EBADMSG);
	assert_int_equal(stp1_head(in, unhex("53 54 50 01 80 80 80 80 80 01", in), &version, &head, &size), -EBADMSG);
	assert_int_equal(stp1_head(in, unhex("53 54 51", in), &version, &head, &size), -EBADMSG);
	assert_int_equal(stp1_head(in, unhex("54", in), &version, &head, &size), -EBADMSG);
}

static void test_stp1_write(void **state)
{
	Transport__TransportMessage m = TRANSPORT__TRANSPORT_MESSAGE__INIT;
	struct bytes b = { .max = MAX };

	(void)state;
	m.service = "scope";
	m.commandid = 3;
	m.format = FORMAT_JSON;
	m.has_tag = 1;
	m.tag = 0;	/* legal, and sent */
	stp1_write(&b, STP_RESPONSE, &m, 2);
	bytes_add(&b, "[]", 2);
	assert_bytes(&b, "53 54 50 01 12 02 0a 05 73 63 6f 70 65 10 03 18 01 28 00 42 02 5b 5d");

	m.has_tag = 0;
	m.has_status = 1;
	m.status = STATUS_BAD_REQUEST;
	b = (struct bytes){ .max = MAX };
	stp1_write(&b, STP_ERROR, &m, 0);
	assert_bytes(&b, "53 54 50 01 10 04 0a 05 73 63 6f 70 65 10 03 18 01 20 03 42 00");
}

static void test_stp1_body(void **state)
{
	Transport__TransportMessage *m;
	uint8_t in[128];
	uint64_t type;
	size_t n;

	(void)state;
	/* fields 6 and 7 of the draft are there and ignored */
	n = unhex("01 0a 05 73 63 6f 70 65 10 0a 18 00 28 ff ff ff ff 07 30 07 3a 02 69 64 42 03 01 02 03", in);
	assert_int_equal(stp1_body(in, n, &type, &m), 0);
	assert_int_equal(type, STP_COMMAND);
	assert_string_equal(m->service, "scope");
	assert_int_equal(m->commandid, 10);
	assert_true(m->tag == 0x7fffffff);
	assert_int_equal(m->payload.len, 3);
	transport__transport_message__free_unpacked(m, NULL);
	/* what is left out is no message, wherever it is cut off before the payload */
	for (size_t i = 0; i < 12; i++)
		assert_int_equal(stp1_body(in, i, &type, &m), -EBADMSG);
	assert_int_equal(stp1_body(in, n - 1, &type, &m), -EBADMSG);
}

static ProtobufCMessage *decode(enum stp_format format, const ProtobufCMessageDescriptor *d, const void *p, size_t n)
{
	ProtobufCMessage *m = NULL;
	struct error err = { 0 };

	if (codec_decode(format, d, p, n, &m, &err)) {
		assert_int_equal(err.kind, ERR_USAGE);
		assert_true(err.text[0]);
		return NULL;
	}
	return m;
}

static void *from_json(const ProtobufCMessageDescriptor *d, const char *json)
{
	return decode(FORMAT_JSON, d, json, strlen(json));
}

static void free_message(void *m)
{
	assert_non_null(m);
	protobuf_c_message_free_unpacked(m, NULL);
}

/* The same message in both encodings, in both directions. */
static void check_both(const ProtobufCMessageDescriptor *d, const char *json, const char *hex)
{
	struct bytes b = { .max = MAX };
	ProtobufCMessage *m;
	uint8_t in[1024];
	size_t n = unhex(hex, in);

	m = from_json(d, json);
	assert_non_null(m);
	codec_encode(FORMAT_PROTOBUF, m, NULL, &b);
	assert_bytes(&b, hex);
	b = (struct bytes){ .max = MAX };
	codec_encode(FORMAT_JSON, m, NULL, &b);
	assert_text(&b, json);
	free_message(m);

	m = decode(FORMAT_PROTOBUF, d, in, n);
	assert_non_null(m);
	b = (struct bytes){ .max = MAX };
	codec_encode(FORMAT_JSON, m, NULL, &b);
	assert_text(&b, json);
	free_message(m);
}

static void test_both_encodings(void **state)
{
	(void)state;
	check_both(&profiler__start_profiler_arg__descriptor, "[1,1]", "08 01 10 01");
	check_both(&profiler__session__descriptor, "[7,1,[[11,3],[12]]]", "08 07 10 01 1a 04 08 0b 10 03 1a 02 08 0c");
	check_both(&profiler__session__descriptor, "[7,null,[]]", "08 07");
	check_both(&profiler__interval__descriptor, "[]", "");
	check_both(&profiler__interval__descriptor, "[null,100]", "11 00 00 00 00 00 00 59 40");
	check_both(&profiler__interval__descriptor, "[5]", "09 00 00 00 00 00 00 14 40");
	check_both(&profiler__events__descriptor, "[null,[]]", "");
	/* required and 0: there all the same */
	check_both(&profiler__script_thread_evaluation_event__descriptor, "[0]", "08 00");
	/* negative numbers take ten bytes; ox and oy are optional */
	check_both(&profiler__area__descriptor, "[-1,2,3,4]",
		   "08 ff ff ff ff ff ff ff ff ff 01 10 02 18 03 20 04");
	check_both(&profiler__area__descriptor, "[1,2,3,4,0,5]", "08 01 10 02 18 03 20 04 28 00 30 05");
	/* zig-zag */
	check_both(&transport__error_info__descriptor, "[\"text\",3,14,-15]", "0a 04 74 65 78 74 10 06 18 1c 20 1d");
	/* a position in JSON is that of the declaration, not the number */
	check_both(&window_manager__modify_type_filter_arg__descriptor, "[\"replace\",[\"normal_hidden\"]]",
		   "0a 0d 6e 6f 72 6d 61 6c 5f 68 69 64 64 65 6e 12 07 72 65 70 6c 61 63 65");
	check_both(&window_manager__window_filter__descriptor, "[1,[1,300],[],[],[\"*\"]]",
		   "08 01 10 01 10 ac 02 2a 01 2a");
	/* an empty list is never cut off: dragonkeeper and Dragonfly index into it */
	check_both(&scope__message_info__descriptor, "[1,\"Default\",[]]", "08 01 12 07 44 65 66 61 75 6c 74");
	check_both(&profiler__events__descriptor,
		   "[[2,118],[[3,21.5,0.2,1,[2,118],1,null,3,99.1,1.35,null,null,[\"http://x/\"]]]]",
		   "0a 12 09 00 00 00 00 00 00 00 40 11 00 00 00 00 00 80 5d 40 12 4d 08 03 11 00 00 00 00 00 80 35 40 "
		   "19 9a 99 99 99 99 99 c9 3f 20 01 2a 12 09 00 00 00 00 00 00 00 40 11 00 00 00 00 00 80 5d 40 30 01 "
		   "40 03 49 66 66 66 66 66 c6 58 40 51 9a 99 99 99 99 99 f5 3f 6a 0b 0a 09 68 74 74 70 3a 2f 2f 78 2f");
}

static void test_json_requests(void **state)
{
	Profiler__GetEventsArg *a;
	Scope__MessageSelection *s;

	(void)state;
	a = from_json(&profiler__get_events_arg__descriptor, "[1,11,null,7,1]");
	assert_int_equal(a->sessionid, 1);
	assert_int_equal(a->timelineid, 11);
	assert_false(a->has_mode);
	assert_int_equal(a->eventid, 7);
	assert_int_equal(a->maxdepth, 1);
	assert_int_equal(a->n_eventtypelist, 0);
	assert_null(a->interval);
	free_message(a);
	/* as Dragonfly sends it, and with JavaScript's way to print a double */
	a = from_json(&profiler__get_events_arg__descriptor, "[1,11,1,null,null,[3,4],null]");
	assert_int_equal(a->n_eventtypelist, 2);
	assert_int_equal(a->eventtypelist[1], 4);
	free_message(a);
	a = from_json(&profiler__get_events_arg__descriptor, "[1, 11, 3, 2, null, [9], [0, 262]]");
	assert_true(a->interval->has_end && a->interval->end == 262.0);
	free_message(a);
	/* booleans are numbers, but those who write them out are understood; lists may be null */
	s = from_json(&scope__message_selection__descriptor, "[\"profiler\",[],1,true]");
	assert_true(s->includerelated && s->includeall);
	free_message(s);
	s = from_json(&scope__message_selection__descriptor, "[\"profiler\",null,0]");
	assert_true(s->has_includerelated && !s->includerelated && !s->has_includeall);
	free_message(s);
	/* more than the message has, from a client of a later version; integers as reals; nothing at all */
	free_message(from_json(&profiler__start_profiler_arg__descriptor, "[1.0,1,[\"later\"],{}]"));
	free_message(from_json(&profiler__release_session_arg__descriptor, ""));
}

static void test_json_malformed(void **state)
{
	static const char *const start[] = {
		"{", "{}", "[", "[null,null]", "[\"a\",\"b\"]", "[1]", "[]", "1", "\"\"", "null", "[1,-1]", "[1,4294967296]",
		"[1,1.5]", "[1,1e99]", "[1,true]", "[1,[1]]", "[2147483648,1]", "[1,1] x", "[1,1", "[NaN,1]",
	};
	static const char *const query[] = {
		"[1,1,1,1,1,3]", "[1,1,1,1,1,[\"x\"]]", "[1,1,1,1,1,[null]]", "[1,1,1,1,1,[],5]", "[1,1,1,1,1,[],[\"x\"]]",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(start) / sizeof(start[0]); i++)
		assert_null(from_json(&profiler__start_profiler_arg__descriptor, start[i]));
	for (size_t i = 0; i < sizeof(query) / sizeof(query[0]); i++)
		assert_null(from_json(&profiler__get_events_arg__descriptor, query[i]));
	assert_null(from_json(&window_manager__window_filter__descriptor, "[2]"));
	assert_null(from_json(&window_manager__window_filter__descriptor, "[1,[1],[\"*\",2]]"));
	assert_null(from_json(&scope__service_selection__descriptor, "[\"\\u0000\"]"));
	assert_null(decode(FORMAT_JSON, &scope__service_selection__descriptor, "[\"\xff\"]", 5));
	assert_null(decode(FORMAT_XML, &scope__default__descriptor, "<Default/>", 10));
}

static void test_protobuf_requests(void **state)
{
	Profiler__GetEventsArg *a;
	uint8_t in[128];

	(void)state;
	/* packed numbers, an unknown field, and an enum value that we don't know */
	a = (void *)decode(FORMAT_PROTOBUF, &profiler__get_events_arg__descriptor, in,
			   unhex("08 01 10 0b 18 09 32 03 03 04 63 7a 02 68 69", in));
	assert_non_null(a);
	assert_int_equal(a->mode, 9);
	assert_int_equal(a->n_eventtypelist, 3);
	assert_int_equal(a->eventtypelist[2], 99);
	free_message(a);
	assert_null(decode(FORMAT_PROTOBUF, &profiler__start_profiler_arg__descriptor, in, unhex("08 01", in)));
	assert_null(decode(FORMAT_PROTOBUF, &profiler__start_profiler_arg__descriptor, in, unhex("08", in)));
	assert_null(decode(FORMAT_PROTOBUF, &profiler__start_profiler_arg__descriptor, in, unhex("ff", in)));
	assert_null(decode(FORMAT_PROTOBUF, &profiler__start_profiler_arg__descriptor, in, 0));
	assert_null(decode(FORMAT_PROTOBUF, &scope__service_selection__descriptor, in, unhex("0a ff ff ff ff 0f 61", in)));
}

static void test_strings(void **state)
{
	Scope__ServiceResult r = SCOPE__SERVICE_RESULT__INIT;
	struct bytes b = { .max = MAX };

	(void)state;
	r.name = "a\"b\\c\n\x01 \xe2\x82\xac \xff";
	codec_encode(FORMAT_JSON, &r.base, NULL, &b);
	bytes_add(&b, "", 1);
	assert_non_null(strstr((char *)b.p, "[\"a\\\"b\\\\c\\n\\u0001 \xe2\x82\xac \xef\xbf\xbd\"]"));
	bytes_free(&b);
}

static void check_double(double v, const char *want)
{
	struct bytes b = { .max = MAX };

	bytes_double(&b, v);
	bytes_add(&b, "", 1);
	if (want)
		assert_string_equal((char *)b.p, want);
	assert_true(strtod((char *)b.p, NULL) == v);
	bytes_free(&b);
}

static void test_doubles(void **state)
{
	struct bytes b = { .max = MAX };

	(void)state;
	check_double(0, "0");
	check_double(262, "262");
	check_double(21.5, "21.5");
	check_double(0.2, "0.2");
	check_double(0.000001, "0.000001");
	check_double(-1.000001, "-1.000001");
	check_double(123456789.123457, "123456789.123457");
	check_double(1.0 / 3, NULL);
	check_double(1e300, NULL);
	check_double(5e-324, NULL);
	check_double(9007199254740993.0, NULL);
	for (uint64_t ns = 1; ns < 1ull << 60; ns = ns * 3 + 1)
		check_double(ns / 1e6, NULL);
	bytes_double(&b, NAN);
	bytes_double(&b, INFINITY);
	assert_text(&b, "nullnull");
}

static const ProtobufCMessage *interval_item(void *arg, size_t i)
{
	Profiler__Event *e = arg;

	profiler__event__init(e);
	e->type = (Profiler__EventType)(7 + i);
	return &e->base;
}

/* A list that is handed out one by one gives what a list in the message would. */
static void test_list(void **state)
{
	Profiler__Event item, e[2], *list[2] = { &e[0], &e[1] };
	Profiler__Events m = PROFILER__EVENTS__INIT;
	Profiler__Interval interval = PROFILER__INTERVAL__INIT;
	struct codec_list source = { "eventList", 2, interval_item, &item };

	(void)state;
	interval.has_start = 1;
	interval.start = 1;
	m.interval = &interval;
	for (int format = FORMAT_PROTOBUF; format <= FORMAT_JSON; format++) {
		struct bytes a = { .max = MAX }, b = { .max = MAX };

		m.n_eventlist = 0;
		codec_encode(format, &m.base, &source, &a);
		interval_item(&e[0], 0);
		interval_item(&e[1], 1);
		m.n_eventlist = 2;
		m.eventlist = list;
		codec_encode(format, &m.base, NULL, &b);
		assert_int_equal(a.n, b.n);
		assert_memory_equal(a.p, b.p, a.n);
		bytes_free(&a);
		bytes_free(&b);
	}
}

static void test_bounds(void **state)
{
	Scope__ServiceResult r = SCOPE__SERVICE_RESULT__INIT;
	struct bytes b = { .max = 8 };

	(void)state;
	r.name = "too long for eight bytes";
	codec_encode(FORMAT_JSON, &r.base, NULL, &b);
	assert_true(b.failed);
	bytes_free(&b);
	b.max = 8;
	codec_encode(FORMAT_PROTOBUF, &r.base, NULL, &b);
	assert_true(b.failed);
	bytes_free(&b);
}

static const Scope__MessageInfo *find_message(const Scope__MessageInfoList *list, const char *name)
{
	for (size_t i = 0; i < list->n_messagelist; i++)
		if (!strcmp(list->messagelist[i]->name, name))
			return list->messagelist[i];
	return NULL;
}

static void test_describe(void **state)
{
	Scope__MessageSelection sel = SCOPE__MESSAGE_SELECTION__INIT;
	Scope__EnumArg enum_sel = SCOPE__ENUM_ARG__INIT;
	const Scope__MessageInfo *events, *event, *filter;
	const Scope__FieldInfo *type;
	Scope__MessageInfoList *list;
	Scope__EnumList *enums;
	struct arena a = { 0 };
	uint32_t unknown, id;

	(void)state;
	sel.has_includeall = sel.includeall = 1;
	list = describe_messages(&a, &service_profiler, &sel, &unknown);
	events = find_message(list, "Events");
	event = find_message(list, "Event");
	assert_non_null(events);
	assert_int_equal(event->n_fieldlist, 16);
	assert_int_equal(events->fieldlist[1]->messageid, event->id);
	assert_int_equal(events->fieldlist[1]->quantifier, 2);
	type = event->fieldlist[0];
	assert_int_equal(type->type, 3);	/* an enumeration travels as int32 */
	enum_sel.n_idlist = 1;
	enum_sel.idlist = &id;
	id = type->enumid;
	enums = describe_enums(&a, &service_profiler, &enum_sel, &unknown);
	assert_int_equal(enums->n_enumlist, 1);
	assert_string_equal(enums->enumlist[0]->name, "EventType");
	assert_int_equal(enums->enumlist[0]->n_valuelist, 11);
	id = 1000;
	assert_null(describe_enums(&a, &service_profiler, &enum_sel, &unknown));
	assert_int_equal(unknown, 1000);

	/* one by id, with and without what it refers to */
	sel.includeall = 0;
	sel.n_idlist = 1;
	sel.idlist = &id;
	id = events->id;
	list = describe_messages(&a, &service_profiler, &sel, &unknown);
	assert_int_equal(list->n_messagelist, 1);
	sel.has_includerelated = sel.includerelated = 1;
	list = describe_messages(&a, &service_profiler, &sel, &unknown);
	assert_int_equal(list->n_messagelist, 10);	/* Interval, Event, its six details, and Area */

	sel.includeall = 1;
	list = describe_messages(&a, &service_window_manager, &sel, &unknown);
	filter = find_message(list, "ModifyTypeFilterArg");
	assert_string_equal(filter->fieldlist[0]->name, "mode");
	assert_int_equal(filter->fieldlist[0]->number, 2);
	arena_free(&a);
}

/* Every advertised service can be asked for everything about itself, and has at least one command. */
static void test_describe_all(void **state)
{
	Scope__MessageSelection sel = SCOPE__MESSAGE_SELECTION__INIT;
	Scope__EnumArg enum_sel = SCOPE__ENUM_ARG__INIT;
	struct arena a = { 0 };
	uint32_t unknown;

	(void)state;
	sel.has_includeall = sel.includeall = 1;
	enum_sel.has_includeall = enum_sel.includeall = 1;
	for (int i = 0; i < NR_SERVICES; i++) {
		const struct service *s = service_at(i);
		Scope__MessageInfoList *list = describe_messages(&a, s, &sel, &unknown);
		Scope__ServiceInfo *info = describe_service(&a, s);

		assert_int_equal(service_index(s->name), i);
		assert_non_null(describe_enums(&a, s, &enum_sel, &unknown));
		assert_true(info->n_commandlist > 0);
		for (size_t k = 0; k < info->n_commandlist; k++) {
			const Scope__CommandInfo *cmd = info->commandlist[k];

			assert_true(cmd->messageid && cmd->messageid <= list->n_messagelist);
			assert_true(cmd->responseid && cmd->responseid <= list->n_messagelist);
			assert_ptr_equal(service_command(s, cmd->number), &s->commands[k]);
		}
	}
	arena_free(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stp0),
		cmocka_unit_test(test_stp0_malformed),
		cmocka_unit_test(test_stp1_head),
		cmocka_unit_test(test_stp1_write),
		cmocka_unit_test(test_stp1_body),
		cmocka_unit_test(test_both_encodings),
		cmocka_unit_test(test_json_requests),
		cmocka_unit_test(test_json_malformed),
		cmocka_unit_test(test_protobuf_requests),
		cmocka_unit_test(test_strings),
		cmocka_unit_test(test_doubles),
		cmocka_unit_test(test_list),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_describe),
		cmocka_unit_test(test_describe_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
