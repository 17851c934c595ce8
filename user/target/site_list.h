/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the sources of sites (symbols, anchors, cache) share. Inside of target/ only. */
#ifndef FRAMESCOPE_TARGET_SITE_LIST_H
#define FRAMESCOPE_TARGET_SITE_LIST_H

#include "target/functions.h"
#include "target/site.h"

#define SITE_REASON_MAX sizeof(((struct site *)0)->reason)

/* One run of sites_find(). */
struct site_search {
	const struct image *image;
	const struct engine *engine;
	const struct site_options *opt;
	struct site_list *list;
	char (*reasons)[SITE_REASON_MAX];	/* per probe: why the sources asked so far don't have it */
};

/* A new site at the end, with the definition's arguments; NULL without memory. Moves the others. */
struct site *site_list_add(struct site_list *list, const struct engine_probe *probe);
bool site_list_has(const struct site_list *list, const struct engine_probe *probe);

/* Drops all arguments that would be read: the code may have others than the definition says. */
void site_keep_constants(struct site *site);

/* Fills in address, size, cost and exits. False if no probe can sit there. */
bool site_describe_code(const struct code_map *map, const struct function *f, struct site *s);

/* Each appends what it finds for probes that have no site yet, or notes the reason. 0 or -errno. */
int sites_from_symbols(struct site_search *s, struct error *err);
int sites_from_anchors(struct site_search *s, struct error *err);

/* What an earlier search found in the same build with the same definition and the same program. False: nothing usable. */
bool site_cache_load(struct site_search *s);
/* Best effort: a cache that can't be written is no error. */
void site_cache_store(const struct site_search *s);

#endif
