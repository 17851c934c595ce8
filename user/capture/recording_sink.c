// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Blocks on their way into the file. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>
#include "capture/recording_sink.h"

static int write_at(int fd, const void *data, size_t n, uint64_t at)
{
	const char *p = data;

	while (n) {
		ssize_t done = pwrite(fd, p, n, at);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return -errno;
		p += done;
		at += done;
		n -= done;
	}
	return 0;
}

static int append(struct block_sink *s, const void *data, size_t n)
{
	int rc = write_at(s->fd, data, n, s->bytes);

	if (!rc)
		s->bytes += n;
	else if (ftruncate(s->fd, s->bytes))
		return rc;	/* half a block stays behind, then: readers skip it */
	return rc;
}

int sink_open(struct block_sink *s, int fd)
{
	struct file_header h = {
		.magic = RECORDING_MAGIC, .version = RECORDING_VERSION, .size = sizeof(h), .features = 0,
	};

	*s = (struct block_sink){ .fd = fd };
	/* -15: no zlib header. Level 1, since it runs beside the browser; higher ones gain 5 % and cost twice the time */
	if (deflateInit2(&s->z, 1, Z_DEFLATED, -15, 9, Z_DEFAULT_STRATEGY) != Z_OK)
		return -ENOMEM;
	s->z_ready = true;
	/* early in boot it may come short; any number does for us */
	if (getrandom(&h.nonce, sizeof(h.nonce), GRND_NONBLOCK) != sizeof(h.nonce))
		h.nonce = (uint64_t)time(NULL) << 20 ^ (uint64_t)getpid();
	h.crc = crc32(0, (const uint8_t *)&h, offsetof(struct file_header, crc));
	s->crc_seed = crc32(0, (const uint8_t *)&h.nonce, sizeof(h.nonce));
	s->head = h;
	return append(s, &h, sizeof(h));
}

int sink_features(struct block_sink *s, uint64_t features)
{
	if ((s->head.features & features) == features)
		return 0;
	s->head.features |= features;
	s->head.crc = crc32(0, (const uint8_t *)&s->head, offsetof(struct file_header, crc));
	return write_at(s->fd, &s->head, sizeof(s->head), 0);
}

static int reserve(struct block_sink *s, size_t n)
{
	if (n <= s->room)
		return 0;
	free(s->block);
	s->block = malloc(n);
	s->room = s->block ? n : 0;
	return s->block ? 0 : -ENOMEM;
}

/* Deflates the pieces behind the header's place. */
static int pack(struct block_sink *s, const struct piece *pieces, size_t nr, struct block_header *h)
{
	int rc = Z_OK;

	for (size_t i = 0; i < nr; i++)
		h->raw += pieces[i].size;
	deflateReset(&s->z);
	/* each flush between two pieces may take some bytes more than deflateBound() knows of */
	if (reserve(s, sizeof(*h) + deflateBound(&s->z, h->raw) + 64 * nr))
		return -ENOMEM;
	s->z.next_out = s->block + sizeof(*h);
	s->z.avail_out = s->room - sizeof(*h);
	for (size_t i = 0; i < nr; i++) {
		int mode = i + 1 == nr ? Z_FINISH : Z_BLOCK;

		s->z.next_in = (uint8_t *)pieces[i].data;
		s->z.avail_in = pieces[i].size;
		if (pieces[i].size || mode == Z_FINISH)
			rc = deflate(&s->z, mode);
	}
	h->stored = s->z.next_out - s->block - sizeof(*h);
	return rc == Z_STREAM_END ? 0 : -EIO;
}

int sink_block(struct block_sink *s, enum block_type type, uint32_t count, const struct piece *pieces, size_t nr)
{
	struct block_header h = { .magic = RECORDING_BLOCK_MAGIC, .type = type, .seq = s->seq, .count = count };
	int rc = pack(s, pieces, nr, &h);

	if (rc)
		return rc;
	h.payload_crc = crc32(s->crc_seed, s->block + sizeof(h), h.stored);
	h.header_crc = crc32(s->crc_seed, (const uint8_t *)&h, offsetof(struct block_header, header_crc));
	memcpy(s->block, &h, sizeof(h));
	rc = append(s, s->block, sizeof(h) + h.stored);
	if (!rc)
		s->seq++;
	return rc;
}

void sink_close(struct block_sink *s)
{
	if (s->z_ready)
		deflateEnd(&s->z);
	free(s->block);
	*s = (struct block_sink){ .fd = -1 };
}
