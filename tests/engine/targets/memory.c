// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Memory of all kinds for a profiler that reads a target's: where pages end, are missing, large, a file's, secret, not
 * touched yet, no memory at all, or another's a moment later.
 */
/* cflags: -fno-shrink-wrap -D_GNU_SOURCE -fcf-protection=none */
#include <fcntl.h>
#include <linux/perf_event.h>
#include <linux/sched.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define probed __attribute__((noinline, noclone, noipa))
#define PAGE 4096
#define LARGE (2 << 20)

probed void text(const char *s)
{
	__asm__ volatile("" : : "r"(s) : "memory", "rbx");
}

probed void words(const void *p)
{
	__asm__ volatile("" : : "r"(p) : "memory", "rbx");
}

/* The same, by a name of its own for the test that another thread disturbs. */
probed void moving(const char *s)
{
	__asm__ volatile("" : : "r"(s) : "memory", "rbx");
}

static void say(const char *s)
{
	puts(s);
	fflush(stdout);
}

static char *pages(size_t bytes, int fd)
{
	char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED, fd, 0);

	if (p == MAP_FAILED) {
		perror("mmap");
		exit(1);
	}
	return p;
}

/* Around the end of a page. */
static void borders(void)
{
	char *p = pages(3 * PAGE, -1);

	strcpy(p + PAGE - 5, "last");		/* its NUL is the page's last byte */
	text(p + PAGE - 5);
	strcpy(p + PAGE - 4, "over");		/* its NUL is the next one's first */
	text(p + PAGE - 4);
	strcpy(p + PAGE - 3, "across the border");
	text(p + PAGE - 3);
	strcpy(p + 100, "sixteen letters.");	/* the NUL has a word of zeros to itself */
	text(p + 100);
	munmap(p + PAGE, PAGE);
	strcpy(p + PAGE - 8, "edge");
	text(p + PAGE - 8);
	memset(p + PAGE - 8, 'x', 8);		/* runs into the hole */
	text(p + PAGE - 8);
	text(p + 2 * PAGE);			/* never touched: empty */
}

/* The words at p + 0, 4, 2 and the byte at 7. */
static void numbers(void)
{
	char *p = pages(2 * PAGE, -1);

	memcpy(p, "\1\0\0\0\2\0\0\x80", 8);
	words(p);
	memset(p + 64, 0, 8);
	words(p + 64);
	memcpy(p + PAGE - 8, "\3\0\0\0\4\0\0\5", 8);
	words(p + PAGE - 8);
	memcpy(p + PAGE - 4, "\6\0\0\0\7\0\0\x08", 8);
	words(p + PAGE - 4);
}

/* Addresses that are no memory of this process, or of nobody. */
static void nowhere(char *kernel)
{
	char *none = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	text(NULL);
	text((char *)8);
	text(none);
	text((char *)(1ull << 47));
	text((char *)(1ull << 56));
	text((char *)(1ull << 63));
	text((char *)0xdead4ead4ead4000ull);
	text(kernel);
	text(kernel + (1ull << 30));
}

static void kinds(const char *file)
{
	int fd = open(file, O_RDWR), secret = syscall(447 /* memfd_secret */, 0);
	char *p = aligned_alloc(LARGE, 2 * LARGE);

	madvise(p, 2 * LARGE, MADV_HUGEPAGE);
	memset(p, 1, 2 * LARGE);
	strcpy(p + LARGE + 5000, "on a large page");
	text(p + LARGE + 5000);
	p = pages(PAGE, fd);
	text(p);
	strcpy(p, "a file's page, changed");
	text(p);
	mprotect(p, PAGE, PROT_READ);
	text(p);
	mprotect(p, PAGE, PROT_NONE);
	text(p);
	if (secret >= 0 && !ftruncate(secret, PAGE)) {
		p = pages(PAGE, secret);
		strcpy(p, "hidden from the kernel");
	} else {
		p = strdup("no secret memory here");
	}
	text(p);
	p = pages(PAGE, -1);
	strcpy(p, "before");
	text(p);
	if (!fork()) {
		strcpy(p, "the child's");
		text(p);
		_exit(0);
	}
	wait(NULL);
	text(p);
	munmap(p, PAGE);
	mmap(p, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	strcpy(p, "after");
	text(p);
}

/* A large page that comes apart below the text, and comes together again. */
static void large(void)
{
	char *p = aligned_alloc(LARGE, 2 * LARGE);

	madvise(p, 2 * LARGE, MADV_HUGEPAGE);
	memset(p, 1, 2 * LARGE);
	strcpy(p + 5 * PAGE + 8, "whole");
	text(p + 5 * PAGE + 8);
	mprotect(p + 7 * PAGE, PAGE, PROT_NONE);
	text(p + 5 * PAGE + 8);
	madvise(p + 6 * PAGE, PAGE, MADV_DONTNEED);
	strcpy(p + 5 * PAGE + 8, "in pieces");
	text(p + 5 * PAGE + 8);
	text(p + 6 * PAGE + 8);
	text(p + 7 * PAGE + 8);
	mprotect(p + 7 * PAGE, PAGE, PROT_READ | PROT_WRITE);
	madvise(p, LARGE, 25 /* MADV_COLLAPSE */);
	text(p + 5 * PAGE + 8);
	mremap(p, LARGE, LARGE, MREMAP_MAYMOVE | MREMAP_FIXED, p + LARGE);
	text(p + LARGE + 5 * PAGE + 8);
	text(p + 5 * PAGE + 8);
	munmap(p + LARGE, 5 * PAGE);
	text(p + LARGE + 4 * PAGE + 8);
	text(p + LARGE + 5 * PAGE + 8);
}

static void *leave(void *p)
{
	strcpy(p, "a thread's");
	text(p);
	return NULL;
}

/* What may come and go, memory that two processes share, and a thread's that ends. */
static void passing(void)
{
	char *p = pages(PAGE, -1);
	pthread_t t;

	strcpy(p, "to be freed");
	madvise(p, PAGE, MADV_FREE);
	strcpy(p, "kept");
	text(p);
	madvise(p, PAGE, 21 /* MADV_PAGEOUT */);
	text(p);
	madvise(p, PAGE, MADV_DONTNEED);
	text(p);
	if (!vfork()) {
		strcpy(p, "the child's, shared");
		text(p);
		_exit(0);
	}
	text(p);
	mprotect(p, PAGE, PROT_WRITE);
	text(p);
	if (!pthread_create(&t, NULL, leave, p))
		pthread_join(t, NULL);
	text(p);
}

/* What the kernel has put there: its code for programs, and a ring that it writes to. The bytes are its own matter. */
static void foreign(void)
{
	struct perf_event_attr a = { .type = PERF_TYPE_SOFTWARE, .size = sizeof(a), .config = PERF_COUNT_SW_DUMMY,
				     .exclude_kernel = 1 };
	int fd = syscall(SYS_perf_event_open, &a, 0, -1, -1, 0);
	char *vdso = (char *)getauxval(AT_SYSINFO_EHDR), *ring;

	text(vdso ? vdso + 1 : "ELF\2\1\1");
	/* the kernel's numbers before it, which change, and no text of them is wanted: does it live? */
	if (vdso)
		for (int i = 1; i <= 5; i++)
			moving(vdso - i * PAGE);
	ring = fd < 0 ? MAP_FAILED : mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (ring == MAP_FAILED)
		return;
	moving(ring);
	text(ring + PAGE);
}

/* The same place in what the process becomes by execve(), of which the thread keeps its number. */
static void become(char *self, int left)
{
	char *p = mmap((void *)(1ull << 40), PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	char number[16];

	snprintf(p, PAGE, "program with %d to come", left);
	text(p);
	text(p);
	if (left > 0) {
		snprintf(number, sizeof(number), "%d", left - 1);
		execl(self, self, "become", number, NULL);
	}
}

static char *inherited;

static void read_inherited(void)
{
	text(inherited);
	syscall(SYS_exit, 0);
}

/*
 * A child of that number whose stack is shared memory: it writes to nothing that it would need a copy of, and the kernel
 * has no translation of its own to flush.
 */
static long bare_child(pid_t number)
{
#if defined(__x86_64__)
	char *stack = mmap(NULL, 16 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct clone_args a = { .exit_signal = SIGCHLD, .stack = (uintptr_t)stack, .stack_size = 16 * PAGE,
				.set_tid = (uintptr_t)&number, .set_tid_size = 1 };
	long ret = SYS_clone3;

	__asm__ volatile("syscall; test %%rax, %%rax; jnz 1f; call *%3; 1:" : "+a"(ret)
			 : "D"(&a), "S"(sizeof(a)), "r"(read_inherited) : "rcx", "r11", "memory");
	return ret;
#else
	return -1;
#endif
}

/* Children of one number, one after the other: one that has a page of its own, and one that has touched nothing yet. */
static void children(void)
{
	pid_t first;

	inherited = pages(PAGE, -1);
	strcpy(inherited, "the parent's");
	text(inherited);
	first = fork();
	if (!first) {
		strcpy(inherited, "the first child's");
		text(inherited);
		_exit(0);
	}
	waitpid(first, NULL, 0);
	usleep(500000);		/* the profiler takes the number off its list once it has heard of the end */
	if (bare_child(first) == first)
		wait(NULL);
	else
		text(inherited);
}

static char *moving_page;
static volatile int stop;

/* Puts a page of the other letter in the place of the one that is read, and another process's worth of memory between. */
static void *move(void *arg)
{
	(void)arg;
	for (int i = 0; !stop; i++) {
		char *p = pages(PAGE, -1);

		memset(p, 'a' + i % 26, 40);
		mremap(p, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, moving_page);
		if (i % 8 == 0)
			madvise(moving_page, PAGE, MADV_DONTNEED);
		/* the kernel needs the lock on the memory's map for the probes, too */
		if (i % 8 == 4)
			usleep(1);
	}
	return NULL;
}

/* Lets the same piece of memory be another page's in the meantime: the kernel hands out first what was freed last. */
static void *lend(void *arg)
{
	char *other = pages(PAGE, -1);

	(void)arg;
	for (int i = 0; !stop; i++) {
		madvise(moving_page, PAGE, MADV_DONTNEED);
		memcpy(other, "of another page", 16);
		madvise(other, PAGE, MADV_DONTNEED);
		memset(moving_page, 'a' + i % 26, 40);
		if (i % 8 == 4)
			usleep(1);
	}
	return NULL;
}

static void disturbed(long n, void *(*how)(void *))
{
	pthread_t t;

	/* a table of pages of its own, which goes with the last of them */
	moving_page = (char *)(((uintptr_t)pages(4 * LARGE, -1) + 2 * LARGE) & ~(uintptr_t)(LARGE - 1));
	if (pthread_create(&t, NULL, how, NULL))
		return;
	for (long i = 0; i < n; i++)
		moving(moving_page);
	stop = 1;
	pthread_join(t, NULL);
}

int main(int argc, char **argv)
{
	char line[64];

	if (argc < 2)
		return 2;
	if (!strcmp(argv[1], "become") && argc > 2) {
		become(argv[0], atoi(argv[2]));
		say("done");
		return !fgets(line, sizeof(line), stdin);
	}
	say("ready");
	if (!fgets(line, sizeof(line), stdin))
		return 1;
	if (!strcmp(argv[1], "borders"))
		borders();
	else if (!strcmp(argv[1], "numbers"))
		numbers();
	else if (!strcmp(argv[1], "nowhere") && argc > 2)
		nowhere((char *)strtoull(argv[2], NULL, 16));
	else if (!strcmp(argv[1], "kinds") && argc > 2)
		kinds(argv[2]);
	else if (!strcmp(argv[1], "large"))
		large();
	else if (!strcmp(argv[1], "passing"))
		passing();
	else if (!strcmp(argv[1], "foreign"))
		foreign();
	else if (!strcmp(argv[1], "execve"))
		become(argv[0], 5);
	else if (!strcmp(argv[1], "children"))
		children();
	else if (!strcmp(argv[1], "disturbed") && argc > 2)
		disturbed(atol(argv[2]), move);
	else if (!strcmp(argv[1], "lent") && argc > 2)
		disturbed(atol(argv[2]), lend);
	say("done");
	return !fgets(line, sizeof(line), stdin);
}
