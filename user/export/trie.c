// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Distinct stacks and frames, found by hashing. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "export/trie.h"

#define SLOTS (2 * TRIE_MAX_NODES)

int trie_init(struct trie *t)
{
	*t = (struct trie){
		.nodes = malloc(TRIE_MAX_NODES * sizeof(*t->nodes)),
		.frames = malloc(TRIE_MAX_NODES * sizeof(*t->frames)),
		.node_slots = calloc(SLOTS, sizeof(*t->node_slots)),
		.frame_slots = calloc(SLOTS, sizeof(*t->frame_slots)),
	};
	if (t->nodes && t->frames && t->node_slots && t->frame_slots)
		return 0;
	trie_free(t);
	return -ENOMEM;
}

void trie_free(struct trie *t)
{
	free(t->nodes);
	free(t->frames);
	free(t->node_slots);
	free(t->frame_slots);
	*t = (struct trie){ 0 };
}

void trie_clear(struct trie *t)
{
	memset(t->node_slots, 0, SLOTS * sizeof(*t->node_slots));
	memset(t->frame_slots, 0, SLOTS * sizeof(*t->frame_slots));
	t->nr_nodes = t->nr_frames = 0;
}

bool trie_full(const struct trie *t)
{
	return t->nr_nodes == TRIE_MAX_NODES || t->nr_frames == TRIE_MAX_NODES;
}

static size_t mix(uint64_t a, uint64_t b)
{
	uint64_t h = (a * 0x9e3779b97f4a7c15ull ^ b) * 0xbf58476d1ce4e5b9ull;

	return (h ^ h >> 31) * 0x94d049bb133111ebull >> 40 & (SLOTS - 1);
}

uint32_t trie_frame(struct trie *t, uint16_t probe, const struct event_detail *d)
{
	size_t i = mix((uintptr_t)d, probe);

	for (; t->frame_slots[i]; i = (i + 1) & (SLOTS - 1)) {
		const struct trie_frame *f = &t->frames[t->frame_slots[i] - 1];

		if (f->detail == d && f->probe == probe)
			return t->frame_slots[i] - 1;
	}
	if (t->nr_frames == TRIE_MAX_NODES)
		return TRIE_NONE;
	t->frames[t->nr_frames] = (struct trie_frame){ .detail = d, .probe = probe };
	t->frame_slots[i] = ++t->nr_frames;
	return t->nr_frames - 1;
}

static uint32_t find_node(struct trie *t, uint32_t parent, uint32_t thread, uint32_t frame)
{
	size_t i = mix((uint64_t)parent << 32 | frame, thread);

	for (; t->node_slots[i]; i = (i + 1) & (SLOTS - 1)) {
		const struct trie_node *n = &t->nodes[t->node_slots[i] - 1];

		if (n->parent == parent && n->frame == frame && n->thread == thread)
			return t->node_slots[i] - 1;
	}
	if (t->nr_nodes == TRIE_MAX_NODES)
		return TRIE_NONE;
	t->nodes[t->nr_nodes] = (struct trie_node){ .parent = parent, .frame = frame, .thread = thread };
	t->node_slots[i] = ++t->nr_nodes;
	return t->nr_nodes - 1;
}

uint32_t trie_child(struct trie *t, uint32_t parent, uint32_t thread, uint16_t probe, const struct event_detail *d)
{
	uint32_t frame = trie_frame(t, probe, d);
	uint32_t node = frame == TRIE_NONE ? TRIE_NONE : find_node(t, parent, thread, frame);

	if (node == TRIE_NONE && d) {
		frame = trie_frame(t, probe, NULL);
		node = frame == TRIE_NONE ? TRIE_NONE : find_node(t, parent, thread, frame);
	}
	return node == TRIE_NONE ? parent : node;
}
