// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Member paths of arguments, looked up in the debug information of programs built here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "target/symbols.h"

static char dir[] = "/tmp/framescope-test-XXXXXX";

static const char program[] =
	"#include <memory>\n#include <string>\n"
	"struct Url { long pad; const char *text; char inl[16]; };\n"
	"struct Base { virtual ~Base() {} int kind; };\n"
	"struct Rect { short x; short y; unsigned w; union { int h; float f; }; };\n"
	"struct Document : Base { long id; Url url; std::string title; Rect *area; unsigned flag : 3; static int count; };\n"
	"int Document::count;\n"
	"struct Frame { std::unique_ptr<Document> document; std::shared_ptr<Document> shared; Frame *parent; unsigned char depth; };\n"
	"struct Big { long a[5]; };\n"
	"struct Widget { int x; __attribute__((noinline)) int paint(double scale, const Frame *frame, Rect &r, int n); };\n"
	"int Widget::paint(double scale, const Frame *frame, Rect &r, int n) { asm volatile(\"\"); return x + (int)scale + frame->depth + r.x + n; }\n"
	"__attribute__((noinline)) Big make(const Frame *frame) { asm volatile(\"\"); Big b = {}; b.a[0] = (long)frame; return b; }\n"
	"int main() { Frame f{}; Rect r{}; Widget w{}; Document d; return w.paint(1, &f, r, 2) + make(&f).a[0] + Document::count; }\n";

static int build(void **state)
{
	char command[1024];
	FILE *f;

	(void)state;
	if (!mkdtemp(dir))
		return -1;
	snprintf(command, sizeof(command), "%s/toy.cc", dir);
	f = fopen(command, "w");
	fputs(program, f);
	fclose(f);
	snprintf(command, sizeof(command), "cd %s && g++ -O0 -g -o O0 toy.cc && g++ -O2 -g -o O2 toy.cc && "
		 "g++ -O2 -o none toy.cc && { ! command -v clang++ >/dev/null || clang++ -O2 -g -o clang toy.cc; }", dir);
	return system(command);
}

static int tear_down(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command);
}

static struct image *image;
static struct symbols *symbols;

static bool open_program(const char *name)
{
	char path[128];
	struct error err;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	if (access(path, R_OK))
		return false;
	if (image_open(path, &image, &err) || symbols_open(image, NULL, &symbols, &err))
		fail_msg("%s", err.text);
	return true;
}

static void close_program(void)
{
	symbols_close(symbols);
	image_close(image);
}

/* What an argument of a function becomes: an expression without members, or the reason. */
static const char *resolve(const char *function, const char *expr)
{
	static char text[512];
	struct engine_probe p = { .nr_functions = 1, .functions = { (char *)function }, .nr_args = 1 };
	struct arg_spec args[RECORD_MAX_ARGS];
	struct symbol_match *m = NULL;
	struct error err;
	size_t nr = 0;

	if (symbols_find(symbols, &p, &m, &nr, text, sizeof(text)) || nr != 1)
		fail_msg("%s: %zu found: %s", function, nr, text);
	p.args[0].field = FIELD_URL;
	assert_int_equal(expr_parse(expr, image->arch, &p.args[0], &p.members[0], NULL, &err), 0);
	symbols_arguments(symbols, &p, m->vaddr, args, &nr, text, sizeof(text));
	if (nr)
		expr_print(&args[0], image->arch, text, sizeof(text));
	free(p.members[0]);
	free(m);
	return text;
}

/* Two ways to a value: "FIRST, SECOND (NOTE)" of what is left of them. */
static const char *resolve_both(const char *function, const char *first, const char *second)
{
	static char text[512];
	struct engine_probe p = { .nr_functions = 1, .functions = { (char *)function }, .nr_args = 2 };
	struct arg_spec args[RECORD_MAX_ARGS];
	struct symbol_match *m = NULL;
	struct error err;
	char note[256], one[128];
	size_t nr = 0, len = 0;

	if (symbols_find(symbols, &p, &m, &nr, text, sizeof(text)) || nr != 1)
		fail_msg("%s: %zu found: %s", function, nr, text);
	for (int i = 0; i < 2; i++) {
		p.args[i].field = FIELD_URL;
		assert_int_equal(expr_parse(i ? second : first, image->arch, &p.args[i], &p.members[i], NULL, &err), 0);
	}
	symbols_arguments(symbols, &p, m->vaddr, args, &nr, note, sizeof(note));
	text[0] = '\0';
	for (size_t i = 0; i < nr; i++) {
		expr_print(&args[i], image->arch, one, sizeof(one));
		len += snprintf(text + len, sizeof(text) - len, "%s%s", i ? ", " : "", one);
	}
	if (note[0])
		snprintf(text + len, sizeof(text) - len, " (%s)", note);
	free(p.members[0]);
	free(p.members[1]);
	free(m);
	return text;
}

/* x86-64 layouts: the vtable 8, kind 4, id at 16, url at 24, title at 56, area at 88 */
static void paths(void **state)
{
	static const char *const programs[] = { "O2", "O0", "clang" };

	(void)state;
	for (int i = 0; i < 3; i++) {
		if (!open_program(programs[i])) {
			print_message("# %s was not built: no such compiler here\n", programs[i]);
			continue;
		}
		assert_string_equal(resolve("Widget::paint", "arg1->parent->depth"), "rsi *0x18 *0x20.u8");
		assert_string_equal(resolve("Widget::paint", "arg1->document->url.text : cstr"), "rsi *0 *0x20 : cstr");
		assert_string_equal(resolve("Widget::paint", "arg1->shared->url.inl : cstr"), "rsi *8 +0x28 : cstr");
		assert_string_equal(resolve("Widget::paint", "arg1->document->kind"), "rsi *0 *8.s32");
		assert_string_equal(resolve("Widget::paint", "arg1->document->title : std-string"), "rsi *0 +0x38 : std-string");
		assert_string_equal(resolve("Widget::paint", "arg1->document->area->w"), "rsi *0 *0x58 *4.u32");
		assert_string_equal(resolve("Widget::paint", "arg1->document->area->h"), "rsi *0 *0x58 *8.s32");
		/* a reference is a pointer; the double before them takes no such register */
		assert_string_equal(resolve("Widget::paint", "arg2.y"), "rdx *2.s16");
		assert_string_equal(resolve("Widget::paint", "arg0->x"), "rdi *0.s32");
		assert_string_equal(resolve("Widget::paint", "arg1->parent *8 : cstr"), "rsi *0x18 *8 : cstr");
		/* the first register of a function with a large result is where that goes */
		assert_string_equal(resolve("make", "arg1->depth"), "rsi *0x20.u8");
		close_program();
	}
}

/* A definition may give members for builds that have debug information and offsets for those that have none. */
static void two_ways(void **state)
{
	(void)state;
	assert_true(open_program("O2"));
	assert_string_equal(resolve_both("Widget::paint", "arg1->document->url.text : cstr", "arg1 *0 *0x20 : cstr"),
			    "rsi *0 *0x20 : cstr");
	assert_string_equal(resolve_both("Widget::paint", "arg1->document->url.text : cstr", "arg1 *0 *0x28 : cstr"),
			    "rsi *0 *0x20 : cstr, rsi *0 *0x28 : cstr");
	assert_string_equal(resolve_both("Widget::paint", "arg1->nothing", "arg1 *8"), "rsi *8");
	assert_string_equal(resolve_both("Widget::paint", "arg1->nothing", "arg1->no"),
			    " (url is not read: Frame has no member 'nothing' with a fixed place in it)");
	close_program();
}

static void reasons(void **state)
{
	(void)state;
	assert_true(open_program("O2"));
	assert_string_equal(resolve("Widget::paint", "arg1->nothing"), "url is not read: Frame has no member 'nothing' with a fixed place in it");
	assert_string_equal(resolve("Widget::paint", "arg1->document->flag"),
			    "url is not read: Document has no member 'flag' with a fixed place in it");
	assert_string_equal(resolve("Widget::paint", "arg1->document->count"),
			    "url is not read: Document has no member 'count' with a fixed place in it");
	assert_string_equal(resolve("Widget::paint", "arg1->depth->x"), "url is not read: what '->x' is applied to is no pointer");
	assert_string_equal(resolve("Widget::paint", "arg3.x"), "url is not read: int has no members, so no 'x'");
	assert_string_equal(resolve("Widget::paint", "arg5->x"), "url is not read: no parameter of the function is in that register");
	close_program();
	assert_true(open_program("none"));
	assert_string_equal(resolve_both("Widget::paint", "arg1->document->url.text : cstr", "arg1 *0 *0x20 : cstr"),
			    "rsi *0 *0x20 : cstr");
	assert_string_equal(resolve_both("Widget::paint", "arg1->depth", "arg1->parent"),
			    " (url is not read: there is no debug information to look '->depth' up in)");
	assert_string_equal(resolve("Widget::paint", "arg1->depth"),
			    "url is not read: there is no debug information to look '->depth' up in");
	close_program();
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(paths), cmocka_unit_test(two_ways), cmocka_unit_test(reasons) };

	return cmocka_run_group_tests(tests, build, tear_down);
}
