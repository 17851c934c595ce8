// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Attaching the functions of our own that stand for probed ones. */
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include "capture/twins.h"
#include "wire.h"

#define CALLER_ROW (TWINS_ROW + (COST_TEXT | COST_ARGS))	/* no class: it is one or the other */

/* Which of the nine of its kind. */
static unsigned int twin_number(unsigned int class)
{
	return (class & COST_MARK ? 6 : class & COST_EXITS ? 3 : 0) + (class & COST_TEXT ? 1 : class & COST_ARGS ? 2 : 0);
}

static void describe(struct probe_spec *spec, unsigned int class, bool opener)
{
	const struct arg_spec text = { .field = FIELD_LABEL, .kind = KIND_CSTR, .max_bytes = COOKIE_CSTR_MAX };

	memset(spec, 0, sizeof(*spec));
	spec->type = EVENT_GENERIC;
	spec->flags = class & COST_MARK ? PROBE_MARK : class & COST_EXITS ? PROBE_EXITS : 0;
	/* else --only-under would hide it */
	if (opener)
		spec->flags |= PROBE_UNDER;
	if (class & (COST_TEXT | COST_ARGS))
		spec->args[spec->nr_args++] = text;
	if (class & COST_ARGS)
		spec->args[spec->nr_args++] = (struct arg_spec){ .field = FIELD_COUNT, .kind = KIND_INT, .reg = 1 };
}

static void on_refused(void *arg, uint64_t cookie, const char *reason)
{
	bool *refused = arg;

	(void)cookie;
	(void)reason;
	*refused = true;
}

/* The call that the twins' calls stand in. */
static int attach_caller(struct twins *t)
{
	enum program programs[] = { PROGRAM_RETURN, PROGRAM_BEGIN_RETURN };
	unsigned int nr = t->l->rung == RUNG_SESSION ? 1 : 2;
	twin_caller_fn caller = twin_caller();
	uint32_t row = CALLER_ROW;
	struct attach_site site;
	struct probe_spec spec;
	bool refused = false;
	int fd, rc;

	if (t->caller || !caller || twin_open((const void *)(uintptr_t)caller, &fd, &site.offset))
		return 0;
	describe(&spec, COST_EMULATED, t->l->ctl->only_under);
	site.cookie = table_cookie(row, site.offset, &spec);
	rc = bpf_map_update_elem(t->l->specs_fd, &row, &spec, BPF_ANY) ? -errno : 0;
	if (nr == 1)
		programs[0] = PROGRAM_SESSION;
	for (unsigned int i = 0; i < nr && !rc; i++)
		rc = attach_sites(t->l, t->links, programs[i], fd, &site, 1, on_refused, &refused);
	close(fd);
	if (!rc && !refused)
		t->caller = caller;
	return rc;
}

static int attach_twin(struct twins *t, unsigned int class)
{
	static const enum program session[] = { PROGRAM_SESSION }, pair[] = { PROGRAM_RETURN, PROGRAM_BEGIN_RETURN },
				  exits[] = { PROGRAM_EXIT, PROGRAM_BEGIN };
	const enum program *programs = class & (COST_MARK | COST_EXITS) ? exits :
				       t->l->rung == RUNG_SESSION ? session : pair;
	unsigned int exit, first = class & COST_MARK ? 1 : 0, nr = programs == session ? 1 : 2;
	twin_fn twin = twin_of(class & COST_KIND, twin_number(class), &exit);
	uint32_t row = TWINS_ROW + class;
	struct attach_site site;
	struct probe_spec spec;
	bool refused = false;
	uint64_t offset;
	int fd, rc;

	if (!twin || twin_open((const void *)(uintptr_t)twin, &fd, &offset))
		return 0;
	describe(&spec, class, t->l->ctl->only_under);
	site.cookie = table_cookie(row, offset, &spec);
	rc = bpf_map_update_elem(t->l->specs_fd, &row, &spec, BPF_ANY) ? -errno : 0;
	for (unsigned int i = first; i < nr && !rc; i++) {
		site.offset = programs[i] == PROGRAM_EXIT ? offset + exit : offset;
		rc = attach_sites(t->l, t->links, programs[i], fd, &site, 1, on_refused, &refused);
	}
	close(fd);
	if (!rc && !refused)
		__atomic_store_n(&t->fn[class], twin, __ATOMIC_RELEASE);
	return rc;
}

int twins_attach(struct twins *t)
{
	int rc = attach_caller(t);

	for (size_t i = 0; i < t->table->nr && !rc; i++) {
		unsigned int class = t->table->plan[i].spec.cost_class;

		if (t->table->plan[i].kind == ATTACH_NONE || class >= COST_CLASSES || t->tried[class])
			continue;
		t->tried[class] = true;
		rc = attach_twin(t, class);
	}
	return rc;
}
