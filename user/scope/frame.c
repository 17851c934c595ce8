// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* STP/0 messages and STP/1 frames. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "scope/frame.h"

#define STP1_MAGIC "STP"
#define STP1_VERSION 1
#define PAYLOAD_KEY (8 << 3 | 2)	/* field 8 of TransportMessage, length-delimited */

static void add_utf16(struct bytes *b, const char *text)
{
	for (; *text; text++)
		bytes_add(b, (const uint8_t[]){ 0, *text }, 2);
}

void stp0_write(struct bytes *b, const char *text)
{
	char count[24];

	snprintf(count, sizeof(count), "%zu ", strlen(text));
	add_utf16(b, count);
	add_utf16(b, text);
}

/* A code unit as ASCII, others as '?'. */
static char stp0_unit(const uint8_t *p)
{
	return p[0] || p[1] >= 0x80 || !p[1] ? '?' : (char)p[1];
}

int stp0_parse(const uint8_t *p, size_t n, char ret[STP0_MAX_UNITS + 1])
{
	size_t count = 0, i = 0;

	for (; ; i++) {
		char ch;

		if (n < 2 * (i + 1))
			return 0;
		ch = stp0_unit(p + 2 * i);
		if (ch == ' ' && i)
			break;
		if (ch < '0' || ch > '9')
			return -EBADMSG;
		count = count * 10 + (ch - '0');
		if (count > STP0_MAX_UNITS || i > 8)
			return -EMSGSIZE;
	}
	i++;
	if (n < 2 * (i + count))
		return 0;
	for (size_t k = 0; k < count; k++)
		ret[k] = stp0_unit(p + 2 * (i + k));
	ret[count] = '\0';
	return 2 * (i + count);
}

/* 1: *ret and *ret_used. 0: not complete. -EBADMSG: longer than max bytes. */
static int parse_varint(const uint8_t *p, size_t n, size_t max, uint64_t *ret, size_t *ret_used)
{
	uint64_t v = 0;

	for (size_t i = 0; i < max; i++) {
		if (i >= n)
			return 0;
		v |= (uint64_t)(p[i] & 0x7f) << (7 * i);
		if (!(p[i] & 0x80)) {
			*ret = v;
			*ret_used = i + 1;
			return 1;
		}
	}
	return -EBADMSG;
}

int stp1_head(const uint8_t *p, size_t n, uint8_t *ret_version, size_t *ret_head, uint32_t *ret_size)
{
	size_t used, magic = n < 3 ? n : 3;
	uint64_t size;
	int rc;

	if (memcmp(p, STP1_MAGIC, magic))
		return -EBADMSG;
	if (n < 4)
		return 0;
	rc = parse_varint(p + 4, n - 4, 5, &size, &used);
	if (rc <= 0)
		return rc;
	if (size > UINT32_MAX)
		return -EBADMSG;
	*ret_version = p[3];
	*ret_head = 4 + used;
	*ret_size = size;
	return 1;
}

int stp1_body(const uint8_t *p, size_t n, uint64_t *ret_type, Transport__TransportMessage **ret)
{
	Transport__TransportMessage *m;
	size_t used;

	if (parse_varint(p, n, 10, ret_type, &used) <= 0)
		return -EBADMSG;
	m = transport__transport_message__unpack(NULL, n - used, p + used);
	if (!m)
		return -EBADMSG;
	*ret = m;
	return 0;
}

void stp1_write(struct bytes *b, enum stp_type type, const Transport__TransportMessage *m, size_t payload_bytes)
{
	Transport__TransportMessage head = *m;
	struct bytes tail = { .max = 32 };
	size_t packed;
	uint8_t *p;

	/* the payload is the last field, so that it need not be copied into the message */
	head.has_payload = 0;
	packed = transport__transport_message__get_packed_size(&head);
	bytes_varint(&tail, type);
	size_t type_bytes = tail.n;
	bytes_varint(&tail, PAYLOAD_KEY);
	bytes_varint(&tail, payload_bytes);

	bytes_add(b, STP1_MAGIC, 3);
	bytes_add(b, (const uint8_t[]){ STP1_VERSION }, 1);
	bytes_varint(b, tail.n + packed + payload_bytes);
	bytes_add(b, tail.p, type_bytes);
	p = bytes_room(b, packed);
	if (p)
		b->n += transport__transport_message__pack(&head, p);
	if (tail.failed)
		b->failed = true;
	else
		bytes_add(b, tail.p + type_bytes, tail.n - type_bytes);
	bytes_free(&tail);
}
