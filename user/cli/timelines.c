// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* framescope timelines: the timelines of a recording, in the order that the model gives them. */
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include "base/jsonout.h"
#include "cli/command.h"
#include "cli/table.h"

static int print_help(void)
{
	printf("usage: framescope timelines FILE [--json]\n\n"
	       "Lists the timelines of a recording: one for each frame that existed at some point in time, and one\n"
	       "for each process with events that belong to no frame. The first is that of a page's main frame, of\n"
	       "several the busiest one's; the browser's own pages (chrome:, extensions') come behind all others.\n\n"
	       "      --json   an object with timelineList; timelineID and frameID as in Profiler 1.1, times in ms\n"
	       "  -h, --help\n");
	return 0;
}

/* From the first event's start to the last one's end. */
static bool find_span(const struct session *s, const struct timeline *t, uint64_t *ret_start, uint64_t *ret_end)
{
	struct event_view e;

	*ret_start = UINT64_MAX;
	*ret_end = 0;
	/* along the top level */
	for (uint32_t id = t->first_id; id < t->first_id + t->nr_events && session_event(s, id, &e); id += e.subtree) {
		*ret_start = e.start_ns < *ret_start ? e.start_ns : *ret_start;
		*ret_end = e.end_ns > *ret_end ? e.end_ns : *ret_end;
	}
	return t->nr_events;
}

static int print_table(const struct session *s)
{
	static const char *const titles[] = {
		">id", ">frame", "", ">parent", ">events", ">from ms", ">to ms", ">created ms", ">removed ms", ">pid", "process", "URL",
	};
	struct table *table = table_new(titles, sizeof(titles) / sizeof(titles[0]));
	const struct recording_process *p;
	const struct timeline *t;
	size_t nr, nr_processes;

	t = session_timelines(s, &nr);
	p = session_processes(s, &nr_processes);
	for (; nr--; t++) {
		uint64_t start, end;

		table_format(table, "%u", t->id);
		table_format(table, t->frame_id ? "%u" : "", t->frame_id);
		table_text(table, t->frame_id && t->main ? "main" : "");
		table_format(table, t->parent_frame_id ? "%u" : "", t->parent_frame_id);
		table_count(table, t->nr_events);
		if (find_span(s, t, &start, &end)) {
			table_ms(table, start);
			table_ms(table, end);
		} else {
			table_text(table, "");
			table_text(table, "");
		}
		if (t->created_ns)
			table_ms(table, t->created_ns);
		else
			table_text(table, "");
		if (t->removed_ns != UINT64_MAX)
			table_ms(table, t->removed_ns);
		else
			table_text(table, "");
		table_format(table, "%u", p[t->process].pid);
		table_text(table, p[t->process].name);
		table_text(table, t->url);
	}
	return table_finish(table, stdout, 1);
}

static void put_timeline(struct jsonout *j, const struct session *s, const struct timeline *t)
{
	const struct recording_process *p;
	uint64_t start, end;
	size_t nr;

	p = session_processes(s, &nr);
	jsonout_object(j, NULL);
	jsonout_u64(j, "timelineID", t->id);
	if (t->frame_id)
		jsonout_u64(j, "frameID", t->frame_id);
	if (t->parent_frame_id)
		jsonout_u64(j, "parentFrameID", t->parent_frame_id);
	jsonout_bool(j, "main", t->frame_id && t->main);
	jsonout_u64(j, "pid", p[t->process].pid);
	jsonout_text(j, "process", p[t->process].name);
	jsonout_u64(j, "eventCount", t->nr_events);
	if (find_span(s, t, &start, &end)) {
		jsonout_object(j, "interval");
		jsonout_ms(j, "start", start);
		jsonout_ms(j, "end", end);
		jsonout_close(j);
	}
	if (t->created_ns)
		jsonout_ms(j, "created", t->created_ns);
	if (t->removed_ns != UINT64_MAX)
		jsonout_ms(j, "removed", t->removed_ns);
	if (t->url)
		jsonout_text(j, "url", t->url);
	jsonout_close(j);
}

static int print_json(const struct session *s, struct error *err)
{
	const struct timeline *t;
	struct outfile *f;
	struct jsonout j;
	size_t nr;
	int rc = outfile_open("-", &f, err);

	if (rc)
		return rc;
	jsonout_init(&j, f, 2);
	jsonout_object(&j, NULL);
	jsonout_array(&j, "timelineList");
	t = session_timelines(s, &nr);
	for (size_t i = 0; i < nr; i++)
		put_timeline(&j, s, &t[i]);
	jsonout_close(&j);
	jsonout_close(&j);
	return outfile_commit(f, err);
}

static int timelines_main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "json", no_argument, NULL, 'j' }, { "help", no_argument, NULL, 'h' }, { 0 },
	};
	struct error err = { 0 };
	struct session *s;
	bool json = false;
	int c, rc;

	optind = 0;
	opterr = 0;
	while ((c = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
		if (c == 'h')
			return print_help();
		if (c != 'j')
			return command_bad_option("timelines", c, argv, options);
		json = true;
	}
	if (optind + 1 != argc)
		return command_usage("timelines", optind == argc ? "name a recording" : "one recording at a time");
	rc = command_load(argv[optind], &s, &err);
	if (rc)
		return command_fail(&err);
	rc = json ? print_json(s, &err) : print_table(s);
	if (rc && !json)
		error_set(&err, ERR_OTHER, rc, "out of memory while listing the timelines of '%s'", argv[optind]);
	session_free(s);
	return rc ? command_fail(&err) : 0;
}

const struct command command_timelines = {
	.name = "timelines",
	.summary = "list the timelines of a recording: frames, their events and URLs",
	.main = timelines_main,
};
