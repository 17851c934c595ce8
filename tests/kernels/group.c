// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Several targets below one process, to be recorded together: group PROGRAM [ARG]… [-- PROGRAM [ARG]…]… */
/*
 * Says "ready" when all of them have, waits for a line, lets them work one after the other, each until it has said "done"
 * and ended. Their pids grow in the order of the arguments. Protocol of the targets: tests/lib/framescope.py.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_TARGETS 32

static struct target {
	pid_t pid;
	int to;
	FILE *from;
} targets[MAX_TARGETS];

static void fail(const char *what)
{
	printf("group: %s\n", what);
	exit(1);
}

static void start(struct target *t, char **argv)
{
	int in[2], out[2];

	if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC))
		fail("pipe");
	t->pid = fork();
	if (!t->pid) {
		dup2(in[0], 0);
		dup2(out[1], 1);
		execv(argv[0], argv);
		_exit(127);
	}
	close(in[0]);
	close(out[1]);
	t->to = in[1];
	t->from = fdopen(out[0], "r");
}

static void wait_for(struct target *t, const char *word)
{
	char line[256];
	int status = 0;

	do {
		if (!fgets(line, sizeof(line), t->from)) {
			waitpid(t->pid, &status, 0);
			printf("group: target %d ended early with status %#x\n", (int)(t - targets) + 1, status);
			exit(1);
		}
	} while (strncmp(line, word, strlen(word)));
}

int main(int argc, char **argv)
{
	char line[8];
	int nr = 0, status;

	for (int i = 1, first = 1; i <= argc; i++) {
		if (i < argc && strcmp(argv[i], "--"))
			continue;
		if (nr == MAX_TARGETS)
			fail("too many targets");
		argv[i] = NULL;
		start(&targets[nr], argv + first);
		wait_for(&targets[nr++], "ready");
		first = i + 1;
	}
	puts("ready");
	fflush(stdout);
	if (!fgets(line, sizeof(line), stdin))
		return 0;
	for (int i = 0; i < nr; i++) {
		if (write(targets[i].to, "go\n", 3) != 3)
			fail("a target is gone");
		wait_for(&targets[i], "done");
		close(targets[i].to);
		if (waitpid(targets[i].pid, &status, 0) != targets[i].pid || status) {
			printf("group: target %d ended with status %#x\n", i + 1, status);
			return 1;
		}
	}
	return 0;
}
