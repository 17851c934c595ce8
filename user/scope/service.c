// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Finding services and commands. */
#include <string.h>
#include "scope/service.h"

static const struct service *const services[NR_SERVICES] = {
	[SERVICE_SCOPE] = &service_scope,
	[SERVICE_WINDOW_MANAGER] = &service_window_manager,
	[SERVICE_PROFILER] = &service_profiler,
	[SERVICE_EXEC] = &service_exec,
	[SERVICE_ECMASCRIPT_DEBUGGER] = &service_ecmascript_debugger,
	[SERVICE_CONSOLE_LOGGER] = &service_console_logger,
};

const struct service *service_at(int index)
{
	return services[index];
}

int service_index(const char *name)
{
	for (int i = 0; i < NR_SERVICES; i++)
		if (!strcmp(services[i]->name, name))
			return i;
	return -1;
}

const struct command *service_command(const struct service *s, uint32_t id)
{
	for (size_t i = 0; i < s->nr_commands; i++)
		if (s->commands[i].id == id)
			return &s->commands[i];
	return NULL;
}
