/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The recording file, .fscope: magic, version, feature bits, then blocks, each with type, sizes and CRC, each
 * decodable without the one before it. Records inside a block are delta-coded per thread and then deflated.
 * No libbpf here: every reading command works without root. The reader trusts nothing in the file.
 */
#ifndef FRAMESCOPE_CAPTURE_RECORDING_FILE_H
#define FRAMESCOPE_CAPTURE_RECORDING_FILE_H

#include "base/error.h"
#include "recording.h"

/* --- writing --- */

struct recording_writer;

/* Writes to PATH.partial and renames at recording_writer_finish(). NULL path: an anonymous file in memory (memfd). */
int recording_writer_create(const char *path, struct recording_writer **ret, struct error *err);
/* Same for what can be made again, as by an import: where the file system can do that, the file has no name before it is
 * whole, and nothing is left of it if it never is. An existing PATH.partial is refused here, too. */
int recording_writer_create_whole(const char *path, struct recording_writer **ret, struct error *err);
/* Says in the file's header that it holds what not every reader understands. -errno. */
#define RECORDING_FEATURE_OVERHEAD 1ULL	/* REC_F_OVERHEAD: readers without it would take overhead for time */
#define RECORDING_FEATURE_READ 2ULL	/* read_ns, which the writer sees for itself: readers without it would misread */
int recording_writer_features(struct recording_writer *w, uint64_t features);
/* Tables may be written again while recording; the last version of a process, thread or probe counts. Strings are copied. */
int recording_write_probes(struct recording_writer *w, const struct recording_probe *probes, size_t nr);
int recording_write_process(struct recording_writer *w, const struct recording_process *p);
int recording_write_thread(struct recording_writer *w, const struct recording_thread *t);
/* What is known so far, for a recording that never comes to recording_writer_finish(). The last one counts. */
int recording_write_info(struct recording_writer *w, const struct recording_info *info);
/* One record as of record.h, its padding aside. Buffers; -ENOSPC and the like may come late. The first error sticks.
 * -EINVAL, which does not stick: its size is impossible. */
int recording_write_record(struct recording_writer *w, const struct rec_header *rec);
/* Closes the current block: what was written before survives a crash. */
int recording_writer_flush(struct recording_writer *w);
/* Final info and probe table (with stats), fsync, rename. On error PATH.partial stays and holds what was flushed. Frees w. */
int recording_writer_finish(struct recording_writer *w, const struct recording_info *info,
			    const struct recording_probe *probes, size_t nr, struct error *err);
/* For a memfd writer: finishes as above but hands out the descriptor, ready for recording_open_fd(). */
int recording_writer_finish_fd(struct recording_writer *w, const struct recording_info *info,
			       const struct recording_probe *probes, size_t nr, int *ret_fd, struct error *err);
void recording_writer_abort(struct recording_writer *w);	/* removes PATH.partial; NULL is fine */
uint64_t recording_writer_bytes(const struct recording_writer *w);	/* on disk so far */

/* --- reading --- */

struct recording;

/* What is damaged or missing is not an error: info.truncated and its neighbours tell, and what is left is read. */
int recording_open(const char *path, struct recording **ret, struct error *err);
int recording_open_fd(int fd, const char *name, struct recording **ret, struct error *err);	/* takes fd over */
void recording_close(struct recording *r);

/* Valid until recording_close(). */
const struct recording_info *recording_get_info(const struct recording *r);
const struct recording_probe *recording_get_probes(const struct recording *r, size_t *ret_nr);
const struct recording_process *recording_get_processes(const struct recording *r, size_t *ret_nr);
const struct recording_thread *recording_get_threads(const struct recording *r, size_t *ret_nr);

/* The records in file order: 1 and *ret (valid until the next call), 0 at the end, -errno. */
int recording_next(struct recording *r, const struct rec_header **ret, struct error *err);
int recording_rewind(struct recording *r);

#endif
