// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * How fast records go into a recording and come out again, and how much room an event takes there.
 * usage: bench-recording [EVENTS | RECORDING.fscope [FILE]]; prints one JSON object. With a recording its records
 * are written again, else a million made-up events. FILE.partial is written and removed; without it memory is.
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

/* The records of a recording instead. */
static void load(struct bench *b, const char *path)
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
}

static void make(struct bench *b, uint64_t events)
{
	b->p = malloc(events * 190 + 1000000);
	if (!b->p)
		exit(1);
	for (size_t i = 0; i < STRINGS; i++)
		snprintf(b->strings[i], sizeof(b->strings[i]), "https://x.test/%05u", (unsigned int)(rnd() % 100000));
	while (b->events < events)
		call(b, 4000 + rnd() % THREADS, 0, 0x7ffd1000, 0);
}

int main(int argc, char **argv)
{
	struct recording_info info = { .begin_ns = 1, .end_ns = 2 };
	struct bench b = { .now = 1000000000, .call_id = 1 };
	struct error err = { .text = "failed" };
	uint64_t records = 0, total, bytes;
	const struct rec_header *rec;
	struct recording_writer *w;
	double start, write_s, read_s;
	struct recording *r;
	int fd;

	if (argc > 1 && strstr(argv[1], ".fscope"))
		load(&b, argv[1]);
	else
		make(&b, argc > 1 ? strtoull(argv[1], NULL, 10) : 1000000);

	start = seconds();
	check(recording_writer_create(argc > 2 ? argv[2] : NULL, &w, &err), &err);
	for (size_t at = 0; at < b.n; at += ((struct rec_header *)(b.p + at))->size) {
		check(recording_write_record(w, (struct rec_header *)(b.p + at)), &err);
		records++;
	}
	check(recording_writer_flush(w), &err);
	bytes = recording_writer_bytes(w);
	write_s = seconds() - start;
	total = records;
	printf("{\"events\": %llu, \"records_per_s\": %.0f, \"ns_per_record\": %.1f, \"bytes_per_event\": %.2f",
	       (unsigned long long)b.events, records / write_s, write_s / records * 1e9, (double)bytes / b.events);
	if (argc > 2) {
		recording_writer_abort(w);
		printf("}\n");
		return 0;
	}
	check(recording_writer_finish_fd(w, &info, NULL, 0, &fd, &err), &err);
	start = seconds();
	check(recording_open_fd(fd, "memory", &r, &err), &err);
	while (recording_next(r, &rec, &err) > 0)
		records--;
	read_s = seconds() - start;
	printf(", \"read_records_per_s\": %.0f, \"complete\": %s}\n", total / read_s, records ? "false" : "true");
	recording_close(r);
	free(b.p);
	return records != 0;
}
