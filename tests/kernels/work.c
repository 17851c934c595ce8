// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A small target with a known tree of calls: says "ready", waits for a line, works once, ends. Its events: work.engine. */
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define probed __attribute__((noinline, noclone, noipa, visibility("default")))

static jmp_buf escape;
volatile long sink;

probed void work_leaf(long n)
{
	sink += n;
}

probed void work_reflow(const char *name, long leaves)
{
	for (long i = 0; i < leaves; i++)
		work_leaf(i);
	sink += *name;
}

probed void work_descend(long depth)
{
	if (depth > 1)
		work_descend(depth - 1);
	sink += depth;
}

probed void work_escape(long depth)
{
	if (!depth)
		longjmp(escape, 1);
	if (depth > 0)
		work_escape(depth - 1);
	sink += depth;
}

/* Leaves by work_escape() three frames further down, then goes on itself. */
probed void work_catch(void)
{
	if (!setjmp(escape))
		work_escape(2);
	work_leaf(100);
}

/* The page of its argument has not been touched yet: reading it faults. */
probed void work_cold(const char *url)
{
	sink += *url;
}

probed void work_sleep(void)
{
	usleep(100000);
}

/* Ends at one of two places: probes there instead of a return probe. */
probed long work_branch(long n)
{
	if (n > 1) {
		work_leaf(n);
		return sink += n;
	}
	sink -= n;
	return n;
}

probed void work_mark(const char *title)
{
	sink += *title;
}

static void *thread(void *arg)
{
	work_reflow(arg, 2);
	return NULL;
}

int main(int argc, char **argv)
{
	char line[8];
	pthread_t t;
	pid_t child;
	const char *cold;
	int fd = open(argc > 1 ? argv[1] : "/cold", O_RDONLY | O_CLOEXEC);

	cold = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
	if (fd < 0 || cold == MAP_FAILED) {
		perror("cold");
		return 1;
	}
	puts("ready");
	fflush(stdout);
	if (!fgets(line, sizeof(line), stdin))
		return 0;
	work_reflow("first", 3);
	work_descend(5);
	work_catch();
	work_cold(cold);
	work_sleep();
	work_mark("here");
	work_branch(1);
	work_branch(2);
	if (pthread_create(&t, NULL, thread, "thread") || pthread_join(t, NULL))
		return 1;
	child = fork();
	if (!child) {
		work_reflow("child", 1);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	work_reflow("last", 0);
	return 0;
}
