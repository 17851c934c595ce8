// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What a foreign profile says, collected: probes, arguments and items, each told apart once. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/text.h"
#include "export/import_state.h"

#define MAX_ARG_BYTES (2ull << 30)

void import_arg_int(struct import_args *a, int field, int64_t v)
{
	struct rec_arg arg = { .field = field, .encoding = ENC_INT, .bytes = sizeof(v) };

	if (sizeof(a->bytes) - a->nr < sizeof(arg) + sizeof(v))
		return;
	memcpy(a->bytes + a->nr, &arg, sizeof(arg));
	memcpy(a->bytes + a->nr + sizeof(arg), &v, sizeof(v));
	a->nr += sizeof(arg) + sizeof(v);
}

void import_arg_text(struct import_args *a, int field, const char *s)
{
	struct rec_arg arg = { .field = field, .encoding = ENC_UTF8 };
	size_t n, padded;

	if (!s)
		return;
	n = strnlen(s, RECORD_MAX_STRING + 1);
	if (n > RECORD_MAX_STRING) {
		n = text_valid_prefix(s, RECORD_MAX_STRING);
		arg.encoding |= ENC_TRUNCATED;
	}
	padded = (n + 3) / 4 * 4;
	if (sizeof(a->bytes) - a->nr < sizeof(arg) + padded)
		return;
	arg.bytes = n;
	memcpy(a->bytes + a->nr, &arg, sizeof(arg));
	memset(a->bytes + a->nr + sizeof(arg), 0, padded);
	memcpy(a->bytes + a->nr + sizeof(arg), s, n);
	a->nr += sizeof(arg) + padded;
}

int import_new(struct import **ret)
{
	struct import *im = calloc(1, sizeof(*im));

	if (!im)
		return -ENOMEM;
	im->args_seen = calloc(IMPORT_ARG_SLOTS, sizeof(*im->args_seen));
	if (!im->args_seen || import_tasks_init(&im->procs) || import_tasks_init(&im->threads)) {
		import_free(im);
		return -ENOMEM;
	}
	*ret = im;
	return 0;
}

void import_free(struct import *im)
{
	if (!im)
		return;
	import_tasks_free(&im->procs);
	import_tasks_free(&im->threads);
	for (size_t i = 0; i < im->nr_probes; i++) {
		free((char *)im->probes[i].label);
		free((char *)im->probes[i].category);
		free((char *)im->probes[i].group);
	}
	for (size_t i = 0; i < im->nr_metrics; i++) {
		free(im->metric_names[i]);
		free(im->metric_units[i]);
	}
	free(im->items);
	free(im->metrics);
	free(im->args);
	free(im->args_seen);
	free(im);
}

char *import_copy_text(const char *s, size_t max)
{
	size_t n = strnlen(s, max);

	return strndup(s, text_valid_prefix(s, n));
}

static bool same_probe(const struct recording_probe *p, const char *label, const char *category, int type, int kind, int role,
		       const char *group)
{
	return p->type == type && p->kind == kind && p->role == role && !strcmp(p->label, label) &&
		!strcmp(p->category, category) && !strcmp(p->group, group);
}

static uint32_t probe_slot(const char *label, int type, int kind)
{
	uint32_t h = 2166136261u;

	for (; *label; label++)
		h = (h ^ (unsigned char)*label) * 16777619u;
	return (h ^ type * 31 ^ kind * 977) & (IMPORT_PROBE_SLOTS - 1);
}

uint32_t import_probe(struct import *im, const char *label, const char *category, int type, int kind, int role,
		      const char *group)
{
	uint32_t slot;

	if (!*label)
		label = "(no name)";
	/* the last EVENT_TYPE_END * 8 places are for what came too late */
	if (im->nr_probes >= RECORD_MAX_PROBES - EVENT_TYPE_END * 8) {
		slot = probe_slot(label, type, kind);
		for (; im->probe_slots[slot]; slot = (slot + 1) & (IMPORT_PROBE_SLOTS - 1))
			if (same_probe(&im->probes[im->probe_slots[slot] - 1], label, category, type, kind, role, group))
				return im->probe_slots[slot] - 1;
		label = "(other)";
		category = "";
		group = "";
		role = ROLE_NONE;
	}
	slot = probe_slot(label, type, kind);
	for (; im->probe_slots[slot]; slot = (slot + 1) & (IMPORT_PROBE_SLOTS - 1))
		if (same_probe(&im->probes[im->probe_slots[slot] - 1], label, category, type, kind, role, group))
			return im->probe_slots[slot] - 1;
	if (im->nr_probes == RECORD_MAX_PROBES)
		return IMPORT_NONE;
	im->probes[im->nr_probes] = (struct recording_probe){
		.label = import_copy_text(label, 256), .category = import_copy_text(category, 256), .group = import_copy_text(group, 256),
		.engine = "import", .function = "", .module = "", .build_id = "", .source = "import", .evidence = "",
		.refused = "", .type = type, .kind = kind, .role = role, .attached = true,
	};
	im->probes[im->nr_probes].name = im->probes[im->nr_probes].label;
	if (!im->probes[im->nr_probes].label || !im->probes[im->nr_probes].category || !im->probes[im->nr_probes].group)
		return IMPORT_NONE;
	im->probe_slots[slot] = ++im->nr_probes;
	return im->nr_probes - 1;
}

/* Equal arguments are kept once where they follow closely enough: the table of those seen forgets. */
uint32_t import_keep_args(struct import *im, const struct import_args *a)
{
	uint64_t h = a->nr;
	uint32_t *seen;
	size_t at;

	if (!a->nr)
		return IMPORT_NONE;
	for (uint32_t i = 0; i < a->nr; i++)
		h = (h ^ a->bytes[i]) * 0x100000001b3ull;
	seen = &im->args_seen[(h ^ h >> 32) & (IMPORT_ARG_SLOTS - 1)];
	at = 4ull * *seen;
	if (at < im->nr_args && *(uint32_t *)(im->args + at) == a->nr && !memcmp(im->args + at + 4, a->bytes, a->nr))
		return *seen;
	while (im->cap_args - im->nr_args < 4ull + a->nr) {
		size_t cap = im->cap_args ? 2 * im->cap_args : 1 << 16;
		uint8_t *more = cap <= MAX_ARG_BYTES ? realloc(im->args, cap) : NULL;

		/* without arguments, then: what they say is lost, the event isn't */
		if (!more)
			return IMPORT_NONE;
		im->args = more;
		im->cap_args = cap;
	}
	*(uint32_t *)(im->args + im->nr_args) = a->nr;
	memcpy(im->args + im->nr_args + 4, a->bytes, a->nr);
	*seen = im->nr_args / 4;
	im->nr_args += 4 + a->nr;	/* a multiple of 4 */
	return *seen;
}

static bool make_room(struct import *im)
{
	size_t cap = im->cap_items ? 2 * im->cap_items : 64;
	struct import_item *more;
	uint64_t *metrics;

	if (im->nr_items < im->cap_items)
		return true;
	more = reallocarray(im->items, cap, sizeof(*more));
	if (!more)
		return false;
	im->items = more;
	if (im->nr_metrics) {
		metrics = reallocarray(im->metrics, cap * im->nr_metrics, sizeof(*metrics));
		if (!metrics)
			return false;
		im->metrics = metrics;
	}
	im->cap_items = cap;
	return true;
}

uint32_t import_add(struct import *im, const struct import_item *item)
{
	if (im->nr_items == IMPORT_MAX_ITEMS || item->probe >= im->nr_probes ||
	    (item->kind != IMPORT_LOSS && item->thread >= im->threads.nr) || !make_room(im))
		return IMPORT_NONE;
	im->items[im->nr_items] = *item;
	for (size_t i = 0; i < im->nr_metrics; i++)
		im->metrics[im->nr_items * im->nr_metrics + i] = 0;
	return im->nr_items++;
}

int import_metric(struct import *im, const char *name, const char *unit)
{
	uint32_t i = im->nr_metrics;

	if (i == RECORD_MAX_METRICS || im->nr_items)
		return -1;
	im->metric_names[i] = import_copy_text(name, 64);
	im->metric_units[i] = import_copy_text(unit, 64);
	if (im->metric_names[i] && im->metric_units[i]) {
		im->nr_metrics++;
		return i;
	}
	free(im->metric_names[i]);
	free(im->metric_units[i]);
	return -1;
}

void import_add_metric(struct import *im, uint32_t item, int metric, uint64_t value)
{
	uint64_t *sum;

	if (item >= im->nr_items || metric < 0 || (uint32_t)metric >= im->nr_metrics)
		return;
	sum = &im->metrics[(size_t)item * im->nr_metrics + metric];
	/* UINT64_MAX would say that there is no value */
	*sum = value < UINT64_MAX / 2 - *sum ? *sum + value : UINT64_MAX / 2;
}

struct import_item *import_item(struct import *im, uint32_t index)
{
	return index < im->nr_items ? &im->items[index] : NULL;
}
