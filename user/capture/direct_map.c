// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Where the kernel maps all memory: found once per start, by pages of our own. */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>
#include "capture/direct_map.h"

#define PAGE_BYTES 4096
#define LARGE_BYTES (2 << 20)
#define NR_PAGES 4
#define FRAME_BITS ((1ull << 55) - 1)	/* Documentation/admin-guide/mm/pagemap.rst */
#define PAGE_THERE (1ull << 63)

bool direct_map_possible(void)
{
	const char *wanted = getenv("FRAMESCOPE_DIRECT");
	struct btf *btf;
	bool has;

#if !defined(__x86_64__)
	return false;
#endif
	if (wanted && !strcmp(wanted, "no"))
		return false;
	btf = btf__load_vmlinux_btf();
	has = btf && btf__find_by_name_kind(btf, "bpf_rdonly_cast", BTF_KIND_FUNC) > 0;
	btf__free(btf);
	return has;
}

/*
 * Which bits of an entry are an address: the kernel's account leaves out those that say how memory is encrypted, where the
 * processor's does not. And whether there are five levels of tables.
 */
static bool sizes(struct control *ctl)
{
	unsigned int bits = 0;
	char line[4096];
	bool five = false;
	FILE *f = fopen("/proc/cpuinfo", "re");

	/* the kernel takes the flag away where it does with four */
	while (f && !bits && fgets(line, sizeof(line), f)) {
		if (!strncmp(line, "flags", 5))
			five = strstr(line, " la57");
		else if (!strncmp(line, "address sizes", 13))
			sscanf(strchrnul(line, ':'), ": %u bits physical", &bits);
	}
	if (f)
		fclose(f);
	if (bits <= 12 || bits > 52)
		return false;
	ctl->frame_mask = ((1ull << bits) - 1) & ~(PAGE_BYTES - 1ull);
	ctl->user_bits = five ? 56 : 47;
	return true;
}

/* The end of physical memory, or 0. */
static uint64_t memory_end(void)
{
	uint64_t begin, end, last = 0;
	char line[256];
	FILE *f = fopen("/proc/iomem", "re");

	while (f && fgets(line, sizeof(line), f))
		if (strstr(line, ": System RAM") && sscanf(line, "%" SCNx64 "-%" SCNx64, &begin, &end) == 2 && end > last)
			last = end;
	if (f)
		fclose(f);
	return last ? last + 1 : 0;
}

/* A page of ours as the programs' arguments: its address, its physical one, a word that stands there; 0: not known. */
struct page {
	uint64_t addr, physical, text;
};

static bool locate(int pagemap, const void *p, struct page *ret)
{
	uint64_t entry = 0;

	memcpy(&ret->text, p, sizeof(ret->text));
	ret->addr = (uintptr_t)p;
	if (pread(pagemap, &entry, sizeof(entry), ret->addr / PAGE_BYTES * sizeof(entry)) != sizeof(entry) ||
	    !(entry & PAGE_THERE) || !(entry & FRAME_BITS))
		return false;
	ret->physical = (entry & FRAME_BITS) * PAGE_BYTES + ret->addr % PAGE_BYTES;
	return ret->text;
}

static bool run(int fd, const struct page *page)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = page, .ctx_size_in = sizeof(*page));

	return !bpf_prog_test_run_opts(fd, &opts) && opts.retval;
}

/* Pages of all kinds: one alone, one that may be large, one of a file, one on the stack. */
static bool find_and_check(int find_fd, int check_fd, int pagemap, uint8_t *mem, struct control *ctl)
{
	uint8_t *large = mem + LARGE_BYTES + 8 * PAGE_BYTES + 40;
	uint64_t on_stack[2];
	const void *at[NR_PAGES] = { mem, large, (void *)run, on_stack };

	if (getrandom(mem, 64, 0) != 64 || getrandom(large, 64, 0) != 64)
		return false;
	if (getrandom(on_stack, sizeof(on_stack), 0) != sizeof(on_stack))
		return false;
	for (size_t i = 0; i < NR_PAGES; i++) {
		struct page page = {};

		/* what moves between the two is looked at again */
		for (int try = 0; try < 3; try++) {
			if (!locate(pagemap, at[i], &page))
				return false;
			if (!i && !ctl->direct_map)
				run(find_fd, &page);
			if (run(check_fd, &page))
				break;
			if (try == 2)
				return false;
		}
	}
	return true;
}

void direct_map_find(int find_fd, int check_fd, struct control *ctl)
{
	size_t size = 3 * LARGE_BYTES;
	uint8_t *mem = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	bool right = false;

	ctl->memory_end = memory_end();
	if (mem != MAP_FAILED && pagemap >= 0 && ctl->memory_end && sizes(ctl)) {
		madvise(mem + PAGE_BYTES, size - PAGE_BYTES, MADV_HUGEPAGE);
		right = find_and_check(find_fd, check_fd, pagemap, mem, ctl);
	}
	if (!right)
		ctl->direct_map = 0;
	if (mem != MAP_FAILED)
		munmap(mem, size);
	if (pagemap >= 0)
		close(pagemap);
}
