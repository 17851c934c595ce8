/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Inside of symbols.c: the names as read from one image's tables, before any matching. */
#ifndef FRAMESCOPE_TARGET_SYMBOL_TABLES_H
#define FRAMESCOPE_TARGET_SYMBOL_TABLES_H

#include "target/image.h"
#include "target/site.h"

enum symbol_table { TABLE_SYMTAB, TABLE_DYNSYM, TABLE_DEBUG_FILE, TABLE_MINI, TABLE_BREAKPAD };

struct symbol_entry {
	uint64_t vaddr, size;
	const char *name;	/* owned by whoever read the table */
	uint8_t table;		/* enum symbol_table */
	bool demangled;		/* the name is no symbol but text for people (Breakpad) */
	bool variable;
	const char *refused;	/* NULL, or why it isn't a function to attach to: static text */
};

struct symbol_list {
	struct symbol_entry *entries;
	size_t nr, max;
};

int symbol_list_add(struct symbol_list *l, const struct symbol_entry *e);	/* -ENOMEM */

/* --- tables of ELF files, through libdwfl --- */

struct elf_symbols;

/* Appends what there is; fills the two texts of symbols_tables() and symbols_warning(). Never fails but for memory. */
int elf_symbols_read(const struct image *image, struct elf_symbols **ret, struct symbol_list *list, char *tables,
		     size_t tables_size, char *warning, size_t warning_size, struct error *err);
void elf_symbols_free(struct elf_symbols *e);
/* The Dwfl_Module, or NULL. */
void *elf_symbols_module(const struct elf_symbols *e);
/* Puts the steps for a member path of the function at vaddr before those of the spec (members.c). False: `why` not. */
bool elf_symbols_resolve(struct elf_symbols *e, const struct image *image, uint64_t vaddr, const char *members,
			 struct arg_spec *spec, char *why, size_t size);

/* --- Breakpad .sym files --- */

/* `*ret_text` owns the names. Refuses a file of another build, by its MODULE line. Hostile input gives ERR_INPUT. */
int breakpad_read(const char *path, const struct image *image, char **ret_text, struct symbol_list *list,
		  struct error *err);
/* The same from text in memory, which is changed and must outlive the list. */
int breakpad_parse(char *text, size_t size, const char *path, const char *build_id, uint64_t base,
		   struct symbol_list *list, struct error *err);

#endif
