// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Names of functions: demangled through libiberty, cut to comparable forms, compared with users' patterns. */
#include <ctype.h>
#include <errno.h>
#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include "target/engine.h"
#include "target/names.h"
#include "target/symbols.h"

static const char anonymous[] = "(anonymous namespace)";

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$' || (c & 0x80);
}

/* --- suffixes --- */

static const struct { const char *word; unsigned flags; } suffixes[] = {
	{ "part", CLONE_PART | CLONE_ARGS }, { "constprop", CLONE_ARGS }, { "isra", CLONE_ARGS }, { "specialized", CLONE_ARGS },
	{ "cold", CLONE_COLD }, { "unlikely", CLONE_COLD }, { "cfi_jt", CLONE_COLD }, { "cfi", 0 }, { "llvm", 0 },
	{ "lto_priv", 0 }, { "__uniq", 0 }, { "localalias", 0 }, { "resolver", CLONE_COLD },
};

size_t name_base_length(const char *symbol, unsigned *ret_flags)
{
	size_t n = strlen(symbol), length = n;

	*ret_flags = 0;
	while (n) {
		const char *dot = memrchr(symbol, '.', n);
		size_t word, i;

		if (!dot || dot == symbol)
			break;
		word = symbol + n - dot - 1;
		if (word && strspn(dot + 1, "0123456789") >= word) {
			n = dot - symbol;	/* belongs to the word before it, if that is one of ours */
			continue;
		}
		for (i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++)
			if (strlen(suffixes[i].word) == word && !memcmp(suffixes[i].word, dot + 1, word))
				break;
		if (i == sizeof(suffixes) / sizeof(suffixes[0]))
			break;
		*ret_flags |= suffixes[i].flags;
		length = n = dot - symbol;
	}
	return length;
}

/* --- demangling --- */

/* libiberty's output, bounded: a hostile symbol of some hundred bytes can stand for gigabytes of text. */
struct sink {
	char text[NAME_MAX_LENGTH];
	size_t n;
	jmp_buf full;
};

static void sink_add(const char *s, size_t n, void *arg)
{
	struct sink *sink = arg;

	if (n >= sizeof(sink->text) - sink->n)
		longjmp(sink->full, 1);
	if (n)	/* of Rust's names, an empty part may be no text at all */
		memcpy(sink->text + sink->n, s, n);
	sink->n += n;
}

char *name_demangle(const char *symbol, size_t n)
{
	struct sink sink;
	char base[NAME_MAX_LENGTH];
	int done;

	if (n >= sizeof(base) || symbol[0] != '_' || (symbol[1] != 'Z' && symbol[1] != 'R'))
		return strndup(symbol, n);
	memcpy(base, symbol, n);
	base[n] = '\0';
	sink.n = 0;
	/* its callers in libiberty hold nothing but stack, so a jump out of them leaks nothing */
	if (setjmp(sink.full))
		return strndup(symbol, n);
	done = rust_demangle_callback(base, 0, sink_add, &sink);
	if (!done) {
		sink.n = 0;
		done = cplus_demangle_v3_callback(base, DMGL_PARAMS | DMGL_ANSI | DMGL_RET_DROP, sink_add, &sink);
	}
	return done && sink.n ? strndup(sink.text, sink.n) : strndup(symbol, n);
}

/* --- forms --- */

/* Length of the operator's sign behind "operator", 0 for a conversion or new and delete. */
static size_t operator_length(const char *s)
{
	static const char *const signs[] = { "<=>", "<<=", ">>=", "->*", "()", "[]", "<<", ">>", "<=", ">=", "==", "!=", "&&",
		"||", "++", "--", "+=", "-=", "*=", "/=", "%=", "^=", "&=", "|=", "->", "<", ">", "=", "!", "+", "-", "*",
		"/", "%", "^", "&", "|", "~", "," };

	for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++)
		if (!strncmp(s, signs[i], strlen(signs[i])))
			return strlen(signs[i]);
	return 0;
}

/* How much at s[i] must be copied as it stands since its brackets are part of a name; 0: nothing special. */
static size_t literal_length(const char *s, size_t i)
{
	size_t n;

	if (!strncmp(s + i, anonymous, sizeof(anonymous) - 1))
		return sizeof(anonymous) - 1;
	if (!strncmp(s + i, "operator", 8) && (!i || !is_word(s[i - 1])) && !is_word(s[i + 8])) {
		n = operator_length(s + i + 8);
		return n ? 8 + n : 0;
	}
	if (s[i] == '-' && s[i + 1] == '>')
		return 2;
	return 0;
}

/* Index behind the bracket that closes the one at s[i]; the end of the text if none does. */
static size_t skip_brackets(const char *s, size_t i)
{
	int depth = 0;

	do {
		size_t n = literal_length(s, i);

		if (n) {
			i += n;
			continue;
		}
		if (strchr("<({[", s[i]))
			depth++;
		else if (strchr(">)}]", s[i]))
			depth--;
		i++;
	} while (depth > 0 && s[i]);
	return i;
}

/*
 * The comparable forms of a name, without blanks and ABI tags: `full` with everything, `name` without parameters and what
 * follows them, `bare` also without template arguments. Each has room for the name and its NUL.
 */
struct forms {
	char *full, *name, *bare;
	size_t params, params_end;	/* the parameter list in `full`; both 0 if there is none */
};

struct form_writer {
	char *full, *name, *bare;
	bool in_params;
};

static void put(struct form_writer *w, const char *s, size_t n, bool bare)
{
	for (size_t i = 0; i < n; i++) {
		if (s[i] == ' ')
			continue;
		*w->full++ = s[i];
		if (w->in_params)
			continue;
		*w->name++ = s[i];
		if (bare)
			*w->bare++ = s[i];
	}
}

static void make_forms(const char *s, struct forms *f)
{
	struct form_writer w = { f->full, f->name, f->bare, false };
	size_t i = 0, end, n;

	f->params = f->params_end = 0;
	while (s[i]) {
		n = literal_length(s, i);
		if (n) {
			put(&w, s + i, n, true);
			i += n;
		} else if (!strncmp(s + i, "[abi:", 5)) {
			i = skip_brackets(s, i);
		} else if (s[i] == '{' || s[i] == '[' || (s[i] == '<' && w.bare == f->bare)) {
			end = skip_brackets(s, i);	/* {lambda…}, <T as Trait> */
			put(&w, s + i, end - i, true);
			i = end;
		} else if (s[i] == '<') {
			end = skip_brackets(s, i);
			if (w.bare - f->bare > 2 && w.bare[-1] == ':' && w.bare[-2] == ':' && !w.in_params)
				w.bare -= 2;	/* Rust: name::<T> */
			put(&w, s + i, end - i, false);
			i = end;
		} else if (s[i] == '(' && !w.in_params) {
			end = skip_brackets(s, i);
			if (!strncmp(s + end, "::", 2)) {	/* a local of f(int): f::local */
				i = end;
				continue;
			}
			w.in_params = true;
			f->params = w.full - f->full;
			put(&w, s + i, end - i, false);
			f->params_end = w.full - f->full;
			i = end;
		} else {
			put(&w, s + i++, 1, true);
		}
	}
	*w.full = *w.name = *w.bare = '\0';
}

/* --- patterns --- */

#define POINTER '\1'	/* the * of a pointer: no pattern's */

/* In parameters a * directly behind a type is a pointer's; in a name every one is. */
static void mark_pointers(char *params, bool pattern)
{
	for (char *c = params; *c; c++)
		if (*c == '*' && (!pattern || is_word(c[-1]) || strchr(">&)\1", c[-1])))
			*c = POINTER;
}

int name_pattern_init(struct name_pattern *p, const char *text)
{
	size_t n = strlen(text) + 1, best = 0;
	char *room = malloc(3 * n), *bare, *run;
	struct forms f = { room, room + n, room + 2 * n, 0, 0 };

	*p = (struct name_pattern){ .text = strdup(text) };
	if (!room || !p->text) {
		free(room);
		name_pattern_done(p);
		return -ENOMEM;
	}
	make_forms(text, &f);
	p->params = f.params_end != 0;
	if (p->params)
		mark_pointers(f.full + f.params + 1, true);
	p->templates = strcmp(f.name, f.bare) != 0;
	p->plain = strdup(f.full);
	/* the longest word of the last component: each mangled form of the name has it. Not so for what has an abbreviation
	 * (std::string), an operator or a lambda */
	bare = f.bare;
	for (run = bare; (run = strstr(run, "::")); )
		bare = run += 2;
	for (size_t i = 0, length; bare[i] && !strpbrk(bare, "{(<") && !strstr(text, "std::") && !strstr(bare, "operator");
	     i += length ?: 1) {
		for (length = 0; is_word(bare[i + length]) && !(bare[i + length] & 0x80); length++)
			;
		if (length > best && length > 2) {
			best = length;
			free(p->filter);
			p->filter = strndup(bare + i, length);
		}
	}
	free(room);
	if (p->plain && (!best || p->filter))
		return 0;
	name_pattern_done(p);
	return -ENOMEM;
}

void name_pattern_done(struct name_pattern *p)
{
	free(p->text);
	free(p->plain);
	free(p->filter);
	*p = (struct name_pattern){ 0 };
}

/* Against name and parameters, with the template arguments or without, as the pattern has them. */
static bool match_with_params(const struct name_pattern *p, const struct forms *f, char *room)
{
	strcpy(room, p->templates ? f->name : f->bare);
	strcat(room, f->full + f->params);
	return engine_glob(p->plain, f->full) || engine_glob(p->plain, room);
}

bool name_pattern_match_demangled(const struct name_pattern *p, const char *name)
{
	size_t n = strlen(name) + 1;
	char *room = malloc(4 * n);
	struct forms f = { room, room + n, room + 2 * n, 0, 0 };
	bool match;

	if (!room)
		return false;
	make_forms(name, &f);
	if (p->params && f.params_end)
		mark_pointers(f.full + f.params + 1, false);
	if (!p->params) {
		match = engine_glob(p->plain, p->templates ? f.name : f.bare) || engine_glob(p->plain, f.name);
	} else if (!f.params_end) {
		match = false;
	} else {
		match = match_with_params(p, &f, room + 3 * n);
		f.full[f.params_end] = '\0';	/* qualifiers behind the parameters count only where the pattern has them */
		match = match || match_with_params(p, &f, room + 3 * n);
	}
	free(room);
	return match;
}

bool name_pattern_match(const struct name_pattern *p, const char *symbol)
{
	unsigned flags;
	size_t n = name_base_length(symbol, &flags);
	char base[NAME_MAX_LENGTH], *demangled;
	bool match, mangled;

	if (flags & CLONE_COLD)
		return false;
	if (n >= sizeof(base))
		return false;
	memcpy(base, symbol, n);
	base[n] = '\0';
	mangled = base[0] == '_' && (base[1] == 'Z' || base[1] == 'R');
	/* "*Style*" is not meant for the parameters' types in a mangled name */
	if ((!mangled || p->text[0] == '_') && (engine_glob(p->text, symbol) || engine_glob(p->text, base)))
		return true;
	if (!mangled)
		return name_pattern_match_demangled(p, base);
	if (p->filter && !strstr(base, p->filter))
		return false;
	demangled = name_demangle(symbol, n);
	match = demangled && name_pattern_match_demangled(p, demangled);
	free(demangled);
	return match;
}

bool symbol_pattern_match(const char *pattern, const char *symbol)
{
	struct name_pattern p;
	bool match;

	if (name_pattern_init(&p, pattern))
		return false;
	match = name_pattern_match(&p, symbol);
	name_pattern_done(&p);
	return match;
}

static void copy_form(const char *demangled, char *dst, size_t size, bool last)
{
	size_t n = strlen(demangled) + 1;
	char *room = malloc(3 * n), *from, *at;
	struct forms f = { room, room + n, room + 2 * n, 0, 0 };

	dst[0] = '\0';
	if (!room)
		return;
	make_forms(demangled, &f);
	from = last ? f.bare : f.name;
	for (at = from; last && (at = strstr(at, "::")); )
		from = at += 2;
	if (strlen(from) < size)
		strcpy(dst, from);
	free(room);
}

void name_without_params(const char *demangled, char *dst, size_t size)
{
	copy_form(demangled, dst, size, false);
}

void name_last_component(const char *demangled, char *dst, size_t size)
{
	copy_form(demangled, dst, size, true);
}
