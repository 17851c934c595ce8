// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What the BPF side learns of one probe: its description, its cookie and what its calls cost like. */
#include <string.h>
#include "capture/table.h"
#include "wire.h"

#define DEFAULT_STRING_BYTES 256
#define AGGREGATE_TEXT 140

/* The argument that an aggregate probe sums by: its key, else its first text, else its first argument. */
static uint32_t aggregate_key(const struct probe_spec *spec)
{
	for (uint32_t i = 0; i < spec->nr_args; i++)
		if (spec->args[i].field == FIELD_KEY)
			return i;
	for (uint32_t i = 0; i < spec->nr_args; i++)
		if (spec->args[i].kind != KIND_INT && spec->args[i].kind != KIND_CONST)
			return i;
	return 0;
}

/* What an aggregate probe sums by comes first, and all its arguments must find room beside the sum. */
static void order_aggregate(struct probe_spec *spec)
{
	uint32_t first = aggregate_key(spec);
	struct arg_spec key = spec->args[first];

	memmove(&spec->args[1], &spec->args[0], first * sizeof(key));
	spec->args[0] = key;
	for (uint32_t i = 0; i < spec->nr_args; i++)
		if (spec->args[i].max_bytes > AGGREGATE_TEXT)
			spec->args[i].max_bytes = AGGREGATE_TEXT;
}

static bool is_identity(const struct arg_spec *a)
{
	return a->kind == KIND_INT && (a->field == FIELD_FRAME || a->field == FIELD_PARENT_FRAME || a->field == FIELD_DOCUMENT ||
				       a->field == FIELD_WINDOW);
}

/* No identity is 0: a way that ends there found none, and the next way to the same one, if there is any, has its turn. */
static void pass_zeros_on(struct probe_spec *spec)
{
	for (uint32_t i = 0; i < spec->nr_args; i++) {
		struct arg_spec *a = &spec->args[i];
		bool more = false;

		for (uint32_t k = i + 1; k < spec->nr_args; k++)
			more |= spec->args[k].field == a->field;
		if (more && is_identity(a) && a->nr_steps < RECORD_MAX_STEPS &&
		    !(a->nr_steps && a->steps[a->nr_steps - 1].op == STEP_NONZERO))
			a->steps[a->nr_steps++] = (struct arg_step){ .op = STEP_NONZERO };
	}
}

void table_fill_spec(struct probe_spec *spec, const struct site *s, enum attach_kind kind,
		     const struct capture_options *opt)
{
	spec->vaddr = s->vaddr;
	spec->cage = s->cage;
	spec->type = s->probe->type;
	spec->flags = kind == ATTACH_MARK ? PROBE_MARK : kind == ATTACH_EXITS ? PROBE_EXITS : 0;
	if (s->probe->kind == PROBE_KIND_AGGREGATE)
		spec->flags |= PROBE_AGGREGATE;
	if (opt->only_under && (uint32_t)s->probe->type == opt->only_under)
		spec->flags |= PROBE_UNDER;
	spec->nr_args = s->nr_args < RECORD_MAX_ARGS ? s->nr_args : RECORD_MAX_ARGS;
	memcpy(spec->args, s->args, spec->nr_args * sizeof(spec->args[0]));
	for (uint32_t i = 0; i < spec->nr_args; i++) {
		struct arg_spec *a = &spec->args[i];

		if (!a->max_bytes)
			a->max_bytes = opt->string_bytes ?: DEFAULT_STRING_BYTES;
		if (a->max_bytes > RECORD_MAX_STRING)
			a->max_bytes = RECORD_MAX_STRING;
	}
	pass_zeros_on(spec);
	if (spec->flags & PROBE_AGGREGATE)
		order_aggregate(spec);
}

uint64_t table_cookie(uint32_t index, uint64_t offset, const struct probe_spec *spec)
{
	const struct arg_spec *a = &spec->args[0];
	uint64_t cookie = index | (offset & 0xfff) << 16;

	if (spec->flags & PROBE_MARK)
		cookie |= COOKIE_MARK;
	if (spec->flags & PROBE_UNDER)
		cookie |= COOKIE_OPENER;
	if (spec->flags & PROBE_AGGREGATE)
		cookie |= COOKIE_AGGREGATE;
	if (spec->flags & PROBE_AGGREGATE && spec->nr_args && a->kind != KIND_CONST && !a->nr_steps && a->reg < 6)
		cookie |= COOKIE_KEY | (uint64_t)a->reg << 32;
	if (spec->nr_args)
		cookie |= COOKIE_ARGS;
	if (spec->nr_args == 1 && a->kind == KIND_CSTR && !a->nr_steps && a->reg < 6 && a->max_bytes <= COOKIE_CSTR_MAX)
		cookie |= COOKIE_CSTR | (uint64_t)a->reg << 32 | (uint64_t)a->max_bytes << 35 | (uint64_t)a->field << 45;
	return cookie;
}

unsigned int table_cost_class(enum cost_class kind, const struct probe_spec *spec, uint64_t cookie)
{
	unsigned int class = kind;

	if (spec->flags & PROBE_MARK)
		class |= COST_MARK;
	else if (spec->flags & PROBE_EXITS)
		class |= COST_EXITS;
	if (cookie & COOKIE_CSTR)
		class |= COST_TEXT;
	else if (cookie & COOKIE_ARGS)
		class |= COST_ARGS;
	return class;
}
