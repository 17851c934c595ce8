// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The function of our own that stands for a probed one. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>
#include "capture/twin.h"
#include "target/maps.h"

/* A frame pointer makes the first instruction a push, as in browsers: emulated by the kernel. */
__attribute__((noinline, noclone, optimize("no-omit-frame-pointer", "no-shrink-wrap")))
int twin_function(const char *text, int n)
{
	__asm__ volatile("" : "+r"(text), "+r"(n) : : "memory");
	return n + 1;
}

struct find_context {
	uint64_t address, offset;
};

static int find_mapping(void *arg, const struct map_entry *m)
{
	struct find_context *c = arg;

	if (!m->exec || c->address < m->start || c->address >= m->end)
		return 0;
	c->offset = c->address - m->start + m->offset;
	return 1;
}

int twin_open(int *ret_fd, uint64_t *ret_offset)
{
	struct find_context c = { .address = (uintptr_t)twin_function };
	int fd, rc = maps_each(getpid(), find_mapping, &c);

	if (rc <= 0)
		return rc ? rc : -ENOENT;
	fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	*ret_fd = fd;
	*ret_offset = c.offset;
	return 0;
}
