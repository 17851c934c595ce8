/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Exporters: one writer per format behind one vtable, fed in time order by export_session(). */
#ifndef FRAMESCOPE_EXPORT_EXPORT_H
#define FRAMESCOPE_EXPORT_EXPORT_H

#include "base/outfile.h"
#include "model/session.h"

struct export_options {
	bool begin_end;		/* Chrome: B/E pairs instead of X */
	bool redact;		/* no URL path or query, no selector text */
};

struct exporter;		/* a writer's own state */

/* Called in this order: begin, process*, thread*, frame*, then event/mark/counter/loss in order of time (events:
 * parents before children, equal starts longest first), end. A NULL member is skipped. Return 0 or -errno. */
struct export_format {
	const char *name;	/* "chrome" */
	const char *extension;	/* ".json" */
	const char *summary;	/* one line for --help */
	int (*begin)(const struct session *s, const struct export_options *opt, struct outfile *f, struct exporter **ret);
	int (*process)(struct exporter *x, uint32_t index, const struct recording_process *p);
	int (*thread)(struct exporter *x, uint32_t index, const struct recording_thread *t);
	int (*frame)(struct exporter *x, const struct timeline *t);
	int (*event)(struct exporter *x, const struct timeline *t, const struct event_view *e, uint32_t depth);
	int (*mark)(struct exporter *x, const struct session_mark *m);
	int (*counter)(struct exporter *x, const char *name, uint32_t process, uint64_t ts_ns, const char *const *series,
		       const double *values, size_t nr);
	int (*loss)(struct exporter *x, const struct session_loss *l);
	int (*end)(struct exporter *x);	/* the last output; frees x on success and on failure */
};

/* NULL-terminated. */
extern const struct export_format *const export_formats[];
const struct export_format *export_format_by_name(const char *name);
/* By the ending of a file's name (".json", ".json.gz" -> chrome, …); NULL if none fits. */
const struct export_format *export_format_by_path(const char *path);

int export_session(const struct session *s, const struct export_format *format, const struct export_options *opt,
		   const char *path, struct error *err);

#endif
