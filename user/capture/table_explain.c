// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Why there is nothing to attach, and which process would have something. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "capture/table.h"

#define MAX_NAMED 6	/* processes that one sentence names */

struct claim_context {
	const struct probe_table *t;
	bool found;
};

static int find_claim(void *arg, const struct map_entry *m)
{
	struct claim_context *c = arg;
	const char *slash = strrchr(m->path, '/');

	if (!m->exec || !m->inode || !slash)
		return 0;
	for (size_t i = 0; i < c->t->nr_engines && !c->found; i++)
		c->found = engine_claims(c->t->engines[i], slash + 1);
	return c->found;
}

static bool has_engine(const struct probe_table *t, pid_t pid)
{
	struct claim_context c = { .t = t };

	maps_each(pid, find_claim, &c);
	return c.found;
}

/* " 123 (chromium), 130 (chromium)": those that an engine lives in. */
static size_t name_processes(const struct probe_table *t, const struct process_list *l, char *buf, size_t cap)
{
	size_t n = 0, named = 0;

	for (size_t i = 0; i < l->nr; i++) {
		if (!has_engine(t, l->p[i].pid))
			continue;
		if (named < MAX_NAMED)
			n += snprintf(buf + n, cap - n, "%s%d (%.40s)", named ? ", " : "", l->p[i].pid, l->p[i].name);
		else if (named == MAX_NAMED)
			n += snprintf(buf + n, cap - n, ", …");
		named++;
	}
	return named;
}

static void list_engines(const struct probe_table *t, char *buf, size_t cap)
{
	size_t n = 0;

	buf[0] = '\0';
	for (size_t i = 0; i < t->nr_engines && n + 40 < cap; i++)
		n += snprintf(buf + n, cap - n, "%s%.32s", i ? ", " : "", t->engines[i]->name);
}

int table_explain_nothing(const struct probe_table *t, const struct capture_options *opt, const struct process_list *l,
			  struct error *err)
{
	struct process_list others = { 0 };
	char names[512] = "", engines[256];
	const struct process *p = &l->p[0];
	int rc;

	if (t->nr_modules) {
		for (size_t i = 0; i < t->nr; i++)
			if (*t->rec[i].refused)
				return error_set(err, ERR_NOTHING, -ENOENT, "nothing to probe in process %d (%s): none of the %zu "
						 "probes of %s could be placed, for example %s: %.200s", p->pid, p->name, t->nr,
						 t->rec[i].engine, t->rec[i].name, t->rec[i].refused);
		if (opt->nr_functions)
			return error_set(err, ERR_NOTHING, -ENOENT, "nothing to probe in process %d (%s): no function is called "
					 "'%.100s'; framescope probes -p %d --find '*' shows what there is, and --modules GLOBS looks "
					 "into more files", p->pid, p->name, opt->functions[0], p->pid);
		return error_set(err, ERR_NOTHING, -ENOENT, "nothing to probe in process %d (%s): no probe is chosen or found; "
				 "framescope probes -p %d lists them", p->pid, p->name, p->pid);
	}
	if (opt->no_follow && !process_descendants(p->pid, &others) &&
	    name_processes(t, &others, names, sizeof(names)))
		rc = error_set(err, ERR_NOTHING, -ENOENT, "nothing to probe in process %d (%s) itself, but in its children %s; "
			       "leave --no-follow out or give one of them", p->pid, p->name, names);
	else if (p->parent > 1 && has_engine(t, p->parent))
		rc = error_set(err, ERR_NOTHING, -ENOENT, "nothing to probe in process %d (%s), but in its parent; give -p %d",
			       p->pid, p->name, p->parent);
	else {
		list_engines(t, engines, sizeof(engines));
		rc = error_set(err, ERR_NOTHING, -ENOENT, "nothing to probe in process %d (%s)%s: no file that it maps belongs to "
			       "an engine that is known (%s); --engine FILE adds one, --function PATTERN needs none", p->pid,
			       p->name, l->nr > 1 ? " and its children" : "", engines);
	}
	process_list_free(&others);
	return rc;
}
