// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Looks functions up in .eh_frame_hdr (LSB 5.0, 10.6; pointer encodings as in its table 10-1). */
#include <elf.h>
#include <string.h>
#include "target/fde.h"

#define ENC_DATAREL_SDATA4 0x3b
#define ENC_PCREL 0x10
#define ENC_OMIT 0xff

static uint32_t read_u32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static bool eh_frame_hdr_segment(const struct image *img, Elf64_Phdr *ret)
{
	Elf64_Ehdr eh;

	memcpy(&eh, img->bytes, sizeof(eh));
	for (unsigned int i = 0; i < eh.e_phnum; i++) {
		memcpy(ret, img->bytes + eh.e_phoff + i * sizeof(*ret), sizeof(*ret));
		if (ret->p_type == PT_GNU_EH_FRAME)
			return true;
	}
	return false;
}

void fde_table_open(const struct image *img, struct fde_table *ret)
{
	Elf64_Phdr ph;
	const uint8_t *p;
	size_t avail, skip;
	uint32_t n;

	memset(ret, 0, sizeof(*ret));
	if (!eh_frame_hdr_segment(img, &ph))
		return;
	p = image_at(img, ph.p_vaddr, 12, &avail);
	/* version 1; a 4-byte count (udata4) and the sorted table that every linker makes */
	if (!p || p[0] != 1 || p[2] != 0x03 || p[3] != ENC_DATAREL_SDATA4)
		return;
	switch (p[1] & 0x0f) {	/* the pointer to .eh_frame, which isn't needed */
	case 0x03: case 0x0b:
		skip = 8;
		break;
	case 0x04: case 0x0c: case 0x00:
		skip = 12;
		break;
	default:
		return;
	}
	if (avail < skip + 4)
		return;
	n = read_u32(p + skip);
	if (n > (avail - skip - 4) / 8)
		return;
	ret->vaddr = ph.p_vaddr;
	ret->entries = p + skip + 4;
	ret->nr = n;
}

static uint64_t entry_value(const struct fde_table *t, size_t i, int which)
{
	return t->vaddr + (int64_t)(int32_t)read_u32(t->entries + 8 * i + 4 * which);
}

/* Index of the last entry at or before vaddr, or -1. */
static int64_t search(const struct fde_table *t, uint64_t vaddr)
{
	size_t lo = 0, hi = t->nr;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (entry_value(t, mid, 0) <= vaddr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return (int64_t)lo - 1;
}

static bool read_uleb(const uint8_t **p, const uint8_t *end, uint64_t *ret)
{
	*ret = 0;
	for (unsigned int shift = 0; *p < end && shift < 63; shift += 7) {
		uint8_t b = *(*p)++;

		*ret |= (uint64_t)(b & 0x7f) << shift;
		if (!(b & 0x80))
			return true;
	}
	return false;
}

static size_t encoded_size(uint8_t enc)
{
	switch (enc & 0x0f) {
	case 0x02: case 0x0a:
		return 2;
	case 0x03: case 0x0b:
		return 4;
	case 0x00: case 0x04: case 0x0c:
		return 8;
	default:
		return 0;
	}
}

/* The encoding of an FDE's addresses, from its CIE's augmentation ('R'). */
static bool cie_encoding(const struct image *img, uint64_t vaddr, uint8_t *ret)
{
	size_t avail;
	const uint8_t *p = image_at(img, vaddr, 9, &avail), *end, *aug;
	uint64_t skip;

	if (!p || read_u32(p + 4) != 0 || read_u32(p) > avail - 4)
		return false;
	end = p + 4 + read_u32(p);
	p += 9;
	aug = p;
	while (p < end && *p)
		p++;
	if (p >= end)
		return false;
	p++;
	*ret = 0;
	if (*aug != 'z')
		return !*aug;
	/* code alignment, data alignment, return register, length of the augmentation data */
	for (int i = 0; i < 4; i++)
		if (!read_uleb(&p, end, &skip))
			return false;
	for (aug++; *aug; aug++) {
		if (p >= end)
			return false;
		switch (*aug) {
		case 'R':
			*ret = *p;
			return true;
		case 'P':
			if ((size_t)(end - p) <= encoded_size(*p) || !encoded_size(*p))
				return false;
			p += 1 + encoded_size(*p);
			break;
		case 'L':
			p++;
			break;
		case 'S': case 'B':
			break;
		default:
			return false;
		}
	}
	return true;
}

static uint64_t read_encoded(const uint8_t *p, uint8_t enc)
{
	uint64_t v = 0;
	size_t n = encoded_size(enc);

	memcpy(&v, p, n);
	if ((enc & 0x08) && n < 8)
		v = (int64_t)(v << (64 - 8 * n)) >> (64 - 8 * n);
	return v;
}

bool fde_range(const struct image *img, const struct fde_table *t, uint64_t vaddr, uint64_t *ret_start,
	       uint64_t *ret_end)
{
	int64_t i = search(t, vaddr);
	uint64_t fde, start, length;
	const uint8_t *p;
	uint8_t enc;
	size_t n;

	if (i < 0)
		return false;
	fde = entry_value(t, i, 1);
	p = image_at(img, fde, 8, NULL);
	if (!p || !read_u32(p + 4) || read_u32(p + 4) > fde + 4)
		return false;
	if (!cie_encoding(img, fde + 4 - read_u32(p + 4), &enc) || enc == ENC_OMIT)
		return false;
	n = encoded_size(enc);
	if (!n || read_u32(p) < 4 + 2 * n || !image_at(img, fde, 8 + 2 * n, NULL))
		return false;
	start = read_encoded(p + 8, enc);
	if ((enc & 0x70) == ENC_PCREL)
		start += fde + 8;
	else if (enc & 0x70)
		return false;
	length = read_encoded(p + 8 + n, enc & 0x07);
	if (start != entry_value(t, i, 0) || vaddr - start >= length)
		return false;
	*ret_start = start;
	*ret_end = start + length;
	return true;
}

uint64_t fde_next(const struct fde_table *t, uint64_t vaddr)
{
	int64_t i = search(t, vaddr) + 1;

	return (uint64_t)i < t->nr ? entry_value(t, i, 0) : UINT64_MAX;
}
