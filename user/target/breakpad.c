// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Breakpad symbol files (docs/symbol_files.md of Breakpad): FUNC and PUBLIC records as names of functions. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>
#include "target/symbol_tables.h"

#define MAX_FILE (2ull << 30)	/* bytes; those of the largest browsers are about half of this */

/* The id of a MODULE line for a build-id: its first 16 bytes as a GUID (three little-endian numbers first), then age 0. */
static void module_id(const char *build_id, char ret[34])
{
	static const uint8_t order[16] = { 3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15 };
	char padded[33] = "00000000000000000000000000000000";

	memcpy(padded, build_id, strnlen(build_id, 32));
	for (int i = 0; i < 16; i++) {
		ret[2 * i] = toupper((unsigned char)padded[2 * order[i]]);
		ret[2 * i + 1] = toupper((unsigned char)padded[2 * order[i] + 1]);
	}
	strcpy(ret + 32, "0");
}

/* The next word of a line; NULL if there is none. */
static char *next_word(char **at)
{
	char *word = *at + strspn(*at, " \t"), *end = word + strcspn(word, " \t");

	*at = *end ? end + 1 : end;
	*end = '\0';
	return *word ? word : NULL;
}

static bool next_hex(char **at, uint64_t *ret)
{
	char *word = next_word(at), *end;

	if (!word || !isxdigit((unsigned char)*word))
		return false;
	errno = 0;
	*ret = strtoull(word, &end, 16);
	return !errno && !*end;
}

static int parse_module(char *line, const char *path, int number, const char *build_id, struct error *err)
{
	char *id, wanted[34];

	next_word(&line);	/* operating system */
	next_word(&line);	/* architecture */
	id = next_word(&line);
	if (!id)
		return error_set(err, ERR_INPUT, -EINVAL, "%s:%d: the MODULE line has no id", path, number);
	if (!build_id[0])
		return error_set(err, ERR_INPUT, -EINVAL, "%s can't be used: the module has no build-id to tell that these are "
				 "its symbols", path);
	module_id(build_id, wanted);
	if (strcasecmp(id, wanted))
		return error_set(err, ERR_INPUT, -EINVAL, "%s is of another build: its id is %.40s, this module's is %s; get the "
				 "symbols of build-id %s", path, id, wanted, build_id);
	return 0;
}

/* "[m] address size parameter_size name" or, for PUBLIC, "[m] address parameter_size name". */
static bool parse_function(char *line, bool public, uint64_t base, struct symbol_entry *ret)
{
	uint64_t addr, params;

	*ret = (struct symbol_entry){ .table = TABLE_BREAKPAD, .demangled = true };
	if (line[0] == 'm' && line[1] == ' ')	/* several symbols share the address */
		line += 2;
	if (!next_hex(&line, &addr) || (!public && !next_hex(&line, &ret->size)) || !next_hex(&line, &params))
		return false;
	line += strspn(line, " \t");
	ret->name = line;
	ret->vaddr = addr + base;
	if (public)
		ret->refused = "it is a PUBLIC record, whose size is not known";
	else if (!ret->size)
		ret->refused = "its size is 0, so its bounds are not known";
	/* dump_syms demangles, but not everywhere */
	ret->demangled = strncmp(line, "_Z", 2) && strncmp(line, "_R", 2);
	return line[0];
}

int breakpad_parse(char *text, size_t size, const char *path, const char *build_id, uint64_t base,
		   struct symbol_list *list, struct error *err)
{
	char *line = text, *end = text + size, *next;
	bool module = false;
	int rc = 0, number = 0;

	for (; line < end && !rc; line = next) {
		struct symbol_entry e;
		char *eol = memchr(line, '\n', end - line);
		bool public = !strncmp(line, "PUBLIC ", 7), function = !strncmp(line, "FUNC ", 5);

		number++;
		next = eol ? eol + 1 : end;
		*(eol ?: end) = '\0';
		if (eol && eol > line && eol[-1] == '\r')
			eol[-1] = '\0';
		if (!strncmp(line, "MODULE ", 7)) {
			rc = parse_module(line + 7, path, number, build_id, err);
			module = true;
		} else if (!module) {
			rc = error_set(err, ERR_INPUT, -EINVAL, "%s is no Breakpad symbol file: it doesn't begin with a MODULE line",
				       path);
		} else if (public || function) {
			if (!parse_function(line + (public ? 7 : 5), public, base, &e))
				rc = error_set(err, ERR_INPUT, -EINVAL, "%s:%d: this %s line is malformed", path, number,
					       public ? "PUBLIC" : "FUNC");
			else if (symbol_list_add(list, &e))
				rc = error_set(err, ERR_OTHER, -ENOMEM, "out of memory while reading %s", path);
		}
	}
	if (!rc && !module)
		rc = error_set(err, ERR_INPUT, -EINVAL, "%s is no Breakpad symbol file: it is empty", path);
	return rc;
}

/* Functions outside of executable file bytes can't be probed, whatever the file says. */
static void check_addresses(const struct image *image, struct symbol_list *list, size_t first)
{
	for (size_t i = first; i < list->nr; i++) {
		struct symbol_entry *e = &list->entries[i];
		bool inside = false;

		for (size_t k = 0; k < image->nr_segments; k++)
			inside = inside || (image->segments[k].exec &&
					    e->vaddr - image->segments[k].vaddr < image->segments[k].file_size);
		if (!inside && !e->refused)
			e->refused = "it does not lie in executable code";
	}
}

int breakpad_read(const char *path, const struct image *image, char **ret_text, struct symbol_list *list,
		  struct error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), rc = 0;
	uint64_t base = image->nr_segments ? image->segments[0].vaddr : 0;
	size_t size = 0, first = list->nr;
	char *text = NULL;
	struct stat st;
	ssize_t n = 1;

	if (fd < 0)
		return error_set(err, ERR_INPUT, -errno, "can't open the symbol file %s: %s; check the path and your rights", path, strerror(errno));
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || (uint64_t)st.st_size > MAX_FILE)
		rc = error_set(err, ERR_INPUT, -EINVAL, "%s is no Breakpad symbol file", path);
	else if (!(text = malloc(st.st_size + 1)))
		rc = error_set(err, ERR_OTHER, -ENOMEM, "out of memory while reading %s", path);
	while (!rc && n > 0 && size < (size_t)st.st_size) {
		n = read(fd, text + size, st.st_size - size);
		if (n < 0)
			rc = error_set(err, ERR_INPUT, -errno, "can't read %s: %s", path, strerror(errno));
		else
			size += n;
	}
	close(fd);
	if (!rc) {
		text[size] = '\0';
		rc = breakpad_parse(text, size, path, image->build_id, base, list, err);
	}
	if (rc) {
		free(text);
		return rc;
	}
	check_addresses(image, list, first);
	*ret_text = text;
	return 0;
}
