/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the two profiles of the Chrome trace format share: items, their arguments, instants, operations, counters.
 * Every item has name, cat and args; only metadata has no ts; times are microseconds since the session began, plus
 * one, since DevTools ignores 0. No payload that differs from call to call stands in args, as speedscope tells frames
 * apart by it; but metrics beside time do, which only recordings have that were asked for them.
 */
#ifndef FRAMESCOPE_EXPORT_CHROME_H
#define FRAMESCOPE_EXPORT_CHROME_H

#include "export/emit.h"
#include "export/input.h"
#include "export/pairs.h"
#include "export/selectors.h"

#define CHROME_START_NS 1000	/* what 0 of the session becomes */
#define CHROME_TAILS 4096	/* power of two */

/* The end of an item's line, which only depends on probe, flags, frame and detail. */
struct chrome_tail {
	const struct event_detail *detail;
	const struct timeline *timeline;
	uint32_t probe_flags;	/* probe << 8 | flags */
	uint32_t nr;
	char *text;		/* up to where the event's metrics go */
};

struct exporter {
	struct emit out, scratch;
	struct export_input in;
	char instant;		/* 'i', as the format has it, or 'I', which alone DevTools counts */
	bool any;		/* an item was written: the next one needs a comma */
	char (*ids)[40];	/* per thread: ,"pid":1,"tid":2 */
	struct chrome_ends { double *us; uint32_t cap; } *ends;	/* per thread: where open events end, as viewers see it */
	struct pairs *pairs;
	struct chrome_tail *tails;
	struct selector_table selectors;
	void *profile;		/* devtools.c's own */
	const struct timeline *main_frame;	/* the one that a viewer knows, which stands for its followers, too; NULL: each for itself */
};

/* The frame in which a viewer looks for what is of this one. */
const struct timeline *chrome_viewers_frame(const struct exporter *x, const struct timeline *t);

int chrome_begin(const struct session *s, const struct export_options *opt, struct outfile *f, struct exporter **ret);
void chrome_free(struct exporter *x);
/* The closing part of the file: "]", then metadata. */
int chrome_end(struct exporter *x, uint64_t too_deep, uint64_t clamped);

/* {"ph":"P","ts":…,"pid":…,"tid":… -- the caller adds the rest and "}". */
void chrome_item(struct exporter *x, char phase, uint64_t ts_ns, uint32_t thread);
/* Same for something that belongs to a process as a whole; UINT32_MAX: to the target. */
void chrome_process_item(struct exporter *x, char phase, uint64_t ts_ns, uint32_t process);
/* Metadata: no ts. */
void chrome_meta_string(struct exporter *x, const char *name, uint32_t pid, uint32_t tid, const char *value,
			const char *key);
void chrome_meta_number(struct exporter *x, const char *name, uint32_t pid, uint32_t tid, int64_t value);
/* ,"name":…,"cat":…,"args":{ */
void chrome_name(struct exporter *x, const char *name, const char *cat);

/*
 * The event's duration as it is to be written. Viewers add ts and dur as doubles and drop what ends after its parent or
 * overlaps its neighbour even by a rounding error; where that would happen, it is a nanosecond less. -ENOMEM in
 * x->out.error.
 */
uint64_t chrome_duration(struct exporter *x, const struct export_event *e);
/* X with its durations, up to the tail: the caller ends it with chrome_tail(). */
void chrome_complete(struct exporter *x, const struct export_event *e, uint64_t dur_ns);
/* What marks an async item as a call that couldn't be a slice, for readers that want the recording back. */
void chrome_call(struct exporter *x, const struct export_event *e, uint64_t lasts_ns, bool end);
/* ,"name":…,"cat":…,"args":{…}} of an event, from the cache where it can be. */
void chrome_tail(struct exporter *x, const struct export_event *e, const char *name, const char *cat);
/* "data":{…} with what is known of the event, and, if wanted, "detail" beside it. */
void chrome_data(struct exporter *x, struct emit *out, const char *name, const struct event_detail *d,
		 const struct timeline *t, int type, unsigned int flags, bool detail);

int chrome_process(struct exporter *x, uint32_t index, const struct recording_process *p);
int chrome_thread(struct exporter *x, uint32_t index, const struct recording_thread *t);
int chrome_frame(struct exporter *x, const struct timeline *t);
int chrome_mark(struct exporter *x, const struct session_mark *m);
int chrome_counter(struct exporter *x, const char *name, uint32_t process, uint64_t ts_ns, const char *const *series,
		   const double *values, size_t nr);
int chrome_loss(struct exporter *x, const struct session_loss *l);
int chrome_note(struct exporter *x, const struct session_note *n);
/* An instant for all to see. */
void chrome_global(struct exporter *x, uint64_t ts_ns, const char *name);

/* A selector's matching below a recalculation stands in the statistics of that, as below. */
bool chrome_in_statistics(const struct exporter *x, const struct event_view *v);
/* A SelectorStats instant with what matched selectors below the event; false (and nothing written) if nothing did. */
bool chrome_selector_stats(struct exporter *x, const struct export_event *e);

#endif
