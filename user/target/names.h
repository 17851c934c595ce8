/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names of functions: demangling, compilers' suffixes, and patterns over them (rules: symbols.h). */
#ifndef FRAMESCOPE_TARGET_NAMES_H
#define FRAMESCOPE_TARGET_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#define NAME_MAX_LENGTH 8192	/* of a mangled name and of what becomes of it; longer ones stay as they are */

/* What the suffix of a symbol says. */
enum clone_flag {
	CLONE_COLD = 1 << 0,	/* not a function: an unlikely part of one, or a jump table's stub */
	CLONE_PART = 1 << 1,	/* the body of a function that was split */
	CLONE_ARGS = 1 << 2,	/* may take other arguments than the function as written */
};

/* Length of `symbol` without the suffixes that compilers add (.part.0, .llvm.123, …), and what they say. */
size_t name_base_length(const char *symbol, unsigned *ret_flags);

/*
 * The demangled form (C++ with parameters and without return type; Rust without hash) of a symbol whose suffixes are cut
 * off at `n`; the symbol itself if it isn't mangled. To be freed; NULL: no memory.
 */
char *name_demangle(const char *symbol, size_t n);

/* A pattern ready for comparing. */
struct name_pattern {
	char *text;		/* as given */
	char *plain;		/* without blanks and ABI tags */
	char *filter;		/* a string that each mangled name must contain; NULL */
	bool params, templates;	/* says something about those */
};

int name_pattern_init(struct name_pattern *p, const char *text);	/* -ENOMEM */
void name_pattern_done(struct name_pattern *p);
/* `symbol` as in a symbol table, mangled or not. */
bool name_pattern_match(const struct name_pattern *p, const char *symbol);
/* `name` as in a Breakpad file: not mangled. */
bool name_pattern_match_demangled(const struct name_pattern *p, const char *name);

/* "blink::Document::UpdateStyle" of "blink::Document::UpdateStyle(int)", without blanks, and its last component, without
 * template arguments. Empty if it doesn't fit. */
void name_without_params(const char *demangled, char *dst, size_t size);
void name_last_component(const char *demangled, char *dst, size_t size);

#endif
