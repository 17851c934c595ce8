// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Small target: an engine that does what it is told, with the functions that native.engine looks for. Reads lines:
 * "work N", "navigate URL", "busy MS"; answers each with "done", busy with the microseconds of CPU time before that.
 */
/* cflags: -fno-shrink-wrap -D_GNU_SOURCE -fcf-protection=none */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#define probed __attribute__((noinline, noclone, noipa))
/* A push as the first instruction, as most functions of a browser have. */
#define ENTER() __asm__ volatile("" : : : "memory", "rbx")

#define FRAME 0x1000
#define CHILD 0x2000

static volatile long sink;
static const char *url = "http://page/";

probed void framescope_css_selector_matching(uint64_t frame, const char *selector)
{
	ENTER();
	sink += frame + *selector;
}

probed void framescope_style_recalculation(uint64_t frame, const char *of)
{
	ENTER();
	framescope_css_selector_matching(frame, "#foo");
	framescope_css_selector_matching(frame, ".bar");
	framescope_css_selector_matching(frame, "#foo");
	sink += *of;
}

probed void framescope_layout(uint64_t frame, const char *of)
{
	ENTER();
	sink += frame + *of;
}

probed void framescope_reflow(uint64_t frame, const char *of)
{
	ENTER();
	framescope_style_recalculation(frame, of);
	framescope_layout(frame, of);
	sink++;
}

probed void framescope_paint(uint64_t frame, long x, long y, long w, long h)
{
	ENTER();
	sink += frame + x + y + w + h;
}

probed void framescope_document_parsing(uint64_t frame, const char *of)
{
	ENTER();
	sink += frame + *of;
}

probed void framescope_navigation(uint64_t frame, const char *to)
{
	ENTER();
	sink += frame + *to;
}

static uint64_t cpu_us(void)
{
	struct rusage r;

	getrusage(RUSAGE_SELF, &r);
	return (r.ru_utime.tv_sec + r.ru_stime.tv_sec) * 1000000ull + r.ru_utime.tv_usec + r.ru_stime.tv_usec;
}

static void busy(long ms)
{
	uint64_t begin = cpu_us(), now;

	do {
		for (int i = 0; i < 20; i++)
			framescope_reflow(FRAME, url);
		now = cpu_us();
	} while (now - begin < (uint64_t)ms * 1000);
	printf("%llu\n", (unsigned long long)(now - begin));
}

static void work(long n)
{
	for (long i = 0; i < n; i++) {
		framescope_reflow(FRAME, url);
		framescope_paint(FRAME, -1, 2, 300, 400);
		if (i % 2)
			framescope_layout(CHILD, "http://child/");
	}
}

int main(void)
{
	char line[256];

	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		if (!strncmp(line, "work ", 5)) {
			work(atol(line + 5));
		} else if (!strncmp(line, "busy ", 5)) {
			busy(atol(line + 5));
		} else if (!strncmp(line, "navigate ", 9)) {
			url = strdup(line + 9);
			framescope_navigation(FRAME, url);
			framescope_document_parsing(FRAME, url);
		}
		puts("done");
		fflush(stdout);
	}
	return 0;
}
