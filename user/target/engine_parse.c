// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Text of an engine definition -> struct engine, every mistake with its line and column. Syntax: engine.h. */
#include <ctype.h>
#include <errno.h>
#include <ini.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "target/engine_reader.h"

#define MAX_SIZE (1 << 20)	/* bytes of one definition */

int engine_fail(struct engine_reader *r, int number, size_t column, const char *fmt, ...)
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

int engine_no_memory(struct engine_reader *r)
{
	if (!r->failed)
		r->failed = error_set(r->err, ERR_OTHER, -ENOMEM, "out of memory while reading %s", r->path);
	return r->failed;
}

size_t engine_first_column(const struct engine_reader *r)
{
	size_t i = 0;

	while (i < r->length && isspace((unsigned char)r->line[i]))
		i++;
	return i + 1;
}

size_t engine_value_column(const struct engine_reader *r)
{
	size_t i = 0;

	while (i < r->length && r->line[i] != '=' && r->line[i] != ':')
		i++;
	for (i++; i < r->length && isspace((unsigned char)r->line[i]); i++)
		;
	return i + 1;
}

/* --- sections and lines --- */

static int begin_section(struct engine_reader *r, const char *name, size_t n, size_t column)
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
		return engine_no_memory(r);
	e->probes = p;
	p += e->nr_probes++;
	memset(p, 0, sizeof(*p));
	p->type = EVENT_GENERIC;
	p->line = r->number;
	p->name = strndup(name, n);
	r->probe = p;
	return p->name ? 0 : engine_no_memory(r);
}

/* The reader for libinih: a line into `dst`. Sections are read here, since libinih cuts their names at 49 characters. */
static char *read_line(char *dst, int size, void *arg)
{
	struct engine_reader *r = arg;
	size_t skip, end;

	if (r->failed || !*r->text)
		return NULL;
	r->number++;
	r->line = r->text;
	r->length = strcspn(r->text, "\n");
	r->text += r->length + (r->text[r->length] == '\n');
	while (r->length && isspace((unsigned char)r->line[r->length - 1]))
		r->length--;
	skip = engine_first_column(r) - 1;
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

/* libinih's handler: non-zero is success. */
static int on_pair(void *arg, const char *section, const char *name, const char *value)
{
	struct engine_reader *r = arg;

	(void)section;
	if (r->failed)
		return 0;
	if (r->probe || r->in_engine)
		return !engine_set_key(r, name, value);
	fail(r, engine_first_column(r), "'%s' stands before the first section", name);
	return 0;
}

/* --- what can be judged only at the end --- */

static bool is_instant(const struct engine_probe *p)
{
	return p->kind != PROBE_KIND_SPAN && p->kind != PROBE_KIND_AGGREGATE;
}

static int finish_probe(struct engine_reader *r, struct engine_probe *p)
{
	bool grouped = p->kind >= PROBE_KIND_ASYNC_BEGIN;

	if (!p->kind)
		p->kind = p->role == ROLE_NONE || p->role >= ROLE_SCRIPT_CALLER ? PROBE_KIND_SPAN : PROBE_KIND_MARK;
	if (!p->nr_functions && !p->nr_anchors && !p->nr_calls)
		return engine_fail(r, p->line, 1, "[%s] needs 'function = …' or 'anchor = …' to be found by", p->name);
	if (p->nr_fallbacks && !p->nr_anchors)
		return engine_fail(r, p->line, 1, "[%s] has no 'anchor = …' that its 'fallback' could stand in for", p->name);
	if (is_instant(p) && p->exit != EXIT_AUTO && p->exit != EXIT_NONE)
		return engine_fail(r, p->line, 1, "[%s] is an instant: it has no end, so 'exit' can't be set", p->name);
	if (!is_instant(p) && p->exit == EXIT_NONE)
		return engine_fail(r, p->line, 1, "[%s] has an end: 'exit = none' is for instants (kind = mark)", p->name);
	if (p->jit && p->exit == EXIT_RETURN)
		return engine_fail(r, p->line, 1, "[%s] may be called by JIT code, which a return probe crashes: 'exit = return' "
				 "and 'jit = yes' exclude each other", p->name);
	if (grouped && !p->group)
		return engine_fail(r, p->line, 1, "[%s] needs 'group = …': what its id is unique in", p->name);
	if (is_instant(p))
		p->exit = EXIT_NONE;
	for (size_t i = 0; i < p->nr_calls; i++)
		if (!engine_probe_by_name(r->engine, p->calls[i]))
			return engine_fail(r, p->line, 1, "[%s] calls '%s', but there is no such probe", p->name, p->calls[i]);
	if (p->unless && (!engine_probe_by_name(r->engine, p->unless) || !strcmp(p->unless, p->name)))
		return engine_fail(r, p->line, 1, "[%s] stands in for '%s', but there is no such other probe", p->name, p->unless);
	if (!p->label)
		p->label = strdup(p->name);
	if (!p->group)
		p->group = strdup("");
	return p->label && p->group ? 0 : engine_no_memory(r);
}

static int finish(struct engine_reader *r)
{
	struct engine *e = r->engine;
	int err = 0;

	if (!e->name)
		return engine_fail(r, 1, 1, "this is no engine definition: it must begin with [engine] and 'name = …'");
	if (strpbrk(e->name, "/ \t") || !strcmp(e->name, ".."))
		return engine_fail(r, 1, 1, "the engine's name '%s' is more than one word", e->name);
	if (!e->nr_modules)
		return engine_fail(r, 1, 1, "'modules = …' is missing in [engine]: the files that the engine lives in");
	for (size_t i = 0; i < e->nr_probes && !err; i++)
		err = finish_probe(r, &e->probes[i]);
	if (!e->title)
		e->title = strdup(e->name);
	if (!e->category)
		e->category = strdup(e->name);
	if (!e->main_thread)
		e->main_thread = strdup("");
	return err ?: e->title && e->category && e->main_thread ? err : engine_no_memory(r);
}

int engine_parse(const char *text, const char *path, const struct arch *arch, struct engine **ret, struct error *err)
{
	struct engine_reader r = { .text = text, .path = path, .arch = arch, .err = err };

	if (strlen(text) > MAX_SIZE)
		return error_set(err, ERR_INPUT, -EFBIG, "%s:1:1: a definition has at most %d bytes", path, MAX_SIZE);
	r.engine = calloc(1, sizeof(*r.engine));
	if (!r.engine || !(r.engine->path = strdup(path))) {
		free(r.engine);
		return engine_no_memory(&r);
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
