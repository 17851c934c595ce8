// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Puts all sources together: which probe of an engine sits where in one build of a module. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "target/anchors.h"
#include "target/site_list.h"

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
	p->nr_args = probe->nr_args;
	memcpy(p->args, probe->args, probe->nr_args * sizeof(p->args[0]));
	return p;
}

int site_list_refuse(struct site_list *list, const struct engine_probe *probe, const char *fmt, ...)
{
	struct site *s = site_list_add(list, probe);
	va_list ap;

	if (!s)
		return -ENOMEM;
	va_start(ap, fmt);
	vsnprintf(s->reason, sizeof(s->reason), fmt, ap);
	va_end(ap);
	return 0;
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
	for (size_t i = 0; i < nr && i < SITE_MAX_EXITS; i++)
		if (image_offset_of(img, exits[i], &s->exits[s->nr_exits]))
			s->nr_exits++;
	return true;
}

int sites_find(struct image *image, const struct engine *engine, const struct site_options *opt,
	       struct site_list *ret, struct error *err)
{
	int rc;

	memset(ret, 0, sizeof(*ret));
	(void)opt;
	rc = sites_from_anchors(image, engine, ret, err);
	if (rc)
		sites_free(ret);
	return rc;
}
