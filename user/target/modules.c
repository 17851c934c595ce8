// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The executable files that the target's processes have mapped. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "target/modules.h"

#define MODULES_MAX 65536	/* a hostile process could map files without end */

struct add_context {
	struct module_list *l;
	pid_t pid;
	size_t added;
};

static bool is_known(const struct module_list *l, const struct map_entry *m)
{
	for (size_t i = 0; i < l->nr; i++)
		if (l->m[i].inode == m->inode && l->m[i].dev == m->dev)
			return true;
	return false;
}

static int add_mapping(void *arg, const struct map_entry *m)
{
	struct add_context *c = arg;
	struct module_list *l = c->l;

	if (!m->exec || !m->inode || m->path[0] != '/' || is_known(l, m) || l->nr >= MODULES_MAX)
		return 0;
	if (l->nr == l->cap) {
		size_t cap = l->cap ? l->cap * 2 : 64;
		struct module *bigger = realloc(l->m, cap * sizeof(*bigger));

		if (!bigger)
			return -ENOMEM;
		l->m = bigger;
		l->cap = cap;
	}
	l->m[l->nr] = (struct module){
		.dev = m->dev, .inode = m->inode, .pid = c->pid, .start = m->start, .end = m->end,
		.deleted = m->deleted, .path = strdup(m->path),
	};
	if (!l->m[l->nr].path)
		return -ENOMEM;
	l->nr++;
	c->added++;
	return 0;
}

int modules_add_process(struct module_list *l, pid_t pid, size_t *ret_added)
{
	struct add_context c = { .l = l, .pid = pid };
	int rc = maps_each(pid, add_mapping, &c);

	if (ret_added)
		*ret_added = c.added;
	return rc;
}

void modules_free(struct module_list *l)
{
	for (size_t i = 0; i < l->nr; i++)
		free(l->m[i].path);
	free(l->m);
	memset(l, 0, sizeof(*l));
}

const char *module_basename(const struct module *m)
{
	const char *slash = strrchr(m->path, '/');

	return slash ? slash + 1 : m->path;
}

int modules_denied(pid_t pid, struct error *err)
{
	return error_set(err, ERR_PERMISSION, -EACCES, geteuid() ?
			 "not permitted to look at process %d: CAP_SYS_PTRACE is needed; run it with sudo" :
			 "not even root may look at process %d here: it has more capabilities than this shell, or a container or "
			 "security module forbids it; run framescope outside of that", pid);
}

int module_open(const struct module *m, int *ret_fd, struct error *err)
{
	char path[96];
	int fd, code;

	snprintf(path, sizeof(path), "/proc/%d/map_files/%llx-%llx", m->pid, (unsigned long long)m->start,
		 (unsigned long long)m->end);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	code = errno;
	if (fd >= 0) {
		*ret_fd = fd;
		return 0;
	}
	if (code == EPERM || code == EACCES)
		return error_set(err, ERR_PERMISSION, -code, "not permitted to open what process %d has mapped (%s): "
				 "CAP_SYS_ADMIN or CAP_CHECKPOINT_RESTORE is needed; %s", m->pid, m->path, geteuid() ?
				 "run it with sudo" : "root lacks it here, as in a container: run framescope outside of that");
	return error_set(err, ERR_NO_TARGET, -code, "process %d does not map %s any more: %s", m->pid, m->path,
			 strerror(code));
}

/* Device and inode as stat() gives them on both sides: /proc/PID/maps shows other ones on overlayfs and btrfs. */
static bool is_same_file(const char *path, const struct stat *mapped)
{
	struct stat st;

	return !stat(path, &st) && st.st_dev == mapped->st_dev && st.st_ino == mapped->st_ino;
}

/*
 * The kernel writes paths as seen from the reader's root where the file is below it, else as seen from the root of the
 * process's own mounts. The plain path comes first: debug files are found relative to it.
 */
int module_find_path(const struct module *m, int fd, char *ret, size_t cap, struct error *err)
{
	struct stat mapped;

	if (fstat(fd, &mapped))
		return error_set(err, ERR_OTHER, -errno, "can't look at %s: %s", m->path, strerror(errno));
	if ((size_t)snprintf(ret, cap, "%s", m->path) < cap && is_same_file(ret, &mapped))
		return 0;
	if ((size_t)snprintf(ret, cap, "/proc/%d/root%s", m->pid, m->path) < cap && is_same_file(ret, &mapped))
		return 0;
	return error_set(err, ERR_CHANGED, -ESTALE, "%s was deleted or replaced since process %d mapped it; restart that "
			 "program, so that it runs the file that is installed now", m->path, m->pid);
}
