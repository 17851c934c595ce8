// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* CSV (RFC 4180, with plain newlines): a row per event, mark, loss and note; times in nanoseconds. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/text.h"
#include "export/emit.h"
#include "export/input.h"
#include "export/shown.h"

struct exporter {
	struct export_input in;
	struct emit out;
};

static void free_state(struct exporter *x)
{
	emit_close(&x->out);
	free(x);
}

/*
 * A text column. Spreadsheets take a text that begins like a formula for one, and these texts come from web pages: such
 * a text gets an apostrophe in front.
 */
static void column_n(struct exporter *x, const char *s, size_t n)
{
	char *d;
	size_t fill = 0;

	if (n > EXPORT_MAX_TEXT)
		n = text_valid_prefix(s, EXPORT_MAX_TEXT);
	d = emit_room(&x->out, 3 * n + 4);
	if (!d)
		return;
	d[fill++] = ',';
	if (n) {
		d[fill++] = '"';
		if (strchr("=+-@\t", s[0]))
			d[fill++] = '\'';
		for (size_t i = 0; i < n;) {
			size_t good = text_valid_prefix(s + i, n - i);

			for (size_t k = 0; k < good; k++, i++) {
				unsigned char c = s[i];

				if (c == '"')
					d[fill++] = '"';
				d[fill++] = c < 0x20 || c == 0x7f ? ' ' : c;
			}
			if (i < n) {
				memcpy(d + fill, "\xef\xbf\xbd", 3);
				fill += 3;
				i++;
			}
		}
		d[fill++] = '"';
	}
	x->out.nr += fill;
}

static void column(struct exporter *x, const char *s)
{
	column_n(x, s ? s : "", s ? strnlen(s, EXPORT_MAX_TEXT + 1) : 0);
}

static void column_u64(struct exporter *x, uint64_t v)
{
	emit_text(&x->out, ",");
	emit_u64(&x->out, v);
}

static void empty_columns(struct exporter *x, int nr)
{
	while (nr--)
		emit_text(&x->out, ",");
}

static void columns_of_thread(struct exporter *x, uint32_t thread)
{
	column_u64(x, input_pid(&x->in, thread));
	column_u64(x, input_tid(&x->in, thread));
}

static void columns_of_detail(struct exporter *x, const struct event_detail *d)
{
	const char *key;
	int32_t value;

	if (d->url)
		column_n(x, d->url, shown_url(&x->in.opt, d->url));
	else
		empty_columns(x, 1);
	column(x, shown_text(&x->in.opt, d->selector));
	column(x, d->event_name);
	column(x, shown_text(&x->in.opt, d->label));
	for (int i = 0; i < SHOWN_AREA; i++) {
		emit_text(&x->out, ",");
		if (shown_area(d, i, &key, &value))
			emit_i64(&x->out, value);
	}
	emit_text(&x->out, ",");
	if (d->has & 1u << FIELD_LINE)
		emit_u64(&x->out, d->line);
	emit_text(&x->out, ",");
	if (d->has & 1u << FIELD_COLUMN)
		emit_u64(&x->out, d->column);
	column(x, shown_thread_type(d->thread_type));
	column(x, shown_script_type(d->script_type));
}

/* The end of a row: the metrics of an event that has them; else their columns are empty. */
static void last_columns(struct exporter *x, const uint64_t *metrics)
{
	for (uint32_t i = 0; i < x->in.info->nr_metrics; i++) {
		emit_text(&x->out, ",");
		if (metrics)
			emit_u64(&x->out, metrics[i]);
	}
	emit_text(&x->out, "\n");
}

/* A metric's column has a prefix, so that none can be taken for one of the others: they always stand first. */
static void header(struct exporter *x)
{
	char name[METRIC_KEY + 16];

	emit_text(&x->out, "kind,id,parent,timeline,depth,pid,tid,type,name,start_ns,end_ns,time_ns,overhead_ns,"
			   "blocked_ns,aggregated_time_ns,aggregated_overhead_ns,hits,child_count,url,selector,event,"
			   "label,x,y,w,h,ox,oy,line,column,thread_type,script_type,flags");
	for (uint32_t i = 0; i < x->in.info->nr_metrics; i++) {
		snprintf(name, sizeof(name), "metrics.%s", x->in.metric_keys[i]);
		column_n(x, name, strlen(name));
	}
	emit_text(&x->out, "\n");
}

static int begin(const struct session *s, const struct export_options *opt, struct outfile *f, struct exporter **ret)
{
	struct exporter *x = calloc(1, sizeof(*x));

	if (!x)
		return -ENOMEM;
	export_input_open(&x->in, s, opt);
	if (emit_open(&x->out, f)) {
		free_state(x);
		return -ENOMEM;
	}
	header(x);
	*ret = x;
	return x->out.error;
}

static int event(struct exporter *x, const struct export_event *e)
{
	const struct event_view *v = &e->view;
	char words[128];

	emit_text(&x->out, "event");
	column_u64(x, v->id);
	column_u64(x, v->parent);
	column_u64(x, e->timeline->id);
	column_u64(x, e->depth);
	columns_of_thread(x, v->thread);
	column(x, event_type_name(v->type));
	column(x, input_probe(&x->in, v->probe)->label);
	column_u64(x, v->start_ns);
	column_u64(x, v->end_ns);
	column_u64(x, v->time_ns);
	column_u64(x, v->overhead_ns);
	column_u64(x, v->blocked_ns);
	column_u64(x, v->agg_time_ns);
	column_u64(x, v->agg_overhead_ns);
	column_u64(x, v->hits);
	column_u64(x, v->child_count);
	columns_of_detail(x, v->detail);
	column(x, shown_flags(v->flags, words, sizeof(words)));
	last_columns(x, v->metrics);
	return x->out.error;
}

static int mark(struct exporter *x, const struct session_mark *m)
{
	emit_text(&x->out, "mark");
	empty_columns(x, 1);
	column_u64(x, m->enclosing);
	empty_columns(x, 2);
	columns_of_thread(x, m->thread);
	column(x, m->probe < x->in.nr_probes ? event_type_name(x->in.probes[m->probe].type) : "");
	column(x, input_probe(&x->in, m->probe)->label);
	column_u64(x, m->ts_ns);
	column_u64(x, m->ts_ns);
	empty_columns(x, 7);
	columns_of_detail(x, m->detail);
	empty_columns(x, 1);
	last_columns(x, NULL);
	return x->out.error;
}

/* hits: how many records are missing */
static int loss(struct exporter *x, const struct session_loss *l)
{
	emit_text(&x->out, "loss");
	empty_columns(x, 7);
	column(x, input_probe(&x->in, l->probe)->label);
	column_u64(x, l->since_ns);
	column_u64(x, l->ts_ns);
	empty_columns(x, 5);
	column_u64(x, (uint64_t)l->begins + l->ends + l->marks);
	empty_columns(x, 16);
	last_columns(x, NULL);
	return x->out.error;
}

static int note(struct exporter *x, const struct session_note *n)
{
	emit_text(&x->out, "note");
	empty_columns(x, 8);
	column_u64(x, n->ts_ns);
	column_u64(x, n->ts_ns);
	empty_columns(x, 10);
	column(x, n->text);
	empty_columns(x, 11);
	last_columns(x, NULL);
	return x->out.error;
}

static int end(struct exporter *x, uint64_t too_deep, uint64_t clamped)
{
	(void)too_deep;
	(void)clamped;
	return emit_flush(&x->out);
}

const struct export_format export_csv = {
	.name = "csv",
	.extension = ".csv",
	.summary = "a table of events, for spreadsheets and data frames",
	.begin = begin,
	.event = event,
	.mark = mark,
	.loss = loss,
	.note = note,
	.end = end,
	.free = free_state,
};
