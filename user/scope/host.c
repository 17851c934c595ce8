// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The host: its clients, and what concerns all of them. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "scope/client.h"
#include "scope/jobs.h"

#define DEFAULT_MAX_CLIENTS 16

static const struct scope_limits default_limits = {
	.handshake_ms = 10000, .connect_ms = 600000, .idle_ms = 600000, .frame_ms = 30000, .write_ms = 30000,
	.high_water = 1 << 20, .max_reply = 256 << 20, .max_unsent = 512 << 20,
	.inline_events = 16384,
};

void host_log(struct scope_host *h, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	if (!h->log)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	h->log(h->log_arg, text);
}

static void set_limits(struct scope_limits *l, const struct scope_limits *wanted)
{
	*l = default_limits;
#define TAKE(field) if (wanted->field) l->field = wanted->field
	TAKE(handshake_ms);
	TAKE(connect_ms);
	TAKE(idle_ms);
	TAKE(frame_ms);
	TAKE(write_ms);
	TAKE(high_water);
	TAKE(max_reply);
	TAKE(max_unsent);
	TAKE(inline_events);
#undef TAKE
}

/* Names of services, and of the protocol and core versions in the way clients look for them. */
static char *make_greeting(uint32_t offered)
{
	struct bytes b = { .max = 4096 };

	bytes_text(&b, "*services ");
	for (int i = 0; i < NR_SERVICES; i++) {
		if (!(offered & 1u << i))
			continue;
		bytes_text(&b, service_at(i)->name);
		bytes_text(&b, ",");
	}
	bytes_text(&b, "stp-1,core-2-12-388");
	bytes_add(&b, "", 1);
	if (b.failed)
		bytes_free(&b);
	return (char *)b.p;
}

static bool is_recording(const struct client *c)
{
	for (size_t i = 0; i < c->nr_sessions; i++)
		if (c->sessions[i].state != SESSION_STOPPED)
			return true;
	return false;
}

/* How soon a client gives way to a new one; 0: never. One that has not said yet what it wants has nothing to lose, so
 * that nobody keeps others out by merely connecting; others only once they have been silent for long. */
static int gives_way(const struct scope_host *h, const struct client *c, uint64_t now)
{
	uint64_t silent = now - c->last_used_ms;

	if (c->state == CLIENT_HANDSHAKE)
		return 3;
	if (!c->connected && silent >= h->limits.handshake_ms)
		return 2;
	return silent >= h->limits.idle_ms && !is_recording(c);
}

/* Of those that give way soonest, the one that has been silent the longest; NULL: none does. */
static struct client *find_idle(struct scope_host *h)
{
	struct client *c, *idle = NULL;
	uint64_t now = client_now_ms();
	int best = 0;

	TAILQ_FOREACH(c, &h->clients, entry) {
		int rank = gives_way(h, c, now);

		if (rank > best || (rank && rank == best && c->last_used_ms < idle->last_used_ms)) {
			best = rank;
			idle = c;
		}
	}
	return idle;
}

static int add_client(struct scope_host *h, int fd, bool dialled)
{
	struct client *c;

	if (h->nr_clients >= h->max_clients) {
		struct client *idle = find_idle(h);

		if (!idle) {
			close(fd);
			return -EUSERS;
		}
		host_log(h, "an idle client was closed to make room for a new one");
		client_free(idle);
	}
	return client_new(h, fd, dialled, &c);
}

void host_accept(struct scope_host *h, int fd, bool dialled)
{
	int rc = add_client(h, fd, dialled);

	if (rc == -EUSERS)
		host_log(h, "a client was turned away: there are %u already", h->max_clients);
	else if (rc)
		host_log(h, "a client was turned away: %s", strerror(-rc));
}

void host_client_gone(struct scope_host *h, bool dialled)
{
	if (dialled && h->endpoints)
		endpoints_redial(h->endpoints);
}

int scope_host_add_client(struct scope_host *h, int fd, struct error *err)
{
	int rc = add_client(h, fd, false);

	return rc ? error_set(err, ERR_OTHER, rc, "Can't serve another client: %s", strerror(-rc)) : 0;
}

int scope_host_new(struct event_base *base, const struct scope_host_options *opt, const struct scope_backend *backend,
		   struct scope_host **ret, struct error *err)
{
	struct scope_host *h = calloc(1, sizeof(*h));
	int rc;

	if (!h)
		return error_set(err, ERR_OTHER, -ENOMEM, "No memory for the Scope host");
	TAILQ_INIT(&h->clients);
	h->base = base;
	h->backend = *backend;
	h->max_clients = opt->max_clients ? opt->max_clients : DEFAULT_MAX_CLIENTS;
	h->log = opt->log;
	h->log_arg = opt->log_arg;
	set_limits(&h->limits, &opt->limits);
	for (int i = 0; i < NR_SERVICES; i++)
		if (!service_at(i)->stub || !opt->no_stubs)
			h->offered |= 1u << i;
	h->agent = strdup(opt->agent ? opt->agent : "framescope");
	h->greeting = make_greeting(h->offered);
	rc = h->agent && h->greeting && !jobs_new(h, &h->jobs) ? endpoints_new(h, opt, &h->endpoints, err) :
		error_set(err, ERR_OTHER, -ENOMEM, "No memory for the Scope host");
	if (rc) {
		scope_host_free(h);
		return rc;
	}
	*ret = h;
	return 0;
}

size_t scope_host_clients(const struct scope_host *h)
{
	return h->nr_clients;
}

uint16_t scope_host_port(const struct scope_host *h)
{
	return endpoints_port(h->endpoints);
}

void scope_host_windows_changed(struct scope_host *h)
{
	struct client *c;

	TAILQ_FOREACH(c, &h->clients, entry)
		if (!c->closing)
			windows_sync(c);
}

void scope_host_free(struct scope_host *h)
{
	struct client *c;

	if (!h)
		return;
	endpoints_free(h->endpoints);
	h->endpoints = NULL;
	while ((c = TAILQ_FIRST(&h->clients))) {
		scope_quit(c);
		client_free(c);
	}
	jobs_free(h->jobs);
	free(h->agent);
	free(h->greeting);
	free(h);
}
