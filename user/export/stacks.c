// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Open stacks of threads, kept as nodes of a trie that may be emptied on the way. */
#include <errno.h>
#include <stdlib.h>
#include "export/stacks.h"

int stacks_init(struct stacks *k, const struct session *s)
{
	*k = (struct stacks){ .round = 1 };
	session_threads(s, &k->nr_threads);
	k->threads = calloc(k->nr_threads + 1, sizeof(*k->threads));
	if (!k->threads || trie_init(&k->trie)) {
		stacks_free(k);
		return -ENOMEM;
	}
	return 0;
}

void stacks_free(struct stacks *k)
{
	for (size_t i = 0; k->threads && i < k->nr_threads; i++)
		free(k->threads[i].entries);
	free(k->threads);
	trie_free(&k->trie);
	*k = (struct stacks){ 0 };
}

void stacks_clear(struct stacks *k)
{
	trie_clear(&k->trie);
	k->round++;
}

static int make_room(struct thread_stack *t, uint32_t depth)
{
	uint32_t cap = t->cap ? t->cap : 8;
	struct stack_entry *entries;

	while (cap <= depth)
		cap *= 2;
	if (cap == t->cap)
		return 0;
	entries = reallocarray(t->entries, cap, sizeof(*entries));
	if (!entries)
		return -ENOMEM;
	t->entries = entries;
	t->cap = cap;
	return 0;
}

/* The node of entry i, below `parent`. */
static uint32_t node_of(struct stacks *k, struct stack_entry *entry, uint32_t parent, uint32_t thread)
{
	if (entry->round != k->round) {
		entry->node = trie_child(&k->trie, parent, thread, entry->probe, entry->detail);
		entry->round = k->round;
	}
	return entry->node;
}

int stacks_enter(struct stacks *k, const struct export_event *e, uint32_t *ret_node)
{
	struct thread_stack *t = &k->threads[e->view.thread];
	struct stack_entry self = { .detail = e->view.detail, .probe = e->view.probe };
	uint32_t depth = e->thread_depth, node = TRIE_NONE;

	if (make_room(t, depth))
		return -ENOMEM;
	for (uint32_t i = 0; i < depth; i++)
		node = node_of(k, &t->entries[i], node, e->view.thread);
	*ret_node = node_of(k, &self, node, e->view.thread);
	/* nothing is called by a sum of calls, and another event may be open at its depth */
	if (!e->overlapping)
		t->entries[depth] = self;
	return 0;
}
