// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Finds known rules among those that were seen, and the one layout in which all of them read right. */
#include <string.h>
#include "calibrate/layout.h"
#include "calibrate/rules.h"

#define NAME_FROM 12	/* of a StringImpl's characters; before them { references, length, hash and flags } */
#define MAX_INDEX_BITS 16

bool seen_text(struct memory *m, uint64_t impl, char *dst)
{
	uint32_t h[3];

	dst[0] = '\0';
	if (!impl || !memory_mapped(m, impl) || !memory_read(m, impl, h, sizeof(h)) || !(h[2] & 1) || !h[1] || h[1] >= SEEN_NAME ||
	    !memory_read(m, impl + NAME_FROM, dst, h[1])) {
		dst[0] = '\0';
		return false;
	}
	dst[h[1]] = '\0';
	return true;
}

static void read_part(struct memory *m, uint64_t at, struct seen_part *ret)
{
	uint64_t raw[2] = { 0 }, inner;

	memset(ret, 0, sizeof(*ret));
	if (!memory_read(m, at, raw, sizeof(raw)))
		return;
	ret->bits = raw[0];
	if (!memory_mapped(m, raw[1]))
		return;
	seen_text(m, raw[1], ret->direct);
	for (int i = 0; i < SEEN_WAYS; i++)
		if (memory_read(m, raw[1] + 8 * i, &inner, 8))
			seen_text(m, inner, ret->inside[i]);
}

void seen_add(struct seen_rules *s, struct memory *m, uint64_t near, uint64_t array)
{
	struct seen_rule *r;
	uint8_t bytes[SEEN_NEAR];

	if (!memory_read(m, near, bytes, sizeof(bytes)))
		return;
	for (size_t i = 0; i < s->nr; i++)
		if (s->v[i].array == array && !memcmp(s->v[i].near, bytes, sizeof(bytes))) {
			s->v[i].calls++;
			return;
		}
	if (s->nr == SEEN_MAX)
		return;
	r = &s->v[s->nr++];
	r->array = array;
	r->calls = 1;
	memcpy(r->near, bytes, sizeof(bytes));
	for (int i = 0; i < SELECTOR_PARTS; i++)
		read_part(m, array + 16 * i, &r->parts[i]);
}

static bool is_key(const struct known_part *p)
{
	return p->name && !strncmp(p->name, RULE_KEY, strlen(RULE_KEY));
}

/* Which of those seen it is: its own name where that must stand, and as many calls as elements. NULL: none, or several. */
static const struct seen_rule *find_rule(const struct seen_rules *s, const struct known_rule *k)
{
	const struct seen_rule *ret = NULL;

	for (size_t i = 0; i < s->nr; i++)
		for (int p = 0; p < k->nr_parts; p++) {
			if (!is_key(&k->parts[p]) || strcmp(s->v[i].parts[k->index + p].direct, k->parts[p].name) ||
			    (k->elements && s->v[i].calls != k->elements))
				continue;
			if (ret)
				return NULL;
			ret = &s->v[i];
		}
	return ret;
}

/* Calls each(known, seen, ctx) for all simple selectors of known rules. */
struct part_of {
	const struct known_part *known;
	const struct seen_part *seen;
	bool last;	/* of its complex selector */
};

static size_t all_parts(const struct seen_rule *const *rules, struct part_of *ret)
{
	size_t nr = 0;

	for (size_t i = 0; i < nr_known_rules; i++)
		for (int p = 0; p < known_rules[i].nr_parts; p++)
			ret[nr++] = (struct part_of){ &known_rules[i].parts[p], &rules[i]->parts[known_rules[i].index + p],
						      p + 1 == known_rules[i].nr_parts };
	return nr;
}

/* The only bit that all of them have and all others have not; -1. */
static int bit_of(const struct part_of *parts, size_t nr, bool (*has)(const struct part_of *))
{
	uint32_t always = ~0u, never = 0;

	for (size_t i = 0; i < nr; i++) {
		if (has(&parts[i]))
			always &= parts[i].seen->bits;
		else
			never |= parts[i].seen->bits;
	}
	always &= ~never;
	return always && !(always & (always - 1)) ? __builtin_ctz(always) : -1;
}

static bool is_last(const struct part_of *p)
{
	return p->last;
}

static bool is_rare(const struct part_of *p)
{
	return p->known->rare;
}

/* Names of types and attributes stand in an object: at which offset, by eights; -1. */
static int name_place(const struct part_of *parts, size_t nr)
{
	for (int way = 0; way < SEEN_WAYS; way++) {
		bool right = true;

		for (size_t i = 0; i < nr && right; i++) {
			const struct known_part *k = parts[i].known;

			if ((k->kind == SELECTOR_TAG || k->kind == SELECTOR_ATTRIBUTE) && !k->rare)
				right = !strcmp(parts[i].seen->inside[way], k->name);
		}
		if (right)
			return way;
	}
	return -1;
}

/* What each match code is; false if one would be two things, or a name or relation is not what it must be. */
static bool learn_kinds(const struct part_of *parts, size_t nr, uint64_t *ret)
{
	uint8_t kind[16] = { 0 };

	for (size_t i = 0; i < nr; i++) {
		const struct known_part *k = parts[i].known;
		uint8_t *code = &kind[SELECTOR_CODE(parts[i].seen->bits)];
		bool direct = k->kind != SELECTOR_TAG && k->kind != SELECTOR_ATTRIBUTE && !k->rare && k->name;

		if ((*code && *code != k->kind) || SELECTOR_RELATION(parts[i].seen->bits) != k->relation ||
		    (direct && strcmp(parts[i].seen->direct, k->name)))
			return false;
		*code = k->kind;
	}
	for (int i = 0; i < 16; i++)
		*ret |= (uint64_t)kind[i] << 3 * i;
	return true;
}

static bool index_fits(const struct seen_rule *const *rules, const struct index_place *p)
{
	for (size_t i = 0; i < nr_known_rules; i++) {
		uint32_t word;

		memcpy(&word, rules[i]->near + p->off, sizeof(word));
		if ((word >> p->shift & ((1u << p->bits) - 1)) != known_rules[i].index)
			return false;
	}
	return true;
}

/* The widest field whose value is the index at every rule; what follows it varies between rules. */
static bool find_index(const struct seen_rule *const *rules, struct index_place *ret)
{
	for (int bits = MAX_INDEX_BITS; bits > 1; bits--)
		for (int off = 0; off + 4 <= SEEN_NEAR; off += 4)
			for (int shift = 0; shift + bits <= 32; shift++) {
				*ret = (struct index_place){ off, shift, bits };
				if (index_fits(rules, ret))
					return true;
			}
	return false;
}

bool layout_learn(const struct seen_rules *s, int64_t *ret_layout, struct index_place *ret_index, const char **ret_why)
{
	const struct seen_rule *rules[64];
	struct part_of parts[64 * RULE_MAX_PARTS];
	uint64_t layout = 0;
	int last, rare, name;
	size_t nr;

	for (size_t i = 0; i < nr_known_rules; i++) {
		rules[i] = find_rule(s, &known_rules[i]);
		*ret_why = "not every rule of its page was seen once for each element that it matches";
		if (!rules[i])
			return false;
	}
	nr = all_parts(rules, parts);
	last = bit_of(parts, nr, is_last);
	rare = bit_of(parts, nr, is_rare);
	name = name_place(parts, nr);
	*ret_why = "the parts of selectors are kept in a way that is not known";
	if (last < 0 || rare < 0 || name < 0 || !learn_kinds(parts, nr, &layout))
		return false;
	*ret_why = "nothing tells which selector of a rule's list was matched";
	*ret_layout = layout | (uint64_t)last << 48 | (uint64_t)rare << 53 | (uint64_t)name << 58;
	return find_index(rules, ret_index);
}
