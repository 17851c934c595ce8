// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Sites from anchors: agreement, refusal, calls between probes; and what the cache may be trusted with. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <dirent.h>
#include <sys/stat.h>
#include "target/site.h"
#include "unit/made_elf.h"

static char cache[64];

struct found {
	struct image *img;
	struct engine *engine;
	struct site_list list;
};

static void find(const struct made_elf *m, const char *probes, bool no_cache, struct found *f)
{
	struct site_options opt = { .no_cache = no_cache };
	struct error err = { 0 };
	char text[4096];

	snprintf(text, sizeof(text), "[engine]\nname = made\nmodules = *\n%s", probes);
	if (image_open(m->path, &f->img, &err) || engine_parse(text, "made.engine", f->img->arch, &f->engine, &err) ||
	    sites_find(f->img, f->engine, &opt, &f->list, &err))
		fail_msg("%s", err.text);
}

static void drop(struct found *f)
{
	sites_free(&f->list);
	engine_free(f->engine);
	image_close(f->img);
}

/* All sites of the probe; -1 as *ret_vaddr if it was refused. */
static size_t sites_of(const struct found *f, const char *probe, const struct site **ret)
{
	size_t nr = 0;

	for (size_t i = 0; i < f->list.nr; i++)
		if (!strcmp(f->list.sites[i].probe->name, probe) && nr++ == 0)
			*ret = &f->list.sites[i];
	return nr;
}

static void is_at(const struct found *f, const char *probe, uint64_t vaddr, int line)
{
	const struct site *s = NULL;
	size_t nr = sites_of(f, probe, &s);

	if (nr != 1 || s->source != SITE_ANCHOR || s->vaddr != vaddr || s->offset != vaddr - 0x1000)
		fail_msg("line %d: [%s] has %zu sites, at 0x%llx (0x%llx expected), '%s'", line, probe, nr,
			 nr ? (unsigned long long)s->vaddr : 0, (unsigned long long)vaddr, nr ? s->reason : "");
	assert_int_equal(s->cost, COST_EMULATED);
	assert_true(s->nr_exits >= 1 && s->exits_complete);
	assert_non_null(strstr(s->evidence, "only match"));
}

static void is_refused(const struct found *f, const char *probe, const char *why, int line)
{
	const struct site *s = NULL;
	size_t nr = sites_of(f, probe, &s);

	if (nr != 1 || s->source != SITE_NONE || !strstr(s->reason, why))
		fail_msg("line %d: [%s] has %zu sites, source %d, reason '%s', not '%s'", line, probe, nr,
			 nr ? (int)s->source : -1, nr ? s->reason : "", why);
}

#define IS_AT(probe, n) is_at(&f, probe, m.label[n], __LINE__)
#define IS_REFUSED(probe, why) is_refused(&f, probe, why, __LINE__)

/*
 * 1 layout: if (…) text "View::layout"; calls 2      2 perform: if (…) text "View::perform"
 * 3 and 4 both refer to "Commit"; 4 calls 3, and 5, which is small and calls 1
 * 6 refers to "Paint::a", 7 to "Paint::b"
 */
static void make_module(struct made_elf *m)
{
	static const char *const texts[] = { NULL, "View::layout", "View::perform", "Commit", "Commit", "Between", "Paint::a",
					     "Paint::b" };
	uint64_t at[8];

	made_begin(m);
	for (int i = 1; i < 8; i++)
		at[i] = i == 4 ? at[3] : made_text(m, texts[i]);
	for (int i = 1; i < 8; i++) {
		made_function(m, i);
		made_branch(m, 10 + i);
		if (i == 1)
			made_call(m, 2);
		if (i == 4) {
			made_call(m, 3);
			made_call(m, 5);
		}
		if (i == 5)
			made_call(m, 1);
		made_label(m, 20 + i);
		made_leave(m);
		made_label(m, 10 + i);
		made_lea(m, at[i]);
		made_jump(m, 20 + i);
	}
	made_end(m, "sites");
}

static void test_agreement(void **state)
{
	struct made_elf m;
	struct found f;

	(void)state;
	make_module(&m);
	find(&m, "[layout]\nanchor = ^View::layout\ncalls = perform\n[perform]\nanchor = View::perform\n"
		 "[both]\nanchor = Paint::a\nanchor = Paint::b\n[none]\nanchor = Paint::c\n"
		 "[gone]\nanchor = Gone::since\nanchor = Paint::a\n[symbol]\nfunction = nowhere\n"
		 "[wrong]\nanchor = Paint::b\ncalls = perform\n", true, &f);
	IS_AT("layout", 1);
	IS_AT("perform", 2);
	IS_AT("gone", 6);		/* a text that this build lacks says nothing about the others */
	IS_REFUSED("both", "lead to different functions");
	IS_REFUSED("none", "isn't in this build");
	IS_REFUSED("wrong", "does not call that of [perform]");
	IS_REFUSED("symbol", "nowhere");
	drop(&f);
	unlink(m.path);
}

/* What anchors lead to is called as its definition has it: their text may be another function's name. */
static void test_function_names(void **state)
{
	static const char *const wanted[][2] = { { "layout", "layout" }, { "perform", "View::perform()" }, { "a", "a" } };
	const struct site *s = NULL;
	struct made_elf m;
	struct found f;

	(void)state;
	make_module(&m);
	find(&m, "[layout]\nanchor = ^View::layout\n[perform]\nanchor = View::perform\nfunction = v::*\n"
		 "function = View::perform()\n[a]\nlabel = *\nfunction = p::a?\nanchor = Paint::a\n", true, &f);
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		assert_int_equal(sites_of(&f, wanted[i][0], &s), 1);
		assert_int_equal(s->source, SITE_ANCHOR);
		assert_string_equal(s->function, wanted[i][1]);
	}
	drop(&f);
	unlink(m.path);
}

/* Where the compiler made one function of two, it is one probe's. */
static void test_inlined(void **state)
{
	const struct site *s = NULL;
	struct made_elf m;
	struct found f;

	(void)state;
	make_module(&m);
	find(&m, "[inner]\nanchor = View::layout\n[outer]\nanchor = ^View::layout\ncalls = inner\n", true, &f);
	IS_AT("outer", 1);
	IS_REFUSED("inner", "one function with [outer]");
	sites_of(&f, "outer", &s);
	assert_non_null(strstr(s->evidence, "one function with inner"));
	drop(&f);
	/* a caller that is there only to confirm has no use for it */
	find(&m, "[outer]\nanchor = ^View::layout\ncalls = inner\noff = yes\n[inner]\nanchor = View::layout\n", true, &f);
	IS_AT("inner", 1);
	IS_REFUSED("outer", "one function with [inner]");
	drop(&f);
	/* two functions that the same text leads to, of which one calls the other, are no such thing */
	find(&m, "[outer]\nanchor = Commit\ncalls = inner\n[inner]\nanchor = Commit\n", true, &f);
	IS_AT("outer", 4);
	IS_AT("inner", 3);
	drop(&f);
	unlink(m.path);
}

static void test_fallbacks(void **state)
{
	struct made_elf m;
	struct found f;

	(void)state;
	make_module(&m);
	find(&m, "[there]\nanchor = Paint::a\nfallback = Paint::b\n"
		 "[gone]\nanchor = Gone::since\nanchor = Gone::too\nfallback = Paint::b\n"
		 "[both]\nanchor = Gone::since\nfallback = Gone::too\n", true, &f);
	IS_AT("there", 6);
	IS_AT("gone", 7);
	IS_REFUSED("both", "isn't in this build");
	drop(&f);
	unlink(m.path);
}

static void test_candidates(void **state)
{
	const struct site *s = NULL;
	struct made_elf m;
	struct found f;

	(void)state;
	make_module(&m);
	find(&m, "[commit]\nanchor = ^Commit\n", true, &f);
	assert_int_equal(sites_of(&f, "commit", &s), 2);
	assert_non_null(strstr(s->evidence, "one of several"));
	drop(&f);
	/* through a small function in between */
	find(&m, "[commit]\nanchor = ^Commit\ncalls = layout\n[layout]\nanchor = View::layout\n", true, &f);
	IS_AT("commit", 4);
	IS_AT("layout", 1);
	drop(&f);
	/* and in the other direction: the candidate that is called */
	find(&m, "[between]\nanchor = Between\ncalls = any\n[any]\nanchor = View::layout\n", true, &f);
	IS_AT("any", 1);
	drop(&f);
	find(&m, "[a]\nanchor = Paint::a\n[b]\nanchor = ^Paint::a\n[mark]\nanchor = Paint::a\nkind = mark\n", true, &f);
	IS_AT("a", 6);
	IS_REFUSED("b", "same function as [a]");
	IS_AT("mark", 6);
	drop(&f);
	unlink(m.path);
}

/* Fourteen functions refer to the same text; the sixth is called. */
static void test_many_candidates(void **state)
{
	struct made_elf m;
	struct found f;
	uint64_t text, one, other;

	(void)state;
	made_begin(&m);
	text = made_text(&m, "Of::many");
	one = made_text(&m, "Calls::sixth");
	other = made_text(&m, "Calls::none");
	for (int i = 1; i <= 16; i++) {
		made_function(&m, i);
		made_branch(&m, 20 + i);
		if (i == 15)
			made_call(&m, 6);
		made_label(&m, 40 + i);
		made_leave(&m);
		made_label(&m, 20 + i);
		made_lea(&m, i < 15 ? text : i == 15 ? one : other);
		made_jump(&m, 40 + i);
	}
	made_end(&m, "many");
	find(&m, "[many]\nanchor = Of::many\n", true, &f);
	IS_REFUSED("many", "more than 8 functions");
	drop(&f);
	find(&m, "[many]\nanchor = Of::many\n[caller]\nanchor = Calls::sixth\ncalls = many\n", true, &f);
	IS_AT("many", 6);
	IS_AT("caller", 15);
	drop(&f);
	find(&m, "[many]\nanchor = Of::many\n[caller]\nanchor = Calls::none\ncalls = many\n", true, &f);
	IS_REFUSED("many", "more than 8 functions");
	IS_REFUSED("caller", "does not call that of [many]");
	drop(&f);
	unlink(m.path);
}

#define PROBES "[layout]\nanchor = ^View::layout\n[none]\nanchor = Paint::c\n"

/* Finds PROBES through the cache; says whether it was used, and that the result is right either way. */
static bool cached(const struct made_elf *m, const char *probes)
{
	struct found f;
	bool hit;

	find(m, probes, false, &f);
	hit = f.list.from_cache;
	is_at(&f, "layout", m->label[1], __LINE__);
	is_refused(&f, "none", "isn't in this build", __LINE__);
	drop(&f);
	return hit;
}

static void cache_file(char *ret, size_t size)
{
	DIR *d = opendir(cache);
	struct dirent *e;
	int n = 0;

	assert_non_null(d);
	while ((e = readdir(d)))
		if (e->d_name[0] != '.') {
			snprintf(ret, size, "%s/%.200s", cache, e->d_name);
			n++;
		}
	closedir(d);
	assert_int_equal(n, 1);		/* and no temporary file is left */
}

static void change_byte(const char *path, long at)
{
	FILE *f = fopen(path, "r+");
	int c;

	assert_non_null(f);
	fseek(f, at, SEEK_SET);
	c = fgetc(f);
	fseek(f, at, SEEK_SET);
	fputc(c ^ 0x5a, f);
	fclose(f);
}

static void test_cache(void **state)
{
	struct made_elf m;
	char path[300];

	(void)state;
	make_module(&m);
	assert_false(cached(&m, PROBES));
	assert_true(cached(&m, PROBES));
	cache_file(path, sizeof(path));
	assert_false(cached(&m, PROBES "[more]\nanchor = Paint::a\n"));	/* another definition */
	assert_false(cached(&m, PROBES));
	for (long at = 0; at < 2500; at += 61) {			/* damage anywhere */
		assert_true(cached(&m, PROBES));
		change_byte(path, at);
		assert_false(cached(&m, PROBES));
	}
	assert_int_equal(truncate(path, 100), 0);
	assert_false(cached(&m, PROBES));
	assert_int_equal(chmod(path, 0666), 0);				/* anyone could have written it */
	assert_false(cached(&m, PROBES));
	assert_int_equal(chmod(path, 0644), 0);

	m.build_id[3]++;						/* another build: its own file */
	made_write_headers(&m);
	made_save(&m);
	assert_false(cached(&m, PROBES));
	m.build_id[3]--;
	made_write_headers(&m);
	assert_int_equal(m.label[1] % 16, 0);
	made_save(&m);
	assert_true(cached(&m, PROBES));
	m.bytes[m.label[1] - 0x1000 + 5] ^= 0x08;			/* the same build-id, but not the same function */
	made_save(&m);
	assert_false(cached(&m, PROBES));
	unlink(m.path);
}

static int setup(void **state)
{
	(void)state;
	snprintf(cache, sizeof(cache), "/tmp/framescope-cache-XXXXXX");
	return mkdtemp(cache) && !setenv("FRAMESCOPE_CACHE", cache, 1) ? 0 : -1;
}

static int teardown(void **state)
{
	char command[100];

	(void)state;
	snprintf(command, sizeof(command), "rm -r '%s'", cache);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_agreement), cmocka_unit_test(test_function_names),
		cmocka_unit_test(test_inlined), cmocka_unit_test(test_fallbacks),
		cmocka_unit_test(test_candidates), cmocka_unit_test(test_many_candidates), cmocka_unit_test(test_cache),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
