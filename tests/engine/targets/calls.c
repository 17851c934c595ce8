// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Small target: ways to call and to leave a function. usage: calls CASE [N]. Protocol: tests/lib/framescope.py. */
/* cflags: -fno-shrink-wrap -fno-reorder-blocks-and-partition -D_GNU_SOURCE -fcf-protection=none */
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define probed __attribute__((noinline, noclone, noipa))
/* A push as the first instruction, as most functions of a browser have: five times cheaper to probe than others. */
#define ENTER() __asm__ volatile("" : : : "memory", "rbx")

static volatile long sink;
static jmp_buf out;

probed void leaf(long n)
{
	ENTER();
	sink += n;
}

probed void text(const char *s)
{
	ENTER();
	sink += (long)s;
}

probed void touch(const char *s)
{
	ENTER();
	sink += *s;
}

probed long recurse(long n)
{
	long r = n > 1 ? recurse(n - 1) : 0;

	sink += n;
	return r + 1;
}

probed void jump_out(void)
{
	sink++;
	longjmp(out, 1);
}

probed void jump_through(void)
{
	jump_out();
	sink++;
}

probed void outer(void)
{
	leaf(1);
	leaf(2);
	sink++;
}

probed void nap(long ms)
{
	struct timespec ts = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&ts, NULL);
	sink++;
}

probed void spin(long us)
{
	struct timespec a, b;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &a);
	do
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &b);
	while ((b.tv_sec - a.tv_sec) * 1000000000L + b.tv_nsec - a.tv_nsec < us * 1000);
}

probed void parent_of_naps(long ms)
{
	nap(ms);
	spin(1000);
}

/* Touches n fresh pages, each one fault. */
probed void touch_pages(long n)
{
	char *p = mmap(NULL, n * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	madvise(p, n * 4096, MADV_NOHUGEPAGE);
	for (long i = 0; i < n; i++)
		p[i * 4096] = 1;
	munmap(p, n * 4096);
}

probed void fault_and_switch(long pages, long switches)
{
	struct timespec ts = { 0, 1000000 };

	touch_pages(pages);
	for (long i = 0; i < switches; i++)
		nanosleep(&ts, NULL);
	sink++;
}

/* A hot leaf: keys are pointers to a few texts. */
probed void match(const char *selector)
{
	ENTER();
	sink += *selector;
}

probed void style(long n, long keys)
{
	static const char *const selectors[] = { "div.a", "span", "#id > p", "a:hover", "ul li", "table td", "h1", "*" };

	for (long i = 0; i < n; i++)
		match(selectors[i % keys]);
	sink++;
}

probed void slow_and_fast(void)
{
	for (int i = 0; i < 5; i++)
		leaf(i);
	nap(3);
	leaf(5);
	outer();
	sink++;
}

/* Ends in a jump to tail_target(), whose return is its own. */
probed void tail_target(long n)
{
	sink += n;
}

probed void tail_source(long n)
{
	sink += n;
	tail_target(n + 1);
}

probed void tail_caller(long n)
{
	tail_source(n);
	sink++;
}

static void say(const char *s)
{
	puts(s);
	fflush(stdout);
}

static void wait_line(void)
{
	char c;

	do {
		if (read(0, &c, 1) <= 0)
			exit(0);
	} while (c != '\n');
}

static pthread_barrier_t barrier;

static void *thread_leaves(void *n)
{
	pthread_barrier_wait(&barrier);
	for (long i = 0; i < (long)n; i++)
		leaf(i);
	return NULL;
}

/* `before` threads that exist when the target says "ready", and `after` that don't. */
static void threads(long before, long after, long n)
{
	pthread_t *t = calloc(before + after, sizeof(*t));

	pthread_barrier_init(&barrier, NULL, before + after + 1);
	for (long i = 0; i < before; i++)
		pthread_create(&t[i], NULL, thread_leaves, (void *)n);
	say("ready");
	wait_line();
	for (long i = before; i < before + after; i++)
		pthread_create(&t[i], NULL, thread_leaves, (void *)n);
	pthread_barrier_wait(&barrier);
	for (long i = 0; i < before + after; i++)
		pthread_join(t[i], NULL);
}

static void forks(void)
{
	pid_t child = fork();

	if (!child) {
		pid_t grandchild;

		for (int i = 0; i < 10; i++)
			leaf(i);
		grandchild = fork();
		if (!grandchild) {
			for (int i = 0; i < 7; i++)
				leaf(i);
			_exit(0);
		}
		waitpid(grandchild, NULL, 0);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	for (int i = 0; i < 5; i++)
		leaf(i);
}

/* A child that becomes this program again and calls leaf() n times. */
static void execs(const char *self, const char *n)
{
	pid_t child = fork();

	if (!child) {
		leaf(1);
		execl(self, self, "leaves", n, NULL);
		_exit(127);
	}
	waitpid(child, NULL, 0);
}

static void leaves(long n)
{
	for (long i = 0; i < n; i++)
		leaf(i);
}

/* Loads a library, says so, and calls it when told to. */
static void load(const char *path, long n)
{
	void *lib = dlopen(path, RTLD_NOW);
	void (*work)(long) = lib ? (void (*)(long))dlsym(lib, "plugin_work") : NULL;

	say(work ? "loaded" : dlerror());
	wait_line();
	for (long i = 0; work && i < n; i++)
		work(i);
}

static void jumps(long n)
{
	for (long i = 0; i < n; i++)
		if (!setjmp(out))
			jump_through();
	for (int i = 0; i < 100; i++)
		outer();
}

static void bad_strings(void)
{
	char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	text(NULL);
	text((const char *)8);
	text("good");
	munmap(page + 4096, 4096);
	memset(page, 'x', 4096);
	/* runs into the hole without an end */
	text(page + 4090);
	strcpy(page + 4090, "edge");
	text(page + 4090);
	text("");
}

static void long_texts(long n)
{
	char *s = malloc(5000);

	for (long i = 0; i < n; i++) {
		memset(s, 'a' + i % 26, 4999);
		s[4000 + i % 900] = '\0';
		text(s);
	}
}

/* Strings on pages of a file that nobody touched yet, n of them, two pages apart. */
static void cold_strings(const char *path, long n)
{
	FILE *f = fopen(path, "r");
	char *map = mmap(NULL, n * 8192, PROT_READ, MAP_PRIVATE, fileno(f), 0);

	madvise(map, n * 8192, MADV_RANDOM);
	for (long i = 0; i < n; i++)
		touch(map + i * 8192);
}

static ucontext_t main_context, co_context[2];

probed void co_inner(long i)
{
	sink += i;
	swapcontext(&co_context[i], &main_context);
	sink -= i;
}

static void co_entry(int i)
{
	co_inner(i);
}

probed void co_outer(void)
{
	swapcontext(&main_context, &co_context[0]);
	leaf(1);
	swapcontext(&main_context, &co_context[1]);
	leaf(2);
	swapcontext(&main_context, &co_context[0]);
	leaf(3);
	swapcontext(&main_context, &co_context[1]);
	sink++;
}

static void coroutines(void)
{
	for (int i = 0; i < 2; i++) {
		getcontext(&co_context[i]);
		co_context[i].uc_stack.ss_size = 1 << 16;
		/* far from the thread's stack and from each other, as mappings of their own are */
		co_context[i].uc_stack.ss_sp = mmap((void *)(0x100000000000 + i * 0x40000000L), 1 << 16, PROT_READ | PROT_WRITE,
						    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		co_context[i].uc_link = &main_context;
		makecontext(&co_context[i], (void (*)(void))co_entry, 1, i);
	}
	co_outer();
	leaf(4);
}

static void on_signal(int sig)
{
	leaf(sig);
}

probed void raiser(void)
{
	raise(SIGUSR1);
	leaf(1);
	sink++;
}

static void signal_stack(void)
{
	stack_t ss = { .ss_sp = mmap((void *)0x100000000000, 1 << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
		       .ss_size = 1 << 16 };
	struct sigaction sa = { .sa_handler = on_signal, .sa_flags = SA_ONSTACK };

	sigaltstack(&ss, NULL);
	sigaction(SIGUSR1, &sa, NULL);
	raiser();
}

/* Leaves the outermost call open when the thread ends, and one when the process is killed. */
probed void never_returns(void)
{
	pthread_exit(NULL);
}

static void *ends_inside(void *arg)
{
	never_returns();
	return arg;
}

probed void forever(void)
{
	for (;;) {
		leaf(1);
		usleep(1000);
	}
}

static void run(int argc, char **argv)
{
	const char *which = argv[1];
	long n = argc > 2 ? atol(argv[2]) : 1;
	pthread_t t;

	if (!strcmp(which, "forks"))
		forks();
	else if (!strcmp(which, "execs"))
		execs(argv[0], argv[2]);
	else if (!strcmp(which, "become"))
		execl(argv[2], argv[2], NULL);
	else if (!strcmp(which, "load"))
		load(argv[2], atol(argv[3]));
	else if (!strcmp(which, "outer"))
		for (long i = 0; i < n; i++)
			outer();
	else if (!strcmp(which, "recurse"))
		recurse(n);
	else if (!strcmp(which, "jumps"))
		jumps(n);
	else if (!strcmp(which, "tail"))
		tail_caller(1);
	else if (!strcmp(which, "loop"))
		leaves(n);
	else if (!strcmp(which, "faults"))
		for (int i = 0; i < 5; i++)
			fault_and_switch(n, 7);
	else if (!strcmp(which, "spins"))
		for (int i = 0; i < 10; i++)
			spin(n);
	else if (!strcmp(which, "hot"))
		for (long i = 0; i < n; i++) {
			outer();
			if (i % 100 == 0)
				usleep(1000);
		}
	else if (!strcmp(which, "style"))
		for (int i = 0; i < 3; i++)
			style(n, atol(argv[3]));
	else if (!strcmp(which, "slow-and-fast"))
		for (long i = 0; i < n; i++)
			slow_and_fast();
	else if (!strcmp(which, "long-texts"))
		long_texts(n);
	else if (!strcmp(which, "texts"))
		for (long i = 0; i < n; i++)
			text("a string of 20 chars");
	else if (!strcmp(which, "bad-strings"))
		bad_strings();
	else if (!strcmp(which, "cold-strings"))
		cold_strings(argv[2], atol(argv[3]));
	else if (!strcmp(which, "coroutines"))
		coroutines();
	else if (!strcmp(which, "signal-stack"))
		signal_stack();
	else if (!strcmp(which, "naps"))
		parent_of_naps(n);
	else if (!strcmp(which, "forever"))
		forever();
	else if (!strcmp(which, "thread-ends") && !pthread_create(&t, NULL, ends_inside, NULL))
		pthread_join(t, NULL);
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	if (!strcmp(argv[1], "leaves")) {
		leaves(atol(argv[2]));
		return 0;
	}
	if (!strcmp(argv[1], "threads")) {
		threads(atol(argv[2]), atol(argv[3]), atol(argv[4]));
	} else {
		say("ready");
		wait_line();
		run(argc, argv);
	}
	say("done");
	wait_line();
	return 0;
}
