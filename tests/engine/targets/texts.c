// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Functions that refer to texts in the ways that compilers leave behind: at once, in a cold part, through a helper.
 * cflags: -O2 -fno-inline -fPIE
 * ldflags: -pie
 */
#include <stdio.h>
#include <stdlib.h>

volatile int enabled;
const char *volatile reported;

__attribute__((noinline, noclone)) void text_at_once(void)
{
	if (enabled > 2)
		reported = "text::at_once";
}

/* gcc moves what leads to a cold function into a part of its own */
__attribute__((noinline, cold)) void complain(const char *text)
{
	fprintf(stderr, "%s\n", text);
}

__attribute__((noinline, noclone)) int text_in_cold_part(int n)
{
	for (int i = 0; i < n; i++)
		enabled += i;
	if (__builtin_expect(enabled == 12345, 0)) {
		complain("text::in_cold_part");
		enabled = 0;
	}
	return enabled * n;
}

__attribute__((noinline, noclone)) void report_for_traced(int category)
{
	reported = "text::traced";
	enabled += category;
}

__attribute__((noinline, noclone)) int text_traced(int n)
{
	if (enabled)
		report_for_traced(n);
	return n * 3 + enabled;
}

__attribute__((noinline, noclone)) int calls_traced(int n)
{
	return text_traced(n) + text_traced(n + 1);
}

__attribute__((noinline, noclone)) int text_on_failure(int n)
{
	if (n > 1000) {
		complain("text::on_failure");
		abort();
	}
	return n + enabled;
}

int main(int argc, char **argv)
{
	(void)argv;
	text_at_once();
	return (text_in_cold_part(argc) + calls_traced(argc) + text_on_failure(argc)) & 1;
}
