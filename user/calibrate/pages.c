// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Serves calibration's pages: small documents that parse, style, run scripts, lay out and paint a few times each. */
#include <errno.h>
#include <event2/buffer.h>
#include <event2/event.h>
#include <event2/http.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <netinet/in.h>
#include <sys/wait.h>
#include <unistd.h>
#include <grp.h>
#include "calibrate/pages.h"

const struct page calibrate_pages[] = {
	{ "alder", 2011, 1613, { NULL }, false }, { "birch", 2027, 1621, { NULL }, true }, { "cedar", 2039, 1637, { NULL }, false },
	{ "grove", 2053, 1657, { "elm", "fir", NULL }, true }, { "elm", 2063, 1663, { NULL }, true },
	{ "fir", 2081, 1693, { NULL }, true }, { NULL, 0, 0, { NULL }, false },
};

const char *const calibrate_page_files[] = {
	".html", "-one.css", "-two.css", "-one.js", "-two.js", "-three.mjs", "-late.css", "-late.js", "-event", NULL,
};

const char *const calibrate_page_events[] = { "load", "pageshow", "pagehide", NULL };

static const char script[] =
	"let n = 0, late = 2;\n"
	"function tick() {\n"
	"	const p = document.querySelector('p');\n"
	"	p.innerHTML = '<b>' + n + '</b>';\n"
	"	p.style.width = 50 + n + 'px';\n"
	"	document.body.dataset.width = p.offsetWidth;\n"
	"	p.dispatchEvent(new Event('tick'));\n"
	"	shadow.querySelector('b').textContent = shadow.querySelectorAll('b').length;\n"
	"	p.classList.toggle('odd', p.matches('p') && shadow.firstChild.matches('b') && p.closest('.' + document.body.className) &&\n"
	"		shadow.firstChild.closest('b'));\n"
	"	layer.textContent = n;\n"
	"	document.body.querySelector('b').textContent = document.body.querySelectorAll('b').length;\n"
	/* the same again in other ways, so that what is right only by the way of a call isn't taken for right */
	"	window.evaluated = eval(n + ' + ' + n) + new Function('return ' + n)();\n"
	"	document.head.appendChild(document.createElement('style')).textContent = 'b { margin: ' + n + 'px }';\n"
	"	if (!n) for (const [tag, key, value] of [['script', 'src', 'late.js'], ['link', 'href', 'late.css']]) {\n"
	"		const element = document.createElement(tag);\n"
	"		element.rel = 'stylesheet';\n"
	"		element.onload = () => late--;\n"
	"		element[key] = '/' + document.body.className + '-' + value;\n"
	"		(key === 'src' ? shadow : document.head).appendChild(element);\n"
	"	}\n"
	"	requestAnimationFrame(() => window.framed = n);\n"
	/* nothing waits for a busy machine to paint: the page has to */
	"	window.done = ++n > 4 && !late && window.framed >= 4;\n"
	"	if (!window.done || [...Array(frames.length).keys()].some(i => !frames[i].done)) setTimeout(tick, 25);\n"
	"	else finish();\n"
	"}\n"
	"const asked = document.body.className !== '" PAGE_START "';\n"
	/* a timer that was made elsewhere, among other objects */
	"const beat = asked && setInterval(() => window.beat = n, 20);\n"
	"function finish() {\n"
	"	clearInterval(beat);\n"
	"	document.title = '" PAGE_READY "' + document.body.className;\n"
	"	if (asking && window === top)\n"
	"		fetch('/next?' + document.body.className).then(r => r.text()).then(name =>\n"
	"			name === '" PAGE_END "' ? close() : location = '/' + name + '.html');\n"
	"}\n"
	/* nodes that belong to something in the document, too, before they belong to it */
	"const shadow = document.body.appendChild(document.createElement('div')).attachShadow({ mode: 'open' });\n"
	"shadow.innerHTML = '<b></b>';\n"
	"const layer = document.body.appendChild(document.createElement('u'));\n"
	"layer.style.cssText = 'position: absolute; will-change: transform';\n"
	"document.querySelector('p').addEventListener('tick', () => window.ticks = n);\n"
	"addEventListener('load', () => asked ? setTimeout(tick, 25) : finish());\n";

struct server {
	struct evhttp_request *waiting;	/* for the next page's name */
	int fd;
	bool asking;
};

static void add_script(struct evbuffer *b, bool asking)
{
	evbuffer_add_printf(b, "<script>\nconst asking = %s;\n%s</script>\n", asking ? "true" : "false", script);
}

static void add_document(struct evbuffer *b, const struct page *p, bool asking)
{
	/* what links are relative to must not be taken for the document's URL */
	evbuffer_add_printf(b, "<!DOCTYPE html>\n<html><head><meta charset=\"utf-8\"><title>%s</title><base href=\"/%s/base/\">\n"
			    "<link rel=\"stylesheet\" href=\"/%s-one.css\">\n<link rel=\"stylesheet\" href=\"/%s-two.css\">\n"
			    "<style>.%s { margin: 3px }</style>\n", p->name, p->name, p->name, p->name, p->name);
	evbuffer_add_printf(b, "<script src=\"/%s-one.js\"></script>\n<script src=\"/%s-two.js\"></script>\n"
			    "<script type=\"module\" src=\"/%s-three.mjs\"></script>\n", p->name, p->name, p->name);
	evbuffer_add_printf(b, "</head><body class=\"%s\"><p>%s</p>\n<div style=\"position: absolute; left: 0; top: 0; width: %dpx; "
			    "height: %dpx\"></div>\n", p->name, p->name, p->w, p->h);
	for (size_t i = 0; p->frames[i]; i++)
		evbuffer_add_printf(b, "<iframe src=\"/%s.html\"></iframe>\n", p->frames[i]);
	add_script(b, asking);
	evbuffer_add_printf(b, "</body></html>\n");
}

static const struct page *find_page(const char *path, const char **ret_rest)
{
	for (const struct page *p = calibrate_pages; p->name; p++) {
		size_t n = strlen(p->name);

		if (path[0] == '/' && !strncmp(path + 1, p->name, n) && (path[1 + n] == '.' || path[1 + n] == '-')) {
			*ret_rest = path + 1 + n;
			return p;
		}
	}
	return NULL;
}

static void answer(struct evhttp_request *r, const char *type, struct evbuffer *b)
{
	struct evkeyvalq *headers = evhttp_request_get_output_headers(r);

	evhttp_add_header(headers, "Content-Type", type);
	evhttp_add_header(headers, "Cache-Control", "no-store");
	evhttp_send_reply(r, HTTP_OK, "OK", b);
}

static void on_gone(struct evhttp_connection *c, void *arg)
{
	struct server *s = arg;

	/* that of a browser that was ended before may go later than another one waits */
	if (s->waiting && evhttp_request_get_connection(s->waiting) == c)
		s->waiting = NULL;
}

/* A page is done: its name goes to us, and it waits. */
static void on_done(struct server *s, struct evhttp_request *r, const char *name)
{
	/* of a browser that has been ended, whose connection closes now that something is written to it */
	if (s->waiting) {
		evhttp_connection_set_closecb(evhttp_request_get_connection(s->waiting), NULL, NULL);
		evhttp_send_error(s->waiting, HTTP_NOTFOUND, NULL);
	}
	s->waiting = r;
	evhttp_connection_set_closecb(evhttp_request_get_connection(r), on_gone, s);
	if (send(s->fd, name, strlen(name), MSG_NOSIGNAL) < 0)
		_exit(1);
}

/* We have said which one is next. */
static void on_next(evutil_socket_t fd, short what, void *arg)
{
	struct server *s = arg;
	char name[NAME_MAX];
	ssize_t n = recv(fd, name, sizeof(name), 0);
	struct evbuffer *b = evbuffer_new();

	(void)what;
	if (n <= 0)
		_exit(0);
	if (s->waiting && b) {
		struct evhttp_request *r = s->waiting;

		s->waiting = NULL;
		evhttp_connection_set_closecb(evhttp_request_get_connection(r), NULL, NULL);
		evbuffer_add(b, name, n);
		answer(r, "text/plain", b);
	}
	if (b)
		evbuffer_free(b);
}

static const char *fill(struct evbuffer *b, const struct page *p, const char *rest, bool asking)
{
	if (strstr(rest, ".css")) {
		evbuffer_add_printf(b, ".%s p { padding: %zupx } b { color: #246 }\n", p->name, strlen(rest));
		return "text/css";
	}
	if (strstr(rest, ".js") || strstr(rest, ".mjs")) {
		evbuffer_add_printf(b, "window.sum = (window.sum || 0) + [1, 2, 3].map(x => x * %zu).length;\n"
				    "document.dispatchEvent(new Event(String(location).replace('.html', '-event')));\n", strlen(rest));
		return "text/javascript";
	}
	add_document(b, p, asking);
	return "text/html";
}

static void on_request(struct evhttp_request *r, void *arg)
{
	const char *uri = evhttp_request_get_uri(r), *rest = "";
	const struct page *p = find_page(uri, &rest);
	struct evbuffer *b = evbuffer_new();
	struct server *s = arg;

	if (b && !strncmp(uri, "/next?", 6)) {
		on_done(s, r, uri + 6);
	} else if (b && !strcmp(uri, "/" PAGE_START ".html")) {
		evbuffer_add_printf(b, "<!DOCTYPE html>\n<body class=\"" PAGE_START "\"><p></p>\n");
		add_script(b, s->asking);
		answer(r, "text/html", b);
	} else if (b && p) {
		answer(r, fill(b, p, rest, s->asking), b);
	} else {
		evhttp_send_error(r, HTTP_NOTFOUND, NULL);
	}
	if (b)
		evbuffer_free(b);
}

/* Never returns. */
static void serve(int port_fd, struct server *server)
{
	struct event_base *base = event_base_new();
	struct evhttp *http = base ? evhttp_new(base) : NULL;
	struct evhttp_bound_socket *bound = http ? evhttp_bind_socket_with_handle(http, PAGE_HOST, 0) : NULL;
	struct sockaddr_in at = { 0 };
	socklen_t size = sizeof(at);
	struct event *next;
	uint16_t port;

	if (!bound || getsockname(evhttp_bound_socket_get_fd(bound), (struct sockaddr *)&at, &size))
		_exit(1);
	port = ntohs(at.sin_port);
	if (evhttp_bind_socket(http, PAGE_OTHER_HOST, port))
		_exit(1);
	evhttp_set_gencb(http, on_request, server);
	next = event_new(base, server->fd, EV_READ | EV_PERSIST, on_next, server);
	if (!next || event_add(next, NULL))
		_exit(1);
	if (write(port_fd, &port, sizeof(port)) != sizeof(port))
		_exit(1);
	close(port_fd);
	event_base_dispatch(base);
	_exit(1);
}

int pages_start(uid_t uid, gid_t gid, bool asking, struct pages *ret, struct error *err)
{
	struct server server = { .asking = asking };
	int fds[2], talk[2];

	if (pipe2(fds, O_CLOEXEC))
		return error_set(err, ERR_OTHER, -errno, "can't make a pipe: %s", strerror(errno));
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, talk)) {
		close(fds[0]);
		close(fds[1]);
		return error_set(err, ERR_OTHER, -errno, "can't make a pair of sockets: %s", strerror(errno));
	}
	ret->fd = talk[0];
	server.fd = talk[1];
	ret->pid = fork();
	if (!ret->pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		signal(SIGINT, SIG_IGN);
		signal(SIGTERM, SIG_DFL);
		close(fds[0]);
		close(talk[0]);
		if (!geteuid() && (setgroups(0, NULL) || setgid(gid) || setuid(uid)))
			_exit(1);
		/* changing the user clears it */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		serve(fds[1], &server);
	}
	close(fds[1]);
	close(talk[1]);
	if (ret->pid < 0 || read(fds[0], &ret->port, sizeof(ret->port)) != sizeof(ret->port)) {
		close(fds[0]);
		pages_stop(ret);
		return error_set(err, ERR_OTHER, -EIO, "can't serve pages on " PAGE_HOST " and " PAGE_OTHER_HOST "; is loopback up?");
	}
	close(fds[0]);
	return 0;
}

bool pages_waiting(struct pages *p, char *ret, size_t size)
{
	ssize_t n = recv(p->fd, ret, size - 1, MSG_DONTWAIT);

	ret[n > 0 ? n : 0] = '\0';
	return n > 0;
}

void pages_next(struct pages *p, const char *name)
{
	send(p->fd, name, strlen(name), MSG_NOSIGNAL);
}

void pages_stop(struct pages *p)
{
	if (p->pid > 0) {
		kill(p->pid, SIGKILL);
		waitpid(p->pid, NULL, 0);
	}
	if (p->fd > 0)
		close(p->fd);
	p->pid = 0;
	p->fd = 0;
}
