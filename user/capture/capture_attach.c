// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* From the probe table to probes: which program goes where. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include "capture/capture_parts.h"
#include "wire.h"

static void refuse(void *arg, uint64_t cookie, const char *reason)
{
	struct capture *c = arg;
	uint32_t probe = COOKIE_PROBE(cookie);
	struct recording_probe *r = &c->table.rec[probe];

	c->table.plan[probe].kind = ATTACH_NONE;
	if (!*r->refused) {
		free((char *)r->refused);
		r->refused = strdup(reason);
	}
}

/* The kernel complains (ext4, 6.18) when it must read a page to put a probe on it: they are read before. */
static void read_page(int fd, uint64_t offset)
{
	char b;

	if (pread(fd, &b, 1, offset) < 0)
		return;
}

/* All places of one program in one module. The caller frees *ret. */
static int gather(struct capture *c, uint32_t module, enum program program, struct attach_site **ret, size_t *ret_nr)
{
	struct attach_site *sites = NULL;
	size_t nr = 0, cap = 0;

	for (size_t i = 0; i < c->table.nr; i++) {
		struct probe_plan *p = &c->table.plan[i];
		size_t n = program == PROGRAM_EXIT ? p->nr_exits : 1;
		bool fits = p->kind == ATTACH_RETURN ? program == PROGRAM_SESSION || program == PROGRAM_BEGIN_RETURN ||
						       program == PROGRAM_RETURN :
			    p->kind == ATTACH_EXITS ? program == PROGRAM_BEGIN || program == PROGRAM_EXIT :
			    p->kind == ATTACH_MARK && program == PROGRAM_BEGIN;

		if (!fits || p->linked || p->module != module)
			continue;
		if (nr + n > cap) {
			struct attach_site *bigger = realloc(sites, (cap = 2 * (nr + n)) * sizeof(*bigger));

			if (!bigger) {
				free(sites);
				return -ENOMEM;
			}
			sites = bigger;
		}
		for (size_t k = 0; k < n; k++) {
			sites[nr].cookie = p->cookie;
			sites[nr].offset = program == PROGRAM_EXIT ? p->exits[k] : c->table.rec[i].offset;
			read_page(c->table.modules[module].fd, sites[nr++].offset);
		}
	}
	*ret = sites;
	*ret_nr = nr;
	return 0;
}

/* Ends before begins: a call whose begin was seen must not go without its end. */
static int attach_module(struct capture *c, uint32_t module)
{
	static const enum program session[] = { PROGRAM_EXIT, PROGRAM_BEGIN, PROGRAM_SESSION };
	static const enum program pairs[] = { PROGRAM_EXIT, PROGRAM_RETURN, PROGRAM_BEGIN, PROGRAM_BEGIN_RETURN };
	const enum program *order = c->loaded.rung == RUNG_SESSION ? session : pairs;
	size_t nr_programs = c->loaded.rung == RUNG_SESSION ? 3 : 4;
	int rc = 0;

	for (size_t i = 0; i < nr_programs && !rc; i++) {
		struct attach_site *sites = NULL;
		size_t nr = 0;

		rc = gather(c, module, order[i], &sites, &nr);
		if (!rc)
			rc = attach_sites(&c->loaded, &c->links, order[i], c->table.modules[module].fd, sites, nr, refuse, c);
		free(sites);
	}
	return rc;
}

int capture_attach_new(struct capture *c, struct error *err)
{
	int rc = 0;

	for (uint32_t i = 0; i < c->table.nr && !rc; i++)
		if (!c->table.plan[i].linked && bpf_map_update_elem(c->loaded.specs_fd, &i, &c->table.plan[i].spec, BPF_ANY))
			rc = -errno;
	for (uint32_t m = 0; m < c->table.nr_modules && !rc; m++)
		rc = attach_module(c, m);
	for (size_t i = 0; i < c->table.nr; i++) {
		c->table.plan[i].linked = true;
		c->table.rec[i].attached = c->table.plan[i].kind != ATTACH_NONE;
	}
	if (!rc)
		rc = overhead_attach(c->calibration);
	return rc ? error_set(err, ERR_OTHER, rc, "can't attach: %s", strerror(-rc)) : 0;
}
