// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Finds an engine's library by the names in ELF files, and the program that comes with it. */
#include <errno.h>
#include <gelf.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "calibrate/library.h"

static bool each_of_section(Elf *elf, Elf_Scn *s, int64_t tag, bool (*each)(void *ctx, const char *name), void *ctx)
{
	Elf_Data *data = elf_getdata(s, NULL);
	GElf_Shdr h;
	GElf_Dyn d;

	if (!data || !gelf_getshdr(s, &h) || h.sh_type != SHT_DYNAMIC)
		return false;
	for (int i = 0; gelf_getdyn(data, i, &d) && d.d_tag != DT_NULL; i++) {
		const char *text = d.d_tag == tag ? elf_strptr(elf, h.sh_link, d.d_un.d_val) : NULL;

		if (text && text[0] && each(ctx, text))
			return true;
	}
	return false;
}

static bool each_text(const struct image *img, int64_t tag, bool (*each)(void *ctx, const char *text), void *ctx)
{
	Elf_Scn *s = NULL;
	bool done = false;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_begin(img->fd, ELF_C_READ, NULL);
	while (elf && !done && (s = elf_nextscn(elf, s)))
		done = each_of_section(elf, s, tag, each, ctx);
	elf_end(elf);
	return done;
}

struct walk {
	bool (*each)(void *ctx, const char *name);
	void *ctx;
	char folder[PATH_MAX];	/* of the program's own libraries */
};

static bool take_name(void *ctx, const char *name)
{
	struct walk *w = ctx;

	/* it becomes part of a path */
	return !strchr(name, '/') && strlen(name) <= NAME_MAX && w->each(w->ctx, name);
}

static bool take_folder(void *ctx, const char *folder)
{
	struct walk *w = ctx;

	snprintf(w->folder, sizeof(w->folder), "%.*s", (int)strcspn(folder, ":"), folder);
	return true;
}

static bool take_own(void *ctx, const char *name)
{
	struct walk *w = ctx;
	char path[PATH_MAX];
	struct image *own;
	struct error err;
	bool done;

	if (strchr(name, '/') || (size_t)snprintf(path, sizeof(path), "%s/%s", w->folder, name) >= sizeof(path) ||
	    access(path, R_OK) || image_open(path, &own, &err))
		return false;
	done = each_text(own, DT_NEEDED, take_name, w);
	image_close(own);
	return done;
}

bool library_each_needed(const struct image *img, bool (*each)(void *ctx, const char *name), void *ctx)
{
	struct walk w = { .each = each, .ctx = ctx };

	if (each_text(img, DT_NEEDED, take_name, &w))
		return true;
	/* much of a program may be in libraries that only it has */
	return (each_text(img, DT_RUNPATH, take_folder, &w) || each_text(img, DT_RPATH, take_folder, &w)) &&
	       each_text(img, DT_NEEDED, take_own, &w);
}

static bool is_there(const char *folder, const char *name, char *ret)
{
	return (size_t)snprintf(ret, PATH_MAX, "%s/%s", folder, name) < PATH_MAX && !access(ret, R_OK);
}

bool library_find(const char *binary, const char *name, char *ret)
{
	static const char *const folders[] = { "/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib", "/usr/local/lib", NULL };
	char own[PATH_MAX], above[PATH_MAX];

	snprintf(own, sizeof(own), "%s", binary);
	dirname(own);
	snprintf(above, sizeof(above), "%s", own);
	dirname(above);
	if (is_there(own, name, ret) || is_there(above, name, ret))
		return true;
	for (const char *const *f = folders; *f; f++)
		if (is_there(*f, name, ret))
			return true;
	return false;
}

/* The folder of what a library's own programs are, "webkit2gtk-4.1" for libwebkit2gtk-4.1.so.0. */
static void own_folder(const char *module, char *ret, size_t size)
{
	const char *name = strrchr(module, '/');
	char *end;

	name = name ? name + 1 : module;
	snprintf(ret, size, "%s", name + 3 * !strncmp(name, "lib", 3));
	end = strstr(ret, ".so");
	if (end)
		*end = '\0';
}

struct needed {
	const struct engine *engine;
	const char *module;
	struct copy_list *list;
	bool with_module;	/* is the library itself among them? */
};

static bool is_name_of(const char *path, const char *name)
{
	const char *base = strrchr(path, '/');

	base = base ? base + 1 : path;
	return !strncmp(base, name, strlen(name));
}

static bool take_needed(void *ctx, const char *name)
{
	struct needed *n = ctx;
	char path[PATH_MAX];
	bool own = is_name_of(n->module, name);

	if (!engine_claims(n->engine, name))
		return false;
	if (own)
		snprintf(path, sizeof(path), "%s", n->module);
	if (own || library_find(n->module, name, path))
		n->with_module |= !copy_list_add(n->list, path, name) && own;
	return false;
}

int library_program(const struct engine *e, const char *module, const char *program, struct copy_list *ret, struct error *err)
{
	struct needed n = { .engine = e, .module = module, .list = ret };
	char path[PATH_MAX], near[PATH_MAX], folder[NAME_MAX + 1];
	struct image *image;
	int rc;

	memset(ret, 0, sizeof(*ret));
	snprintf(path, sizeof(path), "%s", module);
	own_folder(module, folder, sizeof(folder));
	if ((size_t)snprintf(near, sizeof(near), "%s/%s", dirname(path), folder) >= sizeof(near) || !is_there(near, program, path)) {
		snprintf(near, sizeof(near), "/usr/libexec/%s", folder);
		if (!is_there(near, program, path))
			return error_set(err, ERR_INPUT, -ENOENT, "%s shows pages in its %s, which is neither in %s beside it nor in "
					 "/usr/libexec; install what your distribution packages it in", module, program, folder);
	}
	rc = image_open(path, &image, err);
	if (rc)
		return rc;
	copy_list_add(ret, path, program);
	library_each_needed(image, take_needed, &n);
	image_close(image);
	return n.with_module ? 0 : error_set(err, ERR_INPUT, -ENOENT, "%s does not use %s", path, module);
}
