// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A library that a target loads while it is watched. */
/* cflags: -shared -fPIC -fno-shrink-wrap -fcf-protection=none */

static volatile long sink;

__attribute__((noinline, noclone, noipa)) void plugin_inner(long n)
{
	sink += n;
}

__attribute__((noinline, noclone, noipa)) void plugin_work(long n)
{
	plugin_inner(n);
	sink += n;
}
