/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The stack that each thread has open while a session is walked, as nodes of a trie. */
#ifndef FRAMESCOPE_EXPORT_STACKS_H
#define FRAMESCOPE_EXPORT_STACKS_H

#include "export/export.h"
#include "export/trie.h"

struct stack_entry {
	const struct event_detail *detail;
	uint32_t node;		/* of the trie, if `round` is the current one */
	uint32_t round;
	uint16_t probe;
};

struct stacks {
	struct trie trie;
	struct thread_stack { struct stack_entry *entries; uint32_t cap; } *threads;
	size_t nr_threads;
	uint32_t round;		/* grows with each stacks_clear() */
};

int stacks_init(struct stacks *k, const struct session *s);
void stacks_free(struct stacks *k);

/* The event's stack (TRIE_NONE: the trie is full), to be called for each event in order. -ENOMEM */
int stacks_enter(struct stacks *k, const struct export_event *e, uint32_t *ret_node);
/* Forgets all stacks; those that are open are made anew when they are next met. */
void stacks_clear(struct stacks *k);

#endif
