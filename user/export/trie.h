/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Call stacks as a trie: every distinct stack once, its frames once, in bounded memory. */
#ifndef FRAMESCOPE_EXPORT_TRIE_H
#define FRAMESCOPE_EXPORT_TRIE_H

#include "model/session.h"

#define TRIE_MAX_NODES (1u << 18)
#define TRIE_NONE UINT32_MAX

/* What a stack's entry shows: a probe, and what its calls were about. */
struct trie_frame {
	const struct event_detail *detail;	/* NULL: told apart by the probe alone */
	uint16_t probe;
};

struct trie_node {
	uint32_t parent;	/* TRIE_NONE: a root */
	uint32_t frame;
	uint32_t thread;	/* of a root's stack; the same below it */
	uint64_t value;		/* the owner's */
};

struct trie {
	struct trie_node *nodes;
	struct trie_frame *frames;
	uint32_t nr_nodes, nr_frames;
	uint32_t *node_slots, *frame_slots;	/* index + 1; hash tables of fixed size */
};

int trie_init(struct trie *t);	/* -ENOMEM */
void trie_free(struct trie *t);
void trie_clear(struct trie *t);

/*
 * The stack that `parent` (or TRIE_NONE) and this frame make on the thread. When the trie is full, the frame is taken
 * without its detail, and if that is new, too, the parent stands for it; TRIE_NONE if there is none.
 */
uint32_t trie_child(struct trie *t, uint32_t parent, uint32_t thread, uint16_t probe, const struct event_detail *d);
bool trie_full(const struct trie *t);
uint32_t trie_frame(struct trie *t, uint16_t probe, const struct event_detail *d);	/* TRIE_NONE: full */

#endif
