// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Small target: work of a known length. Every round does the same twice, in functions that are probed and in their
 * likes that aren't, and times the latter: that is the truth. usage: overhead CASE ROUNDS [NS]. Says "NAME NS…" with
 * the truth of each round. Protocol: tests/lib/framescope.py.
 */
/* cflags: -fno-shrink-wrap -fno-reorder-blocks-and-partition -D_GNU_SOURCE -fcf-protection=none -fno-ipa-icf -falign-functions=64 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define alone __attribute__((noinline, noclone, noipa))
#define ENTER() __asm__ volatile("" : : : "memory", "rbx")
#define MAX_ROUNDS 200000
#define CHILDREN 100

static double per_ns;	/* turns of the loop */
static unsigned long long truths[MAX_ROUNDS];

static unsigned long long now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

/* A chain of additions: as fast as the processor's clock, whatever stands in its caches. */
static inline void work(long turns)
{
	for (long i = 0; i < turns; i++)
		__asm__ volatile("" : "+r"(i));
}

static int by_value(const void *a, const void *b)
{
	unsigned long long x = *(unsigned long long *)a, y = *(unsigned long long *)b;

	return x < y ? -1 : x > y;
}

static void say(const char *name, const unsigned long long *ns, unsigned long nr)
{
	printf("%s", name);
	for (unsigned long i = 0; i < nr; i++)
		printf(" %llu", ns[i]);
	putchar('\n');
}

static void measure_speed(void)
{
	for (int i = 0; i < 501; i++) {
		unsigned long long t = now();

		work(20000);
		truths[i] = now() - t;
	}
	qsort(truths, 501, sizeof(*truths), by_value);
	per_ns = 20000.0 / truths[250];
}

#define SPIN(name) alone void name(long turns) { ENTER(); work(turns); }
SPIN(spin)
SPIN(spin_plain)

#define CHILD(name) alone void name(long turns, const char *text) { ENTER(); (void)text; work(turns); }
CHILD(child)
CHILD(child_plain)

/* Work comes in portions, and the machine changes its mind over seconds. */
static void pause_a_while(unsigned long round)
{
	if (round % 64 == 63)
		nanosleep(&(struct timespec){ .tv_nsec = 4000000 }, NULL);
}

#define PARENT(name, child)								\
	alone void name(long own, long childs)						\
	{										\
		ENTER();								\
		for (int i = 0; i < CHILDREN; i++) {					\
			work(own / CHILDREN);						\
			child(childs, "div.menu > a.current");				\
		}									\
	}
PARENT(parent, child)
PARENT(parent_plain, child_plain)

#define NAP(name)									\
	alone void name(long turns)							\
	{										\
		ENTER();								\
		work(turns / 2);							\
		nanosleep(&(struct timespec){ .tv_nsec = 5000000 }, NULL);		\
		work(turns - turns / 2);						\
	}
NAP(nap)
NAP(nap_plain)

static void spins(unsigned long rounds, long ns)
{
	for (unsigned long i = 0; i < rounds; i++) {
		unsigned long long t = now();

		spin_plain(ns * per_ns);
		truths[i] = now() - t;
		spin(ns * per_ns);
	}
	say("time", truths, rounds);
}

static void parents(unsigned long rounds, long ns)
{
	static unsigned long long alone_ns[MAX_ROUNDS];
	long own = 20000 * per_ns, childs = ns * per_ns;

	for (unsigned long i = 0; i < rounds; i++) {
		unsigned long long t = now();

		parent_plain(own, childs);
		truths[i] = now() - t;
		parent(own, childs);
		t = now();
		parent_plain(own, 0);
		alone_ns[i] = now() - t;
		pause_a_while(i);
	}
	say("whole", truths, rounds);
	say("self", alone_ns, rounds);
}

static void naps(unsigned long rounds, long ns)
{
	for (unsigned long i = 0; i < rounds; i++) {
		struct timespec cpu[2];

		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu[0]);
		nap_plain(ns * per_ns);
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu[1]);
		truths[i] = (cpu[1].tv_sec - cpu[0].tv_sec) * 1000000000ll + cpu[1].tv_nsec - cpu[0].tv_nsec;
		nap(ns * per_ns);
	}
	say("time", truths, rounds);
}

int main(int argc, char **argv)
{
	unsigned long rounds = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
	long ns = argc > 3 ? atol(argv[3]) : 0;
	char line[64];

	if (!rounds || rounds > MAX_ROUNDS)
		return 2;
	puts("ready");
	fflush(stdout);
	if (!fgets(line, sizeof(line), stdin))
		return 1;
	measure_speed();
	if (!strcmp(argv[1], "spin"))
		spins(rounds, ns);
	else if (!strcmp(argv[1], "parent"))
		parents(rounds, ns);
	else if (!strcmp(argv[1], "nap"))
		naps(rounds, ns);
	puts("done");
	fflush(stdout);
	return fgets(line, sizeof(line), stdin) ? 0 : 0;
}
