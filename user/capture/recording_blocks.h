/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Finds the intact blocks of a recording file and inflates them. Everything in the file is hostile. */
#ifndef FRAMESCOPE_CAPTURE_RECORDING_BLOCKS_H
#define FRAMESCOPE_CAPTURE_RECORDING_BLOCKS_H

#include <stdbool.h>
#include <zlib.h>
#include "base/error.h"
#include "capture/recording_format.h"

struct block_reader {
	int fd;			/* the caller's */
	uint64_t size;		/* of the file when it was opened */
	uint64_t start;		/* of the first block */
	uint32_t version;
	uint32_t crc_seed;
	z_stream z;
	uint8_t *stored, *raw;	/* RECORDING_MAX_RAW each */
	uint8_t *window;	/* for the search after a damaged block */
};

struct block {
	struct block_header h;
	uint64_t at;		/* of its header */
	uint64_t next;		/* where the next one should be */
};

/* Checks the file header. `name` is for messages. On failure nothing has to be released. */
int blocks_open(struct block_reader *r, int fd, const char *name, struct error *err);
void blocks_close(struct block_reader *r);

/* The first block at or after `at` whose header is intact and which lies inside the file. 1, 0 at the end, -errno.
 * ret->at > at: what stands between is damaged. */
int blocks_find(struct block_reader *r, uint64_t at, struct block *ret);
/* Reads the payload and checks it. -EBADMSG if it is damaged. */
int blocks_check(struct block_reader *r, const struct block *b);
/* The same, and inflates it into r->raw, b->h.raw bytes. */
int blocks_inflate(struct block_reader *r, const struct block *b);

#endif
