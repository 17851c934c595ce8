// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Reads the multi-metric profile. A sample that names its thread is a call, as we write it: it has its own time, and what
 * is called from it follows. Other profiles are sampled: neighbours with the same stack are one call that goes on.
 */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/jsonscan.h"
#include "base/json_repair.h"
#include "export/import_state.h"
#include "model/session.h"

#define MAX_METRICS 64

enum meaning { METRIC_OTHER, METRIC_COUNT, METRIC_TIME, METRIC_CPU, METRIC_OVERHEAD };

struct node { uint32_t parent, frame; };	/* IMPORT_NONE: a root */

/* An open call of the thread: what is known of it so far. */
struct level {
	uint32_t node, item;
	uint64_t own_ns;	/* time that is neither a child's nor before or after it */
	uint64_t child_ns;	/* wall time of its children */
	uint64_t child_end_ns;
};

struct track {
	uint32_t thread;
	uint32_t nr, cap;
	struct level *levels;
};

struct metrics {
	struct import *im;
	struct import_counts *counts;
	const json_t *frames, *resources;
	struct node *nodes;
	size_t nr_nodes, nr_frames, nr_metrics;
	uint32_t *frame_probe, *frame_args;	/* per frame, once it was met */
	enum meaning meaning[MAX_METRICS];
	double scale[MAX_METRICS];	/* to ns, for times */
	int further[MAX_METRICS];	/* METRIC_OTHER: its number in the recording; -1: it isn't taken over */
	struct track *tracks;	/* per thread, IMPORT_MAX_TASKS */
	size_t nr_tracks;	/* of those, which may be in use */
	struct import_args args;
};

/* Nanoseconds in one of the unit, 0 if it is no time. Names as they occur in examples. */
static double unit_ns(const char *unit)
{
	static const struct { const char *name; double ns; } units[] = {
		{ "ns", 1 }, { "nanosecond", 1 }, { "nanoseconds", 1 }, { "us", 1e3 }, { "µs", 1e3 }, { "microsecond", 1e3 },
		{ "microseconds", 1e3 }, { "ms", 1e6 }, { "millisecond", 1e6 }, { "milliseconds", 1e6 }, { "s", 1e9 },
		{ "second", 1e9 }, { "seconds", 1e9 },
	};

	for (size_t i = 0; unit && i < sizeof(units) / sizeof(units[0]); i++)
		if (!strcmp(units[i].name, unit))
			return units[i].ns;
	return 0;
}

static enum meaning meaning_of(const char *name, double scale)
{
	if (!scale)
		return strcmp(name, "samples") && strcmp(name, "hits") ? METRIC_OTHER : METRIC_COUNT;
	if (!strcmp(name, "time"))
		return METRIC_TIME;
	if (!strcmp(name, "overhead"))
		return METRIC_OVERHEAD;
	return strcasecmp(name, "CPU time") ? METRIC_OTHER : METRIC_CPU;
}

static void read_types(struct metrics *m, const json_t *types)
{
	const json_t *t;
	size_t i;

	json_array_foreach(types, i, t) {
		const char *name = json_string_value(json_object_get(t, "metric"));
		const char *unit = json_string_value(json_object_get(t, "unit"));

		if (i == MAX_METRICS)
			break;
		if (!name)
			name = json_string_value(json_object_get(t, "type"));
		m->nr_metrics = i + 1;
		m->scale[i] = unit_ns(unit);
		m->meaning[i] = meaning_of(name ? name : "", m->scale[i]);
		if (m->meaning[i] != METRIC_OTHER || !name || !*name)
			m->further[i] = -1;
		else
			m->further[i] = import_metric(m->im, name, m->scale[i] ? "ns" : unit ? unit : "");
	}
}

static uint32_t index_of(const json_t *o, const char *key, size_t nr)
{
	const json_t *v = json_object_get(o, key);
	json_int_t i = json_integer_value(v);

	return json_is_integer(v) && i >= 0 && (size_t)i < nr ? (uint32_t)i : IMPORT_NONE;
}

/* Parents stand before their children, which also keeps circles out. */
static int read_stacks(struct metrics *m, const json_t *stacks)
{
	const json_t *s;
	size_t i;

	m->nr_nodes = json_array_size(stacks);
	m->nr_frames = json_array_size(m->frames);
	m->nodes = malloc((m->nr_nodes + 1) * sizeof(*m->nodes));
	m->frame_probe = malloc((m->nr_frames + 1) * sizeof(*m->frame_probe));
	m->frame_args = malloc((m->nr_frames + 1) * sizeof(*m->frame_args));
	m->tracks = calloc(IMPORT_MAX_TASKS, sizeof(*m->tracks));
	if (!m->nodes || !m->frame_probe || !m->frame_args || !m->tracks)
		return -ENOMEM;
	memset(m->frame_probe, 0xff, m->nr_frames * sizeof(*m->frame_probe));
	json_array_foreach(stacks, i, s)
		m->nodes[i] = (struct node){ .parent = index_of(s, "parentId", i), .frame = index_of(s, "frameId", m->nr_frames) };
	return 0;
}

static int type_of_marker(const char *marker)
{
	static const struct { const char *name; int type; } types[] = {
		{ "script", EVENT_SCRIPT_THREAD_EVALUATION }, { "style", EVENT_STYLE_RECALCULATION }, { "layout", EVENT_LAYOUT },
		{ "paint", EVENT_PAINT },
	};

	for (size_t i = 0; marker && i < sizeof(types) / sizeof(types[0]); i++)
		if (!strcmp(types[i].name, marker))
			return types[i].type;
	return EVENT_GENERIC;
}

static void read_frame(struct metrics *m, uint32_t index, const char *marker)
{
	const json_t *f = json_array_get(m->frames, index), *line = json_object_get(f, "line"), *column = json_object_get(f, "column");
	const char *name = json_string_value(json_object_get(f, "name")), *uri = json_string_value(json_object_get(f, "uri"));
	const char *given = json_string_value(json_object_get(f, "type"));
	int type = given ? event_type_parse(given) : 0;

	if (!uri)
		uri = json_string_value(json_array_get(m->resources, index_of(f, "resourceId", json_array_size(m->resources))));
	m->args.nr = 0;
	import_arg_text(&m->args, FIELD_URL, uri);
	import_arg_text(&m->args, FIELD_SELECTOR, json_string_value(json_object_get(f, "selector")));
	import_arg_text(&m->args, FIELD_EVENT_NAME, json_string_value(json_object_get(f, "event")));
	import_arg_text(&m->args, FIELD_LABEL, json_string_value(json_object_get(f, "label")));
	if (json_is_integer(line))
		import_arg_int(&m->args, FIELD_LINE, json_integer_value(line));
	if (json_is_integer(column))
		import_arg_int(&m->args, FIELD_COLUMN, json_integer_value(column));
	m->frame_args[index] = import_keep_args(m->im, &m->args);
	m->frame_probe[index] = import_probe(m->im, name && *name ? name : "(anonymous)", "", type ? type : type_of_marker(marker),
					     PROBE_KIND_SPAN, ROLE_NONE, "");
}

struct sample {
	uint64_t ts_ns, time_ns, cpu_ns;	/* UINT64_MAX: not said */
	uint64_t overhead_ns;
	uint32_t node, hits;
	const char *marker;
	uint64_t further[RECORD_MAX_METRICS];
	bool call, sum;
};

#define MOST_NS 1e18	/* 31 years */

static uint64_t nanoseconds(double v, double scale)
{
	v *= scale;
	return isfinite(v) && v > 0 ? v < MOST_NS ? (uint64_t)llround(v) : (uint64_t)MOST_NS : 0;
}

static bool read_sample(struct metrics *m, const json_t *o, struct sample *ret)
{
	const json_t *values = json_object_get(o, "metric"), *ts = json_object_get(o, "timestamp"), *v;
	size_t i;

	if (!values)
		values = json_object_get(o, "metrics");
	if (!json_is_number(ts))
		return false;
	*ret = (struct sample){
		.ts_ns = nanoseconds(json_number_value(ts), 1e6), .time_ns = UINT64_MAX, .cpu_ns = UINT64_MAX, .hits = 1,
		.node = index_of(o, "stackId", m->nr_nodes), .marker = json_string_value(json_object_get(o, "marker")),
		.call = json_is_integer(json_object_get(o, "tid")), .sum = json_is_true(json_object_get(o, "sum")),
	};
	json_array_foreach(values, i, v) {
		double value = json_number_value(v), scale = i < m->nr_metrics && m->scale[i] > 0 ? m->scale[i] : 1;
		uint64_t ns;

		if (i >= m->nr_metrics || json_is_null(v))
			continue;
		m->counts->bad_values += !json_is_number(v) || value < 0 || value * scale > MOST_NS;
		if (!json_is_number(v))
			continue;
		ns = nanoseconds(value, scale);
		if (m->meaning[i] == METRIC_TIME)
			ret->time_ns = ns;
		else if (m->meaning[i] == METRIC_CPU)
			ret->cpu_ns = ns;
		else if (m->meaning[i] == METRIC_OVERHEAD)
			ret->overhead_ns = ns;
		else if (m->meaning[i] == METRIC_COUNT)
			ret->hits = ns < UINT32_MAX ? ns : UINT32_MAX;
		else if (m->further[i] >= 0)
			ret->further[m->further[i]] += ns;
	}
	return true;
}

static struct track *track_of(struct metrics *m, uint32_t thread)
{
	if (thread >= IMPORT_MAX_TASKS)
		return NULL;
	m->tracks[thread].thread = thread;
	if (m->nr_tracks <= thread)
		m->nr_tracks = thread + 1;
	return &m->tracks[thread];
}

/* Ends the innermost call. Its end is where its own time and its children's have passed, or ts_ns if that is known. */
static void close_level(struct metrics *m, struct track *t, uint64_t ts_ns)
{
	struct level *l = &t->levels[--t->nr];
	struct import_item *item = import_item(m->im, l->item);
	uint64_t end = item->start_ns + l->own_ns + l->child_ns;

	if (end < l->child_end_ns)
		end = l->child_end_ns;
	if (ts_ns != UINT64_MAX && ts_ns > end)
		end = ts_ns;
	item->end_ns = end;
	if (t->nr) {
		t->levels[t->nr - 1].child_ns += end - item->start_ns;
		t->levels[t->nr - 1].child_end_ns = end;
	}
}

static bool use_frame(struct metrics *m, uint32_t node, const char *marker, struct import_item *item)
{
	uint32_t frame = m->nodes[node].frame;

	if (frame == IMPORT_NONE)
		return false;
	if (m->frame_probe[frame] == IMPORT_NONE)
		read_frame(m, frame, marker);
	item->probe = m->frame_probe[frame];
	item->args = m->frame_args[frame];
	return true;
}

static void add_further(struct metrics *m, uint32_t item, const struct sample *s)
{
	for (int i = 0; i < RECORD_MAX_METRICS; i++)
		if (s->further[i])
			import_add_metric(m->im, item, i, s->further[i]);
}

/* A sum of calls below the level that it lies in, which leaves those open that began since. */
static int take_sum(struct metrics *m, struct track *t, uint32_t above, const struct sample *s)
{
	uint64_t time = s->time_ns != UINT64_MAX ? s->time_ns : s->cpu_ns != UINT64_MAX ? s->cpu_ns : 0;
	struct import_item item = { .kind = IMPORT_SUM, .start_ns = s->ts_ns, .end_ns = s->ts_ns + time + s->overhead_ns,
				    .cpu_ns = s->cpu_ns < time ? s->cpu_ns : time, .hits = s->hits, .thread = t->thread,
				    .overhead_ns = s->overhead_ns, .parent = above ? t->levels[above - 1].item : IMPORT_NONE, .args = IMPORT_NONE };

	if (!use_frame(m, s->node, s->marker, &item)) {
		m->counts->skipped++;
		return 0;
	}
	if (above)
		t->levels[above - 1].child_ns += item.cpu_ns + item.overhead_ns;
	uint32_t index = import_add(m->im, &item);

	add_further(m, index, s);
	return index == IMPORT_NONE ? -E2BIG : 0;
}

static int open_level(struct metrics *m, struct track *t, uint32_t node, const struct sample *s, bool leaf)
{
	struct import_item item = { .kind = IMPORT_SPAN, .start_ns = s->ts_ns, .end_ns = s->ts_ns, .cpu_ns = UINT64_MAX,
				    .self_ns = UINT64_MAX, .thread = t->thread, .parent = IMPORT_NONE, .args = IMPORT_NONE };
	struct level *l;

	if (!use_frame(m, node, leaf ? s->marker : NULL, &item)) {
		m->counts->skipped++;
		return 0;
	}
	if (t->nr == t->cap) {
		l = reallocarray(t->levels, t->cap ? 2 * t->cap : 8, sizeof(*l));
		if (!l)
			return -ENOMEM;
		t->levels = l;
		t->cap = t->cap ? 2 * t->cap : 8;
	}
	l = &t->levels[t->nr];
	*l = (struct level){ .node = node, .child_end_ns = s->ts_ns };
	if (leaf && s->call) {
		l->own_ns = s->time_ns != UINT64_MAX ? s->time_ns : s->cpu_ns != UINT64_MAX ? s->cpu_ns : 0;
		item.self_ns = s->cpu_ns < l->own_ns ? s->cpu_ns : l->own_ns;
		/* it passed, too, though it is nobody's time */
		item.overhead_ns = s->overhead_ns;
		l->own_ns += s->overhead_ns;
	}
	l->item = import_add(m->im, &item);
	if (l->item == IMPORT_NONE)
		return -E2BIG;
	t->nr++;
	return 0;
}

/* Opens what is missing of the stack, outermost first; what isn't part of it ends at the sample. */
static int take_sample(struct metrics *m, struct track *t, const struct sample *s)
{
	uint32_t path[RECORD_MAX_DEPTH], nr = 0, keep = 0, n;
	int rc = 0;

	for (n = s->node; n != IMPORT_NONE && nr < RECORD_MAX_DEPTH; n = m->nodes[n].parent)
		path[nr++] = n;
	/* of a deeper stack the innermost part is kept */
	m->counts->too_deep += n != IMPORT_NONE;
	while (keep < nr && keep < t->nr && t->levels[keep].node == path[nr - 1 - keep])
		keep++;
	if (s->sum && keep + 1 >= nr)
		return take_sum(m, t, nr ? nr - 1 : 0, s);
	/* each such sample is a call of its own */
	if (s->call && keep == nr && keep)
		keep--;
	while (t->nr > keep)
		close_level(m, t, s->call ? UINT64_MAX : s->ts_ns);
	while (!rc && keep < nr) {
		keep++;
		rc = open_level(m, t, path[nr - keep], s, keep == nr);
	}
	if (!rc && nr && t->nr)
		add_further(m, t->levels[t->nr - 1].item, s);
	return rc;
}

/* Our own count; the profile doesn't say of which probe they were. */
static void add_loss(struct metrics *m, json_int_t lost, uint64_t ns)
{
	struct import_item item = { .kind = IMPORT_LOSS, .start_ns = 0, .end_ns = ns };

	if (lost <= 0)
		return;
	item.hits = lost < UINT32_MAX ? lost : UINT32_MAX;
	item.probe = import_probe(m->im, "(unknown)", "", EVENT_GENERIC, PROBE_KIND_SPAN, ROLE_NONE, "");
	import_add(m->im, &item);
}

static int read_samples(struct metrics *m, const json_t *samples, json_int_t lost)
{
	const json_t *o;
	uint64_t last_ns = 0, last_time = 0;
	bool calls = false;
	size_t i;
	int rc = 0;

	json_array_foreach(samples, i, o) {
		struct sample s;
		struct track *t;
		uint32_t thread;

		if (!read_sample(m, o, &s)) {
			m->counts->skipped++;
			continue;
		}
		thread = import_thread(m->im, json_integer_value(json_object_get(o, "pid")),
				       json_integer_value(json_object_get(o, "tid")), NULL);
		t = thread == IMPORT_NONE ? NULL : track_of(m, thread);
		if (!t)
			return -E2BIG;
		rc = take_sample(m, t, &s);
		if (rc)
			return rc;
		last_ns = s.ts_ns;
		last_time = s.time_ns == UINT64_MAX ? 0 : s.time_ns;
		calls = s.call;
	}
	add_loss(m, lost, last_ns);
	/* what the last sample of a sampled profile found was there until then, and as long as it says */
	for (i = 0; i < m->nr_tracks; i++)
		while (m->tracks[i].nr)
			close_level(m, &m->tracks[i], calls ? UINT64_MAX : last_ns + last_time);
	return rc;
}

int import_metrics(struct import *im, char *text, size_t n, struct import_counts *counts, struct error *err)
{
	json_error_t where;
	json_t *root = json_loadb(text, n, 0, &where);
	struct metrics *m = calloc(1, sizeof(*m));
	int rc = -ENOMEM;

	if (!root) {
		json_repair(text, n);
		root = json_loadb(text, n, 0, &where);
	}
	if (m && root) {
		m->im = im;
		m->counts = counts;
		m->frames = json_object_get(root, "frames");
		m->resources = json_object_get(root, "resources");
		read_types(m, json_object_get(root, "metricTypes"));
		rc = read_stacks(m, json_object_get(root, "stacks"));
		if (!rc)
			rc = read_samples(m, json_object_get(root, "samples"),
					  json_integer_value(json_object_get(root, "lost")));
		free(m->nodes);
		free(m->frame_probe);
		free(m->frame_args);
		for (size_t i = 0; m->tracks && i < m->nr_tracks; i++)
			free(m->tracks[i].levels);
		free(m->tracks);
	}
	if (root && !json_is_array(json_object_get(root, "samples")))
		rc = error_set(err, ERR_INPUT, -EINVAL, "the profile has no array of samples: nothing can be read from it");
	else if (!root)
		rc = error_set(err, ERR_INPUT, -EINVAL, "the profile is not JSON: line %d, column %d: %s", where.line, where.column,
			       where.text);
	else if (rc == -E2BIG)
		error_set(err, ERR_INPUT, rc, "the profile has more samples or threads than fit into memory or into one recording; "
			  "import a part of it");
	free(m);
	json_decref(root);
	return rc;
}
