// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Folded stacks, one line each with its self time in nanoseconds: for flame graphs and their differences. */
#include <errno.h>
#include <stdlib.h>
#include "export/emit.h"
#include "export/input.h"
#include "export/shown.h"
#include "export/stacks.h"

#define DETAIL_MAX 160		/* bytes of URL or selector behind a name */

struct exporter {
	struct export_input in;
	struct emit out;
	struct stacks stacks;
};

static void free_state(struct exporter *x)
{
	stacks_free(&x->stacks);
	emit_close(&x->out);
	free(x);
}

static int begin(const struct session *s, const struct export_options *opt, struct outfile *f, struct exporter **ret)
{
	struct exporter *x = calloc(1, sizeof(*x));
	char what[INCOMPLETE_TEXT];
	int rc;

	if (!x)
		return -ENOMEM;
	export_input_open(&x->in, s, opt);
	rc = emit_open(&x->out, f);
	if (!rc)
		rc = stacks_init(&x->stacks, s);
	if (rc) {
		free_state(x);
		return rc;
	}
	/* readers leave out what doesn't end in a number */
	if (*session_incomplete(s, what, sizeof(what))) {
		emit_text(&x->out, "# the recording is not complete: ");
		emit_string(&x->out, what);
		emit_text(&x->out, "\n");
	}
	*ret = x;
	return x->out.error;
}

/* A name as one frame of a line: what separates frames, lines and the value is replaced. */
static void emit_frame(struct emit *out, const char *s, size_t n)
{
	char *d;

	if (n > DETAIL_MAX)
		for (n = DETAIL_MAX; n > DETAIL_MAX - 4 && ((unsigned char)s[n] & 0xc0) == 0x80;)
			n--;
	d = emit_room(out, n);
	if (!d)
		return;
	for (size_t i = 0; i < n; i++) {
		unsigned char c = s[i];

		d[i] = c == ';' ? ',' : c < 0x20 || c == 0x7f ? ' ' : c;
	}
	out->nr += n;
}

static void emit_name(struct exporter *x, const struct trie_frame *f)
{
	const struct event_detail *d = f->detail;
	const char *label = input_probe(&x->in, f->probe)->label, *about = NULL;
	size_t n = 0;

	emit_frame(&x->out, label, strlen(label));
	if (!d)
		return;
	if (d->selector)
		about = shown_text(&x->in.opt, d->selector);
	else if (d->event_name)
		about = d->event_name;
	if (about)
		n = strlen(about);
	else if (d->url) {
		about = d->url;
		n = shown_url(&x->in.opt, d->url);
	}
	if (!n)
		return;
	emit_text(&x->out, " [");
	emit_frame(&x->out, about, n);
	emit_text(&x->out, "]");
}

static void emit_thread(struct exporter *x, uint32_t thread)
{
	const struct recording_thread *t = &x->in.threads[thread];
	const char *process = input_process_name(&x->in, t->pid);

	emit_frame(&x->out, process, strlen(process));
	emit_text(&x->out, " ");
	emit_u64(&x->out, t->pid);
	emit_text(&x->out, ";");
	emit_frame(&x->out, t->name, strlen(t->name));
	emit_text(&x->out, " ");
	emit_u64(&x->out, t->tid);
}

static void write_stacks(struct exporter *x)
{
	const struct trie *t = &x->stacks.trie;
	uint32_t path[EXPORT_MAX_DEPTH + 1];

	for (uint32_t i = 0; i < t->nr_nodes; i++) {
		uint32_t nr = 0;

		if (!t->nodes[i].value)
			continue;
		for (uint32_t n = i; n != TRIE_NONE && nr <= EXPORT_MAX_DEPTH; n = t->nodes[n].parent)
			path[nr++] = n;
		emit_thread(x, t->nodes[i].thread);
		while (nr--) {
			emit_text(&x->out, ";");
			emit_name(x, &t->frames[t->nodes[path[nr]].frame]);
		}
		emit_text(&x->out, " ");
		emit_u64(&x->out, t->nodes[i].value);
		emit_text(&x->out, "\n");
	}
}

static int event(struct exporter *x, const struct export_event *e)
{
	uint32_t node;
	int rc;

	/* readers add equal lines up, so the trie may be written and begun again at any time */
	if (trie_full(&x->stacks.trie)) {
		write_stacks(x);
		stacks_clear(&x->stacks);
	}
	rc = stacks_enter(&x->stacks, e, &node);
	if (rc)
		return rc;
	if (node != TRIE_NONE)
		x->stacks.trie.nodes[node].value += e->view.time_ns;
	return x->out.error;
}

static int end(struct exporter *x, uint64_t too_deep, uint64_t clamped)
{
	(void)too_deep;
	(void)clamped;
	write_stacks(x);
	return emit_flush(&x->out);
}

const struct export_format export_folded = {
	.name = "folded",
	.extension = ".folded",
	.summary = "folded stacks with self time in ns, for flame graphs and their diffs",
	.begin = begin,
	.event = event,
	.end = end,
	.free = free_state,
};
