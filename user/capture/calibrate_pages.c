// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Serves calibration's pages: small documents that parse, style, run scripts, lay out and paint a few times each. */
#include <errno.h>
#include <event2/buffer.h>
#include <event2/event.h>
#include <event2/http.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <netinet/in.h>
#include <sys/wait.h>
#include <unistd.h>
#include <grp.h>
#include "capture/calibrate_pages.h"

const struct page calibrate_pages[] = {
	{ "alder", { NULL } }, { "birch", { NULL } }, { "cedar", { NULL } },
	{ "grove", { "elm", "fir", NULL } }, { "elm", { NULL } }, { "fir", { NULL } },
	{ NULL, { NULL } },
};

const char *const calibrate_page_files[] = {
	".html", "-one.css", "-two.css", "-one.js", "-two.js", "-three.mjs", NULL,
};

static const char script[] =
	"<script>\n"
	"let n = 0;\n"
	"function tick() {\n"
	"	const p = document.querySelector('p');\n"
	"	p.innerHTML = '<b>' + n + '</b>';\n"
	"	p.style.width = 50 + n + 'px';\n"
	"	document.body.dataset.width = p.offsetWidth;\n"
	"	p.dispatchEvent(new Event('tick'));\n"
	/* the same again in other ways, so that what is right only by the way of a call isn't taken for right */
	"	window.evaluated = eval(n + ' + ' + n) + new Function('return ' + n)();\n"
	"	document.head.appendChild(document.createElement('style')).textContent = 'b { margin: ' + n + 'px }';\n"
	"	window.done = ++n >= 4;\n"
	"	if (n < 4 || [...Array(frames.length).keys()].some(i => !frames[i].done)) setTimeout(tick, 25);\n"
	"	else document.title = '" PAGE_READY "' + document.body.className;\n"
	"}\n"
	"document.querySelector('p').addEventListener('tick', () => window.ticks = n);\n"
	"addEventListener('load', () => setTimeout(tick, 25));\n"
	"</script>\n";

static void add_document(struct evbuffer *b, const struct page *p)
{
	evbuffer_add_printf(b, "<!DOCTYPE html>\n<html><head><meta charset=\"utf-8\"><title>%s</title>\n"
			    "<link rel=\"stylesheet\" href=\"%s-one.css\">\n<link rel=\"stylesheet\" href=\"%s-two.css\">\n"
			    "<style>.%s { margin: 3px }</style>\n", p->name, p->name, p->name, p->name);
	evbuffer_add_printf(b, "<script src=\"%s-one.js\"></script>\n<script src=\"%s-two.js\"></script>\n"
			    "<script type=\"module\" src=\"%s-three.mjs\"></script>\n", p->name, p->name, p->name);
	evbuffer_add_printf(b, "</head><body class=\"%s\"><p>%s</p>\n", p->name, p->name);
	for (size_t i = 0; p->frames[i]; i++)
		evbuffer_add_printf(b, "<iframe src=\"%s.html\"></iframe>\n", p->frames[i]);
	evbuffer_add(b, script, sizeof(script) - 1);
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

static void on_request(struct evhttp_request *r, void *arg)
{
	struct evkeyvalq *headers = evhttp_request_get_output_headers(r);
	const char *rest = "", *type = "text/html";
	const struct page *p = find_page(evhttp_request_get_uri(r), &rest);
	struct evbuffer *b = evbuffer_new();

	(void)arg;
	if (!p || !b) {
		evhttp_send_error(r, HTTP_NOTFOUND, NULL);
	} else {
		if (strstr(rest, ".css")) {
			evbuffer_add_printf(b, ".%s p { padding: %zupx } b { color: #246 }\n", p->name, strlen(rest));
			type = "text/css";
		} else if (strstr(rest, ".js") || strstr(rest, ".mjs")) {
			evbuffer_add_printf(b, "window.sum = (window.sum || 0) + [1, 2, 3].map(x => x * %zu).length;\n", strlen(rest));
			type = "text/javascript";
		} else {
			add_document(b, p);
		}
		evhttp_add_header(headers, "Content-Type", type);
		evhttp_add_header(headers, "Cache-Control", "no-store");
		evhttp_send_reply(r, HTTP_OK, "OK", b);
	}
	if (b)
		evbuffer_free(b);
}

/* Never returns. */
static void serve(int port_fd)
{
	struct event_base *base = event_base_new();
	struct evhttp *http = base ? evhttp_new(base) : NULL;
	struct evhttp_bound_socket *bound = http ? evhttp_bind_socket_with_handle(http, "127.0.0.1", 0) : NULL;
	struct sockaddr_in at = { 0 };
	socklen_t size = sizeof(at);
	uint16_t port;

	if (!bound || getsockname(evhttp_bound_socket_get_fd(bound), (struct sockaddr *)&at, &size))
		_exit(1);
	port = ntohs(at.sin_port);
	evhttp_set_gencb(http, on_request, NULL);
	if (write(port_fd, &port, sizeof(port)) != sizeof(port))
		_exit(1);
	close(port_fd);
	event_base_dispatch(base);
	_exit(1);
}

int pages_start(uid_t uid, gid_t gid, struct pages *ret, struct error *err)
{
	int fds[2];

	if (pipe(fds))
		return error_set(err, ERR_OTHER, -errno, "can't make a pipe: %s", strerror(errno));
	ret->pid = fork();
	if (!ret->pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		signal(SIGINT, SIG_IGN);
		signal(SIGTERM, SIG_DFL);
		close(fds[0]);
		if (!geteuid() && (setgroups(0, NULL) || setgid(gid) || setuid(uid)))
			_exit(1);
		/* changing the user clears it */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		serve(fds[1]);
	}
	close(fds[1]);
	if (ret->pid < 0 || read(fds[0], &ret->port, sizeof(ret->port)) != sizeof(ret->port)) {
		close(fds[0]);
		pages_stop(ret);
		return error_set(err, ERR_OTHER, -EIO, "can't serve pages on 127.0.0.1; is loopback up?");
	}
	close(fds[0]);
	return 0;
}

void pages_stop(struct pages *p)
{
	if (p->pid <= 0)
		return;
	kill(p->pid, SIGKILL);
	waitpid(p->pid, NULL, 0);
	p->pid = 0;
}
