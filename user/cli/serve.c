// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* framescope serve: the Profiler 1.1 command set for Scope clients, live or on a recording. */
#include <errno.h>
#include <event2/event.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/text.h"
#include "capture/features.h"
#include "cli/command.h"
#include "cli/serve.h"
#include "version.h"

#define RUN_DIR "/run/framescope"
#define DEFAULT_MEMORY_MIB 2048

static const char help[] =
	"usage: framescope serve -p PID [OPTION]…\n"
	"       framescope serve --replay FILE [OPTION]…\n"
	"\n"
	"Serves Profiler 1.1 to Scope clients, Opera Dragonfly among them: they start and stop recording in a window and ask\n"
	"for its events. Only root and the user who called sudo can use the unix socket.\n"
	"\n"
	"  -p, --pid PID          the process to profile: a browser's first one brings all of its children\n"
	"      --replay FILE      serve a recording as if it had just been made; needs no root\n"
	"      --socket PATH      of the unix socket (default: " RUN_DIR "/PID.sock)\n"
	"      --listen HOST:PORT also accept Scope clients by TCP, of any user of this machine; 7001 is their port\n"
	"      --dial HOST:PORT   connect to a Scope client that listens, dragonkeeper for one\n"
	"      --insecure-bind    let these be other than loopback: everybody who reaches them may profile\n"
	"      --no-stubs         without the services that do nothing and are there since Dragonfly insists on them\n"
	"      --memory MIB       of all sessions together (default 2048)\n"
	"      --engine NAME      one engine definition, by name or file; default: all that are installed\n"
	"      --probe GLOB       only these probes, by name or label (repeatable); -GLOB leaves some out\n"
	"      --function GLOB[=EVENT]  any function of the program, by name; needs no engine definition\n"
	"      --modules GLOBS    with --function: files to look into; default: the main executable of the process only\n"
	"      --symbols FILE     a Breakpad .sym file of the engine\n"
	"      --no-follow        the process alone, without its children\n"
	"  -q, --quiet            say nothing but errors\n"
	"  -h, --help\n";

enum { OPT_REPLAY = 256, OPT_SOCKET, OPT_LISTEN, OPT_DIAL, OPT_INSECURE, OPT_NO_STUBS, OPT_MEMORY, OPT_ENGINE, OPT_PROBE,
       OPT_FUNCTION, OPT_MODULES, OPT_SYMBOLS, OPT_NO_FOLLOW };

static const struct option options[] = {
	{ "pid", required_argument, NULL, 'p' },
	{ "replay", required_argument, NULL, OPT_REPLAY },
	{ "socket", required_argument, NULL, OPT_SOCKET },
	{ "listen", required_argument, NULL, OPT_LISTEN },
	{ "dial", required_argument, NULL, OPT_DIAL },
	{ "insecure-bind", no_argument, NULL, OPT_INSECURE },
	{ "no-stubs", no_argument, NULL, OPT_NO_STUBS },
	{ "memory", required_argument, NULL, OPT_MEMORY },
	{ "engine", required_argument, NULL, OPT_ENGINE },
	{ "probe", required_argument, NULL, OPT_PROBE },
	{ "function", required_argument, NULL, OPT_FUNCTION },
	{ "modules", required_argument, NULL, OPT_MODULES },
	{ "symbols", required_argument, NULL, OPT_SYMBOLS },
	{ "no-follow", no_argument, NULL, OPT_NO_FOLLOW },
	{ "quiet", no_argument, NULL, 'q' },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

struct serve {
	struct capture_options capture;
	const char **probes, **functions;
	const char *replay;
	struct scope_host_options host;
	char *default_socket;
	size_t memory_mib;
	bool quiet;

	struct event_base *loop;
	struct serve_backend *backend;
	struct scope_host *scope;
	struct event *on_int, *on_term, *on_hup, *lonely;
};

/* --- what happens while serving --- */

static void say(void *arg, const char *text)
{
	const struct serve *s = arg;
	char clean[512];
	size_t n = text_printable(text, strlen(text), clean, sizeof(clean) - 1);

	clean[n] = '\0';
	if (!s->quiet)
		fprintf(stderr, "framescope: %s\n", clean);
}

static void on_windows_changed(void *arg)
{
	struct serve *s = arg;

	if (s->scope)
		scope_host_windows_changed(s->scope);
}

/* Clients may still look at what was recorded; when the last one has gone there is nothing left to do. */
static void end_if_lonely(evutil_socket_t fd, short what, void *arg)
{
	struct serve *s = arg;

	(void)fd;
	(void)what;
	if (!s->scope || scope_host_clients(s->scope))
		event_add(s->lonely, &(struct timeval){ 1, 0 });
	else
		event_base_loopbreak(s->loop);
}

static void on_target_ended(void *arg)
{
	struct serve *s = arg;

	say(s, "the target has ended; serving what was recorded until the last client goes");
	event_add(s->lonely, &(struct timeval){ 0, 0 });
}

static void on_signal(evutil_socket_t sig, short what, void *arg)
{
	struct serve *s = arg;

	(void)what;
	/* the second one ends us at once, and the kernel takes the probes away */
	signal(sig, SIG_DFL);
	event_base_loopbreak(s->loop);
}

/* --- setting up --- */

/* Only root can put sockets there. */
static int make_run_dir(struct error *err)
{
	struct stat st;

	if (mkdir(RUN_DIR, 0755) && errno != EEXIST)
		return error_set(err, ERR_OUTPUT, -errno, "can't make " RUN_DIR ": %s; give a path with --socket",
				 strerror(errno));
	if (lstat(RUN_DIR, &st) || !S_ISDIR(st.st_mode) || st.st_uid || st.st_mode & 022)
		return error_set(err, ERR_OUTPUT, -EPERM, RUN_DIR " is not root's alone: make it so, or give a path with --socket");
	return 0;
}

/* Without a place for a socket there is none; that matters only if there is no other way in either. */
static int choose_socket(struct serve *s, struct error *err)
{
	const char *dir = getenv("XDG_RUNTIME_DIR");
	int pid = s->replay ? getpid() : s->capture.pid, rc = 0;

	if (s->host.unix_path)
		return 0;
	if (!geteuid()) {
		rc = make_run_dir(err);
		dir = RUN_DIR;
	}
	if (!rc && dir && asprintf(&s->default_socket, geteuid() ? "%s/framescope-%d.sock" : "%s/%d.sock", dir, pid) < 0) {
		s->default_socket = NULL;
		rc = error_set(err, ERR_OTHER, -ENOMEM, "out of memory");
	}
	s->host.unix_path = s->default_socket;
	if (!rc && !s->host.unix_path && !s->host.listen && !s->host.dial)
		rc = error_set(err, ERR_USAGE, -EINVAL, "there is no place for a socket: give --socket, --listen or --dial");
	return rc;
}

static int open_backend(struct serve *s, struct error *err)
{
	struct serve_events events = { on_windows_changed, on_target_ended, say, s };

	if (s->replay)
		return serve_replay_new(s->loop, s->replay, &s->backend, err);
	return serve_live_new(s->loop, &s->capture, s->memory_mib << 20, &events, &s->backend, err);
}

static void print_endpoints(const struct serve *s)
{
	if (s->quiet)
		return;
	if (s->host.unix_path)
		printf("listening on %s\n", s->host.unix_path);
	if (s->host.listen)
		printf("listening on %.*s:%u\n", (int)(strrchr(s->host.listen, ':') - s->host.listen), s->host.listen,
		       scope_host_port(s->scope));
	if (s->host.dial)
		printf("dialling %s\n", s->host.dial);
	fflush(stdout);
}

static int open_all(struct serve *s, struct error *err)
{
	/* that attaching isn't permitted says more than that there is no place for a socket */
	int rc = s->replay ? 0 : features_check(err);

	if (!rc)
		rc = choose_socket(s, err);
	if (rc)
		return rc;
	s->loop = event_base_new();
	if (!s->loop)
		return error_set(err, ERR_OTHER, -ENOMEM, "out of memory");
	s->on_int = evsignal_new(s->loop, SIGINT, on_signal, s);
	s->on_term = evsignal_new(s->loop, SIGTERM, on_signal, s);
	s->on_hup = evsignal_new(s->loop, SIGHUP, on_signal, s);
	s->lonely = evtimer_new(s->loop, end_if_lonely, s);
	if (!s->on_int || !s->on_term || !s->on_hup || !s->lonely || event_add(s->on_int, NULL) ||
	    event_add(s->on_term, NULL) || event_add(s->on_hup, NULL))
		return error_set(err, ERR_OTHER, -ENOMEM, "out of memory");
	rc = open_backend(s, err);
	if (!rc)
		rc = scope_host_new(s->loop, &s->host, &s->backend->scope, &s->scope, err);
	return rc;
}

static void close_all(struct serve *s)
{
	struct event *const events[] = { s->on_int, s->on_term, s->on_hup, s->lonely };

	scope_host_free(s->scope);
	s->scope = NULL;
	if (s->backend)
		s->backend->free(s->backend);
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		if (events[i])
			event_free(events[i]);
	if (s->loop)
		event_base_free(s->loop);
	free(s->default_socket);
	free(s->probes);
	free(s->functions);
}

/* --- options --- */

static int set_number(const char *option, const char *text, unsigned long max, unsigned long *ret)
{
	char *end;

	errno = 0;
	*ret = strtoul(text, &end, 10);
	if (errno || *end || end == text || *text == '-' || !*ret || *ret > max)
		return command_usage("serve", "%s %s: a number from 1 to %lu is wanted", option, text, max);
	return 0;
}

static int set_option(struct serve *s, int c, const char *arg)
{
	unsigned long n;
	int rc = 0;

	switch (c) {
	case 'p':
		rc = command_pid("serve", arg, &s->capture.pid);
		break;
	case 'q': s->quiet = true; break;
	case OPT_REPLAY: s->replay = arg; break;
	case OPT_SOCKET: s->host.unix_path = arg; break;
	case OPT_LISTEN: s->host.listen = arg; break;
	case OPT_DIAL: s->host.dial = arg; break;
	case OPT_INSECURE: s->host.insecure_bind = true; break;
	case OPT_NO_STUBS: s->host.no_stubs = true; break;
	case OPT_MEMORY:
		rc = set_number("--memory", arg, 1ul << 30, &n);
		s->memory_mib = n;
		break;
	case OPT_ENGINE: s->capture.engine = arg; break;
	case OPT_PROBE: s->probes[s->capture.nr_probes++] = arg; break;
	case OPT_MODULES: s->capture.function_modules = arg; break;
	case OPT_FUNCTION: s->functions[s->capture.nr_functions++] = arg; break;
	case OPT_SYMBOLS: s->capture.symbols = arg; break;
	case OPT_NO_FOLLOW: s->capture.no_follow = true; break;
	}
	return rc;
}

/* As record_options_parse(): 0 to go on, else the exit code plus 1. */
static int parse(struct serve *s, int argc, char **argv)
{
	int c, rc;

	s->memory_mib = DEFAULT_MEMORY_MIB;
	s->probes = calloc(argc, sizeof(*s->probes));
	s->functions = calloc(argc, sizeof(*s->functions));
	if (!s->probes || !s->functions)
		return ERR_OTHER + 1;
	s->capture.probes = s->probes;
	s->capture.functions = s->functions;
	s->host.agent = "framescope/" FRAMESCOPE_VERSION;
	s->host.log = say;
	s->host.log_arg = s;
	opterr = 0;
	optind = 1;
	while ((c = getopt_long(argc, argv, ":p:qh", options, NULL)) != -1) {
		if (c == 'h') {
			fputs(help, stdout);
			return 1;
		}
		if (c == ':' || c == '?')
			return command_bad_option("serve", c, argv, options) + 1;
		rc = set_option(s, c, optarg);
		if (rc)
			return rc + 1;
	}
	if (optind < argc)
		return command_usage("serve", "'%s' is one argument too many: a process is given with -p, a recording with --replay",
				     argv[optind]) + 1;
	if (!s->capture.pid == !s->replay)
		return command_usage("serve", "either -p PID or --replay FILE is needed") + 1;
	return 0;
}

static int serve_main(int argc, char **argv)
{
	struct serve s = { 0 };
	struct error err = { 0 };
	int rc = parse(&s, argc, argv);

	if (rc) {
		close_all(&s);
		return rc - 1;
	}
	signal(SIGPIPE, SIG_IGN);
	rc = open_all(&s, &err) ? command_fail(&err) : 0;
	if (!rc) {
		print_endpoints(&s);
		event_base_dispatch(s.loop);
	}
	close_all(&s);
	return rc;
}

const struct command command_serve = {
	.name = "serve",
	.summary = "serve Profiler 1.1 to Scope clients such as Opera Dragonfly",
	.main = serve_main,
};
