/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The probe table of a capture: engines x modules -> sites -> what is to be attached where. Attaches nothing. */
#ifndef FRAMESCOPE_CAPTURE_TABLE_H
#define FRAMESCOPE_CAPTURE_TABLE_H

#include "capture/capture.h"
#include "target/engine.h"
#include "target/modules.h"
#include "target/process.h"
#include "target/site.h"

enum attach_kind {
	ATTACH_NONE = 0,	/* refused */
	ATTACH_MARK,
	ATTACH_RETURN,
	ATTACH_EXITS,
};

/* What capture/ knows of a probe beside its row in the recording's table; same index. */
struct probe_plan {
	enum attach_kind kind;
	uint32_t module;	/* index into table_module */
	uint64_t *exits;	/* file offsets */
	size_t nr_exits;
	struct probe_spec spec;
	uint64_t cookie;	/* wire.h */
	bool linked;		/* attaching was tried */
};

/* A mapped file that an engine claims. */
struct table_module {
	uint64_t dev, inode;
	int fd;			/* what is mapped; probes go there */
	char *path;
	const struct engine *engine;	/* the first that claims it */
};

struct probe_table {
	struct engine **engines;
	size_t nr_engines;
	struct engine *functions;	/* of --function; NULL */
	struct recording_probe *rec;	/* never moves: capacity is fixed */
	struct probe_plan *plan;
	bool *glob_used;		/* per capture_options.probes: it matched one, wanted or not */
	size_t nr, cap;
	struct table_module *modules;
	size_t nr_modules;
	struct module_list seen;	/* all mapped files looked at so far */
};

/* Reads the definitions. */
int table_init(struct probe_table *t, const struct capture_options *opt, struct error *err);
void table_free(struct probe_table *t);

/*
 * Looks at what the process maps and adds the probes of modules that are new. Errors are those that end a capture that
 * is about to begin; later ones (a module that was replaced) are the caller's to note.
 */
int table_add_process(struct probe_table *t, pid_t pid, const struct capture_options *opt, struct error *err);

/* A glob that is about no probe of what was looked at so far is a mistake (ERR_USAGE), unless nothing was. */
int table_check_globs(const struct probe_table *t, const struct capture_options *opt, struct error *err);

/* The engine that lives in this process: of the first of its mapped files that one claims; NULL. */
const struct engine *table_engine_of(const struct probe_table *t, pid_t pid);

/* Could a file of this name hold something to attach? */
bool table_claims(const struct probe_table *t, const char *path);

/* The description of a probe whose calls' ends are seen that way; all but the class of its cost. */
void table_fill_spec(struct probe_spec *ret, const struct site *s, enum attach_kind kind, const struct capture_options *opt);
/* What the programs learn of a probe without looking it up (wire.h). */
uint64_t table_cookie(uint32_t index, uint64_t offset, const struct probe_spec *spec);
/* enum cost_class, all bits: what decides over a call's cost beside the kind of its first instruction. */
unsigned int table_cost_class(enum cost_class kind, const struct probe_spec *spec, uint64_t cookie);

size_t table_attachable(const struct probe_table *t);
bool table_has_aggregates(const struct probe_table *t);	/* of those that can be attached */

/* One sentence on why there is nothing to attach: `pid` alone, or the whole tree in `l`. Always ERR_NOTHING. */
int table_explain_nothing(const struct probe_table *t, const struct capture_options *opt, const struct process_list *l,
			  struct error *err);

#endif
