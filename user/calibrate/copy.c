// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Copies a browser's folder, or some files, to a temporary one and takes it away again. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <libgen.h>
#include <pwd.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "calibrate/copy.h"

#define MAX_DEPTH 8
#define MAX_HOME 60		/* bytes of its name: the browser's socket below it has some 45 more, and 108 at most */
#define MAX_BYTES (4ull << 30)	/* a folder with more is no browser's */

static int copy_file(int from, int to_dir, const char *name, mode_t mode, uint64_t *left)
{
	int out = openat(to_dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	char buf[1 << 16];
	ssize_t n;
	int rc = 0;

	if (out < 0)
		return -errno;
	while ((n = read(from, buf, sizeof(buf))) > 0 && !rc) {
		if ((uint64_t)n > *left)
			rc = -EFBIG;
		else if (write(out, buf, n) != n)
			rc = errno ? -errno : -ENOSPC;
		*left -= rc ? 0 : n;
	}
	if (n < 0 && !rc)
		rc = -errno;
	if (!rc && fchmod(out, mode & 0111 ? 0755 : 0644))
		rc = -errno;
	close(out);
	return rc;
}

/* Regular files and folders; links are followed, so that the copy needs nothing of the original. Takes `from`. */
static int copy_folder(int from, int to, int depth, uint64_t *left)
{
	DIR *d = fdopendir(from);
	struct dirent *e;
	int rc = 0;

	if (!d) {
		close(from);
		return -errno;
	}
	while (!rc && (e = readdir(d))) {
		int fd, sub;
		struct stat st;

		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		fd = openat(from, e->d_name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
		if (fd < 0)
			continue;	/* what we may not read, the browser of an ordinary user can't need */
		if (fstat(fd, &st)) {
			rc = -errno;
		} else if (S_ISREG(st.st_mode)) {
			rc = copy_file(fd, to, e->d_name, st.st_mode, left);
		} else if (S_ISDIR(st.st_mode) && depth < MAX_DEPTH) {
			sub = mkdirat(to, e->d_name, 0755) ? -1 : openat(to, e->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
			rc = sub < 0 ? -errno : copy_folder(fd, sub, depth + 1, left);
			if (sub >= 0) {
				fchmod(sub, 0755);
				close(sub);
				fd = -1;
			}
		}
		if (fd >= 0)
			close(fd);
	}
	closedir(d);
	return rc;
}

static void choose_user(struct private_copy *c)
{
	const struct passwd *nobody = geteuid() ? NULL : getpwnam("nobody");

	c->uid = nobody ? nobody->pw_uid : geteuid();
	c->gid = nobody ? nobody->pw_gid : getegid();
}

static int make_folders(struct private_copy *c, const char *name, const char *module)
{
	char bin[PATH_MAX];

	if ((size_t)snprintf(c->folder, sizeof(c->folder), "%s/framescope-XXXXXX",
			     getenv("TMPDIR") ?: "/var/tmp") >= MAX_HOME - sizeof("/home")) {
		c->folder[0] = '\0';
		return -ENAMETOOLONG;
	}
	if (!mkdtemp(c->folder)) {
		c->folder[0] = '\0';
		return -errno;
	}
	snprintf(bin, sizeof(bin), "%s/bin", c->folder);
	snprintf(c->home, sizeof(c->home), "%s/home", c->folder);
	if ((size_t)snprintf(c->binary, sizeof(c->binary), "%s/%s", bin, name) >= sizeof(c->binary) ||
	    (size_t)snprintf(c->module, sizeof(c->module), "%s/%s", bin, module) >= sizeof(c->module))
		return -ENAMETOOLONG;
	/* the user may go through it, nobody else */
	if (chown(c->folder, -1, c->gid) || chmod(c->folder, 0710) || mkdir(bin, 0755) || chmod(bin, 0755) ||
	    mkdir(c->home, 0700) || chown(c->home, c->uid, c->gid))
		return -errno;
	return open(bin, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	remove(path);
	return 0;
}

static void remove_folder(const char *folder)
{
	const struct timespec pause = { .tv_nsec = 50000000 };

	/* what the browser was writing while it was ended may come late */
	for (int i = 0; folder[0] && i < 20 && !access(folder, F_OK); i++) {
		if (i)
			nanosleep(&pause, NULL);
		nftw(folder, remove_one, 32, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
	}
}

/* Waits for the end of everybody who has the pipe's other end, us and those who die with us, and cleans up. Never returns. */
static void run_janitor(const char *folder, int life)
{
	int null = open("/dev/null", O_RDWR);
	char c;

	setsid();
	for (int i = 1; i < NSIG; i++)
		signal(i, SIG_IGN);
	for (int i = 0; i < 3; i++)
		dup2(null, i);
	if (life != 3)
		dup2(life, 3);
	syscall(SYS_close_range, 4, ~0u, 0);
	while (read(3, &c, 1) < 0 && errno == EINTR)
		;
	remove_folder(folder);
	_exit(0);
}

static int start_janitor(struct private_copy *c)
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC))
		return -errno;
	c->janitor = fork();
	if (!c->janitor) {
		close(fds[1]);
		run_janitor(c->folder, fds[0]);
	}
	close(fds[0]);
	c->life = fds[1];
	if (c->janitor > 0)
		return 0;
	close(c->life);
	c->janitor = 0;
	return -EAGAIN;
}

int copy_list_add(struct copy_list *l, const char *path, const char *name)
{
	if (l->nr == sizeof(l->file) / sizeof(l->file[0]))
		return -ENOSPC;
	if ((size_t)snprintf(l->file[l->nr].path, sizeof(l->file[0].path), "%s", path) >= sizeof(l->file[0].path) ||
	    (size_t)snprintf(l->file[l->nr].name, sizeof(l->file[0].name), "%s", name) >= sizeof(l->file[0].name))
		return -ENAMETOOLONG;
	l->nr++;
	return 0;
}

static int copy_files(const struct copy_list *l, int to, uint64_t *left)
{
	int rc = 0;

	for (size_t i = 0; i < l->nr && !rc; i++) {
		int fd = open(l->file[i].path, O_RDONLY | O_CLOEXEC);
		struct stat st;

		rc = fd < 0 || fstat(fd, &st) ? -errno : copy_file(fd, to, l->file[i].name, st.st_mode, left);
		if (fd >= 0)
			close(fd);
	}
	return rc;
}

/* What the program's folder has, or the list. `real` is cut to the folder's name. */
static int copy_all(char *real, const struct copy_list *list, int to)
{
	uint64_t left = MAX_BYTES;
	int from;

	/* basename() has cut nothing off: dirname() does */
	dirname(real);
	if (list->nr)
		return copy_files(list, to, &left);
	from = open(real, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return from < 0 ? -errno : copy_folder(from, to, 0, &left);
}

int copy_make(const char *binary, const char *module, const struct copy_list *list, struct private_copy *ret, struct error *err)
{
	char real[PATH_MAX], name[PATH_MAX];
	int to, rc;

	memset(ret, 0, sizeof(*ret));
	if (!realpath(binary, real))
		return error_set(err, ERR_INPUT, -errno, "can't find %s: %s", binary, strerror(errno));
	snprintf(name, sizeof(name), "%s", basename(real));
	choose_user(ret);
	to = make_folders(ret, name, module);
	if (to >= 0 && start_janitor(ret)) {
		close(to);
		to = -EAGAIN;
	}
	if (to < 0) {
		copy_remove(ret);
		return error_set(err, ERR_OUTPUT, to, "can't make a private folder in %s: %s; TMPDIR names another place",
				 getenv("TMPDIR") ?: "/var/tmp", strerror(-to));
	}
	rc = copy_all(real, list, to);
	close(to);
	if (!rc && access(ret->binary, X_OK))
		rc = -errno;
	if (!rc)
		return 0;
	copy_remove(ret);
	return error_set(err, ERR_OUTPUT, rc, "can't copy the browser's files in %s: %s", real, strerror(-rc));
}

void copy_remove(struct private_copy *c)
{
	remove_folder(c->folder);
	c->folder[0] = '\0';
	if (c->janitor <= 0)
		return;
	close(c->life);
	waitpid(c->janitor, NULL, 0);
	c->janitor = 0;
}
