// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Reads a recording: tables at once, records one by one. What is damaged is skipped and said so in the info. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "capture/recording_blocks.h"
#include "capture/recording_codec.h"
#include "capture/recording_file.h"
#include "capture/recording_tables.h"

struct recording {
	int fd;
	char *name;
	struct block_reader blocks;
	struct recording_tables tables;
	struct record_decoder *decoder;
	uint64_t at;		/* of the next block that recording_next() looks at */
	uint64_t judged;	/* up to here, what is malformed was counted */
	bool in_block;		/* the decoder has records left */
	bool ended;		/* BLOCK_END was seen */
};

static void damaged(struct recording *r)
{
	r->tables.info.truncated = true;
	r->tables.info.damaged_blocks++;
}

/* Takes in one block of the tables. */
static int take_block(struct recording *r, const struct block *b, uint64_t *ret_total)
{
	struct cursor c;
	int rc;

	switch (b->h.type) {
	case BLOCK_INFO: case BLOCK_PROBES: case BLOCK_PROCESSES: case BLOCK_THREADS:
		rc = blocks_inflate(&r->blocks, b);
		return rc ? rc : tables_take(&r->tables, b->h.type, b->h.count, r->blocks.raw, b->h.raw);
	case BLOCK_END:
		rc = blocks_inflate(&r->blocks, b);
		c = (struct cursor){ .p = r->blocks.raw, .end = r->blocks.raw + b->h.raw };
		*ret_total = rc ? 0 : cursor_varint(&c);
		r->ended = !rc;
		return rc;
	default:
		return blocks_check(&r->blocks, b);
	}
}

/* Goes through all blocks once: tables, checksums, whether something is missing. *ret_last is the last of records. */
static int scan(struct recording *r, struct block *ret_last)
{
	uint64_t at = r->blocks.start, total = 0, records = 0;
	uint32_t seq = 0;
	struct recording_info *info = &r->tables.info;
	struct block b;

	while (!r->ended) {
		int rc = blocks_find(&r->blocks, at, &b);

		if (rc < 0)
			return rc;
		if (!rc)
			break;
		if (b.at != at || b.h.seq != seq)
			damaged(r);
		rc = take_block(r, &b, &total);
		if (rc == -EBADMSG) {
			damaged(r);
			info->missing_records += b.h.type == BLOCK_RECORDS ? b.h.count : 0;
		} else if (rc) {
			return rc;
		} else if (b.h.type == BLOCK_RECORDS) {
			records += b.h.count;
			*ret_last = b;
		}
		seq = b.h.seq + 1;
		at = b.next;
	}
	info->cut_off = !r->ended;
	info->missing_exact = r->ended && total >= records;
	if (info->missing_exact)
		info->missing_records = total - records;
	info->truncated |= !r->ended || total != records || r->tables.overflow || info->source_cut;
	return 0;
}

/* A recording that never came to its end has none in its info: its last record tells. */
static void find_end(struct recording *r, const struct block *last)
{
	struct recording_info *info = &r->tables.info;
	const struct rec_header *rec;

	if (info->end_ns || !last->h.raw)
		return;
	if (blocks_inflate(&r->blocks, last) ||
	    record_decoder_begin(r->decoder, r->blocks.raw, last->h.raw, last->h.count))
		return;
	while (record_decoder_next(r->decoder, &rec) > 0)
		if (rec->ts_ns > info->end_ns)
			info->end_ns = rec->ts_ns;
}

int recording_open_fd(int fd, const char *name, struct recording **ret, struct error *err)
{
	struct recording *r = calloc(1, sizeof(*r));
	struct block last = { 0 };
	bool open = false;
	int rc = -ENOMEM;

	if (!r) {
		close(fd);
		return error_set(err, ERR_OTHER, -ENOMEM, "out of memory");
	}
	r->fd = fd;
	r->name = strdup(name);
	if (!r->name || record_decoder_new(&r->decoder))
		goto failed;
	rc = blocks_open(&r->blocks, fd, name, err);
	if (rc)
		goto released;
	open = true;
	tables_init(&r->tables);
	rc = scan(r, &last);
	if (rc)
		goto failed;
	r->tables.info.version = r->blocks.version;
	find_end(r, &last);
	recording_rewind(r);
	*ret = r;
	return 0;
failed:
	error_set(err, rc == -ENOMEM ? ERR_OTHER : ERR_INPUT, rc, "can't read '%s': %s", name, strerror(-rc));
released:
	if (open) {
		blocks_close(&r->blocks);
		tables_release(&r->tables);
	}
	record_decoder_free(r->decoder);
	close(r->fd);
	free(r->name);
	free(r);
	return rc;
}

int recording_open(const char *path, struct recording **ret, struct error *err)
{
	/* O_NONBLOCK: a named pipe must not hold us up before we see that it is none of ours */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd < 0)
		return error_set(err, ERR_INPUT, -errno, "can't open '%s': %s; check the path and your rights", path, strerror(errno));
	return recording_open_fd(fd, path, ret, err);
}

void recording_close(struct recording *r)
{
	if (!r)
		return;
	blocks_close(&r->blocks);
	tables_release(&r->tables);
	record_decoder_free(r->decoder);
	close(r->fd);
	free(r->name);
	free(r);
}

const struct recording_info *recording_get_info(const struct recording *r)
{
	return &r->tables.info;
}

const struct recording_probe *recording_get_probes(const struct recording *r, size_t *ret_nr)
{
	*ret_nr = r->tables.nr_probes;
	return r->tables.probes;
}

const struct recording_process *recording_get_processes(const struct recording *r, size_t *ret_nr)
{
	*ret_nr = r->tables.nr_processes;
	return r->tables.processes;
}

const struct recording_thread *recording_get_threads(const struct recording *r, size_t *ret_nr)
{
	*ret_nr = r->tables.nr_threads;
	return r->tables.threads;
}

/* Well summed but malformed: only a program that means harm writes this; what follows may be right. */
static void malformed(struct recording *r, uint32_t missing)
{
	if (r->at <= r->judged)
		return;	/* read once more */
	r->judged = r->at;
	damaged(r);
	r->tables.info.missing_records += missing;
}

/* Makes the decoder ready for the next block of records. 1, 0 at the end, -errno. */
static int next_block(struct recording *r)
{
	struct block b;
	int rc;

	while ((rc = blocks_find(&r->blocks, r->at, &b)) > 0 && b.h.type != BLOCK_END) {
		r->at = b.next;
		if (b.h.type != BLOCK_RECORDS)
			continue;
		rc = blocks_inflate(&r->blocks, &b);
		if (!rc)
			rc = record_decoder_begin(r->decoder, r->blocks.raw, b.h.raw, b.h.count);
		if (!rc)
			return 1;
		if (rc != -EBADMSG)
			return rc;
		/* the others were counted when the file was opened */
		if (!blocks_check(&r->blocks, &b))
			malformed(r, b.h.count);
	}
	return rc < 0 ? rc : 0;
}

int recording_next(struct recording *r, const struct rec_header **ret, struct error *err)
{
	int rc;

	for (;;) {
		rc = r->in_block ? record_decoder_next(r->decoder, ret) : 0;
		if (rc > 0)
			return 1;
		if (rc == -EBADMSG)
			malformed(r, record_decoder_left(r->decoder));
		else if (rc < 0)
			break;
		rc = next_block(r);
		r->in_block = rc > 0;
		if (rc <= 0)
			break;
	}
	if (rc < 0)
		error_set(err, rc == -ENOMEM ? ERR_OTHER : ERR_INPUT, rc, "can't read '%s': %s", r->name, strerror(-rc));
	return rc;
}

int recording_rewind(struct recording *r)
{
	r->at = r->blocks.start;
	r->in_block = false;
	return 0;
}
