// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Starts Xvfb where no one else's X server or client comes near it. */
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "calibrate/display.h"

#define SERVER "/usr/bin/Xvfb"
#define START_MS 20000

bool display_available(void)
{
	return !access(SERVER, X_OK);
}

/* Never returns. Only an abstract socket: one in a file would stay behind if we are killed. */
static void run_server(const struct private_copy *copy, int out)
{
	char fd[16], home[PATH_MAX + 8];
	char *args[] = { SERVER, "-displayfd", fd, "-screen", "0", "1024x768x24", "-nolisten", "tcp", "-nolisten", "unix",
			 "-listen", "local", NULL };
	char *env[] = { "PATH=/usr/bin:/bin", "LANG=C.UTF-8", home, NULL };
	int null = open("/dev/null", O_RDWR);

	snprintf(home, sizeof(home), "HOME=%s", copy->home);
	snprintf(fd, sizeof(fd), "%d", 3);
	out = fcntl(out, F_DUPFD, 10);
	for (int i = 0; i < (getenv("FRAMESCOPE_DEBUG") ? 1 : 3); i++)
		dup2(null, i);
	dup2(out, 3);
	syscall(SYS_close_range, 4, ~0u, 0);
	if (!geteuid() && (setgroups(0, NULL) || setgid(copy->gid) || setuid(copy->uid)))
		_exit(126);
	/* changing the user clears it; a signal that it may catch, so that it removes its lock */
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	execve(SERVER, args, env);
	_exit(127);
}

bool display_start(const struct private_copy *copy, char *ret, size_t size)
{
	char number[16] = "";
	size_t nr = 0;
	int fds[2];
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC))
		return false;
	pid = fork();
	if (!pid)
		run_server(copy, fds[1]);
	close(fds[1]);
	while (pid > 0 && nr < sizeof(number) - 1 && !strchr(number, '\n')) {
		struct pollfd p = { .fd = fds[0], .events = POLLIN };
		ssize_t n = poll(&p, 1, START_MS) == 1 ? read(fds[0], number + nr, sizeof(number) - 1 - nr) : 0;

		if (n <= 0)
			break;
		nr += n;
	}
	close(fds[0]);
	number[strcspn(number, "\n")] = '\0';
	return number[0] && (size_t)snprintf(ret, size, ":%s", number) < size;
}

/* Makes the folder's parents in the new /tmp, and it. */
static void make_path(const char *path)
{
	char part[PATH_MAX];

	for (const char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		snprintf(part, sizeof(part), "%.*s", (int)(slash - path), path);
		mkdir(part, 0711);
	}
	mkdir(path, 0711);
}

bool display_private_tmp(const struct private_copy *copy)
{
	char real[PATH_MAX], self[32];
	int fd;

	if (!realpath(copy->folder, real))
		return false;
	fd = open(real, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || mount("tmpfs", "/tmp", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777,size=64m"))
		return false;
	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	if (strncmp(real, "/tmp/", 5))
		return true;
	make_path(real);
	return !mount(self, real, NULL, MS_BIND, NULL);
}
