/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Sites: the probes of an engine as found in one build of a module. Attaches nothing. */
#ifndef FRAMESCOPE_TARGET_SITE_H
#define FRAMESCOPE_TARGET_SITE_H

#include "target/engine.h"
#include "target/image.h"

enum site_source {
	SITE_NONE = 0,		/* refused: see reason */
	SITE_CALIBRATED,	/* <build-id>.sites, verified against the browser's own events */
	SITE_SYMBOL,		/* .symtab or .dynsym of the module */
	SITE_DEBUG_FILE,	/* separate debug file, MiniDebugInfo, debuginfod */
	SITE_BREAKPAD,		/* --symbols FILE.sym */
	SITE_ANCHOR,
	SITE_FIXED,		/* offset given for this build-id */
};

#define SITE_MAX_EXITS 64

struct site {
	const struct engine_probe *probe;
	enum site_source source;
	uint64_t vaddr;		/* of the function's first instruction */
	uint64_t offset;	/* the same as a file offset: vaddr - p_vaddr + p_offset */
	uint64_t size;		/* bytes, where known, else 0 */
	enum cost_class cost;	/* of the entry probe */
	uint64_t exits[SITE_MAX_EXITS];	/* file offsets of returns and tail jumps */
	size_t nr_exits;
	bool exits_complete;	/* every way out is in exits[] (no conditional or indirect tail jump left over) */
	uint64_t cage;		/* vaddr of the pointer cage's base, 0: none known */
	struct arg_spec args[RECORD_MAX_ARGS];	/* of this build: calibrated ones replace the definition's */
	size_t nr_args;
	char function[256];	/* symbol, else its name as the definition has it */
	char evidence[640];	/* room for a calibration's and an anchor's */
	char reason[384];	/* SITE_NONE: why, one sentence */
};

struct site_list {
	struct site *sites;	/* one or more per probe: a probe with several candidates has several */
	size_t nr;
	bool from_cache;
};

struct site_options {
	const char *symbols;	/* Breakpad .sym file or NULL */
	bool no_cache;		/* neither read nor write /var/cache/framescope */
	bool no_calibration;	/* as if there were no .sites file of the build */
};

/* Finds every probe of `engine` in `image`. Only I/O faults are errors; what can't be found is a site with a reason. */
int sites_find(struct image *image, const struct engine *engine, const struct site_options *opt,
	       struct site_list *ret, struct error *err);
void sites_free(struct site_list *list);
/* How many probes have a function there, whatever number of candidates or clones each has, and how many of those are off. */
void sites_count(const struct site_list *list, size_t *ret_found, size_t *ret_off);

/* What was calibrated replaces the definition's arguments of the same fields. Its others and its constants stay. */
void site_replace_args(struct site *site, const struct arg_spec *args, size_t nr);

const char *site_source_name(enum site_source s);
const char *cost_class_name(enum cost_class c);	/* "emulated", "single-stepped", "nop5" */

/* What people call it: the probe's section; of a --function the function found, or its pattern. */
const char *site_name(const struct site *s);
/* Does the glob match its name, or the label that viewers show? */
bool site_is_called(const struct site *s, const char *glob);

#endif
