// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Member paths of argument expressions ("arg0->document->url") -> offsets and loads, through DWARF. */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "target/symbol_tables.h"

#define MAX_NESTING 16	/* of base classes and anonymous members looked through */

/* A place on the path: `off` behind what the steps so far have loaded, of this type. */
struct place {
	struct arg_step steps[RECORD_MAX_STEPS];
	size_t nr;
	int64_t off;
	Dwarf_Die type;
	bool value;	/* the value itself, in a register; else its address */
};

/* --- DWARF in general --- */

/* Follows DW_AT_type and what only names or qualifies a type. */
static bool type_of(Dwarf_Die *die, Dwarf_Die *ret)
{
	Dwarf_Attribute attr;

	if (!dwarf_formref_die(dwarf_attr_integrate(die, DW_AT_type, &attr), ret))
		return false;
	for (int i = 0; i < MAX_NESTING; i++) {
		int tag = dwarf_tag(ret);

		if (tag != DW_TAG_typedef && tag != DW_TAG_const_type && tag != DW_TAG_volatile_type &&
		    tag != DW_TAG_atomic_type && tag != DW_TAG_restrict_type)
			return true;
		if (!dwarf_formref_die(dwarf_attr_integrate(ret, DW_AT_type, &attr), ret))
			return false;
	}
	return false;
}

static bool is_pointer(Dwarf_Die *type)
{
	int tag = dwarf_tag(type);

	return tag == DW_TAG_pointer_type || tag == DW_TAG_reference_type || tag == DW_TAG_rvalue_reference_type;
}

static bool is_record(Dwarf_Die *type)
{
	int tag = dwarf_tag(type);

	return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

/* A class may only be declared in this unit and be defined in another one. */
struct definition {
	const char *name;
	int tag;
	Dwarf_Die *ret;
	bool found;
};

static void find_definition(struct definition *d, Dwarf_Die *scope, int depth)
{
	Dwarf_Die child;

	if (depth > 4 || dwarf_child(scope, &child))
		return;
	do {
		const char *name = dwarf_diename(&child);

		if (dwarf_tag(&child) == d->tag && name && !strcmp(name, d->name) && !dwarf_hasattr(&child, DW_AT_declaration)) {
			*d->ret = child;
			d->found = true;
		} else if (dwarf_tag(&child) == DW_TAG_namespace || is_record(&child)) {
			find_definition(d, &child, depth + 1);
		}
	} while (!d->found && !dwarf_siblingof(&child, &child));
}

static bool complete(Dwfl_Module *mod, Dwarf_Die *type)
{
	Dwarf_Die declared = *type, *cu = NULL;
	struct definition d = { dwarf_diename(type), dwarf_tag(type), type, false };
	Dwarf_Addr bias;

	if (!dwarf_hasattr(type, DW_AT_declaration))
		return true;
	while (d.name && !d.found && (cu = dwfl_module_nextcu(mod, cu, &bias)))
		find_definition(&d, cu, 0);
	if (!d.found)
		*type = declared;
	return d.found;
}

/* --- the parameter --- */

struct function_search {
	Dwarf_Addr pc;
	Dwarf_Die *ret;
	bool found;
};

static int match_function(Dwarf_Die *die, void *arg)
{
	struct function_search *s = arg;
	Dwarf_Addr entry;

	if (dwarf_entrypc(die, &entry) || entry != s->pc)
		return DWARF_CB_OK;
	*s->ret = *die;
	s->found = true;
	return DWARF_CB_ABORT;
}

static bool find_function(Dwfl_Module *mod, uint64_t vaddr, Dwarf_Die *ret)
{
	struct function_search s = { .ret = ret };
	Dwarf_Addr bias = 0;
	Dwarf_Die *cu = dwfl_module_addrdie(mod, vaddr, &bias);

	if (cu) {
		s.pc = vaddr - bias;
		dwarf_getfuncs(cu, match_function, &s, 0);
	}
	/* clang writes no .debug_aranges */
	for (cu = NULL; !s.found && (cu = dwfl_module_nextcu(mod, cu, &bias)); ) {
		s.pc = vaddr - bias;
		if (dwarf_haspc(cu, s.pc) != 0)
			dwarf_getfuncs(cu, match_function, &s, 0);
	}
	return s.found;
}

/* The register that DWARF says the parameter is in at the function's first instruction, as in arch.h; -1. */
static int register_of(const struct image *image, Dwarf_Die *param, uint64_t pc)
{
	static const int8_t x86_64[17] = { 6, 2, 3, 8, 1, 0, 9, 7, 4, 5, 10, 11, 12, 13, 14, 15, 16 };
	Dwarf_Attribute attr;
	Dwarf_Op *ops;
	size_t nr;
	int reg;

	if (!dwarf_attr(param, DW_AT_location, &attr) || dwarf_getlocation_addr(&attr, pc, &ops, &nr, 1) != 1 || nr != 1 ||
	    ops[0].atom < DW_OP_reg0 || ops[0].atom > DW_OP_reg31)
		return -1;
	reg = ops[0].atom - DW_OP_reg0;
	if (strcmp(image->arch->name, "x86_64"))
		return reg;	/* arm64: the numbers are the same */
	return reg < 17 ? x86_64[reg] : -1;
}

/* How many integer registers a parameter or result takes by the C ABI; -1: it can't be told from here. */
static int registers_taken(Dwarf_Die *die)
{
	Dwarf_Die type;
	Dwarf_Attribute attr;
	Dwarf_Word convention = 0, encoding = 0;
	int size;

	if (!type_of(die, &type))
		return -1;
	if (is_pointer(&type) || dwarf_tag(&type) == DW_TAG_enumeration_type)
		return 1;
	size = dwarf_bytesize(&type);
	if (dwarf_tag(&type) == DW_TAG_base_type) {
		dwarf_formudata(dwarf_attr(&type, DW_AT_encoding, &attr), &encoding);
		return encoding == DW_ATE_float || size > 8 ? 0 : 1;
	}
	dwarf_formudata(dwarf_attr(&type, DW_AT_calling_convention, &attr), &convention);
	if (convention == DW_CC_pass_by_reference)
		return 1;
	return size > 16 ? 0 : -1;	/* in memory; small ones may be split over several kinds of registers */
}

/* Does the caller hand over where a large result is to go, in the first register? */
static bool has_result_pointer(Dwarf_Die *function)
{
	Dwarf_Die type;
	Dwarf_Attribute attr;
	Dwarf_Word convention = 0;

	if (!type_of(function, &type) || !is_record(&type))
		return false;
	dwarf_formudata(dwarf_attr(&type, DW_AT_calling_convention, &attr), &convention);
	return convention == DW_CC_pass_by_reference || dwarf_bytesize(&type) > 16;
}

/* The parameter in that register: by its location, or, without optimisation, by counting. */
static bool find_parameter(const struct image *image, Dwarf_Die *function, int reg, uint64_t pc, Dwarf_Die *ret)
{
	int next = has_result_pointer(function) && strcmp(image->arch->name, "arm64");
	bool counted = false;
	Dwarf_Die child;

	if (dwarf_child(function, &child))
		return false;
	do {
		int where, taken;

		if (dwarf_tag(&child) != DW_TAG_formal_parameter)
			continue;
		where = register_of(image, &child, pc);
		if (where == reg) {
			*ret = child;
			return true;
		}
		taken = next < 0 ? -1 : registers_taken(&child);
		if (where < 0 && !counted && taken == 1 && next == reg) {
			*ret = child;
			counted = true;
		}
		next = taken < 0 ? -1 : next + taken;
	} while (!dwarf_siblingof(&child, &child));
	return counted;
}

/* --- the path --- */

/* Adds the offset of the named member, of base classes and anonymous members too. */
static bool find_member(Dwfl_Module *mod, Dwarf_Die *type, const char *name, size_t n, int depth, int64_t *off, Dwarf_Die *ret)
{
	Dwarf_Die child, inner;

	if (depth > MAX_NESTING || !complete(mod, type) || dwarf_child(type, &child))
		return false;
	do {
		const char *own = dwarf_diename(&child);
		int tag = dwarf_tag(&child);
		Dwarf_Attribute attr;
		Dwarf_Word at = 0;

		if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) || dwarf_hasattr(&child, DW_AT_external))
			continue;	/* a static member is no part of the object */
		if (dwarf_hasattr(&child, DW_AT_data_member_location) &&
		    dwarf_formudata(dwarf_attr(&child, DW_AT_data_member_location, &attr), &at))
			continue;	/* of a virtual base: only the object knows where */
		if (tag == DW_TAG_member && own && strlen(own) == n && !memcmp(own, name, n)) {
			*off += at;
			*ret = child;
			return !dwarf_hasattr(&child, DW_AT_bit_size);
		}
		if ((tag == DW_TAG_inheritance || !own) && type_of(&child, &inner) && is_record(&inner)) {
			int64_t sub = *off + at;

			if (find_member(mod, &inner, name, n, depth + 1, &sub, ret)) {
				*off = sub;
				return true;
			}
		}
	} while (!dwarf_siblingof(&child, &child));
	return false;
}

/* The pointer that a smart pointer begins with: its first member's first member … */
static bool find_pointer(Dwfl_Module *mod, Dwarf_Die *type, int depth)
{
	Dwarf_Die child, inner;

	if (is_pointer(type))
		return true;
	if (depth > MAX_NESTING || !is_record(type) || !complete(mod, type) || dwarf_child(type, &child))
		return false;
	do {
		Dwarf_Attribute attr;
		Dwarf_Word at = 0;
		int tag = dwarf_tag(&child);

		if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) || dwarf_hasattr(&child, DW_AT_external) ||
		    dwarf_formudata(dwarf_attr(&child, DW_AT_data_member_location, &attr), &at) || at)
			continue;
		if (type_of(&child, &inner) && find_pointer(mod, &inner, depth + 1)) {
			*type = inner;
			return true;
		}
	} while (!dwarf_siblingof(&child, &child));
	return false;
}

static bool load(struct place *p, int op)
{
	if (p->nr == RECORD_MAX_STEPS || p->off > INT32_MAX || p->off < INT32_MIN)
		return false;
	p->steps[p->nr++] = (struct arg_step){ .op = op, .off = p->off };
	p->off = 0;
	return true;
}

/* Goes to what the pointer at the place points to. */
static bool follow_pointer(Dwfl_Module *mod, struct place *p)
{
	Dwarf_Die target;

	if (!find_pointer(mod, &p->type, 0) || !type_of(&p->type, &target))
		return false;
	if (!p->value && !load(p, STEP_LOAD64))
		return false;
	p->value = false;
	p->type = target;
	return true;
}

/* At the end: a number or pointer is loaded; of an object or array the address stays. */
static bool finish(struct place *p)
{
	static const uint8_t unsigned_ops[9] = { [1] = STEP_LOADU8, [2] = STEP_LOADU16, [4] = STEP_LOADU32, [8] = STEP_LOAD64 };
	Dwarf_Attribute attr;
	Dwarf_Word encoding = 0;
	int size, op;

	if (p->value)
		return true;
	if (is_pointer(&p->type))
		return load(p, STEP_LOAD64);
	if (dwarf_tag(&p->type) != DW_TAG_base_type && dwarf_tag(&p->type) != DW_TAG_enumeration_type)
		return !p->off || load(p, STEP_ADD);
	size = dwarf_bytesize(&p->type);
	dwarf_formudata(dwarf_attr(&p->type, DW_AT_encoding, &attr), &encoding);
	op = size >= 0 && size <= 8 ? unsigned_ops[size] : 0;
	if (encoding == DW_ATE_signed && size == 4)
		op = STEP_LOADS32;
	if (encoding == DW_ATE_signed && size == 2)
		op = STEP_LOADS16;
	return op && load(p, op);
}

/* One "->name" or ".name". Returns behind it, or NULL and the reason. */
static const char *take_member(Dwfl_Module *mod, struct place *p, const char *path, char *why, size_t size)
{
	bool arrow = path[0] == '-';
	const char *name = path + (arrow ? 2 : 1), *type_name;
	size_t n = strcspn(name, ".-");
	Dwarf_Die member;

	if ((arrow || is_pointer(&p->type)) && !follow_pointer(mod, p)) {
		snprintf(why, size, "what '->%.*s' is applied to is no pointer", (int)n, name);
		return NULL;
	}
	type_name = dwarf_diename(&p->type) ?: "the type";
	if (!is_record(&p->type) || p->value) {
		snprintf(why, size, "%s has no members, so no '%.*s'", type_name, (int)n, name);
		return NULL;
	}
	if (!find_member(mod, &p->type, name, n, 0, &p->off, &member) || !type_of(&member, &p->type)) {
		snprintf(why, size, "%s has no member '%.*s' with a fixed place in it", type_name, (int)n, name);
		return NULL;
	}
	return name + n;
}

bool elf_symbols_resolve(struct elf_symbols *e, const struct image *image, uint64_t vaddr, const char *members,
			 struct arg_spec *spec, char *why, size_t size)
{
	Dwfl_Module *mod = elf_symbols_module(e);
	struct place p = { .value = true };
	Dwarf_Die function, param;
	Dwarf_Addr bias;

	if (!mod || !dwfl_module_getdwarf(mod, &bias))
		return snprintf(why, size, "there is no debug information to look '%s' up in", members), false;
	if (!find_function(mod, vaddr, &function))
		return snprintf(why, size, "the debug information doesn't know the function"), false;
	if (!find_parameter(image, &function, spec->reg, vaddr - bias, &param) || !type_of(&param, &p.type))
		return snprintf(why, size, "no parameter of the function is in that register"), false;
	while (members && *members)
		members = take_member(mod, &p, members, why, size);
	if (!members)
		return false;
	if (!finish(&p) || p.nr + spec->nr_steps > RECORD_MAX_STEPS)
		return snprintf(why, size, "the path needs more than %d steps or ends in a value that can't be read",
				RECORD_MAX_STEPS), false;
	memmove(spec->steps + p.nr, spec->steps, spec->nr_steps * sizeof(spec->steps[0]));
	memcpy(spec->steps, p.steps, p.nr * sizeof(p.steps[0]));
	spec->nr_steps += p.nr;
	return true;
}
