// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What all subcommands share: how they fail, and how they open a recording. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include "base/text.h"
#include "capture/recording_file.h"
#include "cli/command.h"

int command_fail(const struct error *err)
{
	char text[sizeof(err->text)];

	/* names of files and symbols in it may hold anything */
	text[text_printable(err->text, strlen(err->text), text, sizeof(text) - 1)] = '\0';
	fflush(stdout);
	fprintf(stderr, "framescope: %s\n", text);
	return err->kind ?: ERR_OTHER;
}

int command_usage(const char *command, const char *fmt, ...)
{
	char text[1024], shown[sizeof(text)];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	shown[text_printable(text, strlen(text), shown, sizeof(shown) - 1)] = '\0';
	fflush(stdout);
	fprintf(stderr, "framescope %s: %s", command, shown);
	if (strpbrk(shown, ";?"))
		fputc('\n', stderr);	/* it has its remedy */
	else
		fprintf(stderr, "; framescope %s --help shows the options\n", command);
	return ERR_USAGE;
}

int command_distinct(const char *in, const char *out, struct error *err)
{
	struct stat a, b;

	if (stat(in, &a) || stat(out, &b) || a.st_dev != b.st_dev || a.st_ino != b.st_ino || !S_ISREG(a.st_mode))
		return 0;
	return error_set(err, ERR_USAGE, -EINVAL, "'%s' is what is to be read; choose another name with -o", out);
}

/* Whatever is made of a recording that is not whole, its user must know. */
static void warn_incomplete(const char *path, const struct session *s)
{
	char name[256], what[INCOMPLETE_TEXT];

	if (!*session_incomplete(s, what, sizeof(what)))
		return;
	name[text_printable(path, strlen(path), name, sizeof(name) - 1)] = '\0';
	fprintf(stderr, "framescope: '%s' is not complete: %s\n", name, what);
}

static int add_records(struct recording *r, struct session_builder *b, struct error *err)
{
	const struct rec_header *rec;
	int rc;

	while ((rc = recording_next(r, &rec, err)) > 0)
		if (session_builder_add(b, rec))
			return error_set(err, ERR_OTHER, -ENOMEM, "out of memory while reading the recording");
	return rc;
}

int command_load(const char *path, struct session **ret, struct error *err)
{
	const struct recording_process *procs;
	const struct recording_thread *threads;
	const struct recording_probe *probes;
	size_t nr_procs, nr_threads, nr_probes;
	struct session_builder *b = NULL;
	struct recording *r = NULL;
	int rc = recording_open(path, &r, err);

	if (rc)
		return rc;
	rc = session_builder_new(&b);
	if (!rc) {
		probes = recording_get_probes(r, &nr_probes);
		procs = recording_get_processes(r, &nr_procs);
		threads = recording_get_threads(r, &nr_threads);
		rc = session_builder_tables(b, recording_get_info(r), probes, nr_probes, procs, nr_procs, threads, nr_threads);
	}
	if (rc)
		error_set(err, ERR_OTHER, rc, "out of memory while reading %s", path);
	else
		rc = add_records(r, b, err);
	if (rc) {
		session_builder_free(b);
	} else {
		session_builder_missing(b, recording_get_info(r));
		rc = session_builder_finish(b, ret);
		if (rc)
			error_set(err, ERR_OTHER, rc, "out of memory while building the timelines of %s", path);
		else
			warn_incomplete(path, *ret);
	}
	recording_close(r);
	return rc;
}

const char *command_filters(uint32_t only_under, uint64_t min_duration_ns)
{
	if (!only_under == !min_duration_ns)
		return "--only-under or --min-duration";
	return only_under ? "--only-under" : "--min-duration";
}
