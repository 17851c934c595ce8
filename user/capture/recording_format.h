/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The layout of a .fscope file. All integers are little endian.
 *
 *   file   = file_header block*
 *   block  = block_header payload            payload: `stored` bytes of raw deflate, `raw` bytes inflated
 *
 * Every block is decodable alone: nothing in it refers to another block. BLOCK_END is the last of a complete file.
 * What stands in a payload of records is told by recording_codec.h, what in the tables by recording_tables.h.
 */
#ifndef FRAMESCOPE_CAPTURE_RECORDING_FORMAT_H
#define FRAMESCOPE_CAPTURE_RECORDING_FORMAT_H

#include <stddef.h>
#include <stdint.h>
#include "capture/recording_file.h"

/* Not text, and broken by whatever changes line ends, as PNG's is. */
#define RECORDING_MAGIC "\x89" "FSCOP\r\n"
#define RECORDING_VERSION 1
/* A set bit that a reader does not know means that it cannot read the file. Those that are known: */
#define RECORDING_FEATURES (RECORDING_FEATURE_OVERHEAD | RECORDING_FEATURE_READ)

#define RECORDING_BLOCK_MAGIC 0x4b4c4246u	/* "FBLK" */
#define RECORDING_BLOCK_BYTES (256u * 1024)	/* a block is closed when its payload reaches this */
#define RECORDING_MAX_RAW (1024u * 1024)	/* a reader refuses larger payloads, inflated or stored */
#define RECORDING_MAX_TEXT 8192u		/* bytes of one string in a table; longer ones are cut */

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "recordings are little endian: add the conversions for this machine"
#endif

enum block_type {
	BLOCK_INFO = 1,		/* struct recording_info; the last one counts */
	BLOCK_PROBES = 2,	/* a part of the probe table; a later one replaces what it covers */
	BLOCK_PROCESSES = 3,
	BLOCK_THREADS = 4,
	BLOCK_RECORDS = 5,
	BLOCK_END = 6,		/* how many records there are; nothing follows */
};

struct file_header {
	uint8_t magic[8];
	uint32_t version;
	uint32_t size;		/* of this header; blocks begin there */
	uint64_t features;	/* see RECORDING_FEATURES */
	uint64_t nonce;		/* random; goes into the blocks' checksums, so that no text in a payload passes for a block */
	uint32_t reserved;
	uint32_t crc;		/* CRC-32 of what stands before it */
};

struct block_header {
	uint32_t magic;
	uint16_t type;		/* enum block_type; unknown ones are skipped */
	uint16_t flags;		/* 0 */
	uint32_t seq;		/* 0, 1, 2, …: a gap is a lost block */
	uint32_t raw;
	uint32_t stored;
	uint32_t count;		/* records or table entries */
	uint32_t payload_crc;	/* CRC-32 of the stored bytes, begun with the nonce's */
	uint32_t header_crc;	/* the same of what stands before it: sizes are trusted only after it */
};

_Static_assert(sizeof(struct file_header) == 40, "file header layout");
_Static_assert(offsetof(struct file_header, features) == 16, "file header layout");
_Static_assert(offsetof(struct file_header, crc) == 36, "file header layout");
_Static_assert(sizeof(struct block_header) == 32, "block header layout");
_Static_assert(offsetof(struct block_header, raw) == 12, "block header layout");
_Static_assert(offsetof(struct block_header, header_crc) == 28, "block header layout");

#endif
