/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds where JSON values end, so that a long text can be parsed one value at a time. Looks at brackets and strings only.
 * (Not json_…: jsonout.h says why.)
 */
#ifndef FRAMESCOPE_BASE_JSONSCAN_H
#define FRAMESCOPE_BASE_JSONSCAN_H

/* What follows the blanks at p; end if nothing does. */
const char *jsonscan_blank(const char *p, const char *end);
/* What follows the string whose opening quote stands at p, or NULL if it isn't complete. */
const char *jsonscan_string(const char *p, const char *end);
/* What follows the value that starts at p, blanks before it aside, or NULL if it isn't complete. */
const char *jsonscan_value(const char *p, const char *end);

#endif
