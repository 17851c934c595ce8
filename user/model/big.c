// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Large arrays on huge pages. */
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include "model/big.h"

#define SMALL_PAGE ((size_t)4096)

static size_t rounded(size_t bytes)
{
	return (bytes + SMALL_PAGE - 1) / SMALL_PAGE * SMALL_PAGE;
}

void *big_alloc(size_t bytes)
{
	size_t size = rounded(bytes), before;
	char *p;

	if (bytes < BIG_PAGE)
		return malloc(bytes ? bytes : 1);
	if (size < bytes || size + BIG_PAGE < size)
		return NULL;
	p = mmap(NULL, size + BIG_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED)
		return NULL;
	/* what sticks out of the alignment goes back */
	before = -(uintptr_t)p & (BIG_PAGE - 1);
	if (before)
		munmap(p, before);
	munmap(p + before + size, BIG_PAGE - before);
	/* a hint, which may fail; the rest behind the last whole huge page stays on small ones */
	(void)madvise(p + before, size / BIG_PAGE * BIG_PAGE, MADV_HUGEPAGE);
	return p + before;
}

void big_free(void *p, size_t bytes)
{
	if (bytes < BIG_PAGE)
		free(p);
	else if (p)
		munmap(p, rounded(bytes));
}
