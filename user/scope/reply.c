// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Answers, errors and events on their way out. */
#include <errno.h>
#include <event2/buffer.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/text.h"
#include "scope/client.h"

#define SMALL 4096	/* payloads up to this size are copied behind the frame's head */

static size_t unsent_of_all(const struct scope_host *h)
{
	const struct client *c;
	size_t n = 0;

	TAILQ_FOREACH(c, &h->clients, entry)
		n += client_unsent(c);
	return n;
}

static void free_payload(const void *data, size_t n, void *arg)
{
	(void)n;
	(void)arg;
	free((void *)data);
}

/* Takes the payload over. The head and the payload's beginning leave in one write: there are clients that read past a
 * SIZE whose bytes come apart. */
static void send_frame(struct client *c, enum stp_type type, const Transport__TransportMessage *m,
		       struct bytes *payload)
{
	struct evbuffer *out = bufferevent_get_output(c->bev);
	struct bytes frame = { .max = SMALL * 2 };
	int rc;

	stp1_write(&frame, type, m, payload->n);
	if (payload->n <= SMALL)
		bytes_add(&frame, payload->p, payload->n);
	rc = frame.failed ? -1 : evbuffer_add(out, frame.p, frame.n);
	if (!rc && payload->n > SMALL) {
		rc = evbuffer_add_reference(out, payload->p, payload->n, free_payload, NULL);
		if (!rc)
			payload->p = NULL;
	}
	bytes_free(&frame);
	bytes_free(payload);
	if (rc)	/* half a frame may be out: the stream is of no use any more */
		client_kill(c);
}

void client_reply(struct client *c, const struct request *r, const ProtobufCMessage *m)
{
	struct bytes payload = { .max = c->host->limits.max_reply };

	if (c->closing)
		return;
	codec_encode(r->format, m, NULL, &payload);
	client_send(c, r, &payload);
}

void client_send(struct client *c, const struct request *r, struct bytes *payload)
{
	Transport__TransportMessage head = TRANSPORT__TRANSPORT_MESSAGE__INIT;

	if (c->closing)
		return;
	if (payload->failed || payload->n + unsent_of_all(c->host) > c->host->limits.max_unsent) {
		bytes_free(payload);
		client_fail(c, r, STATUS_OUT_OF_MEMORY, "The answer is too large: ask for less of it, with maxDepth, "
			    "eventTypeList or interval");
		return;
	}
	head.service = (char *)r->service->name;
	head.commandid = r->command->id;
	head.format = r->format;
	head.has_tag = 1;
	head.tag = r->tag;
	send_frame(c, STP_RESPONSE, &head, payload);
}

void client_reply_default(struct client *c, const struct request *r)
{
	ProtobufCMessage *m = malloc(r->command->result->sizeof_message);

	if (!m) {
		client_kill(c);
		return;
	}
	protobuf_c_message_init(r->command->result, m);
	client_reply(c, r, m);
	free(m);
}

/* The one message that goes out in XML: a client that speaks it learns that we don't. */
static void encode_xml_error(const char *text, struct bytes *b)
{
	bytes_text(b, "<ErrorInfo><description>");
	for (; *text; text++) {
		switch (*text) {
		case '<':	bytes_text(b, "&lt;"); break;
		case '>':	bytes_text(b, "&gt;"); break;
		case '&':	bytes_text(b, "&amp;"); break;
		default:	bytes_add(b, text, 1); break;
		}
	}
	bytes_text(b, "</description></ErrorInfo>");
}

void client_fail_raw(struct client *c, const Transport__TransportMessage *command, enum stp_status status,
		     const char *text)
{
	Transport__TransportMessage head = TRANSPORT__TRANSPORT_MESSAGE__INIT;
	Transport__ErrorInfo info = TRANSPORT__ERROR_INFO__INIT;
	struct bytes payload = { .max = SMALL };

	if (c->closing)
		return;
	info.description = (char *)text;
	head.service = command->service;
	head.commandid = command->commandid;
	head.format = command->format;
	head.has_status = 1;
	head.status = status;
	head.has_tag = 1;
	head.tag = command->tag;
	if (command->format == FORMAT_XML)
		encode_xml_error(text, &payload);
	else
		codec_encode(command->format, &info.base, NULL, &payload);
	send_frame(c, STP_ERROR, &head, &payload);
}

void client_fail(struct client *c, const struct request *r, enum stp_status status, const char *fmt, ...)
{
	Transport__TransportMessage command = TRANSPORT__TRANSPORT_MESSAGE__INIT;
	char text[512], clean[sizeof(text)];
	va_list ap;
	size_t n;

	va_start(ap, fmt);
	n = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	n = text_printable(text, n < sizeof(text) ? n : sizeof(text) - 1, clean, sizeof(clean) - 1);
	clean[n] = '\0';
	command.service = (char *)r->service->name;
	command.commandid = r->command->id;
	command.format = r->format;
	command.tag = r->tag;
	client_fail_raw(c, &command, status, clean);
}

void client_fail_error(struct client *c, const struct request *r, const struct error *err)
{
	enum stp_status status = err->kind == ERR_USAGE ? STATUS_BAD_REQUEST :
		err->code == -ENOMEM ? STATUS_OUT_OF_MEMORY : STATUS_INTERNAL_ERROR;

	client_fail(c, r, status, "%s", err->text);
}

void client_event(struct client *c, const struct service *s, uint32_t id, const ProtobufCMessage *m)
{
	Transport__TransportMessage head = TRANSPORT__TRANSPORT_MESSAGE__INIT;
	struct bytes payload = { .max = c->host->limits.max_reply };

	if (!c->connected || c->closing)
		return;
	codec_encode(c->event_format, m, NULL, &payload);
	if (payload.failed) {
		bytes_free(&payload);
		return;
	}
	head.service = (char *)s->name;
	head.commandid = id;
	head.format = c->event_format;
	send_frame(c, STP_EVENT, &head, &payload);
}
