// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Functions by name in small programs built here: every kind of table, alone, and what is said when there is none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>
#include "target/symbols.h"

static char dir[] = "/tmp/framescope-test-XXXXXX";

/* C with C++'s names, so that the test knows each symbol */
static const char program[] =
	"#include <stdio.h>\n"
	"#define FN __attribute__((noinline, noclone, used))\n"
	"int variable = 1;\n"
	"FN int global_layout(int a) { asm volatile(\"\"); return a + variable; }\n"
	"FN static int static_layout(int a) { asm volatile(\"\"); return a + 2; }\n"
	"FN int foo_fun(void) asm(\"_ZN3Foo3funEv\"); int foo_fun(void) { asm volatile(\"\"); return 3; }\n"
	"FN int bar_fun(void) asm(\"_ZN3Bar3funEv\"); int bar_fun(void) { asm volatile(\"nop\"); return 4; }\n"
	"FN int ctor(void) asm(\"_ZN3FooC1Ev\"); int ctor(void) { asm volatile(\"\"); return 5; }\n"
	"int ctor2(void) asm(\"_ZN3FooC2Ev\") __attribute__((alias(\"_ZN3FooC1Ev\")));\n"
	"FN int part(int a) asm(\"split.part.0\"); int part(int a) { asm volatile(\"\"); return a + 6; }\n"
	"FN int cold(int a) asm(\"split.cold\"); int cold(int a) { asm volatile(\"\"); return a + 7; }\n"
	"FN int split(int a) { return a ? part(a) : 0; }\n"
	"FN int prop(int a) asm(\"twin.constprop.0\"); int prop(int a) { asm volatile(\"\"); return a + 8; }\n"
	"FN int twin(int a) { asm volatile(\"\"); return a + 9; }\n"
	"asm(\".text\\n.type sizeless,@function\\n.globl sizeless\\nsizeless: ret\\n\");\n"
	"extern int sizeless(void);\n"
	"int main(void) { printf(\"%d\", sizeless()); puts(\"\"); return global_layout(1) + static_layout(2) + foo_fun() + bar_fun() + ctor() +\n"
	"	split(3) + cold(4) + prop(5) + twin(6) + ctor2(); }\n";

static void run(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

static void run(const char *fmt, ...)
{
	char command[2048];
	int n = snprintf(command, sizeof(command), "set -e; cd %s; ", dir);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(command + n, sizeof(command) - n, fmt, ap);
	va_end(ap);
	if (system(command))
		fail_msg("failed: %s", command);
}

struct lookup {
	struct image *image;
	struct symbols *symbols;
	struct symbol_match *m;
	size_t nr;
	int rc;
	char reason[1024];
};

static void open_file(struct lookup *l, const char *file, const char *breakpad)
{
	char path[256], bp[256];
	struct error err = { 0 };

	memset(l, 0, sizeof(*l));
	snprintf(path, sizeof(path), "%s/%s", dir, file);
	snprintf(bp, sizeof(bp), "%s/%s", dir, breakpad ?: "");
	if (image_open(path, &l->image, &err))
		fail_msg("%s", err.text);
	if (symbols_open(l->image, breakpad ? bp : NULL, &l->symbols, &err))
		snprintf(l->reason, sizeof(l->reason), "%s", err.text);
}

static void find(struct lookup *l, const char *pattern)
{
	struct engine_probe p = { .nr_functions = 1, .functions = { (char *)pattern } };

	free(l->m);
	l->m = NULL;
	l->nr = 0;
	l->rc = symbols_find(l->symbols, &p, &l->m, &l->nr, l->reason, sizeof(l->reason));
}

static void done(struct lookup *l)
{
	free(l->m);
	symbols_close(l->symbols);
	image_close(l->image);
}

/* Exactly one function, of that name and source. */
static void expect(struct lookup *l, const char *pattern, const char *symbol, enum site_source source)
{
	find(l, pattern);
	if (l->rc || l->nr != 1 || strcmp(l->m->symbol, symbol) || l->m->source != source)
		fail_msg("%s: %zu found, first %s, %s", pattern, l->nr, l->nr ? l->m->symbol : "-", l->reason);
	assert_true(l->m->size > 0 && l->m->vaddr > 0 && !l->m->refused);
}

static void expect_missing(struct lookup *l, const char *pattern, const char *part)
{
	find(l, pattern);
	if (l->rc >= 0 || !strstr(l->reason, part))
		fail_msg("%s: rc %d, said '%s', not '%s'", pattern, l->rc, l->reason, part);
}

static int set_up(void **state)
{
	char path[256];
	FILE *f;

	(void)state;
	if (!mkdtemp(dir))
		return -1;
	unsetenv("DEBUGINFOD_URLS");
	snprintf(path, sizeof(path), "%s/toy.c", dir);
	f = fopen(path, "w");
	fputs(program, f);
	fclose(f);
	snprintf(path, sizeof(path), ":.debug:%s/dbg", dir);
	setenv("FRAMESCOPE_DEBUG_PATH", path, 1);
	run("gcc -O1 -g -rdynamic -Wl,--build-id -o full toy.c");
	run("objcopy --only-keep-debug full full.debug; strip -s -o stripped full");
	run("gcc -O1 -g -rdynamic -Wl,--build-id=none -o plain toy.c; objcopy --only-keep-debug plain plain.debug");
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	run("rm -rf %s", dir);
	return 0;
}

static void symtab(void **state)
{
	struct lookup l;

	(void)state;
	open_file(&l, "full", NULL);
	expect(&l, "global_layout", "global_layout", SITE_SYMBOL);
	assert_string_equal(l.m->evidence, ".symtab");
	expect(&l, "static_layout", "static_layout", SITE_SYMBOL);
	expect(&l, "Foo::fun()", "_ZN3Foo3funEv", SITE_SYMBOL);
	assert_string_equal(l.m->name, "Foo::fun()");
	find(&l, "*::fun");
	assert_int_equal(l.nr, 2);
	/* two names of one address */
	expect(&l, "Foo::Foo", "_ZN3FooC1Ev", SITE_SYMBOL);
	assert_string_equal(l.m->evidence, ".symtab, also named _ZN3FooC2Ev");
	/* the body of a split function stands for it; both of a function and its specialised twin count */
	expect(&l, "split", "split.part.0", SITE_SYMBOL);
	assert_true(l.m->clone);
	find(&l, "twin");
	assert_int_equal(l.nr, 2);
	assert_int_equal(l.m[0].clone + l.m[1].clone, 1);
	assert_true(symbols_name_of(l.symbols, l.m[0].vaddr + 1, l.reason, sizeof(l.reason)));
	assert_non_null(strstr(l.reason, "twin"));
	assert_false(symbols_name_of(l.symbols, 1, l.reason, sizeof(l.reason)));
	done(&l);
}

static void dynsym_and_what_is_said(void **state)
{
	struct lookup l;

	(void)state;
	open_file(&l, "stripped", NULL);
	expect(&l, "global_layout", "global_layout", SITE_SYMBOL);
	assert_string_equal(l.m->evidence, ".dynsym");
	expect_missing(&l, "static_layout", "stripped matches 'static_layout' (searched: .symtab 0, .dynsym ");
	expect_missing(&l, "global_layuot", "debug file none, MiniDebugInfo none); the nearest names are global_layout");
	expect_missing(&l, "Foo::fn", "nearest names are Foo::fun, Bar::fun");
	expect_missing(&l, "qqqqqqqqqqqqqqq", "MiniDebugInfo none)");
	assert_null(strstr(l.reason, "nearest"));
	expect_missing(&l, "sizeless", "can't be probed: its size is 0");
	expect_missing(&l, "variable", "can't be probed: it is not a function");
	expect_missing(&l, "puts*", "can't be probed: it is only called here");
	done(&l);
}

static void lists(void **state)
{
	struct lookup l;
	bool sizeless = false;

	(void)state;
	open_file(&l, "full", NULL);
	assert_int_equal(symbols_glob(l.symbols, "*", &l.m, &l.nr), 0);
	assert_true(l.nr > 10);
	for (size_t i = 0; i < l.nr; i++) {
		assert_true(!i || l.m[i].vaddr > l.m[i - 1].vaddr || (!l.m[i].vaddr && l.m[i].refused));
		if (!strcmp(l.m[i].symbol, "sizeless"))
			sizeless = l.m[i].refused != NULL;
	}
	assert_true(sizeless);
	done(&l);
}

/* Several patterns are alternatives, the best first. */
static void alternatives(void **state)
{
	struct engine_probe p = { .nr_functions = 3, .functions = { "nothing", "Bar::fun", "Foo::fun" } };
	struct lookup l;

	(void)state;
	open_file(&l, "full", NULL);
	assert_int_equal(symbols_find(l.symbols, &p, &l.m, &l.nr, l.reason, sizeof(l.reason)), 0);
	assert_int_equal(l.nr, 1);
	assert_string_equal(l.m->symbol, "_ZN3Bar3funEv");
	free(l.m);
	l.m = NULL;
	p.nr_functions = 0;
	assert_true(symbols_find(l.symbols, &p, &l.m, &l.nr, l.reason, sizeof(l.reason)) < 0);
	assert_string_equal(l.reason, "");
	done(&l);
}

static void debug_file_by_build_id(void **state)
{
	struct lookup l;

	(void)state;
	open_file(&l, "stripped", NULL);
	run("mkdir -p dbg/.build-id/%.2s; cp full.debug dbg/.build-id/%.2s/%s.debug", l.image->build_id, l.image->build_id,
	    l.image->build_id + 2);
	done(&l);
	open_file(&l, "stripped", NULL);
	expect(&l, "static_layout", "static_layout", SITE_DEBUG_FILE);
	assert_non_null(strstr(symbols_tables(l.symbols), "debug file .build-id/"));
	assert_string_equal(symbols_warning(l.symbols), "");
	done(&l);
	run("rm -r dbg");
}

static void debug_file_by_link(void **state)
{
	static const char *const places[] = { "linked.debug", ".debug/linked.debug", "dbg%s/linked.debug" };
	static const char *const programs[] = { "full", "plain" };
	struct lookup l;
	char place[256];

	(void)state;
	for (int k = 0; k < 2; k++) {
		run("cp %s.debug linked.debug; strip -s -o linked %s; objcopy --add-gnu-debuglink=linked.debug linked; "
		    "mv linked.debug kept", programs[k], programs[k]);
		open_file(&l, "linked", NULL);
		expect_missing(&l, "static_layout", "debug file linked.debug not found");
		done(&l);
		for (int i = 0; i < 3; i++) {
			snprintf(place, sizeof(place), places[i], dir);
			run("mkdir -p $(dirname %s); cp kept %s", place, place);
			open_file(&l, "linked", NULL);
			expect(&l, "static_layout", "static_layout", SITE_DEBUG_FILE);
			done(&l);
			run("rm %s", place);
		}
	}
}

/* A link to a file of another build costs a warning, nothing else. */
static void debug_file_of_another_build(void **state)
{
	struct lookup l;

	(void)state;
	run("cp plain.debug linked.debug; strip -s -o linked plain; objcopy --add-gnu-debuglink=linked.debug linked; "
	    "cp full.debug linked.debug");
	open_file(&l, "linked", NULL);
	expect_missing(&l, "static_layout", "linked.debug not found");
	assert_non_null(strstr(symbols_warning(l.symbols), "linked.debug is not the one in .gnu_debuglink"));
	expect(&l, "global_layout", "global_layout", SITE_SYMBOL);
	done(&l);
	run("strip -s -o linked full; cp full.debug linked.debug; objcopy --add-gnu-debuglink=linked.debug linked; "
	    "cp plain.debug linked.debug");
	open_file(&l, "linked", NULL);
	expect_missing(&l, "static_layout", "linked.debug not found");
	assert_non_null(strstr(symbols_warning(l.symbols), "has another build-id"));
	done(&l);
	run("echo nonsense >linked.debug");
	open_file(&l, "linked", NULL);
	expect(&l, "global_layout", "global_layout", SITE_SYMBOL);
	assert_non_null(strstr(symbols_warning(l.symbols), "no ELF file"));
	done(&l);
	run("rm linked.debug");
}

static void mini_debug_info(void **state)
{
	struct lookup l;

	(void)state;
	if (system("xz --version >/dev/null 2>&1")) {
		print_message("# SKIP xz is not installed: no MiniDebugInfo can be made\n");
		skip();
	}
	run("strip -g -o mini full.debug; xz -kf mini; objcopy --add-section .gnu_debugdata=mini.xz stripped with-mini");
	open_file(&l, "with-mini", NULL);
	expect(&l, "static_layout", "static_layout", SITE_DEBUG_FILE);
	assert_string_equal(l.m->evidence, "MiniDebugInfo");
	done(&l);
	run("echo nonsense >mini.xz; objcopy --add-section .gnu_debugdata=mini.xz stripped with-mini");
	open_file(&l, "with-mini", NULL);
	expect_missing(&l, "static_layout", "MiniDebugInfo present but not readable");
	expect(&l, "global_layout", "global_layout", SITE_SYMBOL);
	done(&l);
}

static void write_sym(const char *module_id, const char *rest)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/toy.sym", dir);
	f = fopen(path, "w");
	if (module_id)
		fprintf(f, "MODULE Linux x86_64 %s stripped\n", module_id);
	fputs(rest, f);
	fclose(f);
}

static void breakpad(void **state)
{
	struct lookup l;
	char id[40], functions[256];
	const char *b;
	uint64_t vaddr;

	(void)state;
	open_file(&l, "full", NULL);
	expect(&l, "static_layout", "static_layout", SITE_SYMBOL);
	vaddr = l.m->vaddr;
	done(&l);
	open_file(&l, "stripped", NULL);
	b = l.image->build_id;
	snprintf(id, sizeof(id), "%.2s%.2s%.2s%.2s%.2s%.2s%.2s%.2s%.16s0", b + 6, b + 4, b + 2, b, b + 10, b + 8, b + 14, b + 12, b + 16);
	done(&l);
	snprintf(functions, sizeof(functions), "INFO x\nFILE 0 a.c\nFUNC %lx 5 0 toy::Static::layout(int)\n%lx 2 10 0\n"
		 "FUNC m 7ffffff0 5 0 toy::far()\nPUBLIC %lx 0 toy::pub\n", vaddr, vaddr, vaddr + 1);
	write_sym(id, functions);
	open_file(&l, "stripped", "toy.sym");
	expect(&l, "toy::Static::layout", "toy::Static::layout(int)", SITE_BREAKPAD);
	assert_int_equal(l.m->vaddr, vaddr);
	assert_int_equal(l.m->size, 5);
	expect_missing(&l, "toy::far", "does not lie in executable code");
	expect_missing(&l, "toy::pub", "PUBLIC");
	expect_missing(&l, "toy::nothing", "toy.sym 3)");
	done(&l);

	id[0] = id[0] == '0' ? '1' : '0';
	write_sym(id, functions);
	open_file(&l, "stripped", "toy.sym");
	assert_null(l.symbols);
	assert_non_null(strstr(l.reason, "is of another build"));
	done(&l);
	write_sym(NULL, functions);
	open_file(&l, "stripped", "toy.sym");
	assert_non_null(strstr(l.reason, "doesn't begin with a MODULE line"));
	done(&l);
	id[0] = id[0] == '0' ? '1' : '0';
	for (int i = 0; i < 3; i++) {
		static const char *const broken[] = { "FUNC xyz 5 0 f\n", "FUNC 10 5\n", "PUBLIC 1234\n" };

		write_sym("x", "");
		open_file(&l, "stripped", NULL);
		b = l.image->build_id;
		snprintf(id, sizeof(id), "%.2s%.2s%.2s%.2s%.2s%.2s%.2s%.2s%.16s0", b + 6, b + 4, b + 2, b, b + 10, b + 8, b + 14, b + 12,
			 b + 16);
		done(&l);
		write_sym(id, broken[i]);
		open_file(&l, "stripped", "toy.sym");
		assert_non_null(strstr(l.reason, "toy.sym:2: this"));
		done(&l);
	}
}

/* Cut and overwritten files: an error or fewer symbols, never a fault. */
static void damaged_files(void **state)
{
	struct image *image;
	struct symbols *s;
	struct error err;
	char path[256];
	struct stat st;

	(void)state;
	snprintf(path, sizeof(path), "%s/full", dir);
	assert_int_equal(stat(path, &st), 0);
	snprintf(path, sizeof(path), "%s/bad", dir);
	for (int i = 0; i < 40; i++) {
		run("cp full bad; truncate -s %ld bad", st.st_size * i / 40);
		if (i % 2)
			run("cp full bad; printf '\\377\\377\\377\\377\\377\\377\\377\\177' | dd of=bad bs=1 seek=%ld conv=notrunc status=none",
			    i < 20 ? 24l + 2 * i : st.st_size - 64 * i + 32);
		if (image_open(path, &image, &err))
			continue;
		if (!symbols_open(image, NULL, &s, &err))
			symbols_close(s);
		image_close(image);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(symtab), cmocka_unit_test(dynsym_and_what_is_said), cmocka_unit_test(lists),
		cmocka_unit_test(alternatives), cmocka_unit_test(debug_file_by_build_id), cmocka_unit_test(debug_file_by_link),
		cmocka_unit_test(debug_file_of_another_build), cmocka_unit_test(mini_debug_info), cmocka_unit_test(breakpad),
		cmocka_unit_test(damaged_files),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
