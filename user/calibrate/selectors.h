/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The function that Blink calls once for each rule that an element matches. No string leads to it: of all functions around
 * the one that `near` leads to, it is the one whose calls are as many as the pages' elements and rules imply, each time,
 * and from whose arguments every rule's selector can be read right.
 */
#ifndef FRAMESCOPE_CALIBRATE_SELECTORS_H
#define FRAMESCOPE_CALIBRATE_SELECTORS_H

#include "calibrate/memory.h"
#include "calibrate/snoop.h"
#include "target/site_file_write.h"

/* The private browser, by whoever runs it. */
struct selector_browser {
	void *arg;
	/* Probes at these offsets, in place of all others; the snoop stays the callee's. 0 or -errno, ERR told. */
	int (*attach)(void *arg, const uint64_t *offsets, size_t nr, snoop_fn fn, void *fn_arg, struct snoop **ret);
	/* Runs a script in a page that shows nothing else, and handles what the probes have meanwhile. False: it failed. */
	bool (*run)(void *arg, const char *script);
	const struct image *image;
	struct memory *memory;
	uint64_t cage;		/* vaddr of its base */
	int stack_reg;
};

/*
 * Fills the site of a probe that has none yet, and its entry. 0, or -errno: -ENOENT with a sentence in ret->evidence if it
 * was not found, others as told by the browser's functions.
 */
int selectors_find(const struct selector_browser *b, const struct engine_probe *probe, struct site *site,
		   struct site_entry *ret);

#endif
