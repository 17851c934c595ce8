// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Files that processes map executable, as it happens. */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "capture/mmap_watch.h"

#define DATA_PAGES 8	/* a power of two; some 300 mappings between two readings */
#define MAX_RECORD 4608	/* a path and what stands before it */

/* PERF_RECORD_MMAP2 of linux/perf_event.h */
struct mmap2_record {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t addr, len, pgoff;
	uint32_t maj, min;
	uint64_t ino, ino_generation;
	uint32_t prot, flags;
	char filename[];
};

struct cpu_buffer {
	int fd;
	struct perf_event_mmap_page *page;
};

struct mmap_watch {
	mmap_watch_fn fn;
	void *arg;
	size_t page_bytes, nr;
	struct cpu_buffer cpu[];
};

static int open_cpu(struct mmap_watch *w, int cpu, struct cpu_buffer *b)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .size = sizeof(attr), .config = PERF_COUNT_SW_DUMMY,
		.mmap = 1, .mmap2 = 1, .watermark = 1, .wakeup_watermark = DATA_PAGES * w->page_bytes / 2,
	};

	b->page = MAP_FAILED;
	b->fd = syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (b->fd < 0)
		return -errno;
	b->page = mmap(NULL, (1 + DATA_PAGES) * w->page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, b->fd, 0);
	return b->page == MAP_FAILED ? -errno : 0;
}

int mmap_watch_open(mmap_watch_fn fn, void *arg, struct mmap_watch **ret)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	struct mmap_watch *w = calloc(1, sizeof(*w) + cpus * sizeof(w->cpu[0]));
	int rc = 0;

	if (!w)
		return -ENOMEM;
	w->fn = fn;
	w->arg = arg;
	w->page_bytes = sysconf(_SC_PAGESIZE);
	for (long i = 0; i < cpus && !rc; i++) {
		rc = open_cpu(w, i, &w->cpu[w->nr]);
		if (rc == -ENODEV)
			rc = 0;	/* that CPU is offline */
		else
			w->nr++;
	}
	if (rc) {
		mmap_watch_close(w);
		return rc;
	}
	*ret = w;
	return 0;
}

void mmap_watch_close(struct mmap_watch *w)
{
	if (!w)
		return;
	for (size_t i = 0; i < w->nr; i++) {
		if (w->cpu[i].page != MAP_FAILED)
			munmap(w->cpu[i].page, (1 + DATA_PAGES) * w->page_bytes);
		if (w->cpu[i].fd >= 0)
			close(w->cpu[i].fd);
	}
	free(w);
}

static void handle(struct mmap_watch *w, const void *record, size_t size)
{
	const struct perf_event_header *h = record;
	const struct mmap2_record *m = record;

	if (h->type == PERF_RECORD_LOST)
		w->fn(w->arg, 0, "");
	/* the kernel pads the name with zeroes */
	if (h->type == PERF_RECORD_MMAP2 && size > sizeof(*m) && m->ino && memchr(m->filename, 0, size - sizeof(*m)))
		w->fn(w->arg, m->pid, m->filename);
}

static void read_cpu(struct mmap_watch *w, struct cpu_buffer *b)
{
	const char *data = (const char *)b->page + w->page_bytes;
	size_t bytes = DATA_PAGES * w->page_bytes;
	uint64_t head = __atomic_load_n(&b->page->data_head, __ATOMIC_ACQUIRE), tail = b->page->data_tail;
	_Alignas(8) char record[MAX_RECORD];

	while (tail + sizeof(struct perf_event_header) <= head) {
		const struct perf_event_header *h = (const void *)(data + tail % bytes);
		size_t size = h->size, first = bytes - tail % bytes;

		if (size < sizeof(*h))
			break;
		if (size <= sizeof(record)) {
			/* records wrap around, headers don't: all sizes are multiples of 8 */
			memcpy(record, h, size < first ? size : first);
			if (size > first)
				memcpy(record + first, data, size - first);
			handle(w, record, size);
		}
		tail += size;
	}
	__atomic_store_n(&b->page->data_tail, tail, __ATOMIC_RELEASE);
}

void mmap_watch_read(struct mmap_watch *w)
{
	for (size_t i = 0; i < w->nr; i++)
		if (__atomic_load_n(&w->cpu[i].page->data_head, __ATOMIC_RELAXED) != w->cpu[i].page->data_tail)
			read_cpu(w, &w->cpu[i]);
}
