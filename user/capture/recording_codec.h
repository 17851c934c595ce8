/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Records <-> the payload of one block: each field is predicted from what the block said before, and only what differs
 * from the prediction is written. Lossless for every record, known or not, with one exception: the padding of begin,
 * mark and end records comes out as zeros, whatever it was.
 *
 * A payload has five columns, since like bytes beside each other deflate better:
 *
 *   payload   = size of each column as a varint, then the columns
 *   COL_OP    per record: a byte, kind and which predictions failed; a second one if OP_EXT is set
 *   COL_TIME  difference of ts_ns to the record before (begin, mark, end), and of read_ns to the probe's last call
 *   COL_MISC  the other differences, in the order of the code
 *   COL_ARG   arguments that are not those of the probe's last call, and metrics
 *   COL_TEXT  each string once, and records of other types whole
 *
 * What is predicted: the thread is that of the record before; a call's id follows the thread's last; its parent and
 * depth come from the thread's open calls; an end repeats what its begin said; the probe is the one that came next the
 * last time; the distance of the stack pointers is that of the last call by the same parent; arguments repeat.
 */
#ifndef FRAMESCOPE_CAPTURE_RECORDING_CODEC_H
#define FRAMESCOPE_CAPTURE_RECORDING_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "record.h"

enum codec_column { COL_OP, COL_TIME, COL_MISC, COL_ARG, COL_TEXT, COL_COUNT };

#define CODEC_MAX_THREADS 1024	/* of one block; the writer closes it then */
#define CODEC_MAX_STRINGS 8192

/* Is this a record that can stand in a recording? Sizes of its parts are not looked at. */
bool record_is_valid(const struct rec_header *rec);

struct record_encoder;

int record_encoder_new(struct record_encoder **ret);
void record_encoder_free(struct record_encoder *e);
/* Begins a new block. */
void record_encoder_reset(struct record_encoder *e);
/* Adds one record. 1 if the block should be closed now, else 0; -EINVAL (record_is_valid), -ENOMEM. */
int record_encoder_add(struct record_encoder *e, const struct rec_header *rec);
uint32_t record_encoder_count(const struct record_encoder *e);
/* Does the block tell how long reading arguments took? RECORDING_FEATURE_READ. */
bool record_encoder_reads(const struct record_encoder *e);
/* The columns as they stand; valid until the next call. */
void record_encoder_columns(const struct record_encoder *e, const uint8_t *ret_data[COL_COUNT],
			    size_t ret_size[COL_COUNT]);

struct record_decoder;

int record_decoder_new(struct record_decoder **ret);
void record_decoder_free(struct record_decoder *d);
/* `payload` must stay until the last record is read. -EBADMSG if it cannot hold `count` records. */
int record_decoder_begin(struct record_decoder *d, const uint8_t *payload, size_t size, uint32_t count);
/* 1 and the next record, valid until the next call; 0 after the last; -EBADMSG if the payload is malformed, -ENOMEM. */
int record_decoder_next(struct record_decoder *d, const struct rec_header **ret);
/* How many records have not been read. */
uint32_t record_decoder_left(const struct record_decoder *d);

#endif
