// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Processes as /proc shows them. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "target/process.h"

#define PROC_PID_INIT_INO 0xeffffffcu	/* include/linux/proc_ns.h */

/* Reads a small file of /proc/PID; returns its length. */
static ssize_t read_proc(pid_t pid, const char *name, char *buf, size_t cap)
{
	char path[64];
	size_t n = 0;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	while (n < cap - 1) {
		ssize_t got = read(fd, buf + n, cap - 1 - n);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			int code = errno;

			close(fd);
			return -code;
		}
		if (!got)
			break;
		n += got;
	}
	close(fd);
	buf[n] = '\0';
	return n;
}

/* The last number of a line like "NSpid:\t123\t5". */
static long status_number(const char *status, const char *key, bool last)
{
	const char *s = strstr(status, key);
	long v = -1;

	if (!s)
		return -1;
	s += strlen(key);
	while (*s && *s != '\n') {
		char *end;
		long x = strtol(s, &end, 10);

		if (end == s)
			break;
		v = x;
		if (!last)
			break;
		s = end;
	}
	return v;
}

/* pid (comm) state ppid …: comm may hold anything, so everything is counted from the last parenthesis. */
static int read_stat(struct process *p)
{
	char buf[1024], *open, *close;
	unsigned long long start = 0;
	long threads = 0;
	int parent = 0;
	char state = 0;
	ssize_t n = read_proc(p->pid, "stat", buf, sizeof(buf));

	if (n < 0)
		return n;
	open = strchr(buf, '(');
	close = strrchr(buf, ')');
	if (!open || !close || close < open)
		return -ESRCH;
	if (sscanf(close + 1, " %c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %ld %*d %llu",
		   &state, &parent, &threads, &start) < 3)
		return -ESRCH;
	p->parent = parent;
	p->threads = threads;
	p->zombie = state == 'Z' || state == 'X';
	p->start_ticks = start;
	n = close - open - 1;
	if (n > (ssize_t)sizeof(p->comm) - 1)
		n = sizeof(p->comm) - 1;
	memcpy(p->comm, open + 1, n);
	p->comm[n] = '\0';
	return 0;
}

bool process_exe_glob(pid_t pid, char *ret, size_t size)
{
	static const char deleted[] = " (deleted)";
	char path[64], exe[PATH_MAX];
	const char *base;
	size_t length;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	n = readlink(path, exe, sizeof(exe) - 1);
	if (n <= 0)
		return false;
	exe[n] = '\0';
	base = strrchr(exe, '/');
	base = base ? base + 1 : exe;
	length = strlen(base);
	if (length >= sizeof(deleted) && !strcmp(base + length - sizeof(deleted) + 1, deleted))
		length -= sizeof(deleted) - 1;
	if (!length || length >= size)
		return false;
	snprintf(ret, size, "%.*s", (int)length, base);
	/* blanks separate globs */
	for (char *c = ret; *c; c++)
		if (*c == ' ' || *c == '\t' || *c == '\n')
			*c = '?';
	return true;
}

/* Browsers give their child processes' role in an argument --type=ROLE; others are told by their comm. */
static void name_process(struct process *p, const char *role)
{
	char path[64], exe[512];
	const char *base;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/exe", p->pid);
	n = readlink(path, exe, sizeof(exe) - 1);
	if (n > 0) {
		exe[n] = '\0';
		base = strrchr(exe, '/');
		base = base ? base + 1 : exe;
	} else {
		base = p->comm;
	}
	if (role && *role)
		snprintf(p->name, sizeof(p->name), "%.100s (%.48s)", base, role);
	else if (strncmp(base, p->comm, 15))
		snprintf(p->name, sizeof(p->name), "%.90s (%.62s)", base, p->comm);
	else
		snprintf(p->name, sizeof(p->name), "%.100s", base);
}

/* A browser's children that were forked have their command line overwritten: one string with blanks. */
static void find_role(const char *args, size_t n, char *role, size_t cap)
{
	static const char key[] = "--type=";
	size_t k = sizeof(key) - 1, len = 0;

	for (size_t i = 0; i + k < n; i++) {
		if ((i && args[i - 1] && args[i - 1] != ' ') || memcmp(args + i, key, k))
			continue;
		while (i + k + len < n && len < cap - 1 && args[i + k + len] && args[i + k + len] != ' ')
			len++;
		memcpy(role, args + i + k, len);
		break;
	}
	role[len] = '\0';
}

static void read_cmdline(struct process *p)
{
	char buf[8192], role[48] = "";
	ssize_t n = read_proc(p->pid, "cmdline", buf, sizeof(buf));

	if (n > 0)
		find_role(buf, n, role, sizeof(role));
	for (ssize_t i = 0; i + 1 < n; i++)
		if (!buf[i])
			buf[i] = ' ';
	if (n > 0)
		snprintf(p->cmdline, sizeof(p->cmdline), "%.1023s", buf);
	name_process(p, role);
}

int process_read(pid_t pid, struct process *ret)
{
	struct process p = { .pid = pid };
	char status[4096];
	ssize_t n;
	long v;
	int rc;

	rc = read_stat(&p);
	if (rc)
		return rc;
	n = read_proc(pid, "status", status, sizeof(status));
	if (n < 0)
		return n;
	v = status_number(status, "\nNSpid:", true);
	p.inner_pid = v > 0 ? v : pid;
	v = status_number(status, "\nTgid:", false);
	p.leader = v > 0 ? v : pid;
	read_cmdline(&p);
	*ret = p;
	return 0;
}

bool process_alive(pid_t pid)
{
	struct process p = { .pid = pid };

	return !read_stat(&p) && !p.zombie;
}

static int list_add(struct process_list *l, const struct process *p)
{
	if (l->nr == l->cap) {
		size_t cap = l->cap ? l->cap * 2 : 16;
		struct process *bigger = realloc(l->p, cap * sizeof(*bigger));

		if (!bigger)
			return -ENOMEM;
		l->p = bigger;
		l->cap = cap;
	}
	l->p[l->nr++] = *p;
	return 0;
}

struct pid_parent { pid_t pid, parent; };

/* Every process with its parent, in one look at /proc. */
static int read_all(struct pid_parent **ret, size_t *ret_nr)
{
	struct pid_parent *all = NULL;
	size_t nr = 0, cap = 0;
	struct dirent *e;
	DIR *d = opendir("/proc");

	if (!d)
		return -errno;
	while ((e = readdir(d))) {
		struct process p = { .pid = atoi(e->d_name) };

		if (!isdigit((unsigned char)e->d_name[0]) || read_stat(&p))
			continue;
		if (nr == cap) {
			struct pid_parent *bigger = realloc(all, (cap = cap ? cap * 2 : 256) * sizeof(*all));

			if (!bigger) {
				free(all);
				closedir(d);
				return -ENOMEM;
			}
			all = bigger;
		}
		all[nr++] = (struct pid_parent){ p.pid, p.parent };
	}
	closedir(d);
	*ret = all;
	*ret_nr = nr;
	return 0;
}

int process_descendants(pid_t root, struct process_list *ret)
{
	struct pid_parent *all = NULL;
	struct process p;
	size_t nr = 0, first = ret->nr;
	pid_t parent = root;
	int rc = read_all(&all, &nr);

	if (rc)
		return rc;
	for (size_t at = first;; at++) {
		for (size_t i = 0; i < nr && !rc; i++)
			if (all[i].parent == parent && all[i].pid != parent && !process_read(all[i].pid, &p) &&
			    !p.zombie)
				rc = list_add(ret, &p);
		if (rc || at >= ret->nr)
			break;
		parent = ret->p[at].pid;
	}
	free(all);
	return rc;
}

int process_tree(pid_t root, struct process_list *ret, struct error *err)
{
	struct process p;
	int rc = process_read(root, &p);

	if (rc)
		return error_set(err, ERR_NO_TARGET, rc, "there is no process %d; ps -ef lists those that run", root);
	if (p.leader != root)
		return error_set(err, ERR_NO_TARGET, -ESRCH, "%d is a thread of process %d (%s): give -p %d", root,
				 p.leader, p.comm, p.leader);
	if (p.zombie)
		return error_set(err, ERR_NO_TARGET, -ESRCH, "process %d (%s) has ended and only waits for its "
				 "parent %d to notice; give one that runs", root, p.comm, p.parent);
	rc = list_add(ret, &p);
	if (!rc)
		rc = process_descendants(root, ret);
	if (rc)
		return error_set(err, ERR_OTHER, rc, "can't list the processes below %d: %s", root, strerror(-rc));
	return 0;
}

void process_list_free(struct process_list *l)
{
	free(l->p);
	memset(l, 0, sizeof(*l));
}

bool process_in_initial_namespace(void)
{
	struct stat st;

	return !stat("/proc/self/ns/pid", &st) && st.st_ino == PROC_PID_INIT_INO;
}
