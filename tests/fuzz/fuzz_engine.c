// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Engine definitions and argument expressions of any content: an error with a place, or something that is whole. What
 * an expression becomes prints to text that becomes the same again.
 * sources: user/target/engine.c user/target/engine_parse.c user/target/engine_keys.c user/target/engine_words.c user/target/expr.c user/target/selector_text.c user/target/anchor_syntax.c user/target/arch*.c user/target/scan.c user/target/image.c user/target/relocs.c user/base/error.c user/base/mapped.c
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "target/engine.h"

static void check_spec(const struct arg_spec *spec)
{
	struct arg_spec again = { .field = spec->field };
	struct error err;
	char text[512];

	if (spec->nr_steps > RECORD_MAX_STEPS || spec->nr_len_steps > 4 || spec->max_bytes > RECORD_MAX_STRING)
		abort();
	if (expr_print(spec, &arch_x86_64, text, sizeof(text)) >= (int)sizeof(text))
		return;
	if (expr_parse(text, &arch_x86_64, &again, NULL, NULL, &err)) {
		fprintf(stderr, "'%s': %s\n", text, err.text);
		abort();
	}
	if (memcmp(&again, spec, sizeof(again)))
		abort();
}

static void check_engine(const struct engine *e)
{
	if (!e->name[0] || !e->nr_modules || e->nr_probes > ENGINE_MAX_PROBES)
		abort();
	for (size_t i = 0; i < e->nr_probes; i++) {
		const struct engine_probe *p = &e->probes[i];

		if (!p->label || !p->group || !p->kind || p->nr_args > RECORD_MAX_ARGS ||
		    (!p->nr_functions && !p->nr_anchors && !p->nr_calls))
			abort();
		for (size_t k = 0; k < p->nr_args; k++)
			check_spec(&p->args[k]);
		engine_claims(e, p->name);
	}
}

/* NUL-terminated copies in memory of their own, so that no byte behind them is read. */
static char *text_of(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	if (!text)
		abort();
	memcpy(text, data, size);
	text[size] = '\0';
	return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = text_of(data, size), *member = NULL;
	struct arg_spec spec = { 0 };
	struct engine *e = NULL;
	struct error err = { 0 };
	size_t column = 0;

	if (!engine_parse(text, "fuzz", &arch_x86_64, &e, &err)) {
		check_engine(e);
		engine_free(e);
	} else if (err.kind == ERR_INPUT && strncmp(err.text, "fuzz:", 5)) {
		abort();
	}
	if (!expr_parse(text, &arch_x86_64, &spec, &member, &column, &err)) {
		if (!member)
			check_spec(&spec);
		free(member);
	} else if (!column || column > strlen(text) + 1) {
		abort();
	}
	free(text);
	return 0;
}
