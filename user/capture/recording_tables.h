/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The tables of a recording as payloads. An item is its size in bytes as a varint, then its fields in the order of
 * recording_tables.c: numbers as varints, texts as size and bytes. Fields are only ever appended, so an older reader
 * skips what it does not know and a newer one finds zeros and empty texts.
 *
 *   BLOCK_INFO                       one item
 *   BLOCK_PROBES                     index of the first as a varint, then items
 *   BLOCK_PROCESSES, BLOCK_THREADS   items; a later one of the same process or thread replaces the earlier
 */
#ifndef FRAMESCOPE_CAPTURE_RECORDING_TABLES_H
#define FRAMESCOPE_CAPTURE_RECORDING_TABLES_H

#include "capture/recording_bytes.h"
#include "capture/recording_keys.h"
#include "recording.h"

#define TABLE_MAX_PROCESSES 65536u
#define TABLE_MAX_THREADS 262144u
#define TABLE_MAX_TEXT (64u << 20)	/* bytes of all texts in one file */

/* --- writing --- */

struct bytes {
	uint8_t *p;
	size_t n, room;
};

/* They append to b. -ENOMEM. */
int bytes_add_varint(struct bytes *b, uint64_t v);
int table_put_info(struct bytes *b, const struct recording_info *info);
int table_put_probe(struct bytes *b, const struct recording_probe *p);
int table_put_process(struct bytes *b, const struct recording_process *p);
int table_put_thread(struct bytes *b, const struct recording_thread *t);

/* --- reading --- */

struct text_chunk;

struct recording_tables {
	struct recording_info info;
	struct recording_probe *probes;
	struct recording_process *processes;
	struct recording_thread *threads;
	size_t nr_probes, nr_processes, nr_threads;
	size_t room_processes, room_threads;
	struct key_index process_index, thread_index;
	struct text_chunk *texts;
	size_t text_bytes;
	bool overflow;		/* a limit was reached: something was left out */
};

void tables_init(struct recording_tables *t);
/* Takes in the payload of one block. Unknown types and malformed items are left out: then -EBADMSG. Or -ENOMEM. */
int tables_take(struct recording_tables *t, int block_type, uint32_t count, const uint8_t *payload, size_t n);
void tables_release(struct recording_tables *t);

#endif
