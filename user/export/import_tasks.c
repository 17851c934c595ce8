// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Processes and threads of a foreign profile, whose numbers may be any, with numbers as a recording has them. */
#include <stdlib.h>
#include <string.h>
#include "base/vec.h"
#include "export/import_state.h"

#define SLOTS 65536u	/* of a table; a power of two, more than twice IMPORT_MAX_TASKS */
#define NUMBER_MAX 0x7fffffffu

int import_tasks_init(struct import_tasks *t)
{
	t->by_given = calloc(SLOTS, sizeof(*t->by_given));
	t->by_number = calloc(SLOTS, sizeof(*t->by_number));
	t->next_number = NUMBER_MAX;
	return t->by_given && t->by_number ? 0 : -1;
}

void import_tasks_free(struct import_tasks *t)
{
	for (size_t i = 0; i < t->nr; i++)
		free(t->items[i].name);
	free(t->items);
	free(t->by_given);
	free(t->by_number);
}

static uint32_t hash(uint64_t a, uint64_t b)
{
	uint64_t h = (a ^ b * 0xbf58476d1ce4e5b9ull) * 0x9e3779b97f4a7c15ull;

	return h >> 48 & (SLOTS - 1);
}

/* The slot that holds it, or the empty one where it would go. */
static uint32_t *slot_of(struct import_tasks *t, uint64_t given, uint32_t process)
{
	uint32_t i = hash(given, process);

	for (; t->by_given[i]; i = (i + 1) & (SLOTS - 1)) {
		const struct import_task *task = &t->items[t->by_given[i] - 1];

		if (task->given == given && task->process == process)
			break;
	}
	return &t->by_given[i];
}

static uint32_t *number_slot(struct import_tasks *t, uint32_t number)
{
	uint32_t i = hash(number, 0);

	while (t->by_number[i] && t->items[t->by_number[i] - 1].number != number)
		i = (i + 1) & (SLOTS - 1);
	return &t->by_number[i];
}

/* Its own number if that is one, and nobody has it yet: recordings know a thread by its tid alone. */
static uint32_t free_number(struct import_tasks *t, uint64_t given)
{
	if (given <= NUMBER_MAX && !*number_slot(t, given))
		return given;
	while (*number_slot(t, t->next_number))
		t->next_number--;
	return t->next_number;
}

static bool name_task(struct import_task *task, const char *name)
{
	char *copy = import_copy_text(name, 256);

	if (!copy)
		return false;
	free(task->name);
	task->name = copy;
	return true;
}

static struct import_task *add(struct import_tasks *t, uint64_t given, uint32_t process)
{
	if (t->nr == IMPORT_MAX_TASKS || vec_grow(&t->items, t->nr, &t->cap, sizeof(*t->items)))
		return NULL;
	t->items[t->nr] = (struct import_task){ .given = given, .number = free_number(t, given), .process = process };
	return &t->items[t->nr];
}

/* Finds it or adds it; NULL without memory or beyond the limit. */
static struct import_task *get(struct import_tasks *t, uint64_t given, uint32_t process, const char *name, const char *unnamed)
{
	struct import_task *task;
	uint32_t *slot = slot_of(t, given, process);

	if (*slot) {
		task = &t->items[*slot - 1];
		return !name || !*name || name_task(task, name) ? task : NULL;
	}
	task = add(t, given, process);
	if (!task || !name_task(task, name && *name ? name : unnamed))
		return NULL;
	*slot = t->nr + 1;
	*number_slot(t, task->number) = ++t->nr;
	return task;
}

uint32_t import_process(struct import *im, uint64_t pid, const char *name)
{
	struct import_task *task = get(&im->procs, pid, 0, name, "process");

	return task ? task - im->procs.items : IMPORT_NONE;
}

uint32_t import_thread(struct import *im, uint64_t pid, uint64_t tid, const char *name)
{
	uint32_t process = import_process(im, pid, NULL);
	struct import_task *task = process == IMPORT_NONE ? NULL : get(&im->threads, tid, process, name, "thread");

	return task ? task - im->threads.items : IMPORT_NONE;
}

uint32_t import_pid(const struct import *im, uint32_t thread)
{
	return im->procs.items[im->threads.items[thread].process].number;
}
