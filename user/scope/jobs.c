// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Answers that take long, made on another thread, one at a time. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include "scope/events.h"
#include "scope/jobs.h"

struct job {
	TAILQ_ENTRY(job) entry;
	struct jobs *jobs;
	struct client *client;	/* NULL: gone */
	struct request request;
	uint32_t id;
	bool discard;		/* the session, when done */
	const struct session *session;
	struct query query;
	uint32_t *types;	/* of the query, owned */
	/* what the other thread makes */
	atomic_bool cancelled;
	struct bytes payload;
	struct error err;
};

struct jobs {
	struct scope_host *host;
	TAILQ_HEAD(, job) queue;	/* the first one is being made */
	pthread_t thread;
	int event_fd;
	struct event *done;
};

static void *make(void *arg)
{
	struct job *j = arg;

	events_encode(j->session, &j->query, j->request.format, &j->cancelled, &j->payload, &j->err);
	/* a full counter is as good as a signal, and nothing else can go wrong with it */
	eventfd_write(j->jobs->event_fd, 1);
	return NULL;
}

static void finish(struct job *j)
{
	const struct scope_backend *b = &j->jobs->host->backend;
	struct client *c = j->client;

	TAILQ_REMOVE(&j->jobs->queue, j, entry);
	if (c) {
		c->job = NULL;
		if (j->err.kind)
			client_fail_error(c, &j->request, &j->err);
		else
			client_send(c, &j->request, &j->payload);
		client_continue(c);
	}
	if (j->discard)
		b->discard(b->arg, j->id);
	bytes_free(&j->payload);
	free(j->types);
	free(j);
}

/* The next one that anybody waits for. */
static void start(struct jobs *jobs)
{
	struct job *j;

	while ((j = TAILQ_FIRST(&jobs->queue))) {
		int rc = j->client ? pthread_create(&jobs->thread, NULL, make, j) : -1;

		if (!rc)
			return;
		if (rc > 0)
			error_set(&j->err, ERR_OTHER, -rc, "Can't start a thread: %s", strerror(rc));
		finish(j);
	}
}

static void on_done(evutil_socket_t fd, short what, void *arg)
{
	struct jobs *jobs = arg;
	eventfd_t count;

	(void)what;
	if (eventfd_read(fd, &count))
		return;
	pthread_join(jobs->thread, NULL);
	finish(TAILQ_FIRST(&jobs->queue));
	start(jobs);
}

int jobs_add(struct client *c, const struct request *r, uint32_t id, const struct session *s, const struct query *q)
{
	struct jobs *jobs = c->host->jobs;
	bool idle = TAILQ_EMPTY(&jobs->queue);
	struct job *j = calloc(1, sizeof(*j));

	if (!j)
		return -ENOMEM;
	*j = (struct job){
		.jobs = jobs, .client = c, .request = *r, .id = id, .session = s, .query = *q,
		.payload.max = c->host->limits.max_reply,
	};
	if (q->nr_types) {
		j->types = calloc(q->nr_types, sizeof(*j->types));
		if (!j->types) {
			free(j);
			return -ENOMEM;
		}
		memcpy(j->types, q->types, q->nr_types * sizeof(*j->types));
		j->query.types = j->types;
	}
	c->job = j;
	TAILQ_INSERT_TAIL(&jobs->queue, j, entry);
	if (idle)
		start(jobs);
	return 0;
}

bool jobs_reads(struct client *c, uint32_t id)
{
	if (!c->job || c->job->id != id)
		return false;
	c->job->discard = true;
	return true;
}

void jobs_leave(struct client *c)
{
	if (!c->job)
		return;
	c->job->client = NULL;
	c->job->cancelled = true;
	c->job = NULL;
}

int jobs_new(struct scope_host *h, struct jobs **ret)
{
	struct jobs *jobs = calloc(1, sizeof(*jobs));

	if (!jobs)
		return -ENOMEM;
	jobs->host = h;
	TAILQ_INIT(&jobs->queue);
	jobs->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (jobs->event_fd >= 0)
		jobs->done = event_new(h->base, jobs->event_fd, EV_READ | EV_PERSIST, on_done, jobs);
	if (!jobs->done || event_add(jobs->done, NULL)) {
		jobs_free(jobs);
		return -ENOMEM;
	}
	*ret = jobs;
	return 0;
}

void jobs_free(struct jobs *jobs)
{
	if (!jobs)
		return;
	if (!TAILQ_EMPTY(&jobs->queue))
		pthread_join(jobs->thread, NULL);
	while (!TAILQ_EMPTY(&jobs->queue))
		finish(TAILQ_FIRST(&jobs->queue));
	if (jobs->done)
		event_free(jobs->done);
	if (jobs->event_fd >= 0)
		close(jobs->event_fd);
	free(jobs);
}
