/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The block layer of a recording that is written: deflates payloads, sums them up, appends them whole or not at all. */
#ifndef FRAMESCOPE_CAPTURE_RECORDING_SINK_H
#define FRAMESCOPE_CAPTURE_RECORDING_SINK_H

#include <stdbool.h>
#include <zlib.h>
#include "capture/recording_format.h"

struct block_sink {
	int fd;			/* the caller's */
	struct file_header head;
	uint64_t bytes;		/* written so far */
	uint32_t seq;
	uint32_t crc_seed;
	z_stream z;
	bool z_ready;
	uint8_t *block;		/* header and payload, as they go to the file */
	size_t room;
};

/* A part of a payload. Parts are deflated with tables of their own: they should differ from each other. */
struct piece {
	const uint8_t *data;
	size_t size;
};

/* Writes the file header. All zeros is a closed sink; a failed one has to be closed, too. -errno. */
int sink_open(struct block_sink *s, int fd);
/* Writes the header again with these features. -errno. */
int sink_features(struct block_sink *s, uint64_t features);
/* On failure the file ends where it ended before. -errno. */
int sink_block(struct block_sink *s, enum block_type type, uint32_t count, const struct piece *pieces, size_t nr);
void sink_close(struct block_sink *s);

#endif
