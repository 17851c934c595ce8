// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Which pattern means which function: the rules of symbols.h, as tables. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "target/names.h"
#include "target/symbols.h"

struct row { const char *pattern, *symbol; bool match; };

static void check(const struct row *rows, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (symbol_pattern_match(rows[i].pattern, rows[i].symbol) != rows[i].match)
			fail_msg("'%s' and %s: %s", rows[i].pattern, rows[i].symbol, rows[i].match ? "no match" : "match");
}

#define CHECK(rows) check(rows, sizeof(rows) / sizeof(rows[0]))

/* C fun, fun(int), Foo::fun(), Bar::fun(), function(): how many of them each pattern means. */
static void the_five_functions(void **state)
{
	static const char *const symbols[] = { "fun", "_Z3funi", "_ZN3Foo3funEv", "_ZN3Bar3funEv", "_Z8functionv" };
	static const struct { const char *pattern, *matches; } rows[] = {
		{ "*::fun", "..FB." }, { "fun(int)", ".i..." }, { "fun", "ci..." }, { "fun*", "ci..f" }, { "*fun", "ciFB." },
		{ "*fun*", "ciFBf" }, { "fun()", "....." }, { "Foo::*", "..F.." }, { "Foo::fun()", "..F.." }, { "fun(*)", ".i..." },
		{ "*::fun()", "..FB." }, { "???::fun", "..FB." }, { "_Z3funi", ".i..." }, { "_ZN3*", "..FB." }, { "Fun", "....." },
		{ "*Z3*", "....." }, { "fun(long)", "....." }, { "*", "ciFBf" }, { "::fun", "....." },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		for (size_t k = 0; k < 5; k++)
			if (symbol_pattern_match(rows[i].pattern, symbols[k]) != (rows[i].matches[k] != '.'))
				fail_msg("'%s' and %s", rows[i].pattern, symbols[k]);
}

static void cpp(void **state)
{
	static const struct row rows[] = {
		/* templates, and the return type that their names carry */
		{ "JSC::parse", "_ZN3JSC5parseINS_11ProgramNodeEEESt10unique_ptrIT_St14default_deleteIS3_EERNS_2VME", true },
		{ "JSC::parse<JSC::ProgramNode>", "_ZN3JSC5parseINS_11ProgramNodeEEESt10unique_ptrIT_St14default_deleteIS3_EERNS_2VME", true },
		{ "JSC::parse<JSC::FunctionNode>", "_ZN3JSC5parseINS_11ProgramNodeEEESt10unique_ptrIT_St14default_deleteIS3_EERNS_2VME", false },
		{ "JSC::parse(JSC::VM&)", "_ZN3JSC5parseINS_11ProgramNodeEEESt10unique_ptrIT_St14default_deleteIS3_EERNS_2VME", true },
		{ "JSC::parse( JSC::VM & )", "_ZN3JSC5parseINS_11ProgramNodeEEESt10unique_ptrIT_St14default_deleteIS3_EERNS_2VME", true },
		{ "*unique_ptr*", "_ZN3JSC5parseINS_11ProgramNodeEEESt10unique_ptrIT_St14default_deleteIS3_EERNS_2VME", false },
		/* qualifiers, ABI tags, anonymous namespaces, operators, constructors */
		{ "A::f", "_ZNK1A1fEv", true }, { "A::f()", "_ZNK1A1fEv", true }, { "A::f() const", "_ZNK1A1fEv", true },
		{ "A::f() const", "_ZN1A1fEv", false }, { "A::f", "_ZN1A1fB5cxx11Ev", true },
		{ "(anonymous namespace)::f", "_ZN12_GLOBAL__N_11fEi", true }, { "f", "_ZN12_GLOBAL__N_11fEi", false },
		{ "*::f(int)", "_ZN12_GLOBAL__N_11fEi", true }, { "A::operator()", "_ZN1AclEi", true }, { "A::operator()(int)", "_ZN1AclEi", true },
		{ "A::operator()()", "_ZN1AclEi", false }, { "A::operator<", "_ZN1AltERKS_", true }, { "A::operator<<", "_ZN1AlsEi", true },
		{ "A::operator<", "_ZN1AlsEi", false }, { "A::operator->", "_ZN1AptEv", true }, { "A::operator bool", "_ZN1AcvbEv", true },
		{ "A::A", "_ZN1AC1Ei", true }, { "A::A", "_ZN1AC2Ei", true }, { "A::~A", "_ZN1AD1Ev", true }, { "operator new", "_Znwm", true },
		/* a local of a function; a lambda */
		{ "f::g", "_ZZ1fiE1g", true }, { "f::{lambda*}::operator()", "_ZZ1fvENKUliE_clEi", true },
		{ "std::vector::push_back", "_ZNSt6vectorIiSaIiEE9push_backEOi", true },
		{ "std::string::append", "_ZNSs6appendEPKc", true }, { "vector::push_back", "_ZNSt6vectorIiSaIiEE9push_backEOi", false },
		{ "*push_back", "_ZNSt6vectorIiSaIiEE9push_backEOi", true },
		{ "f(int, char)", "_Z1fic", true }, { "f(int,char)", "_Z1fic", true }, { "f(int)", "_Z1fic", false }, { "f(int*)", "_Z1fic", false },
		/* pointers: a * behind a type is one, any other is the pattern's */
		{ "f(int*)", "_Z1fPi", true }, { "f(int*)", "_Z1fPic", false }, { "f(int*, *)", "_Z1fPic", true }, { "f(*)", "_Z1fPic", true },
		{ "f(*, char)", "_Z1fPic", true }, { "f(char const**)", "_Z1fPPKc", true }, { "f(char const*)", "_Z1fPPKc", false },
		{ "f(int (*)(char))", "_Z1fPFicE", true }, { "f(int, *", "_Z1fic", true }, { "*(int*)", "_Z1fPi", true },
		/* not mangled, nearly mangled, and C names with odd characters */
		{ "_Zfoo", "_Zfoo", true }, { "main", "main", true }, { "a.b", "a.b", true }, { "a", "a.b", false }, { "", "a", false },
	};

	(void)state;
	CHECK(rows);
}

static void clones(void **state)
{
	static const struct row rows[] = {
		{ "f", "f.part.0", true }, { "f", "f.isra.0.constprop.12", true }, { "f", "f.cold", false }, { "f", "f.part.0.cold", false },
		{ "f", "f.cold.3", false }, { "f", "f.llvm.123456", true }, { "f", "f.lto_priv.0", true }, { "f", "f.__uniq.123.llvm.7", true },
		{ "f.part.0", "f.part.0", true }, { "f.cold", "f.cold", false }, { "f", "f.cfi_jt", false }, { "f", "f.something", false },
		{ "f", "f.1", false }, { "A::f", "_ZN1A1fEi.part.0", true }, { "A::f(int)", "_ZN1A1fEi.constprop.1", true },
		{ "_ZN1A1fEi", "_ZN1A1fEi.isra.0", true }, { "f.1", "f.1", true }, { "g", "f.part.0", false },
	};
	unsigned flags;

	(void)state;
	CHECK(rows);
	assert_int_equal(name_base_length("f.part.0", &flags), 1);
	assert_int_equal(flags, CLONE_PART | CLONE_ARGS);
	assert_int_equal(name_base_length("f.llvm.1", &flags), 1);
	assert_int_equal(flags, 0);
	assert_int_equal(name_base_length("f.", &flags), 2);
	assert_int_equal(name_base_length(".part.0", &flags), 7);
	assert_int_equal(name_base_length("main.func1.2", &flags), 12);
	assert_int_equal(name_base_length("", &flags), 0);
}

static void rust(void **state)
{
	static const struct row rows[] = {
		/* legacy */
		{ "style::restyle::run", "_ZN5style7restyle3run17h0123456789abcdefE", true },
		{ "*::run", "_ZN5style7restyle3run17h0123456789abcdefE", true }, { "run", "_ZN5style7restyle3run17h0123456789abcdefE", false },
		{ "<style::A as style::B>::go", "_ZN48_$LT$style..A$u20$as$u20$style..B$GT$2go17h0123456789abcdefE", false },
		{ "<style::A as style::B>::go", "_ZN37_$LT$style..A$u20$as$u20$style..B$GT$2go17h0123456789abcdefE", true },
		{ "*::go", "_ZN37_$LT$style..A$u20$as$u20$style..B$GT$2go17h0123456789abcdefE", true },
		/* v0 */
		{ "mycrate::example", "_RNvCs1234_7mycrate7example", true }, { "mycrate::foo::bar", "_RNvNtCs1234_7mycrate3foo3bar", true },
		{ "mycrate::gen", "_RINvCs1234_7mycrate3genlE", true }, { "mycrate::gen::<i32>", "_RINvCs1234_7mycrate3genlE", true },
		{ "mycrate::gen::<u8>", "_RINvCs1234_7mycrate3genlE", false }, { "*::gen", "_RINvCs1234_7mycrate3genlE.llvm.99", true },
		{ "mycrate::example::{closure#0}", "_RNCNvCs1234_7mycrate7example0B3_", true },
	};

	(void)state;
	CHECK(rows);
}

static void demangled_names(void **state)
{
	static const struct row rows[] = {
		{ "blink::Document::UpdateStyle", "blink::Document::UpdateStyle()", true },
		{ "blink::Document::UpdateStyle()", "blink::Document::UpdateStyle()", true },
		{ "*::UpdateStyle", "blink::Document::UpdateStyle", true },
		{ "f", "f<int>(std::function<void (int)>)", true },
	};
	struct name_pattern p;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(name_pattern_init(&p, rows[i].pattern), 0);
		if (name_pattern_match_demangled(&p, rows[i].symbol) != rows[i].match)
			fail_msg("'%s' and %s", rows[i].pattern, rows[i].symbol);
		name_pattern_done(&p);
	}
}

/* Symbols that stand for more text than there is memory, and unbalanced ones. */
static void hostile(void **state)
{
	char bomb[4096] = "_Z1f", long_name[20000];
	static const char *const odd[] = { "_Z", "_R", "_ZN", "_ZN1", "_ZN9999999999f", "_Z1fI", "_ZSt", "_RNv", "((((((", "))))", "<<<<",
		"operator", "operator(", "a<b", "a(b", "f(int", "{", "[abi:", "a[abi:x", "(anonymous namespace", "::", "f::", "a<b>::", "->" };
	char last[64];

	(void)state;
	/* each level holds the one below twice */
	for (int i = 0; i < 60; i++)
		strcat(bomb, "1AI");
	strcat(bomb, "iE");
	for (int i = 0; i < 59; i++)
		sprintf(bomb + strlen(bomb), "S%d_E", i);
	symbol_pattern_match("*f*", bomb);
	memset(long_name, 'a', sizeof(long_name) - 1);
	long_name[sizeof(long_name) - 1] = '\0';
	symbol_pattern_match("a*", long_name);
	for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
		for (size_t k = 0; k < sizeof(odd) / sizeof(odd[0]); k++)
			symbol_pattern_match(odd[i], odd[k]);
		name_last_component(odd[i], last, sizeof(last));
		assert_true(symbol_pattern_match(odd[i], odd[i]) || odd[i][0] != '_');
	}
}

static void last_component(void **state)
{
	char last[64];

	(void)state;
	name_last_component("blink::Document::UpdateStyle(int (*)(a::b)) const", last, sizeof(last));
	assert_string_equal(last, "UpdateStyle");
	name_last_component("f", last, sizeof(last));
	assert_string_equal(last, "f");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_five_functions), cmocka_unit_test(cpp), cmocka_unit_test(clones), cmocka_unit_test(rust),
		cmocka_unit_test(demangled_names), cmocka_unit_test(hostile), cmocka_unit_test(last_component),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
