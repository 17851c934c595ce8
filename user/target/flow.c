// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Follows a function's control flow to tell whether a place in it is always reached. */
#include <stdlib.h>
#include <string.h>
#include "target/functions.h"

/* A function that does nothing but report is small; a larger one is not worth following. */
#define FLOW_MAX (1u << 14)
#define FLOW_MAX_PENDING 1024

struct flow {
	const struct code_map *map;
	const struct function *f;
	uint64_t at;
	uint8_t seen[FLOW_MAX];	/* by offset from the start */
	uint32_t pending[FLOW_MAX_PENDING];
	size_t nr_pending;
	bool escaped;		/* left the function without having met `at`, or lost the thread */
};

static void visit(struct flow *fl, uint64_t vaddr)
{
	uint64_t offset = vaddr - fl->f->start;

	if (vaddr < fl->f->start || vaddr >= fl->f->end) {
		fl->escaped = true;	/* a tail jump */
		return;
	}
	if (vaddr == fl->at || fl->seen[offset])
		return;
	fl->seen[offset] = 1;
	if (fl->nr_pending == FLOW_MAX_PENDING)
		fl->escaped = true;
	else
		fl->pending[fl->nr_pending++] = offset;
}

static void step(struct flow *fl, uint64_t vaddr)
{
	const uint8_t *p;
	struct insn insn;
	size_t avail;

	p = image_at(fl->map->image, vaddr, 1, &avail);
	if (!p) {
		fl->escaped = true;
		return;
	}
	fl->map->image->arch->decode(p, avail, vaddr, &insn);
	switch (insn.cls) {
	case INSN_RET:
	case INSN_JUMP_INDIRECT:
	case INSN_INVALID:
		fl->escaped = true;
		return;
	case INSN_STOP:
		return;
	case INSN_JUMP:
		visit(fl, insn.target);
		return;
	case INSN_BRANCH:
		visit(fl, insn.target);
		break;
	}
	/* what "goes on" behind the last instruction is a call that never returns */
	if (vaddr + insn.length < fl->f->end)
		visit(fl, vaddr + insn.length);
}

bool function_can_avoid(const struct code_map *map, const struct function *f, uint64_t at)
{
	struct flow *fl;
	bool escaped;

	if (f->end - f->start > FLOW_MAX || at < f->start || at >= f->end)
		return true;
	fl = calloc(1, sizeof(*fl));
	if (!fl)
		return true;
	fl->map = map;
	fl->f = f;
	fl->at = at;
	visit(fl, f->start);
	while (fl->nr_pending && !fl->escaped)
		step(fl, f->start + fl->pending[--fl->nr_pending]);
	escaped = fl->escaped;
	free(fl);
	return escaped;
}
