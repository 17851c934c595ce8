// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Hostile symbols against hostile patterns: the first line is the pattern, each other one a symbol. Two properties
 * hold: every symbol matches itself and "*", unless it is a compiler's cold part.
 * sources: user/target/names.c user/target/engine.c user/target/engine_parse.c user/target/engine_keys.c user/target/engine_words.c user/target/expr.c user/target/selector_text.c user/target/anchor_syntax.c user/target/arch*.c user/target/scan.c user/target/image.c user/target/relocs.c user/base/error.c user/base/mapped.c
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "target/names.h"
#include "target/symbols.h"

#define MAX_SYMBOLS 8

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1), *save = NULL, *pattern, *symbol, last[64];
	struct name_pattern p;
	unsigned int flags;

	if (!text)
		abort();
	memcpy(text, data, size);
	text[size] = '\0';
	pattern = strtok_r(text, "\n", &save);
	if (pattern && !name_pattern_init(&p, pattern)) {
		for (int i = 0; i < MAX_SYMBOLS && (symbol = strtok_r(NULL, "\n", &save)); i++) {
			size_t n = name_base_length(symbol, &flags);

			if (n > strlen(symbol))
				abort();
			name_pattern_match(&p, symbol);
			name_pattern_match_demangled(&p, symbol);
			name_last_component(symbol, last, sizeof(last));
			name_without_params(symbol, last, sizeof(last));
			if (!(flags & CLONE_COLD) && n < NAME_MAX_LENGTH && !symbol_pattern_match("*", symbol))
				abort();
		}
		name_pattern_done(&p);
	}
	free(text);
	return 0;
}
