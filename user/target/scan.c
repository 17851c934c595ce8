// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Runs the architecture's bulk pass over an image's code on two threads and puts the halves together. */
#include <elf.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "target/relocs.h"
#include "target/scan.h"

#define SCAN_THREADS 2

int addr_set_init(struct addr_set *set, const uint64_t *addrs, size_t nr)
{
	unsigned int bits = 6;

	while (nr >= (1ull << bits) / 4)
		bits++;
	*set = (struct addr_set){ .bits = bits, .min = UINT64_MAX };
	set->slots = calloc(1ull << bits, sizeof(*set->slots));
	if (!set->slots)
		return -ENOMEM;
	for (size_t k = 0; k < nr; k++) {
		uint64_t i = addrs[k] * 0x9e3779b97f4a7c15ull >> (64 - bits);

		if (!addrs[k] || addr_set_has(set, addrs[k]))
			continue;
		while (set->slots[i])
			i = (i + 1) & ((1ull << bits) - 1);
		set->slots[i] = addrs[k];
		set->min = addrs[k] < set->min ? addrs[k] : set->min;
		set->max = addrs[k] > set->max ? addrs[k] : set->max;
	}
	return 0;
}

void addr_set_free(struct addr_set *set)
{
	free(set->slots);
	set->slots = NULL;
}

bool code_sink_grow_calls(struct code_sink *sink)
{
	size_t cap = sink->cap_calls ? sink->cap_calls * 2 : 1 << 16;
	struct scan_call *p = realloc(sink->calls, cap * sizeof(*p));

	if (!p) {
		sink->failed = true;
		return false;
	}
	sink->calls = p;
	sink->cap_calls = cap;
	return true;
}

void code_sink_add_ref(struct code_sink *sink, uint64_t at, uint64_t target)
{
	if (sink->nr_refs == sink->cap_refs) {
		size_t cap = sink->cap_refs ? sink->cap_refs * 2 : 256;
		struct scan_ref *p = realloc(sink->refs, cap * sizeof(*p));

		if (!p) {
			sink->failed = true;
			return;
		}
		sink->refs = p;
		sink->cap_refs = cap;
	}
	sink->refs[sink->nr_refs++] = (struct scan_ref){ at, target };
}

/* One thread's share: [from, to) as offsets from the code's base. */
struct share {
	pthread_t thread;
	const struct image *image;
	uint64_t from, to;
	struct code_sink sink;
	void (*pass)(const uint8_t *code, size_t n, size_t avail, uint64_t vaddr, struct code_sink *sink);
	bool started;
};

static void *run_share(void *arg)
{
	struct share *s = arg;

	for (size_t i = 0; i < s->image->nr_segments; i++) {
		const struct image_segment *seg = &s->image->segments[i];
		uint64_t from = s->sink.base + s->from, to = s->sink.base + s->to, end = seg->vaddr + seg->file_size;

		from = from > seg->vaddr ? from : seg->vaddr;
		to = to < end ? to : end;
		if (seg->exec && from < to)
			s->pass(s->image->bytes + seg->offset + (from - seg->vaddr), to - from, end - from, from, &s->sink);
	}
	return NULL;
}

static size_t bitmap_bytes(uint64_t size)
{
	return size / SCAN_GRID / 8 + 1;
}

static void share_cut(struct share *s, const struct scan *scan, unsigned int i)
{
	uint64_t part = scan->size / SCAN_THREADS / SCAN_GRID * SCAN_GRID;

	s->image = scan->image;
	s->from = i * part;
	s->to = i == SCAN_THREADS - 1 ? scan->size : (i + 1) * part;
	s->sink = (struct code_sink){ .base = scan->base, .size = scan->size };
}

static int share_init(struct share *s, const struct scan *scan, const struct addr_set *wanted, unsigned int i)
{
	share_cut(s, scan, i);
	s->pass = scan->image->arch->scan;
	s->sink.wanted = wanted;
	s->sink.called = calloc(1, bitmap_bytes(scan->size));
	s->sink.jumped = calloc(1, bitmap_bytes(scan->size));
	s->sink.taken = calloc(1, bitmap_bytes(scan->size));
	/* one call per 48 bytes is typical; what isn't written is never touched */
	s->sink.cap_calls = (s->to - s->from) / 32 + 1024;
	s->sink.calls = malloc(s->sink.cap_calls * sizeof(*s->sink.calls));
	return s->sink.called && s->sink.jumped && s->sink.taken && s->sink.calls ? 0 : -ENOMEM;
}

static void share_free(struct share *s)
{
	free(s->sink.calls);
	free(s->sink.refs);
	free(s->sink.called);
	free(s->sink.jumped);
	free(s->sink.taken);
}

static int append(void **dst, size_t *nr, const void *src, size_t n, size_t size)
{
	void *p;

	if (!n)
		return 0;
	p = realloc(*dst, (*nr + n) * size);
	if (!p)
		return -ENOMEM;
	memcpy((char *)p + *nr * size, src, n * size);
	*dst = p;
	*nr += n;
	return 0;
}

/* The shares follow each other in the code, so do their results. The first one's buffers are taken over. */
static int merge(struct scan *scan, struct share *shares)
{
	size_t bytes = bitmap_bytes(scan->size);

	for (unsigned int i = 0; i < SCAN_THREADS; i++) {
		struct code_sink *k = &shares[i].sink;

		if (k->failed)
			return -ENOMEM;
		if (i == 0) {
			scan->calls = k->calls;
			scan->nr_calls = k->nr_calls;
			scan->called = k->called;
			scan->jumped = k->jumped;
			scan->taken = k->taken;
			k->calls = NULL;
			k->called = k->jumped = k->taken = NULL;
		} else {
			if (append((void **)&scan->calls, &scan->nr_calls, k->calls, k->nr_calls, sizeof(*k->calls)))
				return -ENOMEM;
			for (size_t b = 0; b < bytes; b++) {
				scan->called[b] |= k->called[b];
				scan->jumped[b] |= k->jumped[b];
				scan->taken[b] |= k->taken[b];
			}
		}
		if (append((void **)&scan->refs, &scan->nr_refs, k->refs, k->nr_refs, sizeof(*k->refs)))
			return -ENOMEM;
	}
	return 0;
}

static void mark_reloc(void *ctx, uint64_t slot, uint64_t target)
{
	struct scan *scan = ctx;

	(void)slot;
	if (target - scan->base < scan->size)
		code_sink_mark(scan->taken, target - scan->base);
}

static void run_all(struct share *shares)
{
	for (unsigned int i = 1; i < SCAN_THREADS; i++)
		shares[i].started = !pthread_create(&shares[i].thread, NULL, run_share, &shares[i]);
	for (unsigned int i = 0; i < SCAN_THREADS; i++)
		if (!shares[i].started)
			run_share(&shares[i]);
	for (unsigned int i = 0; i < SCAN_THREADS; i++)
		if (shares[i].started)
			pthread_join(shares[i].thread, NULL);
}

static int run_shares(struct scan *scan, const struct addr_set *wanted)
{
	struct share shares[SCAN_THREADS] = { 0 };
	int rc = 0;

	for (unsigned int i = 0; i < SCAN_THREADS && !rc; i++)
		rc = share_init(&shares[i], scan, wanted, i);
	if (!rc) {
		run_all(shares);
		rc = merge(scan, shares);
	}
	for (unsigned int i = 0; i < SCAN_THREADS; i++)
		share_free(&shares[i]);
	return rc;
}

int scan_branches(const struct scan *scan, const struct addr_range *ranges, size_t nr_ranges, struct scan_ref **ret,
		  size_t *ret_nr)
{
	struct share shares[SCAN_THREADS] = { 0 };
	int rc = 0;

	*ret = NULL;
	*ret_nr = 0;
	for (unsigned int i = 0; i < SCAN_THREADS; i++) {
		share_cut(&shares[i], scan, i);
		shares[i].pass = scan->image->arch->branches;
		shares[i].sink.ranges = ranges;
		shares[i].sink.nr_ranges = nr_ranges;
	}
	run_all(shares);
	for (unsigned int i = 0; i < SCAN_THREADS; i++) {
		struct code_sink *k = &shares[i].sink;

		if (!rc)
			rc = k->failed ? -ENOMEM : append((void **)ret, ret_nr, k->refs, k->nr_refs, sizeof(*k->refs));
		share_free(&shares[i]);
	}
	return rc;
}

int scan_run(const struct image *image, const uint64_t *wanted, size_t nr_wanted, struct scan **ret,
	     struct error *err)
{
	struct scan *scan = calloc(1, sizeof(*scan));
	struct addr_set set = { 0 };
	uint64_t end = 0;
	int rc;

	*ret = NULL;
	if (!scan)
		return error_set(err, ERR_OTHER, -ENOMEM, "out of memory");
	scan->image = image;
	scan->base = UINT64_MAX;
	for (size_t i = 0; i < image->nr_segments; i++) {
		const struct image_segment *s = &image->segments[i];

		if (!s->exec || !s->file_size)
			continue;
		scan->base = s->vaddr < scan->base ? s->vaddr : scan->base;
		end = s->vaddr + s->file_size;
	}
	scan->base = end ? scan->base & ~(uint64_t)(SCAN_GRID - 1) : 0;
	scan->size = end - scan->base;
	/* the segments lie in the file, but far-apart addresses would make the bitmaps larger than the file */
	if (scan->size >= UINT32_MAX || scan->size / 16 > image->size + (1 << 20)) {
		free(scan);
		return error_set(err, ERR_INPUT, -E2BIG,
				 "%s spreads its code over more than framescope looks through (4 GiB)", image->path);
	}
	rc = addr_set_init(&set, wanted, nr_wanted);
	if (!rc)
		rc = run_shares(scan, &set);
	addr_set_free(&set);
	if (rc) {
		scan_free(scan);
		return error_set(err, ERR_OTHER, rc, "out of memory while looking through %s", image->path);
	}
	relocs_each(image, mark_reloc, scan);
	*ret = scan;
	return 0;
}

void scan_free(struct scan *scan)
{
	if (!scan)
		return;
	free(scan->refs);
	free(scan->calls);
	free(scan->called);
	free(scan->jumped);
	free(scan->taken);
	free(scan);
}

static bool bit(const struct scan *scan, const uint8_t *map, uint64_t vaddr)
{
	uint64_t offset = vaddr - scan->base;

	return offset < scan->size && offset % SCAN_GRID == 0 && (map[offset / SCAN_GRID / 8] >> (offset / SCAN_GRID % 8) & 1);
}

bool scan_is_called(const struct scan *scan, uint64_t vaddr)
{
	return bit(scan, scan->called, vaddr);
}

bool scan_is_jumped_to(const struct scan *scan, uint64_t vaddr)
{
	return bit(scan, scan->jumped, vaddr);
}

bool scan_is_taken(const struct scan *scan, uint64_t vaddr)
{
	return bit(scan, scan->taken, vaddr);
}

void scan_callers(const struct scan *scan, const struct addr_set *targets,
		  void (*each)(void *ctx, uint64_t at, uint64_t target), void *ctx)
{
	for (size_t i = 0; i < scan->nr_calls; i++)
		if (addr_set_has(targets, scan->base + scan->calls[i].target))
			each(ctx, scan->base + scan->calls[i].at, scan->base + scan->calls[i].target);
}
