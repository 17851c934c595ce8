// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Walks the relative relocations of an image. */
#include <elf.h>
#include <string.h>
#include "target/relocs.h"

#ifndef DT_RELR
#define DT_RELRSZ 35
#define DT_RELR 36
#endif

#define MAX_DYNAMIC 4096	/* entries of the dynamic section that are looked at */

struct tables {
	uint64_t rela, rela_size, relr, relr_size, symtab, strtab;
};

/* PT_DYNAMIC isn't kept in struct image: the program headers are in the file's first bytes and were checked. */
static bool dynamic_segment(const struct image *img, Elf64_Phdr *ret)
{
	Elf64_Ehdr eh;

	memcpy(&eh, img->bytes, sizeof(eh));
	for (unsigned int i = 0; i < eh.e_phnum; i++) {
		memcpy(ret, img->bytes + eh.e_phoff + i * sizeof(*ret), sizeof(*ret));
		if (ret->p_type == PT_DYNAMIC)
			return true;
	}
	return false;
}

static bool find_tables(const struct image *img, struct tables *t)
{
	Elf64_Phdr ph;
	size_t avail, n;
	const uint8_t *p;

	memset(t, 0, sizeof(*t));
	if (!dynamic_segment(img, &ph))
		return false;
	p = image_at(img, ph.p_vaddr, sizeof(Elf64_Dyn), &avail);
	if (!p)
		return false;
	n = avail / sizeof(Elf64_Dyn);
	for (size_t i = 0; i < n && i < MAX_DYNAMIC; i++) {
		Elf64_Dyn d;

		memcpy(&d, p + i * sizeof(d), sizeof(d));
		switch (d.d_tag) {
		case DT_NULL:
			return true;
		case DT_RELA:
			t->rela = d.d_un.d_ptr;
			break;
		case DT_RELASZ:
			t->rela_size = d.d_un.d_val;
			break;
		case DT_RELR:
			t->relr = d.d_un.d_ptr;
			break;
		case DT_SYMTAB:
			t->symtab = d.d_un.d_ptr;
			break;
		case DT_STRTAB:
			t->strtab = d.d_un.d_ptr;
			break;
		case DT_RELRSZ:
			t->relr_size = d.d_un.d_val;
			break;
		}
	}
	return true;
}

static uint32_t relative_type(const struct image *img)
{
	return img->arch->elf_machine == EM_AARCH64 ? R_AARCH64_RELATIVE : R_X86_64_RELATIVE;
}

static void each_rela(const struct image *img, const struct tables *t,
		      void (*each)(void *ctx, uint64_t slot, uint64_t target), void *ctx)
{
	uint32_t type = relative_type(img);
	size_t avail = 0, n;
	const uint8_t *p = image_at(img, t->rela, 0, &avail);

	if (!p)
		return;
	n = (t->rela_size < avail ? t->rela_size : avail) / sizeof(Elf64_Rela);
	for (size_t i = 0; i < n; i++) {
		Elf64_Rela r;

		memcpy(&r, p + i * sizeof(r), sizeof(r));
		if (ELF64_R_TYPE(r.r_info) == type)
			each(ctx, r.r_offset, r.r_addend);
	}
}

static void relr_word(const struct image *img, uint64_t slot, void (*each)(void *, uint64_t, uint64_t), void *ctx)
{
	const uint8_t *p = image_at(img, slot, 8, NULL);
	uint64_t v;

	if (!p)
		return;
	memcpy(&v, p, sizeof(v));
	each(ctx, slot, v);
}

/* An even word is an address; an odd one a bitmap over the 63 words behind the last address or bitmap (ELF gABI). */
static void each_relr(const struct image *img, const struct tables *t,
		      void (*each)(void *ctx, uint64_t slot, uint64_t target), void *ctx)
{
	size_t avail = 0, n;
	const uint8_t *p = image_at(img, t->relr, 0, &avail);
	uint64_t where = 0;

	if (!p)
		return;
	n = (t->relr_size < avail ? t->relr_size : avail) / 8;
	for (size_t i = 0; i < n; i++) {
		uint64_t word;

		memcpy(&word, p + i * 8, 8);
		if (!(word & 1)) {
			relr_word(img, word, each, ctx);
			where = word + 8;
			continue;
		}
		for (unsigned int k = 0; k < 63; k++)
			if (word >> (k + 1) & 1)
				relr_word(img, where + k * 8, each, ctx);
		where += 63 * 8;
	}
}

void relocs_each(const struct image *img, void (*each)(void *ctx, uint64_t slot, uint64_t target), void *ctx)
{
	struct tables t;

	if (!find_tables(img, &t))
		return;
	each_rela(img, &t, each, ctx);
	each_relr(img, &t, each, ctx);
}

/* The table's length stands nowhere; every linker puts the names right behind it. */
void exports_each(const struct image *img, void (*each)(void *ctx, uint64_t slot, uint64_t target), void *ctx)
{
	struct tables t;
	size_t avail = 0;
	const uint8_t *p;

	if (!find_tables(img, &t) || t.strtab <= t.symtab)
		return;
	p = image_at(img, t.symtab, 0, &avail);
	if (!p)
		return;
	if (avail > t.strtab - t.symtab)
		avail = t.strtab - t.symtab;
	for (size_t i = 0; i < avail / sizeof(Elf64_Sym); i++) {
		Elf64_Sym sym;

		memcpy(&sym, p + i * sizeof(sym), sizeof(sym));
		if (sym.st_shndx != SHN_UNDEF && ELF64_ST_TYPE(sym.st_info) == STT_FUNC)
			each(ctx, 0, sym.st_value);
	}
}
