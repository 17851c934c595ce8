// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Small target for measuring: calls one function in batches and says what a batch took. */
/* cflags: -fno-shrink-wrap -D_GNU_SOURCE -fcf-protection=none */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define probed __attribute__((noinline, noclone, noipa))

/* A push as its first instruction, as most functions of a browser. */
probed long bench_work(const char *name, long n)
{
	/* rbx must be saved */
	__asm__ volatile("" : "+r"(n) : "r"(name) : "memory", "rbx");
	return n + 1;
}

static unsigned long now(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * 1000000000ul + ts.tv_nsec;
}

/*
 * Reads lines "CALLS BATCHES PAUSE_US"; answers each with the nanoseconds of CPU time that each batch took. CPU time,
 * since on a busy machine wall time is mostly that of others. The pause is between batches.
 */
int main(void)
{
	long calls, batches, pause_us, sum = 0;
	struct timespec ts = { 0 };

	printf("ready %p\n", (void *)bench_work);
	fflush(stdout);
	while (scanf("%ld %ld %ld", &calls, &batches, &pause_us) == 3) {
		for (long b = 0; b < batches; b++) {
			unsigned long begin = now(CLOCK_THREAD_CPUTIME_ID);

			for (long i = 0; i < calls; i++)
				sum += bench_work("a string of 20 chars", i);
			printf("%lu ", now(CLOCK_THREAD_CPUTIME_ID) - begin);
			ts.tv_nsec = pause_us * 1000;
			if (pause_us)
				nanosleep(&ts, NULL);
		}
		puts("");
		fflush(stdout);
	}
	return sum == 42;
}
