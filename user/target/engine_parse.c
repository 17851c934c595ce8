// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Text of an engine definition -> struct engine, every mistake with its line and column. Syntax: engine.h. */
#include <ctype.h>
#include <errno.h>
#include <ini.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "target/anchors.h"
#include "target/engine.h"

#define MAX_SIZE (1 << 20)	/* bytes of one definition */

struct reader {
	const char *text;	/* what was not yet read */
	const char *path;
	const struct arch *arch;
	struct engine *engine;
	struct engine_probe *probe;	/* section being read; NULL: [engine] */
	bool in_engine, engine_seen;
	const char *line;	/* the current one, in the text, and its length */
	size_t length;
	int number;
	uint64_t seen;		/* keys of the current section, by their index in the table */
	int failed;
	struct error *err;
};

/* --- messages --- */

static int fail_line(struct reader *r, int number, size_t column, const char *fmt, ...) __attribute__((format(printf, 4, 5)));

static int fail_line(struct reader *r, int number, size_t column, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (!r->failed)
		r->failed = error_set(r->err, ERR_INPUT, -EINVAL, "%s:%d:%zu: %s", r->path, number, column, text);
	return r->failed;
}

#define fail(r, column, ...) fail_line(r, (r)->number, column, __VA_ARGS__)

static int no_memory(struct reader *r)
{
	if (!r->failed)
		r->failed = error_set(r->err, ERR_OTHER, -ENOMEM, "out of memory while reading %s", r->path);
	return r->failed;
}

static size_t first_column(const struct reader *r)
{
	size_t i = 0;

	while (i < r->length && isspace((unsigned char)r->line[i]))
		i++;
	return i + 1;
}

static size_t value_column(const struct reader *r)
{
	size_t i = 0;

	while (i < r->length && r->line[i] != '=' && r->line[i] != ':')
		i++;
	for (i++; i < r->length && isspace((unsigned char)r->line[i]); i++)
		;
	return i + 1;
}

/* --- setters: each stores one value. `column` is the value's --- */

struct key {
	const char *name;
	int (*set)(struct reader *r, void *field, const struct key *key, const char *value, size_t column);
	size_t offset;		/* of the field */
	size_t offset_nr;	/* lists: of the count */
	const struct engine_word *words;
	bool repeats;
};

static int unquote_escape(struct reader *r, const char **at, const char *value, size_t column, char *ret)
{
	static const char from[] = "ntr\"\\", to[] = "\n\t\r\"\\";
	const char *found = **at ? strchr(from, **at) : NULL;
	unsigned v;
	int n = 0;

	if (found) {
		*ret = to[found - from];
		++*at;
		return 0;
	}
	if (**at != 'x' || !isxdigit((unsigned char)(*at)[1]) || !isxdigit((unsigned char)(*at)[2]) ||
	    sscanf(*at + 1, "%2x%n", &v, &n) != 1 || !v)
		return fail(r, column + (*at - value) - 1, "\\n, \\t, \\\", \\\\ and \\x01 to \\xff are what may follow a backslash");
	*ret = v;
	*at += 1 + n;
	return 0;
}

/* A copy of the value; one that begins with a quote is a quoted string and nothing else. */
static int unquote(struct reader *r, const char *value, size_t column, char **ret)
{
	const char *at = value + 1;
	char *copy = strdup(value), *to = copy;
	int err = 0;

	if (!copy)
		return no_memory(r);
	while (value[0] == '"' && !err && *at && *at != '"') {
		if (*at == '\\') {
			at++;
			err = unquote_escape(r, &at, value, column, to);
		} else {
			*to = *at++;
		}
		to++;
	}
	if (value[0] == '"' && !err) {
		*to = '\0';
		if (!*at)
			err = fail(r, column + (at - value), "the closing quote is missing");
		else if (at[1])
			err = fail(r, column + (at - value) + 1, "nothing may follow the closing quote");
	}
	if (!err && !*copy)
		err = fail(r, column, "the value is empty");
	if (err)
		free(copy);
	else
		*ret = copy;
	return err;
}

static int set_string(struct reader *r, void *field, const struct key *key, const char *value, size_t column)
{
	(void)key;
	return unquote(r, value, column, field);
}

static int set_bool(struct reader *r, void *field, const struct key *key, const char *value, size_t column)
{
	int v = words_value(truth_words, value);

	if (!v)
		return fail(r, column, "%s is yes or no, not '%s'", key->name, value);
	*(bool *)field = v - 1;
	return 0;
}

/* Enumerations: the field is an int. */
static int set_word(struct reader *r, void *field, const struct key *key, const char *value, size_t column)
{
	char words[256];
	int v = words_value(key->words, value);

	if (!v && strcmp(value, key->words[0].name))
		return fail(r, column, "'%s' is no %s; it is %s", value, key->name,
			    words_list(key->words, words, sizeof(words)));
	*(int *)field = v;
	return 0;
}

static int set_anchor(struct reader *r, char **name, const char *value, size_t column)
{
	struct error why = { 0 };
	struct anchor anchor;
	size_t at = 1;
	int skip = 0;

	if (anchor_parse(value, &anchor, &why)) {
		sscanf(why.text, "column %zu: %n", &at, &skip);
		return fail(r, column + at - 1, "%s", why.text + skip);
	}
	*name = strdup(value);
	return *name ? 0 : no_memory(r);
}

/* Lists of a probe: a fixed array of strings. Anchors keep their quotes, which are part of their syntax. */
static int set_name(struct reader *r, void *field, const struct key *key, const char *value, size_t column)
{
	size_t *nr = (size_t *)((char *)r->probe + key->offset_nr);
	char **name = (char **)field + *nr;
	int err = 0;

	if (*nr == ENGINE_MAX_NAMES)
		return fail(r, first_column(r), "%s is given more than %d times", key->name, ENGINE_MAX_NAMES);
	if (key->offset != offsetof(struct engine_probe, anchors))
		err = unquote(r, value, column, name);
	else
		err = set_anchor(r, name, value, column);
	if (!err)
		++*nr;
	return err;
}

static int append_string(struct reader *r, char ***list, size_t *nr, char *s)
{
	char **bigger = realloc(*list, (*nr + 1) * sizeof(**list));

	if (!bigger) {
		free(s);
		return no_memory(r);
	}
	*list = bigger;
	bigger[(*nr)++] = s;
	return 0;
}

/* Lists of the engine: an array that grows. Words where the key has them separated by blanks. */
static int set_list(struct reader *r, void *field, const struct key *key, const char *value, size_t column)
{
	size_t *nr = (size_t *)((char *)r->engine + key->offset_nr);
	bool blanks = key->offset == offsetof(struct engine, modules);
	char *s = NULL, *save, *word, *copy;
	int err = unquote(r, value, column, &s);

	if (err || !blanks)
		return err ?: append_string(r, field, nr, s);
	for (word = strtok_r(s, " \t", &save); word && !err; word = strtok_r(NULL, " \t", &save)) {
		copy = strdup(word);
		err = copy ? append_string(r, field, nr, copy) : no_memory(r);
	}
	free(s);
	return err;
}

static int set_label(struct reader *r, void *field, const struct key *key, const char *value, size_t column)
{
	if (strcmp(value, "*"))
		return set_string(r, field, key, value, column);
	r->probe->label_function = true;
	return 0;
}

/* Arguments: the key's name is the field's. */
static int set_arg(struct reader *r, int field, const char *value, size_t column)
{
	struct engine_probe *p = r->probe;
	struct arg_spec *spec = &p->args[p->nr_args];
	const struct engine_word *words = arg_field_constants(field);
	struct error why = { 0 };
	char list[256];
	size_t at = 1;
	int err;

	if (p->nr_args == RECORD_MAX_ARGS)
		return fail(r, first_column(r), "a probe reads at most %d arguments", RECORD_MAX_ARGS);
	*spec = (struct arg_spec){ .field = field };
	if (words && words_value(words, value)) {
		spec->kind = KIND_CONST;
		spec->aux = words_value(words, value);
		p->nr_args++;
		return 0;
	}
	if (words && isupper((unsigned char)value[0]))
		return fail(r, column, "'%s' is no %s; it is %s", value, arg_field_name(field),
			    words_list(words, list, sizeof(list)));
	err = expr_parse(value, r->arch, spec, &p->members[p->nr_args], &at, &why);
	if (err)
		return fail(r, column + at - 1, "%s", why.text);
	p->nr_args++;
	return 0;
}

#define ENGINE(field) offsetof(struct engine, field)
#define PROBE(field) offsetof(struct engine_probe, field)

static const struct key engine_keys[] = {
	{ "name", set_string, ENGINE(name), 0, NULL, false },
	{ "title", set_string, ENGINE(title), 0, NULL, false },
	{ "category", set_string, ENGINE(category), 0, NULL, false },
	{ "modules", set_list, ENGINE(modules), ENGINE(nr_modules), NULL, true },
	{ "marks", set_list, ENGINE(marks), ENGINE(nr_marks), NULL, true },
	{ "windows", set_list, ENGINE(windows), ENGINE(nr_windows), NULL, true },
	{ "exceptions", set_bool, ENGINE(exceptions), 0, NULL, false },
	{ "seccomp", set_bool, ENGINE(seccomp), 0, NULL, false },
	{ "main-thread", set_string, ENGINE(main_thread), 0, NULL, false },
	{ "on-request", set_bool, ENGINE(on_request), 0, NULL, false },
	{ NULL, NULL, 0, 0, NULL, false },
};

static const struct key probe_keys[] = {
	{ "event", set_word, PROBE(type), 0, event_type_words, false },
	{ "kind", set_word, PROBE(kind), 0, probe_kind_words, false },
	{ "role", set_word, PROBE(role), 0, probe_role_words, false },
	{ "label", set_label, PROBE(label), 0, NULL, false },
	{ "group", set_string, PROBE(group), 0, NULL, false },
	{ "function", set_name, PROBE(functions), PROBE(nr_functions), NULL, true },
	{ "anchor", set_name, PROBE(anchors), PROBE(nr_anchors), NULL, true },
	{ "calls", set_name, PROBE(calls), PROBE(nr_calls), NULL, true },
	{ "unless", set_string, PROBE(unless), 0, NULL, false },
	{ "exit", set_word, PROBE(exit), 0, exit_policy_words, false },
	{ "jit", set_bool, PROBE(jit), 0, NULL, false },
	{ "optional", set_bool, PROBE(optional), 0, NULL, false },
	{ "off", set_bool, PROBE(off), 0, NULL, false },
	{ "clone-arguments", set_bool, PROBE(clone_args), 0, NULL, false },
	{ NULL, NULL, 0, 0, NULL, false },
};
_Static_assert(sizeof(enum probe_kind) == sizeof(int) && sizeof(enum exit_policy) == sizeof(int), "set_word()");

/* --- sections and lines --- */

static int begin_section(struct reader *r, const char *name, size_t n, size_t column)
{
	struct engine *e = r->engine;
	struct engine_probe *p;

	r->seen = 0;
	r->in_engine = n == 6 && !memcmp(name, "engine", 6);
	r->probe = NULL;
	if (!n)
		return fail(r, column, "the section has no name");
	if (r->in_engine && r->engine_seen)
		return fail(r, column, "[engine] is the first section and stands once");
	r->engine_seen |= r->in_engine;
	if (r->in_engine)
		return 0;
	if (!e->name)
		return fail(r, column, "[engine] with at least 'name = …' must come before the first probe");
	for (size_t i = 0; i < e->nr_probes; i++)
		if (strlen(e->probes[i].name) == n && !memcmp(e->probes[i].name, name, n))
			return fail(r, column, "the probe [%.*s] stands in line %d already", (int)n, name, e->probes[i].line);
	if (e->nr_probes == ENGINE_MAX_PROBES)
		return fail(r, column, "an engine has at most %d probes", ENGINE_MAX_PROBES);
	p = realloc(e->probes, (e->nr_probes + 1) * sizeof(*p));
	if (!p)
		return no_memory(r);
	e->probes = p;
	p += e->nr_probes++;
	memset(p, 0, sizeof(*p));
	p->type = EVENT_GENERIC;
	p->line = r->number;
	p->name = strndup(name, n);
	r->probe = p;
	return p->name ? 0 : no_memory(r);
}

/* The reader for libinih: a line into `dst`. Sections are read here, since libinih cuts their names at 49 characters. */
static char *read_line(char *dst, int size, void *arg)
{
	struct reader *r = arg;
	size_t skip, end;

	if (r->failed || !*r->text)
		return NULL;
	r->number++;
	r->line = r->text;
	r->length = strcspn(r->text, "\n");
	r->text += r->length + (r->text[r->length] == '\n');
	while (r->length && isspace((unsigned char)r->line[r->length - 1]))
		r->length--;
	skip = first_column(r) - 1;
	if (r->length - skip + 3 > (size_t)size) {
		fail(r, skip + size - 3, "the line has more than %d characters", size - 3);
		return NULL;
	}
	/* without its leading blanks: libinih would take an indented line for more of the value above */
	memcpy(dst, r->line + skip, r->length - skip);
	dst[r->length - skip] = '\0';
	if (dst[0] == '[') {
		const char *close = strchr(dst, ']');

		end = close ? close - dst : 0;
		if (!close)
			fail(r, r->length + 1, "']' is missing behind the section's name");
		else if (close[1 + strspn(close + 1, " \t")] && !strchr(";#", close[1 + strspn(close + 1, " \t")]))
			fail(r, skip + end + 2, "nothing may follow the section's ']'");
		else
			begin_section(r, dst + 1, end - 1, skip + 2);
	} else if (dst[0] && !strchr(";#", dst[0]) && !strpbrk(dst, "=:")) {
		fail(r, skip + 1, "this is neither [SECTION] nor KEY = VALUE");
	}
	return r->failed ? NULL : dst;
}

static int set_key(struct reader *r, const struct key *keys, void *object, const char *name, const char *value)
{
	size_t column = value_column(r);
	int field;

	for (const struct key *k = keys; k->name; k++) {
		uint64_t bit = 1ull << (k - keys);

		if (strcmp(k->name, name))
			continue;
		if (!k->repeats && (r->seen & bit))
			return fail(r, first_column(r), "%s is given twice", name);
		r->seen |= bit;
		if (!*value)
			return fail(r, column, "%s has no value", name);
		return k->set(r, (char *)object + k->offset, k, value, column);
	}
	field = r->probe ? arg_field_parse(name) : 0;
	if (!field)
		return fail(r, first_column(r), "there is no key '%s' in %s", name, r->probe ? "a probe" : "[engine]");
	if (!*value)
		return fail(r, column, "%s has no value", name);
	return set_arg(r, field, value, column);
}

/* libinih's handler: non-zero is success. */
static int on_pair(void *arg, const char *section, const char *name, const char *value)
{
	struct reader *r = arg;

	(void)section;
	if (r->failed)
		return 0;
	if (r->probe)
		return !set_key(r, probe_keys, r->probe, name, value);
	if (r->in_engine)
		return !set_key(r, engine_keys, r->engine, name, value);
	fail(r, first_column(r), "'%s' stands before the first section", name);
	return 0;
}

/* --- what can be judged only at the end --- */

static bool is_instant(const struct engine_probe *p)
{
	return p->kind != PROBE_KIND_SPAN && p->kind != PROBE_KIND_AGGREGATE;
}

static int finish_probe(struct reader *r, struct engine_probe *p)
{
	bool grouped = p->kind >= PROBE_KIND_ASYNC_BEGIN;

	if (!p->kind)
		p->kind = p->role != ROLE_NONE && p->role != ROLE_SCRIPT_CALLER ? PROBE_KIND_MARK : PROBE_KIND_SPAN;
	if (!p->nr_functions && !p->nr_anchors && !p->nr_calls)
		return fail_line(r, p->line, 1, "[%s] needs 'function = …' or 'anchor = …' to be found by", p->name);
	if (is_instant(p) && p->exit != EXIT_AUTO && p->exit != EXIT_NONE)
		return fail_line(r, p->line, 1, "[%s] is an instant: it has no end, so 'exit' can't be set", p->name);
	if (!is_instant(p) && p->exit == EXIT_NONE)
		return fail_line(r, p->line, 1, "[%s] has an end: 'exit = none' is for instants (kind = mark)", p->name);
	if (p->jit && p->exit == EXIT_RETURN)
		return fail_line(r, p->line, 1, "[%s] may be called by JIT code, which a return probe crashes: 'exit = return' "
				 "and 'jit = yes' exclude each other", p->name);
	if (grouped && !p->group)
		return fail_line(r, p->line, 1, "[%s] needs 'group = …': what its id is unique in", p->name);
	if (is_instant(p))
		p->exit = EXIT_NONE;
	for (size_t i = 0; i < p->nr_calls; i++)
		if (!engine_probe_by_name(r->engine, p->calls[i]))
			return fail_line(r, p->line, 1, "[%s] calls '%s', but there is no such probe", p->name, p->calls[i]);
	if (p->unless && (!engine_probe_by_name(r->engine, p->unless) || !strcmp(p->unless, p->name)))
		return fail_line(r, p->line, 1, "[%s] stands in for '%s', but there is no such other probe", p->name, p->unless);
	if (!p->label)
		p->label = strdup(p->name);
	if (!p->group)
		p->group = strdup("");
	return p->label && p->group ? 0 : no_memory(r);
}

static int finish(struct reader *r)
{
	struct engine *e = r->engine;
	int err = 0;

	if (!e->name)
		return fail_line(r, 1, 1, "this is no engine definition: it must begin with [engine] and 'name = …'");
	if (strpbrk(e->name, "/ \t") || !strcmp(e->name, ".."))
		return fail_line(r, 1, 1, "the engine's name '%s' is more than one word", e->name);
	if (!e->nr_modules)
		return fail_line(r, 1, 1, "'modules = …' is missing in [engine]: the files that the engine lives in");
	for (size_t i = 0; i < e->nr_probes && !err; i++)
		err = finish_probe(r, &e->probes[i]);
	if (!e->title)
		e->title = strdup(e->name);
	if (!e->category)
		e->category = strdup(e->name);
	if (!e->main_thread)
		e->main_thread = strdup("");
	return err ?: e->title && e->category && e->main_thread ? err : no_memory(r);
}

int engine_parse(const char *text, const char *path, const struct arch *arch, struct engine **ret, struct error *err)
{
	struct reader r = { .text = text, .path = path, .arch = arch, .err = err };

	if (strlen(text) > MAX_SIZE)
		return error_set(err, ERR_INPUT, -EFBIG, "%s:1:1: a definition has at most %d bytes", path, MAX_SIZE);
	r.engine = calloc(1, sizeof(*r.engine));
	if (!r.engine || !(r.engine->path = strdup(path))) {
		free(r.engine);
		return no_memory(&r);
	}
	if (!strncmp(r.text, "\xef\xbb\xbf", 3))
		r.text += 3;
	ini_parse_stream(read_line, &r, on_pair, &r);
	if (!r.failed)
		finish(&r);
	if (r.failed) {
		engine_free(r.engine);
		return r.failed;
	}
	*ret = r.engine;
	return 0;
}
