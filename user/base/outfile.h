/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Output files: written to a temporary file beside the target, mode 0600, O_EXCL | O_NOFOLLOW, given to the user who
 * called sudo (SUDO_UID, SUDO_GID), gzip if the name ends in .gz, and renamed into place only when all was written.
 * "-" is standard output (no temporary file). Buffered; the first error sticks and every later call returns it.
 */
#ifndef FRAMESCOPE_BASE_OUTFILE_H
#define FRAMESCOPE_BASE_OUTFILE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/error.h"

struct outfile;

int outfile_open(const char *path, struct outfile **ret, struct error *err);
int outfile_write(struct outfile *f, const void *data, size_t n);
int outfile_printf(struct outfile *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* A JSON string with quotes, escaped and repaired (base/text.h). */
int outfile_json_string(struct outfile *f, const char *s, size_t n);
/* Decimal without locale: ns as microseconds with up to three decimals ("1.236"), or as milliseconds with six. */
int outfile_us(struct outfile *f, uint64_t ns);
int outfile_ms(struct outfile *f, uint64_t ns);
int outfile_u64(struct outfile *f, uint64_t v);
uint64_t outfile_bytes(const struct outfile *f);	/* before compression */
/* Flushes, fsyncs, renames. On error nothing stands under the final name that did not stand there before. Frees f. */
int outfile_commit(struct outfile *f, struct error *err);
/* Writing failed with rc: says so and discards f. Returns rc. */
int outfile_fail(struct outfile *f, int rc, struct error *err);
void outfile_discard(struct outfile *f);	/* removes the temporary file; NULL is fine */

#endif
