// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Reads a stopped process's memory, and finds the base that its compressed pointers are relative to. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include "base/vec.h"
#include "calibrate/memory.h"
#include "target/maps.h"

#define PAGE 4096ull
#define NR_SLOTS (1u << 15)		/* pages kept, a power of two; what doesn't fit replaces another */
#define CAGE_MIN_BITS 34		/* 16 GiB: what Oilpan reserves at least */
#define CAGE_MAX_BITS 40
#define SCAN_BYTES (1u << 16)

struct range {
	uint64_t start, end;
};

struct memory {
	pid_t pid;
	struct range *ranges;	/* sorted, as /proc has them */
	size_t nr, cap;
	const struct image *image;
	uint64_t module_at, module_offset;	/* its first mapping, and of which part of the file; 0: none */
	uint64_t *page_of;	/* by slot: address | 1 if it was read, | 2 if it can't be; 0: empty */
	uint8_t *bytes;
	size_t last;
};

struct memory *memory_new(const struct image *image)
{
	struct memory *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->image = image;
	m->page_of = calloc(NR_SLOTS, sizeof(*m->page_of));
	m->bytes = malloc(NR_SLOTS * PAGE);
	if (m->page_of && m->bytes)
		return m;
	memory_free(m);
	return NULL;
}

void memory_free(struct memory *m)
{
	if (!m)
		return;
	free(m->ranges);
	free(m->page_of);
	free(m->bytes);
	free(m);
}

static int on_map(void *arg, const struct map_entry *e)
{
	struct memory *m = arg;

	if (e->inode == m->image->inode && e->dev == m->image->dev && (!m->module_at || e->start < m->module_at)) {
		m->module_at = e->start;
		m->module_offset = e->offset;
	}
	if (!e->read || !e->write)
		return 0;
	if (m->nr && m->ranges[m->nr - 1].end == e->start) {
		m->ranges[m->nr - 1].end = e->end;
		return 0;
	}
	if (vec_grow(&m->ranges, m->nr, &m->cap, sizeof(*m->ranges)))
		return -ENOMEM;
	m->ranges[m->nr++] = (struct range){ e->start, e->end };
	return 0;
}

int memory_begin(struct memory *m, pid_t pid)
{
	m->pid = pid;
	m->nr = 0;
	m->module_at = 0;
	memset(m->page_of, 0, NR_SLOTS * sizeof(*m->page_of));
	return maps_each(pid, on_map, m);
}

bool memory_mapped(const struct memory *m, uint64_t addr)
{
	size_t lo = 0, hi = m->nr;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (m->ranges[mid].end <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < m->nr && m->ranges[lo].start <= addr;
}

static bool read_raw(pid_t pid, uint64_t addr, void *dst, size_t n)
{
	struct iovec local = { dst, n }, remote = { (void *)(uintptr_t)addr, n };

	return process_vm_readv(pid, &local, 1, &remote, 1, 0) == (ssize_t)n;
}

static const uint8_t *page(struct memory *m, uint64_t addr)
{
	uint64_t base = addr & ~(PAGE - 1);
	size_t slot = (base / PAGE * 0x9e3779b97f4a7c15ull) >> 48 & (NR_SLOTS - 1);
	uint8_t *p = m->bytes + slot * PAGE;

	if ((m->page_of[slot] & ~3ull) != base || !m->page_of[slot])
		m->page_of[slot] = base | (memory_mapped(m, base) && read_raw(m->pid, base, p, PAGE) ? 1 : 2);
	return m->page_of[slot] & 1 ? p : NULL;
}

static size_t read_parts(struct memory *m, uint64_t addr, uint8_t *dst, size_t n)
{
	size_t done = 0;

	for (size_t i = 0, part; i < n; i += part) {
		const uint8_t *p = page(m, addr + i);
		size_t at = (addr + i) & (PAGE - 1);

		part = PAGE - at < n - i ? PAGE - at : n - i;
		if (p) {
			memcpy(dst + i, p + at, part);
			done += part;
		} else {
			memset(dst + i, 0, part);
		}
	}
	return done;
}

bool memory_read(struct memory *m, uint64_t addr, void *dst, size_t n)
{
	return addr + n > addr && read_parts(m, addr, dst, n) == n;
}

bool memory_read_any(struct memory *m, uint64_t addr, void *dst, size_t n)
{
	return memory_mapped(m, addr) ? memory_read(m, addr, dst, n) : read_raw(m->pid, addr, dst, n);
}

bool memory_window(struct memory *m, uint64_t addr, void *dst, size_t n)
{
	return addr + n > addr && read_parts(m, addr, dst, n) != 0;
}

/* A base that memory of the process lies below, and none of the module itself. */
static bool is_cage(const struct memory *m, uint64_t v)
{
	int bits = __builtin_ctzll(~v);
	uint64_t low = v & ~((1ull << bits) - 1);
	size_t inside = 0;

	if (bits < CAGE_MIN_BITS || bits > CAGE_MAX_BITS || v >> 47 || !low)
		return false;
	for (size_t i = 0; i < m->nr; i++)
		inside += m->ranges[i].start >= low && m->ranges[i].end - 1 <= v;
	return inside && !(m->module_at >= low && m->module_at <= v);
}

static void scan_words(const struct memory *m, const uint64_t *words, size_t nr, uint64_t vaddr, size_t *found,
		       uint64_t *ret_vaddr, uint64_t *ret_base)
{
	for (size_t i = 0; i < nr; i++) {
		if (!words[i] || (uint32_t)words[i] != ~0u || !is_cage(m, words[i]) || (*found && words[i] == *ret_base))
			continue;
		if (!(*found)++) {
			*ret_vaddr = vaddr + 8 * i;
			*ret_base = words[i];
		}
	}
}

static bool load_base(const struct memory *m, uint64_t *ret)
{
	uint64_t first;

	if (!m->module_at || !image_vaddr_of(m->image, m->module_offset, &first))
		return false;
	*ret = m->module_at - first;
	return true;
}

size_t memory_find_cage(struct memory *m, uint64_t *ret_vaddr)
{
	uint64_t *words = malloc(SCAN_BYTES), load, base = 0;
	size_t found = 0;

	if (!words || !load_base(m, &load)) {
		free(words);
		return 0;
	}
	for (size_t i = 0; i < m->image->nr_segments; i++) {
		const struct image_segment *s = &m->image->segments[i];
		uint64_t end = s->vaddr + s->mem_size;

		for (uint64_t at = s->vaddr & ~7ull; s->write && at < end; at += SCAN_BYTES) {
			size_t n = end - at < SCAN_BYTES ? end - at : SCAN_BYTES;

			if (memory_window(m, load + at, words, n & ~7ull))
				scan_words(m, words, n / 8, at, &found, ret_vaddr, &base);
		}
	}
	free(words);
	return found;
}

uint64_t memory_cage(struct memory *m, uint64_t vaddr)
{
	uint64_t load, base;

	return vaddr && load_base(m, &load) && memory_read(m, load + vaddr, &base, 8) && base && is_cage(m, base) ? base : 0;
}
