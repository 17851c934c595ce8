// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Builds the timelines of a recording in memory on a thread of its own. */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "capture/recording_file.h"
#include "cli/serve_build.h"

/* The last reading of a process's CPU clock before the session began. */
struct early_cpu {
	struct early_cpu *next;
	struct rec_cpu cpu;
};

enum build_state { BUILD_GOING, BUILD_DONE, BUILD_DROPPED };

struct build {
	pthread_t thread;
	int fd, event_fd;
	uint64_t begin_ns;
	struct early_cpu *early;
	struct session *session;
	struct error err;
	atomic_int state;
};

static struct early_cpu *find_early(struct build *b, uint32_t pid)
{
	struct early_cpu *e = b->early;

	while (e && e->cpu.hdr.tid != pid)
		e = e->next;
	return e;
}

static int keep_early(struct build *b, const struct rec_cpu *cpu)
{
	struct early_cpu *e = find_early(b, cpu->hdr.tid);

	if (!e) {
		e = calloc(1, sizeof(*e));
		if (!e)
			return -ENOMEM;
		e->next = b->early;
		b->early = e;
	}
	e->cpu = *cpu;
	return 0;
}

/* A process's first reading after the beginning: what its clock showed then lies between it and the one before. */
static int add_cpu_at_begin(struct build *b, struct session_builder *sb, const struct rec_cpu *later)
{
	struct early_cpu *e = find_early(b, later->hdr.tid);
	struct rec_cpu at;
	double share;

	if (!e || !e->cpu.hdr.ts_ns)
		return 0;
	at = e->cpu;
	e->cpu.hdr.ts_ns = 0;	/* done */
	share = (double)(b->begin_ns - at.hdr.ts_ns) / (later->hdr.ts_ns - at.hdr.ts_ns);
	if (later->cpu_ns > at.cpu_ns)
		at.cpu_ns += share * (later->cpu_ns - at.cpu_ns);
	at.hdr.ts_ns = b->begin_ns;
	at.final = 0;
	return session_builder_add(sb, &at.hdr);
}

/* Calls that were open when the session began are not part of it; who is who, is. */
static int add_record(struct build *b, struct session_builder *sb, const struct rec_header *rec)
{
	bool before = rec->ts_ns < b->begin_ns;
	int rc = 0;

	switch (rec->type) {
	case REC_BEGIN: case REC_MARK: case REC_LOSS:
		if (before)
			return 0;
		break;
	case REC_END:
		if (((const struct rec_end *)rec)->begin_ns < b->begin_ns)
			return 0;
		break;
	case REC_AGGREGATE:
		if (((const struct rec_aggregate *)rec)->first_ns < b->begin_ns)
			return 0;
		break;
	case REC_CPU:
		if (before)
			return keep_early(b, (const struct rec_cpu *)rec);
		rc = add_cpu_at_begin(b, sb, (const struct rec_cpu *)rec);
		break;
	default:
		break;
	}
	return rc ? rc : session_builder_add(sb, rec);
}

static int fill(struct build *b, struct recording *r, struct session_builder *sb)
{
	const struct recording_process *procs;
	const struct recording_thread *threads;
	const struct recording_probe *probes;
	size_t nr_procs, nr_threads, nr_probes;
	const struct rec_header *rec;
	int rc;

	probes = recording_get_probes(r, &nr_probes);
	procs = recording_get_processes(r, &nr_procs);
	threads = recording_get_threads(r, &nr_threads);
	rc = session_builder_tables(sb, recording_get_info(r), probes, nr_probes, procs, nr_procs, threads, nr_threads);
	while (!rc && b->state == BUILD_GOING && (rc = recording_next(r, &rec, &b->err)) > 0)
		rc = b->begin_ns ? add_record(b, sb, rec) : session_builder_add(sb, rec);
	if (rc && b->err.kind == ERR_NONE)
		error_set(&b->err, ERR_OTHER, rc, "No memory for the session");
	return rc;
}

static void make_session(struct build *b)
{
	struct session_builder *sb = NULL;
	struct recording *r = NULL;
	int rc = recording_open_fd(b->fd, "the recording", &r, &b->err);

	if (rc)
		return;
	rc = session_builder_new(&sb);
	if (rc)
		error_set(&b->err, ERR_OTHER, rc, "No memory for the session");
	else
		rc = fill(b, r, sb);
	if (rc) {
		session_builder_free(sb);
	} else {
		rc = session_builder_finish(sb, &b->session);
		if (rc)
			error_set(&b->err, ERR_OTHER, rc, "No memory for the session");
	}
	recording_close(r);
}

static void free_build(struct build *b)
{
	while (b->early) {
		struct early_cpu *next = b->early->next;

		free(b->early);
		b->early = next;
	}
	session_free(b->session);
	free(b);
}

static void *run(void *arg)
{
	struct build *b = arg;
	uint64_t one = 1;
	int event_fd = b->event_fd;

	make_session(b);
	if (atomic_exchange(&b->state, BUILD_DONE) == BUILD_DROPPED)
		free_build(b);
	else if (write(event_fd, &one, sizeof(one)) < 0)
		return NULL;	/* a full counter is as good as a signal */
	return NULL;
}

int build_start(int fd, uint64_t begin_ns, int event_fd, struct build **ret, struct error *err)
{
	struct build *b = calloc(1, sizeof(*b));
	int rc;

	if (!b) {
		close(fd);
		return error_set(err, ERR_OTHER, -ENOMEM, "No memory for the session");
	}
	b->fd = fd;
	b->begin_ns = begin_ns;
	b->event_fd = event_fd;
	rc = -pthread_create(&b->thread, NULL, run, b);
	if (rc) {
		close(fd);
		free(b);
		return error_set(err, ERR_OTHER, rc, "Can't start a thread: %s", strerror(-rc));
	}
	*ret = b;
	return 0;
}

bool build_take(struct build *b, struct session **ret_session, struct error *ret_err)
{
	if (b->state != BUILD_DONE)
		return false;
	pthread_join(b->thread, NULL);
	*ret_session = b->session;
	*ret_err = b->err;
	b->session = NULL;
	free_build(b);
	return true;
}

void build_drop(struct build *b)
{
	pthread_t thread;

	if (!b)
		return;
	/* from the exchange on, a thread that isn't done owns b */
	thread = b->thread;
	if (atomic_exchange(&b->state, BUILD_DROPPED) == BUILD_DONE) {
		pthread_join(thread, NULL);
		free_build(b);
	} else {
		pthread_detach(thread);
	}
}
