/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What windows are called, wherever they are listed. */
#ifndef FRAMESCOPE_CLI_WINDOWS_H
#define FRAMESCOPE_CLI_WINDOWS_H

#include "target/process.h"

#define WINDOW_TITLE_SIZE 256

/* "chromium (renderer) 1234", safe to show. */
void window_title(const struct process *p, char ret[WINDOW_TITLE_SIZE]);

#endif
