// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Foreign profiles of any content: they are refused or become records, and what those make goes through the exporters.
 * sources: user/export/chrome*.c user/export/csv.c user/export/devtools*.c user/export/emit.c user/export/export.c user/export/folded.c user/export/heap.c user/export/input.c user/export/html*.c user/export/import*.c user/export/jsonl.c user/export/metrics.c user/export/pairs.c user/export/rates.c user/export/selectors.c user/export/shown.c user/export/speedscope.c user/export/stacks.c user/export/trie.c user/export/walk.c user/model/*.c user/base/error.c user/base/json_repair.c user/base/jsonscan.c user/base/trace_events.c user/base/text.c user/base/outfile.c user/base/owner.c
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "export/export.h"
#include "export/formats.h"
#include "export/import.h"

/* The writer that the importer is given: it keeps what it is told, and gives it to the model in the end. */
struct recording_writer {
	struct recording_probe probes[RECORD_MAX_PROBES];
	struct recording_process procs[256];
	struct recording_thread threads[256];
	size_t nr_probes, nr_procs, nr_threads, size;
	union {
		uint8_t bytes[1 << 20];
		uint64_t align;
	} records;
	struct session *session;
};

static struct recording_writer writer;

int recording_write_probes(struct recording_writer *w, const struct recording_probe *probes, size_t nr)
{
	if (nr > RECORD_MAX_PROBES)
		abort();
	memcpy(w->probes, probes, nr * sizeof(*probes));
	w->nr_probes = nr;
	return 0;
}

int recording_write_process(struct recording_writer *w, const struct recording_process *p)
{
	if (w->nr_procs < 256)
		w->procs[w->nr_procs++] = *p;
	return 0;
}

int recording_write_thread(struct recording_writer *w, const struct recording_thread *t)
{
	if (w->nr_threads < 256)
		w->threads[w->nr_threads++] = *t;
	return 0;
}

int recording_write_record(struct recording_writer *w, const struct rec_header *rec)
{
	if (rec->size < sizeof(*rec) || rec->size > RECORD_MAX_SIZE || rec->size % 8)
		abort();
	if (sizeof(w->records.bytes) - w->size < rec->size)
		return -ENOSPC;
	memcpy(w->records.bytes + w->size, rec, rec->size);
	w->size += rec->size;
	return 0;
}

int recording_writer_features(struct recording_writer *w, uint64_t features)
{
	(void)w;
	(void)features;
	return 0;
}

void recording_writer_abort(struct recording_writer *w)
{
	(void)w;
}

int recording_writer_finish(struct recording_writer *w, const struct recording_info *info, const struct recording_probe *probes,
			    size_t nr, struct error *err)
{
	struct session_builder *b;

	(void)err;
	if (session_builder_new(&b) || session_builder_tables(b, info, probes, nr, w->procs, w->nr_procs, w->threads, w->nr_threads))
		abort();
	for (size_t at = 0; at < w->size; at += ((struct rec_header *)(w->records.bytes + at))->size)
		if (session_builder_add(b, (struct rec_header *)(w->records.bytes + at)))
			abort();
	return session_builder_finish(b, &w->session);
}

/* Perfetto's needs code that protoc-c makes; its text comes through the same helpers as the others'. */
static int nothing(const struct session *s, const struct export_options *opt, struct outfile *f, struct exporter **ret)
{
	(void)s, (void)opt, (void)f, (void)ret;
	return -ENOSYS;
}

const struct export_format export_perfetto = { .name = "perfetto", .extension = ".pftrace", .summary = "", .begin = nothing };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct export_options opt = { .redact = size & 1, .begin_end = size & 2 };
	const struct export_format *format;
	struct import_counts counts;
	struct error err;
	size_t pick = 0, nr = 0;
	char *text = malloc(size + 1);
	int rc;

	if (!text)
		abort();
	memcpy(text, data, size);
	text[size] = '\0';
	writer.nr_probes = writer.nr_procs = writer.nr_threads = writer.size = 0;
	writer.session = NULL;
	rc = import_text(text, size, "fuzz", &writer, &counts, &err);
	if (!rc && !writer.session)
		abort();
	/* one format each, since some set much memory up: the same text always goes to the same */
	for (size_t i = 0; i < size; i++)
		pick = pick * 31 + data[i];
	while (export_formats[nr])
		nr++;
	format = export_formats[pick % nr];
	if (!rc && format != &export_perfetto && export_session(writer.session, format, &opt, "/dev/null", &err))
		abort();
	session_free(writer.session);
	free(text);
	return 0;
}
