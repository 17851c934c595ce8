// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Maps one ELF file and answers questions about it, with every offset in the file taken for a lie. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/mapped.h"
#include "target/image.h"

#define MAX_PROGRAM_HEADERS 4096
#define MAX_NOTE_SEGMENT (1u << 20)	/* bytes of one PT_NOTE that are looked through for the build-id */

static int bad(const struct image *img, struct error *err, const char *what)
{
	return error_set(err, ERR_INPUT, -EINVAL, "%s is not a usable ELF file: %s", img->path, what);
}

/* Do [offset, offset + n) lie in the file? */
static bool in_file(const struct image *img, uint64_t offset, uint64_t n)
{
	return offset <= img->size && n <= img->size - offset;
}

static int map_file(struct image *img, struct error *err)
{
	struct stat st;
	void *map;

	img->fd = open(img->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (img->fd < 0)
		return error_set(err, errno == EACCES ? ERR_PERMISSION : ERR_INPUT, -errno,
				 "%s can't be opened: %s; check the path and your rights", img->path,
				 strerror(errno));
	if (fstat(img->fd, &st) < 0)
		return error_set(err, ERR_INPUT, -errno, "%s can't be examined: %s", img->path, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return bad(img, err, "it is no regular file");
	if ((uint64_t)st.st_size < sizeof(Elf64_Ehdr))
		return bad(img, err, "it is shorter than an ELF header");
	if (st.st_size > INT64_MAX / 4)
		return bad(img, err, "it is too large");
	img->size = st.st_size;
	img->dev = st.st_dev;
	img->inode = st.st_ino;
	img->modified = st.st_mtim;
	/*
	 * Shared, not private: into a private mapping the kernel plants the breakpoints of whoever probes this file
	 * just now (uprobes.c, valid_vma()), and a function's first byte would read as padding.
	 */
	map = mmap(NULL, img->size, PROT_READ, MAP_SHARED, img->fd, 0);
	if (map == MAP_FAILED)
		return error_set(err, ERR_OTHER, -errno, "%s can't be mapped: %s", img->path, strerror(errno));
	img->bytes = map;
	img->faults = mapped_faults();
	img->guard = mapped_guard(map, img->size);
	return 0;
}

static int check_header(struct image *img, Elf64_Ehdr *eh, struct error *err)
{
	memcpy(eh, img->bytes, sizeof(*eh));
	if (memcmp(eh->e_ident, ELFMAG, SELFMAG))
		return bad(img, err, "it doesn't begin with the ELF magic");
	if (eh->e_ident[EI_CLASS] != ELFCLASS64)
		return bad(img, err, "only 64-bit code is supported");
	if (eh->e_ident[EI_DATA] != ELFDATA2LSB)
		return bad(img, err, "only little-endian code is supported");
	if (eh->e_type != ET_EXEC && eh->e_type != ET_DYN)
		return bad(img, err, "it is neither an executable nor a shared library");
	img->arch = arch_for_elf(eh->e_machine);
	if (!img->arch)
		return error_set(err, ERR_INPUT, -ENOTSUP,
				 "%s is for machine %u, which framescope can't read code of; x86-64 is supported",
				 img->path, eh->e_machine);
	if (!eh->e_phnum || eh->e_phnum > MAX_PROGRAM_HEADERS || eh->e_phentsize != sizeof(Elf64_Phdr))
		return bad(img, err, "its program header table is malformed");
	if (!in_file(img, eh->e_phoff, (uint64_t)eh->e_phnum * sizeof(Elf64_Phdr)))
		return bad(img, err, "its program header table lies outside of the file");
	return 0;
}

static void find_build_id(struct image *img, uint64_t offset, uint64_t n)
{
	static const char digits[] = "0123456789abcdef";

	if (!in_file(img, offset, n) || n > MAX_NOTE_SEGMENT)
		return;
	for (uint64_t pos = 0; n - pos >= sizeof(Elf64_Nhdr);) {
		const uint8_t *p = img->bytes + offset + pos;
		uint64_t name_bytes, desc_bytes;
		Elf64_Nhdr nh;

		memcpy(&nh, p, sizeof(nh));
		name_bytes = ((uint64_t)nh.n_namesz + 3) & ~3ull;
		desc_bytes = ((uint64_t)nh.n_descsz + 3) & ~3ull;
		pos += sizeof(nh);
		if (name_bytes > n - pos || desc_bytes > n - pos - name_bytes)
			return;
		if (nh.n_type == NT_GNU_BUILD_ID && nh.n_namesz == 4 && !memcmp(p + sizeof(nh), "GNU", 4) &&
		    nh.n_descsz && nh.n_descsz <= (sizeof(img->build_id) - 1) / 2) {
			const uint8_t *id = p + sizeof(nh) + name_bytes;

			for (uint32_t i = 0; i < nh.n_descsz; i++) {
				img->build_id[2 * i] = digits[id[i] >> 4];
				img->build_id[2 * i + 1] = digits[id[i] & 15];
			}
			img->build_id[2 * nh.n_descsz] = '\0';
			return;
		}
		pos += name_bytes + desc_bytes;
	}
}

static int by_vaddr(const void *a, const void *b)
{
	const struct image_segment *x = a, *y = b;

	return x->vaddr < y->vaddr ? -1 : x->vaddr > y->vaddr;
}

static int read_segments(struct image *img, const Elf64_Ehdr *eh, struct error *err)
{
	img->segments = calloc(eh->e_phnum, sizeof(*img->segments));
	if (!img->segments)
		return error_set(err, ERR_OTHER, -ENOMEM, "out of memory");
	for (unsigned int i = 0; i < eh->e_phnum; i++) {
		struct image_segment *s = &img->segments[img->nr_segments];
		Elf64_Phdr ph;

		memcpy(&ph, img->bytes + eh->e_phoff + (uint64_t)i * sizeof(ph), sizeof(ph));
		if (ph.p_type == PT_NOTE && !img->build_id[0])
			find_build_id(img, ph.p_offset, ph.p_filesz);
		if (ph.p_type != PT_LOAD)
			continue;
		if (!in_file(img, ph.p_offset, ph.p_filesz) || ph.p_filesz > ph.p_memsz ||
		    ph.p_vaddr > INT64_MAX / 2 || ph.p_memsz > INT64_MAX / 2)
			return bad(img, err, "a loadable segment lies outside of the file; it may be cut off");
		*s = (struct image_segment){ .vaddr = ph.p_vaddr, .offset = ph.p_offset, .file_size = ph.p_filesz,
					     .mem_size = ph.p_memsz, .exec = ph.p_flags & PF_X,
					     .write = ph.p_flags & PF_W };
		img->nr_segments++;
	}
	if (!img->nr_segments)
		return bad(img, err, "it has no loadable segment");
	qsort(img->segments, img->nr_segments, sizeof(*img->segments), by_vaddr);
	for (size_t i = 1; i < img->nr_segments; i++)
		if (img->segments[i].vaddr - img->segments[i - 1].vaddr < img->segments[i - 1].mem_size)
			return bad(img, err, "its loadable segments overlap");
	return 0;
}

int image_open(const char *path, struct image **ret, struct error *err)
{
	struct image *img = calloc(1, sizeof(*img));
	Elf64_Ehdr eh;
	int rc;

	*ret = NULL;
	if (!img)
		return error_set(err, ERR_OTHER, -ENOMEM, "out of memory");
	img->fd = -1;
	img->path = strdup(path);
	if (!img->path)
		rc = error_set(err, ERR_OTHER, -ENOMEM, "out of memory");
	else
		rc = map_file(img, err);
	if (!rc)
		rc = check_header(img, &eh, err);
	if (!rc)
		rc = read_segments(img, &eh, err);
	/* what is wrong with it may be that somebody writes it just now */
	if (img->bytes && image_check(img, NULL))
		rc = image_check(img, err);
	if (rc) {
		image_close(img);
		return rc;
	}
	*ret = img;
	return 0;
}

int image_check(const struct image *img, struct error *err)
{
	struct stat st;

	if (!fstat(img->fd, &st) && (uint64_t)st.st_size == img->size && st.st_mtim.tv_sec == img->modified.tv_sec &&
	    st.st_mtim.tv_nsec == img->modified.tv_nsec && mapped_faults() == img->faults)
		return 0;
	return error_set(err, ERR_CHANGED, -ESTALE, "%s or its debug file was changed while it was read; try again when that is "
			 "done, and restart the program if it runs", img->path);
}

void image_close(struct image *img)
{
	if (!img)
		return;
	if (img->bytes) {
		munmap((void *)img->bytes, img->size);
		mapped_unguard(img->guard);
	}
	if (img->fd >= 0)
		close(img->fd);
	free(img->segments);
	free(img->path);
	free(img);
}

bool image_offset_of(const struct image *img, uint64_t vaddr, uint64_t *ret_offset)
{
	for (size_t i = 0; i < img->nr_segments; i++) {
		const struct image_segment *s = &img->segments[i];

		if (vaddr >= s->vaddr && vaddr - s->vaddr < s->file_size) {
			*ret_offset = vaddr - s->vaddr + s->offset;
			return true;
		}
	}
	return false;
}

bool image_vaddr_of(const struct image *img, uint64_t offset, uint64_t *ret_vaddr)
{
	bool found = false;

	/* two segments may map the same page of the file: the executable one is meant */
	for (size_t i = 0; i < img->nr_segments; i++) {
		const struct image_segment *s = &img->segments[i];

		if (offset < s->offset || offset - s->offset >= s->file_size || (found && !s->exec))
			continue;
		*ret_vaddr = offset - s->offset + s->vaddr;
		found = true;
	}
	return found;
}

const uint8_t *image_at(const struct image *img, uint64_t vaddr, size_t n, size_t *ret_avail)
{
	for (size_t i = 0; i < img->nr_segments; i++) {
		const struct image_segment *s = &img->segments[i];
		uint64_t left;

		if (vaddr < s->vaddr || vaddr - s->vaddr >= s->file_size)
			continue;
		left = s->file_size - (vaddr - s->vaddr);
		if (ret_avail)
			*ret_avail = left;
		return n <= left ? img->bytes + s->offset + (vaddr - s->vaddr) : NULL;
	}
	return NULL;
}
