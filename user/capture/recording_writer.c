// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Writes a recording block by block: whatever happens, what was written before stays readable. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>
#include "base/owner.h"
#include "capture/recording_bytes.h"
#include "capture/recording_codec.h"
#include "capture/recording_file.h"
#include "capture/recording_format.h"
#include "capture/recording_tables.h"
#include "version.h"

struct recording_writer {
	int fd, folder;		/* folder is -1 for a file in memory */
	char *path;		/* as given; NULL in memory */
	char *name, *partial;	/* in that folder */
	int error;		/* the first; sticks */
	uint64_t bytes, records;
	uint32_t seq;
	uint32_t crc_seed;
	z_stream z;
	bool z_ready;
	uint8_t *block;		/* header and payload, as they go to the file */
	size_t block_room;
	struct record_encoder *encoder;
	struct bytes processes, threads;	/* pending */
	uint32_t nr_processes, nr_threads;
};

struct piece {
	const uint8_t *data;
	size_t size;
};

static int fail(struct recording_writer *w, int rc)
{
	if (!w->error)
		w->error = rc;
	return w->error;
}

/* --- blocks --- */

static int write_all(struct recording_writer *w, const void *data, size_t n)
{
	const char *p = data;
	uint64_t at = w->bytes;

	while (n) {
		ssize_t done = pwrite(w->fd, p, n, at);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			break;
		p += done;
		at += done;
		n -= done;
	}
	if (n) {
		int rc = -errno;

		/* half a block is of no use; where it can't be cut off, readers skip it */
		return ftruncate(w->fd, w->bytes) ? rc : rc;
	}
	w->bytes = at;
	return 0;
}

/* Deflates the pieces behind the header's place in w->block. */
static int pack(struct recording_writer *w, const struct piece *pieces, size_t nr, uint32_t *ret_raw,
		uint32_t *ret_stored)
{
	size_t raw = 0, need;
	int rc = Z_OK;

	for (size_t i = 0; i < nr; i++)
		raw += pieces[i].size;
	deflateReset(&w->z);
	need = sizeof(struct block_header) + deflateBound(&w->z, raw) + 64 * nr;
	if (need > w->block_room) {
		free(w->block);
		w->block_room = 0;
		w->block = malloc(need);
		if (!w->block)
			return -ENOMEM;
		w->block_room = need;
	}
	w->z.next_out = w->block + sizeof(struct block_header);
	w->z.avail_out = w->block_room - sizeof(struct block_header);
	for (size_t i = 0; i < nr; i++) {
		int mode = i + 1 == nr ? Z_FINISH : Z_BLOCK;

		w->z.next_in = (uint8_t *)pieces[i].data;
		w->z.avail_in = pieces[i].size;
		if (pieces[i].size || mode == Z_FINISH)
			rc = deflate(&w->z, mode);
	}
	if (rc != Z_STREAM_END)
		return -EIO;
	*ret_raw = raw;
	*ret_stored = w->z.next_out - w->block - sizeof(struct block_header);
	return 0;
}

static int write_block(struct recording_writer *w, enum block_type type, uint32_t count, const struct piece *pieces,
		       size_t nr)
{
	struct block_header h = { .magic = RECORDING_BLOCK_MAGIC, .type = type, .seq = w->seq, .count = count };
	int rc;

	if (w->error)
		return w->error;
	rc = pack(w, pieces, nr, &h.raw, &h.stored);
	if (rc)
		return fail(w, rc);
	h.payload_crc = crc32(w->crc_seed, w->block + sizeof(h), h.stored);
	h.header_crc = crc32(w->crc_seed, (const uint8_t *)&h, offsetof(struct block_header, header_crc));
	memcpy(w->block, &h, sizeof(h));
	rc = write_all(w, w->block, sizeof(h) + h.stored);
	if (rc)
		return fail(w, rc);
	w->seq++;
	return 0;
}

static int write_pending(struct recording_writer *w, enum block_type type, struct bytes *b, uint32_t *count)
{
	struct piece piece = { b->p, b->n };
	int rc;

	if (!b->n)
		return 0;
	rc = write_block(w, type, *count, &piece, 1);
	b->n = 0;
	*count = 0;
	return rc;
}

static int write_records(struct recording_writer *w)
{
	uint8_t head[COL_COUNT * VARINT_MAX], *end = head;
	const uint8_t *data[COL_COUNT];
	struct piece pieces[1 + COL_COUNT];
	size_t size[COL_COUNT];
	uint32_t count = record_encoder_count(w->encoder);
	int rc;

	if (!count)
		return 0;
	record_encoder_columns(w->encoder, data, size);
	for (size_t i = 0; i < COL_COUNT; i++) {
		end = varint_put(end, size[i]);
		pieces[1 + i] = (struct piece){ data[i], size[i] };
	}
	pieces[0] = (struct piece){ head, end - head };
	rc = write_block(w, BLOCK_RECORDS, count, pieces, 1 + COL_COUNT);
	record_encoder_reset(w->encoder);
	return rc;
}

int recording_writer_flush(struct recording_writer *w)
{
	/* tables first: a reader of a file that ends early knows the threads of the records that it has */
	write_pending(w, BLOCK_PROCESSES, &w->processes, &w->nr_processes);
	write_pending(w, BLOCK_THREADS, &w->threads, &w->nr_threads);
	write_records(w);
	return w->error;
}

int recording_write_record(struct recording_writer *w, const struct rec_header *rec)
{
	int rc;

	if (w->error)
		return w->error;
	rc = record_encoder_add(w->encoder, rec);
	if (rc == -EINVAL)
		return rc;
	if (rc < 0)
		return fail(w, rc);
	w->records++;
	return rc ? recording_writer_flush(w) : 0;
}

/* --- tables --- */

int recording_write_probes(struct recording_writer *w, const struct recording_probe *probes, size_t nr)
{
	struct bytes b = { 0 };
	size_t first = 0;
	int rc = w->error;

	if (nr > RECORD_MAX_PROBES)
		return -EINVAL;
	for (size_t i = 0; i < nr && !rc; i++) {
		if (i == first)
			rc = bytes_add_varint(&b, first);
		if (!rc)
			rc = table_put_probe(&b, &probes[i]);
		if (!rc && (b.n >= RECORDING_BLOCK_BYTES || i + 1 == nr)) {
			struct piece piece = { b.p, b.n };

			rc = write_block(w, BLOCK_PROBES, i + 1 - first, &piece, 1);
			first = i + 1;
			b.n = 0;
		}
	}
	free(b.p);
	return rc ? fail(w, rc) : 0;
}

int recording_write_process(struct recording_writer *w, const struct recording_process *p)
{
	int rc = w->error ? w->error : table_put_process(&w->processes, p);

	if (rc)
		return fail(w, rc);
	w->nr_processes++;
	if (w->processes.n < RECORDING_BLOCK_BYTES)
		return 0;
	return write_pending(w, BLOCK_PROCESSES, &w->processes, &w->nr_processes);
}

int recording_write_thread(struct recording_writer *w, const struct recording_thread *t)
{
	int rc = w->error ? w->error : table_put_thread(&w->threads, t);

	if (rc)
		return fail(w, rc);
	w->nr_threads++;
	if (w->threads.n < RECORDING_BLOCK_BYTES)
		return 0;
	return write_pending(w, BLOCK_THREADS, &w->threads, &w->nr_threads);
}

int recording_write_info(struct recording_writer *w, const struct recording_info *info)
{
	struct bytes b = { 0 };
	struct piece piece;
	int rc = table_put_info(&b, info);

	if (rc) {
		fail(w, rc);
	} else {
		piece = (struct piece){ b.p, b.n };
		write_block(w, BLOCK_INFO, 1, &piece, 1);
	}
	free(b.p);
	return w->error;
}

/* --- the file --- */

static void writer_free(struct recording_writer *w)
{
	if (w->z_ready)
		deflateEnd(&w->z);
	if (w->fd >= 0)
		close(w->fd);
	if (w->folder >= 0)
		close(w->folder);
	record_encoder_free(w->encoder);
	free(w->processes.p);
	free(w->threads.p);
	free(w->block);
	free(w->path);
	free(w->name);
	free(w->partial);
	free(w);
}

/* Opens the folder and PATH.partial in it. The folder is kept open: no rename of it can lead us elsewhere. */
static int open_partial(struct recording_writer *w, struct error *err)
{
	const char *slash = strrchr(w->path, '/');
	char *folder = slash ? strndup(w->path, slash == w->path ? 1 : slash - w->path) : strdup(".");
	struct stat st;
	int rc;

	w->name = strdup(slash ? slash + 1 : w->path);
	if (!folder || !w->name || asprintf(&w->partial, "%s.partial", w->name) < 0) {
		free(folder);
		return error_set(err, ERR_OTHER, -ENOMEM, "out of memory");
	}
	w->folder = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	rc = -errno;
	free(folder);
	if (w->folder < 0)
		return error_set(err, ERR_OUTPUT, rc, "can't write '%s': %s; name a folder that exists with -o", w->path,
				 strerror(-rc));
	/* a rename would replace a device */
	if (!*w->name || (!fstatat(w->folder, w->name, &st, AT_SYMLINK_NOFOLLOW) && !S_ISREG(st.st_mode) &&
			  !S_ISLNK(st.st_mode)))
		return error_set(err, ERR_OUTPUT, -EINVAL,
				 "can't write '%s': it is not a regular file; name one with -o", w->path);
	w->fd = openat(w->folder, w->partial, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	rc = -errno;
	if (w->fd < 0 && rc == -EEXIST)
		return error_set(err, ERR_OUTPUT, rc, "can't write '%s': '%s.partial' is there, of a recording that runs "
				 "or that did not end well; move it away or choose another name with -o", w->path, w->path);
	if (w->fd < 0)
		return error_set(err, ERR_OUTPUT, rc, "can't write '%s.partial': %s; name a folder that is writable "
				 "with -o", w->path, strerror(-rc));
	owner_give(w->fd);
	return 0;
}

static int write_file_header(struct recording_writer *w)
{
	struct file_header h = {
		.magic = RECORDING_MAGIC, .version = RECORDING_VERSION, .size = sizeof(h), .features = RECORDING_FEATURES,
	};

	/* early in boot it may come short; any number does for us */
	if (getrandom(&h.nonce, sizeof(h.nonce), GRND_NONBLOCK) != sizeof(h.nonce))
		h.nonce = (uint64_t)time(NULL) << 20 ^ (uint64_t)getpid();
	h.crc = crc32(0, (const uint8_t *)&h, offsetof(struct file_header, crc));
	w->crc_seed = crc32(0, (const uint8_t *)&h.nonce, sizeof(h.nonce));
	return write_all(w, &h, sizeof(h));
}

/* What a reader sees if the recording never comes to its end. */
static int write_first_info(struct recording_writer *w)
{
	struct timespec mono, real;
	struct utsname u;

	clock_gettime(CLOCK_MONOTONIC, &mono);
	clock_gettime(CLOCK_REALTIME, &real);
	uname(&u);
	return recording_write_info(w, &(struct recording_info){
		.begin_ns = mono.tv_sec * 1000000000ULL + mono.tv_nsec,
		.begin_realtime_ns = real.tv_sec * 1000000000LL + real.tv_nsec,
		.tool = "framescope " FRAMESCOPE_VERSION, .kernel = u.release, .machine = u.machine,
	});
}

int recording_writer_create(const char *path, struct recording_writer **ret, struct error *err)
{
	struct recording_writer *w = calloc(1, sizeof(*w));
	int rc;

	if (!w)
		return error_set(err, ERR_OTHER, -ENOMEM, "out of memory");
	w->fd = w->folder = -1;
	w->path = path ? strdup(path) : NULL;
	/* -15: no zlib header. Level 1, since it runs beside the browser */
	w->z_ready = deflateInit2(&w->z, 1, Z_DEFLATED, -15, 9, Z_DEFAULT_STRATEGY) == Z_OK;
	if ((path && !w->path) || !w->z_ready || record_encoder_new(&w->encoder)) {
		rc = error_set(err, ERR_OTHER, -ENOMEM, "out of memory");
		goto failed;
	}
	if (path) {
		rc = open_partial(w, err);
		if (rc)
			goto failed;
	} else {
		w->fd = memfd_create("framescope recording", MFD_CLOEXEC);
		if (w->fd < 0) {
			rc = error_set(err, ERR_OUTPUT, -errno, "can't make a file in memory: %s", strerror(errno));
			goto failed;
		}
	}
	rc = write_file_header(w);
	if (!rc)
		rc = write_first_info(w);
	if (rc) {
		error_set(err, ERR_OUTPUT, rc, "can't write '%s': %s; free some space or choose another folder with -o",
			  path ? path : "a file in memory", strerror(-rc));
		recording_writer_abort(w);
		return rc;
	}
	*ret = w;
	return 0;
failed:
	writer_free(w);
	return rc;
}

static int write_end(struct recording_writer *w, const struct recording_info *info,
		     const struct recording_probe *probes, size_t nr)
{
	uint8_t total[VARINT_MAX];
	struct piece piece = { total, varint_put(total, w->records) - total };

	recording_writer_flush(w);
	recording_write_probes(w, probes, nr);
	recording_write_info(w, info);
	write_block(w, BLOCK_END, 1, &piece, 1);
	return w->error;
}

int recording_writer_finish(struct recording_writer *w, const struct recording_info *info,
			    const struct recording_probe *probes, size_t nr, struct error *err)
{
	int rc = write_end(w, info, probes, nr);

	if (!rc && w->path && fsync(w->fd) && errno != EINVAL)
		rc = -errno;
	if (!rc && w->path && renameat(w->folder, w->partial, w->folder, w->name))
		rc = -errno;
	if (rc && w->path)
		error_set(err, ERR_OUTPUT, rc, "can't write '%s': %s; what was recorded until then stands in '%s.partial', "
			  "which every reading command takes", w->path, strerror(-rc), w->path);
	else if (rc)
		error_set(err, ERR_OUTPUT, rc, "can't keep the recording in memory: %s", strerror(-rc));
	writer_free(w);
	return rc;
}

int recording_writer_finish_fd(struct recording_writer *w, const struct recording_info *info,
			       const struct recording_probe *probes, size_t nr, int *ret_fd, struct error *err)
{
	int rc = write_end(w, info, probes, nr);

	if (rc) {
		error_set(err, ERR_OUTPUT, rc, "can't keep the recording in memory: %s", strerror(-rc));
	} else {
		*ret_fd = w->fd;
		w->fd = -1;
	}
	writer_free(w);
	return rc;
}

void recording_writer_abort(struct recording_writer *w)
{
	if (!w)
		return;
	if (w->folder >= 0 && w->fd >= 0)
		unlinkat(w->folder, w->partial, 0);
	writer_free(w);
}

uint64_t recording_writer_bytes(const struct recording_writer *w)
{
	return w->bytes;
}
