// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The report for a person: what was recorded, and whether all of it is there. The tables follow. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/text.h"
#include "cli/report.h"
#include "cli/table.h"

/* "1 event", "2,000 events"; before and after it stand as they are. */
static void print_number(const char *before, uint64_t v, const char *what, const char *after)
{
	char text[32];

	printf("%s%s %s%s%s", before, format_count(v, text), what,
	       v == 1 ? "" : what[strlen(what) - 1] == 's' ? "es" : "s", after);
}

static void print_safe(const char *s)
{
	char text[4096];
	size_t n = strlen(s) < sizeof(text) ? strlen(s) : sizeof(text) - 1;

	text[text_printable(s, n, text, sizeof(text) - 1)] = 0;
	fputs(text, stdout);
}

static void print_when(const struct recording_info *info)
{
	time_t seconds = info->begin_realtime_ns / 1000000000;
	char text[64];
	struct tm tm;

	if (info->begin_realtime_ns > 0 && localtime_r(&seconds, &tm) && strftime(text, sizeof(text), "%F %T %z", &tm))
		printf(", recorded %s", text);
}

/* Who was recorded, for how long, with what. */
static void print_head(const char *path, const struct session *s)
{
	const struct recording_info *info = session_info(s);
	uint64_t span = info->end_ns > info->begin_ns ? info->end_ns - info->begin_ns : 0;
	const struct recording_process *p;
	char left_out[LEFT_OUT_TEXT];
	size_t nr;

	print_safe(path);
	p = session_processes(s, &nr);
	for (size_t i = 0; i < nr; i++) {
		if (p[i].pid != info->target_pid || !*p[i].name)
			continue;
		printf(": ");
		print_safe(p[i].name);
		break;
	}
	if (info->target_pid)
		printf(" (pid %u)", info->target_pid);
	if (span || !info->truncated)
		printf(", %llu.%03u s", (unsigned long long)(span / 1000000000), (unsigned int)(span / 1000000 % 1000));
	else
		printf(", how long is not known");
	print_when(info);
	putchar('\n');
	print_safe(*info->tool ? info->tool : "framescope");
	if (*info->kernel) {
		printf(" on Linux ");
		print_safe(info->kernel);
		putchar(' ');
		print_safe(info->machine);
	}
	if (*info->rung) {
		printf(", by ");
		print_safe(info->rung);
		if (info->direct_reads)
			printf(" with direct reads");
	}
	if (*info->overhead_source) {
		printf(", overhead: ");
		print_safe(info->overhead_source);
	}
	putchar('\n');
	if (*session_left_out(s, left_out, sizeof(left_out)))
		printf("Left out in the kernel: %s\n", left_out);
}

/* Processes that have events; all if there are no events. */
static size_t busy_processes(const struct session *s, size_t nr_processes)
{
	size_t nr, nr_busy = 0;
	const struct timeline *t = session_timelines(s, &nr);
	bool *busy = calloc(nr_processes + 1, sizeof(*busy));

	for (size_t i = 0; busy && i < nr; i++) {
		if (!t[i].nr_events || t[i].process >= nr_processes || busy[t[i].process])
			continue;
		busy[t[i].process] = true;
		nr_busy++;
	}
	free(busy);
	return nr_busy ? nr_busy : nr_processes;
}

/* One line with what there is, and one for each thing that is not as it should be. */
static void print_summary(const struct session *s, const struct report_stats *r)
{
	const struct session_counts *c = session_get_counts(s);
	const struct recording_info *info = session_info(s);
	char missing[INCOMPLETE_TEXT];
	size_t nr_probes, nr_processes, nr_notes, busy;

	session_probes(s, &nr_probes);
	session_processes(s, &nr_processes);
	busy = busy_processes(s, nr_processes);
	print_number("\n", r->all.events, "event", "");
	if (r->all.hits != r->all.events)
		print_number(" for ", r->all.hits, "call", "");
	print_number(" in ", busy, "process", "");
	if (busy != nr_processes)
		printf(" of %zu", nr_processes);
	printf("; %u of %zu attached probes were hit", r->hit, nr_probes - r->refused);
	if (r->left_out)
		printf(", %u more only by calls that are left out", r->left_out);
	print_number("; ", c->lost, "record", c->lost ? " LOST\n" : " lost\n");
	if (*session_incomplete(s, missing, sizeof(missing)))
		printf("! The recording is not complete: %s.\n", missing);
	session_notes(s, &nr_notes);
	if (nr_notes)
		print_number("! ", nr_notes, "note", " on what is missing: see Notes below.\n");
	if (!r->hit && !r->left_out && nr_probes > r->refused && !c->lost && !info->truncated && strcmp(info->rung, "import"))
		printf("None of the probed functions was called: use the page while it is recorded.\n");
	if (info->target_ended)
		printf("The target ended while it was recorded.\n");
}

int report_text(const char *path, const struct session *s, const struct report_stats *r)
{
	print_head(path, s);
	print_summary(s, r);
	return report_tables(s, r);
}
