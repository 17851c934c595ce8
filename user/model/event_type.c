// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The names of the event types, as Profiler 1.1 spells them. */
#include <strings.h>
#include "model/session.h"

static const char *const names[EVENT_TYPE_END] = {
	[EVENT_GENERIC] = "GENERIC",
	[EVENT_PROCESS] = "PROCESS",
	[EVENT_DOCUMENT_PARSING] = "DOCUMENT_PARSING",
	[EVENT_CSS_PARSING] = "CSS_PARSING",
	[EVENT_SCRIPT_COMPILATION] = "SCRIPT_COMPILATION",
	[EVENT_SCRIPT_THREAD_EVALUATION] = "SCRIPT_THREAD_EVALUATION",
	[EVENT_REFLOW] = "REFLOW",
	[EVENT_STYLE_RECALCULATION] = "STYLE_RECALCULATION",
	[EVENT_CSS_SELECTOR_MATCHING] = "CSS_SELECTOR_MATCHING",
	[EVENT_LAYOUT] = "LAYOUT",
	[EVENT_PAINT] = "PAINT",
};

const char *event_type_name(int type)
{
	return type > 0 && type < EVENT_TYPE_END ? names[type] : "UNKNOWN";
}

int event_type_parse(const char *name)
{
	for (int type = 1; type < EVENT_TYPE_END; type++)
		if (!strcasecmp(name, names[type]))
			return type;
	return 0;
}
