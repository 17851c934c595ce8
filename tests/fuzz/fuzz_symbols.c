// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Hostile tables of symbols: an ELF file as it comes, and a Breakpad file that claims to be of the right build.
 * sources: user/base/distance.c user/target/symbols.c user/target/symbol_tables.c user/target/members.c user/target/breakpad.c user/target/names.c user/target/engine.c user/target/engine_parse.c user/target/engine_keys.c user/target/engine_words.c user/target/expr.c user/target/selector_text.c user/target/anchor_syntax.c user/target/arch*.c user/target/scan.c user/target/image.c user/target/relocs.c user/base/error.c user/base/mapped.c
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "target/symbol_tables.h"
#include "target/symbols.h"

static void fuzz_breakpad(const uint8_t *data, size_t size)
{
	static const char first[] = "MODULE Linux x86_64 030201000504070608090A0B0C0D0E0F0 x\n";
	const size_t n = sizeof(first) - 1;
	char *text = malloc(n + size + 1);
	struct symbol_list list = { 0 };
	struct error err;
	size_t bytes = 0;

	if (!text)
		abort();
	memcpy(text, first, n);
	memcpy(text + n, data, size);
	text[n + size] = '\0';
	breakpad_parse(text, n + size, "fuzz", "000102030405060708090a0b0c0d0e0f", 0x1000, &list, &err);
	for (size_t i = 0; i < list.nr; i++)
		bytes += strlen(list.entries[i].name);
	if (bytes > n + size)
		abort();	/* names are pieces of the text */
	free(list.entries);
	free(text);
}

static void fuzz_elf(const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct engine_probe p = { .nr_functions = 1, .functions = { "f*" } };
	struct symbol_match *m = NULL;
	struct symbols *s = NULL;
	struct image *image = NULL;
	struct error err;
	char path[64], reason[512];
	size_t nr;

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (!image_open(path, &image, &err) && !symbols_open(image, NULL, &s, &err)) {
		if (!symbols_find(s, &p, &m, &nr, reason, sizeof(reason))) {
			for (size_t i = 0; i < nr; i++)
				if (m[i].refused || !m[i].size || !image_at(image, m[i].vaddr, 1, NULL))
					abort();
			free(m);
		}
		if (!symbols_glob(s, "*", &m, &nr))
			free(m);
		symbols_name_of(s, 0x1000, reason, sizeof(reason));
	}
	symbols_close(s);
	image_close(image);
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 4 || memcmp(data, "\x7f" "ELF", 4))
		fuzz_breakpad(data, size);
	else
		fuzz_elf(data, size);
	return 0;
}
