// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* From a pattern to the functions of one image that bear such a name, or to the reason why there is none. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/distance.h"
#include "target/names.h"
#include "target/symbol_tables.h"
#include "target/symbols.h"

#define MAX_NEAREST 3		/* names offered in place of one that isn't there */
#define MAX_COMPARED 200000	/* symbols looked at for that */

struct symbols {
	const struct image *image;
	struct elf_symbols *elf;
	char *breakpad;
	struct symbol_list list;	/* by address */
	char tables[640], warning[768];
};

static int by_address(const void *a, const void *b)
{
	const struct symbol_entry *x = a, *y = b;

	if (x->vaddr != y->vaddr)
		return x->vaddr < y->vaddr ? -1 : 1;
	if (x->table != y->table)
		return x->table < y->table ? -1 : 1;
	return strcmp(x->name, y->name);
}

int symbols_open(const struct image *image, const char *breakpad, struct symbols **ret, struct error *err)
{
	struct symbols *s = calloc(1, sizeof(*s));
	size_t n;
	int rc;

	if (!s)
		return error_set(err, ERR_OTHER, -ENOMEM, "out of memory while reading symbols");
	s->image = image;
	rc = elf_symbols_read(image, &s->elf, &s->list, s->tables, sizeof(s->tables), s->warning, sizeof(s->warning), err);
	n = s->list.nr;
	if (!rc && breakpad)
		rc = breakpad_read(breakpad, image, &s->breakpad, &s->list, err);
	if (rc) {
		symbols_close(s);
		return rc;
	}
	if (breakpad)
		snprintf(s->tables + strlen(s->tables), sizeof(s->tables) - strlen(s->tables), ", %.100s %zu", breakpad,
			 s->list.nr - n);
	if (s->list.nr)
		qsort(s->list.entries, s->list.nr, sizeof(*s->list.entries), by_address);
	*ret = s;
	return 0;
}

void symbols_close(struct symbols *s)
{
	if (!s)
		return;
	free(s->list.entries);
	free(s->breakpad);
	elf_symbols_free(s->elf);
	free(s);
}

const char *symbols_warning(const struct symbols *s)
{
	return s->warning;
}

bool symbols_stripped(const struct symbols *s)
{
	for (size_t i = 0; i < s->list.nr; i++)
		if (s->list.entries[i].table != TABLE_DYNSYM)
			return false;
	return true;
}

const char *symbols_tables(const struct symbols *s)
{
	return s->tables;
}

/* --- matching --- */

static bool entry_matches(const struct name_pattern *p, const struct symbol_entry *e)
{
	return e->demangled ? name_pattern_match_demangled(p, e->name) : name_pattern_match(p, e->name);
}

/* Is b the split-off body of a ("f" and "f.part.0")? */
static bool is_part_of(const char *a, const char *b)
{
	size_t n = strlen(a);

	return !strncmp(a, b, n) && !strncmp(b + n, ".part.", 6);
}

static void copy_cut(char *dst, size_t size, const char *src)
{
	snprintf(dst, size, "%s", src);
}

static int fill_match(const struct symbol_entry *e, struct symbol_match *m)
{
	static const char *const tables[] = { ".symtab", ".dynsym", "debug file", "MiniDebugInfo", "Breakpad file" };
	static const enum site_source sources[] = { SITE_SYMBOL, SITE_SYMBOL, SITE_DEBUG_FILE, SITE_DEBUG_FILE,
		SITE_BREAKPAD };
	unsigned flags;
	size_t n = name_base_length(e->name, &flags);
	char *demangled = e->demangled ? strdup(e->name) : name_demangle(e->name, n);

	if (!demangled)
		return -ENOMEM;
	*m = (struct symbol_match){ .vaddr = e->vaddr, .size = e->size, .source = sources[e->table], .refused = e->refused };
	m->clone = !e->demangled && (flags & CLONE_ARGS);
	copy_cut(m->symbol, sizeof(m->symbol), e->name);
	copy_cut(m->name, sizeof(m->name), demangled);
	copy_cut(m->evidence, sizeof(m->evidence), tables[e->table]);
	free(demangled);
	return 0;
}

/* Other names of the address: the reader of `probes` learns about aliases and about functions folded into one. */
static void add_aliases(const struct symbols *s, size_t i, struct symbol_match *m)
{
	const struct symbol_entry *e = s->list.entries;
	size_t first = i, last = i, others = 0, n;

	if (!e[i].vaddr)
		return;
	while (first && e[first - 1].vaddr == e[i].vaddr)
		first--;
	while (last + 1 < s->list.nr && e[last + 1].vaddr == e[i].vaddr)
		last++;
	for (size_t k = first; k <= last; k++) {
		if (k == i || !strcmp(e[k].name, e[i].name) || ++others > 2)
			continue;
		n = strlen(m->evidence);
		snprintf(m->evidence + n, sizeof(m->evidence) - n, "%s%.80s", others == 1 ? ", also named " : ", ", e[k].name);
	}
	n = strlen(m->evidence);
	if (others > 2)
		snprintf(m->evidence + n, sizeof(m->evidence) - n, " and %zu more", others - 2);
}

/* Indices of the entries that match, one per address: the usable ones first where both kinds share it. */
static int collect(const struct symbols *s, const char *pattern, size_t **ret, size_t *ret_nr)
{
	const struct symbol_entry *e = s->list.entries;
	struct name_pattern p;
	size_t *found = NULL, nr = 0, max = 0;
	int err = name_pattern_init(&p, pattern);

	for (size_t i = 0; i < s->list.nr && !err; i++) {
		if (!entry_matches(&p, &e[i]))
			continue;
		/* what is defined elsewhere has no address, and is many */
		if (nr && e[i].vaddr && e[found[nr - 1]].vaddr == e[i].vaddr) {
			if ((e[found[nr - 1]].refused && !e[i].refused) || (e[found[nr - 1]].variable && !e[i].variable))
				found[nr - 1] = i;
			continue;
		}
		if (nr == max) {
			size_t *bigger = realloc(found, (max = max ? 2 * max : 64) * sizeof(*found));

			if (!bigger) {
				err = -ENOMEM;
				break;
			}
			found = bigger;
		}
		found[nr++] = i;
	}
	name_pattern_done(&p);
	if (err) {
		free(found);
		return err;
	}
	*ret = found;
	*ret_nr = nr;
	return 0;
}

static int make_matches(const struct symbols *s, const size_t *found, size_t nr, struct symbol_match **ret)
{
	struct symbol_match *m = calloc(nr ?: 1, sizeof(*m));

	if (!m)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		if (fill_match(&s->list.entries[found[i]], &m[i])) {
			free(m);
			return -ENOMEM;
		}
		add_aliases(s, found[i], &m[i]);
	}
	*ret = m;
	return 0;
}

int symbols_glob(struct symbols *s, const char *pattern, struct symbol_match **ret, size_t *ret_nr)
{
	size_t *found = NULL;
	size_t kept = 0, nr = 0;
	int err = collect(s, pattern, &found, &nr);

	for (size_t i = 0; i < nr && !err; i++)
		if (!s->list.entries[found[i]].variable)
			found[kept++] = found[i];
	*ret_nr = kept;
	if (!err)
		err = make_matches(s, found, kept, ret);
	free(found);
	return err;
}

/* Drops what can't be attached to, and functions of which the body was split off. The reason of the first refusal. */
static const struct symbol_entry *keep_usable(const struct symbols *s, size_t *found, size_t *nr)
{
	const struct symbol_entry *e = s->list.entries, *refused = NULL;
	size_t kept = 0;

	for (size_t i = 0; i < *nr; i++) {
		bool split = false;

		if (e[found[i]].refused) {
			refused = refused ?: &e[found[i]];
			continue;
		}
		for (size_t k = 0; k < *nr && *nr <= SYMBOLS_MAX_MATCHES; k++)
			split = split || (!e[found[k]].refused && is_part_of(e[found[i]].name, e[found[k]].name));
		if (!split)
			found[kept++] = found[i];
	}
	*nr = kept;
	return refused;
}

/* --- what to say when nothing was found --- */

struct nearest {
	char names[MAX_NEAREST][128];
	size_t cost[MAX_NEAREST], nr;
};

static void offer(struct nearest *n, const char *name, size_t cost)
{
	size_t at = n->nr;

	for (size_t i = 0; i < n->nr; i++)
		if (!strncmp(n->names[i], name, sizeof(n->names[i]) - 1))
			return;
	while (at && n->cost[at - 1] > cost)
		at--;
	if (at == MAX_NEAREST)
		return;
	if (n->nr < MAX_NEAREST)
		n->nr++;
	for (size_t i = n->nr - 1; i > at; i--) {
		memcpy(n->names[i], n->names[i - 1], sizeof(n->names[i]));
		n->cost[i] = n->cost[i - 1];
	}
	snprintf(n->names[at], sizeof(n->names[at]), "%.*s", (int)sizeof(n->names[at]) - 1, name);
	n->cost[at] = cost;
}

static void find_nearest(const struct symbols *s, const char *pattern, struct nearest *n)
{
	char wanted[128], last[128], shown[128];
	size_t limit, cost, k = 0;

	name_last_component(pattern, wanted, sizeof(wanted));
	for (const char *c = wanted; *c; c++)
		if (*c != '*' && *c != '?')
			wanted[k++] = *c;
	wanted[k] = '\0';
	limit = k / 4 + 2;
	for (size_t i = 0; i < s->list.nr && i < MAX_COMPARED && k > 1; i++) {
		const struct symbol_entry *e = &s->list.entries[i];
		unsigned flags;
		char *name;

		if (e->refused)
			continue;
		name = e->demangled ? strdup(e->name) : name_demangle(e->name, name_base_length(e->name, &flags));
		if (!name)
			return;
		name_last_component(name, last, sizeof(last));
		name_without_params(name, shown, sizeof(shown));
		free(name);
		if (!shown[0])
			continue;
		cost = word_distance(last, wanted, limit);
		if (cost == limit && strcasestr(last, wanted))
			cost += strlen(last) - k;
		else if (cost == limit)
			continue;
		/* of equally near ones, that of the nearest class */
		offer(n, shown, 64 * cost + word_distance(shown, pattern, 63));
	}
}

static void say_missing(const struct symbols *s, const struct engine_probe *probe, char *reason, size_t size)
{
	struct nearest near = { .nr = 0 };
	size_t n;

	n = snprintf(reason, size, "no function of %s matches '%.100s'", s->image->path, probe->functions[0]);
	if (probe->nr_functions > 1 && n < size)
		n += snprintf(reason + n, size - n, " or %zu other pattern%s", probe->nr_functions - 1,
			      probe->nr_functions > 2 ? "s" : "");
	if (n < size)
		n += snprintf(reason + n, size - n, " (searched: %s)", s->tables);
	for (size_t i = 0; i < probe->nr_functions && !near.nr; i++)
		find_nearest(s, probe->functions[i], &near);
	for (size_t i = 0; i < near.nr && n < size; i++)
		n += snprintf(reason + n, size - n, "%s%s", i ? ", " : "; the nearest names are ", near.names[i]);
}

int symbols_find(struct symbols *s, const struct engine_probe *probe, struct symbol_match **ret, size_t *ret_nr,
		 char *reason, size_t reason_size)
{
	const struct symbol_entry *refused = NULL;
	size_t *found = NULL, nr = 0, refused_nr = 0;
	int err = 0;

	reason[0] = '\0';
	for (size_t i = 0; i < probe->nr_functions && !nr && !err; i++) {
		const struct symbol_entry *r;

		free(found);
		found = NULL;
		err = collect(s, probe->functions[i], &found, &nr);
		if (err)
			break;
		r = keep_usable(s, found, &nr);
		refused = refused ?: r;
		refused_nr += r != NULL;
	}
	if (!err && nr > SYMBOLS_MAX_MATCHES) {
		snprintf(reason, reason_size, "the pattern matches %zu functions of %s, more than the %d that one probe may stand "
			 "for; make it narrower", nr, s->image->path, SYMBOLS_MAX_MATCHES);
		err = -ENOENT;
	} else if (!err && nr) {
		err = make_matches(s, found, nr, ret);
		*ret_nr = nr;
	} else if (!err && refused_nr) {
		snprintf(reason, reason_size, "'%.120s' in %s can't be probed: %s", refused->name, s->image->path,
			 refused->refused);
		err = -ENOENT;
	} else if (!err) {
		if (probe->nr_functions)
			say_missing(s, probe, reason, reason_size);
		err = -ENOENT;
	}
	free(found);
	return err;
}

/* Is there an argument of this field? With `same`: this very argument? */
static bool has_argument(const struct arg_spec *args, size_t nr, const struct arg_spec *spec, bool same)
{
	for (size_t i = 0; i < nr; i++)
		if (args[i].field == spec->field && (!same || !memcmp(&args[i], spec, sizeof(*spec))))
			return true;
	return false;
}

void symbols_arguments(struct symbols *s, const struct engine_probe *probe, uint64_t vaddr,
		       struct arg_spec ret[RECORD_MAX_ARGS], size_t *ret_nr, char *note, size_t note_size)
{
	bool found[RECORD_MAX_ARGS];
	struct arg_spec spec;
	char why[256];

	*ret_nr = 0;
	note[0] = '\0';
	for (size_t i = 0; i < probe->nr_args; i++) {
		spec = probe->args[i];
		found[i] = !probe->members[i] ||
			   elf_symbols_resolve(s->elf, s->image, vaddr, probe->members[i], &spec, why, sizeof(why));
		/* members and offsets may lead to the same place */
		if (found[i] && !has_argument(ret, *ret_nr, &spec, true))
			ret[(*ret_nr)++] = spec;
	}
	for (size_t i = 0; i < probe->nr_args && !note[0]; i++) {
		spec = probe->args[i];
		if (found[i] || has_argument(ret, *ret_nr, &spec, false))
			continue;
		elf_symbols_resolve(s->elf, s->image, vaddr, probe->members[i], &spec, why, sizeof(why));
		snprintf(note, note_size, "%s is not read: %s", arg_field_name(spec.field) ?: "an argument", why);
	}
}

bool symbols_name_of(struct symbols *s, uint64_t vaddr, char *ret, size_t size)
{
	const struct symbol_entry *e = s->list.entries;
	size_t low = 0, high = s->list.nr;
	struct symbol_match m;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (e[middle].vaddr <= vaddr)
			low = middle + 1;
		else
			high = middle;
	}
	/* the last that begins at or before the address may be a variable or have no size: look back a little */
	for (size_t i = low, looked = 0; i-- && looked < 16; looked++)
		if (!e[i].refused && vaddr - e[i].vaddr < e[i].size && !fill_match(&e[i], &m)) {
			copy_cut(ret, size, m.name);
			return true;
		}
	return false;
}
