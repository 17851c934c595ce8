/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The search for known texts and for identities: every path of a few steps that leads from a register to one. A step
 * reads a plain pointer of 8 bytes or a compressed one of 4 from an object, at an offset in a bounded window. An identity is
 * any object of the pointer cage, or where there is none, a frame or document that is known to live.
 */
#ifndef FRAMESCOPE_CALIBRATE_SEARCH_H
#define FRAMESCOPE_CALIBRATE_SEARCH_H

#include "calibrate/memory.h"
#include "calibrate/objects.h"
#include "calibrate/path.h"
#include "record.h"

#define KNOWN_MAX 128

#define KNOWN_MAX_AREAS 16

struct area {
	int32_t x, y, w, h;
};

/* The texts that are looked for; index into them is a text's name. Behind them, the areas. */
struct known {
	const char *text[KNOWN_MAX];
	size_t nr;
	uint8_t kind;	/* KIND_WTF_WEBKIT: they are kept so and in no other way; 0: in one that needs no telling */
	uint64_t names;	/* bits: those of events, which only calls about events are searched for */
	struct area area[KNOWN_MAX_AREAS];
	size_t nr_areas;
};

/* The name of the area that stands there, or -1. */
int known_area(const struct known *k, const void *at);

struct found_text {
	path_t path;
	uint16_t text;
	uint8_t kind;	/* KIND_WTF_BLINK, KIND_WTF_WEBKIT or KIND_CSTR; KIND_INT: an area */
};

struct found_value {
	path_t path;
	uint64_t value;
	uint8_t field;	/* FIELD_FRAME or FIELD_DOCUMENT; 0: it may be either, or anything else */
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
	uint64_t stack;		/* the thread's stack pointer */
	uint64_t cage;		/* base with its low bits set; 0: no compressed pointers */
	const struct objects *objects;	/* NULL: none are known */
	const struct known *known;
	bool areas;		/* areas are looked for, too, */
	bool names;		/* and names of events */
	uint64_t wanted;	/* bits: texts that the call is about, if not only about a document */
};

/*
 * All texts that paths lead to and, with `values`, all identities. Paths of three steps; where objects are known, of
 * five through a document, or `deep`: of four to texts, which takes long. 0 or -ENOMEM; what was found is to be freed.
 */
int search_all(const struct subject *s, bool values, bool deep, struct found *ret);
void found_free(struct found *f);
int found_add_text(struct found *f, path_t path, uint16_t text, uint8_t kind);
int found_add_value(struct found *f, path_t path, uint64_t value, uint8_t field);

/* The identity that a path leads to; false if a step can't be read or is null, or if no known object stands there. */
bool path_identity(const struct subject *s, path_t path, uint64_t *ret);
/* The known text that stands there as `kind`; PATH_OTHER: another one, or a pointer on the way is null; PATH_WRONG: no text. */
#define PATH_OTHER (-1)
#define PATH_WRONG (-2)
int path_text(const struct subject *s, path_t path, uint8_t kind);

#endif
