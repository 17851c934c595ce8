/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Engine definitions: *.engine files, written by us and by users. INI, read through libinih:
 *
 *   - one `key = value` a line, at most 197 characters; leading blanks don't count; `;` or `#` starts a comment line,
 *     " ;" a comment behind a value. A value in double quotes is taken as it stands, with \n \t \" \\ \xHH.
 *   - keys marked + may be given several times, any other once; yes/no, true/false, 1/0 are the truth values.
 *
 *   [engine]                     the first section
 *   name = blink                 one word
 *   title = Chromium and its kin
 *   category = blink             of its events in exports; default: name
 *   modules = chrome libQt*      + globs over the basename of a mapped file, separated by blanks
 *   marks = "some text"          + one of these strings must stand in the module: tells a fork from its kin
 *   exceptions = yes             C++ exceptions may cross its functions: exit probes instead of return probes
 *   seccomp = yes                runs under a filter that kills on unknown system calls
 *   main-thread = CrRendererMain name of a process's main thread in exports; default: as the kernel has it
 *   on-request = yes             used only when asked for by name (--engine)
 *
 *   [Document::UpdateStyle]      one section per probe; its name is unique in the engine
 *   event = STYLE_RECALCULATION  a type of Profiler 1.1; default: GENERIC
 *   kind = span                  span, mark, aggregate, async-begin, async-end, flow-begin, flow-end;
 *                                default: span, or mark where the role is an instant
 *   role = navigation            navigation, frame-created, frame-removed, document-created, document-removed,
 *                                window-opened, window-closed, script-caller
 *   label = UpdateLayoutTree     shown in viewers; default: the section's name; "*": the name of the function found
 *   group = fetch                of async operations and flows
 *   function = blink::Doc*::f    + a name or pattern (symbols.h); the first that matches anything is taken
 *   anchor = ^Document::update   + strings that the function, or a helper of it, refers to: anchors.h
 *   fallback = ^^^Layout         + anchors that count only where this build has the text of no `anchor`
 *   calls = OtherProbe           + a probe of this engine that the function calls
 *   near = TEXT                  an anchor, where calibration looks for a function that none leads to
 *   unless = OtherProbe          used only where that probe of this engine isn't found
 *   exit = auto                  auto, return (a return probe), sites (a probe on every way out)
 *   jit = yes                    JIT code may call it: never a return probe
 *   optional = yes               no warning where it isn't found
 *   off = yes                    attached only when asked for by name (--probe)
 *   clone-arguments = yes        a compiler's clone has the arguments where the function itself has them
 *   arguments = 2                so many registers have arguments, in others stands what the caller left: calibration looks at
 *                                no others; default: as many as may
 *   url = rdi *0x188 : wtf-blink + an argument; the keys are url, selector, event-name, text, title, frame, parent-frame,
 *                                document, window, x, y, w, h, x1, y1, scroll-x, scroll-y, thread-type, script-type,
 *                                line, column, id, count, key. Given twice: the first that can be read counts.
 *
 * An argument is a number, a name of the enumeration (thread-type, script-type), or an expression:
 *
 *   REGISTER STEP… [: KIND]      the value starts as the register's, at the function's first instruction
 *   REGISTER                     arg0 to arg5, or as the machine names it: rdi, rsi, …
 *   +N  -N                       add
 *   *N  *-N  *                   load 8 bytes from the value + N; *N.u32 .s32 .u16 .s16 .u8 load fewer
 *   ~N  ~N<<S                    load a 4-byte compressed pointer (of Oilpan's) from the value + N; S is its shift, by default 3
 *   &N  >>N  neg                 mask, shift right, negate
 *   ?   ?&N                      absent unless the value (masked) is not 0
 *   [N.u32=V]  [N.u8!=V]         absent unless what stands at the value + N is V, 0 to 255 (is not); the value stays
 *   ->MEMBER  .MEMBER            through debug information (arg0->document->url), before any other step
 *   KIND                         int, the default; text at the value: cstr, cstr16, chars8[LENGTH], chars16[LENGTH] with
 *                                LENGTH an expression of its own, in characters; std-string, libcxx-string, ns-cstring,
 *                                ns-string: the object at the value; wtf-blink, wtf-webkit: the StringImpl at the value;
 *                                v8-string: the tagged pointer that the value is. A text kind may end in (MAX), bytes.
 *   N                            decimal, or hexadecimal with 0x
 */
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
	bool clone_args;	/* args hold at .part, .isra and .constprop clones too */
	int nr_registers;	/* that have arguments; 0: not told */
	bool label_function;	/* shown under the name of the function found */
	bool of_option;		/* made of a --function: called by the function found, too, or else by its pattern */
	char *functions[ENGINE_MAX_NAMES];	/* symbol names or demangled globs; all match one function */
	size_t nr_functions;
	char *anchors[ENGINE_MAX_NAMES];	/* as written; see anchors.h for their syntax */
	size_t nr_anchors;
	char *fallbacks[ENGINE_MAX_NAMES];	/* anchors for builds that have the text of none of those */
	size_t nr_fallbacks;
	char *calls[ENGINE_MAX_NAMES];		/* probes that this function must call, directly or through a helper */
	size_t nr_calls;
	char *near;		/* anchor of a function that it stands near: where calibration looks for it; NULL */
	char *unless;		/* probe that, if found, makes this one needless; NULL */
	struct arg_spec args[RECORD_MAX_ARGS];
	char *members[RECORD_MAX_ARGS];		/* "->document->url": looked up in debug information, then its steps
						 * precede args[i].steps; NULL: nothing to look up */
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
	char **windows;		/* globs over the command line of a process that is a window, !glob of one that isn't
				 * all the same, since its pages are the browser's own; none: each that runs it is */
	size_t nr_windows;
	bool exceptions;	/* C++ exceptions may cross its functions: exit probes */
	bool seccomp;		/* runs under a filter that may kill on sys_uretprobe (kernels 6.11 to 6.13) */
	bool on_request;	/* used only when asked for by name */
	char *main_thread;	/* name that exports give the main thread; "" = comm */
	struct engine_probe *probes;
	size_t nr_probes;
};

/* Reads one definition. Errors (ERR_INPUT) begin with "FILE:LINE:COLUMN: ". `arch` names the registers. */
int engine_read(const char *path, const struct arch *arch, struct engine **ret, struct error *err);
/* The same from text in memory (NUL-terminated); `path` is for messages. */
int engine_parse(const char *text, const char *path, const struct arch *arch, struct engine **ret, struct error *err);
void engine_free(struct engine *e);

/*
 * Directories that definitions are looked for in, in order: $FRAMESCOPE_ENGINES (colon-separated), ../share/framescope/engines
 * beside the program, <prefix>/share/framescope/engines, and in a build tree user/engines. Reads all *.engine of them,
 * the first of a name wins; those on request are left out, unless `only` is "*". With `only` (a name, or a path: it contains a slash or ends in
 * .engine) reads that one. `arch` NULL: the machine's own.
 */
int engines_load(const char *only, const struct arch *arch, struct engine ***ret, size_t *ret_nr,
		 struct error *err);
void engines_free(struct engine **e, size_t nr);

/*
 * An engine made of command-line options, each PATTERN[=EVENT] ("Widget::paint*=PAINT"; without EVENT: GENERIC): one span
 * probe each, called by the function's own name (site_name()). `modules` is a list of globs as in a definition; NULL: every file that
 * is mapped. Errors: ERR_USAGE.
 */
int engine_from_functions(const char *const *specs, size_t nr, const char *modules, struct engine **ret,
			  struct error *err);

/* Is a process that runs the engine a window of the browser, by its command line (blanks between arguments)? */
bool engine_is_window(const struct engine *e, const char *cmdline);
/* Does it show pages all the same, of the browser's own: is it one that the definition excepts by !glob? */
bool engine_shows_own_pages(const struct engine *e, const char *cmdline);

/* Does this module's basename match? */
bool engine_claims(const struct engine *e, const char *basename);
/* Which of the definition's globs matches first, from 1; 0: none. An engine in several modules names its main one first. */
size_t engine_module_rank(const struct engine *e, const char *basename);
struct image;
/* The first definition that claims a module's name and, if it has marks, finds one of them in its bytes; NULL. */
const struct engine *engine_for_module(struct engine *const *list, size_t nr, const char *basename,
				       const struct image *image);
/* Finds a probe by its section's name; NULL. */
const struct engine_probe *engine_probe_by_name(const struct engine *e, const char *name);

/* `*` and `?` over the whole of s, everything else as it stands. */
bool engine_glob(const char *pattern, const char *s);

/*
 * Argument expressions (expr.c). Fills all of *ret but its field. *ret_member is set to a member path that debug
 * information must resolve (to be freed), or NULL; a caller that passes NULL gets an error for such a path.
 * *ret_column, 1-based in text, is where the error is; may be NULL. max_bytes stays 0 where text gives none.
 */
int expr_parse(const char *text, const struct arch *arch, struct arg_spec *ret, char **ret_member,
	       size_t *ret_column, struct error *err);
/* The same in the other direction, for calibration and messages: "rdi *0x188 : wtf-blink". Returns as snprintf does. */
int expr_print(const struct arg_spec *spec, const struct arch *arch, char *dst, size_t size);

/* The key of an argument in a definition, and back: "url" <-> FIELD_URL; 0 and NULL if unknown. */
int arg_field_parse(const char *name);
const char *arg_field_name(int field);

/* The words that may stand as a value, and what they mean: tables that end in a NULL name. */
struct engine_word { const char *name; int value; };
extern const struct engine_word event_type_words[], probe_kind_words[], probe_role_words[], exit_policy_words[],
	arg_field_words[], truth_words[] /* 1 more than the truth */;
const struct engine_word *arg_field_constants(int field);	/* of thread-type and script-type; NULL for others */
int words_value(const struct engine_word *words, const char *name);	/* 0: not in the table */
const char *words_name(const struct engine_word *words, int value);	/* NULL: not in the table */
/* What a probe is whose calls are no events of their own: its kind (mark, flow-end, …) or role (script-caller); else NULL. */
const char *words_of_no_event(int kind, int role);
const char *words_list(const struct engine_word *words, char *dst, size_t size);	/* "a, b or c"; returns dst */

#endif
