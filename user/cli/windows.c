// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* framescope windows: what framescope serve calls windows, for people. Attaches nothing. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/jsonout.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/images.h"
#include "cli/table.h"
#include "cli/windows.h"
#include "target/engine.h"
#include "target/modules.h"

static const char help[] =
	"usage: framescope windows -p PID [OPTION]…\n"
	"\n"
	"Lists the windows of a browser: what its engine's definition says, or each process that runs the engine. These are the\n"
	"windows that framescope serve offers. Attaches nothing, so that nobody says which page a window shows: timelines of a\n"
	"recording have the URLs, process by process.\n"
	"\n"
	"  -p, --pid PID      the browser's first process\n"
	"      --engine NAME  one engine definition, by name or file\n"
	"      --json         the message WindowList of Scope's window-manager, with the process of each window\n"
	"  -h, --help\n";

struct window {
	struct process process;
	const struct engine *engine;
	uint64_t cpu_ns;
};

/* Which engine lives in a file, for every file that was looked at. */
struct known_file {
	uint64_t dev, inode;
	const struct engine *engine;	/* NULL: none */
};

struct windows {
	pid_t denied;	/* a process that we may not look into; 0: none */
	struct window *w;
	size_t nr;
	struct engine **engines;
	size_t nr_engines;
	struct known_file *files;
	size_t nr_files;
};

void window_title(const struct process *p, char ret[WINDOW_TITLE_SIZE])
{
	char title[WINDOW_TITLE_SIZE];
	size_t n;

	snprintf(title, sizeof(title), "%s %d", p->name, p->pid);
	n = text_printable(title, strlen(title), ret, WINDOW_TITLE_SIZE - 1);
	ret[n] = '\0';
}

static void ignore(const struct error *err)
{
	(void)err;
}

/* -ENOMEM, or 0 and *ret. */
static int engine_of_file(struct windows *ws, const struct module *m, const struct engine **ret)
{
	struct known_file *files;
	struct image *image;

	for (size_t i = 0; i < ws->nr_files; i++) {
		if (ws->files[i].dev == m->dev && ws->files[i].inode == m->inode) {
			*ret = ws->files[i].engine;
			return 0;
		}
	}
	files = realloc(ws->files, (ws->nr_files + 1) * sizeof(*files));
	if (!files)
		return -ENOMEM;
	ws->files = files;
	*ret = NULL;
	if (!image_open_module(m, &image, ignore, NULL)) {
		*ret = engine_for_module(ws->engines, ws->nr_engines, module_basename(m), image);
		image_close(image);
	}
	files[ws->nr_files++] = (struct known_file){ m->dev, m->inode, *ret };
	return 0;
}

/* The engine of the first file that one lives in; NULL. */
static int engine_of_process(struct windows *ws, pid_t pid, const struct engine **ret)
{
	struct module_list modules = { 0 };
	bool claimed = false;
	int rc = 0;

	*ret = NULL;
	rc = modules_add_process(&modules, pid, NULL);	/* what can't be read runs no engine that we know of */
	if (rc == -EACCES || rc == -EPERM)
		ws->denied = pid;
	rc = 0;
	for (size_t i = 0; i < modules.nr && !*ret && !rc; i++) {
		claimed = false;
		for (size_t k = 0; k < ws->nr_engines && !claimed; k++)
			claimed = engine_claims(ws->engines[k], module_basename(&modules.m[i]));
		if (claimed)
			rc = engine_of_file(ws, &modules.m[i], ret);
	}
	modules_free(&modules);
	return rc;
}

static uint64_t cpu_of(pid_t pid)
{
	struct timespec ts;
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &ts))
		return 0;
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

static int find_windows(struct windows *ws, pid_t pid, struct error *err)
{
	struct process_list l = { 0 };
	int rc = process_tree(pid, &l, err);

	if (rc)
		return rc;
	ws->w = calloc(l.nr, sizeof(*ws->w));
	rc = ws->w ? 0 : -ENOMEM;
	for (size_t i = 0; i < l.nr && !rc; i++) {
		const struct engine *e;

		rc = engine_of_process(ws, l.p[i].pid, &e);
		if (!rc && e && engine_is_window(e, l.p[i].cmdline))
			ws->w[ws->nr++] = (struct window){ l.p[i], e, cpu_of(l.p[i].pid) };
	}
	process_list_free(&l);
	if (rc)
		return error_set(err, ERR_OTHER, rc, "out of memory");
	if (!ws->nr && ws->denied)
		return modules_denied(ws->denied, err);
	if (!ws->nr)
		return error_set(err, ERR_NOTHING, -ENOENT, "process %d and its children show no window of a known engine; framescope "
				 "list shows what runs here", pid);
	return 0;
}

static int print_json(const struct windows *ws, struct error *err)
{
	char title[WINDOW_TITLE_SIZE];
	struct outfile *f;
	struct jsonout j;
	int rc = outfile_open("-", &f, err);

	if (rc)
		return rc;
	jsonout_init(&j, f, 2);
	jsonout_object(&j, NULL);
	jsonout_array(&j, "windowList");
	for (size_t i = 0; i < ws->nr; i++) {
		const struct window *w = &ws->w[i];

		window_title(&w->process, title);
		jsonout_object(&j, NULL);
		jsonout_u64(&j, "windowID", i + 1);
		jsonout_text(&j, "title", title);
		jsonout_text(&j, "windowType", "normal");
		jsonout_u64(&j, "openerID", 0);
		jsonout_u64(&j, "pid", w->process.pid);
		jsonout_text(&j, "engine", w->engine->name);
		jsonout_ms(&j, "cpu", w->cpu_ns);
		jsonout_close(&j);
	}
	jsonout_close(&j);
	jsonout_close(&j);
	return outfile_commit(f, err);
}

static bool has_word(const char *text, const char *word, size_t n)
{
	for (const char *at = strstr(text, word); at; at = strstr(at + 1, word))
		if ((at == text || at[-1] == ' ') && (!at[n] || at[n] == ' '))
			return true;
	return false;
}

/* Switches that not every window's process was started with, as a browser marks those of its own and of extensions. What has
 * a value is another number for each. */
static void find_switches(const struct windows *ws, const struct window *w, char ret[PROCESS_MAX_CMDLINE])
{
	char words[PROCESS_MAX_CMDLINE], *rest = NULL;
	size_t used = 0;

	snprintf(words, sizeof(words), "%s", w->process.cmdline);
	ret[0] = '\0';
	for (char *word = strtok_r(words, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
		size_t nr = 0;

		for (size_t i = 0; i < ws->nr; i++)
			nr += has_word(ws->w[i].process.cmdline, word, strlen(word));
		if (*word == '-' && !strchr(word, '=') && nr < ws->nr && !has_word(ret, word, strlen(word)))
			used += snprintf(ret + used, PROCESS_MAX_CMDLINE - used, "%s%s", used ? " " : "", word);
	}
}

static int print_table(const struct windows *ws)
{
	static const char *const titles[] = { ">id", ">pid", "window", "engine", ">CPU ms", "switches of its own" };
	struct table *t = table_new(titles, sizeof(titles) / sizeof(titles[0]));
	char switches[PROCESS_MAX_CMDLINE];

	for (size_t i = 0; i < ws->nr; i++) {
		const struct window *w = &ws->w[i];

		table_count(t, i + 1);
		table_format(t, "%d", w->process.pid);
		table_text(t, w->process.name);
		table_text(t, w->engine->name);
		table_ms(t, w->cpu_ns);
		find_switches(ws, w, switches);
		table_text(t, switches);
	}
	return table_finish(t, stdout, ws->nr);
}

static int run(pid_t pid, const char *engine, bool json)
{
	struct windows ws = { 0 };
	struct error err = { 0 };
	int rc = engines_load(engine, NULL, &ws.engines, &ws.nr_engines, &err);

	if (!rc)
		rc = find_windows(&ws, pid, &err);
	if (!rc && json)
		rc = print_json(&ws, &err);
	else if (!rc && print_table(&ws))
		rc = error_set(&err, ERR_OTHER, -ENOMEM, "out of memory");
	free(ws.w);
	free(ws.files);
	engines_free(ws.engines, ws.nr_engines);
	return rc ? command_fail(&err) : 0;
}

static int windows_main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "pid", required_argument, NULL, 'p' }, { "engine", required_argument, NULL, 'e' },
		{ "json", no_argument, NULL, 'j' }, { "help", no_argument, NULL, 'h' }, { NULL, 0, NULL, 0 },
	};
	const char *engine = NULL;
	bool json = false;
	pid_t pid = 0;
	int c, rc;

	opterr = 0;
	optind = 1;
	while ((c = getopt_long(argc, argv, ":p:h", options, NULL)) != -1) {
		switch (c) {
		case 'p':
			rc = command_pid("windows", optarg, &pid);
			if (rc)
				return rc;
			break;
		case 'e': engine = optarg; break;
		case 'j': json = true; break;
		case 'h':
			fputs(help, stdout);
			return 0;
		default:
			return command_bad_option("windows", c, argv, options);
		}
	}
	if (optind < argc)
		return command_usage("windows", "%s is not wanted here: windows are those of a running process (-p PID); "
				     "framescope timelines FILE lists what a recording has", argv[optind]);
	if (!pid)
		return command_usage("windows", "say with -p PID which process; framescope list shows browsers");
	return run(pid, engine, json);
}

const struct command command_windows = {
	.name = "windows",
	.summary = "list the windows of a browser",
	.main = windows_main,
};
