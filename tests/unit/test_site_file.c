// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Files of calibrated builds: what the module confirms is used, anything else is refused with a reason and changes nothing;
 * what is written is read again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <dirent.h>
#include <sys/stat.h>
#include "target/site_file.h"
#include "target/site_file_write.h"
#include "unit/made_elf.h"

#define HEAD "[build]\nbuild-id = 101112131415161718191a1b1c1d1e1f20212223\nsize = 36864\nengine = made\ncage = 0xa800\n"
#define BYTES "bytes = 554889e584c00f85\n"

struct fixture {
	struct made_elf m;
	struct image *img;
	struct engine *engine;
	struct site_list list;
	struct site_search search;
	struct site_options opt;
};

/* Function 1 is found by its text; function 2 by nothing; probe `third` is nowhere. */
static void set_up(struct fixture *f)
{
	struct error err = { 0 };
	uint64_t text;

	memset(f, 0, sizeof(*f));
	made_begin(&f->m);
	text = made_text(&f->m, "View::layout");
	for (int i = 1; i < 4; i++) {
		made_function(&f->m, i);
		made_branch(&f->m, 10 + i);
		made_label(&f->m, 20 + i);
		made_leave(&f->m);
		made_label(&f->m, 10 + i);
		if (i == 1)
			made_lea(&f->m, text);
		made_jump(&f->m, 20 + i);
	}
	made_end(&f->m, "site_file");
	f->opt.no_cache = true;
	f->opt.no_calibration = true;
	if (image_open(f->m.path, &f->img, &err) ||
	    engine_parse("[engine]\nname = made\nmodules = *\n[first]\nanchor = View::layout\nurl = arg0 : cstr\nselector = arg1 : cstr\n"
			 "[second]\nanchor = Nowhere\n[third]\nanchor = Nowhere::either\n", "made.engine", f->img->arch, &f->engine, &err) ||
	    sites_find(f->img, f->engine, &f->opt, &f->list, &err))
		fail_msg("%s", err.text);
	f->search = (struct site_search){ .image = f->img, .engine = f->engine, .opt = &f->opt, .list = &f->list };
}

static void tear_down(struct fixture *f)
{
	sites_free(&f->list);
	engine_free(f->engine);
	image_close(f->img);
	unlink(f->m.path);
}

static struct site *site(struct fixture *f, const char *name)
{
	for (size_t i = 0; i < f->list.nr; i++)
		if (!strcmp(f->list.sites[i].probe->name, name))
			return &f->list.sites[i];
	fail_msg("no site of [%s]", name);
	return NULL;
}

/* A section of the probe at a function of the made module. */
static const char *section(const struct fixture *f, const char *probe, int label, const char *rest)
{
	static char text[1024];

	snprintf(text, sizeof(text), "[%s]\noffset = 0x%llx\n%s", probe, (unsigned long long)f->m.label[label] - 0x1000, rest);
	return text;
}

static int apply(struct fixture *f, const char *head, const char *rest, struct error *err)
{
	char text[4096];

	snprintf(text, sizeof(text), "%s%s", head, rest);
	memset(err, 0, sizeof(*err));
	return site_file_apply_text(&f->search, text, "made.sites", err);
}

/* Applies it and sees that no site is another than before. `why`: part of the reason; NULL: the file may be read. */
static void changes_nothing(struct fixture *f, const char *head, const char *rest, const char *why, int line)
{
	size_t bytes = f->list.nr * sizeof(*f->list.sites);
	void *before = malloc(bytes);
	struct error err;
	int rc;

	assert_non_null(before);
	memcpy(before, f->list.sites, bytes);
	rc = apply(f, head, rest, &err);
	if (why ? !rc || err.kind != ERR_INPUT || !strstr(err.text, why) || !strstr(err.text, "made.sites") : rc)
		fail_msg("line %d: %d, kind %d, '%s', not '%s'", line, rc, err.kind, err.text, why ?: "");
	if (memcmp(before, f->list.sites, bytes))
		fail_msg("line %d: a site has changed", line);
	free(before);
}

#define REFUSED(head, rest, why) changes_nothing(&f, head, rest, why, __LINE__)
#define IGNORED(rest) changes_nothing(&f, HEAD, rest, NULL, __LINE__)

static void test_used(void **state)
{
	struct fixture f;
	struct error err;
	struct site *s;

	(void)state;
	set_up(&f);
	assert_int_equal(site(&f, "second")->source, SITE_NONE);
	assert_int_equal(apply(&f, HEAD, section(&f, "first", 1, BYTES "evidence = 12 calls\nurl = rsi ~0x10 *0x188 : wtf-blink\n"
						 "frame = rdi\n"), &err), 0);
	s = site(&f, "first");
	assert_int_equal(s->source, SITE_CALIBRATED);
	/* what the definition reads beside the URL is read still */
	assert_int_equal(s->nr_args, 3);
	assert_int_equal(s->args[0].field, FIELD_SELECTOR);
	assert_int_equal(s->args[1].kind, KIND_WTF_BLINK);
	assert_int_equal(s->args[1].steps[1].off, 0x188);
	assert_int_equal(s->cage, 0xa800);
	assert_non_null(strstr(s->evidence, "12 calls"));
	/* a function that nothing else leads to */
	assert_int_equal(apply(&f, HEAD, section(&f, "second", 2, BYTES "frame = rdi\n"), &err), 0);
	s = site(&f, "second");
	assert_int_equal(s->source, SITE_CALIBRATED);
	assert_int_equal(s->vaddr, f.m.label[2]);
	assert_true(s->nr_exits >= 1);
	tear_down(&f);
}

/* What led to the function is shown whole behind the calibration's: both are as long as they get. */
static void test_long_evidence(void **state)
{
	struct fixture f;
	struct error err;
	char anchors[384], rest[512];
	const char *shown;

	(void)state;
	set_up(&f);
	memset(anchors, 'a', sizeof(anchors));
	memcpy(anchors + sizeof(anchors) - 4, "end", 4);
	snprintf(site(&f, "first")->evidence, sizeof(f.list.sites->evidence), "%s", anchors);
	snprintf(rest, sizeof(rest), BYTES "evidence = %0180d\nframe = rdi\n", 7);
	assert_int_equal(apply(&f, HEAD, section(&f, "first", 1, rest), &err), 0);
	shown = site(&f, "first")->evidence;
	assert_non_null(strstr(shown, "0007; aaaa"));
	assert_string_equal(shown + strlen(shown) - strlen(anchors), anchors);
	tear_down(&f);
}

static void test_refused(void **state)
{
	struct fixture f;
	char good[1024];

	(void)state;
	set_up(&f);
	snprintf(good, sizeof(good), "%s", section(&f, "first", 1, BYTES "frame = rdi\n"));
	REFUSED("[build]\nbuild-id = 20\nsize = 36864\nengine = made\n", good, "another build");
	REFUSED("[build]\nbuild-id = 101112131415161718191a1b1c1d1e1f20212223\nsize = 36865\nengine = made\n", good, "another build");
	REFUSED("[build]\nbuild-id = 101112131415161718191a1b1c1d1e1f20212223\nsize = 36864\nengine = gecko\n", good, "another engine");
	REFUSED("[build]\nsize = 36864\nengine = made\n", good, "another build");
	REFUSED("", good, "another build");
	REFUSED("", "", "another build");
	REFUSED(HEAD, section(&f, "fourth", 1, BYTES), "no probe of the engine");
	REFUSED(HEAD, section(&f, "first", 1, BYTES "colour = rdi\n"), "unknown key");
	REFUSED(HEAD, section(&f, "first", 1, BYTES "url = rdi *zz : cstr\n"), "[first]");
	REFUSED(HEAD, section(&f, "first", 1, BYTES "url = rdi->document : cstr\n"), "[first]");
	REFUSED(HEAD, section(&f, "first", 1, "bytes = 5548\n"), "no bytes");
	REFUSED(HEAD, section(&f, "first", 1, "bytes = 554889e584c00f8g\n"), "no bytes");
	REFUSED(HEAD, "[first]\noffset = -1\n" BYTES, "no offset");
	REFUSED(HEAD, "[first]\noffset = 0x10000000000000000\n" BYTES, "no offset");
	REFUSED("[build]\ncage = much\n", good, "no number");
	REFUSED(HEAD "garbage\n", good, "not a line");
	REFUSED("\x7f" "ELF\x01\x02\n[[[[\n", "", "made.sites");
	/* the last of many sections is wrong: the ones before it count for nothing */
	REFUSED(HEAD, strcat(good, "[second]\noffset = 1\nurl = nothing\n"), "[second]");
	tear_down(&f);
}

#define HEAD2 HEAD "format = 2\n"

/* The comparison with the browser's own events: its numbers must say what is done with the function. */
static void test_compared(void **state)
{
	struct fixture f;
	struct error err;
	struct site *s;

	(void)state;
	set_up(&f);
	REFUSED(HEAD2, section(&f, "first", 1, BYTES "calls = 84\nreported = 81\n"), "isn't 'dropped'");
	REFUSED(HEAD2, section(&f, "first", 1, BYTES "calls = 84\n"), "isn't 'dropped'");
	REFUSED(HEAD2, section(&f, "first", 1, BYTES "reported = 84\n"), "isn't 'dropped'");
	REFUSED(HEAD2, section(&f, "first", 1, BYTES "calls = 0\nreported = 0\n"), "isn't 'dropped'");
	REFUSED(HEAD2, section(&f, "first", 1, BYTES "calls = -1\nreported = -1\n"), "no number");
	REFUSED(HEAD2, section(&f, "first", 1, BYTES "dropped = for a reason\nframe = rdi\n"), "is dropped, but has arguments");
	/* of the first format, and of one that is yet to come */
	REFUSED(HEAD, section(&f, "first", 1, BYTES "calls = 84\nreported = 84\n"), "unknown key");
	REFUSED(HEAD "format = 3\n", section(&f, "first", 1, BYTES), "another framescope");
	REFUSED(HEAD "format = 0\n", section(&f, "first", 1, BYTES), "another framescope");
	/* a dropped one that isn't the module's drops nothing */
	IGNORED(section(&f, "first", 1, "bytes = 554889e584c00f84\n"));
	changes_nothing(&f, HEAD2, section(&f, "first", 1, "bytes = 554889e584c00f84\ndropped = why\n"), NULL, __LINE__);
	changes_nothing(&f, HEAD2, section(&f, "second", 2, BYTES "dropped = why\n"), NULL, __LINE__);

	assert_int_equal(apply(&f, HEAD2, section(&f, "first", 1, BYTES "calls = 9\nreported = 9\nevidence = calls 9 = trace 9\n"
						  "frame = rdi\n"), &err), 0);
	s = site(&f, "first");
	assert_int_equal(s->source, SITE_CALIBRATED);
	assert_non_null(strstr(s->evidence, "calls 9 = trace 9"));
	assert_int_equal(apply(&f, HEAD2, section(&f, "first", 1, BYTES "calls = 84\nreported = 81\ndropped = 84 calls, 3 astray\n"),
			       &err), 0);
	assert_int_equal(s->source, SITE_NONE);
	assert_non_null(strstr(s->reason, "84 calls, 3 astray"));
	tear_down(&f);
}

/* Of several candidates for a probe one stays. */
static void test_candidates(void **state)
{
	struct fixture f;
	struct error err;

	(void)state;
	for (int chosen = 1; chosen <= 3; chosen++) {
		size_t found = 0;

		set_up(&f);
		f.list.sites = realloc(f.list.sites, (f.list.nr + 1) * sizeof(*f.list.sites));
		assert_non_null(f.list.sites);
		/* a second one at function 3 */
		f.list.sites[f.list.nr] = *site(&f, "first");
		f.list.sites[f.list.nr].vaddr = f.m.label[3];
		f.list.sites[f.list.nr++].offset = f.m.label[3] - 0x1000;
		assert_int_equal(apply(&f, HEAD2, section(&f, "first", chosen, BYTES "calls = 9\nreported = 9\nframe = rdi\n"), &err), 0);
		for (size_t i = 0; i < f.list.nr; i++) {
			if (strcmp(f.list.sites[i].probe->name, "first") || !f.list.sites[i].source)
				continue;
			found++;
			assert_true(chosen == 2 || f.list.sites[i].vaddr == f.m.label[chosen]);
		}
		/* function 2 is neither: nothing is believed */
		assert_int_equal(found, chosen == 2 ? 2 : 1);
		tear_down(&f);
	}
}

static void test_forged(void **state)
{
	struct fixture f;
	char text[1024];

	(void)state;
	set_up(&f);
	/* other bytes than the module's */
	IGNORED(section(&f, "first", 1, "bytes = 554889e584c00f84\nframe = rdi\n"));
	/* a function that was found elsewhere */
	IGNORED(section(&f, "first", 2, BYTES "frame = rdi\n"));
	/* without any bytes */
	IGNORED(section(&f, "second", 2, "frame = rdi\n"));
	/* in the middle of a function, with the bytes that are there: off the grid */
	snprintf(text, sizeof(text), "[second]\noffset = 0x%llx\nbytes = 4889e584c00f85\n", (unsigned long long)f.m.label[2] - 0xfff);
	REFUSED(HEAD, text, "no bytes");
	snprintf(text, sizeof(text), "[second]\noffset = 0x%llx\nbytes = ", (unsigned long long)f.m.label[2] - 0xfff);
	for (int i = 1; i < 12; i++)
		sprintf(text + strlen(text), "%02x", f.m.bytes[f.m.label[2] - 0x1000 + i]);
	IGNORED(text);
	/* in data, in the file's header, beyond its end */
	IGNORED("[second]\noffset = 0x8000\n" BYTES);
	IGNORED("[second]\noffset = 0\nbytes = 7f454c4602010100\n");
	IGNORED("[second]\noffset = 0x7fffffffffffffff\n" BYTES);
	/* code that is no function: padding */
	snprintf(text, sizeof(text), "[third]\noffset = 0x%llx\nbytes = cccccccccccccccc\n", (unsigned long long)f.m.label[2] - 0x1010);
	IGNORED(text);
	tear_down(&f);
}

static void test_written(void **state)
{
	struct site_entry e = { .nr_args = 2, .evidence = "7 calls; URL right", .compared = true, .calls = 7, .reported = 7 };
	char dir[] = "/tmp/framescope-site-file-XXXXXX", *text, *path;
	struct site_build b = { .engine = "made", .made = "a test", .cage = 0xa800, .entries = &e, .nr = 1 };
	struct fixture f;
	struct error err;
	struct stat st;

	(void)state;
	set_up(&f);
	b.image = f.img;
	e.site = site(&f, "first");
	e.args[0].field = FIELD_URL;
	e.args[1].field = FIELD_FRAME;
	assert_int_equal(expr_parse("rsi ~-0x28 *0x188 : wtf-blink", f.img->arch, &e.args[0], NULL, NULL, &err), 0);
	assert_int_equal(expr_parse("rdi", f.img->arch, &e.args[1], NULL, NULL, &err), 0);
	text = site_file_text(&b);
	assert_non_null(text);
	assert_int_equal(apply(&f, text, "", &err), 0);
	assert_int_equal(site(&f, "first")->source, SITE_CALIBRATED);
	assert_int_equal(site(&f, "first")->nr_args, 3);
	assert_memory_equal(site(&f, "first")->args + 1, e.args, 2 * sizeof(e.args[0]));
	assert_int_equal(site(&f, "first")->cage, 0xa800);
	free(text);
	e.nr_args = 0;
	e.reported = 6;
	snprintf(e.dropped, sizeof(e.dropped), "7 calls, 1 of them outside any event of the trace");
	text = site_file_text(&b);
	assert_non_null(text);
	assert_int_equal(apply(&f, text, "", &err), 0);
	assert_int_equal(site(&f, "first")->source, SITE_NONE);
	assert_non_null(strstr(site(&f, "first")->reason, e.dropped));
	free(text);
	/* in the cache: for everyone to read, and nothing else beside it */
	assert_non_null(mkdtemp(dir));
	setenv("FRAMESCOPE_CACHE", dir, 1);
	assert_int_equal(site_file_write(&b, NULL, &path, &err), 0);
	assert_non_null(strstr(path, "/builds/101112131415161718191a1b1c1d1e1f20212223.sites"));
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0644);
	assert_int_equal(site_file_write(&b, NULL, NULL, &err), 0);
	unlink(path);
	free(path);
	{
		char builds[sizeof(dir) + 8];

		snprintf(builds, sizeof(builds), "%s/builds", dir);
		assert_int_equal(rmdir(builds), 0);
	}
	assert_int_equal(rmdir(dir), 0);
	/* a folder that can't be made */
	setenv("FRAMESCOPE_CACHE", "/dev/null/nowhere", 1);
	assert_true(site_file_write(&b, NULL, NULL, &err) < 0);
	assert_int_equal(err.kind, ERR_OUTPUT);
	unsetenv("FRAMESCOPE_CACHE");
	tear_down(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_used), cmocka_unit_test(test_long_evidence), cmocka_unit_test(test_refused), cmocka_unit_test(test_forged),
		cmocka_unit_test(test_written), cmocka_unit_test(test_compared), cmocka_unit_test(test_candidates),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
