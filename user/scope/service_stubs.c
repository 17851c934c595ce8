// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Stubs. Opera Dragonfly does not build its user interface unless the host offers ecmascript-debugger and
 * console-logger, and asks exec to reload the page before it records. framescope debugs no scripts, reads no console
 * and reloads no page: these services accept every command of theirs, do nothing and answer the empty message. Their
 * names and numbers are those of the published services. scope_host_options.no_stubs leaves them all out.
 */
#include "scope/client.h"
#include "scope/exec.pb-c.h"
#include "scope/scope.pb-c.h"

static void run_nothing(struct client *c, const struct request *r, const ProtobufCMessage *arg)
{
	(void)arg;
	client_reply_default(c, r);
}

static const struct command exec_commands[] = {
	{ "Exec", 1, &exec__action_list__descriptor, &exec__default__descriptor, run_nothing },
	/* empty, and that is the truth: there is no action that could be executed */
	{ "GetActionInfoList", 2, &exec__default__descriptor, &exec__action_info_list__descriptor, run_nothing },
};

const struct service service_exec = {
	.name = "exec", .version = "2.0", .stub = true,
	.commands = exec_commands, .nr_commands = sizeof(exec_commands) / sizeof(exec_commands[0]),
};

/* The message without fields takes any payload: what it doesn't know it ignores. */
#define COMMAND(name, id) { name, id, &scope__default__descriptor, &scope__default__descriptor, run_nothing }
#define EVENT(name, id) { name, id, &scope__default__descriptor }

static const struct command debugger_commands[] = {
	COMMAND("ListRuntimes", 1), COMMAND("ContinueThread", 2), COMMAND("Eval", 3), COMMAND("ExamineObjects", 4),
	COMMAND("SpotlightObject", 5), COMMAND("AddBreakpoint", 6), COMMAND("RemoveBreakpoint", 7),
	COMMAND("AddEventHandler", 8), COMMAND("RemoveEventHandler", 9), COMMAND("SetConfiguration", 10),
	COMMAND("GetBacktrace", 11), COMMAND("Break", 12), COMMAND("InspectDom", 13), COMMAND("CssGetIndexMap", 22),
	COMMAND("CssGetAllStylesheets", 23), COMMAND("CssGetStylesheet", 24), COMMAND("CssGetStyleDeclarations", 25),
	COMMAND("GetSelectedObject", 26), COMMAND("SpotlightObjects", 27), COMMAND("ReleaseObjects", 29),
	COMMAND("SetPropertyFilter", 30), COMMAND("AddEventBreakpoint", 38), COMMAND("SetFunctionFilter", 39),
	COMMAND("SearchDom", 42), COMMAND("GetFunctionPositions", 44), COMMAND("GetEventNames", 45),
	COMMAND("GetEventListeners", 46),
};

static const struct service_event debugger_events[] = {
	EVENT("OnRuntimeStarted", 14), EVENT("OnRuntimeStopped", 15), EVENT("OnNewScript", 16), EVENT("OnThreadStarted", 17),
	EVENT("OnThreadFinished", 18), EVENT("OnThreadStoppedAt", 19), EVENT("OnHandleEvent", 20),
	EVENT("OnObjectSelected", 21), EVENT("OnParseError", 28), EVENT("OnReadyStateChanged", 31), EVENT("OnConsoleLog", 32),
	EVENT("OnConsoleTime", 33), EVENT("OnConsoleTimeEnd", 34), EVENT("OnConsoleTrace", 35), EVENT("OnConsoleProfile", 36),
	EVENT("OnConsoleProfileEnd", 37), EVENT("OnFunctionCallStarting", 40), EVENT("OnFunctionCallCompleted", 41),
	EVENT("OnThreadMigrated", 43),
};

const struct service service_ecmascript_debugger = {
	.name = "ecmascript-debugger", .version = "6.14", .stub = true,
	.commands = debugger_commands, .nr_commands = sizeof(debugger_commands) / sizeof(debugger_commands[0]),
	.events = debugger_events, .nr_events = sizeof(debugger_events) / sizeof(debugger_events[0]),
};

static const struct command logger_commands[] = { COMMAND("Clear", 2), COMMAND("ListMessages", 3) };
static const struct service_event logger_events[] = { EVENT("OnConsoleMessage", 1) };

const struct service service_console_logger = {
	.name = "console-logger", .version = "2.1", .stub = true,
	.commands = logger_commands, .nr_commands = sizeof(logger_commands) / sizeof(logger_commands[0]),
	.events = logger_events, .nr_events = sizeof(logger_events) / sizeof(logger_events[0]),
};
