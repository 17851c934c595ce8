/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The messages that the payload decoders are fuzzed with: every kind of field is among them. */
#ifndef FRAMESCOPE_TESTS_FUZZ_SCOPE_MESSAGES_H
#define FRAMESCOPE_TESTS_FUZZ_SCOPE_MESSAGES_H

#include <stdlib.h>
#include <string.h>
#include "scope/codec.h"
#include "scope/exec.pb-c.c"
#include "scope/profiler.pb-c.c"
#include "scope/scope.pb-c.c"
#include "scope/transport.pb-c.c"
#include "scope/window_manager.pb-c.c"

static const ProtobufCMessageDescriptor *const messages[] = {
	&profiler__start_profiler_arg__descriptor, &profiler__get_events_arg__descriptor, &profiler__events__descriptor,
	&profiler__session__descriptor, &window_manager__window_filter__descriptor,
	&window_manager__modify_type_filter_arg__descriptor, &window_manager__window_list__descriptor,
	&scope__message_selection__descriptor, &scope__message_info_list__descriptor, &scope__host_info__descriptor,
	&transport__error_info__descriptor, &transport__transport_message__descriptor, &exec__action_list__descriptor,
};

#define NR_MESSAGES (sizeof(messages) / sizeof(messages[0]))

static inline struct bytes encode(enum stp_format format, const ProtobufCMessage *m)
{
	struct bytes b = { .max = 1 << 26 };

	codec_encode(format, m, NULL, &b);
	if (b.failed)
		abort();
	return b;
}

static inline ProtobufCMessage *decode(enum stp_format format, const ProtobufCMessageDescriptor *d, const uint8_t *p,
				       size_t n)
{
	ProtobufCMessage *m = NULL;
	struct error err = { 0 };

	if (!codec_decode(format, d, p, n, &m, &err))
		return m;
	if (err.kind != ERR_USAGE || !*err.text)
		abort();
	return NULL;
}

#endif
