// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * JSON payloads of any content. The first byte chooses the message. What can be read becomes the same message again by
 * way of protobuf.
 * sources: user/scope/bytes.c user/scope/codec.c user/scope/codec_json_decode.c user/scope/codec_json_encode.c user/base/error.c user/base/text.c
 */
#include "fuzz/scope_messages.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	const ProtobufCMessageDescriptor *d;
	struct bytes json, again, pb;
	ProtobufCMessage *m, *other;

	if (!n)
		return 0;
	d = messages[data[0] % NR_MESSAGES];
	m = decode(FORMAT_JSON, d, data + 1, n - 1);
	if (!m)
		return 0;
	json = encode(FORMAT_JSON, m);
	pb = encode(FORMAT_PROTOBUF, m);
	other = decode(FORMAT_PROTOBUF, d, pb.p, pb.n);
	if (!other)
		abort();
	again = encode(FORMAT_JSON, other);
	if (again.n != json.n || memcmp(again.p, json.p, json.n))
		abort();
	bytes_free(&again);
	bytes_free(&pb);
	protobuf_c_message_free_unpacked(other, NULL);
	/* and by way of JSON */
	other = decode(FORMAT_JSON, d, json.p, json.n);
	if (!other)
		abort();
	again = encode(FORMAT_JSON, other);
	if (again.n != json.n || memcmp(again.p, json.p, json.n))
		abort();
	bytes_free(&again);
	bytes_free(&json);
	protobuf_c_message_free_unpacked(other, NULL);
	protobuf_c_message_free_unpacked(m, NULL);
	return 0;
}
