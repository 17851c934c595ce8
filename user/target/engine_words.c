// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The words of engine definitions: what may stand as a value, and what it means. */
#include <stdio.h>
#include <string.h>
#include "target/engine.h"

const struct engine_word event_type_words[] = {
	{ "GENERIC", EVENT_GENERIC }, { "DOCUMENT_PARSING", EVENT_DOCUMENT_PARSING }, { "CSS_PARSING", EVENT_CSS_PARSING },
	{ "SCRIPT_COMPILATION", EVENT_SCRIPT_COMPILATION }, { "SCRIPT_THREAD_EVALUATION", EVENT_SCRIPT_THREAD_EVALUATION },
	{ "REFLOW", EVENT_REFLOW }, { "STYLE_RECALCULATION", EVENT_STYLE_RECALCULATION },
	{ "CSS_SELECTOR_MATCHING", EVENT_CSS_SELECTOR_MATCHING }, { "LAYOUT", EVENT_LAYOUT }, { "PAINT", EVENT_PAINT },
	{ NULL, 0 },	/* EVENT_PROCESS is no probe's */
};

const struct engine_word probe_kind_words[] = {
	{ "span", PROBE_KIND_SPAN }, { "mark", PROBE_KIND_MARK }, { "aggregate", PROBE_KIND_AGGREGATE },
	{ "async-begin", PROBE_KIND_ASYNC_BEGIN }, { "async-end", PROBE_KIND_ASYNC_END },
	{ "flow-begin", PROBE_KIND_FLOW_BEGIN }, { "flow-end", PROBE_KIND_FLOW_END }, { NULL, 0 },
};

const struct engine_word probe_role_words[] = {
	{ "navigation", ROLE_NAVIGATION }, { "frame-created", ROLE_FRAME_CREATED }, { "frame-removed", ROLE_FRAME_REMOVED },
	{ "document-created", ROLE_DOCUMENT_CREATED }, { "document-removed", ROLE_DOCUMENT_REMOVED },
	{ "window-opened", ROLE_WINDOW_OPENED }, { "window-closed", ROLE_WINDOW_CLOSED },
	{ "script-caller", ROLE_SCRIPT_CALLER }, { "paint-area", ROLE_PAINT_AREA }, { NULL, 0 },
};

const struct engine_word exit_policy_words[] = {
	{ "auto", EXIT_AUTO }, { "return", EXIT_RETURN }, { "sites", EXIT_SITES }, { "none", EXIT_NONE }, { NULL, 0 },
};

const struct engine_word arg_field_words[] = {
	{ "url", FIELD_URL }, { "selector", FIELD_SELECTOR }, { "event-name", FIELD_EVENT_NAME }, { "text", FIELD_LABEL },
	{ "title", FIELD_TITLE }, { "frame", FIELD_FRAME }, { "parent-frame", FIELD_PARENT_FRAME },
	{ "document", FIELD_DOCUMENT }, { "window", FIELD_WINDOW }, { "x", FIELD_X }, { "y", FIELD_Y }, { "w", FIELD_W },
	{ "h", FIELD_H }, { "x1", FIELD_X1 }, { "y1", FIELD_Y1 }, { "scroll-x", FIELD_OX }, { "scroll-y", FIELD_OY },
	{ "thread-type", FIELD_THREAD_TYPE }, { "script-type", FIELD_SCRIPT_TYPE }, { "line", FIELD_LINE },
	{ "column", FIELD_COLUMN }, { "id", FIELD_ID }, { "count", FIELD_COUNT }, { "key", FIELD_KEY }, { NULL, 0 },
};

static const struct engine_word thread_type_words[] = {
	{ "COMMON", THREAD_TYPE_COMMON }, { "TIMEOUT", THREAD_TYPE_TIMEOUT }, { "EVENT", THREAD_TYPE_EVENT },
	{ "INLINE_SCRIPT", THREAD_TYPE_INLINE_SCRIPT }, { "JAVASCRIPT_URL", THREAD_TYPE_JAVASCRIPT_URL },
	{ "HISTORY_NAVIGATION", THREAD_TYPE_HISTORY_NAVIGATION }, { "JAVA_EVAL", THREAD_TYPE_JAVA_EVAL },
	{ "DEBUGGER_EVAL", THREAD_TYPE_DEBUGGER_EVAL }, { NULL, 0 },
};

static const struct engine_word script_type_words[] = {
	{ "LINKED", SCRIPT_TYPE_LINKED }, { "INLINE", SCRIPT_TYPE_INLINE }, { "GENERATED", SCRIPT_TYPE_GENERATED },
	{ "EVAL", SCRIPT_TYPE_EVAL }, { "TIMEOUT", SCRIPT_TYPE_TIMEOUT }, { "URI", SCRIPT_TYPE_URI },
	{ "EVENT_HANDLER", SCRIPT_TYPE_EVENT_HANDLER }, { "USERJS", SCRIPT_TYPE_USERJS },
	{ "BROWSERJS", SCRIPT_TYPE_BROWSERJS }, { "EXTENSIONJS", SCRIPT_TYPE_EXTENSIONJS },
	{ "DEBUGGER", SCRIPT_TYPE_DEBUGGER }, { NULL, 0 },
};

const struct engine_word truth_words[] = {	/* one more than the truth, since 0 is "not found" */
	{ "yes", 2 }, { "no", 1 }, { "true", 2 }, { "false", 1 }, { "1", 2 }, { "0", 1 }, { NULL, 0 },
};

int words_value(const struct engine_word *words, const char *name)
{
	for (; words->name; words++)
		if (!strcmp(words->name, name))
			return words->value;
	return 0;
}

const char *words_name(const struct engine_word *words, int value)
{
	for (; words->name; words++)
		if (words->value == value)
			return words->name;
	return NULL;
}

const char *words_of_no_event(int kind, int role)
{
	if (kind && kind != PROBE_KIND_SPAN && kind != PROBE_KIND_AGGREGATE)
		return words_name(probe_kind_words, kind);
	return role == ROLE_SCRIPT_CALLER ? words_name(probe_role_words, role) : NULL;
}

int arg_field_parse(const char *name)
{
	return words_value(arg_field_words, name);
}

const char *arg_field_name(int field)
{
	for (const struct engine_word *w = arg_field_words; w->name; w++)
		if (w->value == field)
			return w->name;
	return NULL;
}

const struct engine_word *arg_field_constants(int field)
{
	return field == FIELD_THREAD_TYPE ? thread_type_words : field == FIELD_SCRIPT_TYPE ? script_type_words : NULL;
}

const char *words_list(const struct engine_word *words, char *dst, size_t size)
{
	size_t len = 0;

	dst[0] = '\0';
	for (; words->name && len < size; words++)
		len += snprintf(dst + len, size - len, "%s%s", words->name, !words[1].name ? "" :
				words[2].name ? ", " : " or ");
	return dst;
}
