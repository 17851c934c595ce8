// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The frame tree of a page's trace. A process that is missing here isn't drawn at all, so each that has a timeline
 * without a frame is given an empty one. The panel knows one main frame, whose documents change, and takes the last one
 * that is said to be that: of frames that took each other's place, one alone is.
 */
#include <ctype.h>
#include "export/devtools.h"
#include "export/shown.h"

bool devtools_url_parses(const char *url)
{
	const char *p = url;

	if (!url || !isalpha((unsigned char)*p))
		return false;
	while (isalnum((unsigned char)*p) || *p == '+' || *p == '-' || *p == '.')
		p++;
	if (*p != ':')
		return false;
	if (strncmp(url, "http", 4) && strncmp(url, "ws", 2) && strncmp(url, "ftp", 3))
		return true;
	if (strncmp(p, "://", 3) || !isalnum((unsigned char)p[3]))
		return false;
	/* of hosts only the plain ones: letters, digits, dots, hyphens, a port */
	for (p += 3; isalnum((unsigned char)*p) || *p == '.' || *p == '-'; p++)
		;
	if (*p == ':')
		for (p++; isdigit((unsigned char)*p); p++)
			;
	return !*p || strchr("/?#", *p);
}

static void frame_entry(struct exporter *x, const char *id, uint32_t pid, const char *url, const char *parent,
			bool main_frame)
{
	emit_text(&x->out, "{\"frame\":");
	emit_json(&x->out, id);
	emit_text(&x->out, ",\"name\":\"\",\"url\":");
	if (devtools_url_parses(url))
		emit_json_n(&x->out, url, shown_url(&x->in.opt, url));
	else
		emit_text(&x->out, "\"about:blank\"");
	emit_member_u64(&x->out, "processId", pid);
	emit_member(&x->out, "parent", parent);
	emit_text(&x->out, ",\"isInPrimaryMainFrame\":");
	emit_string(&x->out, main_frame ? "true" : "false");
	emit_text(&x->out, ",\"isOutermostMainFrame\":");
	emit_string(&x->out, main_frame ? "true" : "false");
	emit_text(&x->out, "}");
}

static const struct timeline *parent_of(const struct timeline *t, size_t nr, size_t i)
{
	for (size_t k = 0; t[i].parent_frame_id && k < nr; k++)
		if (k != i && t[k].frame_id == t[i].parent_frame_id)
			return &t[k];
	return NULL;
}

void devtools_frame_tree(struct exporter *x)
{
	const struct timeline *t = x->in.timelines;
	size_t nr = x->in.nr_timelines;
	char id[33], parent_id[33];
	bool any = false;

	chrome_process_item(x, 'I', 0, UINT32_MAX);
	emit_text(&x->out, ",\"s\":\"t\"");
	chrome_name(x, "TracingStartedInBrowser", "disabled-by-default-devtools.timeline");
	emit_text(&x->out, "\"data\":{\"frameTreeNodeId\":1,\"persistentIds\":true,\"frames\":[");
	for (size_t i = 0; i < nr; i++) {
		const struct timeline *parent = parent_of(t, nr, i);

		if (t[i].process >= x->in.nr_procs)
			continue;
		shown_frame_id(&t[i], id);
		if (parent)
			shown_frame_id(parent, parent_id);
		if (any)
			emit_text(&x->out, ",");
		any = true;
		frame_entry(x, id, x->in.procs[t[i].process].pid, t[i].url, parent ? parent_id : NULL,
			    &t[i] == x->main_frame);
	}
	emit_text(&x->out, "]}}}");
}

const struct timeline *devtools_main_frame(const struct session *s)
{
	size_t nr;
	const struct timeline *t = session_timelines(s, &nr);

	for (size_t i = 0; i < nr; i++)
		if (t[i].main && devtools_url_parses(t[i].url))
			return &t[i];
	return nr ? &t[0] : NULL;
}
