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
	size_t first, end;	/* those of one process, */
	pid_t pid;		/* this */
	struct object *classes;	/* `at`: the word that they begin with */
	size_t nr_classes, cap_classes;
};

struct objects *objects_new(void)
{
	return calloc(1, sizeof(struct objects));
}

void objects_free(struct objects *o)
{
	if (o) {
		free(o->all);
		free(o->classes);
	}
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

bool objects_told(const struct arg_spec *a)
{
	return (a->field == FIELD_FRAME || a->field == FIELD_DOCUMENT) && a->kind == KIND_INT && !a->nr_steps;
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

static int put(struct objects *o, pid_t pid, int field, uint64_t object, bool removed)
{
	size_t i = lower(o, pid, object);
	bool known = i < o->nr && o->all[i].pid == pid && o->all[i].at == object;

	if (known && removed) {
		memmove(&o->all[i], &o->all[i + 1], (--o->nr - i) * sizeof(*o->all));
	} else if (known) {
		o->all[i].field = field;
	} else if (!removed) {
		if (vec_grow(&o->all, o->nr, &o->cap, sizeof(*o->all)))
			return -ENOMEM;
		memmove(&o->all[i + 1], &o->all[i], (o->nr++ - i) * sizeof(*o->all));
		o->all[i] = (struct object){ object, pid, field };
	}
	return 0;
}

int objects_note(struct objects *o, pid_t pid, enum probe_role role, uint64_t object)
{
	return put(o, pid, objects_field(role), object, role == ROLE_FRAME_REMOVED || role == ROLE_DOCUMENT_REMOVED);
}

int objects_learn(struct objects *o, pid_t pid, int field, uint64_t object, uint64_t word)
{
	if (objects_begin(o, pid) && objects_class(o, word))
		return put(o, pid, field, object, false);
	if (vec_grow(&o->classes, o->nr_classes, &o->cap_classes, sizeof(*o->classes)))
		return -ENOMEM;
	o->classes[o->nr_classes++] = (struct object){ word, pid, field };
	return put(o, pid, field, object, false);
}

bool objects_begin(struct objects *o, pid_t pid)
{
	o->pid = pid;
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

int objects_class(const struct objects *o, uint64_t word)
{
	for (size_t i = 0; i < o->nr_classes; i++)
		if (o->classes[i].pid == o->pid && o->classes[i].at == word)
			return o->classes[i].field;
	return 0;
}
