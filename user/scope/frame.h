/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The wire, without sockets: STP/0 messages (the handshake) and STP/1 frames. Every function takes what has come in so
 * far, trusts none of it and keeps nothing.
 */
#ifndef FRAMESCOPE_SCOPE_FRAME_H
#define FRAMESCOPE_SCOPE_FRAME_H

#include "scope/bytes.h"
#include "scope/transport.pb-c.h"

#define STP0_MAX_UNITS 512	/* UTF-16 code units of a message; "*enable stp-1" has 13 */
#define STP1_BANNER "STP/1\n"	/* the host's answer to it, in ASCII */
#define STP1_MAX_HEAD 9		/* "STP", version octet, SIZE */
#define STP1_MAX_COMMAND (256u << 10)	/* bytes of a client's frame; a longer one ends the connection */

enum stp_type { STP_COMMAND = 1, STP_RESPONSE = 2, STP_EVENT = 3, STP_ERROR = 4 };

enum stp_format { FORMAT_PROTOBUF = 0, FORMAT_JSON = 1, FORMAT_XML = 2 };

enum stp_status {
	STATUS_OK = 0,
	STATUS_BAD_REQUEST = 3,
	STATUS_INTERNAL_ERROR = 4,
	STATUS_COMMAND_NOT_FOUND = 5,
	STATUS_SERVICE_NOT_FOUND = 6,
	STATUS_OUT_OF_MEMORY = 7,
	STATUS_SERVICE_NOT_ENABLED = 8,
	STATUS_SERVICE_ALREADY_ENABLED = 9,
};

/* Appends `text` (ASCII) as an STP/0 message: its length, a blank and itself, in UTF-16BE. */
void stp0_write(struct bytes *b, const char *text);
/* One message at the start of p. >0: bytes used, the text stands in `ret` (what isn't ASCII as '?'). 0: not complete
 * yet. -EBADMSG, -EMSGSIZE. */
int stp0_parse(const uint8_t *p, size_t n, char ret[STP0_MAX_UNITS + 1]);

/* The head of a frame. 1: *ret_version, *ret_head (its bytes) and *ret_size (of what follows) are set. 0: not complete
 * yet. -EBADMSG. */
int stp1_head(const uint8_t *p, size_t n, uint8_t *ret_version, size_t *ret_head, uint32_t *ret_size);
/* What follows the head. 0: *ret_type and *ret, to be freed with transport__transport_message__free_unpacked(). -EBADMSG. */
int stp1_body(const uint8_t *p, size_t n, uint64_t *ret_type, Transport__TransportMessage **ret);
/* Writes a frame up to its payload, of which `payload_bytes` are to follow. `m->payload` is not looked at. */
void stp1_write(struct bytes *b, enum stp_type type, const Transport__TransportMessage *m, size_t payload_bytes);

#endif
