/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Makes small x86-64 ELF files, instruction by instruction: texts in a read-only segment, functions in an executable one,
 * words with relative relocations in a writable one. What a linker would do, with every byte under the test's control. */
#ifndef TESTS_UNIT_MADE_ELF_H
#define TESTS_UNIT_MADE_ELF_H

#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MADE_RODATA 0x1000	/* file offsets; addresses are 0x1000 higher from the code on, so that mixing them up shows */
#define MADE_CODE 0x4000
#define MADE_CODE_VADDR 0x5000
#define MADE_DATA 0x8000
#define MADE_DATA_VADDR 0xa000
#define MADE_SIZE 0x9000

struct made_elf {
	uint8_t bytes[MADE_SIZE];
	size_t rodata, code, words;	/* used */
	size_t fixups[256];		/* code offsets of rel32s that wait for a label */
	int labels[256];
	size_t nr_fixups;
	uint64_t label[64];
	bool eh_frame;			/* write an unwind table for the functions in fde[] */
	uint64_t fde[16][2];
	size_t nr_fdes;
	uint8_t build_id[20];
	char path[64];
};

static inline void made_begin(struct made_elf *m)
{
	memset(m, 0, sizeof(*m));
	memset(m->bytes + MADE_CODE, 0xcc, MADE_DATA - MADE_CODE);
	for (size_t i = 0; i < sizeof(m->build_id); i++)
		m->build_id[i] = 0x10 + i;
	m->rodata = 0x100;
}

static inline uint64_t made_here(const struct made_elf *m)
{
	return MADE_CODE_VADDR + m->code;
}

/* A NUL-terminated text behind a NUL; returns its address. */
static inline uint64_t made_text(struct made_elf *m, const char *s)
{
	uint64_t at = MADE_RODATA + m->rodata;

	memcpy(m->bytes + at, s, strlen(s) + 1);
	m->rodata += strlen(s) + 2;
	return at;
}

static inline void made_bytes(struct made_elf *m, const void *p, size_t n)
{
	memcpy(m->bytes + MADE_CODE + m->code, p, n);
	m->code += n;
}

#define made(m, ...) made_bytes(m, (const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ }))

static inline void made_s32(struct made_elf *m, int64_t v)
{
	int32_t w = v;

	made_bytes(m, &w, 4);
}

static inline void made_align(struct made_elf *m)
{
	m->code = (m->code + 15) & ~15ull;	/* int3 is there already */
}

/* Where a label is; labels may be used before that. */
static inline void made_label(struct made_elf *m, int label)
{
	m->label[label] = made_here(m);
}

static inline void made_rel32(struct made_elf *m, int label)
{
	m->fixups[m->nr_fixups] = m->code;
	m->labels[m->nr_fixups++] = label;
	made_s32(m, 0);
}

/* Starts a function on the grid, behind padding: push %rbp; mov %rsp,%rbp. */
static inline uint64_t made_function(struct made_elf *m, int label)
{
	made_align(m);
	m->code += 16;
	made_label(m, label);
	made(m, 0x55, 0x48, 0x89, 0xe5);
	return m->label[label];
}

static inline void made_lea(struct made_elf *m, uint64_t target)	/* lea target(%rip),%rax */
{
	made(m, 0x48, 0x8d, 0x05);
	made_s32(m, (int64_t)target - (int64_t)(made_here(m) + 4));
}

static inline void made_call(struct made_elf *m, int label)
{
	made(m, 0xe8);
	made_rel32(m, label);
}

static inline void made_jump(struct made_elf *m, int label)
{
	made(m, 0xe9);
	made_rel32(m, label);
}

static inline void made_branch(struct made_elf *m, int label)	/* test %al,%al; jne label */
{
	made(m, 0x84, 0xc0, 0x0f, 0x85);
	made_rel32(m, label);
}

static inline void made_leave(struct made_elf *m)
{
	made(m, 0x5d, 0xc3);
}

/* A word of data that holds an address, with a relative relocation. */
static inline void made_word(struct made_elf *m, uint64_t target)
{
	Elf64_Rela r = { MADE_DATA_VADDR + 0x400 + m->words * 8, ELF64_R_INFO(0, R_X86_64_RELATIVE), target };

	memcpy(m->bytes + MADE_DATA + 0x200 + m->words * sizeof(r), &r, sizeof(r));
	m->words++;
}

static inline void made_fde(struct made_elf *m, uint64_t start, uint64_t end)
{
	m->fde[m->nr_fdes][0] = start;
	m->fde[m->nr_fdes++][1] = end;
}

/* .eh_frame_hdr at 0x3000, .eh_frame with one CIE at 0x3200. FDEs must be given by ascending address. */
static inline void made_write_fdes(struct made_elf *m)
{
	static const uint8_t cie[] = { 0x14, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1,
				       0, 0 };
	uint8_t *hdr = m->bytes + 0x3000;
	uint32_t v = m->nr_fdes;
	int32_t w = 0x3200 - 0x3004;

	memcpy(hdr, (uint8_t[]){ 1, 0x1b, 0x03, 0x3b }, 4);
	memcpy(hdr + 4, &w, 4);
	memcpy(hdr + 8, &v, 4);
	memcpy(m->bytes + 0x3200, cie, sizeof(cie));
	for (size_t i = 0; i < m->nr_fdes; i++) {
		uint32_t at = 0x3200 + sizeof(cie) + i * 24;
		uint32_t fde[6] = { 20, at + 4 - 0x3200, m->fde[i][0] - (at + 8), m->fde[i][1] - m->fde[i][0], 0, 0 };
		int32_t entry[2] = { m->fde[i][0] - 0x3000, at - 0x3000 };

		memcpy(m->bytes + at, fde, sizeof(fde));
		memcpy(hdr + 12 + i * 8, entry, sizeof(entry));
	}
}

static inline void made_write_headers(struct made_elf *m)
{
	Elf64_Ehdr eh = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT }, .e_type = ET_DYN,
			  .e_machine = EM_X86_64, .e_version = 1, .e_phoff = 64, .e_ehsize = 64, .e_phentsize = 56,
			  .e_phnum = 6 };
	Elf64_Phdr ph[6] = {
		{ .p_type = PT_LOAD, .p_flags = PF_R, .p_filesz = MADE_CODE, .p_memsz = MADE_CODE },
		{ .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_offset = MADE_CODE, .p_vaddr = MADE_CODE_VADDR,
		  .p_filesz = MADE_DATA - MADE_CODE, .p_memsz = MADE_DATA - MADE_CODE },
		{ .p_type = PT_LOAD, .p_flags = PF_R | PF_W, .p_offset = MADE_DATA, .p_vaddr = MADE_DATA_VADDR,
		  .p_filesz = MADE_SIZE - MADE_DATA, .p_memsz = 0x2000 },
		{ .p_type = PT_NOTE, .p_offset = 0x200, .p_vaddr = 0x200, .p_filesz = 36, .p_memsz = 36 },
		{ .p_type = PT_DYNAMIC, .p_offset = MADE_DATA, .p_vaddr = MADE_DATA_VADDR, .p_filesz = 64 },
		{ .p_type = m->eh_frame ? PT_GNU_EH_FRAME : PT_NULL, .p_offset = 0x3000, .p_vaddr = 0x3000, .p_filesz = 0x200 },
	};
	Elf64_Nhdr note = { 4, sizeof(m->build_id), NT_GNU_BUILD_ID };
	Elf64_Dyn dyn[3] = { { DT_RELA, { MADE_DATA_VADDR + 0x200 } }, { DT_RELASZ, { m->words * sizeof(Elf64_Rela) } },
			     { DT_NULL, { 0 } } };

	memcpy(m->bytes, &eh, sizeof(eh));
	memcpy(m->bytes + 64, ph, sizeof(ph));
	memcpy(m->bytes + 0x200, &note, sizeof(note));
	memcpy(m->bytes + 0x200 + sizeof(note), "GNU", 4);
	memcpy(m->bytes + 0x200 + sizeof(note) + 4, m->build_id, sizeof(m->build_id));
	memcpy(m->bytes + MADE_DATA, dyn, sizeof(dyn));
}

static inline void made_save(struct made_elf *m)
{
	int fd = open(m->path, O_WRONLY | O_CREAT | O_TRUNC, 0755);

	if (fd < 0 || write(fd, m->bytes, MADE_SIZE) != MADE_SIZE)
		abort();
	close(fd);
}

/* Resolves labels, writes headers and the file. */
static inline void made_end(struct made_elf *m, const char *name)
{
	for (size_t i = 0; i < m->nr_fixups; i++) {
		int32_t v = m->label[m->labels[i]] - (MADE_CODE_VADDR + m->fixups[i] + 4);

		memcpy(m->bytes + MADE_CODE + m->fixups[i], &v, 4);
	}
	if (m->eh_frame)
		made_write_fdes(m);
	made_write_headers(m);
	snprintf(m->path, sizeof(m->path), "/tmp/framescope-%s-%d", name, (int)getpid());
	made_save(m);
}

#endif
