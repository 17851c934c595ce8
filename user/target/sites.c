// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Puts all sources together: which probe of an engine sits where in one build of a module. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "target/site_file.h"

const char *site_source_name(enum site_source s)
{
	static const char *const names[] = { "none", "calibrated", "symbol", "debug file", "breakpad", "anchor", "fixed" };

	return s < sizeof(names) / sizeof(names[0]) ? names[s] : "?";
}

const char *cost_class_name(enum cost_class c)
{
	static const char *const names[] = { "unknown", "emulated", "single-stepped", "nop5" };

	return c < sizeof(names) / sizeof(names[0]) ? names[c] : "?";
}

void sites_count(const struct site_list *list, size_t *ret_found, size_t *ret_off)
{
	*ret_found = *ret_off = 0;
	for (size_t i = 0; i < list->nr; i++) {
		const struct site *s = &list->sites[i];

		if (!s->source || (i && s[-1].probe == s->probe && s[-1].source))
			continue;
		++*ret_found;
		*ret_off += s->probe->off;
	}
}

void sites_free(struct site_list *list)
{
	free(list->sites);
	memset(list, 0, sizeof(*list));
}

struct site *site_list_add(struct site_list *list, const struct engine_probe *probe)
{
	struct site *p = realloc(list->sites, (list->nr + 1) * sizeof(*p));

	if (!p)
		return NULL;
	list->sites = p;
	p += list->nr++;
	memset(p, 0, sizeof(*p));
	p->probe = probe;
	/* members of structures need debug information, which only some sources have */
	for (size_t i = 0; i < probe->nr_args; i++)
		if (!probe->members[i])
			p->args[p->nr_args++] = probe->args[i];
	return p;
}

void site_keep_constants(struct site *site)
{
	size_t kept = 0;

	for (size_t i = 0; i < site->nr_args; i++)
		if (site->args[i].kind == KIND_CONST)
			site->args[kept++] = site->args[i];
	site->nr_args = kept;
}

void site_replace_args(struct site *site, const struct arg_spec *args, size_t nr)
{
	size_t kept = 0;

	for (size_t i = 0; i < site->nr_args; i++) {
		bool replaced = false;

		for (size_t k = 0; k < nr; k++)
			replaced |= site->args[i].kind != KIND_CONST && args[k].field == site->args[i].field;
		if (!replaced)
			site->args[kept++] = site->args[i];
	}
	site->nr_args = kept;
	for (size_t i = 0; i < nr && site->nr_args < RECORD_MAX_ARGS; i++)
		site->args[site->nr_args++] = args[i];
}

bool site_list_has(const struct site_list *list, const struct engine_probe *probe)
{
	for (size_t i = 0; i < list->nr; i++)
		if (list->sites[i].probe == probe)
			return true;
	return false;
}

bool site_describe_code(const struct code_map *map, const struct function *f, struct site *s)
{
	const struct image *img = map->image;
	uint64_t exits[SITE_MAX_EXITS];
	const uint8_t *p;
	size_t avail, nr;

	p = image_at(img, f->start, 1, &avail);
	if (!p || !image_offset_of(img, f->start, &s->offset))
		return false;
	s->vaddr = f->start;
	s->size = f->end - f->start;
	s->cost = img->arch->cost(p, avail);
	if (s->cost == COST_UNKNOWN)
		return false;
	nr = function_exits(map, f, exits, SITE_MAX_EXITS, &s->exits_complete);
	s->nr_exits = 0;
	for (size_t i = 0; i < nr && i < SITE_MAX_EXITS; i++)
		if (image_offset_of(img, exits[i], &s->exits[s->nr_exits]))
			s->nr_exits++;
	return true;
}

/* Probes that no source has become sites with a reason. */
static int refuse_rest(struct site_search *s)
{
	for (size_t i = 0; i < s->engine->nr_probes; i++) {
		const struct engine_probe *p = &s->engine->probes[i];
		struct site *site;

		if (site_list_has(s->list, p))
			continue;
		site = site_list_add(s->list, p);
		if (!site)
			return -ENOMEM;
		snprintf(site->reason, sizeof(site->reason), "%s",
			 p->near ? "no string leads to it: framescope calibrate finds it by how often it is called" :
			 s->reasons[i][0] ? s->reasons[i] : "its definition names neither a function nor an anchor");
	}
	return 0;
}

/* Two spans at one function would be one call shown twice: its first probe has it. */
static void refuse_doubles(struct site_list *list)
{
	for (size_t i = 0; i < list->nr; i++)
		for (size_t k = 0; k < i && list->sites[i].source; k++) {
			struct site *a = &list->sites[k], *b = &list->sites[i];

			if (!a->source || a->vaddr != b->vaddr || a->probe->kind != b->probe->kind)
				continue;
			b->source = SITE_NONE;
			snprintf(b->reason, sizeof(b->reason), "it leads to the same function as [%s], 0x%llx",
				 a->probe->name, (unsigned long long)a->offset);
		}
}

/* A probe that stands in for another is not needed where that one was found. */
static void refuse_needless(struct site_list *list, const struct engine *engine)
{
	for (size_t i = 0; i < list->nr; i++) {
		struct site *s = &list->sites[i];
		const struct engine_probe *other = s->probe->unless ? engine_probe_by_name(engine, s->probe->unless) : NULL;

		for (size_t k = 0; k < list->nr && other && s->source; k++)
			if (list->sites[k].probe == other && list->sites[k].source) {
				s->source = SITE_NONE;
				snprintf(s->reason, sizeof(s->reason), "not needed: [%s] was found", other->name);
			}
	}
}

static int by_probe(const void *a, const void *b)
{
	const struct site *x = a, *y = b;

	if (x->probe != y->probe)
		return x->probe < y->probe ? -1 : 1;
	return x->vaddr < y->vaddr ? -1 : x->vaddr > y->vaddr;
}

static int search(struct site_search *s, struct error *err)
{
	int rc;

	rc = sites_from_symbols(s, err);
	if (!rc)
		rc = sites_from_anchors(s, err);
	if (rc)
		return rc;
	if (refuse_rest(s))
		return error_set(err, ERR_OTHER, -ENOMEM, "out of memory");
	if (s->list->nr)
		qsort(s->list->sites, s->list->nr, sizeof(*s->list->sites), by_probe);
	refuse_needless(s->list, s->engine);
	refuse_doubles(s->list);
	return 0;
}

static int find(struct image *image, const struct engine *engine, const struct site_options *opt, struct site_list *ret,
		struct error *err)
{
	static const struct site_options defaults;
	struct site_search s = { .image = image, .engine = engine, .opt = opt ? opt : &defaults, .list = ret };
	bool cached = !s.opt->no_cache && !s.opt->symbols;
	int rc;

	memset(ret, 0, sizeof(*ret));
	if (cached && site_cache_load(&s)) {
		ret->from_cache = true;
		return site_file_apply(&s) ? error_set(err, ERR_OTHER, -ENOMEM, "out of memory") : 0;
	}
	s.reasons = calloc(engine->nr_probes + 1, sizeof(*s.reasons));
	if (!s.reasons)
		return error_set(err, ERR_OTHER, -ENOMEM, "out of memory");
	rc = search(&s, err);
	if (!rc)
		rc = image_check(image, err);	/* before anything is kept */
	if (rc)
		sites_free(ret);
	else if (cached)
		site_cache_store(&s);
	if (!rc && site_file_apply(&s)) {
		sites_free(ret);
		rc = error_set(err, ERR_OTHER, -ENOMEM, "out of memory");
	}
	free(s.reasons);
	return rc;
}

int sites_find(struct image *image, const struct engine *engine, const struct site_options *opt,
	       struct site_list *ret, struct error *err)
{
	int rc = find(image, engine, opt, ret, err);

	if (image_check(image, NULL)) {
		sites_free(ret);
		rc = image_check(image, err);
	}
	return rc;
}

const char *site_name(const struct site *s)
{
	if (!s->probe->of_option)
		return s->probe->name;
	return s->source && *s->function ? s->function : s->probe->functions[0];
}

bool site_is_called(const struct site *s, const char *glob)
{
	const struct engine_probe *p = s->probe;

	return engine_glob(glob, p->name) || engine_glob(glob, site_name(s)) || (p->label && engine_glob(glob, p->label)) ||
	       (p->label_function && *s->function && engine_glob(glob, s->function));
}
