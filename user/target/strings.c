// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Finds many texts at once: at each NUL the four bytes in front of it say which texts may end there. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "target/strings.h"

#define TAIL_BITS 12

struct finder {
	const struct image *img;
	const char *const *texts;
	size_t nr_texts;
	uint8_t tails[1 << TAIL_BITS];	/* is there a text whose last four bytes have this hash? */
	struct string_hit *hits;
	size_t nr, cap;
	bool failed;
};

static inline uint32_t tail_hash(const uint8_t *end)
{
	uint32_t v;

	memcpy(&v, end - 4, sizeof(v));
	return v * 0x9e3779b1u >> (32 - TAIL_BITS);
}

static void add_hit(struct finder *f, size_t text, uint64_t vaddr, bool whole)
{
	if (f->nr == f->cap) {
		size_t cap = f->cap ? 2 * f->cap : 128;
		struct string_hit *p = realloc(f->hits, cap * sizeof(*p));

		if (!p) {
			f->failed = true;
			return;
		}
		f->hits = p;
		f->cap = cap;
	}
	f->hits[f->nr++] = (struct string_hit){ text, vaddr, whole };
}

/* `nul` bytes into the segment there is a NUL. */
static void check_end(struct finder *f, const struct image_segment *s, size_t nul)
{
	const uint8_t *bytes = f->img->bytes + s->offset;

	for (size_t i = 0; i < f->nr_texts; i++) {
		size_t n = strlen(f->texts[i]);

		if (n >= STRING_MIN && n <= nul && !memcmp(bytes + nul - n, f->texts[i], n))
			add_hit(f, i, s->vaddr + nul - n, n == nul || !bytes[nul - n - 1]);
	}
}

typedef uint64_t word __attribute__((may_alias, aligned(1)));

static void search_segment(struct finder *f, const struct image_segment *s)
{
	const uint8_t *bytes = f->img->bytes + s->offset;
	size_t n = s->file_size;

	for (size_t i = STRING_MIN; i < n;) {
		/* eight bytes without a NUL, or all NULs behind a NUL, need no look at each */
		if (n - i >= 8) {
			word w = *(const word *)(bytes + i);

			if (!((w - 0x0101010101010101ull) & ~w & 0x8080808080808080ull) || (!w && !bytes[i - 1])) {
				i += 8;
				continue;
			}
		}
		for (size_t end = n - i >= 8 ? i + 8 : n; i < end; i++)
			if (!bytes[i] && bytes[i - 1] && f->tails[tail_hash(bytes + i)])
				check_end(f, s, i);
	}
}

int strings_find(const struct image *img, const char *const *texts, size_t nr_texts, struct string_hit **ret,
		 size_t *ret_nr)
{
	struct finder *f = calloc(1, sizeof(*f));
	bool separate = false;

	*ret = NULL;
	*ret_nr = 0;
	if (!f)
		return -ENOMEM;
	f->img = img;
	f->texts = texts;
	f->nr_texts = nr_texts;
	for (size_t i = 0; i < nr_texts; i++) {
		size_t n = strlen(texts[i]);

		if (n >= STRING_MIN)
			f->tails[tail_hash((const uint8_t *)texts[i] + n)] = 1;
	}
	for (size_t i = 0; i < img->nr_segments; i++)
		separate |= !img->segments[i].exec && !img->segments[i].write;
	for (size_t i = 0; i < img->nr_segments; i++) {
		const struct image_segment *s = &img->segments[i];

		/* linkers without separate segments put constants in front of the code */
		if (!s->write && (!s->exec || !separate))
			search_segment(f, s);
	}
	if (f->failed) {
		free(f->hits);
		free(f);
		return -ENOMEM;
	}
	*ret = f->hits;
	*ret_nr = f->nr;
	free(f);
	return 0;
}
