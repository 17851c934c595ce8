/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The search for known texts and for identities: every path of a few steps that leads from a register to one. A step
 * reads a plain pointer of 8 bytes or a compressed one of 4 from an object, at an offset in a bounded window.
 */
#ifndef FRAMESCOPE_CAPTURE_CALIBRATE_SEARCH_H
#define FRAMESCOPE_CAPTURE_CALIBRATE_SEARCH_H

#include "capture/calibrate_memory.h"
#include "record.h"

#define PATH_MAX_STEPS 3
#define KNOWN_MAX 128

/* A register and up to PATH_MAX_STEPS steps in one number: equal paths are equal numbers. */
typedef uint64_t path_t;

/* The texts that are looked for; index into them is a text's name. */
struct known {
	const char *text[KNOWN_MAX];
	size_t nr;
};

struct found_text {
	path_t path;
	uint16_t text;
	uint8_t kind;	/* KIND_WTF_BLINK or KIND_CSTR */
};

struct found_value {
	path_t path;
	uint64_t value;
};

struct found {
	struct found_text *texts;
	size_t nr_texts, cap_texts;
	struct found_value *values;
	size_t nr_values, cap_values;
};

struct subject {
	struct memory *memory;
	const uint64_t *regs;	/* the first nr_regs are looked at */
	size_t nr_regs;
	uint32_t stack_regs;	/* bits: registers that point into the thread's stack */
	uint64_t cage;		/* base with its low bits set; 0: no compressed pointers */
	const struct known *known;
};

/* All texts that paths lead to and, with `values`, all pointers into the cage. 0 or -ENOMEM; what was found is to be freed. */
int search_all(const struct subject *s, bool values, struct found *ret);
void found_free(struct found *f);
int found_add_text(struct found *f, path_t path, uint16_t text, uint8_t kind);
int found_add_value(struct found *f, path_t path, uint64_t value);

/* What a path leads to; false if a step can't be read or is null. */
bool path_follow(const struct subject *s, path_t path, uint64_t *ret);
/* The known text that stands there as `kind`, or -1. */
int path_text(const struct subject *s, path_t path, uint8_t kind);

size_t path_steps(path_t path);
/* Of two paths that lead to the same: few steps, from an early register that does not point into the stack (where what
 * callers have left may stand for a while), not to what lies before an object, and not far into it. */
bool path_is_better(path_t a, path_t b, uint32_t stack_regs);
path_t path_parent(path_t path);	/* without its last step */
void path_spec(path_t path, uint8_t field, uint8_t kind, struct arg_spec *ret);

#endif
