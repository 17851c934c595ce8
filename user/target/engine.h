/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Engine definitions: *.engine files, written by us and by users (syntax: README and man page). */
#ifndef FRAMESCOPE_TARGET_ENGINE_H
#define FRAMESCOPE_TARGET_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/error.h"
#include "recording.h"
#include "target/arch.h"

#define ENGINE_MAX_PROBES 256
#define ENGINE_MAX_NAMES 16	/* functions, anchors, … of one probe */

/* How a probed call's end is seen. */
enum exit_policy {
	EXIT_AUTO = 0,		/* return probe where the engine's flags allow it, else exit probes */
	EXIT_RETURN,
	EXIT_SITES,		/* plain probes on every return and tail jump */
	EXIT_NONE,		/* a mark */
};

struct engine_probe {
	char *name;		/* section name, unique in its engine */
	char *label;		/* shown in viewers; default: name */
	char *group;		/* async operations and flows */
	enum event_type type;
	enum probe_kind kind;
	enum probe_role role;
	enum exit_policy exit;
	bool jit;		/* may be called from JIT code: never a return probe */
	bool optional;		/* not finding it is not worth a warning */
	bool off;		/* attached only when asked for by name (--probe) */
	char *functions[ENGINE_MAX_NAMES];	/* symbol names or demangled globs; all match one function */
	size_t nr_functions;
	char *anchors[ENGINE_MAX_NAMES];	/* strings; see anchors.h for the syntax of one */
	size_t nr_anchors;
	char *calls[ENGINE_MAX_NAMES];		/* probes that this function must call, directly or through a helper */
	size_t nr_calls;
	struct arg_spec args[RECORD_MAX_ARGS];
	size_t nr_args;
	int line;		/* of its section, for messages */
};

struct engine {
	char *path;		/* where it was read from */
	char *name;		/* "blink" */
	char *title;		/* "Chromium and its kin" */
	char *category;		/* for exports; default: name */
	char **modules;		/* globs over the basename of a mapped file */
	size_t nr_modules;
	char **marks;		/* strings of which at least one must be in the module: tells a fork from its kin */
	size_t nr_marks;
	bool exceptions;	/* C++ exceptions may cross its functions: exit probes */
	bool seccomp;		/* runs under a filter that may kill on sys_uretprobe (kernels 6.11 to 6.13) */
	char *main_thread;	/* name that exports give the main thread; "" = comm */
	struct engine_probe *probes;
	size_t nr_probes;
};

/* Reads one definition. Errors (ERR_INPUT) say file, line and column. `arch` names the registers. */
int engine_read(const char *path, const struct arch *arch, struct engine **ret, struct error *err);
void engine_free(struct engine *e);

/* Directories that definitions are looked for in, in order: $FRAMESCOPE_ENGINES (colon-separated),
 * <prefix>/share/framescope/engines, and in a build tree user/engines. Reads all *.engine of them, the first of a
 * name wins. With `only` (a name or a path) reads that one. */
int engines_load(const char *only, const struct arch *arch, struct engine ***ret, size_t *ret_nr,
		 struct error *err);
void engines_free(struct engine **e, size_t nr);

/* Does this module's basename match? */
bool engine_claims(const struct engine *e, const char *basename);

/* Argument expressions (expr.c). `column` in err->text counts from 1 in `text`. */
int expr_parse(const char *text, const struct arch *arch, struct arg_spec *ret, struct error *err);

#endif
