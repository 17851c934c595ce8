// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The report's table of arguments that could not be read: of which calls, and what those lack for it. */
#include <errno.h>
#include <stdlib.h>
#include "cli/report.h"
#include "cli/table.h"
#include "target/engine.h"

struct unread {
	const struct recording_probe *probe;
	enum arg_field field;
};

/* What is parsed takes the URL of its frame's document, if it has none of its own (inherit.c). */
static const char *without_url(int type)
{
	return type == EVENT_DOCUMENT_PARSING || type == EVENT_CSS_PARSING ?
	       "these calls show the URL of their frame's document, if they have a frame" : "these calls show no URL";
}

static const char *consequence(int type, enum arg_field field)
{
	switch (field) {
	case FIELD_URL: return without_url(type);
	case FIELD_SELECTOR: return "these calls show no selector";
	case FIELD_EVENT_NAME: return "these calls show no event name";
	case FIELD_LABEL: return "these calls show no text";
	case FIELD_TITLE: return "these calls show no title";
	case FIELD_FRAME: return "shown with their document or caller, else in the process's timeline without a frame";
	case FIELD_DOCUMENT: return "shown with their frame or caller, else in the process's timeline without a frame";
	case FIELD_PARENT_FRAME: return "frames shown without the one around them";
	case FIELD_WINDOW: return "shown without their window";
	case FIELD_X: case FIELD_Y: case FIELD_W: case FIELD_H: case FIELD_X1: case FIELD_Y1: case FIELD_OX: case FIELD_OY:
		return "these calls show no area, or a part of it";
	case FIELD_THREAD_TYPE: case FIELD_SCRIPT_TYPE: return "these calls don't show which kind of script";
	case FIELD_LINE: case FIELD_COLUMN: return "these calls don't show where in the script";
	case FIELD_ID: return "not joined with what they belong to";
	case FIELD_COUNT: return "each counted as one";
	case FIELD_KEY: return "summed up as if they were about the same";
	default: return "";
	}
}

static uint64_t times(const struct unread *u)
{
	return u->probe->stats.unread[u->field];
}

/* Most often first, then by place in the table of probes. */
static int by_times(const void *a, const void *b)
{
	const struct unread *x = a, *y = b;

	if (times(x) != times(y))
		return times(x) > times(y) ? -1 : 1;
	if (x->probe != y->probe)
		return x->probe < y->probe ? -1 : 1;
	return (int)x->field - (int)y->field;
}

int report_unread(const struct session *s)
{
	static const char *const titles[] = { ">times", ">of calls", "argument", "probe", "what follows" };
	struct table *t = table_new(titles, sizeof(titles) / sizeof(titles[0]));
	const struct recording_probe *p;
	size_t nr_probes, nr = 0;
	struct unread *all;
	int rc;

	p = session_probes(s, &nr_probes);
	all = calloc(nr_probes * FIELD_END + 1, sizeof(*all));
	if (!all) {
		table_finish(t, stdout, 0);
		return -ENOMEM;
	}
	for (size_t i = 0; i < nr_probes; i++)
		for (int f = 1; f < FIELD_END; f++)
			if (p[i].stats.unread[f])
				all[nr++] = (struct unread){ &p[i], f };
	qsort(all, nr, sizeof(*all), by_times);
	for (size_t i = 0; i < nr; i++) {
		table_count(t, times(&all[i]));
		table_count(t, all[i].probe->stats.calls);
		table_text(t, words_name(arg_field_words, all[i].field));
		table_text(t, all[i].probe->name);
		table_text(t, consequence(all[i].probe->type, all[i].field));
	}
	free(all);
	if (nr)
		table_heading(stdout, "Arguments that could not be read");
	rc = table_finish(t, stdout, nr);
	if (nr)
		printf("The way to an argument ends where an object that it leads through doesn't exist: of a document that no frame\n"
		       "shows, or a sheet of the browser's own. Where many calls of a probe all lack one, the definition may not fit\n"
		       "this build.\n");
	return rc;
}
