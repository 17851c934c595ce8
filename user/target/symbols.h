/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Functions by name: every table of names that one image has, and the matching of patterns against them.
 *
 * Tables, best first; all of them are searched, and each function says where its name came from:
 *   1. .symtab of the image;
 *   2. without one, the .symtab of a separate debug file: by build-id below each directory of the debug path, then by
 *      .gnu_debuglink beside the image, in .debug/ beside it and below each directory (CRC or build-id must agree;
 *      one that doesn't is named in a warning), then debuginfod, only where DEBUGINFOD_URLS is set;
 *   3. .dynsym of the image, with the names of MiniDebugInfo (.gnu_debugdata) beside it;
 *   4. a Breakpad .sym file given by the user.
 * The debug path is $FRAMESCOPE_DEBUG_PATH (elfutils' syntax), by default ":.debug:/usr/lib/debug", with the target's
 * own /usr/lib/debug before it where the image is read through /proc/PID/root.
 *
 * Patterns: `*` stands for any characters, "::" included, `?` for one; nothing else is special. A pattern covers the
 * whole name, from its first character to its last.
 *   - It may always be the symbol as it stands in the table ("_ZN5blink8Document11UpdateStyleEv").
 *   - Without a parameter list it is compared with the demangled name without parameters, return type, ABI tags and
 *     cv-qualifiers: `fun` is fun, fun(int) and the C function fun, but neither Foo::fun nor function.
 *   - With one ("fun(int)") it is compared with the name and the parameters; blanks don't count. A `*` directly behind a
 *     type is a pointer there: `fun(int*)` is neither fun(int) nor fun(int*, char), `fun(int*, *)` is the latter.
 *   - Without template arguments it is compared with the name without them: `JSC::parse` is every instantiation.
 *   - Rust names (v0 and legacy) are without their hash; `<T as Trait>::name` keeps its brackets.
 * Compilers' clones (.part.N, .constprop.N, .isra.N, .specialized.N) count as their function, renamed locals (.llvm.N,
 * .lto_priv.N, .__uniq.N) too; .cold parts never do. Where a function was split, its .part is taken in its
 * place, since all callers reach that one, also those that the rest was inlined into. Names of one address are one function.
 */
#ifndef FRAMESCOPE_TARGET_SYMBOLS_H
#define FRAMESCOPE_TARGET_SYMBOLS_H

#include "target/site.h"

#define SYMBOLS_MAX_MATCHES 256	/* functions that one probe may stand for; more are refused */

struct symbols;

/* A function that a pattern matched, or that can't be attached to and why. */
struct symbol_match {
	uint64_t vaddr;		/* of the image as linked, load base 0 */
	uint64_t size;		/* bytes; never 0 if it can be attached to */
	enum site_source source;	/* SITE_SYMBOL, SITE_DEBUG_FILE or SITE_BREAKPAD */
	bool clone;		/* a clone whose arguments may be others than the function's */
	char symbol[256];	/* as in the table, cut */
	char name[256];		/* demangled, with parameters, cut; = symbol where there is nothing to demangle */
	char evidence[256];	/* ".dynsym, also named foo2" */
	const char *refused;	/* NULL, or why no probe can sit there: static text */
};

/* Reads all tables that there are. `breakpad` is a .sym file or NULL. Having no symbols at all is no error: symbols_find()
 * says so. Errors: a breakpad file that can't be read or is another build's (ERR_INPUT), memory. The image must outlive it. */
int symbols_open(const struct image *image, const char *breakpad, struct symbols **ret, struct error *err);
void symbols_close(struct symbols *s);	/* NULL is fine */

/*
 * The functions of a probe: those that the first of its patterns matches that matches any. 0 and *ret (to be freed
 * with free()), or -ENOENT and `reason`: one sentence that names the binary, the tables searched with their counts and the
 * nearest names, or says why what was found can't be used. -ENOENT without a pattern leaves reason empty.
 */
int symbols_find(struct symbols *s, const struct engine_probe *probe, struct symbol_match **ret, size_t *ret_nr,
		 char *reason, size_t reason_size);

/*
 * The arguments of a probe at the function at vaddr: those of its definition, with member paths looked up in debug
 * information. Those that can't be, and those that are equal to one before, are left out; `note` says why the first was of
 * which there is no other way, else it is empty.
 */
void symbols_arguments(struct symbols *s, const struct engine_probe *probe, uint64_t vaddr,
		       struct arg_spec ret[RECORD_MAX_ARGS], size_t *ret_nr, char *note, size_t note_size);

/* All functions that match, those that can't be attached to included, in the order of their addresses. For `probes --find`. */
int symbols_glob(struct symbols *s, const char *pattern, struct symbol_match **ret, size_t *ret_nr);

/* The best name for the function that contains vaddr, or false. */
bool symbols_name_of(struct symbols *s, uint64_t vaddr, char *ret, size_t size);

/* The first warning met on the way, as of a debug file of another build; "" if none. */
const char *symbols_warning(const struct symbols *s);
/* The tables and their counts: ".symtab 0, .dynsym 1234, debug file none, MiniDebugInfo none". */
const char *symbols_tables(const struct symbols *s);

/* Has the file no more names than those that it exports? */
bool symbols_stripped(const struct symbols *s);

/* Does the pattern match this symbol, by the rules above? */
bool symbol_pattern_match(const char *pattern, const char *symbol);

#endif
