// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* From a frame to the command that it names. */
#include <stdio.h>
#include "scope/client.h"

static void run_command(struct client *c, const struct request *r, const ProtobufCBinaryData *payload)
{
	struct error err = { 0 };
	ProtobufCMessage *arg;

	if (codec_decode(r->format, r->command->arg, payload->data, payload->len, &arg, &err)) {
		client_fail_error(c, r, &err);
		return;
	}
	r->command->run(c, r, arg);
	protobuf_c_message_free_unpacked(arg, NULL);
}

void client_dispatch(struct client *c, uint64_t type, const Transport__TransportMessage *m)
{
	struct request r = { .tag = m->tag, .format = m->format };
	int index = service_index(m->service);

	if (type != STP_COMMAND)
		return;
	c->last_used_ms = client_now_ms();
	if (index < 0 || !(c->host->offered & 1u << index)) {
		client_fail_raw(c, m, STATUS_SERVICE_NOT_FOUND, "There is no such service; scope.HostInfo lists them");
		return;
	}
	r.service = service_at(index);
	if (index != SERVICE_SCOPE && !(c->enabled & 1u << index)) {
		client_fail_raw(c, m, STATUS_SERVICE_NOT_ENABLED, "The service is not enabled; scope.Enable does that");
		return;
	}
	r.command = service_command(r.service, m->commandid);
	if (!r.command) {
		client_fail_raw(c, m, STATUS_COMMAND_NOT_FOUND, "The service has no such command; scope.Info lists them");
		return;
	}
	if (m->format != FORMAT_PROTOBUF && m->format != FORMAT_JSON) {
		client_fail_raw(c, m, STATUS_BAD_REQUEST, "Payloads can be protobuf (format 0) or JSON (format 1) only");
		return;
	}
	run_command(c, &r, &m->payload);
}

void client_enable(struct client *c, int service)
{
	c->enabled |= 1u << service;
	if (service_at(service)->enabled)
		service_at(service)->enabled(c);
}

void client_disable(struct client *c, int service)
{
	if (!(c->enabled & 1u << service))
		return;
	c->enabled &= ~(1u << service);
	if (service_at(service)->disabled)
		service_at(service)->disabled(c);
}
