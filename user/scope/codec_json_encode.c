// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* UMS JSON, writing: a message is an array, and a field's position is that of its declaration. */
#include <string.h>
#include "base/text.h"
#include "scope/codec.h"

static const char base64_digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static void add_base64(struct bytes *b, const uint8_t *p, size_t n)
{
	bytes_add(b, "\"", 1);
	for (size_t i = 0; i < n; i += 3) {
		uint32_t v = p[i] << 16 | (i + 1 < n ? p[i + 1] << 8 : 0) | (i + 2 < n ? p[i + 2] : 0);
		char four[4] = {
			base64_digits[v >> 18], base64_digits[v >> 12 & 63],
			i + 1 < n ? base64_digits[v >> 6 & 63] : '=', i + 2 < n ? base64_digits[v & 63] : '=',
		};

		bytes_add(b, four, sizeof(four));
	}
	bytes_add(b, "\"", 1);
}

static void add_string(struct bytes *b, const char *s)
{
	size_t n = strlen(s);
	uint8_t *p = bytes_room(b, 6 * n + 2);

	if (p)
		b->n += text_json(s, n, (char *)p);
}

/* One value, not repeated. */
static void add_value(struct bytes *b, const ProtobufCFieldDescriptor *f, const void *p)
{
	const ProtobufCBinaryData *data = p;

	switch (f->type) {
	case PROTOBUF_C_TYPE_INT32: case PROTOBUF_C_TYPE_SINT32: case PROTOBUF_C_TYPE_SFIXED32: case PROTOBUF_C_TYPE_ENUM:
		bytes_i64(b, *(const int32_t *)p);
		break;
	case PROTOBUF_C_TYPE_UINT32: case PROTOBUF_C_TYPE_FIXED32:
		bytes_u64(b, *(const uint32_t *)p);
		break;
	case PROTOBUF_C_TYPE_INT64: case PROTOBUF_C_TYPE_SINT64: case PROTOBUF_C_TYPE_SFIXED64:
		bytes_i64(b, *(const int64_t *)p);
		break;
	case PROTOBUF_C_TYPE_UINT64: case PROTOBUF_C_TYPE_FIXED64:
		bytes_u64(b, *(const uint64_t *)p);
		break;
	case PROTOBUF_C_TYPE_FLOAT:
		bytes_double(b, *(const float *)p);
		break;
	case PROTOBUF_C_TYPE_DOUBLE:
		bytes_double(b, *(const double *)p);
		break;
	case PROTOBUF_C_TYPE_BOOL:
		bytes_text(b, *(const protobuf_c_boolean *)p ? "1" : "0");
		break;
	case PROTOBUF_C_TYPE_STRING:
		add_string(b, *(const char *const *)p);
		break;
	case PROTOBUF_C_TYPE_BYTES:
		add_base64(b, data->data, data->len);
		break;
	case PROTOBUF_C_TYPE_MESSAGE:
		codec_json_encode(*(const ProtobufCMessage *const *)p, NULL, b);
		break;
	}
}

static void add_repeated(struct bytes *b, const ProtobufCMessage *m, const ProtobufCFieldDescriptor *f,
			 const struct codec_list *list)
{
	size_t n = list ? list->nr : *codec_count(m, f);
	const char *p = *(char **)codec_member(m, f);

	bytes_add(b, "[", 1);
	for (size_t i = 0; i < n && !b->failed; i++) {
		if (i)
			bytes_add(b, ",", 1);
		if (list)
			codec_json_encode(list->item(list->arg, i), NULL, b);
		else
			add_value(b, f, p + i * codec_value_size(f->type));
	}
	bytes_add(b, "]", 1);
}

static bool is_absent(const ProtobufCMessage *m, const ProtobufCFieldDescriptor *f)
{
	if (f->label != PROTOBUF_C_LABEL_OPTIONAL)
		return false;
	if (f->type == PROTOBUF_C_TYPE_STRING || f->type == PROTOBUF_C_TYPE_MESSAGE)
		return *(void **)codec_member(m, f) == NULL;
	return !*codec_has(m, f);
}

void codec_json_encode(const ProtobufCMessage *m, const struct codec_list *list, struct bytes *b)
{
	const ProtobufCMessageDescriptor *d = m->descriptor;
	uint8_t order[CODEC_MAX_FIELDS];
	unsigned nulls = 0;

	codec_order(d, order);
	bytes_add(b, "[", 1);
	for (unsigned i = 0; i < d->n_fields; i++) {
		const ProtobufCFieldDescriptor *f = &d->fields[order[i]];

		/* Absent ones are written when something follows. Empty lists are never cut off: dragonkeeper and
		 * Dragonfly index into them. */
		if (is_absent(m, f)) {
			nulls++;
			continue;
		}
		for (; nulls; nulls--)
			bytes_text(b, i > nulls ? ",null" : "null");
		if (i)
			bytes_add(b, ",", 1);
		if (f->label == PROTOBUF_C_LABEL_REPEATED)
			add_repeated(b, m, f, list && !strcmp(list->field, f->name) ? list : NULL);
		else
			add_value(b, f, codec_member(m, f));
	}
	bytes_add(b, "]", 1);
}
