// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Hostile recordings: files as they come, files whose checksums are right and whose contents are not, and records of
 * any content that must come out as they went in.
 * sources: user/capture/recording_reader.c user/capture/recording_blocks.c user/capture/recording_tables.c user/capture/recording_keys.c user/capture/recording_decode.c user/capture/recording_encode.c user/capture/recording_state.c user/capture/recording_writer.c user/capture/recording_sink.c user/base/error.c user/base/text.c user/base/owner.c
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>
#include "capture/recording_file.h"
#include "capture/recording_format.h"

#define MAX_RECORDS 100000	/* a few bytes may stand for very many: enough is enough */

static void read_all(int fd)
{
	const struct recording_probe *p;
	const struct rec_header *rec;
	struct error err;
	struct recording *r;
	size_t nr, bytes = 0;

	if (recording_open_fd(fd, "fuzz", &r, &err))
		return;
	p = recording_get_probes(r, &nr);
	for (size_t i = 0; i < nr; i++)
		bytes += strlen(p[i].name) + strlen(p[i].evidence) + strlen(p[i].refused);
	bytes += strlen(recording_get_info(r)->tool);
	for (int pass = 0; pass < 2; pass++) {
		for (int i = 0; i < MAX_RECORDS && recording_next(r, &rec, &err) > 0; i++) {
			if (rec->size < sizeof(*rec) || rec->size > RECORD_MAX_SIZE || rec->size % 8)
				abort();
			/* all of it must be there to be read */
			bytes += ((const uint8_t *)rec)[rec->size - 1];
		}
		recording_rewind(r);
	}
	recording_close(r);
	if (bytes == SIZE_MAX)
		abort();
}

static int memory_file(void)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	if (fd < 0)
		abort();
	return fd;
}

static void put(int fd, const void *p, size_t n)
{
	if (write(fd, p, n) != (ssize_t)n)
		abort();
}

static void put_header(int fd)
{
	struct file_header h = { .magic = RECORDING_MAGIC, .version = RECORDING_VERSION, .size = sizeof(h) };

	h.crc = crc32(0, (const uint8_t *)&h, offsetof(struct file_header, crc));
	put(fd, &h, sizeof(h));
}

/* A block that passes every check of the outer layer. */
static void put_block(int fd, uint32_t seq, int type, uint32_t count, const uint8_t *raw, size_t n)
{
	struct block_header h = { .magic = RECORDING_BLOCK_MAGIC, .type = type, .seq = seq, .raw = n, .count = count };
	uint8_t *stored = malloc(n + 1000);
	uint64_t nonce = 0;
	uint32_t seed = crc32(0, (const uint8_t *)&nonce, sizeof(nonce));
	z_stream z = { 0 };

	if (!stored || deflateInit2(&z, 0, Z_DEFLATED, -15, 8, 0) != Z_OK)
		abort();
	z.next_in = (uint8_t *)raw;
	z.avail_in = n;
	z.next_out = stored;
	z.avail_out = n + 1000;
	if (deflate(&z, Z_FINISH) != Z_STREAM_END)
		abort();
	h.stored = z.total_out;
	deflateEnd(&z);
	h.payload_crc = crc32(seed, stored, h.stored);
	h.header_crc = crc32(seed, (const uint8_t *)&h, offsetof(struct block_header, header_crc));
	put(fd, &h, sizeof(h));
	put(fd, stored, h.stored);
	free(stored);
}

/* Pieces of type, count and size, then that many bytes. */
static void fuzz_blocks(const uint8_t *p, size_t n)
{
	int fd = memory_file();

	put_header(fd);
	for (uint32_t seq = 0; n >= 4 && seq < 16; seq++) {
		size_t size = p[2] | p[3] << 8;

		if (size > n - 4)
			size = n - 4;
		put_block(fd, seq, p[0], p[1], p + 4, size);
		p += 4 + size;
		n -= 4 + size;
	}
	read_all(fd);
}

/* What the padding of a record is by definition. */
static void zero_padding(struct rec_header *rec)
{
	struct rec_begin *b = (struct rec_begin *)rec;
	struct rec_end *e = (struct rec_end *)rec;
	uint8_t *args = (uint8_t *)(b + 1);
	size_t at = 0;

	if (rec->type == REC_END && rec->size >= sizeof(*e) && e->nr_metrics <= RECORD_MAX_METRICS &&
	    rec->size == sizeof(*e) + 8 * e->nr_metrics)
		e->pad = 0;
	if ((rec->type != REC_BEGIN && rec->type != REC_MARK) || rec->size < sizeof(*b) ||
	    rec->size != (sizeof(*b) + b->arg_bytes + 7) / 8 * 8)
		return;
	b->pad = b->pad2 = 0;
	memset(args + b->arg_bytes, 0, rec->size - sizeof(*b) - b->arg_bytes);
	/* the arguments' own, if all of them are well-formed */
	for (int pass = 0; pass < 2; pass++, at = 0) {
		for (int i = 0; at < b->arg_bytes; i++) {
			struct rec_arg a;
			size_t padded;

			if (i == RECORD_MAX_ARGS || b->arg_bytes - at < sizeof(a))
				return;
			memcpy(&a, args + at, sizeof(a));
			at += sizeof(a);
			padded = ((size_t)a.bytes + 3) / 4 * 4;
			if (b->arg_bytes - at < padded)
				return;
			if (pass)
				memset(args + at + a.bytes, 0, padded - a.bytes);
			at += padded;
		}
	}
}

/* The bytes are records: what must be so for that is put in order first. */
static void fuzz_records(const uint8_t *p, size_t n)
{
	size_t at, size = n / 8 * 8;
	struct recording_info info = { 0 };
	const struct rec_header *rec;
	struct recording_writer *w;
	struct recording *r;
	struct error err;
	uint8_t *copy = malloc(size + RECORD_MAX_SIZE);
	int fd;

	if (!copy || recording_writer_create(NULL, &w, &err))
		abort();
	memcpy(copy, p, size);
	for (at = 0; size - at >= sizeof(*rec); at += rec->size) {
		struct rec_header *h = (struct rec_header *)(copy + at);

		h->size = h->size % RECORD_MAX_SIZE / 8 * 8;
		if (h->size < sizeof(*h))
			h->size = sizeof(*h);
		if (h->size > size - at)
			h->size = size - at;
		if (h->type > 20)
			h->type %= 4;
		if (recording_write_record(w, h))
			abort();
		if (h->type == 3 && h->tid % 8 == 0 && recording_writer_flush(w))
			abort();
		zero_padding(h);
		rec = h;
	}
	size = at;
	if (recording_writer_finish_fd(w, &info, NULL, 0, &fd, &err) || recording_open_fd(fd, "fuzz", &r, &err))
		abort();
	for (at = 0; at < size; at += rec->size)
		if (recording_next(r, &rec, &err) != 1 || memcmp(rec, copy + at, rec->size))
			abort();
	if (recording_next(r, &rec, &err) || recording_get_info(r)->truncated)
		abort();
	recording_close(r);
	free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd;

	if (!size)
		return 0;
	if (data[0] % 4 == 0) {
		fd = memory_file();
		if (data[0] & 4)
			put_header(fd);
		put(fd, data + 1, size - 1);
		read_all(fd);
	} else if (data[0] % 4 == 1) {
		fuzz_records(data + 1, size - 1);
	} else {
		fuzz_blocks(data + 1, size - 1);
	}
	return 0;
}
