// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* From symbols to sites: every function that a probe's names match. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "target/site_list.h"
#include "target/symbols.h"

static bool wants_symbols(const struct engine *e)
{
	for (size_t i = 0; i < e->nr_probes; i++)
		if (e->probes[i].nr_functions)
			return true;
	return false;
}

static void read_arguments(struct symbols *symbols, const struct symbol_match *m, struct site *site)
{
	const struct engine_probe *p = site->probe;
	char note[200];
	size_t nr;

	symbols_arguments(symbols, p, m->vaddr, site->args, &site->nr_args, note, sizeof(note));
	nr = site->nr_args;
	if (m->clone && !p->clone_args)
		site_keep_constants(site);
	if (site->nr_args < nr)
		snprintf(note, sizeof(note), "a clone: its arguments are not read");
	snprintf(site->evidence, sizeof(site->evidence), "%.180s%s%.199s", m->evidence, note[0] ? "; " : "", note);
}

static int add_match(struct site_search *s, struct symbols *symbols, const struct engine_probe *p,
		     const struct symbol_match *m, char *reason)
{
	struct code_map map;
	struct function fn = { .start = m->vaddr, .end = m->vaddr + m->size, .proof = PROOF_SYMBOL };
	struct site *site;

	if (m->refused) {
		snprintf(reason, SITE_REASON_MAX, "%.200s: %s", m->name, m->refused);
		return 0;
	}
	site = site_list_add(s->list, p);
	if (!site)
		return -ENOMEM;
	code_map_init(&map, s->image, NULL);
	if (!site_describe_code(&map, &fn, site)) {
		s->list->nr--;
		snprintf(reason, SITE_REASON_MAX, "%.200s begins with an instruction that the kernel can't put a probe on", m->name);
		return 0;
	}
	site->source = m->source;
	snprintf(site->function, sizeof(site->function), "%s", m->name);
	read_arguments(symbols, m, site);
	return 0;
}

int sites_from_symbols(struct site_search *s, struct error *err)
{
	struct symbols *symbols;
	int rc = 0;

	if (!wants_symbols(s->engine))
		return 0;
	rc = symbols_open(s->image, s->opt->symbols, &symbols, err);
	if (rc)
		return rc;
	for (size_t i = 0; i < s->engine->nr_probes && !rc; i++) {
		const struct engine_probe *p = &s->engine->probes[i];
		struct symbol_match *m = NULL;
		size_t nr = 0;

		if (!p->nr_functions)
			continue;
		if (symbols_find(symbols, p, &m, &nr, s->reasons[i], sizeof(s->reasons[i])))
			continue;
		for (size_t k = 0; k < nr && !rc; k++)
			rc = add_match(s, symbols, p, &m[k], s->reasons[i]);
		free(m);
	}
	symbols_close(symbols);
	return rc ? error_set(err, ERR_OTHER, rc, "out of memory") : 0;
}
