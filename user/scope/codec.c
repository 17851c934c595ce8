// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Payloads in either encoding; protobuf itself is protobuf-c's work. */
#include <assert.h>
#include <errno.h>
#include <string.h>
#include "scope/codec.h"

void codec_order(const ProtobufCMessageDescriptor *d, uint8_t ret[CODEC_MAX_FIELDS])
{
	assert(d->n_fields <= CODEC_MAX_FIELDS);
	/* insertion sort: nearly all are sorted already */
	for (unsigned i = 0; i < d->n_fields; i++) {
		unsigned k = i;

		for (; k > 0 && d->fields[ret[k - 1]].offset > d->fields[i].offset; k--)
			ret[k] = ret[k - 1];
		ret[k] = i;
	}
}

size_t codec_value_size(ProtobufCType type)
{
	switch (type) {
	case PROTOBUF_C_TYPE_STRING: case PROTOBUF_C_TYPE_MESSAGE:
		return sizeof(void *);
	case PROTOBUF_C_TYPE_BYTES:
		return sizeof(ProtobufCBinaryData);
	case PROTOBUF_C_TYPE_DOUBLE: case PROTOBUF_C_TYPE_INT64: case PROTOBUF_C_TYPE_SINT64:
	case PROTOBUF_C_TYPE_SFIXED64: case PROTOBUF_C_TYPE_UINT64: case PROTOBUF_C_TYPE_FIXED64:
		return 8;
	default:
		return 4;
	}
}

static int decode_protobuf(const ProtobufCMessageDescriptor *d, const uint8_t *p, size_t n, ProtobufCMessage **ret,
			   struct error *err)
{
	ProtobufCMessage *m = protobuf_c_message_unpack(d, NULL, n, p);

	if (!m)
		return error_set(err, ERR_USAGE, -EBADMSG, "The payload is not a protobuf message %s with all required fields",
				 d->short_name);
	*ret = m;
	return 0;
}

int codec_decode(enum stp_format format, const ProtobufCMessageDescriptor *d, const uint8_t *p, size_t n,
		 ProtobufCMessage **ret, struct error *err)
{
	switch (format) {
	case FORMAT_PROTOBUF:
		return decode_protobuf(d, p, n, ret, err);
	case FORMAT_JSON:
		return codec_json_decode(d, p, n, ret, err);
	default:
		return error_set(err, ERR_USAGE, -EBADMSG, "Payloads can be protobuf (format 0) or JSON (format 1) only");
	}
}

static void encode_protobuf(const ProtobufCMessage *m, struct bytes *b)
{
	size_t n = protobuf_c_message_get_packed_size(m);
	uint8_t *p = n ? bytes_room(b, n) : NULL;

	if (p)
		b->n += protobuf_c_message_pack(m, p);
}

static void encode_protobuf_list(const ProtobufCMessage *m, const struct codec_list *list, struct bytes *b)
{
	const ProtobufCFieldDescriptor *f = protobuf_c_message_descriptor_get_field_by_name(m->descriptor, list->field);

	for (size_t i = 0; i < list->nr && !b->failed; i++) {
		const ProtobufCMessage *item = list->item(list->arg, i);

		bytes_varint(b, f->id << 3 | PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED);
		bytes_varint(b, protobuf_c_message_get_packed_size(item));
		encode_protobuf(item, b);
	}
}

void codec_encode(enum stp_format format, const ProtobufCMessage *m, const struct codec_list *list, struct bytes *b)
{
	if (format == FORMAT_JSON) {
		codec_json_encode(m, list, b);
		return;
	}
	encode_protobuf(m, b);
	if (list)
		encode_protobuf_list(m, list, b);
}
