// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The block layer of a recording: headers, checksums, the way on after damage, inflating. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "capture/recording_blocks.h"

#define WINDOW_BYTES 65536

/* -EBADMSG if the file ends before. */
static int read_at(const struct block_reader *r, void *buf, size_t n, uint64_t at)
{
	char *p = buf;

	while (n) {
		ssize_t got = pread(r->fd, p, n, at);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (!got)
			return -EBADMSG;
		p += got;
		at += got;
		n -= got;
	}
	return 0;
}

static int check_header(struct block_reader *r, const char *name, struct error *err)
{
	struct file_header h;
	int rc;

	if (!r->size)
		return error_set(err, ERR_INPUT, -EINVAL, "'%s' is empty: it is not a recording", name);
	rc = r->size < sizeof(h) ? -EBADMSG : read_at(r, &h, sizeof(h), 0);
	if (rc && rc != -EBADMSG)
		return error_set(err, ERR_INPUT, rc, "can't read '%s': %s", name, strerror(-rc));
	if (rc || memcmp(h.magic, RECORDING_MAGIC, sizeof(h.magic)))
		return error_set(err, ERR_INPUT, -EINVAL, "'%s' is not a recording: framescope record -o FILE.fscope makes one",
				 name);
	if (h.version > RECORDING_VERSION || h.features & ~RECORDING_FEATURES)
		return error_set(err, ERR_INPUT, -EPROTONOSUPPORT,
				 "'%s' was made by a newer framescope (format %u, features %#llx; this one reads format %u): "
				 "read it with that one", name, h.version, (unsigned long long)h.features, RECORDING_VERSION);
	if (h.crc != crc32(0, (const uint8_t *)&h, offsetof(struct file_header, crc)) || !h.version ||
	    h.size < sizeof(h) || h.size > r->size)
		return error_set(err, ERR_INPUT, -EBADMSG, "'%s' is damaged: its first bytes were changed, so nothing in it "
				 "can be trusted", name);
	r->start = h.size;
	r->version = h.version;
	r->crc_seed = crc32(0, (const uint8_t *)&h.nonce, sizeof(h.nonce));
	return 0;
}

int blocks_open(struct block_reader *r, int fd, const char *name, struct error *err)
{
	struct stat st;
	int rc;

	memset(r, 0, sizeof(*r));
	r->fd = fd;
	if (fstat(fd, &st))
		return error_set(err, ERR_INPUT, -errno, "can't read '%s': %s", name, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return error_set(err, ERR_INPUT, -EINVAL, "'%s' is not a regular file: name a recording (.fscope)", name);
	r->size = st.st_size;
	rc = check_header(r, name, err);
	if (rc)
		return rc;
	r->stored = malloc(RECORDING_MAX_RAW);
	r->raw = malloc(RECORDING_MAX_RAW);
	r->window = malloc(WINDOW_BYTES);
	if (!r->stored || !r->raw || !r->window || inflateInit2(&r->z, -15) != Z_OK) {
		blocks_close(r);
		return error_set(err, ERR_OTHER, -ENOMEM, "out of memory");
	}
	return 0;
}

void blocks_close(struct block_reader *r)
{
	inflateEnd(&r->z);
	free(r->stored);
	free(r->raw);
	free(r->window);
}

static bool header_ok(const struct block_reader *r, const struct block_header *h, uint64_t at)
{
	return h->magic == RECORDING_BLOCK_MAGIC && h->raw <= RECORDING_MAX_RAW && h->stored <= RECORDING_MAX_RAW &&
	       h->header_crc == crc32(r->crc_seed, (const uint8_t *)h, offsetof(struct block_header, header_crc)) &&
	       r->size - at - sizeof(*h) >= h->stored;
}

/* Is the header `h`, read from `at`, that of a block? */
static bool take(const struct block_reader *r, uint64_t at, const void *h, struct block *ret)
{
	memcpy(&ret->h, h, sizeof(ret->h));
	ret->at = at;
	ret->next = at + sizeof(ret->h) + ret->h.stored;
	return header_ok(r, &ret->h, at);
}

/* Goes on from `at` until there is an intact header. Linear in the size of what is skipped. */
static int search(struct block_reader *r, uint64_t at, struct block *ret)
{
	const uint32_t magic = RECORDING_BLOCK_MAGIC;

	while (r->size - at >= sizeof(ret->h)) {
		size_t n = r->size - at < WINDOW_BYTES ? r->size - at : WINDOW_BYTES;
		/* a header may begin here and still lie in the window */
		size_t last = n - sizeof(ret->h);
		const uint8_t *p = r->window;
		int rc = read_at(r, r->window, n, at);

		if (rc)
			return rc == -EBADMSG ? 0 : rc;
		while ((p = memmem(p, r->window + last + sizeof(magic) - p, &magic, sizeof(magic)))) {
			if (take(r, at + (p - r->window), p, ret))
				return 1;
			p++;
		}
		at += last + 1;
	}
	return 0;
}

int blocks_find(struct block_reader *r, uint64_t at, struct block *ret)
{
	struct block_header h;
	int rc;

	if (at > r->size || r->size - at < sizeof(h))
		return 0;
	rc = read_at(r, &h, sizeof(h), at);
	if (rc)
		return rc == -EBADMSG ? 0 : rc;
	return take(r, at, &h, ret) ? 1 : search(r, at + 1, ret);
}

int blocks_check(struct block_reader *r, const struct block *b)
{
	int rc = read_at(r, r->stored, b->h.stored, b->at + sizeof(b->h));

	if (rc)
		return rc;
	return crc32(r->crc_seed, r->stored, b->h.stored) == b->h.payload_crc ? 0 : -EBADMSG;
}

int blocks_inflate(struct block_reader *r, const struct block *b)
{
	int rc = blocks_check(r, b);

	if (rc)
		return rc;
	inflateReset(&r->z);
	r->z.next_in = r->stored;
	r->z.avail_in = b->h.stored;
	r->z.next_out = r->raw;
	r->z.avail_out = b->h.raw;
	/* exactly as long as it says */
	if (inflate(&r->z, Z_FINISH) != Z_STREAM_END || r->z.avail_in || r->z.avail_out)
		return -EBADMSG;
	return 0;
}
