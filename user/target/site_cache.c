// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Remembers what was found in a build: one file per build-id and engine. A file is used only if it is whole, if
 * build-id, file size, definition and program are the same, and if every function still begins with the same bytes.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include "target/site_list.h"
#include "version.h"

#define CACHE_DIR "/var/cache/framescope"	/* or $FRAMESCOPE_CACHE */
#define CACHE_MAGIC "fscsite2"
#define CACHE_MAX_SITES 4096
#define ENTRY_BYTES 16

struct cache_header {
	char magic[8];
	uint64_t image_size;
	uint64_t definition;	/* hash of all that decides what is found */
	char build_id[2 * 64 + 8];
	uint32_t nr_sites;
	uint32_t crc;		/* of the sites */
};

struct cache_site {
	uint32_t probe;		/* index in the engine */
	uint16_t source;
	uint16_t constants;	/* only those arguments hold: it is a compiler's clone */
	uint64_t vaddr, size, cage;
	uint8_t entry[ENTRY_BYTES];
	char function[sizeof(((struct site *)0)->function)];
	char evidence[sizeof(((struct site *)0)->evidence)];
	char reason[SITE_REASON_MAX];
};

static uint64_t hash_text(uint64_t h, const char *s)
{
	/* FNV-1a, the NUL included, so that neighbouring texts don't run into each other */
	do {
		h = (h ^ (uint8_t)*s) * 0x100000001b3ull;
	} while (*s++);
	return h;
}

/* What symbols there are may change while the build stays the same. */
static uint64_t hash_symbol_sources(uint64_t h, const char *build_id)
{
	static const char *const variables[] = { "FRAMESCOPE_DEBUG_PATH", "DEBUGINFOD_URLS" };
	char path[PATH_MAX];

	for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++)
		h = hash_text(h, getenv(variables[i]) ?: "");
	snprintf(path, sizeof(path), "/usr/lib/debug/.build-id/%.2s/%s.debug", build_id, build_id + 2);
	return hash_text(h, access(path, R_OK) ? "" : "debug file");
}

/* A program that was built anew may find other things. */
static uint64_t hash_program(uint64_t h)
{
	struct stat st;

	if (stat("/proc/self/exe", &st))
		return h;
	return ((h ^ (uint64_t)st.st_mtim.tv_sec ^ ((uint64_t)st.st_mtim.tv_nsec << 32)) * 0x100000001b3ull ^
		(uint64_t)st.st_size) * 0x100000001b3ull;
}

static uint64_t definition_hash(const struct site_search *s)
{
	const struct engine *e = s->engine;
	uint64_t h = hash_program(hash_text(0xcbf29ce484222325ull, FRAMESCOPE_VERSION));

	h = hash_symbol_sources(hash_text(h, e->name), s->image->build_id);
	for (size_t i = 0; i < e->nr_probes; i++) {
		const struct engine_probe *p = &e->probes[i];

		h = hash_text(h, p->name);
		h = (h ^ p->kind) * 0x100000001b3ull;
		for (size_t k = 0; k < p->nr_functions; k++)
			h = hash_text(hash_text(h, "f"), p->functions[k]);
		for (size_t k = 0; k < p->nr_anchors; k++)
			h = hash_text(hash_text(h, "a"), p->anchors[k]);
		for (size_t k = 0; k < p->nr_fallbacks; k++)
			h = hash_text(hash_text(h, "b"), p->fallbacks[k]);
		for (size_t k = 0; k < p->nr_calls; k++)
			h = hash_text(hash_text(h, "c"), p->calls[k]);
		h = hash_text(h, p->unless ?: "");
		h = hash_text(h, p->near ?: "");
		h = (h ^ p->clone_args) * 0x100000001b3ull;
	}
	return h;
}

/* Only what takes a pass over the code is worth keeping; what debug information says of arguments is not kept. */
static bool is_worth_keeping(const struct engine *e)
{
	bool anchors = false, members = false;

	for (size_t i = 0; i < e->nr_probes; i++) {
		anchors |= e->probes[i].nr_anchors != 0;
		for (size_t k = 0; k < e->probes[i].nr_args; k++)
			members |= e->probes[i].members[k] != NULL;
	}
	return anchors && !members;
}

/* False if this search is not to be cached: no build-id, no anchors, or a name that is no file name. */
static bool cache_path(const struct site_search *s, char *ret, size_t size)
{
	const char *dir = getenv("FRAMESCOPE_CACHE");

	if (strlen(s->image->build_id) < 8 || !s->engine->name || !s->engine->path || !is_worth_keeping(s->engine))
		return false;
	for (const char *p = s->engine->name; *p; p++)
		if (!isalnum((unsigned char)*p) && !strchr("-_+", *p))
			return false;
	if (!dir || !*dir)
		dir = CACHE_DIR;
	return (size_t)snprintf(ret, size, "%s/%s-%s.sites", dir, s->image->build_id, s->engine->name) < size;
}

static void fill_header(const struct site_search *s, struct cache_header *h)
{
	memset(h, 0, sizeof(*h));
	memcpy(h->magic, CACHE_MAGIC, sizeof(h->magic));
	h->image_size = s->image->size;
	h->definition = definition_hash(s);
	snprintf(h->build_id, sizeof(h->build_id), "%s", s->image->build_id);
}

/* Reads a file that only root or the user may have written. */
static void *read_trusted(const char *path, size_t *ret_size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat st;
	char *data = NULL;

	if (fd < 0)
		return NULL;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && (st.st_uid == 0 || st.st_uid == geteuid()) &&
	    !(st.st_mode & (S_IWGRP | S_IWOTH)) && st.st_size >= (off_t)sizeof(struct cache_header) &&
	    st.st_size <= (off_t)(sizeof(struct cache_header) + CACHE_MAX_SITES * sizeof(struct cache_site)))
		data = malloc(st.st_size);
	if (data && read(fd, data, st.st_size) != st.st_size) {
		free(data);
		data = NULL;
	}
	close(fd);
	*ret_size = data ? st.st_size : 0;
	return data;
}

static bool check_header(const struct site_search *s, const void *data, size_t size)
{
	struct cache_header want, got;

	fill_header(s, &want);
	memcpy(&got, data, sizeof(got));
	want.nr_sites = got.nr_sites;
	want.crc = got.crc;
	return !memcmp(&want, &got, sizeof(want)) && got.nr_sites <= CACHE_MAX_SITES &&
	       size == sizeof(got) + got.nr_sites * sizeof(struct cache_site) &&
	       got.crc == crc32(0, (const uint8_t *)data + sizeof(got), size - sizeof(got));
}

static bool load_site(struct site_search *s, const struct cache_site *c)
{
	struct code_map map;
	struct function fn = { .start = c->vaddr, .end = c->vaddr + c->size };
	struct site *site;
	const uint8_t *p;

	if (c->probe >= s->engine->nr_probes || c->source > SITE_FIXED || c->size > FUNCTION_MAX)
		return false;
	site = site_list_add(s->list, &s->engine->probes[c->probe]);
	if (!site)
		return false;
	snprintf(site->function, sizeof(site->function), "%.*s", (int)sizeof(c->function) - 1, c->function);
	snprintf(site->evidence, sizeof(site->evidence), "%.*s", (int)sizeof(c->evidence) - 1, c->evidence);
	snprintf(site->reason, sizeof(site->reason), "%.*s", (int)sizeof(c->reason) - 1, c->reason);
	site->source = c->source;
	site->cage = c->cage;
	if (c->constants)
		site_keep_constants(site);
	if (c->source == SITE_NONE)
		return true;
	p = image_at(s->image, c->vaddr, ENTRY_BYTES, NULL);
	code_map_init(&map, s->image, NULL);
	return p && !memcmp(p, c->entry, ENTRY_BYTES) && site_describe_code(&map, &fn, site);
}

bool site_cache_load(struct site_search *s)
{
	char path[PATH_MAX];
	bool good;
	size_t size;
	uint8_t *data;

	if (!cache_path(s, path, sizeof(path)))
		return false;
	data = read_trusted(path, &size);
	if (!data)
		return false;
	good = check_header(s, data, size);
	for (size_t pos = sizeof(struct cache_header); good && pos < size; pos += sizeof(struct cache_site)) {
		struct cache_site c;

		memcpy(&c, data + pos, sizeof(c));
		good = load_site(s, &c);
	}
	free(data);
	/* a cache of another time may lack a probe */
	for (size_t i = 0; good && i < s->engine->nr_probes; i++)
		good = site_list_has(s->list, &s->engine->probes[i]);
	if (!good)
		sites_free(s->list);
	return good;
}

static bool fill_site(const struct site_search *s, const struct site *site, struct cache_site *c)
{
	const uint8_t *p;

	memset(c, 0, sizeof(*c));
	c->probe = site->probe - s->engine->probes;
	c->source = site->source;
	c->constants = site->nr_args < site->probe->nr_args;
	c->vaddr = site->vaddr;
	c->size = site->size;
	c->cage = site->cage;
	memcpy(c->function, site->function, sizeof(c->function));
	memcpy(c->evidence, site->evidence, sizeof(c->evidence));
	memcpy(c->reason, site->reason, sizeof(c->reason));
	if (site->source == SITE_NONE)
		return true;
	p = image_at(s->image, site->vaddr, ENTRY_BYTES, NULL);
	if (p)
		memcpy(c->entry, p, ENTRY_BYTES);
	return p;
}

static bool write_all(const char *path, const void *data, size_t size)
{
	char temp[PATH_MAX + 8];
	bool good;
	int fd;

	snprintf(temp, sizeof(temp), "%s.XXXXXX", path);
	fd = mkostemp(temp, O_CLOEXEC);
	if (fd < 0)
		return false;
	good = write(fd, data, size) == (ssize_t)size && !fchmod(fd, 0644);
	good = !close(fd) && good;
	good = good && !rename(temp, path);
	if (!good)
		unlink(temp);
	return good;
}

void site_cache_store(const struct site_search *s)
{
	size_t size = sizeof(struct cache_header) + s->list->nr * sizeof(struct cache_site);
	struct cache_header h;
	char path[PATH_MAX], *slash;
	uint8_t *data;
	bool good;

	if (!cache_path(s, path, sizeof(path)) || s->list->nr > CACHE_MAX_SITES)
		return;
	data = calloc(1, size);
	if (!data)
		return;
	good = true;
	for (size_t i = 0; i < s->list->nr && good; i++) {
		struct cache_site c;

		good = fill_site(s, &s->list->sites[i], &c);
		memcpy(data + sizeof(h) + i * sizeof(c), &c, sizeof(c));
	}
	fill_header(s, &h);
	h.nr_sites = s->list->nr;
	h.crc = crc32(0, data + sizeof(h), size - sizeof(h));
	memcpy(data, &h, sizeof(h));
	slash = strrchr(path, '/');
	*slash = '\0';
	if (good && !mkdir(path, 0755))
		errno = 0;
	*slash = '/';
	if (good)
		write_all(path, data, size);
	free(data);
}
