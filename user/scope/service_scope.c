// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Service scope 1.1: connecting, enabling services, telling what there is. Always enabled. */
#include <event2/buffer.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/utsname.h>
#include "scope/client.h"
#include "scope/describe.h"

/* Dragonfly looks for another build of itself unless the third number is at least 167. */
#define CORE_VERSION "2.12.388"

enum { EVENT_ON_SERVICES = 0, EVENT_ON_QUIT = 1, EVENT_ON_CONNECTION_LOST = 2, EVENT_ON_ERROR = 9 };

static void run_connect(struct client *c, const struct request *r, const ProtobufCMessage *arg)
{
	const Scope__ClientInfo *info = (const Scope__ClientInfo *)arg;
	enum stp_format format;

	if (!strcmp(info->format, "json")) {
		format = FORMAT_JSON;
	} else if (!strcmp(info->format, "protobuf")) {
		format = FORMAT_PROTOBUF;
	} else {
		client_fail(c, r, STATUS_BAD_REQUEST, "The format can be 'protobuf' or 'json'");
		return;
	}
	/* the answer goes first, dragonkeeper takes whatever comes next for it: no event and no late answer before that */
	c->connected = false;
	client_reset(c);
	client_reply_default(c, r);
	c->connected = true;
	c->event_format = format;
}

static void run_disconnect(struct client *c, const struct request *r, const ProtobufCMessage *arg)
{
	(void)arg;
	client_reset(c);
	client_reply_default(c, r);
}

static void run_quit(struct client *c, const struct request *r, const ProtobufCMessage *arg)
{
	(void)arg;
	client_reply_default(c, r);
}

/* The service that a command's argument names, or -1 and the command is answered. */
static int find_service(struct client *c, const struct request *r, const char *name)
{
	int index = service_index(name);

	if (index >= 0 && c->host->offered & 1u << index)
		return index;
	client_fail(c, r, STATUS_SERVICE_NOT_FOUND, "There is no service '%s'; HostInfo lists them", name);
	return -1;
}

static void reply_selected(struct client *c, const struct request *r, int service)
{
	Scope__ServiceResult result = SCOPE__SERVICE_RESULT__INIT;

	result.name = (char *)service_at(service)->name;
	client_reply(c, r, &result.base);
}

static void run_enable(struct client *c, const struct request *r, const ProtobufCMessage *arg)
{
	int service = find_service(c, r, ((const Scope__ServiceSelection *)arg)->name);

	if (service < 0)
		return;
	if (service == SERVICE_SCOPE) {
		client_fail(c, r, STATUS_BAD_REQUEST, "The service scope is always enabled");
	} else if (!c->connected) {
		client_fail(c, r, STATUS_BAD_REQUEST, "Connect comes first");
	} else if (c->enabled & 1u << service) {
		client_fail(c, r, STATUS_SERVICE_ALREADY_ENABLED, "The service is enabled already");
	} else {
		client_enable(c, service);
		reply_selected(c, r, service);
	}
}

static void run_disable(struct client *c, const struct request *r, const ProtobufCMessage *arg)
{
	int service = find_service(c, r, ((const Scope__ServiceSelection *)arg)->name);

	if (service < 0)
		return;
	if (service == SERVICE_SCOPE) {
		client_fail(c, r, STATUS_BAD_REQUEST, "The service scope can't be disabled");
	} else if (!(c->enabled & 1u << service)) {
		client_fail(c, r, STATUS_SERVICE_NOT_ENABLED, "The service is not enabled");
	} else {
		client_disable(c, service);
		reply_selected(c, r, service);
	}
}

static void run_host_info(struct client *c, const struct request *r, const ProtobufCMessage *arg)
{
	Scope__Service services[NR_SERVICES], *list[NR_SERVICES];
	Scope__HostInfo info = SCOPE__HOST_INFO__INIT;
	char os[sizeof(struct utsname)];
	struct utsname un;

	(void)arg;
	if (uname(&un))
		memset(&un, 0, sizeof(un));
	snprintf(os, sizeof(os), "%s %s", un.sysname, un.release);
	info.stpversion = 1;
	info.coreversion = CORE_VERSION;
	info.platform = "Linux";
	info.operatingsystem = os;
	info.useragent = c->host->agent;
	info.servicelist = list;
	for (int i = 0; i < NR_SERVICES; i++) {
		Scope__Service *s = &services[info.n_servicelist];

		if (!(c->host->offered & 1u << i))
			continue;
		scope__service__init(s);
		s->name = (char *)service_at(i)->name;
		s->version = (char *)service_at(i)->version;
		list[info.n_servicelist++] = s;
	}
	client_reply(c, r, &info.base);
}

/* An answer that was put together in an arena, or the reason why there is none. */
static void reply_described(struct client *c, const struct request *r, struct arena *a, const ProtobufCMessage *m,
			    uint32_t unknown)
{
	if (m)
		client_reply(c, r, m);
	else if (unknown)
		client_fail(c, r, STATUS_BAD_REQUEST, "There is no type with that id");
	else
		client_fail(c, r, STATUS_OUT_OF_MEMORY, "No memory for the answer");
	arena_free(a);
}

static void run_info(struct client *c, const struct request *r, const ProtobufCMessage *arg)
{
	int service = find_service(c, r, ((const Scope__ServiceSelection *)arg)->name);
	struct arena a = { 0 };

	if (service >= 0)
		reply_described(c, r, &a, (ProtobufCMessage *)describe_service(&a, service_at(service)), 0);
}

static void run_message_info(struct client *c, const struct request *r, const ProtobufCMessage *arg)
{
	const Scope__MessageSelection *sel = (const Scope__MessageSelection *)arg;
	int service = find_service(c, r, sel->servicename);
	struct arena a = { 0 };
	uint32_t unknown;
	void *m;

	if (service < 0)
		return;
	m = describe_messages(&a, service_at(service), sel, &unknown);
	reply_described(c, r, &a, m, unknown);
}

static void run_enum_info(struct client *c, const struct request *r, const ProtobufCMessage *arg)
{
	const Scope__EnumArg *sel = (const Scope__EnumArg *)arg;
	int service = find_service(c, r, sel->servicename);
	struct arena a = { 0 };
	uint32_t unknown;
	void *m;

	if (service < 0)
		return;
	m = describe_enums(&a, service_at(service), sel, &unknown);
	reply_described(c, r, &a, m, unknown);
}

void scope_error(struct client *c, const char *text)
{
	Scope__ErrorInfo info = SCOPE__ERROR_INFO__INIT;

	info.description = (char *)text;
	client_event(c, &service_scope, EVENT_ON_ERROR, &info.base);
}

void scope_quit(struct client *c)
{
	struct evbuffer *out = bufferevent_get_output(c->bev);
	Scope__Default none = SCOPE__DEFAULT__INIT;
	uint8_t frame[256];
	ssize_t n;

	/* the loop won't turn again for it, and behind half a frame it would be garbage */
	if (evbuffer_get_length(out))
		return;
	client_event(c, &service_scope, EVENT_ON_QUIT, &none.base);
	evbuffer_unfreeze(out, 1);
	n = evbuffer_copyout(out, frame, sizeof(frame));
	if (n > 0 && send(bufferevent_getfd(c->bev), frame, n, MSG_DONTWAIT | MSG_NOSIGNAL) != n)
		host_log(c->host, "a client could not be told that the host quits");
}

static const struct command commands[] = {
	{ "Connect", 3, &scope__client_info__descriptor, &scope__default__descriptor, run_connect },
	{ "Disconnect", 4, &scope__default__descriptor, &scope__default__descriptor, run_disconnect },
	{ "Enable", 5, &scope__service_selection__descriptor, &scope__service_result__descriptor, run_enable },
	{ "Disable", 6, &scope__service_selection__descriptor, &scope__service_result__descriptor, run_disable },
	{ "Info", 7, &scope__service_selection__descriptor, &scope__service_info__descriptor, run_info },
	{ "Quit", 8, &scope__default__descriptor, &scope__default__descriptor, run_quit },
	{ "HostInfo", 10, &scope__default__descriptor, &scope__host_info__descriptor, run_host_info },
	{ "MessageInfo", 11, &scope__message_selection__descriptor, &scope__message_info_list__descriptor,
	  run_message_info },
	{ "EnumInfo", 12, &scope__enum_arg__descriptor, &scope__enum_list__descriptor, run_enum_info },
};

static const struct service_event events[] = {
	{ "OnServices", EVENT_ON_SERVICES, &scope__service_list__descriptor },
	{ "OnQuit", EVENT_ON_QUIT, &scope__default__descriptor },
	{ "OnConnectionLost", EVENT_ON_CONNECTION_LOST, &scope__default__descriptor },
	{ "OnError", EVENT_ON_ERROR, &scope__error_info__descriptor },
};

const struct service service_scope = {
	.name = "scope", .version = "1.1",
	.commands = commands, .nr_commands = sizeof(commands) / sizeof(commands[0]),
	.events = events, .nr_events = sizeof(events) / sizeof(events[0]),
};
