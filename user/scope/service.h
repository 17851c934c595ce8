/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a service is: the one table that dispatch, decoding and introspection (Info, MessageInfo, EnumInfo) go by. */
#ifndef FRAMESCOPE_SCOPE_SERVICE_H
#define FRAMESCOPE_SCOPE_SERVICE_H

#include <protobuf-c/protobuf-c.h>
#include "scope/frame.h"

struct client;
struct command;
struct service;

/* A command that came in, without its argument: enough to answer it, now or later. */
struct request {
	const struct service *service;
	const struct command *command;
	uint32_t tag;
	enum stp_format format;
};

/* Answers with exactly one of client_reply() and client_fail() (client.h), now or later. `arg` is valid during the
 * call only. */
typedef void (*command_fn)(struct client *c, const struct request *r, const ProtobufCMessage *arg);

struct command {
	const char *name;
	uint32_t id;
	const ProtobufCMessageDescriptor *arg, *result;
	command_fn run;
};

struct service_event {
	const char *name;
	uint32_t id;
	const ProtobufCMessageDescriptor *message;
};

struct service {
	const char *name, *version;
	bool stub;	/* there only since a client insists on it */
	const struct command *commands;
	size_t nr_commands;
	const struct service_event *events;
	size_t nr_events;
	void (*enabled)(struct client *c);	/* NULL: nothing to do */
	void (*disabled)(struct client *c);	/* by Disable, Connect, Disconnect or the end of the connection */
};

enum { SERVICE_SCOPE, SERVICE_WINDOW_MANAGER, SERVICE_PROFILER, SERVICE_EXEC, SERVICE_ECMASCRIPT_DEBUGGER,
       SERVICE_CONSOLE_LOGGER, NR_SERVICES };

extern const struct service service_scope, service_window_manager, service_profiler, service_exec,
	service_ecmascript_debugger, service_console_logger;

const struct service *service_at(int index);	/* of the enumeration above */
int service_index(const char *name);		/* -1: there is none */
const struct command *service_command(const struct service *s, uint32_t id);

#endif
