// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* UMS JSON, reading: jansson parses, the descriptor says what must stand where. */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include "scope/codec.h"

static int decode_array(const ProtobufCMessageDescriptor *d, const json_t *array, ProtobufCMessage **ret,
			struct error *err);

static int wrong(struct error *err, const ProtobufCMessageDescriptor *d, const ProtobufCFieldDescriptor *f,
		 const char *what)
{
	return error_set(err, ERR_USAGE, -EBADMSG, "%s.%s: %s", d->short_name, f->name, what);
}

/* An integer in [min, max]; JavaScript may have written it as a real. */
static bool get_integer(const json_t *v, int64_t min, int64_t max, int64_t *ret)
{
	double d;

	if (json_is_integer(v)) {
		*ret = json_integer_value(v);
	} else if (json_is_real(v)) {
		d = json_real_value(v);
		if (!(d >= -9007199254740992.0 && d <= 9007199254740992.0) || d != (double)(int64_t)d)
			return false;
		*ret = (int64_t)d;
	} else {
		return false;
	}
	return *ret >= min && *ret <= max;
}

static int sextet(char ch)
{
	if (ch >= 'A' && ch <= 'Z')
		return ch - 'A';
	if (ch >= 'a' && ch <= 'z')
		return ch - 'a' + 26;
	if (ch >= '0' && ch <= '9')
		return ch - '0' + 52;
	return ch == '+' ? 62 : ch == '/' ? 63 : -1;
}

static int set_base64(ProtobufCBinaryData *data, const json_t *v)
{
	const char *s = json_string_value(v);
	size_t n = json_string_length(v), digits = n;
	uint32_t acc = 0;
	uint8_t *p;

	while (digits && n - digits < 2 && s[digits - 1] == '=')
		digits--;
	if (n % 4 || digits % 4 == 1)
		return -EBADMSG;
	p = malloc(n / 4 * 3 + 1);
	if (!p)
		return -ENOMEM;
	data->data = p;	/* freed with the message */
	data->len = digits * 6 / 8;
	for (size_t i = 0, out = 0; i < digits; i++) {
		int six = sextet(s[i]);

		if (six < 0)
			return -EBADMSG;
		acc = acc << 6 | six;
		if (i % 4)
			p[out++] = acc >> (6 - 2 * (i % 4));
	}
	return 0;
}

/* Numbers and booleans: true if *v fits. */
static bool set_number(void *p, ProtobufCType type, const json_t *v)
{
	int64_t n;

	switch (type) {
	case PROTOBUF_C_TYPE_INT32: case PROTOBUF_C_TYPE_SINT32: case PROTOBUF_C_TYPE_SFIXED32: case PROTOBUF_C_TYPE_ENUM:
		if (!get_integer(v, INT32_MIN, INT32_MAX, &n))
			return false;
		*(int32_t *)p = n;
		return true;
	case PROTOBUF_C_TYPE_UINT32: case PROTOBUF_C_TYPE_FIXED32:
		if (!get_integer(v, 0, UINT32_MAX, &n))
			return false;
		*(uint32_t *)p = n;
		return true;
	case PROTOBUF_C_TYPE_INT64: case PROTOBUF_C_TYPE_SINT64: case PROTOBUF_C_TYPE_SFIXED64:
		return get_integer(v, INT64_MIN, INT64_MAX, p);
	case PROTOBUF_C_TYPE_UINT64: case PROTOBUF_C_TYPE_FIXED64:
		return get_integer(v, 0, INT64_MAX, p);
	case PROTOBUF_C_TYPE_FLOAT: case PROTOBUF_C_TYPE_DOUBLE:
		if (!json_is_number(v))
			return false;
		if (type == PROTOBUF_C_TYPE_FLOAT)
			*(float *)p = json_number_value(v);
		else
			*(double *)p = json_number_value(v);
		return true;
	case PROTOBUF_C_TYPE_BOOL:
		if (json_is_boolean(v))
			n = json_is_true(v);
		else if (!get_integer(v, 0, 1, &n))
			return false;
		*(protobuf_c_boolean *)p = n;
		return true;
	default:
		return false;
	}
}

/* One value into the member at p, whose old content is of no account. */
static int set_value(const ProtobufCMessageDescriptor *d, const ProtobufCFieldDescriptor *f, void *p, const json_t *v,
		     struct error *err)
{
	int rc;

	switch (f->type) {
	case PROTOBUF_C_TYPE_STRING:
		if (!json_is_string(v))
			return wrong(err, d, f, "a string is needed");
		*(char **)p = strdup(json_string_value(v));
		return *(char **)p ? 0 : error_set(err, ERR_OTHER, -ENOMEM, "No memory for a message");
	case PROTOBUF_C_TYPE_BYTES:
		rc = json_is_string(v) ? set_base64(p, v) : -EBADMSG;
		if (rc == -ENOMEM)
			return error_set(err, ERR_OTHER, -ENOMEM, "No memory for a message");
		return rc ? wrong(err, d, f, "bytes must be a string in base64") : 0;
	case PROTOBUF_C_TYPE_MESSAGE:
		return decode_array(f->descriptor, v, p, err);
	default:
		return set_number(p, f->type, v) ? 0 : wrong(err, d, f, "that is no number of this field's type");
	}
}

static int set_repeated(const ProtobufCMessageDescriptor *d, const ProtobufCFieldDescriptor *f, ProtobufCMessage *m,
			const json_t *v, struct error *err)
{
	size_t n, size = codec_value_size(f->type);
	char *p;
	int rc;

	if (!json_is_array(v))
		return wrong(err, d, f, "an array is needed");
	n = json_array_size(v);
	if (!n)
		return 0;
	p = calloc(n, size);
	if (!p)
		return error_set(err, ERR_OTHER, -ENOMEM, "No memory for a message");
	*(char **)codec_member(m, f) = p;
	for (size_t i = 0; i < n; i++) {
		/* counted first: a value that is set in part is freed with the rest, and nothing but zeros if it isn't */
		++*codec_count(m, f);
		rc = set_value(d, f, p + i * size, json_array_get(v, i), err);
		if (rc)
			return rc;
	}
	return 0;
}

static int set_field(const ProtobufCMessageDescriptor *d, const ProtobufCFieldDescriptor *f, ProtobufCMessage *m,
		     const json_t *v, struct error *err)
{
	int rc;

	if (!v || json_is_null(v)) {
		if (f->label == PROTOBUF_C_LABEL_REQUIRED)
			return wrong(err, d, f, "required, but missing");
		return 0;
	}
	if (f->label == PROTOBUF_C_LABEL_REPEATED)
		return set_repeated(d, f, m, v, err);
	rc = set_value(d, f, codec_member(m, f), v, err);
	if (!rc && f->label == PROTOBUF_C_LABEL_OPTIONAL && f->type != PROTOBUF_C_TYPE_STRING &&
	    f->type != PROTOBUF_C_TYPE_MESSAGE)
		*codec_has(m, f) = 1;
	return rc;
}

static int decode_array(const ProtobufCMessageDescriptor *d, const json_t *array, ProtobufCMessage **ret,
			struct error *err)
{
	uint8_t order[CODEC_MAX_FIELDS];
	ProtobufCMessage *m;
	int rc = 0;

	if (!json_is_array(array))
		return error_set(err, ERR_USAGE, -EBADMSG, "%s: a JSON array is needed", d->short_name);
	m = malloc(d->sizeof_message);
	if (!m)
		return error_set(err, ERR_OTHER, -ENOMEM, "No memory for a message");
	protobuf_c_message_init(d, m);
	codec_order(d, order);
	for (unsigned i = 0; i < d->n_fields && !rc; i++)
		rc = set_field(d, &d->fields[order[i]], m, json_array_get(array, i), err);
	if (rc) {
		protobuf_c_message_free_unpacked(m, NULL);
		return rc;
	}
	*ret = m;
	return 0;
}

int codec_json_decode(const ProtobufCMessageDescriptor *d, const uint8_t *p, size_t n, ProtobufCMessage **ret,
		      struct error *err)
{
	json_error_t why;
	json_t *root;
	int rc;

	/* clients that send nothing at all mean the empty message */
	root = json_loadb(n ? (const char *)p : "[]", n ? n : 2, 0, &why);
	if (!root)
		return error_set(err, ERR_USAGE, -EBADMSG, "The payload is not JSON: %s (at byte %d)", why.text, why.position);
	rc = decode_array(d, root, ret, err);
	json_decref(root);
	return rc;
}
