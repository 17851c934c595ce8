// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Answers SIGBUS in mappings of files that were cut. What runs in the handler is atomics and system calls. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>
#include "base/mapped.h"

#define MAX_RANGES 256	/* what is guarded beyond that is answered page by page */

static struct range {
	atomic_bool taken;
	atomic_uintptr_t start, end;	/* start is written last and erased first */
} ranges[MAX_RANGES];

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;	/* of the next three */
static unsigned guards;
static struct sigaction before;
static uintptr_t page_bytes;
static atomic_uint faults;

/* Where the zeros end that a fault in this page gets. */
static uintptr_t end_of(uintptr_t page)
{
	for (size_t i = 0; i < MAX_RANGES; i++) {
		uintptr_t start = ranges[i].start, end = ranges[i].end;

		if (start && page >= start && page < end)
			return (end + page_bytes - 1) & ~(page_bytes - 1);
	}
	return page + page_bytes;
}

static void on_fault(int sig, siginfo_t *info, void *context)
{
	uintptr_t page = (uintptr_t)info->si_addr & ~(page_bytes - 1);
	int saved = errno;

	(void)context;
	if (info->si_code == BUS_ADRERR &&
	    mmap((void *)page, end_of(page) - page, PROT_READ | PROT_WRITE, MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) !=
	    MAP_FAILED) {
		faults++;
	} else {
		/* not ours: what happened happens again, to whom it concerns */
		sigaction(sig, &before, NULL);
		if (info->si_code <= 0)
			raise(sig);	/* somebody sent it */
	}
	errno = saved;
}

int mapped_guard(const void *p, size_t n)
{
	struct sigaction sa = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_RESTART };
	bool no;

	sigemptyset(&sa.sa_mask);
	pthread_mutex_lock(&lock);
	page_bytes = sysconf(_SC_PAGESIZE);
	if (!guards++)
		sigaction(SIGBUS, &sa, &before);
	pthread_mutex_unlock(&lock);
	for (int i = 0; i < MAX_RANGES; i++) {
		no = false;
		if (!atomic_compare_exchange_strong(&ranges[i].taken, &no, true))
			continue;
		ranges[i].end = (uintptr_t)p + n;
		ranges[i].start = (uintptr_t)p;
		return i;
	}
	return MAX_RANGES;
}

void mapped_unguard(int guard)
{
	if (guard < MAX_RANGES) {
		ranges[guard].start = 0;
		ranges[guard].taken = false;
	}
	pthread_mutex_lock(&lock);
	if (!--guards)
		sigaction(SIGBUS, &before, NULL);
	pthread_mutex_unlock(&lock);
}

unsigned mapped_faults(void)
{
	return faults;
}
