// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A capture on a thread of its own. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>
#include "cli/serve_recorder.h"

#define POLL_MS 20		/* what the capture asks for while it records */
#define IDLE_MS 100		/* and otherwise: forks and new modules */
#define LOOK_MS 500		/* between two looks at which windows there are, and at how much was recorded */
#define FIRST_LOOKS_US 50000	/* between the first two, so that it is known who works */
#define EVENT_BYTES 80		/* of a session's memory, roughly: the model's 64 and what comes with them */
#define WAITING_BYTES (32u << 20)	/* of records that came before the navigation: more are thrown away */

enum order { ORDER_NONE, ORDER_START, ORDER_STOP, ORDER_ABORT, ORDER_QUIT };

struct queued {
	struct queued *next;
	struct recorder_result result;
};

struct recorder {
	struct recorder_options opt;
	struct capture *capture;
	pthread_t thread;
	int wake_fd;

	/* what both threads touch, under the lock */
	pthread_mutex_t lock;
	pthread_cond_t obeyed;
	enum order order;	/* NONE: obeyed */
	int order_mode;
	uint32_t order_id, order_pid;
	uint64_t order_max_bytes;
	int order_rc;
	struct error order_err;
	struct queued *results, **results_end;
	struct watch watch;
	uint32_t last_navigated;
	bool target_ended;

	/* the recorder's thread's own */
	struct recording_writer *writer;	/* NULL: not recording */
	uint32_t id, pid;
	bool waiting;		/* for the navigation */
	uint64_t begin_ns, max_bytes;
	int64_t looked_ms;
	struct queued *spare;	/* for the result: there is one whenever something is recorded */
};

static int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static void signal_fd(int fd)
{
	uint64_t one = 1;

	/* a full counter is as good as a signal */
	if (write(fd, &one, sizeof(one)) < 0)
		return;
}

/* --- on the recorder's thread --- */

/* Only this thread writes the windows, so it may read them without the lock. */
static void on_navigation(void *arg, const struct rec_begin *mark)
{
	struct recorder *r = arg;
	bool window = watch_has(&r->watch, mark->tgid);

	if (window) {
		pthread_mutex_lock(&r->lock);
		r->last_navigated = mark->tgid;
		pthread_mutex_unlock(&r->lock);
	}
	if (r->waiting && (!window || mark->tgid == r->pid)) {
		r->waiting = false;
		r->begin_ns = mark->hdr.ts_ns;
	}
}

static int begin_recording(struct recorder *r, struct error *err)
{
	int rc;

	if (!r->spare)
		r->spare = malloc(sizeof(*r->spare));
	if (!r->spare)
		return error_set(err, ERR_OTHER, -ENOMEM, "out of memory");
	rc = recording_writer_create(NULL, &r->writer, err);
	if (rc)
		return rc;
	rc = capture_arm(r->capture, r->writer, err);
	if (rc) {
		recording_writer_abort(r->writer);
		r->writer = NULL;
	}
	return rc;
}

static void abort_recording(struct recorder *r)
{
	struct recording_info info;

	if (!r->writer)
		return;
	capture_disarm(r->capture, &info, NULL);
	recording_writer_abort(r->writer);
	r->writer = NULL;
}

static void publish(struct recorder *r, const struct recorder_result *result)
{
	struct queued *q = r->spare;

	*q = (struct queued){ .result = *result };
	r->spare = NULL;
	pthread_mutex_lock(&r->lock);
	*r->results_end = q;
	r->results_end = &q->next;
	pthread_mutex_unlock(&r->lock);
	signal_fd(r->opt.event_fd);
}

/* What has been recorded so far, as a session: about. */
static uint64_t session_bytes(const struct recorder *r)
{
	struct capture_status status;
	uint64_t written = recording_writer_bytes(r->writer);

	capture_get_status(r->capture, &status);
	return status.events * EVENT_BYTES > written ? status.events * EVENT_BYTES : written;
}

static void end_recording(struct recorder *r, bool full)
{
	struct recorder_result result = { .id = r->id, .fd = -1, .full = full };
	const struct recording_probe *probes;
	struct recording_info info;
	size_t nr;
	int rc = capture_disarm(r->capture, &info, &result.err);

	if (rc) {
		recording_writer_abort(r->writer);
	} else {
		result.bytes = session_bytes(r);
		/* what was waited for and never came: a session without events, from the end on */
		result.begin_ns = r->waiting ? info.end_ns : r->begin_ns;
		if (result.begin_ns) {
			info.begin_realtime_ns += result.begin_ns - info.begin_ns;
			info.begin_ns = result.begin_ns;
		}
		probes = capture_get_probes(r->capture, &nr);
		recording_writer_finish_fd(r->writer, &info, probes, nr, &result.fd, &result.err);
	}
	r->writer = NULL;
	r->waiting = false;
	publish(r, &result);
}

static int obey_start(struct recorder *r, struct error *err)
{
	int rc;

	if (r->writer)
		return error_set(err, ERR_USAGE, -EBUSY, "The profiler is running already");
	r->id = r->order_id;
	r->pid = r->order_pid;
	r->max_bytes = r->order_max_bytes;
	r->begin_ns = 0;
	r->waiting = r->order_mode == START_URL;
	rc = begin_recording(r, err);
	if (rc)
		r->waiting = false;
	return rc;
}

/* false: it was the last one. */
static bool obey(struct recorder *r)
{
	struct error err = { 0 };
	enum order order;
	int rc = 0;

	pthread_mutex_lock(&r->lock);
	order = r->order;
	pthread_mutex_unlock(&r->lock);
	if (order == ORDER_NONE)
		return true;
	/* the other thread waits, or gives no further order: what it ordered can't change meanwhile */
	if (order == ORDER_START)
		rc = obey_start(r, &err);
	else if (order == ORDER_STOP && r->writer)
		end_recording(r, false);
	else if (order == ORDER_ABORT || order == ORDER_QUIT)
		abort_recording(r);
	pthread_mutex_lock(&r->lock);
	r->order = ORDER_NONE;
	r->order_rc = rc;
	r->order_err = err;
	pthread_cond_signal(&r->obeyed);
	pthread_mutex_unlock(&r->lock);
	return order != ORDER_QUIT;
}

static void look_at_windows(struct recorder *r)
{
	struct watch now, old;
	bool same;

	r->looked_ms = now_ms();
	if (watch_look(&r->watch, r->capture, &now, &same))
		return;
	pthread_mutex_lock(&r->lock);
	old = r->watch;
	r->watch = now;
	pthread_mutex_unlock(&r->lock);
	watch_free(&old);
	if (!same)
		signal_fd(r->opt.event_fd);
}

static void end_if_full(struct recorder *r)
{
	if (r->writer && !r->waiting && session_bytes(r) > r->max_bytes)
		end_recording(r, true);
}

static void drain(struct recorder *r)
{
	struct error err = { 0 };
	int rc = capture_poll(r->capture, 0, &err);

	if (rc < 0 && r->writer) {
		struct recorder_result result = { .id = r->id, .fd = -1, .err = err };

		abort_recording(r);
		publish(r, &result);
	}
	if (!rc && !r->target_ended) {
		look_at_windows(r);
		pthread_mutex_lock(&r->lock);
		r->target_ended = true;
		pthread_mutex_unlock(&r->lock);
		signal_fd(r->opt.event_fd);
	}
	if (!r->writer)
		return;
	if (r->waiting && recording_writer_bytes(r->writer) > WAITING_BYTES) {
		abort_recording(r);
		if (begin_recording(r, &err)) {
			struct recorder_result result = { .id = r->id, .fd = -1, .err = err };

			r->waiting = false;
			publish(r, &result);
		}
	}
}

static void *run(void *arg)
{
	struct recorder *r = arg;
	struct pollfd fds[] = { { capture_fd(r->capture), POLLIN, 0 }, { r->wake_fd, POLLIN, 0 } };

	do {
		uint64_t count;

		if (poll(fds, 2, r->writer ? POLL_MS : IDLE_MS) > 0 && fds[1].revents &&
		    read(r->wake_fd, &count, sizeof(count)) < 0)
			continue;
		drain(r);
		if (now_ms() - r->looked_ms >= LOOK_MS) {
			look_at_windows(r);
			end_if_full(r);
		}
	} while (obey(r));
	return NULL;
}

/* --- on the event loop's thread --- */

static int give_order(struct recorder *r, enum order order, bool wait, struct error *err)
{
	int rc = 0;

	pthread_mutex_lock(&r->lock);
	/* the one before is obeyed first: a stop that nobody waited for takes as long as the last drain */
	while (r->order != ORDER_NONE)
		pthread_cond_wait(&r->obeyed, &r->lock);
	r->order = order;
	signal_fd(r->wake_fd);
	while (wait && r->order != ORDER_NONE)
		pthread_cond_wait(&r->obeyed, &r->lock);
	if (wait) {
		rc = r->order_rc;
		if (rc && err)
			*err = r->order_err;
	}
	pthread_mutex_unlock(&r->lock);
	return rc;
}

int recorder_start(struct recorder *r, int mode, uint32_t id, uint32_t pid, uint64_t max_bytes, struct error *err)
{
	pthread_mutex_lock(&r->lock);
	while (r->order != ORDER_NONE)
		pthread_cond_wait(&r->obeyed, &r->lock);
	r->order_mode = mode;
	r->order_id = id;
	r->order_pid = pid;
	r->order_max_bytes = max_bytes;
	pthread_mutex_unlock(&r->lock);
	return give_order(r, ORDER_START, true, err);
}

void recorder_stop(struct recorder *r)
{
	give_order(r, ORDER_STOP, false, NULL);
}

uint64_t recorder_settle(struct recorder *r)
{
	uint64_t bytes = 0;

	pthread_mutex_lock(&r->lock);
	while (r->order != ORDER_NONE)
		pthread_cond_wait(&r->obeyed, &r->lock);
	for (const struct queued *q = r->results; q; q = q->next)
		bytes += q->result.bytes;
	pthread_mutex_unlock(&r->lock);
	return bytes;
}

void recorder_abort(struct recorder *r)
{
	give_order(r, ORDER_ABORT, false, NULL);
}

bool recorder_take(struct recorder *r, struct recorder_result *ret)
{
	struct queued *q;

	pthread_mutex_lock(&r->lock);
	q = r->results;
	if (q) {
		*ret = q->result;
		r->results = q->next;
		if (!r->results)
			r->results_end = &r->results;
	}
	pthread_mutex_unlock(&r->lock);
	free(q);
	return q;
}

int recorder_windows(struct recorder *r, struct watched_window **ret, size_t *ret_nr)
{
	struct watched_window *copy;

	pthread_mutex_lock(&r->lock);
	*ret_nr = r->watch.nr;
	copy = calloc(r->watch.nr + 1, sizeof(*copy));
	if (copy && r->watch.nr)
		memcpy(copy, r->watch.windows, r->watch.nr * sizeof(*copy));
	pthread_mutex_unlock(&r->lock);
	*ret = copy;
	return copy ? 0 : -ENOMEM;
}

uint32_t recorder_last_navigated(struct recorder *r)
{
	uint32_t pid;

	pthread_mutex_lock(&r->lock);
	pid = r->last_navigated;
	pthread_mutex_unlock(&r->lock);
	return pid;
}

bool recorder_target_ended(struct recorder *r)
{
	bool ended;

	pthread_mutex_lock(&r->lock);
	ended = r->target_ended;
	pthread_mutex_unlock(&r->lock);
	return ended;
}

int recorder_new(const struct recorder_options *opt, struct recorder **ret, struct error *err)
{
	struct recorder *r = calloc(1, sizeof(*r));
	int rc;

	if (!r)
		return error_set(err, ERR_OTHER, -ENOMEM, "out of memory");
	r->opt = *opt;
	r->results_end = &r->results;
	pthread_mutex_init(&r->lock, NULL);
	pthread_cond_init(&r->obeyed, NULL);
	r->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	rc = r->wake_fd < 0 ? error_set(err, ERR_OTHER, -errno, "can't make an eventfd: %s", strerror(errno)) :
		capture_open(opt->capture, &r->capture, err);
	if (!rc) {
		capture_on_navigation(r->capture, on_navigation, r);
		look_at_windows(r);
		usleep(FIRST_LOOKS_US);
		look_at_windows(r);
		rc = -pthread_create(&r->thread, NULL, run, r);
		if (rc)
			error_set(err, ERR_OTHER, rc, "can't start a thread: %s", strerror(-rc));
	}
	if (rc) {
		capture_close(r->capture);
		r->capture = NULL;
		recorder_free(r);
		return rc;
	}
	*ret = r;
	return 0;
}

void recorder_free(struct recorder *r)
{
	struct recorder_result left;

	if (!r)
		return;
	if (r->capture) {
		give_order(r, ORDER_QUIT, true, NULL);
		pthread_join(r->thread, NULL);
		capture_close(r->capture);
	}
	while (recorder_take(r, &left))
		if (left.fd >= 0)
			close(left.fd);
	free(r->spare);
	if (r->wake_fd >= 0)
		close(r->wake_fd);
	watch_free(&r->watch);
	pthread_cond_destroy(&r->obeyed);
	pthread_mutex_destroy(&r->lock);
	free(r);
}
