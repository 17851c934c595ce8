// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Looks into the private browser at each call that is due. */
#include <errno.h>
#include <limits.h>
#include "base/clock.h"
#include "calibrate/run.h"
#include "calibrate/wants.h"
#include "target/arch.h"
#include "target/process.h"

#define HITS_STRANGE 40		/* of a function and page, besides those that count: the browser has some of its own, and
				 * there may be a document anywhere near them */
#define CAGE_TRIES 500		/* looks for a cage: processes that have none may come first */

/* Others have documents of the browser's own, and nothing that is known. */
static bool shows_pages(struct run *r, pid_t pid)
{
	struct process p;

	for (size_t i = 0; i < r->nr_windows; i++)
		if (r->windows[i] == pid)
			return true;
	if (process_read(pid, &p))
		return false;
	if (!engine_is_window(r->result->engine, p.cmdline)) {
		/* the browser's first process never will; others may have to learn yet what they are for */
		if (!r->kind->root_navigates && p.parent == browser_root(r->browser))
			snoop_spare(r->snoop, pid);
		return false;
	}
	if (r->nr_windows < MAX_WINDOWS)
		r->windows[r->nr_windows++] = pid;
	return true;
}

/* Frames and documents: all of them have to be known. True if it was a call of that kind. */
static bool is_object(struct run *r, const struct snoop_hit *hit)
{
	enum probe_role role = r->logs[hit->site].site->probe->role;

	if (!objects_field(role))
		return false;
	if (objects_note(r->objects, hit->tgid, role, hit->regs[0]))
		r->failed = error_set(r->err, ERR_OTHER, -ENOMEM, "out of memory");
	return true;
}

/* What the definition says of the arguments themselves: that one is a frame or a document. */
static void learn_objects(struct run *r, const struct snoop_hit *hit)
{
	const struct engine_probe *p = r->logs[hit->site].site->probe;

	for (size_t i = 0; i < p->nr_args && !r->failed; i++) {
		const struct arg_spec *a = &p->args[i];
		uint64_t word = 0;

		if (objects_told(a) && memory_read(r->memory, hit->regs[a->reg], &word, sizeof(word)) &&
		    objects_learn(r->objects, hit->tgid, a->field, hit->regs[a->reg], word))
			r->failed = error_set(r->err, ERR_OTHER, -ENOMEM, "out of memory");
	}
}

static size_t nr_registers(const struct engine_probe *p)
{
	return p->nr_registers && p->nr_registers < NR_ARG_REGS ? p->nr_registers : NR_ARG_REGS;
}

/* Where to a window goes is decided outside of the process that shows it. */
static bool navigates(const struct run *r, const struct snoop_hit *hit)
{
	return r->kind->root_navigates && r->logs[hit->site].site->probe->role == ROLE_NAVIGATION;
}

static void on_hit(void *arg, const struct snoop_hit *hit)
{
	struct run *r = arg;
	struct subject s = { .memory = r->memory, .regs = (const uint64_t *)hit->regs, .known = &r->known };
	bool looked_into;
	int rc;

	if (r->failed || *r->opt->stop || clock_ns(CLOCK_MONOTONIC) > r->deadline_ns || hit->site >= r->nr_logs)
		return;
	looked_into = shows_pages(r, hit->tgid) || navigates(r, hit);
	if (!looked_into && r->strange[hit->site]++ < HITS_STRANGE)
		snoop_again(r->snoop, hit->site);
	if (is_object(r, hit) || !looked_into)
		return;
	if (memory_begin(r->memory, hit->tgid))
		return;
	s.nr_regs = nr_registers(r->logs[hit->site].site->probe);
	learn_objects(r, hit);
	s.objects = objects_begin(r->objects, hit->tgid) ? r->objects : NULL;
	s.areas = wants_area(r->logs[hit->site].site->probe);
	s.names = wants_name(r->logs[hit->site].site->probe);
	s.wanted = choose_others(&r->texts, r->logs[hit->site].site->probe->type);
	if (r->kind->cage && !r->result->cage && r->cage_tries < CAGE_TRIES) {
		r->cage_tries++;
		memory_find_cage(r->memory, &r->result->cage);
	}
	s.cage = memory_cage(r->memory, r->result->cage);
	s.stack = hit->regs[r->stack_reg];
	for (int i = 0; i < NR_ARG_REGS; i++)
		s.stack_regs |= (hit->regs[i] - hit->regs[r->stack_reg] < STACK_BYTES) << i;
	rc = log_call(&r->logs[hit->site], &s, r->phase, r->together && (s.cage || s.objects));
	if (rc < 0)
		r->failed = error_set(r->err, ERR_OTHER, rc, "out of memory");
	else if (rc < 2 && r->strange[hit->site]++ < HITS_STRANGE)
		snoop_again(r->snoop, hit->site);
}

void hits_budget(struct run *r, int hits)
{
	for (size_t i = 0; r->snoop && i < r->nr_logs; i++)
		snoop_budget_of(r->snoop, i, objects_field(r->logs[i].site->probe->role) ? INT_MAX : hits);
}

int hits_attach(struct run *r)
{
	const struct arch *arch = r->result->image->arch;
	uint64_t offsets[SNOOP_MAX_SITES];
	int rc;

	r->stack_reg = arch->reg("rsp", 3) >= 0 ? arch->reg("rsp", 3) : arch->reg("sp", 2);
	if (r->stack_reg < 0)
		r->stack_reg = 0;
	for (size_t i = 0; i < r->nr_logs; i++)
		offsets[i] = r->logs[i].site->offset;
	rc = snoop_open(r->copy.module, offsets, r->nr_logs, browser_root(r->browser), on_hit, r, &r->snoop, r->err);
	if (!rc)
		hits_budget(r, 0);
	return rc;
}
