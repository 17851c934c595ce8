// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Which probes have an area or an event's name that calibration has to find. */
#include "calibrate/wants.h"

/* What the definition itself says where to read needs no search, which may find what is right by chance. */
static bool is_defined(const struct engine_probe *p, uint8_t field)
{
	for (size_t i = 0; i < p->nr_args; i++)
		if (p->args[i].field == field)
			return true;
	return false;
}

bool wants_area(const struct engine_probe *p)
{
	return (p->type == EVENT_PAINT || p->role == ROLE_PAINT_AREA) && !is_defined(p, FIELD_X);
}

bool wants_name(const struct engine_probe *p)
{
	for (size_t i = 0; i < p->nr_args; i++)
		if (p->args[i].field == FIELD_THREAD_TYPE && p->args[i].kind == KIND_CONST)
			return p->args[i].aux == THREAD_TYPE_EVENT && !is_defined(p, FIELD_EVENT_NAME);
	return false;
}
