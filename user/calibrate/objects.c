// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Keeps a sorted list of live objects. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/vec.h"
#include "calibrate/objects.h"

#define OBJECT_BYTES 0x400	/* behind its address that belong to an object: where its bases are */

struct object {
	uint64_t at;
	pid_t pid;
	int field;
};

struct objects {
	struct object *all;	/* by process and address */
	size_t nr, cap;
	size_t first, end;	/* those of one process */
};

struct objects *objects_new(void)
{
	return calloc(1, sizeof(struct objects));
}

void objects_free(struct objects *o)
{
	if (o)
		free(o->all);
	free(o);
}

int objects_field(enum probe_role role)
{
	switch (role) {
	case ROLE_FRAME_CREATED:
	case ROLE_FRAME_REMOVED:
		return FIELD_FRAME;
	case ROLE_DOCUMENT_CREATED:
	case ROLE_DOCUMENT_REMOVED:
		return FIELD_DOCUMENT;
	default:
		return 0;
	}
}

/* The first one that is not before this process's address. */
static size_t lower(const struct objects *o, pid_t pid, uint64_t at)
{
	size_t low = 0, high = o->nr;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		const struct object *x = &o->all[mid];

		if (x->pid < pid || (x->pid == pid && x->at < at))
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

int objects_note(struct objects *o, pid_t pid, enum probe_role role, uint64_t object)
{
	bool removed = role == ROLE_FRAME_REMOVED || role == ROLE_DOCUMENT_REMOVED;
	size_t i = lower(o, pid, object);
	bool known = i < o->nr && o->all[i].pid == pid && o->all[i].at == object;

	if (known && removed) {
		memmove(&o->all[i], &o->all[i + 1], (--o->nr - i) * sizeof(*o->all));
	} else if (known) {
		o->all[i].field = objects_field(role);
	} else if (!removed) {
		if (vec_grow(&o->all, o->nr, &o->cap, sizeof(*o->all)))
			return -ENOMEM;
		memmove(&o->all[i + 1], &o->all[i], (o->nr++ - i) * sizeof(*o->all));
		o->all[i] = (struct object){ object, pid, objects_field(role) };
	}
	return 0;
}

bool objects_begin(struct objects *o, pid_t pid)
{
	o->first = lower(o, pid, 0);
	o->end = lower(o, pid + 1, 0);
	return o->first < o->end;
}

uint64_t objects_at(const struct objects *o, uint64_t v, int *ret_field)
{
	size_t low = o->first, high = o->end;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (o->all[mid].at <= v)
			low = mid + 1;
		else
			high = mid;
	}
	if (low == o->first || v - o->all[low - 1].at >= OBJECT_BYTES)
		return 0;
	*ret_field = o->all[low - 1].field;
	return o->all[low - 1].at;
}
