// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Engine definitions: what a well-formed one becomes, and where each mistake is said to be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "target/engine.h"

#define HEAD "[engine]\nname = x\nmodules = m\n"

static struct engine *parse(const char *text)
{
	struct engine *e = NULL;
	struct error err = { 0 };

	if (engine_parse(text, "f", &arch_x86_64, &e, &err))
		fail_msg("%s", err.text);
	return e;
}

static void complete(void **state)
{
	struct engine *e = parse("\xef\xbb\xbf; a comment\n"
		"[engine]\r\nname = toy\r\ntitle = A toy ; behind a blank\n  category = toys\nmodules = toy libtoy*.so\nmodules = other\n"
		"marks = \"a \\\"quoted\\\" \\x41\\n\"\nexceptions = yes\nseccomp = 1\nmain-thread = Main\nwindows = * --type=page *\nwindows = !* --ui *\non-request = true\n"
		"# another\n\n[Paint: all of it]\nevent=PAINT\nlabel = *\nfunction = ns::Paint(int, char)\nfunction = paint*\n"
		"anchor = ^\"x y \"\nexit = sites\njit = yes\noptional = no\noff = yes\nclone-arguments = yes\narguments = 3\nx = rsi *8.s32\n"
		"url = arg0 *0x188 : wtf-blink(64)\nurl = arg0->doc->url : cstr\nthread-type = TIMEOUT\n"
		"[Navigate]\nrole = navigation\ncalls = Paint: all of it\n"
		"[Fetch]\nkind = async-begin\ngroup = fetch\nid = rdi\nfunction = f\n");
	const struct engine_probe *p = e->probes;

	(void)state;
	assert_string_equal(e->name, "toy");
	assert_string_equal(e->title, "A toy");
	assert_string_equal(e->category, "toys");
	assert_int_equal(e->nr_modules, 3);
	assert_string_equal(e->modules[1], "libtoy*.so");
	assert_string_equal(e->marks[0], "a \"quoted\" A\n");
	assert_true(e->exceptions && e->seccomp && e->on_request);
	assert_string_equal(e->main_thread, "Main");
	assert_int_equal(e->nr_probes, 3);
	assert_string_equal(p->name, "Paint: all of it");
	assert_true(p->label_function && p->jit && !p->optional && p->off && p->clone_args);
	assert_int_equal(p->nr_registers, 3);
	assert_int_equal(p->type, EVENT_PAINT);
	assert_int_equal(p->kind, PROBE_KIND_SPAN);
	assert_int_equal(p->exit, EXIT_SITES);
	assert_int_equal(p->nr_functions, 2);
	assert_string_equal(p->functions[0], "ns::Paint(int, char)");
	assert_string_equal(p->anchors[0], "^\"x y \"");
	assert_int_equal(p->nr_args, 4);
	assert_int_equal(p->args[1].field, FIELD_URL);
	assert_int_equal(p->args[1].kind, KIND_WTF_BLINK);
	assert_int_equal(p->args[1].max_bytes, 64);
	assert_string_equal(p->members[2], "->doc->url");
	assert_int_equal(p->args[3].kind, KIND_CONST);
	assert_int_equal(p->args[3].aux, THREAD_TYPE_TIMEOUT);
	assert_int_equal(p[1].kind, PROBE_KIND_MARK);
	assert_int_equal(p[1].type, EVENT_GENERIC);
	assert_int_equal(p[1].exit, EXIT_NONE);
	assert_string_equal(p[1].label, "Navigate");
	assert_int_equal(p[2].kind, PROBE_KIND_ASYNC_BEGIN);
	assert_ptr_equal(engine_probe_by_name(e, "Fetch"), p + 2);
	assert_null(engine_probe_by_name(e, "fetch"));
	assert_true(engine_is_window(e, "/usr/bin/toy --type=page --x"));
	assert_false(engine_is_window(e, "/usr/bin/toy --type=gpu"));
	assert_false(engine_is_window(e, "/usr/bin/toy --type=page --ui --x"));
	assert_true(engine_shows_own_pages(e, "/usr/bin/toy --type=page --ui --x"));
	assert_false(engine_shows_own_pages(e, "/usr/bin/toy --type=page --x"));
	assert_false(engine_shows_own_pages(e, "/usr/bin/toy --type=gpu --ui --x"));
	assert_true(engine_claims(e, "libtoy-1.so"));
	assert_false(engine_claims(e, "libtoy"));
	engine_free(e);
}

static const struct { const char *text, *where, *what; } mistakes[] = {
	{ "", "f:1:1: ", "no engine definition" },
	{ "name = x\n", "f:1:1: ", "before the first section" },
	{ "[p]\nfunction = f\n", "f:1:2: ", "[engine]" },
	{ "[engine]\nname = x\n", "f:1:1: ", "modules" },
	{ "[engine]\nname = two words\nmodules = m\n", "f:1:1: ", "one word" },
	{ "[engine]\nname = a/b\nmodules = m\n", "f:1:1: ", "one word" },
	{ "[engine\nname = x\n", "f:1:8: ", "']' is missing" },
	{ "[engine] x\n", "f:1:9: ", "nothing may follow" },
	{ HEAD "[]\n", "f:4:2: ", "no name" },
	{ "[engine]\ntitle = a\n[engine]\ntitle = b\n", "f:3:2: ", "stands once" },
	{ HEAD "[engine]\n", "f:4:2: ", "stands once" },
	{ HEAD "name = y\n", "f:4:1: ", "given twice" },
	{ HEAD "nonsense\n", "f:4:1: ", "neither [SECTION] nor KEY = VALUE" },
	{ HEAD "  colour = red\n", "f:4:3: ", "no key 'colour' in [engine]" },
	{ HEAD "title =\n", "f:4:8: ", "no value" },
	{ HEAD "exceptions = maybe\n", "f:4:14: ", "yes or no" },
	{ HEAD "title = \"open\n", "f:4:14: ", "closing quote" },
	{ HEAD "title = \"a\" b\n", "f:4:12: ", "nothing may follow" },
	{ HEAD "title = \"a\\q\"\n", "f:4:11: ", "backslash" },
	{ HEAD "title = \"\\x00\"\n", "f:4:10: ", "backslash" },
	{ HEAD "title = \"\"\n", "f:4:9: ", "empty" },
	{ HEAD "[p]\nfunction = f\n[p]\n", "f:6:2: ", "stands in line 4 already" },
	{ HEAD "[p]\n", "f:4:1: ", "function" },
	{ HEAD "[p]\nfunction = f\nevent = PAINTING\n", "f:6:9: ", "'PAINTING' is no event; it is GENERIC, " },
	{ HEAD "[p]\nfunction = f\nevent = PROCESS\n", "f:6:9: ", "'PROCESS' is no event" },
	{ HEAD "[p]\nfunction = f\nkind = spam\n", "f:6:8: ", "span, mark, aggregate" },
	{ HEAD "[p]\nfunction = f\nrole=king\n", "f:6:6: ", "navigation, frame-created" },
	{ HEAD "[p]\nfunction = f\nexit = door\n", "f:6:8: ", "auto, return, sites or none" },
	{ HEAD "[p]\nfunction = f\nexit = none\n", "f:4:1: ", "instants" },
	{ HEAD "[p]\nfunction = f\nkind = mark\nexit = sites\n", "f:4:1: ", "has no end" },
	{ HEAD "[p]\nfunction = f\njit = yes\nexit = return\n", "f:4:1: ", "JIT" },
	{ HEAD "[p]\nfunction = f\nkind = flow-begin\n", "f:4:1: ", "group" },
	{ HEAD "[p]\nfunction = f\ncalls = q\n", "f:4:1: ", "no such probe" },
	{ HEAD "[p]\nfunction = f\nfallback = abcd\n", "f:4:1: ", "no 'anchor = " },
	{ HEAD "[p]\nanchor = abcd & \"abc\\q\"\n", "f:5:22: ", "escape" },
	{ HEAD "[p]\nfunction = f\nunless = q\n", "f:4:1: ", "no such other probe" },
	{ HEAD "[p]\nfunction = f\nunless = p\n", "f:4:1: ", "no such other probe" },
	{ HEAD "[p]\nanchor = abc\n", "f:5:13: ", "shorter" },
	{ HEAD "[p]\nfunction = f\nmodules = m\n", "f:6:1: ", "no key 'modules' in a probe" },
	{ HEAD "[p]\nfunction = f\n\turl = rdi *8 : wtf\n", "f:6:17: ", "no kind of value" },
	{ HEAD "[p]\nfunction = f\nurl =   rdx8\n", "f:6:9: ", "'rdx8' is no register of x86_64" },
	{ HEAD "[p]\nfunction = f\nthread-type = SLOW\n", "f:6:15: ", "COMMON, TIMEOUT, " },
	{ HEAD "[p]\nfunction = f\nscript-type = TOE\n", "f:6:15: ", "no script-type" },
};

static void each_mistake_has_its_place(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]); i++) {
		struct engine *e = NULL;
		struct error err = { 0 };
		int rc = engine_parse(mistakes[i].text, "f", &arch_x86_64, &e, &err);

		if (rc >= 0 || err.kind != ERR_INPUT)
			fail_msg("taken: %s", mistakes[i].text);
		if (strncmp(err.text, mistakes[i].where, strlen(mistakes[i].where)) || !strstr(err.text, mistakes[i].what))
			fail_msg("%s\nsaid: %s\nnot:  %s… %s", mistakes[i].text, err.text, mistakes[i].where, mistakes[i].what);
	}
}

static void limits(void **state)
{
	char text[65536] = HEAD "[p]\n";
	struct engine *e = NULL;
	struct error err = { 0 };

	(void)state;
	for (int i = 0; i <= ENGINE_MAX_NAMES; i++)
		strcat(text, "function = f\n");
	assert_true(engine_parse(text, "f", &arch_x86_64, &e, &err) < 0);
	assert_non_null(strstr(err.text, "f:21:1: function is given more than 16 times"));
	strcpy(text, HEAD "[p]\nfunction = f\n");
	for (int i = 0; i <= RECORD_MAX_ARGS; i++)
		strcat(text, "x = rdi\n");
	assert_true(engine_parse(text, "f", &arch_x86_64, &e, &err) < 0);
	assert_non_null(strstr(err.text, "f:18:1: a probe reads at most 12 arguments"));
	strcpy(text, HEAD "[p]\nfunction = ");
	memset(text + strlen(text), 'f', 1000);
	assert_true(engine_parse(text, "f", &arch_x86_64, &e, &err) < 0);
	assert_non_null(strstr(err.text, "f:5:"));
	assert_non_null(strstr(err.text, "the line has more than"));
	strcpy(text, HEAD);
	for (int i = 0; i <= ENGINE_MAX_PROBES; i++)
		sprintf(text + strlen(text), "[p%d]\nfunction = f\n", i);
	assert_true(engine_parse(text, "f", &arch_x86_64, &e, &err) < 0);
	assert_non_null(strstr(err.text, "f:516:2: an engine has at most 256 probes"));
}

/* Section names are not cut where libinih cuts them. */
static void long_names(void **state)
{
	struct engine *e = parse(HEAD "[a name of a probe that is longer than fifty characters, by some]\nfunction = f\n");

	(void)state;
	assert_string_equal(e->probes[0].name, "a name of a probe that is longer than fifty characters, by some");
	engine_free(e);
}

static void files(void **state)
{
	char dir[] = "/tmp/framescope-test-XXXXXX", path[128];
	struct engine **list = NULL, *e = NULL;
	struct error err = { 0 };
	size_t nr = 0;
	FILE *f;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/a.engine", dir);
	assert_true(engine_read(path, &arch_x86_64, &e, &err) < 0);
	assert_non_null(strstr(err.text, "No such file"));
	assert_true(engine_read(dir, &arch_x86_64, &e, &err) < 0);
	f = fopen(path, "w");
	fwrite("[engine]\0", 1, 9, f);
	fclose(f);
	assert_true(engine_read(path, &arch_x86_64, &e, &err) < 0);
	assert_non_null(strstr(err.text, "NUL"));
	f = fopen(path, "w");
	fputs("[engine]\nname = unit-test-a\nmodules = *\non-request = yes\n", f);
	fclose(f);
	setenv("FRAMESCOPE_ENGINES", dir, 1);
	assert_int_equal(engines_load("unit-test-a", &arch_x86_64, &list, &nr, &err), 0);
	assert_int_equal(nr, 1);
	assert_string_equal(list[0]->path, path);
	engines_free(list, nr);
	assert_int_equal(engines_load(path, &arch_x86_64, &list, &nr, &err), 0);
	engines_free(list, nr);
	if (!engines_load(NULL, &arch_x86_64, &list, &nr, &err)) {
		for (size_t i = 0; i < nr; i++)
			assert_string_not_equal(list[i]->name, "unit-test-a");
		engines_free(list, nr);
	}
	assert_true(engines_load("unit-test-none", &arch_x86_64, &list, &nr, &err) < 0);
	assert_non_null(strstr(err.text, "'unit-test-none'"));
	unlink(path);
	rmdir(dir);
}

static void of_functions(void **state)
{
	const char *const specs[] = { "Widget::paint*=PAINT", "operator=", "a::operator==(a const&, a const&)=LAYOUT", "f(\"\\;)" };
	const char *const bad[] = { "f=PIANT", "=PAINT", "" };
	struct engine *e = NULL;
	struct error err = { 0 };

	(void)state;
	assert_int_equal(engine_from_functions(specs, 4, "toy lib*", &e, &err), 0);
	assert_int_equal(e->nr_probes, 4);
	assert_int_equal(e->nr_modules, 2);
	assert_string_equal(e->probes[0].functions[0], "Widget::paint*");
	assert_int_equal(e->probes[0].type, EVENT_PAINT);
	assert_true(e->probes[0].label_function);
	assert_string_equal(e->probes[1].functions[0], "operator=");
	assert_int_equal(e->probes[1].type, EVENT_GENERIC);
	assert_string_equal(e->probes[2].functions[0], "a::operator==(a const&, a const&)");
	assert_string_equal(e->probes[3].functions[0], "f(\"\\;)");
	engine_free(e);
	for (int i = 0; i < 3; i++) {
		assert_true(engine_from_functions(bad + i, 1, NULL, &e, &err) < 0);
		assert_int_equal(err.kind, ERR_USAGE);
	}
}

static void globs(void **state)
{
	(void)state;
	assert_true(engine_glob("*", ""));
	assert_true(engine_glob("a*b*c", "aXXbYbZc"));
	assert_true(engine_glob("a?c", "abc"));
	assert_true(engine_glob("[x]", "[x]"));
	assert_false(engine_glob("a?c", "ac"));
	assert_false(engine_glob("", "a"));
	assert_false(engine_glob("a*b", "abc"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(complete), cmocka_unit_test(each_mistake_has_its_place), cmocka_unit_test(limits),
		cmocka_unit_test(long_names), cmocka_unit_test(files), cmocka_unit_test(of_functions), cmocka_unit_test(globs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
