// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The report's table of arguments that could not be read: of which calls, and what those lack for it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/text.h"
#include "cli/report.h"
#include "cli/table.h"
#include "target/engine.h"

#define NAMED 3		/* processes of a probe */

struct unread {
	const struct recording_probe *probe;
	enum arg_field field;
};

/* Where a probe's calls were: indices into session_processes. */
struct places {
	uint32_t processes[NAMED];
	unsigned int nr;	/* NAMED + 1: there are more */
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

static bool is_whole(const struct unread *u)
{
	return times(u) >= u->probe->stats.calls;
}

static void add_place(struct places *p, uint32_t process)
{
	for (unsigned int i = 0; i < p->nr && i < NAMED; i++)
		if (p->processes[i] == process)
			return;
	if (p->nr < NAMED)
		p->processes[p->nr] = process;
	if (p->nr <= NAMED)
		p->nr++;
}

/* One per probe; NULL: no memory. */
static struct places *find_places(const struct session *s, size_t nr_probes)
{
	struct places *places = calloc(nr_probes + 1, sizeof(*places));
	const struct timeline *t;
	struct event_view e;
	size_t nr;

	t = session_timelines(s, &nr);
	for (size_t i = 0; places && i < nr; i++)
		for (uint32_t k = 0; k < t[i].nr_events; k++)
			if (session_event(s, t[i].first_id + k, &e) && e.probe < nr_probes)
				add_place(&places[e.probe], t[i].process);
	return places;
}

static void print_whole(const struct session *s, const struct unread *u, const struct places *places)
{
	const struct recording_process *procs;
	char count[32], name[256];
	size_t nr;

	procs = session_processes(s, &nr);
	name[text_printable(u->probe->name, strlen(u->probe->name), name, sizeof(name) - 1)] = '\0';
	printf("%s: none of its %s calls has its %s", name, format_count(u->probe->stats.calls, count),
	       words_name(arg_field_words, u->field));
	for (unsigned int i = 0; i < places->nr && i < NAMED; i++) {
		const struct recording_process *p = places->processes[i] < nr ? &procs[places->processes[i]] : NULL;

		if (!p)
			continue;
		name[text_printable(p->name, strlen(p->name), name, sizeof(name) - 1)] = '\0';
		printf("%s %u (%s)", i ? "," : "; they are of process", p->pid, name);
	}
	printf("%s.\n", places->nr > NAMED ? " and others" : "");
}

/* The probes of which no call at all has the argument: what that may mean depends on whose calls they are. */
static int print_wholes(const struct session *s, const struct unread *all, size_t nr)
{
	const struct recording_probe *probes;
	struct places *places = NULL;
	size_t nr_probes;

	probes = session_probes(s, &nr_probes);
	for (size_t i = 0; i < nr; i++) {
		if (!is_whole(&all[i]))
			continue;
		if (!places)
			places = find_places(s, nr_probes);
		if (!places)
			return -ENOMEM;
		print_whole(s, &all[i], &places[all[i].probe - probes]);
	}
	if (places)
		printf("So it is where a process shows pages of the browser's own only; else the definition may not fit this build.\n");
	free(places);
	return 0;
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
	if (nr)
		table_heading(stdout, "Arguments that could not be read");
	rc = table_finish(t, stdout, nr);
	if (nr)
		printf("The way to an argument ends where an object that it leads through doesn't exist: of a document that no frame\n"
		       "shows, or a sheet of the browser's own.\n");
	rc = rc ?: print_wholes(s, all, nr);
	free(all);
	return rc;
}
