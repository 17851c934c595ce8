// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Protobuf payloads of any content. The first byte chooses the message. What can be read is valid JSON when written so,
 * and what that says comes through protobuf unchanged.
 * sources: user/scope/bytes.c user/scope/codec.c user/scope/codec_json_decode.c user/scope/codec_json_encode.c user/base/error.c user/base/text.c
 */
#include <jansson.h>
#include "fuzz/scope_messages.h"

/* The message that a JSON text is, by way of protobuf, gives the same text. */
static void check_again(const ProtobufCMessageDescriptor *d, const ProtobufCMessage *m)
{
	struct bytes pb = encode(FORMAT_PROTOBUF, m), json = encode(FORMAT_JSON, m), again;
	ProtobufCMessage *other = decode(FORMAT_PROTOBUF, d, pb.p, pb.n);

	if (!other)
		abort();
	again = encode(FORMAT_JSON, other);
	if (again.n != json.n || memcmp(again.p, json.p, json.n))
		abort();
	protobuf_c_message_free_unpacked(other, NULL);
	bytes_free(&again);
	bytes_free(&json);
	bytes_free(&pb);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	const ProtobufCMessageDescriptor *d;
	ProtobufCMessage *m, *other;
	struct bytes json;
	json_t *parsed;

	if (!n)
		return 0;
	d = messages[data[0] % NR_MESSAGES];
	m = decode(FORMAT_PROTOBUF, d, data + 1, n - 1);
	if (!m)
		return 0;
	json = encode(FORMAT_JSON, m);
	parsed = json_loadb((char *)json.p, json.n, 0, NULL);
	if (!parsed)
		abort();
	json_decref(parsed);
	/* not a number is none in JSON: then a required field may be missing */
	other = decode(FORMAT_JSON, d, json.p, json.n);
	if (other) {
		check_again(d, other);
		protobuf_c_message_free_unpacked(other, NULL);
	}
	bytes_free(&json);
	protobuf_c_message_free_unpacked(m, NULL);
	return 0;
}
