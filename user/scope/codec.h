/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Payloads: protobuf-c messages to and from the two encodings of UMS, driven by the messages' descriptors alone, so
 * that both encodings and what Info, MessageInfo and EnumInfo tell of them can't disagree.
 */
#ifndef FRAMESCOPE_SCOPE_CODEC_H
#define FRAMESCOPE_SCOPE_CODEC_H

#include <protobuf-c/protobuf-c.h>
#include "base/error.h"
#include "scope/bytes.h"
#include "scope/frame.h"

#define CODEC_MAX_FIELDS 32	/* of one message */

/* A repeated field that is too long to be held as messages: they are asked for one by one. */
struct codec_list {
	const char *field;	/* name; empty in the message itself */
	size_t nr;
	/* Valid until the next call. */
	const ProtobufCMessage *(*item)(void *arg, size_t index);
	void *arg;
};

/* A field's place in the message's declaration, which is its position in a JSON array: `ret` gets the field indices in
 * that order. Descriptors list fields by number; the members of the C structure stand as declared. */
void codec_order(const ProtobufCMessageDescriptor *d, uint8_t ret[CODEC_MAX_FIELDS]);

/* FORMAT_PROTOBUF or FORMAT_JSON. ERR_USAGE and -EBADMSG if the payload isn't such a message, -ENOMEM.
 * *ret is to be freed with protobuf_c_message_free_unpacked(). Unknown fields are ignored. */
int codec_decode(enum stp_format format, const ProtobufCMessageDescriptor *d, const uint8_t *p, size_t n,
		 ProtobufCMessage **ret, struct error *err);
/* Appends. `list` may be NULL. b->failed tells of failure. */
void codec_encode(enum stp_format format, const ProtobufCMessage *m, const struct codec_list *list, struct bytes *b);

/* The JSON half (codec_json_decode.c, codec_json_encode.c). */
int codec_json_decode(const ProtobufCMessageDescriptor *d, const uint8_t *p, size_t n, ProtobufCMessage **ret,
		      struct error *err);
void codec_json_encode(const ProtobufCMessage *m, const struct codec_list *list, struct bytes *b);

/* Bytes of one value of that type in a message's structure or array. */
size_t codec_value_size(ProtobufCType type);

/* Addresses inside a message, as the descriptor says. */
static inline void *codec_member(const ProtobufCMessage *m, const ProtobufCFieldDescriptor *f)
{
	return (char *)m + f->offset;
}

static inline size_t *codec_count(const ProtobufCMessage *m, const ProtobufCFieldDescriptor *f)
{
	return (size_t *)((char *)m + f->quantifier_offset);
}

static inline protobuf_c_boolean *codec_has(const ProtobufCMessage *m, const ProtobufCFieldDescriptor *f)
{
	return (protobuf_c_boolean *)((char *)m + f->quantifier_offset);
}

#endif
