/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Introspection: a service's commands, messages and enumerations as the service scope tells them. */
#ifndef FRAMESCOPE_SCOPE_DESCRIBE_H
#define FRAMESCOPE_SCOPE_DESCRIBE_H

#include "scope/arena.h"
#include "scope/scope.pb-c.h"
#include "scope/service.h"

/* The answers live in the arena and point at names in the descriptors. NULL: no memory. */
Scope__ServiceInfo *describe_service(struct arena *a, const struct service *s);
/* *ret_unknown: an id of the selection that the service doesn't have, and NULL is returned; otherwise 0. */
Scope__MessageInfoList *describe_messages(struct arena *a, const struct service *s, const Scope__MessageSelection *sel,
					  uint32_t *ret_unknown);
Scope__EnumList *describe_enums(struct arena *a, const struct service *s, const Scope__EnumArg *sel,
				uint32_t *ret_unknown);

#endif
