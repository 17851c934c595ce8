/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What an export says of an event in words, and what --redact keeps back: decided here for all formats. */
#ifndef FRAMESCOPE_EXPORT_SHOWN_H
#define FRAMESCOPE_EXPORT_SHOWN_H

#include "export/emit.h"
#include "export/input.h"

/* How much of the URL may be shown: all, or its scheme and host. */
size_t shown_url(const struct export_options *opt, const char *url);
/* The text itself, or "(redacted)". NULL stays NULL. */
const char *shown_text(const struct export_options *opt, const char *text);

#define SHOWN_AREA 6	/* numbers that say where on the page something is */

/* Number i of these, and its name; false: the event hasn't got it. */
bool shown_area(const struct event_detail *d, int i, const char **ret_name, int32_t *ret_value);

/* "REFLOW" in small letters, with blanks: "reflow". Static. */
const char *shown_type(int type);
/* Names of the enumerations of Profiler 1.1: "EVENT", "INLINE_SCRIPT"; NULL for unknown ones and for UNKNOWN. */
const char *shown_thread_type(int type);
const char *shown_script_type(int type);
/* `marker` of JS Self-Profiling: script, gc, style, layout, paint, other. */
const char *shown_marker(int type);
/* Comma-separated names of EV_* flags that say something about the quality of the event, "" for none. buf: >= 96 bytes. */
const char *shown_flags(unsigned int flags, char *buf, size_t n);

/*
 * A metric beside time as a key: its name, and its unit behind it unless that is a mere count: "page-faults",
 * "cpu-clock_ns". Both stand in the recording; no two metrics of one have the same key. buf: METRIC_KEY bytes.
 */
void shown_metric(const struct recording_info *info, uint32_t i, char *buf);
/* ,"metrics":{…} with what the whole call had, what it called included; nothing if the event carries none. */
void shown_metrics(struct emit *out, const struct export_input *in, const struct event_view *v);

/* A member `key` that says what is missing of the recording, if something is. */
void shown_incomplete(struct emit *out, const struct session *s, const char *key);

/* A member `key` that says what was left out in the kernel, if something was to be. */
void shown_left_out(struct emit *out, const struct session *s, const char *key);

/* Moments of the whole recording, since it began. */
uint64_t shown_end_ns(const struct session *s);

/* A timeline's identity as DevTools has frames': 32 hex digits. buf: 33 bytes. */
void shown_frame_id(const struct timeline *t, char *buf);

#endif
