// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Writes a recording block by block: whatever happens, what was written before stays readable. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>
#include "base/owner.h"
#include "capture/recording_bytes.h"
#include "capture/recording_codec.h"
#include "capture/recording_file.h"
#include "capture/recording_format.h"
#include "capture/recording_sink.h"
#include "capture/recording_tables.h"
#include "version.h"

struct recording_writer {
	int fd, folder;		/* folder is -1 for a file in memory */
	char *path;		/* as given; NULL in memory */
	char *name, *partial;	/* in that folder */
	bool nameless;		/* until it is whole: what is killed leaves nothing behind */
	int error;		/* the first; sticks */
	uint64_t records;
	struct block_sink sink;
	struct record_encoder *encoder;
	struct bytes processes, threads;	/* pending */
	uint32_t nr_processes, nr_threads;
};

static int fail(struct recording_writer *w, int rc)
{
	if (!w->error)
		w->error = rc;
	return w->error;
}

static int write_block(struct recording_writer *w, enum block_type type, uint32_t count, const struct piece *pieces,
		       size_t nr)
{
	int rc = w->error ? w->error : sink_block(&w->sink, type, count, pieces, nr);

	return rc ? fail(w, rc) : 0;
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
	rc = record_encoder_reads(w->encoder) ? sink_features(&w->sink, RECORDING_FEATURE_READ) : 0;
	rc = rc ? fail(w, rc) : write_block(w, BLOCK_RECORDS, count, pieces, 1 + COL_COUNT);
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

int recording_writer_features(struct recording_writer *w, uint64_t features)
{
	return sink_features(&w->sink, features);
}

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
	sink_close(&w->sink);
	if (w->fd >= 0)
		close(w->fd);
	if (w->folder >= 0)
		close(w->folder);
	record_encoder_free(w->encoder);
	free(w->processes.p);
	free(w->threads.p);
	free(w->path);
	free(w->name);
	free(w->partial);
	free(w);
}

/* A file without a name in the folder, where its system has such. */
static bool open_nameless(struct recording_writer *w)
{
	/* the only way to its name goes through /proc */
	if (!access("/proc/self/fd", X_OK))
		w->fd = openat(w->folder, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	w->nameless = w->fd >= 0;
	return w->nameless;
}

/* A name that is taken can't be given, only moved to: that of the partial file comes between. */
static int give_name(struct recording_writer *w)
{
	char proc[40];

	snprintf(proc, sizeof(proc), "/proc/self/fd/%d", w->fd);
	if (linkat(AT_FDCWD, proc, w->folder, w->partial, AT_SYMLINK_FOLLOW))
		return -errno;
	w->nameless = false;
	return 0;
}

static int partial_exists(const struct recording_writer *w, struct error *err)
{
	return error_set(err, ERR_OUTPUT, -EEXIST, "can't write '%s': '%s.partial' is there, of a recording that runs "
			 "or that did not end well; move it away or choose another name with -o", w->path, w->path);
}

/* Opens the folder and PATH.partial in it. The folder is kept open: no rename of it can lead us elsewhere. */
static int open_partial(struct recording_writer *w, bool whole, struct error *err)
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
	if (whole && !fstatat(w->folder, w->partial, &st, AT_SYMLINK_NOFOLLOW))
		return partial_exists(w, err);
	if (!whole || !open_nameless(w))
		w->fd = openat(w->folder, w->partial, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	rc = -errno;
	if (w->fd < 0 && rc == -EEXIST)
		return partial_exists(w, err);
	if (w->fd < 0)
		return error_set(err, ERR_OUTPUT, rc, "can't write '%s.partial': %s; name a folder that is writable "
				 "with -o", w->path, strerror(-rc));
	owner_give(w->fd);
	return 0;
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

static int create(const char *path, bool whole, struct recording_writer **ret, struct error *err)
{
	struct recording_writer *w = calloc(1, sizeof(*w));
	int rc;

	if (!w)
		return error_set(err, ERR_OTHER, -ENOMEM, "out of memory");
	w->fd = w->folder = -1;
	w->path = path ? strdup(path) : NULL;
	if ((path && !w->path) || record_encoder_new(&w->encoder)) {
		rc = error_set(err, ERR_OTHER, -ENOMEM, "out of memory");
		goto failed;
	}
	if (path) {
		rc = open_partial(w, whole, err);
		if (rc)
			goto failed;
	} else {
		w->fd = memfd_create("framescope recording", MFD_CLOEXEC);
		if (w->fd < 0) {
			rc = error_set(err, ERR_OUTPUT, -errno, "can't make a file in memory: %s", strerror(errno));
			goto failed;
		}
	}
	rc = sink_open(&w->sink, w->fd);
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

int recording_writer_create(const char *path, struct recording_writer **ret, struct error *err)
{
	return create(path, false, ret, err);
}

int recording_writer_create_whole(const char *path, struct recording_writer **ret, struct error *err)
{
	return create(path, true, ret, err);
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
	if (!rc && w->nameless)
		rc = give_name(w);
	if (!rc && w->path && renameat(w->folder, w->partial, w->folder, w->name))
		rc = -errno;
	if (rc == -EEXIST && w->nameless)
		partial_exists(w, err);
	else if (rc && w->nameless)
		error_set(err, ERR_OUTPUT, rc, "can't write '%s': %s; free some space or choose another folder with -o, "
			  "nothing was left there", w->path, strerror(-rc));
	else if (rc && w->path)
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
	if (w->folder >= 0 && w->fd >= 0 && !w->nameless)
		unlinkat(w->folder, w->partial, 0);
	writer_free(w);
}

uint64_t recording_writer_bytes(const struct recording_writer *w)
{
	return w->sink.bytes;
}
