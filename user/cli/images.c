// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Opens the files that a command is to look into. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cli/images.h"
#include "target/modules.h"
#include "target/process.h"

static int add_image(struct image_list *l, struct image *image, struct error *err)
{
	struct image **bigger = realloc(l->images, (l->nr + 1) * sizeof(*bigger));

	if (!bigger) {
		image_close(image);
		return error_set(err, ERR_OTHER, -ENOMEM, "out of memory");
	}
	l->images = bigger;
	bigger[l->nr++] = image;
	return 0;
}

int images_open_file(const char *path, struct image_list *ret, struct error *err)
{
	struct image *image;
	int rc = image_open(path, &image, err);

	*ret = (struct image_list){ 0 };
	return rc ?: add_image(ret, image, err);
}

int image_open_module(const struct module *m, struct image **ret, void (*warn)(const struct error *err), struct error *err)
{
	char path[PATH_MAX], link[32];
	struct error changed;
	int fd = -1, rc;

	rc = module_open(m, &fd, err);
	if (!rc) {
		if (module_find_path(m, fd, path, sizeof(path), &changed)) {
			if (changed.kind == ERR_CHANGED)
				warn(&changed);
			snprintf(path, sizeof(path), "%s", m->path);
		}
		snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
		rc = image_open(link, ret, err);
		close(fd);
	} else if (err->kind == ERR_PERMISSION && !m->deleted && access(m->path, R_OK) == 0) {
		snprintf(path, sizeof(path), "%s", m->path);
		rc = image_open(path, ret, err);
	}
	if (rc)
		return rc;
	free((*ret)->path);
	(*ret)->path = strdup(path);
	if ((*ret)->path)
		return 0;
	image_close(*ret);
	return error_set(err, ERR_OTHER, -ENOMEM, "out of memory");
}

static bool is_wanted(const struct module *m, struct engine *const *engines, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (engine_claims(engines[i], module_basename(m)))
			return true;
	return !nr;
}

int images_open_target(pid_t pid, struct engine *const *engines, size_t nr_engines, struct image_list *ret,
		       void (*warn)(const struct error *err), struct error *err)
{
	struct process_list processes = { 0 };
	struct module_list modules = { 0 };
	struct error denied = { 0 };
	struct image *image;
	int rc = process_tree(pid, &processes, err);

	*ret = (struct image_list){ 0 };
	for (size_t i = 0; i < processes.nr && !rc; i++)
		if (modules_add_process(&modules, processes.p[i].pid, NULL) == -EACCES && !i)
			rc = modules_denied(pid, err);
	if (!rc)
		snprintf(ret->name, sizeof(ret->name), "%s", processes.p[0].name);
	ret->modules = modules.nr;
	for (size_t i = 0; i < modules.nr && !rc; i++) {
		if (!is_wanted(&modules.m[i], engines, nr_engines))
			continue;
		if (!image_open_module(&modules.m[i], &image, warn, err))
			rc = add_image(ret, image, err);
		else if (err->kind == ERR_PERMISSION)
			denied = *err;
	}
	if (!rc && !ret->nr && denied.kind) {
		*err = denied;
		rc = denied.code;
	}
	modules_free(&modules);
	process_list_free(&processes);
	if (rc)
		images_close(ret);
	return rc;
}

void images_close(struct image_list *l)
{
	for (size_t i = 0; i < l->nr; i++)
		image_close(l->images[i]);
	free(l->images);
	*l = (struct image_list){ 0 };
}
