// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Small target: C++ exceptions through probed frames. Protocol: tests/lib/framescope.py. */
/* cflags: -fno-shrink-wrap -fno-reorder-blocks-and-partition -fcf-protection=none */
#include <cstdio>
#include <stdexcept>
#include <unistd.h>

#define probed extern "C" __attribute__((noinline, noclone, noipa))

static volatile long sink;

probed void after(long n)
{
	sink = sink + n;
}

probed void thrower(long n)
{
	sink = sink + n;
	if (n > 0)
		throw std::runtime_error("thrown");
	sink = sink + 1;
}

probed void middle(long n)
{
	thrower(n);
	sink = sink + 1;
}

probed void catcher(long n)
{
	try {
		middle(n);
	} catch (const std::exception &) {
		after(n);
	}
	after(0);
	sink = sink + 1;
}

static void wait_line()
{
	char c;

	do {
		if (read(0, &c, 1) <= 0)
			_exit(0);
	} while (c != '\n');
}

int main()
{
	puts("ready");
	fflush(stdout);
	wait_line();
	for (int i = 0; i < 3; i++)
		catcher(i % 2);
	puts("done");
	fflush(stdout);
	wait_line();
	return 0;
}
