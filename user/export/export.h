/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Exporters: one writer per format behind one vtable, fed in time order by export_session(). */
#ifndef FRAMESCOPE_EXPORT_EXPORT_H
#define FRAMESCOPE_EXPORT_EXPORT_H

#include "base/outfile.h"
#include "model/session.h"

/* Viewers lose or crash on deeper nesting (Perfetto keeps 512 levels); what lies deeper is left out and counted. */
#define EXPORT_MAX_DEPTH 512
/* Bytes of one text that any export shows; longer ones are cut on a character boundary and end in "…". */
#define EXPORT_MAX_TEXT 16384

struct export_options {
	bool begin_end;		/* Chrome: B/E pairs instead of X */
	bool redact;		/* no URL path or query, no selector text, no command line */
};

struct exporter;		/* a writer's own state */

/*
 * An event as it stands on its thread. The intervals of the nested events of one thread are nested or disjoint,
 * whatever the records were: those that are not are clamped to the event around them.
 */
struct export_event {
	struct event_view view;
	const struct timeline *timeline;
	uint64_t start_ns, end_ns;	/* clamped; since the session began */
	uint32_t depth;		/* in its timeline */
	uint32_t thread_depth;	/* on its thread, where events of several timelines nest */
	bool overlapping;	/* a sum of calls: may overlap its siblings, comes before its time, and is not left */
};

/*
 * Called in this order: begin, process*, thread*, frame*, then event/leave/mark/counter/loss/note in order of time
 * (events: parents before children, equal starts longest first), end. A NULL member is skipped. Return 0 or -errno.
 * Times given are those of the session; a counter may be told up to 10 ms late.
 */
struct export_format {
	const char *name;	/* "chrome" */
	const char *extension;	/* ".json" */
	const char *summary;	/* one line for --help */
	bool pairs;		/* heeds export_options.begin_end */
	bool by_thread;		/* events thread after thread, each in order of time; marks, counters, … follow */
	int (*begin)(const struct session *s, const struct export_options *opt, struct outfile *f, struct exporter **ret);
	int (*process)(struct exporter *x, uint32_t index, const struct recording_process *p);
	int (*thread)(struct exporter *x, uint32_t index, const struct recording_thread *t);
	int (*frame)(struct exporter *x, const struct timeline *t);
	int (*event)(struct exporter *x, const struct export_event *e);
	int (*leave)(struct exporter *x, const struct export_event *e);	/* in order of time, too */
	int (*mark)(struct exporter *x, const struct session_mark *m);
	int (*counter)(struct exporter *x, const char *name, uint32_t process, uint64_t ts_ns, const char *const *series,
		       const double *values, size_t nr);
	int (*loss)(struct exporter *x, const struct session_loss *l);
	int (*note)(struct exporter *x, const struct session_note *n);
	/* The last output. too_deep, clamped: events that were left out or cut (see above). */
	int (*end)(struct exporter *x, uint64_t too_deep, uint64_t clamped);
	void (*free)(struct exporter *x);	/* called once after begin() succeeded, whatever failed later */
};

/* NULL-terminated. */
extern const struct export_format *const export_formats[];
const struct export_format *export_format_by_name(const char *name);
/* By the ending of a file's name (".json", ".json.gz" -> chrome, …); NULL if none fits. */
const struct export_format *export_format_by_path(const char *path);

int export_session(const struct session *s, const struct export_format *format, const struct export_options *opt,
		   const char *path, struct error *err);

#endif
