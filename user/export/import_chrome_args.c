// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Reads what a Chrome trace event says of itself: times, numbers, its type and its arguments. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "export/import_chrome.h"
#include "export/shown.h"

const char *chrome_string_of(const json_t *o, const char *key)
{
	return json_string_value(json_object_get(o, key));
}

uint64_t chrome_count_of(const json_t *o, const char *key)
{
	json_int_t v = json_integer_value(json_object_get(o, key));

	return v < 0 ? 0 : v;
}

uint32_t chrome_count32_of(const json_t *o, const char *key)
{
	uint64_t v = chrome_count_of(o, key);

	return v < UINT32_MAX ? v : UINT32_MAX;
}

uint64_t chrome_id_of(const json_t *v)
{
	const char *s = json_string_value(v);

	if (json_is_object(v)) {
		const json_t *local = json_object_get(v, "local");

		return chrome_id_of(local ? local : json_object_get(v, "global"));
	}
	return s ? strtoull(s, NULL, 0) : (uint64_t)json_integer_value(v);
}

uint64_t chrome_task_of(const json_t *v)
{
	const char *s = json_string_value(v);
	double number = json_number_value(v);
	uint64_t h;
	char *end;

	if (json_is_integer(v))
		return json_integer_value(v);
	if (!s)
		return number > 0 && number < 1e18 ? number : 0;
	h = strtoull(s, &end, 0);
	if (*s && !*end)
		return h;
	for (h = 14695981039346656037ull; *s; s++)
		h = (h ^ (unsigned char)*s) * 1099511628211ull;
	return h | 1ull << 63;
}

static uint32_t hash(const char *name)
{
	uint32_t h = 2166136261u;

	for (; *name; name++)
		h = (h ^ (unsigned char)*name) * 16777619u;
	return (h ^ h >> 15) & (FRAME_SLOTS - 1);
}

uint64_t chrome_frame_number(struct chrome *c, const char *name)
{
	uint32_t i;

	if (!name || !*name)
		return 0;
	for (i = hash(name); c->frames[i].name; i = (i + 1) & (FRAME_SLOTS - 1))
		if (!strcmp(c->frames[i].name, name))
			return c->frames[i].number;
	if (c->nr_frames == FRAME_SLOTS / 2)
		return 0;
	c->frames[i].name = strdup(name);
	return c->frames[i].name ? c->frames[i].number = ++c->nr_frames : 0;
}

int chrome_type_of(const char *name, const json_t *data)
{
	static const struct { const char *name; int type; } known[] = {
		{ "ParseHTML", EVENT_DOCUMENT_PARSING }, { "ParseAuthorStyleSheet", EVENT_CSS_PARSING },
		{ "v8.compile", EVENT_SCRIPT_COMPILATION }, { "v8.compileModule", EVENT_SCRIPT_COMPILATION },
		{ "V8.CompileCode", EVENT_SCRIPT_COMPILATION }, { "EvaluateScript", EVENT_SCRIPT_THREAD_EVALUATION },
		{ "FunctionCall", EVENT_SCRIPT_THREAD_EVALUATION }, { "v8.evaluateModule", EVENT_SCRIPT_THREAD_EVALUATION },
		{ "UpdateLayoutTree", EVENT_STYLE_RECALCULATION }, { "Layout", EVENT_LAYOUT }, { "Paint", EVENT_PAINT },
	};
	const char *given = chrome_string_of(data, "eventType");
	int type = given ? event_type_parse(given) : 0;

	for (size_t i = 0; !type && i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(known[i].name, name))
			type = known[i].type;
	return type ? type : EVENT_GENERIC;
}

static int enum_of(const char *(*name_of)(int), int end, const char *name)
{
	for (int i = 1; name && i < end; i++)
		if (name_of(i) && !strcmp(name_of(i), name))
			return i;
	return 0;
}

static void int_arg(struct chrome *c, const json_t *data, const char *key, int field)
{
	const json_t *v = json_object_get(data, key);

	if (json_is_integer(v))
		import_arg_int(&c->args, field, json_integer_value(v));
}

uint32_t chrome_keep_args(struct chrome *c, const json_t *data, const json_t *begin, uint64_t id)
{
	const char *url = chrome_string_of(data, "url"), *frame = chrome_string_of(data, "frame");
	int thread_type = enum_of(shown_thread_type, THREAD_TYPE_END, chrome_string_of(data, "threadType"));
	int script_type = enum_of(shown_script_type, SCRIPT_TYPE_END, chrome_string_of(data, "scriptType"));

	c->args.nr = 0;
	if (!url)
		url = chrome_string_of(data, "styleSheetUrl");
	import_arg_text(&c->args, FIELD_URL, url ? url : chrome_string_of(begin, "url"));
	import_arg_text(&c->args, FIELD_SELECTOR, chrome_string_of(data, "selector"));
	import_arg_text(&c->args, FIELD_EVENT_NAME, chrome_string_of(data, "type"));
	import_arg_text(&c->args, FIELD_LABEL, chrome_string_of(data, "label"));
	int_arg(c, data, "x", FIELD_X);
	int_arg(c, data, "y", FIELD_Y);
	int_arg(c, data, "w", FIELD_W);
	int_arg(c, data, "h", FIELD_H);
	int_arg(c, data, "ox", FIELD_OX);
	int_arg(c, data, "oy", FIELD_OY);
	int_arg(c, data, "lineNumber", FIELD_LINE);
	int_arg(c, data, "columnNumber", FIELD_COLUMN);
	if (thread_type)
		import_arg_int(&c->args, FIELD_THREAD_TYPE, thread_type);
	if (script_type)
		import_arg_int(&c->args, FIELD_SCRIPT_TYPE, script_type);
	if (chrome_frame_number(c, frame ? frame : chrome_string_of(begin, "frame")))
		import_arg_int(&c->args, FIELD_FRAME, chrome_frame_number(c, frame ? frame : chrome_string_of(begin, "frame")));
	if (id)
		import_arg_int(&c->args, FIELD_ID, id);
	return import_keep_args(c->im, &c->args);
}

uint8_t chrome_flags_of(const json_t *data)
{
	const char *flags = chrome_string_of(data, "flags");

	if (!flags)
		return 0;
	return (strstr(flags, "unwound") ? REC_F_UNWOUND : 0) | (strstr(flags, "clipped") ? REC_F_CLIPPED : 0);
}
