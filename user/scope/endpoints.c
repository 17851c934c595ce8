// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Where clients come from: a unix socket for root and the user who called sudo, a TCP port, and a client that the
 * host dials (what Opera's own hosts did). Addresses beyond loopback only when that is asked for.
 */
#include <errno.h>
#include <event2/listener.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include "base/owner.h"
#include "scope/client.h"

#define REDIAL_SECONDS 2
#define REFUSED_SECONDS 1	/* pause after accept() failed: for want of descriptors, say */

struct endpoints {
	struct scope_host *host;
	struct evconnlistener *unix_listener, *tcp_listener;
	struct event *accept_again;
	char *unix_path;	/* to be removed */
	uint16_t port;
	struct sockaddr_storage dial_addr;
	socklen_t dial_len;	/* 0: nobody to be dialled */
	int dial_fd;		/* while connecting, else -1 */
	struct event *dial_event, *redial;
	bool dial_failed;	/* said so once */
};

/* May that user use the socket? */
static bool is_welcome(uid_t uid)
{
	uid_t sudo_uid;
	gid_t sudo_gid;

	return uid == 0 || uid == geteuid() || (owner_sudo(&sudo_uid, &sudo_gid) && uid == sudo_uid);
}

static void on_unix_accept(struct evconnlistener *l, evutil_socket_t fd, struct sockaddr *addr, int len, void *arg)
{
	struct endpoints *e = arg;
	struct ucred peer;
	socklen_t n = sizeof(peer);

	(void)l;
	(void)addr;
	(void)len;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &n) || !is_welcome(peer.uid)) {
		host_log(e->host, "a client was turned away: only root and the user who called sudo may connect");
		close(fd);
		return;
	}
	host_accept(e->host, fd, false);
}

/* Peers that vanish without a word are noticed, and answers aren't held back. */
static void set_tcp_options(int fd)
{
	int on = 1;

	setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

static void on_tcp_accept(struct evconnlistener *l, evutil_socket_t fd, struct sockaddr *addr, int len, void *arg)
{
	struct endpoints *e = arg;

	(void)l;
	(void)addr;
	(void)len;
	set_tcp_options(fd);
	host_accept(e->host, fd, false);
}

static void on_accept_error(struct evconnlistener *l, void *arg)
{
	struct endpoints *e = arg;

	host_log(e->host, "can't accept a client: %s", strerror(errno));
	evconnlistener_disable(l);
	event_add(e->accept_again, &(struct timeval){ REFUSED_SECONDS, 0 });
}

static void on_accept_again(evutil_socket_t fd, short what, void *arg)
{
	struct endpoints *e = arg;

	(void)fd;
	(void)what;
	if (e->unix_listener)
		evconnlistener_enable(e->unix_listener);
	if (e->tcp_listener)
		evconnlistener_enable(e->tcp_listener);
}

static int start_listening(struct endpoints *e, int fd, evconnlistener_cb cb, struct evconnlistener **ret)
{
	errno = 0;
	*ret = evconnlistener_new(e->host->base, cb, e, LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC, 16, fd);
	if (!*ret) {
		int rc = errno ? -errno : -ENOMEM;	/* listen()'s, or libevent had no memory */

		close(fd);
		return rc;
	}
	evconnlistener_set_error_cb(*ret, on_accept_error);
	return 0;
}

/* A socket that a server left behind when it was killed. One that somebody listens on is not touched. */
static int remove_stale(const struct sockaddr_un *sa, struct error *err)
{
	struct stat st;
	int fd, rc;

	if (lstat(sa->sun_path, &st))
		return 0;
	if (!S_ISSOCK(st.st_mode))
		return error_set(err, ERR_OUTPUT, -EEXIST, "%s exists and is no socket: give another path with --socket",
				 sa->sun_path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return error_set(err, ERR_OTHER, -errno, "Can't make a socket: %s", strerror(errno));
	rc = connect(fd, (const struct sockaddr *)sa, sizeof(*sa)) ? errno : 0;
	close(fd);
	if (rc != ECONNREFUSED)
		return error_set(err, ERR_OUTPUT, -EADDRINUSE, "Another program listens on %s: end it, or give another path "
				 "with --socket", sa->sun_path);
	unlink(sa->sun_path);
	return 0;
}

static int listen_unix(struct endpoints *e, const char *path, struct error *err)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	uid_t uid;
	gid_t gid;
	int fd, rc;

	if (strlen(path) >= sizeof(sa.sun_path))
		return error_set(err, ERR_USAGE, -ENAMETOOLONG, "The path %s is too long for a socket (%zu bytes at most)", path,
				 sizeof(sa.sun_path) - 1);
	strcpy(sa.sun_path, path);
	rc = remove_stale(&sa, err);
	if (rc)
		return rc;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	/* the mode of the descriptor becomes that of the file: there is no moment at which others could connect */
	if (fd < 0 || fchmod(fd, 0600) || bind(fd, (struct sockaddr *)&sa, sizeof(sa))) {
		rc = error_set(err, ERR_OUTPUT, -errno, "Can't make the socket %s: %s", path, strerror(errno));
		if (fd >= 0)
			close(fd);
		return rc;
	}
	e->unix_path = strdup(path);
	if (owner_sudo(&uid, &gid) && lchown(path, uid, gid))
		host_log(e->host, "%s can't be given to the user who called sudo: %s", path, strerror(errno));
	rc = start_listening(e, fd, on_unix_accept, &e->unix_listener);
	return rc ? error_set(err, ERR_OTHER, rc, "No memory to listen on %s", path) : 0;
}

static bool is_loopback(const struct sockaddr *sa)
{
	const struct sockaddr_in6 *in6 = (const void *)sa;

	if (sa->sa_family == AF_INET)
		return ntohl(((const struct sockaddr_in *)(const void *)sa)->sin_addr.s_addr) >> 24 == 127;
	return sa->sa_family == AF_INET6 && (IN6_IS_ADDR_LOOPBACK(&in6->sin6_addr) ||
		(IN6_IS_ADDR_V4MAPPED(&in6->sin6_addr) && in6->sin6_addr.s6_addr[12] == 127));
}

/* "HOST:PORT", "[::1]:PORT". */
static int resolve(const char *text, bool insecure, struct sockaddr_storage *ret, socklen_t *ret_len, struct error *err)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *found;
	const char *colon = strrchr(text, ':');
	unsigned long port;
	char host[256], *end;
	size_t n;
	int rc;

	if (!colon || colon == text || !colon[1] || (size_t)(colon - text) >= sizeof(host))
		return error_set(err, ERR_USAGE, -EINVAL, "'%s' is no address: HOST:PORT is expected, as in 127.0.0.1:7001", text);
	port = strtoul(colon + 1, &end, 10);
	if (*end || colon[1] < '0' || colon[1] > '9' || port > 65535)	/* 0: any that is free */
		return error_set(err, ERR_USAGE, -EINVAL, "'%s' is no address: a port from 1 to 65535 is expected behind the colon", text);
	n = colon - text;
	if (text[0] == '[' && text[n - 1] == ']' && n > 2)
		snprintf(host, sizeof(host), "%.*s", (int)n - 2, text + 1);
	else
		snprintf(host, sizeof(host), "%.*s", (int)n, text);
	rc = getaddrinfo(host, colon + 1, &hints, &found);
	if (rc)
		return error_set(err, ERR_USAGE, -EINVAL, "the address %s is not known: %s; HOST:PORT is expected, as in 127.0.0.1:7001", text, gai_strerror(rc));
	if (!insecure && !is_loopback(found->ai_addr)) {
		freeaddrinfo(found);
		return error_set(err, ERR_USAGE, -EPERM, "%s is not a loopback address, and Scope has neither passwords nor "
				 "encryption: add --insecure-bind if everybody in that network may profile", text);
	}
	memcpy(ret, found->ai_addr, found->ai_addrlen);
	*ret_len = found->ai_addrlen;
	freeaddrinfo(found);
	return 0;
}

static int cant_listen(const char *text, int rc, struct error *err)
{
	switch (rc) {
	case -EADDRINUSE:
		return error_set(err, ERR_OUTPUT, rc, "another program listens on %s already: end it, or give another port with "
				 "--listen; port 0 is any that is free", text);
	case -EADDRNOTAVAIL:
		return error_set(err, ERR_USAGE, rc, "%s is no address of this machine: give one with --listen that ip addr lists, "
				 "or 127.0.0.1", text);
	case -EACCES:
		return error_set(err, ERR_PERMISSION, rc, "ports below 1024, as in %s, are for root: give another one with --listen",
				 text);
	default:
		return error_set(err, ERR_OTHER, rc, "can't listen on %s: %s; give another address with --listen", text,
				 strerror(-rc));
	}
}

static int listen_tcp(struct endpoints *e, const char *text, bool insecure, struct error *err)
{
	struct sockaddr_storage sa;
	socklen_t len;
	int fd, rc, on = 1;

	rc = resolve(text, insecure, &sa, &len, err);
	if (rc)
		return rc;
	fd = socket(sa.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd >= 0)
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (fd < 0 || bind(fd, (struct sockaddr *)&sa, len) || getsockname(fd, (struct sockaddr *)&sa, &len)) {
		rc = cant_listen(text, -errno, err);
		if (fd >= 0)
			close(fd);
		return rc;
	}
	/* the port stands at the same place in both families */
	e->port = ntohs(((struct sockaddr_in *)(void *)&sa)->sin_port);
	rc = start_listening(e, fd, on_tcp_accept, &e->tcp_listener);
	return rc ? cant_listen(text, rc, err) : 0;
}

static void dial_done(struct endpoints *e, int rc)
{
	int fd = e->dial_fd;

	e->dial_fd = -1;
	if (e->dial_event)
		event_free(e->dial_event);
	e->dial_event = NULL;
	if (!rc) {
		e->dial_failed = false;
		set_tcp_options(fd);
		host_accept(e->host, fd, true);
		return;
	}
	if (fd >= 0)
		close(fd);
	if (!e->dial_failed)
		host_log(e->host, "can't reach the client yet, trying again every %d seconds: %s", REDIAL_SECONDS, strerror(rc));
	e->dial_failed = true;
	endpoints_redial(e);
}

static void on_dialled(evutil_socket_t fd, short what, void *arg)
{
	struct endpoints *e = arg;
	socklen_t n = sizeof(int);
	int rc = 0;

	(void)what;
	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &rc, &n))
		rc = errno;
	dial_done(e, rc);
}

static void dial(evutil_socket_t unused, short what, void *arg)
{
	struct endpoints *e = arg;

	(void)unused;
	(void)what;
	e->dial_fd = socket(e->dial_addr.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (e->dial_fd < 0) {
		dial_done(e, errno);
	} else if (!connect(e->dial_fd, (struct sockaddr *)&e->dial_addr, e->dial_len)) {
		dial_done(e, 0);
	} else if (errno != EINPROGRESS) {
		dial_done(e, errno);
	} else {
		e->dial_event = event_new(e->host->base, e->dial_fd, EV_WRITE, on_dialled, e);
		if (!e->dial_event || event_add(e->dial_event, NULL))
			dial_done(e, ENOMEM);
	}
}

void endpoints_redial(struct endpoints *e)
{
	if (e->dial_len)
		event_add(e->redial, &(struct timeval){ REDIAL_SECONDS, 0 });
}

uint16_t endpoints_port(const struct endpoints *e)
{
	return e->port;
}

int endpoints_new(struct scope_host *h, const struct scope_host_options *opt, struct endpoints **ret, struct error *err)
{
	struct endpoints *e = calloc(1, sizeof(*e));
	int rc = 0;

	if (!e)
		return error_set(err, ERR_OTHER, -ENOMEM, "No memory for the Scope host");
	e->host = h;
	e->dial_fd = -1;
	e->accept_again = evtimer_new(h->base, on_accept_again, e);
	e->redial = evtimer_new(h->base, dial, e);
	if (!e->accept_again || !e->redial)
		rc = error_set(err, ERR_OTHER, -ENOMEM, "No memory for the Scope host");
	if (!rc && opt->dial)
		rc = resolve(opt->dial, opt->insecure_bind, &e->dial_addr, &e->dial_len, err);
	if (!rc && opt->listen)
		rc = listen_tcp(e, opt->listen, opt->insecure_bind, err);
	if (!rc && opt->unix_path)
		rc = listen_unix(e, opt->unix_path, err);
	if (rc) {
		endpoints_free(e);
		return rc;
	}
	if (e->dial_len)
		event_add(e->redial, &(struct timeval){ 0, 0 });
	*ret = e;
	return 0;
}

void endpoints_free(struct endpoints *e)
{
	if (!e)
		return;
	if (e->unix_listener)
		evconnlistener_free(e->unix_listener);
	if (e->tcp_listener)
		evconnlistener_free(e->tcp_listener);
	if (e->accept_again)
		event_free(e->accept_again);
	if (e->dial_event)
		event_free(e->dial_event);
	if (e->redial)
		event_free(e->redial);
	if (e->dial_fd >= 0)
		close(e->dial_fd);
	if (e->unix_path)
		unlink(e->unix_path);
	free(e->unix_path);
	free(e);
}
