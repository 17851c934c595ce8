/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How the sources of sites (symbols, anchors, cache) put them into a list. Inside of target/ only. */
#ifndef FRAMESCOPE_TARGET_SITE_LIST_H
#define FRAMESCOPE_TARGET_SITE_LIST_H

#include "target/functions.h"
#include "target/site.h"

/* A new site at the end, with the definition's arguments; NULL without memory. Moves the others. */
struct site *site_list_add(struct site_list *list, const struct engine_probe *probe);

/* A site with a reason instead of an address. 0 or -ENOMEM. */
int site_list_refuse(struct site_list *list, const struct engine_probe *probe, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Fills in address, size, cost and exits. False if no probe can sit there. */
bool site_describe_code(const struct code_map *map, const struct function *f, struct site *s);

/* Appends sites, or reasons, for all probes of the engine that no site in the list has yet. */
int sites_from_anchors(const struct image *image, const struct engine *engine, struct site_list *list,
		       struct error *err);

#endif
