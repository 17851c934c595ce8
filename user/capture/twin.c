// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The functions of our own that stand for probed ones. */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>
#include "capture/twin.h"
#include "record.h"
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

int twin_open(const void *function, int *ret_fd, uint64_t *ret_offset)
{
	struct find_context c = { .address = (uintptr_t)function };
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

#if defined(__x86_64__)
#define TWIN_BYTES 32
#define TWIN_RETURN 0xc3	/* and no other byte of a twin is the same */

/* As compilers begin functions; every one in a place of its own, since all probes of one place are hit together. */
#define TWIN(name, first, last)								\
	extern const char name[] __attribute__((visibility("hidden")));		\
	__asm__(".pushsection .text\n.p2align 5\n.type " #name ", @function\n"	\
		".hidden " #name "\n" #name ":\n.rept 10\n.p2align 5\n"		\
		first "\nlea 1(%rsi), %eax\n" last "\nret\n.endr\n.p2align 5\n.popsection")

TWIN(twin_push, "push %rbp\nmov %rsp, %rbp", "pop %rbp");
TWIN(twin_sub, "sub $8, %rsp", "add $8, %rsp");
TWIN(twin_nop5, ".byte 0x0f, 0x1f, 0x44, 0, 0", "");

extern const char twin_calls[] __attribute__((visibility("hidden")));
__asm__(".pushsection .text\n.p2align 5\n.type twin_calls, @function\n.hidden twin_calls\ntwin_calls:\n"
	"push %rbp\nmov %rsp, %rbp\nmov %rdi, %rax\nmov %rsi, %rdi\ncall *%rax\npop %rbp\nret\n.popsection");

twin_caller_fn twin_caller(void)
{
	return (twin_caller_fn)(uintptr_t)twin_calls;
}

twin_fn twin_of(unsigned int kind, unsigned int n, unsigned int *ret_exit)
{
	const char *first = kind == COST_STEPPED ? twin_sub : kind == COST_NOP5 ? twin_nop5 : twin_push;
	const char *twin = first + n * TWIN_BYTES;

	if (n > TWINS)
		return NULL;
	*ret_exit = (const char *)memchr(twin, TWIN_RETURN, TWIN_BYTES) - twin;
	return (twin_fn)(uintptr_t)twin;
}
#else
twin_caller_fn twin_caller(void)
{
	return NULL;
}

twin_fn twin_of(unsigned int kind, unsigned int n, unsigned int *ret_exit)
{
	(void)kind;
	(void)n;
	(void)ret_exit;
	return NULL;
}
#endif
