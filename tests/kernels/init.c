// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The first process of a test's virtual machine: runs the steps of /steps, reports on the second serial line, powers off. */
/*
 * One step per line, words parted by tabs:
 *   mount TYPE FOLDER, umount FOLDER
 *   target PROGRAM [ARG]…	starts it with pipes and waits for its first line; $PID stands for its pid in later steps
 *   record PROGRAM [ARG]…	starts it and waits until its output contains "recording"
 *   go			sends the target a line
 *   wait			until the target and the recorder have ended, and reports the recorder
 *   run PROGRAM [ARG]…	runs it and reports it
 *   read FILE		reports its contents
 *   case NAME		names what is reported from here on
 * A report is `= NAME EXIT-CODE BYTES`, then as many bytes of output, then a line feed. The exit code of a program
 * that a signal ended is -SIGNAL; that of one that did not end in time is -1000. A file's is `< NAME BYTES`, likewise;
 * `! TEXT` tells of a step that went wrong.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#define MAX_WORDS 64
#define MAX_OUTPUT (4 << 20)
#define LIMIT_S 60	/* for one step; under emulation everything is about 20 times as slow */

struct child {
	pid_t pid;	/* 0: none */
	int to, from;	/* its standard input and output; -1: closed */
	char *output;
	size_t length;
};

static FILE *report;
static char case_name[128] = "start";
static struct child target = { .to = -1, .from = -1 }, recorder = { .to = -1, .from = -1 };

static void say(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vfprintf(report, fmt, args);
	va_end(args);
	fflush(report);
}

static void emit(const struct child *c, int code)
{
	say("= %s %d %zu\n", case_name, code, c->length);
	fwrite(c->output, 1, c->length, report);
	say("\n");
}

static void start(struct child *c, char **argv)
{
	int in[2], out[2];

	free(c->output);
	memset(c, 0, sizeof(*c));
	c->output = calloc(1, MAX_OUTPUT + 1);
	if (!c->output || pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC)) {
		say("! pipes for %s: %s\n", argv[0], strerror(errno));
		exit(1);
	}
	c->pid = fork();
	if (!c->pid) {
		dup2(in[0], 0);
		dup2(out[1], 1);
		dup2(out[1], 2);
		execv(argv[0], argv);
		printf("%s: %s\n", argv[0], strerror(errno));
		fflush(stdout);
		_exit(127);
	}
	close(in[0]);
	close(out[1]);
	c->to = in[1];
	c->from = out[0];
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

/* Reads until the output contains `text` (NULL: until its end). Returns whether that came. */
static int read_until(struct child *c, const char *text)
{
	double end = now() + LIMIT_S;

	while (!text || !strstr(c->output, text)) {
		struct pollfd p = { .fd = c->from, .events = POLLIN };
		ssize_t n;

		if (now() > end || poll(&p, 1, 1000) < 0)
			return 0;
		if (!p.revents)
			continue;
		n = read(c->from, c->output + c->length, MAX_OUTPUT - c->length);
		if (n <= 0)
			return !text;
		c->length += n;
	}
	return 1;
}

/* The exit code as the report has it. */
static int reap(struct child *c)
{
	int status, late = !read_until(c, NULL);

	if (late)
		kill(c->pid, SIGKILL);
	close(c->to);
	close(c->from);
	waitpid(c->pid, &status, 0);
	c->pid = 0;
	if (late)
		return -1000;
	return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

static void step_wait(void)
{
	int code;

	if (target.pid) {
		code = reap(&target);
		for (char *c = target.output; (c = strchr(c, '\n'));)
			*c = ' ';
		if (code)
			say("! the target of %s ended with %d: %s\n", case_name, code, target.output);
	}
	if (recorder.pid) {
		code = reap(&recorder);
		emit(&recorder, code);
	}
}

static void step_read(const char *path)
{
	struct child file = { .output = calloc(1, MAX_OUTPUT) };
	FILE *f = fopen(path, "r");

	if (!f || !file.output) {
		say("! %s: %s\n", path, strerror(errno));
	} else {
		file.length = fread(file.output, 1, MAX_OUTPUT, f);
		say("< %s %zu\n", case_name, file.length);
		fwrite(file.output, 1, file.length, report);
		say("\n");
	}
	if (f)
		fclose(f);
	free(file.output);
}

static void step(char **word, int n)
{
	static char pid[16];
	struct child c = { 0 };

	for (int i = 1; i < n; i++)
		if (!strcmp(word[i], "$PID"))
			word[i] = pid;
	if (!strcmp(word[0], "case") && n == 2) {
		snprintf(case_name, sizeof(case_name), "%s", word[1]);
	} else if (!strcmp(word[0], "mount") && n == 3) {
		mkdir(word[2], 0755);
		if (mount(word[1], word[2], word[1], 0, NULL))
			say("! mount %s %s: %s\n", word[1], word[2], strerror(errno));
	} else if (!strcmp(word[0], "umount") && n == 2) {
		if (umount2(word[1], MNT_DETACH))
			say("! umount %s: %s\n", word[1], strerror(errno));
	} else if (!strcmp(word[0], "target")) {
		start(&target, word + 1);
		snprintf(pid, sizeof(pid), "%d", target.pid);
		if (!read_until(&target, "\n"))
			say("! %s did not start: %s\n", word[1], target.output);
	} else if (!strcmp(word[0], "record")) {
		start(&recorder, word + 1);
		if (!read_until(&recorder, "recording"))
			say("! no recording in %s\n", case_name);
	} else if (!strcmp(word[0], "go")) {
		if (write(target.to, "\n", 1) != 1)
			say("! the target of %s is gone\n", case_name);
	} else if (!strcmp(word[0], "wait")) {
		step_wait();
	} else if (!strcmp(word[0], "read") && n == 2) {
		step_read(word[1]);
	} else if (!strcmp(word[0], "run")) {
		start(&c, word + 1);
		close(c.to);
		c.to = -1;
		emit(&c, reap(&c));
		free(c.output);
	} else {
		say("! unknown step %s\n", word[0]);
	}
}

int main(void)
{
	char line[4096], *word[MAX_WORDS + 1];
	struct termios raw = { .c_cflag = B115200 | CREAD | CLOCAL };
	FILE *steps;

	mkdir("/dev", 0755);
	mount("devtmpfs", "/dev", "devtmpfs", 0, NULL);
	signal(SIGPIPE, SIG_IGN);
	report = fopen("/dev/ttyS1", "w");
	steps = fopen("/steps", "r");
	if (!report || !steps) {
		printf("init: %s\n", strerror(errno));
		reboot(RB_POWER_OFF);
	}
	cfmakeraw(&raw);
	tcsetattr(fileno(report), TCSANOW, &raw);
	setenv("PATH", "/bin", 1);
	setenv("FRAMESCOPE_ENGINES", "/engines", 1);
	say("+ up %.1f\n", now());
	while (fgets(line, sizeof(line), steps)) {
		int n = 0;

		line[strcspn(line, "\n")] = 0;
		for (char *w = strtok(line, "\t"); w && n < MAX_WORDS; w = strtok(NULL, "\t"))
			word[n++] = w;
		word[n] = NULL;
		if (n)
			step(word, n);
	}
	say("+ done %.1f\n", now());
	fclose(report);
	sync();
	reboot(RB_POWER_OFF);
	return 1;
}
