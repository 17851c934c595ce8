// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Starts a browser as somebody who may do little, talks to it over its pipe, and ends it with everything it started. */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "calibrate/browser.h"
#include "calibrate/display.h"
#include "target/process.h"

#define MAX_MESSAGE (16u << 20)	/* bytes; a longer one ends the conversation */

struct browser {
	pid_t root;
	bool own_namespace;
	int to, from;
	int next;
	char *buf;
	size_t nr, cap;
};

#define MAX_LIST 64	/* arguments, and variables */

int browser_report_path(const struct private_copy *copy, char *ret, size_t size)
{
	return (size_t)snprintf(ret, size, "%s/report", copy->home) < size ? 0 : -ENAMETOOLONG;
}

/* Appends a list. `value` replaces "%s" in it and follows what ends in "=", in memory that is not freed: an exec is next. */
static void append(const char **list, const char *const *more, const char *value)
{
	size_t nr = 0;

	while (list[nr])
		nr++;
	for (size_t i = 0; more[i] && nr < MAX_LIST - 1; i++) {
		const char *at = strstr(more[i], "%s"), *end = more[i] + strlen(more[i]);
		char *whole = NULL;

		if (!at && end[-1] == '=')
			at = end;
		if (at && asprintf(&whole, "%.*s%s%s", (int)(at - more[i]), more[i], value, at < end ? at + 2 : "") < 0)
			_exit(126);
		list[nr++] = at ? whole : more[i];
	}
}

/* As the user that the browser runs as. */
static int write_prefs(const char *profile, const char *const *prefs)
{
	char path[PATH_MAX + 48];
	FILE *f;

	if (!prefs)
		return 0;
	snprintf(path, sizeof(path), "%s/user.js", profile);
	if (mkdir(profile, 0700))
		return -errno;
	f = fopen(path, "we");
	for (size_t i = 0; f && prefs[i]; i++)
		fprintf(f, "user_pref(%s);\n", prefs[i]);
	return f && !fclose(f) ? 0 : -EIO;
}

/* Never returns. The pipe's ends become 3 and 4. `display` may be "". */
static void run_browser(const struct browser_start *what, const char *display, int in, int out)
{
	char home[PATH_MAX + 8], config[PATH_MAX + 24], cache[PATH_MAX + 24], tmp[PATH_MAX + 8], profile[PATH_MAX + 32];
	char libraries[PATH_MAX + 24], screen[32], inspector[64];
	const char *env[MAX_LIST] = { "PATH=/usr/bin:/bin", "LANG=C.UTF-8", home, config, cache, tmp, display[0] ? screen : NULL };
	const char *own_libraries[] = { libraries, NULL }, *inspectors[] = { inspector, NULL };
	const char *args[MAX_LIST] = { what->copy->binary }, *last[] = { what->url, NULL };
	const struct private_copy *copy = what->copy;
	char report[PATH_MAX + 16];
	int null = open("/dev/null", O_RDWR);

	snprintf(home, sizeof(home), "HOME=%s", copy->home);
	snprintf(config, sizeof(config), "XDG_CONFIG_HOME=%s", copy->home);
	snprintf(cache, sizeof(cache), "XDG_CACHE_HOME=%s", copy->home);
	snprintf(tmp, sizeof(tmp), "TMPDIR=%s", copy->home);
	snprintf(profile, sizeof(profile), "%s/%s", copy->home, what->reporter ? "reporting" : "profile");
	append(args, what->kind->args, profile);
	append(env, what->kind->env, profile);
	snprintf(screen, sizeof(screen), "DISPLAY=%s", display);
	snprintf(libraries, sizeof(libraries), "LD_LIBRARY_PATH=%s/bin", copy->folder);
	if (what->kind->program)
		append(env, own_libraries, "");
	if (what->reporter && !browser_report_path(copy, report, sizeof(report))) {
		append(args, what->reporter->args, report);
		append(env, what->reporter->env, report);
	}
	snprintf(inspector, sizeof(inspector), "%s=127.0.0.1:%u", what->reporter ? what->reporter->inspector : "", what->port);
	if (what->reporter && what->reporter->inspector)
		append(env, inspectors, "");
	append(args, last, "");
	/* out of the way of 3 and 4 first */
	in = fcntl(in, F_DUPFD, 10);
	out = fcntl(out, F_DUPFD, 10);
	null = fcntl(null, F_DUPFD, 10);
	dup2(null, 0);
	if (!getenv("FRAMESCOPE_DEBUG")) {
		dup2(null, 1);
		dup2(null, 2);
	}
	dup2(in, 3);
	dup2(out, 4);
	syscall(SYS_close_range, 5, ~0u, 0);
	if (chdir(copy->home) || (!geteuid() && (setgroups(0, NULL) || setgid(copy->gid) || setuid(copy->uid))))
		_exit(126);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (write_prefs(profile, what->kind->prefs))
		_exit(126);
	execve(copy->binary, (char **)args, (char **)env);
	_exit(127);
}

/* Without a namespace: all descendants, until there are no more; at first in a way that lets them remove what they have
 * in /tmp. */
static void kill_descendants(pid_t root)
{
	struct process_list l = { 0 };

	for (int i = 0; i < 100; i++) {
		size_t alive = 0;

		if (process_descendants(root, &l))
			break;
		for (size_t k = 0; k < l.nr; k++)
			if (!l.p[k].zombie)
				alive += !kill(l.p[k].pid, i < 20 ? SIGTERM : SIGKILL);
		process_list_free(&l);
		if (!alive)
			break;
		usleep(20000);
	}
}

/* The first process of the namespace: its end is the end of all others there. Never returns. */
static void run_init(const struct browser_start *what, int in, int out, bool own_namespace)
{
	char display[32] = "";
	pid_t browser, dead;
	sigset_t none;

	setsid();
	for (int i = 1; i < NSIG; i++)
		signal(i, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* children that lose their parent come here, so that they can be found */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	if (own_namespace && (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
			      mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL)))
		_exit(125);
	if (what->kind->display && ((own_namespace && !display_private_tmp(what->copy)) ||
				    !display_start(what->copy, display, sizeof(display))))
		_exit(124);
	browser = fork();
	if (!browser)
		run_browser(what, display, in, out);
	close(in);
	close(out);
	do
		dead = wait(NULL);
	while (dead != browser && (dead >= 0 || errno == EINTR));
	/* those who lost their parent are ours: when we are gone, nobody finds them */
	if (!own_namespace)
		kill_descendants(getpid());
	_exit(0);
}

/* May a process be the first of a pid namespace and mount its own /proc? Tried, since policies differ. */
static bool can_have_namespace(void)
{
	pid_t pid = syscall(SYS_clone, CLONE_NEWPID | CLONE_NEWNS | SIGCHLD, 0, 0, 0, 0);
	int status;

	if (!pid)
		_exit(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
		      mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL));
	return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) && !WEXITSTATUS(status);
}

int browser_start(const struct browser_start *what, struct browser **ret, struct error *err)
{
	struct browser *b = calloc(1, sizeof(*b));
	int down[2] = { -1, -1 }, up[2] = { -1, -1 };

	if (!b || pipe2(down, O_CLOEXEC) || pipe2(up, O_CLOEXEC)) {
		close(down[0]);
		close(down[1]);
		free(b);
		return error_set(err, ERR_OTHER, -ENOMEM, "can't make a pipe to the browser");
	}
	b->own_namespace = can_have_namespace();
	b->root = syscall(SYS_clone, (b->own_namespace ? CLONE_NEWPID | CLONE_NEWNS : 0) | SIGCHLD, 0, 0, 0, 0);
	if (!b->root) {
		close(down[1]);
		close(up[0]);
		run_init(what, down[0], up[1], b->own_namespace);
	}
	close(down[0]);
	close(up[1]);
	b->to = down[1];
	b->from = up[0];
	fcntl(b->from, F_SETFL, O_NONBLOCK);
	if (b->root < 0) {
		browser_stop(b);
		return error_set(err, ERR_OTHER, -EAGAIN, "can't start another process");
	}
	*ret = b;
	return 0;
}

bool browser_has_ended(struct browser *b, int timeout_ms)
{
	for (int waited = 0; b->root > 0; waited += 10) {
		if (waitpid(b->root, NULL, WNOHANG) == b->root)
			b->root = 0;
		else if (waited >= timeout_ms)
			return false;
		else
			usleep(10000);
	}
	return true;
}

void browser_stop(struct browser *b)
{
	if (!b)
		return;
	if (b->root > 0) {
		if (!b->own_namespace)
			kill_descendants(b->root);
		kill(b->root, SIGKILL);
		waitpid(b->root, NULL, 0);
	}
	close(b->to);
	close(b->from);
	free(b->buf);
	free(b);
}

pid_t browser_root(const struct browser *b)
{
	return b->root;
}

int browser_fd(const struct browser *b)
{
	return b->from;
}

int browser_send(struct browser *b, const char *session, const char *method, json_t *params)
{
	json_t *m = json_pack("{s:i, s:s, s:o}", "id", ++b->next, "method", method, "params", params ?: json_object());
	char *text;
	size_t n, done = 0;

	if (m && session)
		json_object_set_new(m, "sessionId", json_string(session));
	text = m ? json_dumps(m, JSON_COMPACT) : NULL;
	json_decref(m);
	if (!text)
		return -ENOMEM;
	n = strlen(text) + 1;
	while (done < n) {
		ssize_t part = write(b->to, text + done, n - done);

		if (part < 0 && errno != EINTR)
			break;
		done += part > 0 ? part : 0;
	}
	free(text);
	return done == n ? b->next : -EPIPE;
}

static json_t *take_message(struct browser *b)
{
	char *end = b->nr ? memchr(b->buf, 0, b->nr) : NULL;
	json_t *m;

	if (!end)
		return NULL;
	m = json_loads(b->buf, 0, NULL) ?: json_object();
	b->nr -= end + 1 - b->buf;
	memmove(b->buf, end + 1, b->nr);
	return m;
}

json_t *browser_receive(struct browser *b, int *ret_rc)
{
	json_t *m = take_message(b);

	*ret_rc = 0;
	while (!m) {
		ssize_t n;

		if (b->cap - b->nr < 4096) {
			char *bigger = b->cap < MAX_MESSAGE ? realloc(b->buf, b->cap * 2 + 65536) : NULL;

			if (!bigger) {
				*ret_rc = -ENOMEM;
				return NULL;
			}
			b->buf = bigger;
			b->cap = b->cap * 2 + 65536;
		}
		n = read(b->from, b->buf + b->nr, b->cap - b->nr);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return NULL;
		if (n <= 0) {
			*ret_rc = -EPIPE;
			return NULL;
		}
		b->nr += n;
		m = take_message(b);
	}
	return m;
}
