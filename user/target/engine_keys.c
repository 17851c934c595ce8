// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The keys of engine definitions: what each takes as a value, and where that goes. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "target/anchors.h"
#include "target/engine_reader.h"

/* Setters: each stores one value. `column` is the value's. */

struct key {
	const char *name;
	int (*set)(struct engine_reader *r, void *field, const struct key *key, const char *value, size_t column);
	size_t offset;		/* of the field */
	size_t offset_nr;	/* lists: of the count */
	const struct engine_word *words;
	bool repeats;
};

static int unquote_escape(struct engine_reader *r, const char **at, const char *value, size_t column, char *ret)
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
static int unquote(struct engine_reader *r, const char *value, size_t column, char **ret)
{
	const char *at = value + 1;
	char *copy = strdup(value), *to = copy;
	int err = 0;

	if (!copy)
		return engine_no_memory(r);
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

static int set_string(struct engine_reader *r, void *field, const struct key *key, const char *value, size_t column)
{
	(void)key;
	return unquote(r, value, column, field);
}

static int set_bool(struct engine_reader *r, void *field, const struct key *key, const char *value, size_t column)
{
	int v = words_value(truth_words, value);

	if (!v)
		return fail(r, column, "%s is yes or no, not '%s'", key->name, value);
	*(bool *)field = v - 1;
	return 0;
}

/* A small number from 1 on: the field is an int. */
static int set_count(struct engine_reader *r, void *field, const struct key *key, const char *value, size_t column)
{
	if (value[0] < '1' || value[0] > '9' || value[1])
		return fail(r, column, "%s is a number from 1 to 9, not '%s'", key->name, value);
	*(int *)field = value[0] - '0';
	return 0;
}

/* Enumerations: the field is an int. */
static int set_word(struct engine_reader *r, void *field, const struct key *key, const char *value, size_t column)
{
	char words[256];
	int v = words_value(key->words, value);

	if (!v && strcmp(value, key->words[0].name))
		return fail(r, column, "'%s' is no %s; it is %s", value, key->name,
			    words_list(key->words, words, sizeof(words)));
	*(int *)field = v;
	return 0;
}

static int set_anchor(struct engine_reader *r, char **name, const char *value, size_t column)
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
	return *name ? 0 : engine_no_memory(r);
}

static int set_near(struct engine_reader *r, void *field, const struct key *key, const char *value, size_t column)
{
	(void)key;
	return set_anchor(r, field, value, column);
}

/* Lists of a probe: a fixed array of strings. Anchors keep their quotes, which are part of their syntax. */
static int set_name(struct engine_reader *r, void *field, const struct key *key, const char *value, size_t column)
{
	size_t *nr = (size_t *)((char *)r->probe + key->offset_nr);
	char **name = (char **)field + *nr;
	int err = 0;

	if (*nr == ENGINE_MAX_NAMES)
		return fail(r, engine_first_column(r), "%s is given more than %d times", key->name, ENGINE_MAX_NAMES);
	if (key->offset != offsetof(struct engine_probe, anchors) && key->offset != offsetof(struct engine_probe, fallbacks))
		err = unquote(r, value, column, name);
	else
		err = set_anchor(r, name, value, column);
	if (!err)
		++*nr;
	return err;
}

static int append_string(struct engine_reader *r, char ***list, size_t *nr, char *s)
{
	char **bigger = realloc(*list, (*nr + 1) * sizeof(**list));

	if (!bigger) {
		free(s);
		return engine_no_memory(r);
	}
	*list = bigger;
	bigger[(*nr)++] = s;
	return 0;
}

/* Lists of the engine: an array that grows. Words where the key has them separated by blanks. */
static int set_list(struct engine_reader *r, void *field, const struct key *key, const char *value, size_t column)
{
	size_t *nr = (size_t *)((char *)r->engine + key->offset_nr);
	bool blanks = key->offset == offsetof(struct engine, modules);
	char *s = NULL, *save, *word, *copy;
	int err = unquote(r, value, column, &s);

	if (err || !blanks)
		return err ?: append_string(r, field, nr, s);
	for (word = strtok_r(s, " \t", &save); word && !err; word = strtok_r(NULL, " \t", &save)) {
		copy = strdup(word);
		err = copy ? append_string(r, field, nr, copy) : engine_no_memory(r);
	}
	free(s);
	return err;
}

static int set_label(struct engine_reader *r, void *field, const struct key *key, const char *value, size_t column)
{
	if (strcmp(value, "*"))
		return set_string(r, field, key, value, column);
	r->probe->label_function = true;
	return 0;
}

/* Arguments: the key's name is the field's. */
static int set_arg(struct engine_reader *r, int field, const char *value, size_t column)
{
	struct engine_probe *p = r->probe;
	struct arg_spec *spec = &p->args[p->nr_args];
	const struct engine_word *words = arg_field_constants(field);
	struct error why = { 0 };
	char list[256];
	size_t at = 1;
	int err;

	if (p->nr_args == RECORD_MAX_ARGS)
		return fail(r, engine_first_column(r), "a probe reads at most %d arguments", RECORD_MAX_ARGS);
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
	{ "fallback", set_name, PROBE(fallbacks), PROBE(nr_fallbacks), NULL, true },
	{ "calls", set_name, PROBE(calls), PROBE(nr_calls), NULL, true },
	{ "near", set_near, PROBE(near), 0, NULL, false },
	{ "unless", set_string, PROBE(unless), 0, NULL, false },
	{ "exit", set_word, PROBE(exit), 0, exit_policy_words, false },
	{ "jit", set_bool, PROBE(jit), 0, NULL, false },
	{ "optional", set_bool, PROBE(optional), 0, NULL, false },
	{ "off", set_bool, PROBE(off), 0, NULL, false },
	{ "clone-arguments", set_bool, PROBE(clone_args), 0, NULL, false },
	{ "arguments", set_count, PROBE(nr_registers), 0, NULL, false },
	{ NULL, NULL, 0, 0, NULL, false },
};
_Static_assert(sizeof(enum probe_kind) == sizeof(int) && sizeof(enum exit_policy) == sizeof(int), "set_word()");

/* "a, b, …": what may stand in this section. */
static const char *list_keys(const struct engine_reader *r, char *dst, size_t size)
{
	size_t n = 0;

	*dst = '\0';
	for (const struct key *k = r->probe ? probe_keys : engine_keys; k->name && n < size; k++)
		n += snprintf(dst + n, size - n, "%s%s", n ? ", " : "", k->name);
	if (r->probe && n + 2 < size) {
		strcpy(dst + n, ", ");
		words_list(arg_field_words, dst + n + 2, size - n - 2);
	}
	return dst;
}

int engine_set_key(struct engine_reader *r, const char *name, const char *value)
{
	const struct key *keys = r->probe ? probe_keys : engine_keys;
	void *object = r->probe ? (void *)r->probe : r->engine;
	size_t column = engine_value_column(r);
	char list[512];
	int field;

	for (const struct key *k = keys; k->name; k++) {
		uint64_t bit = 1ull << (k - keys);

		if (strcmp(k->name, name))
			continue;
		if (!k->repeats && (r->seen & bit))
			return fail(r, engine_first_column(r), "%s is given twice", name);
		r->seen |= bit;
		if (!*value)
			return fail(r, column, "%s has no value", name);
		return k->set(r, (char *)object + k->offset, k, value, column);
	}
	field = r->probe ? arg_field_parse(name) : 0;
	if (!field)
		return fail(r, engine_first_column(r), "there is no key '%.40s' in %s; there are %s", name,
			    r->probe ? "a probe" : "[engine]", list_keys(r, list, sizeof(list)));
	if (!*value)
		return fail(r, column, "%s has no value", name);
	return set_arg(r, field, value, column);
}
