// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* /proc/PID/maps. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include "target/maps.h"

#define MAPS_MAX_BYTES (64u << 20)	/* 65530 mappings with the longest paths there are stay below */

/* A number of base 16 or 10 up to `stop`; moves *s behind the stop. */
static bool take_number(char **s, int base, char stop, uint64_t *ret)
{
	char *end;

	if ((**s < '0' || **s > '9') && (base != 16 || **s < 'a' || **s > 'f'))
		return false;
	errno = 0;
	*ret = strtoull(*s, &end, base);
	if (errno || *end != stop)
		return false;
	*s = end + (stop != '\0');
	return true;
}

/* The kernel writes a newline in a path as \012, and nothing else so. */
static void unescape_newlines(char *path)
{
	char *d = path;

	for (char *s = path; *s; d++) {
		if (!strncmp(s, "\\012", 4)) {
			*d = '\n';
			s += 4;
		} else {
			*d = *s++;
		}
	}
	*d = '\0';
}

static void strip_deleted(struct map_entry *m, char *path)
{
	static const char mark[] = " (deleted)";
	size_t n = strlen(path);

	if (m->inode && n > sizeof(mark) - 1 && !strcmp(path + n - (sizeof(mark) - 1), mark)) {
		path[n - (sizeof(mark) - 1)] = '\0';
		m->deleted = true;
	}
}

/* "start-end rwxp offset major:minor inode   path" */
static bool parse_line(char *s, struct map_entry *m)
{
	uint64_t major, minor;
	char *path;

	memset(m, 0, sizeof(*m));
	if (!take_number(&s, 16, '-', &m->start) || !take_number(&s, 16, ' ', &m->end))
		return false;
	if (strlen(s) < 5 || s[4] != ' ')
		return false;
	m->read = s[0] == 'r';
	m->write = s[1] == 'w';
	m->exec = s[2] == 'x';
	m->shared = s[3] == 's';
	s += 5;
	if (!take_number(&s, 16, ' ', &m->offset) || !take_number(&s, 16, ':', &major) ||
	    !take_number(&s, 16, ' ', &minor))
		return false;
	/* without a path the inode may end the line */
	path = strchr(s, ' ');
	if (path)
		*path++ = '\0';
	else
		path = s + strlen(s);
	if (!take_number(&s, 10, '\0', &m->inode))
		return false;
	m->dev = m->inode ? makedev(major, minor) : 0;
	path += strspn(path, " ");
	unescape_newlines(path);
	strip_deleted(m, path);
	m->path = path;
	return true;
}

int maps_parse(char *text, map_fn fn, void *arg)
{
	struct map_entry m;

	while (*text) {
		char *end = strchr(text, '\n');
		int rc;

		if (end)
			*end = '\0';
		if (parse_line(text, &m)) {
			rc = fn(arg, &m);
			if (rc)
				return rc;
		}
		if (!end)
			break;
		text = end + 1;
	}
	return 0;
}

static int read_whole(int fd, char **ret)
{
	size_t cap = 1 << 16, n = 0;
	char *buf = malloc(cap);

	for (;;) {
		ssize_t got;

		if (!buf)
			return -ENOMEM;
		got = read(fd, buf + n, cap - n - 1);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			free(buf);
			return -errno;
		}
		n += got;
		if (!got || n > MAPS_MAX_BYTES)
			break;
		if (n + 1 == cap) {
			char *bigger = realloc(buf, cap * 2);

			if (!bigger)
				free(buf);
			buf = bigger;
			cap *= 2;
		}
	}
	buf[n] = '\0';
	*ret = buf;
	return 0;
}

int maps_each(pid_t pid, map_fn fn, void *arg)
{
	char path[48], *text = NULL;
	int fd, rc;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	rc = read_whole(fd, &text);
	close(fd);
	if (rc)
		return rc;
	rc = maps_parse(text, fn, arg);
	free(text);
	return rc;
}
