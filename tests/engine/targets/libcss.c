// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Small target: selectors as libcss keeps them, whole and broken ones. Protocol: tests/lib/framescope.py. */
/* cflags: -fno-shrink-wrap -fcf-protection=none */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define probed __attribute__((noinline, noclone, noipa))
#define ENTER() __asm__ volatile("" : : : "memory", "rbx")

struct string {	/* lwc_string */
	void *links[2];
	size_t len;
	uint32_t hash, references;
	void *insensitive;
	char text[200];
};

struct simple {	/* css_selector_detail */
	void *ns;
	const struct string *name;
	union {
		const struct string *text;
		struct {
			int32_t a, b;
		} nth;
	} value;
	unsigned type : 4, relation : 3, next : 1, is_nth : 1, negated : 1;
};

struct compound {	/* css_selector */
	const struct compound *left;
	void *rule;
	uint32_t specificity;
	struct simple simple[48];
};

enum { ELEMENT, CLASS, ID, PSEUDO_CLASS, PSEUDO_ELEMENT, ATTRIBUTE };
enum { NONE, DESCENDANT, CHILD, NEXT, LATER };

#define BAD ((void *)0x10)	/* not mapped in any process */
#define LEN(a) (sizeof(a) / sizeof((a)[0]))

static volatile long sink;

probed void match(const struct compound *c)
{
	ENTER();
	sink += (long)c;
}

static const struct string *string(const char *text)
{
	struct string *s = calloc(1, sizeof(*s));

	s->len = strlen(text);
	memcpy(s->text, text, s->len);
	return s;
}

/* Of an element type, the compound to its left and what is between them. */
static struct compound *compound(const struct compound *left, int relation, const char *type)
{
	struct compound *c = calloc(1, sizeof(*c));

	c->left = left;
	c->simple[0] = (struct simple){ .name = string(type), .relation = relation };
	return c;
}

/* Adds a simple selector, and returns it. */
static struct simple *add(struct compound *c, int type, const char *name)
{
	int n = 0;

	while (c->simple[n].next)
		n++;
	c->simple[n++].next = 1;
	c->simple[n] = (struct simple){ .name = string(name), .type = type };
	return &c->simple[n];
}

static void nth(int a, int b)
{
	struct compound *c = compound(NULL, NONE, "*");
	struct simple *s = add(c, PSEUDO_CLASS, "nth-child");

	s->is_nth = 1;
	s->value.nth.a = a;
	s->value.nth.b = b;
	match(c);
}

static void whole(void)
{
	static const int numbers[][2] = { { 2, 1 }, { 0, 5 }, { 1, 0 }, { -1, 3 }, { 10, -20 }, { 0, 0 }, { INT32_MIN, INT32_MAX } };
	struct compound *c = compound(NULL, NONE, "*");

	match(c);
	add(c, CLASS, "a");
	add(c, ID, "b");
	match(c);
	c = compound(c, CHILD, "p");
	c = compound(c, NEXT, "q");
	add(c, PSEUDO_ELEMENT, "before");
	c = compound(c, LATER, "r");
	add(c, PSEUDO_CLASS, "lang")->value.text = string("fr");
	c = compound(c, DESCENDANT, "*");
	add(c, PSEUDO_CLASS, "hover");
	match(c);
	c = compound(NULL, NONE, "*");
	add(c, ATTRIBUTE, "x");
	for (int type = ATTRIBUTE + 1; type <= ATTRIBUTE + 6; type++)
		add(c, type, "x")->value.text = string("y z");
	match(c);
	c = compound(NULL, NONE, "*");
	add(c, ELEMENT, "*")->negated = 1;
	add(c, CLASS, "c")->negated = 1;
	match(c);
	for (size_t i = 0; i < LEN(numbers); i++)
		nth(numbers[i][0], numbers[i][1]);
}

static void broken(void)
{
	char name[140];
	struct compound *c = NULL;

	for (int i = 0; i < 9; i++)
		c = compound(c, c ? CHILD : NONE, "x");
	match(c);	/* more compounds than are read */
	c = compound(NULL, DESCENDANT, "x");
	c->left = c;
	match(c);	/* without end */
	c = compound(BAD, NEXT, "x");
	match(c);
	c = compound(NULL, NONE, "x");
	for (size_t i = 0; i < LEN(c->simple); i++)
		c->simple[i] = (struct simple){ .name = c->simple[0].name, .type = CLASS, .next = 1 };
	match(c);	/* more simple selectors */
	c = compound(NULL, NONE, "*");
	for (int length = 128; length <= 129; length++) {
		memset(name, 'n', sizeof(name));
		name[length] = '\0';
		add(c, CLASS, name);
	}
	match(c);	/* one as long as names may be, one longer */
	c = compound(NULL, NONE, "x");
	add(c, CLASS, "x")->name = BAD;
	add(c, ATTRIBUTE + 1, "x")->value.text = NULL;
	add(c, 12, "x");
	add(c, 15, "x");
	match(c);
	c = compound(compound(NULL, NONE, "x"), 7, "x");
	match(c);	/* a relation that there is not */
	match(BAD);
}

int main(void)
{
	char line[16];

	puts("ready");
	fflush(stdout);
	if (fgets(line, sizeof(line), stdin)) {
		whole();
		broken();
	}
	puts("done");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin))
		;
	return 0;
}
