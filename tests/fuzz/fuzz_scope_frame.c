// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Bytes of a Scope client of any content: the handshake, heads of frames, and what stands in frames. What can be read is
 * written again and reads the same.
 * sources: user/scope/bytes.c user/scope/frame.c
 */
#include <stdlib.h>
#include <string.h>
#include "scope/frame.h"
#include "scope/transport.pb-c.c"

static void check_again(const Transport__TransportMessage *m, uint64_t type)
{
	Transport__TransportMessage known = *m;
	Transport__TransportMessage *again;
	struct bytes b = { .max = 1 << 24 };
	uint8_t version;
	uint64_t type_again;
	uint32_t size;
	size_t head;

	if (type > 127)	/* ours are 1 to 4 */
		return;
	/* the host never passes fields on that it doesn't know */
	known.base.n_unknown_fields = 0;
	stp1_write(&b, type, &known, m->payload.len);
	bytes_add(&b, m->payload.data, m->payload.len);
	if (b.failed || stp1_head(b.p, b.n, &version, &head, &size) != 1 || version != 1 || head + size != b.n)
		abort();
	if (stp1_body(b.p + head, size, &type_again, &again) || type_again != type)
		abort();
	if (strcmp(again->service, m->service) || again->commandid != m->commandid || again->format != m->format ||
	    again->has_tag != m->has_tag || (m->has_tag && again->tag != m->tag) || again->payload.len != m->payload.len ||
	    (m->payload.len && memcmp(again->payload.data, m->payload.data, m->payload.len)))
		abort();
	transport__transport_message__free_unpacked(again, NULL);
	bytes_free(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	Transport__TransportMessage *m;
	char text[STP0_MAX_UNITS + 1];
	uint64_t type;
	int rc;

	if (!n)
		return 0;
	rc = stp0_parse(data, n, text);
	if (rc > 0 && ((size_t)rc > n || strlen(text) > STP0_MAX_UNITS))
		abort();
	/* frame by frame, as client.c does it */
	while (n) {
		uint8_t version;
		uint32_t size;
		size_t head;

		rc = stp1_head(data, n, &version, &head, &size);
		if (rc <= 0 || size > STP1_MAX_COMMAND || size > n - head)
			break;
		if (!stp1_body(data + head, size, &type, &m)) {
			check_again(m, type);
			transport__transport_message__free_unpacked(m, NULL);
		}
		data += head + size;
		n -= head + size;
	}
	/* and as if a head had stood before it */
	if (n && !stp1_body(data, n, &type, &m)) {
		check_again(m, type);
		transport__transport_message__free_unpacked(m, NULL);
	}
	return 0;
}
