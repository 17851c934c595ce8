// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Engine definitions as files: where they lie, which one claims a module, and one made of command-line options. */
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "target/engine.h"
#include "target/image.h"

#define MAX_FILE (1 << 20)	/* bytes of one definition */

static void free_probe(struct engine_probe *p)
{
	free(p->name);
	free(p->label);
	free(p->group);
	free(p->near);
	free(p->unless);
	for (size_t i = 0; i < p->nr_functions; i++)
		free(p->functions[i]);
	for (size_t i = 0; i < p->nr_anchors; i++)
		free(p->anchors[i]);
	for (size_t i = 0; i < p->nr_fallbacks; i++)
		free(p->fallbacks[i]);
	for (size_t i = 0; i < p->nr_calls; i++)
		free(p->calls[i]);
	for (size_t i = 0; i < p->nr_args; i++)
		free(p->members[i]);
}

void engine_free(struct engine *e)
{
	if (!e)
		return;
	for (size_t i = 0; i < e->nr_modules; i++)
		free(e->modules[i]);
	for (size_t i = 0; i < e->nr_marks; i++)
		free(e->marks[i]);
	for (size_t i = 0; i < e->nr_windows; i++)
		free(e->windows[i]);
	for (size_t i = 0; i < e->nr_probes; i++)
		free_probe(&e->probes[i]);
	free(e->modules);
	free(e->marks);
	free(e->windows);
	free(e->probes);
	free(e->path);
	free(e->name);
	free(e->title);
	free(e->category);
	free(e->main_thread);
	free(e);
}

void engines_free(struct engine **e, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		engine_free(e[i]);
	free(e);
}

/* The whole of a small regular file, NUL-terminated. */
static int read_text(const char *path, char **ret, struct error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), rc = 0;
	char *text = NULL;
	size_t size = 0;
	ssize_t n = 1;
	struct stat st;

	if (fd < 0)
		return error_set(err, ERR_INPUT, -errno, "can't open the engine definition %s: %s; check the path and your rights", path, strerror(errno));
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size > MAX_FILE)
		rc = error_set(err, ERR_INPUT, -EINVAL, "%s is no engine definition: those are text files of at most %d bytes",
			       path, MAX_FILE);
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
		if (strlen(text) != size)
			rc = error_set(err, ERR_INPUT, -EINVAL, "%s is no engine definition: it holds a NUL byte", path);
	}
	if (rc)
		free(text);
	else
		*ret = text;
	return rc;
}

int engine_read(const char *path, const struct arch *arch, struct engine **ret, struct error *err)
{
	char *text = NULL;
	int rc = read_text(path, &text, err);

	if (rc)
		return rc;
	rc = engine_parse(text, path, arch, ret, err);
	free(text);
	return rc;
}

static const struct arch *arch_native(void)
{
#if defined(__aarch64__)
	return arch_for_elf(EM_AARCH64);
#else
	return arch_for_elf(EM_X86_64);
#endif
}

/* --- the set of installed ones --- */

struct set {
	struct engine **list;
	size_t nr;
	const struct arch *arch;
	const char *only;	/* name; "*": all; NULL: all but those on request */
};

static int set_add(struct set *s, struct engine *e, struct error *err)
{
	struct engine **bigger;

	for (size_t i = 0; i < s->nr; i++)
		if (!strcmp(s->list[i]->name, e->name)) {
			engine_free(e);
			return 0;
		}
	bigger = realloc(s->list, (s->nr + 1) * sizeof(*bigger));
	if (!bigger) {
		engine_free(e);
		return error_set(err, ERR_OTHER, -ENOMEM, "out of memory while reading engine definitions");
	}
	s->list = bigger;
	bigger[s->nr++] = e;
	return 0;
}

static int is_definition(const struct dirent *d)
{
	size_t n = strlen(d->d_name);

	return n > 7 && d->d_name[0] != '.' && !strcmp(d->d_name + n - 7, ".engine");
}

static int set_add_directory(struct set *s, const char *dir, struct error *err)
{
	struct dirent **names;
	char real[PATH_MAX];
	int nr, rc = 0;

	if (!realpath(dir, real))
		return 0;
	nr = scandir(real, &names, is_definition, alphasort);
	for (int i = 0; i < nr; i++) {
		struct engine *e = NULL;
		char path[PATH_MAX + 256];

		snprintf(path, sizeof(path), "%s/%s", real, names[i]->d_name);
		if (!rc)
			rc = engine_read(path, s->arch, &e, err);
		if (e && (!s->only ? !e->on_request : !strcmp(s->only, "*") || !strcmp(e->name, s->only)))
			rc = set_add(s, e, err);
		else
			engine_free(e);
		free(names[i]);
	}
	if (nr >= 0)
		free(names);
	return rc;
}

/* Calls set_add_directory() for every directory that there is. */
static int set_add_all(struct set *s, struct error *err)
{
	static const char *const near[] = { "/../share/framescope/engines", "/../user/engines" };
	char self[PATH_MAX] = "", dir[PATH_MAX + 64];
	const char *env = secure_getenv("FRAMESCOPE_ENGINES");
	char *list, *save, *slash;
	ssize_t n;
	int rc = 0;

	if (env) {
		list = strdup(env);
		if (!list)
			return error_set(err, ERR_OTHER, -ENOMEM, "out of memory while reading engine definitions");
		for (char *d = strtok_r(list, ":", &save); d && !rc; d = strtok_r(NULL, ":", &save))
			rc = set_add_directory(s, d, err);
		free(list);
	}
	n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	slash = n > 0 ? memrchr(self, '/', n) : NULL;
	if (slash)
		*slash = '\0';
	for (size_t i = 0; slash && i < sizeof(near) / sizeof(near[0]) && !rc; i++) {
		snprintf(dir, sizeof(dir), "%s%s", self, near[i]);
		rc = set_add_directory(s, dir, err);
	}
	return rc ?: set_add_directory(s, FRAMESCOPE_PREFIX "/share/framescope/engines", err);
}

static bool is_path(const char *s)
{
	size_t n = strlen(s);

	return strchr(s, '/') || (n > 7 && !strcmp(s + n - 7, ".engine"));
}

int engines_load(const char *only, const struct arch *arch, struct engine ***ret, size_t *ret_nr, struct error *err)
{
	struct set s = { .arch = arch ?: arch_native(), .only = only };
	struct engine *e;
	int rc;

	if (!s.arch)
		return error_set(err, ERR_KERNEL, -ENOTSUP, "programs of this machine's architecture can't be probed");
	if (only && is_path(only)) {
		rc = engine_read(only, s.arch, &e, err) ?: set_add(&s, e, err);
	} else {
		rc = set_add_all(&s, err);
		if (!rc && !s.nr)
			rc = error_set(err, ERR_INPUT, -ENOENT, only ?
				       "there is no engine definition named '%s' in $FRAMESCOPE_ENGINES, beside the program or in "
				       "%s; give its path, or see framescope list --engines for those that are installed" :
				       "there are no engine definitions%.0s in $FRAMESCOPE_ENGINES, beside the program or in "
				       "%s; run make install, or name one with --engine", only ?: "", FRAMESCOPE_PREFIX "/share/framescope/engines");
	}
	if (rc) {
		engines_free(s.list, s.nr);
		return rc;
	}
	*ret = s.list;
	*ret_nr = s.nr;
	return 0;
}

/* --- one made of options --- */

/* Where the "=EVENT" of an option begins, and its type; "operator=" and the like are part of the pattern. */
static int split_function(const char *spec, size_t *ret_length, int *ret_type, struct error *err)
{
	const char *equals = strrchr(spec, '=');
	char words[256];

	*ret_length = strlen(spec);
	*ret_type = EVENT_GENERIC;
	if (equals && equals[1] && equals[1 + strspn(equals + 1, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_")] == '\0') {
		*ret_length = equals - spec;
		*ret_type = words_value(event_type_words, equals + 1);
		if (!*ret_type)
			return error_set(err, ERR_USAGE, -EINVAL, "'%s' in '%s' is no event type; write %s", equals + 1, spec,
					 words_list(event_type_words, words, sizeof(words)));
	}
	if (!*ret_length)
		return error_set(err, ERR_USAGE, -EINVAL, "'%s' names no function; write PATTERN or PATTERN=EVENT", spec);
	return 0;
}

/* A quoted value of a definition. */
static void print_quoted(FILE *f, const char *s, size_t n)
{
	fputc('"', f);
	for (size_t i = 0; i < n; i++)
		if (s[i] == '"' || s[i] == '\\')
			fprintf(f, "\\%c", s[i]);
		else if ((unsigned char)s[i] < 0x20 || s[i] == ';')
			fprintf(f, "\\x%02x", (unsigned char)s[i]);
		else
			fputc(s[i], f);
	fputs("\"\n", f);
}

int engine_from_functions(const char *const *specs, size_t nr, const char *modules, struct engine **ret, struct error *err)
{
	char *text = NULL;
	size_t size, length;
	FILE *f = open_memstream(&text, &size);
	int rc = 0, type;

	if (!f)
		return error_set(err, ERR_OTHER, -ENOMEM, "out of memory");
	fprintf(f, "[engine]\nname = functions\ntitle = Functions named on the command line\nmodules = ");
	print_quoted(f, modules ?: "*", strlen(modules ?: "*"));
	/* its functions are unknown: exceptions may cross them, and a filter may watch them */
	fprintf(f, "exceptions = yes\nseccomp = yes\n");
	for (size_t i = 0; i < nr && !rc; i++) {
		rc = split_function(specs[i], &length, &type, err);
		if (rc)
			break;
		fprintf(f, "[function %zu]\nlabel = *\nevent = ", i + 1);
		for (const struct engine_word *w = event_type_words; w->name; w++)
			if (w->value == type)
				fprintf(f, "%s\nfunction = ", w->name);
		print_quoted(f, specs[i], length);
	}
	if (fclose(f) && !rc)
		rc = error_set(err, ERR_OTHER, -ENOMEM, "out of memory");
	if (!rc) {
		rc = engine_parse(text, "--function", arch_native(), ret, err);
		if (rc && err)
			err->kind = ERR_USAGE;
		for (size_t i = 0; !rc && i < (*ret)->nr_probes; i++)
			(*ret)->probes[i].of_option = true;
	}
	free(text);
	return rc;
}

/* --- matching --- */

bool engine_glob(const char *pattern, const char *s)
{
	const char *star = NULL, *retry = NULL;

	while (*s) {
		if (*pattern == '*') {
			star = ++pattern;
			retry = s;
		} else if (*pattern == '?' || *pattern == *s) {
			pattern++;
			s++;
		} else if (star) {
			pattern = star;
			s = ++retry;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}

size_t engine_module_rank(const struct engine *e, const char *basename)
{
	for (size_t i = 0; i < e->nr_modules; i++)
		if (engine_glob(e->modules[i], basename))
			return i + 1;
	return 0;
}

bool engine_claims(const struct engine *e, const char *basename)
{
	return engine_module_rank(e, basename);
}

/* Do the definition's globs take it for a window, its exceptions aside? */
static bool may_be_window(const struct engine *e, const char *cmdline)
{
	bool named = false;

	for (size_t i = 0; i < e->nr_windows; i++) {
		if (*e->windows[i] == '!')
			continue;
		if (engine_glob(e->windows[i], cmdline))
			return true;
		named = true;
	}
	return !named;
}

static bool is_excepted(const struct engine *e, const char *cmdline)
{
	for (size_t i = 0; i < e->nr_windows; i++)
		if (*e->windows[i] == '!' && engine_glob(e->windows[i] + 1, cmdline))
			return true;
	return false;
}

bool engine_is_window(const struct engine *e, const char *cmdline)
{
	return may_be_window(e, cmdline) && !is_excepted(e, cmdline);
}

bool engine_shows_own_pages(const struct engine *e, const char *cmdline)
{
	return may_be_window(e, cmdline) && is_excepted(e, cmdline);
}

static bool has_mark(const struct engine *e, const struct image *image)
{
	for (size_t i = 0; i < e->nr_marks; i++)
		if (memmem(image->bytes, image->size, e->marks[i], strlen(e->marks[i])))
			return true;
	return !e->nr_marks;
}

const struct engine *engine_for_module(struct engine *const *list, size_t nr, const char *basename,
				       const struct image *image)
{
	for (size_t i = 0; i < nr; i++)
		if (engine_claims(list[i], basename) && has_mark(list[i], image))
			return list[i];
	return NULL;
}

const struct engine_probe *engine_probe_by_name(const struct engine *e, const char *name)
{
	for (size_t i = 0; i < e->nr_probes; i++)
		if (!strcmp(e->probes[i].name, name))
			return &e->probes[i];
	return NULL;
}
