// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Hostile ELF files: headers, unwind tables, relocations and code of any content, through everything that looks into
 * them without a symbol table.
 * sources: user/target/image.c user/target/arch*.c user/target/cage.c user/target/scan.c user/target/relocs.c user/target/fde.c user/target/functions.c user/target/flow.c user/target/exits.c user/target/fragments.c user/target/strings.c user/target/anchors.c user/target/climb.c user/target/anchor_syntax.c user/base/error.c user/base/mapped.c
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include "target/anchors.h"
#include "target/cage.h"

static void look_at(const struct image *img, const struct code_map *map, uint64_t vaddr)
{
	struct cage_votes *votes;
	struct function f;
	uint64_t exits[8], v;
	bool complete;

	image_at(img, vaddr, 16, NULL);
	if (image_offset_of(img, vaddr, &v) && v >= img->size)
		abort();
	if (!function_at(map, vaddr, &f))
		return;
	if (vaddr < f.start || vaddr >= f.end)
		abort();
	function_exits(map, &f, exits, 8, &complete);
	function_can_avoid(map, &f, vaddr);
	function_has_insn(map, &f, vaddr, NULL);
	votes = cage_votes_new();
	if (!votes)
		abort();
	cage_votes_add(votes, map, &f);
	cage_votes_winner(votes, img);
	cage_votes_free(votes);
}

static void look_around(const struct image *img)
{
	static const char *const texts[] = { "Layout", "^Layout", "^^Paint & !Layout" };
	struct anchor anchors[3];
	struct anchor_finder *f;
	const struct code_map *map;
	struct error err;

	for (size_t i = 0; i < 3; i++)
		if (anchor_parse(texts[i], &anchors[i], &err))
			abort();
	if (anchor_finder_new(img, anchors, 3, &f, &err))
		return;
	map = anchor_finder_map(f);
	for (size_t i = 0; i < img->nr_segments; i++) {
		const struct image_segment *s = &img->segments[i];
		uint64_t step = s->file_size / 64 + 1;

		for (uint64_t k = 0; k < s->file_size && s->exec; k += step)
			look_at(img, map, s->vaddr + k);
	}
	anchor_finder_free(f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct image *img;
	struct error err;
	char path[32];

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (!image_open(path, &img, &err)) {
		look_around(img);
		image_close(img);
	}
	close(fd);
	return 0;
}
