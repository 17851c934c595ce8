// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What a live capture does from time to time. */
#include <stdio.h>
#include <string.h>
#include "capture/capture_parts.h"

#define CPU_EVERY_NS 100000000ull
#define FLUSH_EVERY_NS 1000000000ull	/* what a crash may cost */
#define REAP_EVERY_NS 400000000ull	/* and look at /proc/PID/maps, where the kernel doesn't tell of them */
#define PACE_WINDOW_NS 500000000ull

void capture_on_mapping(void *arg, pid_t pid, const char *path)
{
	struct capture *c = arg;
	struct tracked *t;

	if (pid && !table_claims(&c->table, path))
		return;
	for (size_t i = 0; i < c->follow.nr; i++) {
		t = &c->follow.p[i];
		if (!t->end_ns && (!pid || t->p.pid == pid))
			c->collector.look_again = t->look = true;
	}
}

/* Something that a reader of the timeline must know. */
static void write_note(struct capture *c, uint32_t probe, const char *text)
{
	struct {
		struct rec_note note;
		char text[1024];
	} r = { .note.hdr = { .type = REC_NOTE, .ts_ns = clock_ns(CLOCK_MONOTONIC) }, .note.probe = probe };
	size_t n = strlen(text);

	if (!c->collector.w)
		return;
	if (n > sizeof(r.text))
		n = sizeof(r.text);
	memcpy(r.text, text, n);
	r.note.text_bytes = n;
	r.note.hdr.size = sizeof(r.note) + ((n + 7) & ~7u);
	recording_write_record(c->collector.w, &r.note.hdr);
}

/* A process executed something else or mapped a file: is there anything to attach in it? */
static void look_again(struct capture *c)
{
	struct error err = { 0 };
	size_t before = c->table.nr;

	c->collector.look_again = false;
	for (size_t i = 0; i < c->follow.nr; i++) {
		struct tracked *t = &c->follow.p[i];

		if (t->end_ns || !t->look)
			continue;
		t->look = false;
		if (table_add_process(&c->table, t->p.pid, &c->opt, &err))
			write_note(c, ~0u, err.text);
		t->engine = table_engine_of(&c->table, t->p.pid) ?: t->engine;
	}
	if (c->table.nr == before)
		return;
	capture_attach_new(c, &err);
	c->loss.nr = c->table.nr;
	if (c->collector.w)
		c->write_rc = recording_write_probes(c->collector.w, c->table.rec, c->table.nr);
}

/* The hottest probe is switched off, for good, and the recording says so. */
static void enforce_budget(struct capture *c, const struct pace_thread *busiest)
{
	struct pace *p = &c->collector.pace;
	int probe = pace_hottest(p);
	char text[400];

	if (!c->opt.budget_percent || c->own_cost_percent <= c->opt.budget_percent || probe < 0)
		return;
	c->loaded.ctl->off[probe / 64] |= 1ull << probe % 64;
	c->loaded.ctl->nr_off++;
	snprintf(text, sizeof(text), "%s was switched off: probing took %.1f %% of the time of thread %u, %.1f %% were allowed",
		 c->table.rec[probe].name, c->own_cost_percent, busiest->tid, c->opt.budget_percent);
	write_note(c, probe, text);
}

/* The end of a window: what did probing cost? */
static void watch_pace(struct capture *c, uint64_t now)
{
	struct pace *p = &c->collector.pace;
	const struct pace_thread *busiest = pace_busiest(p);

	c->own_cost_percent = !overhead_has_twins(c->calibration) ? -1 :
			      busiest ? 100.0 * busiest->cost_ns / (now - p->since_ns) : 0;
	if (busiest)
		enforce_budget(c, busiest);
	for (size_t i = 0; i < c->table.nr; i++)
		p->cost_ns[i] = overhead_cost_ns(c->calibration, c->table.plan[i].spec.cost_class);
	pace_begin(p, now);
}

void capture_keep_house(struct capture *c, uint64_t now)
{
	struct recording_writer *w = c->collector.w;

	if (c->watch)
		mmap_watch_read(c->watch);
	if (now - c->reap_ns > REAP_EVERY_NS) {
		c->reap_ns = now;
		follow_reap(&c->follow, now);
		if (!c->watch)
			capture_on_mapping(c, 0, "");
	}
	if (c->collector.look_again)
		look_again(c);
	if (c->armed && now - c->collector.pace.since_ns > PACE_WINDOW_NS)
		watch_pace(c, now);
	if (!c->armed || now - c->cpu_ns < CPU_EVERY_NS)
		return;
	c->cpu_ns = now;
	for (size_t i = 0; i < c->follow.nr; i++)
		if (!c->follow.p[i].end_ns)
			follow_read_cpu(&c->follow.p[i], w, now, false);
	loss_write(&c->loss, &c->loaded, w, now);
	if (!c->write_rc)
		c->write_rc = overhead_write(c->calibration, w);
	if (now - c->flush_ns < FLUSH_EVERY_NS)
		return;
	c->flush_ns = now;
	if (!c->write_rc)
		c->write_rc = recording_writer_flush(w);
}
