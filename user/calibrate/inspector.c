// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Speaks the remote inspector's protocol: messages of a length, a name and serialized parameters (GVariant), among which
 * the inspector's own messages travel as JSON, to the page in another layer of JSON. */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <jansson.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/clock.h"
#include "calibrate/inspector.h"

#define MAX_MESSAGE (16u << 20)	/* bytes; a longer one ends the conversation */
#define CONNECT_TRIES 200	/* 50 ms apart */
#define STOP_MS 5000
#define LITTLE_ENDIAN_FLAG 1
#define HEADER 5	/* bytes before a message: its length, big endian, and flags */

struct talk {
	int server, parent;
	FILE *out;
	uint64_t connection, target;	/* of the page, as the server numbers them */
	char page[64];			/* and as the inspector names it */
	int next_id;
	char *buf;
	size_t nr, cap;
	bool set_up, stopping, whole;
};

uint16_t inspector_port(void)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	socklen_t size = sizeof(at);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool ok = fd >= 0 && !bind(fd, (struct sockaddr *)&at, size) && !getsockname(fd, (struct sockaddr *)&at, &size);

	if (fd >= 0)
		close(fd);
	return ok ? ntohs(at.sin_port) : 0;
}

/* --- what goes out --- */

static bool write_all(int fd, const void *bytes, size_t n)
{
	for (size_t done = 0; done < n;) {
		ssize_t part = send(fd, (const char *)bytes + done, n - done, MSG_NOSIGNAL);

		if (part < 0 && errno != EINTR)
			return false;
		done += part > 0 ? part : 0;
	}
	return true;
}

static bool send_message(struct talk *t, const char *name, const void *params, size_t n)
{
	size_t name_size = strlen(name) + 1;
	uint32_t size = htonl(name_size + n);
	const uint8_t flags = LITTLE_ENDIAN_FLAG;

	return write_all(t->server, &size, sizeof(size)) && write_all(t->server, &flags, 1) &&
	       write_all(t->server, name, name_size) && write_all(t->server, params, n);
}

/* (tts): two numbers of 64 bits and a text. */
static bool send_to_inspector(struct talk *t, json_t *message)
{
	char *text, *params;
	size_t n;
	bool ok;

	json_object_set_new(message, "id", json_integer(++t->next_id));
	text = json_dumps(message, JSON_COMPACT);
	json_decref(message);
	n = text ? strlen(text) + 1 : 0;
	params = malloc(16 + n);
	if (!text || !params) {
		free(text);
		free(params);
		return false;
	}
	memcpy(params, &t->connection, 8);
	memcpy(params + 8, &t->target, 8);
	memcpy(params + 16, text, n);
	ok = send_message(t, "SendMessageToBackend", params, 16 + n);
	free(text);
	free(params);
	return ok;
}

static bool send_to_page(struct talk *t, const char *method, json_t *params)
{
	json_t *inner = json_pack("{s:i, s:s, s:o}", "id", ++t->next_id, "method", method, "params", params ?: json_object());
	char *text = inner ? json_dumps(inner, JSON_COMPACT) : NULL;
	json_t *outer = text ? json_pack("{s:s, s:{s:s, s:s}}", "method", "Target.sendMessageToTarget", "params", "targetId", t->page,
					 "message", text) : NULL;

	json_decref(inner);
	free(text);
	return outer && send_to_inspector(t, outer);
}

/* --- what comes in --- */

static bool on_timeline(struct talk *t, const char *method, json_t *params, uint64_t now)
{
	if (!strcmp(method, "Timeline.eventRecorded")) {
		json_t *line = json_pack("{s:I, s:O}", "received", (json_int_t)now, "record", json_object_get(params, "record"));

		if (line)
			json_dumpf(line, t->out, JSON_COMPACT);
		json_decref(line);
		return fputc('\n', t->out) != EOF;
	}
	if (!strcmp(method, "Timeline.recordingStarted"))
		return write(t->parent, "r", 1) == 1;
	if (!strcmp(method, "Timeline.recordingStopped") && t->stopping) {
		fprintf(t->out, "{\"whole\": true}\n");
		t->whole = true;
	}
	return true;
}

static bool start_timeline(struct talk *t, json_t *params)
{
	json_t *info = json_object_get(params, "targetInfo");
	const char *type = json_string_value(json_object_get(info, "type")), *id = json_string_value(json_object_get(info, "targetId"));

	if (t->page[0] || !type || strcmp(type, "page") || !id)
		return true;
	snprintf(t->page, sizeof(t->page), "%s", id);
	return send_to_page(t, "Inspector.enable", NULL) && send_to_page(t, "Page.enable", NULL) &&
	       send_to_page(t, "Timeline.enable", NULL) &&
	       send_to_page(t, "Timeline.setInstruments", json_pack("{s:[s]}", "instruments", "Timeline")) &&
	       send_to_page(t, "Timeline.start", NULL);
}

static bool on_inspector(struct talk *t, const char *text, size_t n, uint64_t now)
{
	json_t *m = json_loadb(text, n, 0, NULL), *params = json_object_get(m, "params"), *inner;
	const char *method = json_string_value(json_object_get(m, "method"));
	const char *wrapped = json_string_value(json_object_get(params, "message"));
	bool ok = true;

	if (method && !strcmp(method, "Target.targetCreated")) {
		ok = start_timeline(t, params);
	} else if (method && !strcmp(method, "Target.dispatchMessageFromTarget") && wrapped) {
		inner = json_loads(wrapped, 0, NULL);
		method = json_string_value(json_object_get(inner, "method"));
		if (method)
			ok = on_timeline(t, method, json_object_get(inner, "params"), now);
		json_decref(inner);
	}
	json_decref(m);
	return ok;
}

/* (ta(tsssb)): the connection and its targets, each beginning with its number and type. */
static bool on_targets(struct talk *t, const uint8_t *params, size_t n)
{
	static const char wanted[] = "WebPage";

	if (t->set_up || n < 16 + sizeof(wanted) || memcmp(params + 16, wanted, sizeof(wanted)))
		return true;
	memcpy(&t->connection, params, 8);
	memcpy(&t->target, params + 8, 8);
	t->set_up = true;
	return send_message(t, "Setup", params, 16);
}

static bool on_message(struct talk *t, const char *m, size_t n)
{
	const char *end = memchr(m, '\0', n);
	size_t left = end ? n - (end + 1 - m) : 0;

	if (!end)
		return false;
	if (!strcmp(m, "SetTargetList"))
		return on_targets(t, (const uint8_t *)end + 1, left);
	if (!strcmp(m, "SendMessageToFrontend") && left > 17)
		return on_inspector(t, end + 17, left - 17, clock_ns(CLOCK_MONOTONIC));
	return true;
}

/* All whole messages. False: it can't go on. */
static bool receive(struct talk *t)
{
	uint32_t size;
	ssize_t n;

	if (t->cap - t->nr < 65536) {
		char *bigger = t->cap < MAX_MESSAGE ? realloc(t->buf, t->cap * 2 + 131072) : NULL;

		if (!bigger)
			return false;
		t->buf = bigger;
		t->cap = t->cap * 2 + 131072;
	}
	n = read(t->server, t->buf + t->nr, t->cap - t->nr);
	if (n <= 0)
		return n < 0 && errno == EINTR;
	for (t->nr += n; t->nr >= HEADER; memmove(t->buf, t->buf + HEADER + size, t->nr)) {
		memcpy(&size, t->buf, sizeof(size));
		size = ntohl(size);
		if (size > MAX_MESSAGE)
			return false;
		if (t->nr < HEADER + size)
			break;
		if (!on_message(t, t->buf + HEADER, size))
			return false;
		t->nr -= HEADER + size;
	}
	return true;
}

static int connect_to(uint16_t port)
{
	const struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons(port),
					.sin_addr = { htonl(INADDR_LOOPBACK) } };

	for (int i = 0; i < CONNECT_TRIES; i++) {
		int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

		if (fd < 0 || !connect(fd, (const struct sockaddr *)&at, sizeof(at)))
			return fd;
		close(fd);
		usleep(50000);
	}
	return -1;
}

/* Never returns. */
static void run(uint16_t port, const char *path, int parent)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	struct talk t = { .server = connect_to(port), .parent = parent, .out = fd < 0 ? NULL : fdopen(fd, "we") };
	struct pollfd fds[2] = { { .fd = t.server, .events = POLLIN }, { .fd = parent, .events = POLLIN } };

	if (t.server < 0 || !t.out || !send_message(&t, "SetupInspectorClient", "", 1))
		_exit(1);
	while (!t.whole && poll(fds, 2, t.stopping ? STOP_MS : -1) > 0) {
		if (fds[0].revents && !receive(&t))
			break;
		if (!fds[1].revents)
			continue;
		/* all that is said to us is that it is enough */
		fds[1].fd = -1;
		t.stopping = true;
		if (!send_to_page(&t, "Timeline.stop", NULL))
			break;
	}
	_exit(fclose(t.out) || !t.whole);
}

int inspector_start(uint16_t port, uid_t uid, gid_t gid, const char *path, struct inspector *ret, struct error *err)
{
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds))
		return error_set(err, ERR_OTHER, -errno, "can't make a pair of sockets: %s", strerror(errno));
	ret->fd = fds[0];
	ret->pid = fork();
	if (!ret->pid) {
		signal(SIGINT, SIG_IGN);
		signal(SIGTERM, SIG_DFL);
		close(fds[0]);
		if (!geteuid() && (setgroups(0, NULL) || setgid(gid) || setuid(uid)))
			_exit(1);
		/* after changing the user, which clears it */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		run(port, path, fds[1]);
	}
	close(fds[1]);
	if (ret->pid > 0)
		return 0;
	close(fds[0]);
	return error_set(err, ERR_OTHER, -EAGAIN, "can't start another process");
}

bool inspector_runs(struct inspector *i, bool *ret_gone)
{
	char c;
	ssize_t n = recv(i->fd, &c, 1, MSG_DONTWAIT);

	*ret_gone = !n || (n < 0 && errno != EAGAIN && errno != EINTR);
	return n == 1;
}

bool inspector_stop(struct inspector *i)
{
	int status = 1;

	if (i->pid <= 0)
		return false;
	shutdown(i->fd, SHUT_WR);
	waitpid(i->pid, &status, 0);
	close(i->fd);
	i->pid = 0;
	return !status;
}
