// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Argument expressions: text of an engine definition <-> the steps that the BPF side executes. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "target/engine.h"
#include "target/selector_text.h"

#define MEMBER_MAX 256	/* characters of a member path */

struct parser {
	const char *text, *at;
	const struct arch *arch;
	struct error *err;
	size_t column;		/* of the error, from 1 */
};

/* One chain of steps, of the value or of its length. */
struct chain {
	struct arg_step *steps;
	size_t nr, max;
};

static const struct engine_word kind_words[] = {
	{ "int", KIND_INT }, { "cstr", KIND_CSTR }, { "cstr16", KIND_CSTR16 }, { "chars8", KIND_PTR_LEN8 },
	{ "chars16", KIND_PTR_LEN16 }, { "std-string", KIND_STD_STRING }, { "libcxx-string", KIND_LIBCXX_STRING },
	{ "wtf-blink", KIND_WTF_BLINK }, { "wtf-webkit", KIND_WTF_WEBKIT }, { "ns-cstring", KIND_NS_CSTRING },
	{ "ns-string", KIND_NS_STRING }, { "v8-string", KIND_V8_STRING }, { "blink-selector", KIND_BLINK_SELECTOR },
	{ "libcss-selector", KIND_LIBCSS_SELECTOR }, { NULL, 0 },
};

static const struct engine_word load_words[] = {
	{ "u64", STEP_LOAD64 }, { "u32", STEP_LOADU32 }, { "s32", STEP_LOADS32 }, { "u16", STEP_LOADU16 },
	{ "s16", STEP_LOADS16 }, { "u8", STEP_LOADU8 }, { NULL, 0 },
};

static int fail_at(struct parser *p, const char *where, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

static int fail_at(struct parser *p, const char *where, const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	p->column = where - p->text + 1;
	return error_set(p->err, ERR_INPUT, -EINVAL, "%s", text);
}

static void skip_blanks(struct parser *p)
{
	while (*p->at == ' ' || *p->at == '\t')
		p->at++;
}

/* How many characters from `s` make up a word: letters, digits, '-' and '_'. */
static int word_length(const char *s)
{
	int n = 0;

	while (isalnum((unsigned char)s[n]) || s[n] == '_' || (s[n] == '-' && isalnum((unsigned char)s[n + 1])))
		n++;
	return n;
}

static int find_word(const struct engine_word *words, const char *s, size_t n)
{
	for (; words->name; words++)
		if (strlen(words->name) == n && !memcmp(words->name, s, n))
			return words->value;
	return 0;
}

static const char *word_of(const struct engine_word *words, int value)
{
	for (; words->name; words++)
		if (words->value == value)
			return words->name;
	return NULL;
}

/* A number with an optional sign, decimal or 0x…, within min..max. */
static int parse_number(struct parser *p, int64_t min, int64_t max, int64_t *ret)
{
	const char *start = p->at, *digits;
	bool negative = *p->at == '-';
	int64_t value;
	uint64_t v;
	char *end;

	if (*p->at == '-' || *p->at == '+')
		p->at++;
	digits = p->at;
	if (!isdigit((unsigned char)*digits))
		return fail_at(p, p->at, "a number is expected here, decimal or 0x…");
	if (digits[0] == '0' && isdigit((unsigned char)digits[1]))
		return fail_at(p, digits, "a number does not begin with 0, unless with 0x: octal is not known here");
	errno = 0;
	v = strtoull(digits, &end, digits[0] == '0' && (digits[1] | 32) == 'x' ? 16 : 10);
	if (isalnum((unsigned char)*end) || *end == '_')
		return fail_at(p, end, "'%c' is no digit; a hexadecimal number begins with 0x", *end);
	value = v > INT64_MAX ? 0 : negative ? -(int64_t)v : (int64_t)v;
	if (errno || v > INT64_MAX || value < min || value > max)
		return fail_at(p, start, "the number is out of range, which is %" PRId64 " to %" PRId64, min, max);
	p->at = end;
	*ret = value;
	return 0;
}

static int add_step(struct parser *p, const char *where, struct chain *c, int op, int64_t off)
{
	if (c->nr == c->max)
		return fail_at(p, where, "at most %zu steps may follow the register here", c->max);
	c->steps[c->nr++] = (struct arg_step){ .op = op, .off = off };
	return 0;
}

/* ".WIDTH", if it stands here. */
static int parse_width(struct parser *p, int *ret_op)
{
	int n;

	if (*p->at != '.')
		return 0;
	n = word_length(p->at + 1);
	*ret_op = find_word(load_words, p->at + 1, n);
	if (!*ret_op)
		return fail_at(p, p->at + 1, "'%.*s' is no width; u64, u32, s32, u16, s16 and u8 are", n, p->at + 1);
	p->at += 1 + n;
	return 0;
}

/* Behind '*': [N][.WIDTH]; behind '~': [N][<<SHIFT]. */
static int parse_load(struct parser *p, const char *where, struct chain *c)
{
	int op = *where == '~' ? STEP_CAGE : STEP_LOAD64;
	int64_t off = 0, shift = 0;
	int err = 0;

	if (*p->at == '-' || *p->at == '+' || isdigit((unsigned char)*p->at))
		err = parse_number(p, INT32_MIN, INT32_MAX, &off);
	if (!err && op == STEP_CAGE && *p->at == '.')
		err = fail_at(p, p->at, "a compressed pointer has one width; '.' can't follow '~'");
	else if (!err && op == STEP_LOAD64)
		err = parse_width(p, &op);
	if (!err && op == STEP_CAGE && p->at[0] == '<' && p->at[1] == '<') {
		p->at += 2;
		err = parse_number(p, 1, 7, &shift);
	}
	if (!err)
		err = add_step(p, where, c, op, off);
	if (!err)
		c->steps[c->nr - 1].pad[0] = shift;
	return err;
}

/* Behind '[': N[.WIDTH] = VALUE ] or != */
static int parse_guard(struct parser *p, const char *where, struct chain *c)
{
	int64_t off = 0, value = 0;
	int op = STEP_LOAD64, err;
	bool not;

	skip_blanks(p);
	err = parse_number(p, INT32_MIN, INT32_MAX, &off) ?: parse_width(p, &op);
	if (err)
		return err;
	skip_blanks(p);
	not = *p->at == '!';
	p->at += not;
	if (*p->at != '=')
		return fail_at(p, p->at, "'=' or '!=' is expected here, as in [8.u32=0]");
	p->at++;
	skip_blanks(p);
	err = parse_number(p, 0, UINT8_MAX, &value);
	if (err)
		return err;
	skip_blanks(p);
	if (*p->at != ']')
		return fail_at(p, p->at, "']' is expected here");
	p->at++;
	err = add_step(p, where, c, STEP_GUARD, off);
	if (!err)
		memcpy(c->steps[c->nr - 1].pad, (uint8_t[]){ op, value, not }, 3);
	return err;
}

/* One step, if one stands here: 1, 0 at the end of the chain, -errno. */
static int parse_step(struct parser *p, struct chain *c)
{
	const char *where = p->at;
	int64_t n = 0;
	int op, err;

	switch (*p->at) {
	case '+': case '-':
		err = parse_number(p, INT32_MIN, INT32_MAX, &n);
		return err ?: add_step(p, where, c, STEP_ADD, n) ?: 1;
	case '*': case '~':
		p->at++;
		return parse_load(p, where, c) ?: 1;
	case '[':
		p->at++;
		return parse_guard(p, where, c) ?: 1;
	case '&':
		op = STEP_AND;
		p->at++;
		break;
	case '>':
		if (p->at[1] != '>')
			return fail_at(p, where, "'>' is no step; '>>N' shifts right");
		op = STEP_SHR;
		p->at += 2;
		break;
	case '?':
		p->at++;
		if (*p->at != '&')
			return add_step(p, where, c, STEP_NONZERO, 0) ?: 1;
		op = STEP_MASK_TEST;
		p->at++;
		break;
	default:
		if (word_length(p->at) != 3 || memcmp(p->at, "neg", 3))
			return 0;
		p->at += 3;
		return add_step(p, where, c, STEP_NEG, 0) ?: 1;
	}
	skip_blanks(p);
	err = parse_number(p, op == STEP_SHR ? 1 : INT32_MIN, op == STEP_SHR ? 63 : INT32_MAX, &n);
	return err ?: add_step(p, where, c, op, n) ?: 1;
}

/* "->a.b->c" behind the register: taken as it stands, debug information decides. */
static int parse_members(struct parser *p, char **ret_member)
{
	const char *start = p->at, *s = start;

	while (s[0] == '.' || (s[0] == '-' && s[1] == '>')) {
		s += s[0] == '.' ? 1 : 2;
		if (!isalpha((unsigned char)*s) && *s != '_')
			return fail_at(p, s, "the name of a member is expected here");
		while (isalnum((unsigned char)*s) || *s == '_')
			s++;
	}
	if (s == start)
		return 0;
	if (!ret_member)
		return fail_at(p, start, "a member can't be looked up here; write its offset: *N");
	if (s - start > MEMBER_MAX)
		return fail_at(p, start, "the path of members is longer than %d characters", MEMBER_MAX);
	*ret_member = strndup(start, s - start);
	if (!*ret_member)
		return error_set(p->err, ERR_OTHER, -ENOMEM, "out of memory");
	p->at = s;
	return 0;
}

static int parse_chain(struct parser *p, struct chain *c, uint8_t *ret_reg, char **ret_member)
{
	int n, reg, err;

	skip_blanks(p);
	for (n = 0; isalnum((unsigned char)p->at[n]); n++)
		;
	if (!n)
		return fail_at(p, p->at, "a register is expected here, such as arg0");
	reg = p->arch->reg(p->at, n);
	if (reg < 0 || reg > UINT8_MAX)
		return fail_at(p, p->at, "'%.*s' is no register of %s; arg0 to arg5 are", n, p->at, p->arch->name);
	*ret_reg = reg;
	p->at += n;
	err = parse_members(p, ret_member);
	if (err)
		return err;
	do {
		skip_blanks(p);
		err = parse_step(p, c);
	} while (err > 0);
	return err;
}

/* Which kinds have a second chain: a length, or an index. */
static bool has_length(int kind)
{
	return kind == KIND_PTR_LEN8 || kind == KIND_PTR_LEN16 || kind == KIND_BLINK_SELECTOR;
}

/* Behind blink-selector[INDEX]. */
static int parse_layout(struct parser *p, struct arg_spec *ret)
{
	int64_t layout = 0;
	int n = selector_layout_parse(p->at, &layout);

	if (n < 0)
		return fail_at(p, p->at - n - 1, "the layout of selectors is expected here, as in {--t*#.:e-aa 17 18 0x18}");
	p->at += n;
	ret->aux = layout;
	return 0;
}

/* Behind the kind's name: "[LENGTH]" where the kind needs one, then "(MAX)". */
static int parse_kind_tail(struct parser *p, struct arg_spec *ret)
{
	struct chain length = { ret->len_steps, 0, sizeof(ret->len_steps) / sizeof(ret->len_steps[0]) };
	bool needs_length = has_length(ret->kind);
	int64_t max;
	int err;

	if ((*p->at == '[') != needs_length)
		return fail_at(p, p->at, needs_length ? "'[' is expected here, then where the length stands, as in chars8[rsi]"
				: "'[' can't follow: this kind knows its length");
	if (needs_length) {
		p->at++;
		err = parse_chain(p, &length, &ret->len_reg, NULL);
		if (err)
			return err;
		if (*p->at != ']')
			return fail_at(p, p->at, "']' is expected here");
		ret->nr_len_steps = length.nr;
		p->at++;
		err = ret->kind == KIND_BLINK_SELECTOR ? parse_layout(p, ret) : 0;
		if (err)
			return err;
	}
	skip_blanks(p);
	if (*p->at != '(')
		return 0;
	if (ret->kind == KIND_INT)
		return fail_at(p, p->at, "a length can't follow: int is no text");
	p->at++;
	skip_blanks(p);
	err = parse_number(p, 1, RECORD_MAX_STRING, &max);
	if (err)
		return err;
	skip_blanks(p);
	if (*p->at != ')')
		return fail_at(p, p->at, "')' is expected here");
	p->at++;
	ret->max_bytes = max;
	return 0;
}

static int parse_all(struct parser *p, struct arg_spec *ret, char **ret_member)
{
	struct chain value = { ret->steps, 0, RECORD_MAX_STEPS };
	int err, n;

	skip_blanks(p);
	if (isdigit((unsigned char)*p->at) || (*p->at == '-' && isdigit((unsigned char)p->at[1]))) {
		int64_t aux = 0;

		ret->kind = KIND_CONST;
		err = parse_number(p, INT64_MIN, INT64_MAX, &aux);
		ret->aux = aux;
	} else {
		ret->kind = KIND_INT;
		err = parse_chain(p, &value, &ret->reg, ret_member);
		ret->nr_steps = value.nr;
		if (!err && *p->at == ':') {
			p->at++;
			skip_blanks(p);
			n = word_length(p->at);
			ret->kind = find_word(kind_words, p->at, n);
			if (!ret->kind)
				return fail_at(p, p->at, "'%.*s' is no kind of value; int, cstr, cstr16, chars8[…], "
					       "chars16[…], std-string, libcxx-string, wtf-blink, wtf-webkit, ns-cstring, "
					       "ns-string, v8-string, blink-selector[…] and libcss-selector are", n, p->at);
			p->at += n;
			err = parse_kind_tail(p, ret);
		}
	}
	if (err)
		return err;
	skip_blanks(p);
	if (*p->at)
		return fail_at(p, p->at, "'%.20s' is neither a step (*N ~N +N -N &N >>N ? neg [N=V]) nor ': KIND'", p->at);
	return 0;
}

int expr_parse(const char *text, const struct arch *arch, struct arg_spec *ret, char **ret_member,
	       size_t *ret_column, struct error *err)
{
	struct parser p = { .text = text, .at = text, .arch = arch, .err = err };
	struct arg_spec spec = { 0 };
	char *member = NULL;
	int rc = parse_all(&p, &spec, ret_member ? &member : NULL);

	if (ret_column)
		*ret_column = p.column;
	if (rc) {
		free(member);
		return rc;
	}
	spec.field = ret->field;
	*ret = spec;
	if (ret_member)
		*ret_member = member;
	return 0;
}

/* snprintf at the end of what stands in dst; counts on when it's full. */
static void append(char *dst, size_t size, size_t *len, const char *fmt, ...) __attribute__((format(printf, 4, 5)));

static void append(char *dst, size_t size, size_t *len, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(*len < size ? dst + *len : NULL, *len < size ? size - *len : 0, fmt, ap);
	va_end(ap);
	if (n > 0)
		*len += n;
}

static void print_offset(char *dst, size_t size, size_t *len, const char *op, int32_t off)
{
	uint32_t amount = off < 0 ? -(uint32_t)off : (uint32_t)off;

	append(dst, size, len, amount < 10 ? " %s%s%u" : " %s%s0x%x", op, off < 0 ? "-" : "", amount);
}

static void print_step(const struct arg_step *s, char *dst, size_t size, size_t *len)
{
	const char *width = word_of(load_words, s->op == STEP_GUARD ? s->pad[0] : s->op);

	switch (s->op) {
	case STEP_ADD: print_offset(dst, size, len, s->off < 0 ? "" : "+", s->off); break;
	case STEP_AND: print_offset(dst, size, len, "&", s->off); break;
	case STEP_SHR: print_offset(dst, size, len, ">>", s->off); break;
	case STEP_MASK_TEST: print_offset(dst, size, len, "?&", s->off); break;
	case STEP_NONZERO: append(dst, size, len, " ?"); break;
	case STEP_NEG: append(dst, size, len, " neg"); break;
	case STEP_CAGE:
		print_offset(dst, size, len, "~", s->off);
		if (s->pad[0])
			append(dst, size, len, "<<%u", s->pad[0]);
		break;
	case STEP_GUARD:
		print_offset(dst, size, len, "[", s->off);
		append(dst, size, len, ".%s%s%u]", width ? width : "?", s->pad[2] ? "!=" : "=", s->pad[1]);
		break;
	default:
		print_offset(dst, size, len, "*", s->off);
		if (s->op != STEP_LOAD64)
			append(dst, size, len, ".%s", width ? width : "?");
	}
}

static void print_steps(const struct arg_step *steps, size_t nr, char *dst, size_t size, size_t *len)
{
	for (size_t i = 0; i < nr; i++)
		print_step(&steps[i], dst, size, len);
}

int expr_print(const struct arg_spec *spec, const struct arch *arch, char *dst, size_t size)
{
	const char *kind = word_of(kind_words, spec->kind);
	const char *reg = arch->reg_name(spec->reg), *len_reg = arch->reg_name(spec->len_reg);
	size_t len = 0;

	if (size)
		dst[0] = '\0';
	if (spec->kind == KIND_CONST) {
		append(dst, size, &len, "%" PRId64, (int64_t)spec->aux);
		return len;
	}
	append(dst, size, &len, "%s", reg ? reg : "?");
	print_steps(spec->steps, spec->nr_steps, dst, size, &len);
	if (spec->kind == KIND_INT)
		return len;
	append(dst, size, &len, " : %s", kind ? kind : "?");
	if (has_length(spec->kind)) {
		append(dst, size, &len, "[%s", len_reg ? len_reg : "?");
		print_steps(spec->len_steps, spec->nr_len_steps, dst, size, &len);
		append(dst, size, &len, "]");
	}
	if (spec->kind == KIND_BLINK_SELECTOR) {
		char layout[64];

		selector_layout_print(spec->aux, layout, sizeof(layout));
		append(dst, size, &len, "%s", layout);
	}
	if (spec->max_bytes)
		append(dst, size, &len, "(%u)", spec->max_bytes);
	return len;
}
