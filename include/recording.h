/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a recording holds beside its records, as plain data: written by capture/, read back by
 * every command, consumed by model/. Strings are UTF-8 (repaired on the way in), never NULL, and
 * owned by whoever hands the struct out.
 */
#ifndef FRAMESCOPE_RECORDING_H
#define FRAMESCOPE_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "event_type.h"
#include "record.h"

/* What a probe's hits become. */
enum probe_kind {
	PROBE_KIND_SPAN = 1,	/* begin and end: an event */
	PROBE_KIND_MARK,	/* an instant */
	PROBE_KIND_AGGREGATE,	/* many calls summed up: an event with hits above one */
	PROBE_KIND_ASYNC_BEGIN,	/* opens the async operation FIELD_ID of its group */
	PROBE_KIND_ASYNC_END,
	PROBE_KIND_FLOW_BEGIN,	/* cause: the arrow FIELD_ID of its group starts here */
	PROBE_KIND_FLOW_END,	/* effect; the event that encloses it is the arrow's head */
};

/* What a mark or span means to the model beside its type. */
enum probe_role {
	ROLE_NONE = 0,
	ROLE_NAVIGATION,	/* a URL is about to be opened: FIELD_URL, FIELD_FRAME, FIELD_WINDOW as read */
	ROLE_FRAME_CREATED,	/* FIELD_FRAME, FIELD_PARENT_FRAME */
	ROLE_FRAME_REMOVED,
	ROLE_DOCUMENT_CREATED,	/* FIELD_DOCUMENT, FIELD_FRAME, FIELD_URL as read */
	ROLE_DOCUMENT_REMOVED,
	ROLE_WINDOW_OPENED,	/* FIELD_WINDOW, FIELD_TITLE, FIELD_URL */
	ROLE_WINDOW_CLOSED,
	ROLE_SCRIPT_CALLER,	/* not shown: gives THREAD_TYPE and EVENT_NAME to scripts evaluated inside */
	ROLE_PAINT_AREA,	/* shown as it is: FIELD_X to FIELD_H are those of the PAINT event that it lies in */
};

struct recording_probe {
	const char *name;	/* engine definition's section: "Document::UpdateStyle" */
	const char *label;	/* what viewers show: "UpdateLayoutTree" */
	const char *category;	/* for exports: "blink" */
	const char *engine;
	const char *group;	/* of async operations and flows; "" otherwise */
	const char *function;	/* symbol or best known name */
	const char *module;	/* path as the target sees it */
	const char *build_id;	/* hex, "" if none */
	const char *source;	/* how it was found: "anchor", "symbol", … */
	const char *evidence;	/* one line for a person */
	const char *refused;	/* "" if attached; else why not */
	uint64_t offset;	/* file offset of the entry; 0 if refused */
	uint16_t type;		/* enum event_type */
	uint8_t kind;		/* enum probe_kind */
	uint8_t role;		/* enum probe_role */
	uint8_t cost_class;	/* enum cost_class, all bits */
	bool attached;
	struct probe_stats stats;	/* totals at the end of the recording */
};

struct recording_process {
	uint32_t pid;		/* initial namespace */
	uint32_t inner_pid;	/* in the process's own namespace; == pid without one */
	uint32_t parent;
	uint64_t start_ns;	/* CLOCK_MONOTONIC; 0: before recording */
	uint64_t end_ns;	/* 0: still alive at the end */
	const char *name;	/* "chromium (renderer)" */
	const char *cmdline;	/* blanks between arguments, cut at 1024 bytes */
	const char *engine;	/* "" if none lives in it */
	bool own_pages;		/* the engine's definition says that it shows the browser's own pages only; false: as far as known */
};

struct recording_thread {
	uint32_t tid, pid;
	const char *name;
	bool main;		/* the engine's main thread of that process */
};

struct recording_info {
	uint32_t version;
	uint32_t target_pid;
	uint64_t begin_ns;	/* CLOCK_MONOTONIC: 0 of the session */
	uint64_t end_ns;
	int64_t begin_realtime_ns;	/* wall clock at begin_ns */
	const char *tool;	/* "framescope 1.0" */
	const char *kernel;	/* uname -r */
	const char *machine;	/* uname -m */
	const char *rung;	/* "uprobe.session", "uprobe.multi", "perf links" */
	const char *overhead_source;	/* "rolling calibration", "calibrated at start", "none" */
	const char *metric_names[RECORD_MAX_METRICS];
	const char *metric_units[RECORD_MAX_METRICS];	/* "count", "ns", "bytes" */
	uint32_t nr_metrics;
	uint32_t only_under;	/* enum event_type: calls outside of such events were left out in the kernel; 0: none were */
	uint64_t min_duration_ns;	/* and calls that were shorter; each probe's stats.hidden counts both */
	bool direct_reads;	/* arguments were read without asking the kernel each time (bpf/direct.bpf.h) */
	bool truncated;		/* something is missing, for whichever reason of the next four */
	bool cut_off;		/* the file ends early */
	bool source_cut;	/* what it was imported from ended early */
	uint32_t damaged_blocks;	/* skipped since their checksums were wrong */
	uint64_t missing_records;	/* as far as what is left of the file tells */
	bool missing_exact;	/* all of them: the file's own total is known */
	bool target_ended;	/* recording stopped since the target was gone */
};

#endif
