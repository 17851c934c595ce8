// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* framescope record: attach, record until told to stop, say what came of it. */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "base/text.h"
#include "capture/capture.h"
#include "cli/command.h"
#include "cli/record_options.h"
#include "cli/table.h"
#include "export/export.h"

static volatile sig_atomic_t stops;
static char *volatile empty_partial;	/* the file while nothing is recorded yet: of no use to anybody */

/* The first one ends the recording; the second one ends us at once, and the kernel takes the probes away. */
static void on_signal(int sig)
{
	if (!stops++)
		return;
	if (empty_partial)
		unlink(empty_partial);
	_exit(128 + sig);
}

static void catch_signals(void)
{
	struct sigaction sa = { .sa_handler = on_signal };

	sigemptyset(&sa.sa_mask);
	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGHUP, &sa, NULL);
	/* a full pipe on stderr is no reason to lose a recording */
	signal(SIGPIPE, SIG_IGN);
}

static double now_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

static void print_progress(const struct capture *c, double seconds)
{
	struct capture_status s;

	capture_get_status(c, &s);
	fprintf(stderr, "\r%llu events, %llu lost, %.1f s, %u processes, %u threads \033[K", (unsigned long long)s.events,
		(unsigned long long)s.lost, seconds, s.processes, s.threads);
}

/* Until a signal, the duration or the target's end. */
static int run(struct capture *c, const struct record_options *o, struct error *err)
{
	bool tty = isatty(STDERR_FILENO) && !o->quiet;
	double begin = now_s(), shown = 0;
	int rc = 1;

	while (rc > 0 && !stops && (!o->seconds || now_s() - begin < o->seconds)) {
		double left = o->seconds ? (o->seconds - (now_s() - begin)) * 1000 : 20;

		rc = capture_poll(c, left < 1 ? 1 : left > 20 ? 20 : left, err);
		if (tty && now_s() - shown > 0.2) {
			shown = now_s();
			print_progress(c, shown - begin);
		}
	}
	if (tty)
		fprintf(stderr, "\r\033[K");
	return rc < 0 ? rc : 0;
}

static void print_line(const char *what, const char *name, const char *text)
{
	char n[256], t[640];

	n[text_printable(name, strlen(name), n, sizeof(n) - 1)] = '\0';
	t[text_printable(text, strlen(text), t, sizeof(t) - 1)] = '\0';
	fprintf(stderr, "framescope: %s %s: %s\n", what, n, t);
}

/* What is missing from the recording, probe by probe. Returns how many records were lost. */
static uint64_t print_summary(const struct capture *c, const struct record_options *o)
{
	size_t nr, idle = 0, left_out = 0, attached = 0;
	const struct recording_probe *p = capture_get_probes(c, &nr);
	struct capture_status status;
	uint64_t lost = 0;
	char text[160];

	for (size_t i = 0; i < nr; i++) {
		const struct probe_stats *s = &p[i].stats;

		attached += p[i].attached;
		idle += p[i].attached && !s->calls && !s->hidden;
		left_out += p[i].attached && !s->calls && s->hidden;
		if (*p[i].refused)
			print_line("not attached", p[i].name, p[i].refused);
		if (s->lost_begins || s->lost_ends) {
			snprintf(text, sizeof(text), "%llu of %llu begins and %llu of %llu ends found no room; a larger "
				 "--buffer helps", (unsigned long long)s->lost_begins, (unsigned long long)s->calls,
				 (unsigned long long)s->lost_ends, (unsigned long long)s->ends);
			print_line("lost", p[i].name, text);
		}
		if (s->too_deep) {
			snprintf(text, sizeof(text), "%llu calls were nested deeper than %d and are not recorded",
				 (unsigned long long)s->too_deep, RECORD_MAX_DEPTH);
			print_line("too deep", p[i].name, text);
		}
		lost += s->lost_begins + s->lost_ends;
	}
	capture_get_status(c, &status);
	if (status.switched_off)
		fprintf(stderr, "framescope: %u probes were switched off to keep within the budget; the recording says which and "
			"when\n", status.switched_off);
	if (left_out)
		fprintf(stderr, "framescope: %zu of %zu attached probes were called, but all of their calls left out by %s%s\n", left_out,
			attached, command_filters(o->capture.only_under, o->capture.min_duration_ns),
			o->format ? "" : "; framescope report lists them");
	if (idle)
		fprintf(stderr, "framescope: %zu of %zu attached probes had no hits%s\n", idle, attached,
			o->format ? "" : "; framescope report lists them");
	return lost;
}

/* The finished recording in memory becomes a file of another format. */
static int export_recording(int fd, const struct record_options *o, struct error *err)
{
	struct session *s = NULL;
	char path[40];
	int rc;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	rc = command_load(path, &s, err);
	if (!rc)
		rc = export_session(s, o->format, &(struct export_options){ 0 }, o->output, err);
	session_free(s);
	return rc;
}

static int finish(struct capture *c, const struct record_options *o, struct recording_writer *w, struct error *err)
{
	struct recording_info info;
	struct error write_err;
	size_t nr;
	const struct recording_probe *probes;
	int fd, write_rc, rc = capture_disarm(c, &info, err);

	probes = capture_get_probes(c, &nr);
	if (!o->format) {
		/* whatever went wrong: what was recorded is kept, and a full disk says so best itself */
		write_rc = recording_writer_finish(w, &info, probes, nr, &write_err);
		if (write_rc)
			*err = write_err;
		return write_rc ? write_rc : rc;
	}
	if (rc) {
		recording_writer_abort(w);
		return rc;
	}
	rc = recording_writer_finish_fd(w, &info, probes, nr, &fd, err);
	if (rc)
		return rc;
	rc = export_recording(fd, o, err);
	close(fd);
	return rc;
}

/* As with the progress: who reads a pipe waits for the line that says that it records, and an error is one sentence there. */
static void say_preparing(pid_t pid)
{
	fprintf(stderr, "framescope: preparing: finding the functions to probe in process %d and attaching to them\n",
		pid);
}

static int record(const struct record_options *o)
{
	struct capture_status status;
	struct recording_writer *w = NULL;
	struct error err = { 0 }, run_err = { 0 };
	struct capture *c = NULL;
	char *partial = NULL;
	char events[32], records[32];
	uint64_t lost;
	double begin;
	int rc, run_rc = 0;

	/* before anything is attached: an unwritable file should cost the target nothing */
	rc = recording_writer_create(o->format ? NULL : o->output, &w, &err);
	if (!rc && !o->format && asprintf(&partial, "%s.partial", o->output) > 0)
		empty_partial = partial;
	if (!rc)
		rc = capture_open(&o->capture, &c, &err);
	if (!rc)
		rc = capture_arm(c, w, &err);
	empty_partial = NULL;
	free(partial);
	if (rc) {
		recording_writer_abort(w);
		capture_close(c);
		return command_fail(&err);
	}
	begin = now_s();
	if (!o->quiet)
		fprintf(stderr, "framescope: recording process %d; Ctrl-C ends it\n", o->capture.pid);
	run_rc = run(c, o, &run_err);
	capture_get_status(c, &status);
	rc = finish(c, o, w, &err);
	if (!rc && run_rc) {
		rc = run_rc;
		err = run_err;
	}
	if (rc) {
		capture_close(c);
		return command_fail(&err);
	}
	capture_get_status(c, &status);
	lost = o->quiet ? 0 : print_summary(c, o);
	if (o->quiet) {
		size_t nr;
		const struct recording_probe *p = capture_get_probes(c, &nr);

		for (size_t i = 0; i < nr; i++)
			lost += p[i].stats.lost_begins + p[i].stats.lost_ends;
	} else {
		fprintf(stderr, "framescope: wrote %s: %s event%s, %s record%s %s, %.1f s\n", o->output,
			format_count(status.events, events), status.events == 1 ? "" : "s", format_count(lost, records),
			lost == 1 ? "" : "s", lost ? "LOST" : "lost", now_s() - begin);
	}
	capture_close(c);
	return o->strict && lost ? ERR_LOSS : 0;
}

static int record_main(int argc, char **argv)
{
	struct record_options o;
	int rc = record_options_parse(&o, argc, argv);

	if (rc) {
		record_options_free(&o);
		return rc - 1;
	}
	if (!o.quiet && isatty(STDERR_FILENO))
		o.capture.say = say_preparing;
	catch_signals();
	rc = record(&o);
	record_options_free(&o);
	return rc;
}

const struct command command_record = {
	.name = "record", .summary = "attach to a running browser and write its timeline", .main = record_main,
};
