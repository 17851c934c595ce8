/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Text from the target is hostile: it is decoded, repaired and bounded here, once. */
#ifndef FRAMESCOPE_BASE_TEXT_H
#define FRAMESCOPE_BASE_TEXT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Worst growth of text_decode(): Latin-1 doubles, UTF-16 unit -> 3 bytes, bad UTF-8 byte -> U+FFFD. */
#define TEXT_GROWTH 3

/*
 * Decodes `n` bytes of `src` in `encoding` (enum arg_encoding; ENC_TRUNCATED is ignored) to valid UTF-8.
 * Invalid sequences, lone surrogates and U+0000 become U+FFFD; an incomplete sequence at the very end is
 * dropped. Writes at most `cap` bytes, cut on a character boundary, and returns how many. No NUL is added.
 */
size_t text_decode(int encoding, const void *src, size_t n, char *dst, size_t cap);

/* Length of the longest prefix of `s` that is valid UTF-8 without U+0000, at most n. n itself if all of it is. */
size_t text_valid_prefix(const char *s, size_t n);

/* Writes `s` (n bytes, any content) as a JSON string with its quotes: control characters, quotes and
 * backslashes escaped, invalid UTF-8 as U+FFFD. Returns the bytes written to dst; needs 6 * n + 2 at worst. */
size_t text_json(const char *s, size_t n, char *dst);

/* For terminals: control characters (C0, DEL, C1) and invalid UTF-8 as '?'. In place length may not grow. */
size_t text_printable(const char *s, size_t n, char *dst, size_t cap);

#endif
