// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Reads every table of names that an ELF file has, its separate debug file and MiniDebugInfo included, through libdwfl. */
#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "target/symbol_tables.h"

#define MAX_SYMBOLS (16u << 20)	/* a file that says it has more is hostile */

struct elf_symbols {
	Dwfl_Callbacks callbacks;	/* libdwfl keeps a pointer to it */
	char *debug_path;
	Dwfl *dwfl;
	Dwfl_Module *mod;	/* of dwfl */
	char *warning;
	size_t warning_size;
};

int symbol_list_add(struct symbol_list *l, const struct symbol_entry *e)
{
	if (l->nr == l->max) {
		size_t max = l->max ? 2 * l->max : 1024;
		struct symbol_entry *bigger = realloc(l->entries, max * sizeof(*bigger));

		if (!bigger)
			return -ENOMEM;
		l->entries = bigger;
		l->max = max;
	}
	l->entries[l->nr++] = *e;
	return 0;
}

/* --- the separate debug file --- */

/* Says why a file that .gnu_debuglink names was passed over. */
static void explain_mismatch(struct elf_symbols *e, Elf *elf, const char *path)
{
	const void *id, *own_id;
	Elf *other;
	ssize_t n, own_n = dwelf_elf_gnu_build_id(elf, &own_id);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return;
	other = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	n = other ? dwelf_elf_gnu_build_id(other, &id) : -1;
	if (!other || elf_kind(other) != ELF_K_ELF)
		snprintf(e->warning, e->warning_size, "the debug file %s is no ELF file and was passed over", path);
	else if (own_n > 0 && (n != own_n || memcmp(id, own_id, n)))
		snprintf(e->warning, e->warning_size, "the debug file %s has another build-id than the program and was passed "
			 "over; install the one of this build", path);
	else
		snprintf(e->warning, e->warning_size, "the CRC of the debug file %s is not the one in .gnu_debuglink and it was "
			 "passed over; install the one of this build", path);
	elf_end(other);
	close(fd);
}

/* libdwfl's search, and behind it a look at what stood where it looked. */
static int find_debuginfo(Dwfl_Module *mod, void **userdata, const char *modname, GElf_Addr base, const char *file,
			  const char *link, GElf_Word crc, char **ret_file)
{
	struct elf_symbols *e = *userdata;
	int fd = dwfl_standard_find_debuginfo(mod, userdata, modname, base, file, link, crc, ret_file);
	const char *slash = strrchr(file, '/');
	GElf_Addr bias;
	char path[PATH_MAX], *dir, *save, *dirs;
	Elf *elf = fd < 0 && link && slash ? dwfl_module_getelf(mod, &bias) : NULL;

	dirs = elf ? strdup(e->debug_path) : NULL;
	if (!dirs || strchr(link, '/')) {
		free(dirs);
		return fd;
	}
	snprintf(path, sizeof(path), "%.*s/%s", (int)(slash - file), file, link);
	explain_mismatch(e, elf, path);
	for (dir = strtok_r(dirs, ":", &save); dir && !e->warning[0]; dir = strtok_r(NULL, ":", &save)) {
		if (dir[0] == '/')
			snprintf(path, sizeof(path), "%s%.*s/%s", dir, (int)(slash - file), file, link);
		else
			snprintf(path, sizeof(path), "%.*s/%s/%s", (int)(slash - file), file, dir, link);
		explain_mismatch(e, elf, path);
	}
	free(dirs);
	return fd;
}

/* The file's own path: a debug link is looked for beside it, and /proc/self/fd/3 says nothing of that. To be freed. */
static char *real_path(const struct image *image)
{
	char link[32], path[PATH_MAX];
	ssize_t n;

	if (strncmp(image->path, "/proc/self/fd/", 14) && !strstr(image->path, "/map_files/"))
		return strdup(image->path);
	snprintf(link, sizeof(link), "/proc/self/fd/%d", image->fd);
	n = readlink(link, path, sizeof(path));
	return n > 0 && n < (ssize_t)sizeof(path) ? strndup(path, n) : strdup(image->path);
}

/* $FRAMESCOPE_DEBUG_PATH, or libdwfl's default with the target's own /usr/lib/debug first. */
static char *make_debug_path(const char *image_path)
{
	const char *env = secure_getenv("FRAMESCOPE_DEBUG_PATH");
	const char *root = !strncmp(image_path, "/proc/", 6) ? strstr(image_path, "/root/") : NULL;
	char *path;

	if (env)
		return strdup(env);
	if (!root)
		return strdup(":.debug:/usr/lib/debug");
	if (asprintf(&path, ":.debug:%.*s/usr/lib/debug:/usr/lib/debug", (int)(root + 5 - image_path), image_path) < 0)
		return NULL;
	return path;
}

/* --- tables --- */

/* Without a type: assembler code may be a function; what lies elsewhere, as _end or __bss_start, is none. */
static bool is_variable(const struct image *image, const GElf_Sym *sym, GElf_Addr addr)
{
	int type = GELF_ST_TYPE(sym->st_info);

	if (type == STT_FUNC || type == STT_GNU_IFUNC)
		return false;
	for (size_t i = 0; i < image->nr_segments && type == STT_NOTYPE && sym->st_shndx != SHN_UNDEF; i++)
		if (image->segments[i].exec && addr - image->segments[i].vaddr < image->segments[i].file_size)
			return false;
	return true;
}

static const char *judge(const struct image *image, const GElf_Sym *sym, GElf_Addr addr, bool *ret_skip)
{
	uint64_t offset;
	int type = GELF_ST_TYPE(sym->st_info);

	*ret_skip = type == STT_SECTION || type == STT_FILE || type == STT_TLS;
	if (sym->st_shndx == SHN_UNDEF)
		return "it is only called here and defined in another file";
	if (type == STT_GNU_IFUNC)
		return "it is an indirect function: the symbol is the one that selects it";
	if (type != STT_FUNC)
		return "it is not a function";
	if (!sym->st_size)
		return "its size is 0, so its bounds are not known";
	for (size_t i = 0; i < image->nr_segments; i++)
		if (image->segments[i].exec && addr - image->segments[i].vaddr < image->segments[i].file_size)
			return image_offset_of(image, addr, &offset) ? NULL : "it is not in the file";
	return "it does not lie in executable code";
}

/* How many entries the image's own table of that type has. */
static size_t count_table(Elf *elf, GElf_Word type)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;

	while (elf && (scn = elf_nextscn(elf, scn)))
		if (gelf_getshdr(scn, &shdr) && shdr.sh_type == type && shdr.sh_entsize && shdr.sh_size > shdr.sh_entsize)
			return shdr.sh_size / shdr.sh_entsize - 1;
	return 0;
}

static bool has_section(Elf *elf, const char *name)
{
	size_t strings;
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;

	if (!elf || elf_getshdrstrndx(elf, &strings))
		return false;
	while ((scn = elf_nextscn(elf, scn))) {
		const char *s = gelf_getshdr(scn, &shdr) ? elf_strptr(elf, strings, shdr.sh_name) : NULL;

		if (s && !strcmp(s, name))
			return true;
	}
	return false;
}

struct table_counts {
	size_t symtab, dynsym, debug, mini;
};

static int read_symbols(Dwfl_Module *mod, const struct image *image, struct symbol_list *list, struct table_counts *counts)
{
	GElf_Addr bias;
	Elf *main = dwfl_module_getelf(mod, &bias);
	const char *debug_file = NULL;
	int nr = dwfl_module_getsymtab(mod), err = 0;

	counts->symtab = count_table(main, SHT_SYMTAB);
	counts->dynsym = count_table(main, SHT_DYNSYM);
	dwfl_module_info(mod, NULL, NULL, NULL, NULL, NULL, NULL, &debug_file);
	for (int i = 1; i < nr && (unsigned)i < MAX_SYMBOLS && !err; i++) {
		struct symbol_entry e = { 0 };
		GElf_Sym sym;
		Elf *elf = NULL;
		bool skip;

		e.name = dwfl_module_getsym_info(mod, i, &sym, (GElf_Addr *)&e.vaddr, NULL, &elf, NULL);
		if (!e.name || !e.name[0])
			continue;
		e.size = sym.st_size;
		e.variable = is_variable(image, &sym, e.vaddr);
		e.refused = judge(image, &sym, e.vaddr, &skip);
		e.table = elf == main ? (counts->symtab ? TABLE_SYMTAB : TABLE_DYNSYM) :
			  debug_file ? TABLE_DEBUG_FILE : TABLE_MINI;
		counts->debug += e.table == TABLE_DEBUG_FILE;
		counts->mini += e.table == TABLE_MINI;
		if (!skip)
			err = symbol_list_add(list, &e);
	}
	return err;
}

/* Debug files are called by their build-id: ".build-id/b6/8ec….debug" tells enough of it. */
static const char *short_name(const struct image *image, const char *file, char *buf, size_t size)
{
	const char *by_id = strstr(file, ".build-id/");
	const char *id = image->build_id;

	if (by_id && strlen(by_id) > 24 && by_id[12] == '/')
		snprintf(buf, size, "%.16s….debug", by_id);
	else if (strlen(id) > 8 && !strncmp(file, id + 2, strlen(id + 2)))
		snprintf(buf, size, ".build-id/%.2s/%.3s….debug", id, id + 2);
	else
		snprintf(buf, size, "%s", file);
	return buf;
}

static void describe(const struct image *image, Dwfl_Module *mod, const struct table_counts *c, char *tables, size_t size)
{
	GElf_Addr bias;
	Elf *main = dwfl_module_getelf(mod, &bias);
	const char *debug_file = NULL, *link;
	GElf_Word crc;
	char name[201];
	size_t n;

	dwfl_module_info(mod, NULL, NULL, NULL, NULL, NULL, NULL, &debug_file);
	link = main ? dwelf_elf_gnu_debuglink(main, &crc) : NULL;
	n = snprintf(tables, size, ".symtab %zu, .dynsym %zu, ", c->symtab, c->dynsym);
	if (debug_file)
		n += snprintf(tables + n, size - n, "debug file %s %zu, ", short_name(image, debug_file, name, sizeof(name)), c->debug);
	else if (link)
		n += snprintf(tables + n, size - n, "debug file %.100s not found, ", short_name(image, link, name, sizeof(name)));
	else
		n += snprintf(tables + n, size - n, "debug file none, ");
	if (c->mini || !has_section(main, ".gnu_debugdata"))
		snprintf(tables + n, size - n, c->mini ? "MiniDebugInfo %zu" : "MiniDebugInfo none", c->mini);
	else
		snprintf(tables + n, size - n, "MiniDebugInfo present but not readable by this libdw (damaged, or no liblzma)");
}

int elf_symbols_read(const struct image *image, struct elf_symbols **ret, struct symbol_list *list, char *tables,
		     size_t tables_size, char *warning, size_t warning_size, struct error *err)
{
	struct elf_symbols *e = calloc(1, sizeof(*e));
	struct table_counts counts = { 0 };
	Dwfl_Module *mod = NULL;
	void **userdata;
	char *path = real_path(image);
	int fd, rc = 0;

	snprintf(tables, tables_size, "the file's tables could not be read");
	if (!e || !path || !(e->debug_path = make_debug_path(image->path))) {
		free(path);
		free(e);
		return error_set(err, ERR_OTHER, -ENOMEM, "out of memory while reading the symbols of %s", image->path);
	}
	*ret = e;
	e->warning = warning;
	e->warning_size = warning_size;
	e->callbacks = (Dwfl_Callbacks){ .find_elf = dwfl_build_id_find_elf, .find_debuginfo = find_debuginfo,
		.section_address = dwfl_offline_section_address, .debuginfo_path = &e->debug_path };
	e->dwfl = dwfl_begin(&e->callbacks);
	fd = fcntl(image->fd, F_DUPFD_CLOEXEC, 0);
	if (e->dwfl && fd >= 0) {
		dwfl_report_begin(e->dwfl);
		/* base 0 with p_vaddr added: addresses stay those of the file */
		mod = dwfl_report_elf(e->dwfl, "image", path, fd, 0, true);
		if (!mod)
			close(fd);
		dwfl_report_end(e->dwfl, NULL, NULL);
	} else if (fd >= 0) {
		close(fd);
	}
	free(path);
	if (!mod) {
		snprintf(warning, warning_size, "the tables of %s could not be read: %s", image->path, dwfl_errmsg(-1));
		return 0;
	}
	dwfl_module_info(mod, &userdata, NULL, NULL, NULL, NULL, NULL, NULL);
	*userdata = e;
	e->mod = mod;
	rc = read_symbols(mod, image, list, &counts);
	describe(image, mod, &counts, tables, tables_size);
	return rc ? error_set(err, ERR_OTHER, rc, "out of memory while reading the symbols of %s", image->path) : 0;
}

void elf_symbols_free(struct elf_symbols *e)
{
	if (!e)
		return;
	dwfl_end(e->dwfl);
	free(e->debug_path);
	free(e);
}

void *elf_symbols_module(const struct elf_symbols *e)
{
	return e->mod;
}
