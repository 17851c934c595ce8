/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A display that nobody sees, for browsers that can't do without one: an X server without a screen. */
#ifndef FRAMESCOPE_CALIBRATE_DISPLAY_H
#define FRAMESCOPE_CALIBRATE_DISPLAY_H

#include <stdbool.h>
#include <stddef.h>
#include "calibrate/copy.h"

/* Is one installed? */
bool display_available(void);
/* Starts one as the copy's user, as a child that ends with its parent. Waits for it and writes its name, ":N"; false: it did not start. */
bool display_start(const struct private_copy *copy, char *ret, size_t size);
/* In a mount namespace of one's own: an empty /tmp, in which an X server may leave what it will; the copy stays where it is. */
bool display_private_tmp(const struct private_copy *copy);

#endif
