// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Reads the numbers of a browser's threads from /proc, each thread's once. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/vec.h"
#include "calibrate/threads.h"
#include "target/process.h"

int threads_known(const struct thread_map *m, uint32_t tid)
{
	for (size_t i = 0; i < m->nr; i++)
		if (m->v[i].tid == tid)
			return 1;
	return 0;
}

uint32_t threads_outer(const struct thread_map *m, uint32_t inner_pid, uint32_t inner_tid)
{
	for (size_t i = 0; i < m->nr; i++)
		if (m->v[i].inner_tid == inner_tid && m->v[i].inner_pid == inner_pid)
			return m->v[i].tid;
	return 0;
}

static int note_thread(struct thread_map *m, const struct process *p, pid_t tid)
{
	struct process t;

	if (threads_known(m, tid) || process_read(tid, &t) || t.leader != p->pid)
		return 0;
	if (vec_grow(&m->v, m->nr, &m->cap, sizeof(*m->v)))
		return -ENOMEM;
	m->v[m->nr++] = (struct thread_pair){ tid, p->inner_pid, t.inner_pid };
	return 0;
}

int threads_note(struct thread_map *m, pid_t root)
{
	struct process_list l = { 0 };
	int rc = process_descendants(root, &l);

	for (size_t i = 0; i < l.nr && !rc; i++) {
		struct dirent *e;
		char path[32];
		DIR *d;

		snprintf(path, sizeof(path), "/proc/%d/task", l.p[i].pid);
		d = opendir(path);
		while (d && !rc && (e = readdir(d)))
			if (e->d_name[0] != '.')
				rc = note_thread(m, &l.p[i], atoi(e->d_name));
		if (d)
			closedir(d);
	}
	process_list_free(&l);
	return rc == -ENOMEM ? rc : 0;
}

void threads_free(struct thread_map *m)
{
	free(m->v);
	memset(m, 0, sizeof(*m));
}
