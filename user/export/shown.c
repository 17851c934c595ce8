// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Words for events, and redaction. */
#include <stdio.h>
#include <string.h>
#include "base/text.h"
#include "export/shown.h"

size_t shown_url(const struct export_options *opt, const char *url)
{
	const char *colon = strchr(url, ':'), *host;
	size_t n;

	if (!opt->redact)
		return strlen(url);
	if (!colon)
		return 0;
	if (strncmp(colon, "://", 3))
		return colon + 1 - url;		/* data:, blob:, about: */
	host = colon + 3;
	n = strcspn(host, "/?#\\");
	/* a user name or password before the host isn't for others' eyes either */
	if (memchr(host, '@', n))
		return host - url;
	return host + n - url;
}

const char *shown_text(const struct export_options *opt, const char *text)
{
	return text && opt->redact ? "(redacted)" : text;
}

bool shown_area(const struct event_detail *d, int i, const char **ret_name, int32_t *ret_value)
{
	static const struct { const char *name; size_t offset; uint8_t field; } areas[SHOWN_AREA] = {
		{ "x", offsetof(struct event_detail, x), FIELD_X }, { "y", offsetof(struct event_detail, y), FIELD_Y },
		{ "w", offsetof(struct event_detail, w), FIELD_W }, { "h", offsetof(struct event_detail, h), FIELD_H },
		{ "ox", offsetof(struct event_detail, ox), FIELD_OX }, { "oy", offsetof(struct event_detail, oy), FIELD_OY },
	};

	*ret_name = areas[i].name;
	memcpy(ret_value, (const char *)d + areas[i].offset, sizeof(*ret_value));
	return d->has & 1u << areas[i].field;
}

const char *shown_type(int type)
{
	static const char *const names[EVENT_TYPE_END] = {
		[EVENT_GENERIC] = "generic",
		[EVENT_PROCESS] = "process",
		[EVENT_DOCUMENT_PARSING] = "document parsing",
		[EVENT_CSS_PARSING] = "CSS parsing",
		[EVENT_SCRIPT_COMPILATION] = "script compilation",
		[EVENT_SCRIPT_THREAD_EVALUATION] = "script evaluation",
		[EVENT_REFLOW] = "reflow",
		[EVENT_STYLE_RECALCULATION] = "style recalculation",
		[EVENT_CSS_SELECTOR_MATCHING] = "selector matching",
		[EVENT_LAYOUT] = "layout",
		[EVENT_PAINT] = "paint",
	};

	return type > 0 && type < EVENT_TYPE_END ? names[type] : "unknown";
}

const char *shown_thread_type(int type)
{
	static const char *const names[THREAD_TYPE_END] = {
		[THREAD_TYPE_COMMON] = "COMMON",
		[THREAD_TYPE_TIMEOUT] = "TIMEOUT",
		[THREAD_TYPE_EVENT] = "EVENT",
		[THREAD_TYPE_INLINE_SCRIPT] = "INLINE_SCRIPT",
		[THREAD_TYPE_JAVASCRIPT_URL] = "JAVASCRIPT_URL",
		[THREAD_TYPE_HISTORY_NAVIGATION] = "HISTORY_NAVIGATION",
		[THREAD_TYPE_JAVA_EVAL] = "JAVA_EVAL",
		[THREAD_TYPE_DEBUGGER_EVAL] = "DEBUGGER_EVAL",
	};

	return type > 0 && type < THREAD_TYPE_END ? names[type] : NULL;
}

const char *shown_script_type(int type)
{
	static const char *const names[SCRIPT_TYPE_END] = {
		[SCRIPT_TYPE_LINKED] = "LINKED",
		[SCRIPT_TYPE_INLINE] = "INLINE",
		[SCRIPT_TYPE_GENERATED] = "GENERATED",
		[SCRIPT_TYPE_EVAL] = "EVAL",
		[SCRIPT_TYPE_TIMEOUT] = "TIMEOUT",
		[SCRIPT_TYPE_URI] = "URI",
		[SCRIPT_TYPE_EVENT_HANDLER] = "EVENT_HANDLER",
		[SCRIPT_TYPE_USERJS] = "USERJS",
		[SCRIPT_TYPE_BROWSERJS] = "BROWSERJS",
		[SCRIPT_TYPE_EXTENSIONJS] = "EXTENSIONJS",
		[SCRIPT_TYPE_DEBUGGER] = "DEBUGGER",
	};

	return type > 0 && type < SCRIPT_TYPE_END ? names[type] : NULL;
}

const char *shown_marker(int type)
{
	switch (type) {
	case EVENT_SCRIPT_COMPILATION:
	case EVENT_SCRIPT_THREAD_EVALUATION:
		return "script";
	case EVENT_STYLE_RECALCULATION:
	case EVENT_CSS_SELECTOR_MATCHING:
		return "style";
	case EVENT_REFLOW:
	case EVENT_LAYOUT:
		return "layout";
	case EVENT_PAINT:
		return "paint";
	default:
		return "other";
	}
}

const char *shown_flags(unsigned int flags, char *buf, size_t n)
{
	static const struct { unsigned int flag; const char *name; } names[] = {
		{ EV_UNWOUND, "unwound" }, { EV_CLIPPED, "clipped" }, { EV_NO_BEGIN, "no-begin" },
		{ EV_NO_END, "no-end" }, { EV_MOVED, "moved" }, { EV_AGGREGATE, "aggregate" },
		{ EV_OVERHEAD_HIGH, "overhead-high" }, { EV_DEEP, "deep" },
	};
	size_t fill = 0;

	buf[0] = '\0';
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (flags & names[i].flag && fill < n)
			fill += snprintf(buf + fill, n - fill, "%s%s", fill ? "," : "", names[i].name);
	return buf;
}

static bool same_metric(const struct recording_info *info, uint32_t a, uint32_t b)
{
	return !strcmp(info->metric_names[a], info->metric_names[b]) && !strcmp(info->metric_units[a], info->metric_units[b]);
}

void shown_metric(const struct recording_info *info, uint32_t i, char *buf)
{
	const char *unit = info->metric_units[i];
	bool plain = !*unit || !strcmp(unit, "count");
	size_t n;

	snprintf(buf, METRIC_KEY, "%.60s%s%.20s", info->metric_names[i], plain ? "" : "_", plain ? "" : unit);
	n = text_valid_prefix(buf, strlen(buf));
	buf[n] = '\0';
	/* an imported profile may name one twice */
	for (uint32_t before = 0; before < i; before++)
		if (same_metric(info, before, i)) {
			snprintf(buf + n, METRIC_KEY - n, "_%u", i + 1);
			break;
		}
}

void shown_metrics(struct emit *out, const struct export_input *in, const struct event_view *v)
{
	if (!v->metrics || !in->info->nr_metrics)
		return;
	emit_text(out, ",\"metrics\":{");
	for (uint32_t i = 0; i < in->info->nr_metrics; i++) {
		if (i)
			emit_text(out, ",");
		emit_json(out, in->metric_keys[i]);
		emit_text(out, ":");
		emit_u64(out, v->metrics[i]);
	}
	emit_text(out, "}");
}

void shown_incomplete(struct emit *out, const struct session *s, const char *key)
{
	char what[INCOMPLETE_TEXT];

	if (*session_incomplete(s, what, sizeof(what)))
		emit_member(out, key, what);
}

void shown_left_out(struct emit *out, const struct session *s, const char *key)
{
	char what[LEFT_OUT_TEXT];

	if (*session_left_out(s, what, sizeof(what)))
		emit_member(out, key, what);
}

uint64_t shown_end_ns(const struct session *s)
{
	const struct recording_info *info = session_info(s);

	return info->end_ns > info->begin_ns ? info->end_ns - info->begin_ns : 0;
}

void shown_frame_id(const struct timeline *t, char *buf)
{
	snprintf(buf, 33, "%032x", t->id);
}
