// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * How fast records go into a recording and come out again, and how much room an event takes there.
 * usage: bench-recording [EVENTS | RECORDING.fscope [FILE.fscope]]
 * Prints one JSON object. Takes the records of a recording, else a million made-up events. FILE.fscope is made and kept,
 * for other measurements; without it memory is written to.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "capture/recording_file.h"

#define THREADS 3
#define STRINGS 60

static uint64_t seed = 88172645463325252ULL;

static uint64_t rnd(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

/* Nanoseconds as they lie between two hits: mostly a few hundred, sometimes much more. */
static uint64_t gap(void)
{
	uint64_t r = rnd();

	return 300 + (r & 1023) + (r % 16 == 0 ? rnd() % 20000 : 0) + (r % 500 == 0 ? rnd() % 3000000 : 0);
}

struct bench {
	uint8_t *p;
	size_t n;
	uint64_t now, call_id;
	uint64_t events;
	char strings[STRINGS][21];
};

/* A call of 20 characters and a frame, with its children. */
static void call(struct bench *b, uint32_t tid, uint64_t parent, uint64_t sp, uint32_t depth)
{
	struct rec_begin *begin = (struct rec_begin *)(b->p + b->n);
	struct rec_arg text = { .field = FIELD_URL, .encoding = ENC_UTF8, .bytes = 20 };
	struct rec_arg frame = { .field = FIELD_FRAME, .encoding = ENC_INT, .bytes = 8 };
	uint64_t id = b->call_id++, frame_id = 0x3a0800 + tid;
	uint32_t probe = depth * 3 + rnd() % 3;
	struct rec_end *end;
	uint8_t *at = (uint8_t *)(begin + 1);

	b->now += gap();
	*begin = (struct rec_begin){
		.hdr = { REC_BEGIN, sizeof(*begin) + 40, tid, b->now }, .call_id = id, .parent_id = parent,
		.sp = sp - 0x90 - 0x40 * probe, .probe = probe, .tgid = 4000, .depth = depth, .arg_bytes = 36,
	};
	memcpy(at, &text, 4);
	memcpy(at + 4, b->strings[rnd() % STRINGS], 20);
	memcpy(at + 24, &frame, 4);
	memcpy(at + 28, &frame_id, 8);
	memset(at + 36, 0, 4);
	b->n += begin->hdr.size;
	for (uint32_t i = depth < 4 ? rnd() % 4 : 0; i; i--)
		call(b, tid, id, begin->sp, depth + 1);
	b->now += gap();
	end = (struct rec_end *)(b->p + b->n);
	*end = (struct rec_end){
		.hdr = { REC_END, sizeof(*end), tid, b->now }, .begin_ns = begin->hdr.ts_ns, .call_id = id,
		.parent_id = parent, .sp = begin->sp, .off_cpu_ns = rnd() % 50 ? 0 : rnd() % 100000, .probe = probe,
		.tgid = 4000, .depth = depth,
	};
	b->n += end->hdr.size;
	b->events++;
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static void check(int rc, const struct error *err)
{
	if (rc >= 0)
		return;
	fprintf(stderr, "bench-recording: %s\n", err->text);
	exit(1);
}

#define CHUNK_BYTES (64u << 20)	/* of made-up records: made apart from what is measured */
#define PROBES 15		/* five levels of three */

struct figures {
	uint64_t records, bytes;
	double write_s, read_s;
};

static void write_all(struct bench *b, struct recording_writer *w, struct figures *f)
{
	struct error err = { .text = "can't write" };
	double start = seconds();

	for (size_t at = 0; at < b->n; at += ((struct rec_header *)(b->p + at))->size) {
		check(recording_write_record(w, (struct rec_header *)(b->p + at)), &err);
		f->records++;
	}
	f->write_s += seconds() - start;
	b->n = 0;
}

static void write_made_up(struct bench *b, uint64_t events, struct recording_writer *w, struct figures *f)
{
	b->p = malloc(CHUNK_BYTES + 1000000);
	if (!b->p)
		exit(1);
	for (size_t i = 0; i < STRINGS; i++)
		snprintf(b->strings[i], sizeof(b->strings[i]), "https://x.test/%05u", (unsigned int)(rnd() % 100000));
	while (b->events < events) {
		while (b->events < events && b->n < CHUNK_BYTES)
			call(b, 4000 + rnd() % THREADS, 0, 0x7ffd1000, 0);
		write_all(b, w, f);
	}
}

/* The records of a recording instead. */
static void write_again(struct bench *b, const char *path, struct recording_writer *w, struct figures *f)
{
	const struct rec_header *rec;
	struct recording *r;
	struct error err;
	size_t room = 0;

	check(recording_open(path, &r, &err), &err);
	while (recording_next(r, &rec, &err) > 0) {
		if (room - b->n < RECORD_MAX_SIZE) {
			room = 2 * room + 1000000;
			b->p = realloc(b->p, room);
			if (!b->p)
				exit(1);
		}
		memcpy(b->p + b->n, rec, rec->size);
		b->n += rec->size;
		b->events += rec->type == REC_END;
	}
	recording_close(r);
	write_all(b, w, f);
}

/* What a reader needs around the made-up events. */
static void write_tables(struct recording_writer *w, struct recording_probe *probes)
{
	static char names[PROBES][16];

	for (int i = 0; i < PROBES; i++) {
		snprintf(names[i], sizeof(names[i]), "probe %d", i);
		probes[i] = (struct recording_probe){
			.name = names[i], .label = names[i], .type = EVENT_DOCUMENT_PARSING + i % 9, .kind = PROBE_KIND_SPAN,
			.cost_class = COST_EMULATED, .attached = true,
		};
	}
	recording_write_probes(w, probes, PROBES);
	recording_write_process(w, &(struct recording_process){ .pid = 4000, .inner_pid = 4000, .name = "made up" });
	for (uint32_t i = 0; i < THREADS; i++)
		recording_write_thread(w, &(struct recording_thread){ .tid = 4000 + i, .pid = 4000, .main = !i });
}

static uint64_t read_all(struct recording *r, struct figures *f)
{
	const struct rec_header *rec;
	double start = seconds();
	struct error err;
	uint64_t n = 0;

	while (recording_next(r, &rec, &err) > 0)
		n++;
	f->read_s = seconds() - start;
	recording_close(r);
	return n;
}

int main(int argc, char **argv)
{
	struct recording_info info = { .target_pid = 4000, .begin_ns = 1000000000, .tool = "bench-recording" };
	struct recording_probe probes[PROBES];
	struct bench b = { .now = 1000000000, .call_id = 1 };
	struct error err = { .text = "failed" };
	struct figures f = { 0 };
	struct recording_writer *w;
	struct recording *r;
	double start;
	bool same;
	int fd;

	check(recording_writer_create(argc > 2 ? argv[2] : NULL, &w, &err), &err);
	write_tables(w, probes);
	recording_writer_flush(w);
	f.bytes = recording_writer_bytes(w);
	if (argc > 1 && strstr(argv[1], ".fscope"))
		write_again(&b, argv[1], w, &f);
	else
		write_made_up(&b, argc > 1 ? strtoull(argv[1], NULL, 10) : 1000000, w, &f);
	start = seconds();
	check(recording_writer_flush(w), &err);
	f.write_s += seconds() - start;
	f.bytes = recording_writer_bytes(w) - f.bytes;
	info.end_ns = b.now;
	if (argc > 2) {
		check(recording_writer_finish(w, &info, probes, PROBES, &err), &err);
		check(recording_open(argv[2], &r, &err), &err);
	} else {
		check(recording_writer_finish_fd(w, &info, probes, PROBES, &fd, &err), &err);
		check(recording_open_fd(fd, "memory", &r, &err), &err);
	}
	same = read_all(r, &f) == f.records;
	printf("{\"events\": %llu, \"records\": %llu, \"write_records_per_s\": %.0f, \"read_records_per_s\": %.0f, "
	       "\"bytes_per_event\": %.2f, \"complete\": %s}\n", (unsigned long long)b.events,
	       (unsigned long long)f.records, f.records / f.write_s, f.records / f.read_s, (double)f.bytes / b.events,
	       same ? "true" : "false");
	free(b.p);
	return !same;
}
