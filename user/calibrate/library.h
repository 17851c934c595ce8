/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Engines that are a library of the system, which many programs use: where it is, and which program shows pages with it. */
#ifndef FRAMESCOPE_CALIBRATE_LIBRARY_H
#define FRAMESCOPE_CALIBRATE_LIBRARY_H

#include "calibrate/copy.h"
#include "target/engine.h"
#include "target/image.h"

/* Calls each(ctx, name) for the libraries that a file says it needs, and those that libraries in a folder of its own need,
 * until that returns true. */
bool library_each_needed(const struct image *img, bool (*each)(void *ctx, const char *name), void *ctx);

/* Where a program that stands at `binary` would find a library of this name, into ret (PATH_MAX bytes). False: in none of the
 * usual folders. */
bool library_find(const char *binary, const char *name, char *ret);

/*
 * The program of this name that was built with the engine's library, `module` (the path of libNAME.so…): in a folder NAME of
 * the library's or of /usr/libexec. Fills what has to be copied to run it apart: the program and those of its libraries that the
 * engine claims, under the names by which they are looked for. ERR_INPUT: it isn't there, or is of another library.
 */
int library_program(const struct engine *e, const char *module, const char *program, struct copy_list *ret, struct error *err);

#endif
