/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is to be found out about a probe's function besides frames and documents. */
#ifndef FRAMESCOPE_CALIBRATE_WANTS_H
#define FRAMESCOPE_CALIBRATE_WANTS_H

#include <stdbool.h>
#include "target/engine.h"

/* Is a call of this function about something painted; about an event that a script is called for? */
bool wants_area(const struct engine_probe *p);
bool wants_name(const struct engine_probe *p);

#endif
