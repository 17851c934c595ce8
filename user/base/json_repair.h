/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Makes JSON of what careless writers take for it. */
#ifndef FRAMESCOPE_BASE_JSON_REPAIR_H
#define FRAMESCOPE_BASE_JSON_REPAIR_H

#include <stddef.h>

/*
 * In place, without changing the length: invalid UTF-8 becomes '?', control characters in strings blanks, escaped lone
 * surrogates and U+0000 U+FFFD, and NaN and Infinity a text. Integers of more than 64 bits become reals without their last
 * two digits, and numbers from 1e308 on, near or above what a real can be, a text. All else stays what it is.
 */
void json_repair(char *text, size_t n);

#endif
