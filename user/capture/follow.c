// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The target's processes while a capture lives. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <bpf/bpf.h>
#include "capture/follow.h"

#define SEED_ROUNDS 20
#define MAX_TRACKED 100000	/* a target that forks without end must not eat our memory */

static struct tracked *add(struct follow *f, const struct process *p)
{
	if (f->nr >= MAX_TRACKED)
		return NULL;
	if (f->nr == f->cap) {
		size_t cap = f->cap ? f->cap * 2 : 32;
		struct tracked *bigger = realloc(f->p, cap * sizeof(*bigger));

		if (!bigger)
			return NULL;
		f->p = bigger;
		f->cap = cap;
	}
	f->p[f->nr] = (struct tracked){ .p = *p };
	return &f->p[f->nr++];
}

struct tracked *follow_find(struct follow *f, pid_t pid)
{
	for (size_t i = f->nr; i--;)
		if (f->p[i].p.pid == pid)
			return &f->p[i];
	return NULL;
}

/*
 * From the moment that a process is in the set the kernel side adds its children itself; those that it forked between
 * our look at /proc and then are found by looking again, until a look brings nothing new.
 */
int follow_seed(struct follow *f, pid_t root, bool alone, struct error *err)
{
	uint32_t one = 1;

	for (int round = 0; round < SEED_ROUNDS; round++) {
		struct process_list l = { 0 };
		size_t added = 0;
		int rc = process_tree(root, &l, err);

		if (rc) {
			process_list_free(&l);
			return rc;
		}
		for (size_t i = 0; i < (alone ? 1 : l.nr); i++) {
			uint32_t pid = l.p[i].pid;

			if (follow_find(f, pid))
				continue;
			if (bpf_map_update_elem(f->targets_fd, &pid, &one, BPF_ANY) || !add(f, &l.p[i])) {
				process_list_free(&l);
				return error_set(err, ERR_OTHER, -ENOMEM, "the target has too many processes to follow");
			}
			added++;
		}
		process_list_free(&l);
		if (!added)
			break;
	}
	return 0;
}

void follow_free(struct follow *f)
{
	free(f->p);
	memset(f, 0, sizeof(*f));
}

struct tracked *follow_add(struct follow *f, pid_t pid, pid_t parent, const char *comm, uint64_t now_ns)
{
	struct tracked *t = follow_find(f, pid);
	struct process p = { .pid = pid, .inner_pid = pid, .parent = parent };

	if (t && !t->end_ns)
		return t;
	if (process_read(pid, &p)) {
		/* it is gone already: what the record says is all there is */
		snprintf(p.comm, sizeof(p.comm), "%s", comm);
		snprintf(p.name, sizeof(p.name), "%s", comm);
	}
	p.parent = parent;
	t = add(f, &p);
	if (t)
		t->start_ns = now_ns;
	return t;
}

void follow_refresh(struct tracked *t)
{
	struct process p;

	if (process_read(t->p.pid, &p))
		return;
	p.parent = t->p.parent;
	t->p = p;
}

void follow_exit(struct follow *f, struct tracked *t, uint64_t now_ns)
{
	uint32_t pid = t->p.pid;

	t->end_ns = now_ns;
	bpf_map_delete_elem(f->targets_fd, &pid);
}

void follow_reap(struct follow *f, uint64_t now_ns)
{
	for (size_t i = 0; i < f->nr; i++)
		if (!f->p[i].end_ns && !process_alive(f->p[i].p.pid))
			follow_exit(f, &f->p[i], now_ns);
}

size_t follow_living(const struct follow *f)
{
	size_t nr = 0;

	for (size_t i = 0; i < f->nr; i++)
		nr += !f->p[i].end_ns;
	return nr;
}

int follow_write(const struct tracked *t, struct recording_writer *w)
{
	struct recording_process r = {
		.pid = t->p.pid, .inner_pid = t->p.inner_pid, .parent = t->p.parent, .start_ns = t->start_ns,
		.end_ns = t->end_ns, .name = t->p.name, .cmdline = t->p.cmdline,
		.engine = t->engine ? t->engine->name : "",
		.own_pages = t->engine && engine_shows_own_pages(t->engine, t->p.cmdline),
	};

	return w ? recording_write_process(w, &r) : 0;
}

void follow_read_cpu(struct tracked *t, struct recording_writer *w, uint64_t now_ns, bool final)
{
	struct rec_cpu r = {
		.hdr = { .type = REC_CPU, .size = sizeof(r), .tid = t->p.pid, .ts_ns = now_ns },
		.final = final,
	};
	struct timespec ts;
	clockid_t clock;

	/* exact, with threads that ended; works on a zombie until it is reaped */
	if (!clock_getcpuclockid(t->p.pid, &clock) && !clock_gettime(clock, &ts)) {
		t->cpu_ns = ts.tv_sec * 1000000000ull + ts.tv_nsec;
		t->has_cpu = true;
	} else if (!final || !t->has_cpu) {
		return;
	} else {
		/* reaped before we came: the last reading stands, and does not claim to be final */
		r.final = 0;
	}
	r.cpu_ns = t->cpu_ns;
	if (w)
		recording_write_record(w, &r.hdr);
}
